# SPDX-License-Identifier: GPL-2.0-only
# Builds for the running kernel by default; KDIR=... for another one.
KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build

# The one place for the version.
VERSION := $(shell sed '1!d; s/[^ ]* .//; s/. .*//' '$(CURDIR)/debian/changelog')

# Of Kbuild, but not those for tests.
MODULES = $(shell sed -n '/LT_TESTS/q; s/^obj-.* += \(.*\)[.]o$$/\1/p' Kbuild) \
	$(foreach d,examples examples/api, \
		$(shell sed -n 's|^obj-.* += \(.*\)[.]o$$|$(d)/\1|p' $(d)/Kbuild))

# What a build needs, for DKMS.
SOURCES := Kbuild LICENSE latency_tracker.c latency_tracker.h \
	   $(foreach f,any slots whole word,latency_tracker_$f.c latency_tracker_$f.h) \
	   core rculfhash usecase wrapper include examples
DKMS_SOURCE := $(DESTDIR)/usr/src/latency-tracker-$(VERSION)

# Not where DKMS installs: the two don't overwrite each other.
INSTALL_DIR := updates/latency-tracker
LTTNG_INSTALL_DIR := updates/latency-tracker-lttng
# That of the headers, which need not be KVER. ("make kernelrelease" is another in Debian.)
UTSRELEASE = $(KDIR)/include/generated/utsrelease.h
RELEASE = $(or $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' '$(UTSRELEASE)' 2>&-),$(KVER))
INSTALLED = $(INSTALL_MOD_PATH)/lib/modules/$(RELEASE)
# Packaged headers have no key to sign with.
KEY = $(shell sed -n 's/^CONFIG_MODULE_SIG_KEY="\?\([^"]*\)"\?/\1/p' '$(KDIR)/include/config/auto.conf' 2>&-)
NO_KEY = $(if $(filter pkcs11:%,$(KEY))$(wildcard $(KEY) $(KDIR)/$(KEY)),,CONFIG_MODULE_SIG_ALL=)
# Beside the modules, and so where they are staged, if they are.
SBINDIR ?= /usr/local/sbin
PREFIX = $(or $(DESTDIR),$(INSTALL_MOD_PATH))$(patsubst %/,%,$(dir $(SBINDIR)))
COMMAND = $(PREFIX)/lib/latency-tracker/latency_tracker
INSTALLED_SBIN = $(or $(DESTDIR),$(INSTALL_MOD_PATH))$(SBINDIR)
MAN = $(PREFIX)/share/man/man8/latency-tracker.8
COMPLETION = $(PREFIX)/share/bash-completion/completions/latency-tracker
SERVICE = $(PREFIX)/lib/systemd/system/latency-tracker-export.service
DASHBOARD = $(PREFIX)/share/latency-tracker/grafana-dashboard.json
# For programs with marks. Where Python looks depends on its version, but for Debian's packages.
HEADERS := include/uapi/latency_tracker_mark.h $(wildcard user/*.h user/*.hpp)
PYTHON_DIR ?= $(dir $(SBINDIR))lib/latency-tracker
INSTALLED_PYTHON = $(or $(DESTDIR),$(INSTALL_MOD_PATH))$(PYTHON_DIR)
DEPMOD = depmod -a $(if $(INSTALL_MOD_PATH),-b '$(INSTALL_MOD_PATH)') '$(RELEASE)'

.PHONY: all modules install install-command uninstall dkms dkms-source dkms-remove deb \
	lttng lttng-install lttng-uninstall check demo lint clean help

all: modules

modules: need-headers
	$(MAKE) -C '$(KDIR)' M='$(CURDIR)' modules

.PHONY: need-headers
need-headers:
	@test -e '$(UTSRELEASE)' || { echo "No kernel headers at $(KDIR): install linux-headers-$(KVER), or say KDIR=DIRECTORY."; exit 1; }

install: modules
	rm -rf '$(INSTALLED)/$(INSTALL_DIR)'
	$(MAKE) -C '$(KDIR)' M='$(CURDIR)' INSTALL_MOD_DIR='$(INSTALL_DIR)' $(NO_KEY) modules_install
	$(DEPMOD)
	$(MAKE) install-command
	@test -z '$(wildcard $(INSTALLED)/updates/dkms/latency_tracker.ko*)' || \
		echo 'Warning: DKMS has installed latency-tracker, too: remove one of the two.'

# The programs alone, and what other programs have marks with.
install-command:
	install -D -t '$(INSTALLED_SBIN)' tools/on-latency tools/latency-tracker
	rm -rf '$(COMMAND)'
	install -D -m 644 -t '$(COMMAND)' tools/latency_tracker/*.py
	echo '$(VERSION)' >'$(COMMAND)/VERSION'
	install -D -m 644 tools/latency-tracker.8 '$(MAN)'
	install -D -m 644 tools/completions/latency-tracker '$(COMPLETION)'
	install -d '$(dir $(SERVICE))'
	sed 's|@SBINDIR@|$(SBINDIR)|' tools/latency-tracker-export.service.in >'$(SERVICE)'
	install -D -m 644 tools/grafana-dashboard.json '$(DASHBOARD)'
	install -D -m 644 -t '$(PREFIX)/include' $(HEADERS)
	install -D -m 644 -t '$(INSTALLED_PYTHON)' user/latency_tracker_user.py
	install -D -m 644 -t '$(dir $(DASHBOARD))marks' user/latency_tracker_user.c user/examples/*

uninstall:
	rm -rf '$(INSTALLED)/$(INSTALL_DIR)'
	$(DEPMOD)
	rm -f '$(INSTALLED_SBIN)/on-latency' '$(INSTALLED_SBIN)/latency-tracker' '$(MAN)' '$(COMPLETION)'
	rm -f '$(SERVICE)'
	rm -rf '$(dir $(COMMAND))' '$(dir $(DASHBOARD))'
	rm -f $(patsubst %,'$(PREFIX)/include/%',$(notdir $(HEADERS))) '$(INSTALLED_PYTHON)/latency_tracker_user.py'
	@echo 'Modules that are loaded stay loaded until "modprobe -r" or a reboot.'

# lttng/: apart, since it needs the sources of lttng-modules, built.
LTTNG = $(MAKE) -C '$(KDIR)' M='$(CURDIR)/lttng' LTTNG_MODULES='$(abspath $(LTTNG_MODULES))'

lttng: need-headers need-lttng
	$(LTTNG) modules

.PHONY: need-lttng
need-lttng:
	@test -n '$(wildcard $(LTTNG_MODULES)/src/Module.symvers $(LTTNG_MODULES)/Module.symvers)' || \
		{ echo 'No lttng-modules, built, at "$(LTTNG_MODULES)": run scripts/lttng-modules, or say LTTNG_MODULES=DIRECTORY.'; exit 1; }

lttng-install: lttng
	rm -rf '$(INSTALLED)/$(LTTNG_INSTALL_DIR)'
	$(LTTNG) INSTALL_MOD_DIR='$(LTTNG_INSTALL_DIR)' $(NO_KEY) modules_install
	$(DEPMOD)

lttng-uninstall:
	rm -rf '$(INSTALLED)/$(LTTNG_INSTALL_DIR)'
	$(DEPMOD)

dkms-source:
	@test -n '$(VERSION)' || { echo 'debian/changelog tells no version.'; exit 1; }
	rm -rf '$(DKMS_SOURCE)'
	install -d '$(DKMS_SOURCE)'
	find $(SOURCES) \( -name '*.[chS]' ! -name '*.mod.c' -o -name Kbuild -o -name LICENSE \) \
		-exec cp --parents -t '$(DKMS_SOURCE)' {} +
	sed 's|@VERSION@|$(VERSION)|; s|@MODULES@|$(strip $(MODULES))|' dkms.conf.in >'$(DKMS_SOURCE)/dkms.conf'
	chmod -R u=rwX,go=rX '$(DKMS_SOURCE)'

dkms: dkms-source
	dkms install -m latency-tracker -v '$(VERSION)' -k '$(KVER)'

dkms-remove:
	dkms remove -m latency-tracker -v '$(VERSION)' --all
	rm -rf '$(DKMS_SOURCE)'

deb:
	scripts/deb

check:
	scripts/check

demo:
	scripts/demo

lint:
	scripts/lint

clean:
	@test ! -d '$(KDIR)' || $(MAKE) -C '$(KDIR)' M='$(CURDIR)' clean
	@test ! -d '$(KDIR)' || $(MAKE) -C '$(KDIR)' M='$(CURDIR)/lttng' clean
	rm -rf build

help:
	@echo 'make            build the modules for the running kernel'
	@echo '  KVER=VERSION  for another installed kernel'
	@echo '  KDIR=DIR      against the kernel headers or build tree in DIR'
	@echo 'make install    install the modules for that kernel, latency-tracker and on-latency'
	@echo 'make install-command'
	@echo '                only these two programs, and the libraries for marks'
	@echo 'make uninstall  remove them again'
	@echo 'make dkms       install the modules with DKMS: for every kernel to come, too'
	@echo 'make dkms-remove  remove them again'
	@echo 'make lttng LTTNG_MODULES=DIR'
	@echo '                the probe for LTTng, whose modules were built in DIR; and'
	@echo '                lttng-install, lttng-uninstall. See scripts/lttng-modules.'
	@echo 'make deb        the Debian packages latency-tracker and -dkms, into build/deb'
	@echo 'make demo       scripts/demo: late operations of a real workload, in a VM'
	@echo 'make check      scripts/check: all tests'
	@echo 'make lint       scripts/lint: style and static checks'
	@echo 'make clean      remove what was built'
