# SPDX-License-Identifier: GPL-2.0-only
#
# The sources of the product that run in user space, and $(OUT)/include: each header of the
# kernel that they include leads to lt_kernel.h.

SHIM	:= $(TOP)/tests/host/shim
TABLE	:= rculfhash/rculfhash.c core/alloc.c core/pool.c core/pool_size.c core/reclaim.c
TRACKER	:= $(TABLE) $(patsubst %,core/%.c,ask begin cells crossings ends group groups kick lifecycle outcome \
	   pending per_minute profile records settings slot snapshot timeout waits worker worst) \
	   latency_tracker.c \
	   $(foreach f,any slots whole word,latency_tracker_$f.c)
SHIM_CFLAGS := -std=gnu11 -g -pthread -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter \
	       -MMD -MP
SHIM_INCLUDE := -I$(OUT)/include -I$(SHIM)
ifneq ($(shell $(CC) -dumpmachine | grep -c '^x86_64'),0)
SHIM_CFLAGS += -DCONFIG_X86_64=1
endif

STUBS	:= $(OUT)/include/.done
SHIM_NEEDS := $(wildcard $(addprefix $(TOP)/,rculfhash/*.[ch] core/*.[ch] wrapper/*.h *.[ch]))

# The C library's own headers come to types.h and errno.h, too.
$(STUBS): $(SHIM)/shim.mk $(SHIM_NEEDS)
	@mkdir -p $(@D)/linux/sched $(@D)/asm
	@for h in types errno $$(sed -n 's/^#include <linux\/\(.*\)\.h>/\1/p' $(SHIM_NEEDS) | sort -u); do \
		mkdir -p $$(dirname $(@D)/linux/$$h); \
		echo '#include "lt_kernel.h"' >$(@D)/linux/$$h.new; \
	done
	@printf '%s\n' '#include_next <linux/types.h>' '#ifndef LT_HOST_KERNEL_H' \
		'#include "lt_kernel.h"' '#endif' >$(@D)/linux/types.new
	@echo '#include <asm/errno.h>' >$(@D)/linux/errno.new
	@echo '#include "lt_kernel.h"' >$(@D)/asm/local64.new
	@printf '#define %s\n' 'KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))' \
		'LINUX_VERSION_CODE KERNEL_VERSION(6, 12, 0)' >$(@D)/linux/version.new
	@find $(@D) -name '*.new' | while read -r f; do h=$${f%.new}.h; \
		if cmp -s $$f $$h; then rm $$f; else mv $$f $$h; fi; done
	@touch $@
