# SPDX-License-Identifier: GPL-2.0-only
# Builds for the running kernel by default; KDIR=... for another one.
KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build

.PHONY: all modules check demo lint install clean help

all: modules

modules:
	@test -d '$(KDIR)' || { echo "No kernel headers at $(KDIR): install linux-headers-$(KVER), or say KDIR=DIRECTORY."; exit 1; }
	$(MAKE) -C '$(KDIR)' M='$(CURDIR)' W='$(W)' modules

install: modules
	$(MAKE) -C '$(KDIR)' M='$(CURDIR)' modules_install
	depmod -a '$(KVER)'

check:
	scripts/check

demo:
	scripts/demo

lint:
	scripts/lint

clean:
	@test ! -d '$(KDIR)' || $(MAKE) -C '$(KDIR)' M='$(CURDIR)' clean
	rm -rf build

help:
	@echo 'make            build the modules for the running kernel'
	@echo '  KVER=VERSION  for another installed kernel'
	@echo '  KDIR=DIR      against the kernel headers or build tree in DIR'
	@echo 'make install    install the modules and update modprobe'
	@echo 'make demo       scripts/demo: late operations of a real workload, in a VM'
	@echo 'make check      scripts/check: all tests'
	@echo 'make lint       scripts/lint: style and static checks'
	@echo 'make clean      remove what was built'
