# SPDX-License-Identifier: GPL-2.0-only
#
# The whole tracker in a program of user space: its sources, and the headers of the
# kernel that say nothing there, made in $(OUT)/include. See include/lt_module.h.

TABLE	:= rculfhash/rculfhash.c core/pool.c core/reclaim.c
TRACKER	:= $(TABLE) core/event.c core/verdict.c core/timeout.c core/lifecycle.c \
	   core/worker.c core/crossings.c latency_tracker.c

EMPTY	:= completion.h context_tracking.h delay.h export.h hash.h hrtimer.h \
	   irq_work.h jiffies.h kernfs.h kobject.h kthread.h ktime.h module.h \
	   mutex.h sched/task.h string.h sysfs.h time64.h unaligned.h
EMPTY_DONE := $(OUT)/include/linux/.done

$(EMPTY_DONE): $(TOP)/tests/host/tracker.mk
	@mkdir -p $(@D)/sched
	@for h in $(EMPTY); do echo '/* see lt_module.h */' >$(@D)/$$h; done
	@printf '#define %s\n' 'KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))' \
		'LINUX_VERSION_CODE KERNEL_VERSION(6, 12, 0)' >$(@D)/version.h
	@touch $@
