# SPDX-License-Identifier: GPL-2.0-only
"""Each cause, made in a machine that has nothing else wrong, is named; and nothing else is."""
from __future__ import annotations

from collections.abc import Callable

import pytest

from .conftest import Shell
from .fake import Fake

VERSION = '6.1.0-x'
LIB = f'/lib/modules/{VERSION}'
OPTIONS = ('MODULES SYSFS TRACEPOINTS EVENT_TRACING STACKTRACE BLOCK NET KRETPROBES NETFILTER FTRACE_SYSCALLS '
           'KALLSYMS SCHED_INFO').split()
CONFIG = ''.join(f'CONFIG_{option}=y\n' for option in OPTIONS) + \
    'CONFIG_CC_VERSION_TEXT="gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0"\n'


def healthy(machine: Fake) -> None:
    """A machine with modules of DKMS that are loaded, for which nothing is to be said."""
    machine.put('/proc/sys/kernel/osrelease', VERSION + '\n')
    machine.put('/proc/sys/kernel/ftrace_enabled', '1\n')
    machine.put(f'/boot/config-{VERSION}', CONFIG)
    machine.put(f'{LIB}/updates/dkms/latency_tracker.ko', '')
    machine.put('/sys/module/latency_tracker/srcversion', 'ABC\n')
    machine.put('/sys/module/module/parameters/sig_enforce', 'N\n')
    machine.put('/sys/kernel/security/lockdown', '[none] integrity confidentiality\n')
    machine.put('/sys/kernel/tracing/events/latency_tracker/enable', '1\n')
    machine.tracker('network')
    machine.said = {'modinfo -F srcversion': 'ABC', 'modinfo -F signer': '', 'gcc-12 -dumpversion': '12'}


def gone(machine: Fake) -> None:
    """Nothing is installed; the headers are."""
    machine.path(f'{LIB}/updates/dkms/latency_tracker.ko').unlink()
    machine.put(f'{LIB}/build/include/generated/utsrelease.h', '')


def without_headers(machine: Fake) -> None:
    machine.path(f'{LIB}/updates/dkms/latency_tracker.ko').unlink()


def other_compiler(machine: Fake) -> None:
    gone(machine)
    machine.said = {'gcc -dumpversion': '14'}


def put(name: str, text: str) -> Callable[[Fake], None]:
    return lambda machine: machine.put(name, text)


def signed(machine: Fake) -> None:
    machine.put('/sys/kernel/security/lockdown', 'none [integrity] confidentiality\n')
    machine.said['modinfo -F signer'] = 'DKMS module signing key'
    machine.path('/sys/module/latency_tracker/srcversion').unlink()
    machine.path('/sys/module/latency_tracker').rmdir()


def secure_boot(machine: Fake) -> None:
    """Debian locks the kernel down then. The bytes are those of a real machine."""
    machine.put('/sys/kernel/security/lockdown', 'none [integrity] confidentiality\n')
    machine.put('/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c', b'\x06\0\0\0\x01')


def marks(**counts: int) -> Callable[[Fake], None]:
    """The tracker of marks is loaded, with these counters."""
    def make(machine: Fake) -> None:
        machine.tracker('mark')
        for name, count in counts.items():
            machine.put(f'/sys/module/latency_tracker_mark/parameters/{name}', f'{count}\n')
    return make


def without_device(machine: Fake) -> None:
    machine.tracker('mark')
    machine.path('/dev/latency_tracker').unlink()


NETWORK = '/sys/kernel/latency_tracker/network'
CAUSES: dict[str, tuple[Callable[[Fake], None], list[str], str]] = {
    'nothing': (lambda machine: None, [], 'nothing is wrong'),
    'not installed': (gone, ['not-installed'], 'latency-tracker-dkms'),
    'headers': (without_headers, ['not-installed', 'headers'], f'linux-headers-{VERSION}'),
    'compiler': (other_compiler, ['not-installed', 'compiler'],
                 'the kernel was built with gcc 12, and here is gcc 14'),
    'twice': (put(f'{LIB}/updates/latency-tracker/latency_tracker.ko.xz', ''), ['twice'], 'make uninstall'),
    'option': (put(f'/boot/config-{VERSION}', CONFIG.replace('CONFIG_NETFILTER=y', '# CONFIG_NETFILTER is not set')),
               ['option'], 'without NETFILTER'),
    'useful option': (put(f'/boot/config-{VERSION}', CONFIG.replace('CONFIG_SCHED_INFO=y', '')),
                      ['option'], 'note: this kernel was built without SCHED_INFO'),
    'locked down': (put('/sys/kernel/security/lockdown', 'none [integrity] confidentiality\n'), ['signature'],
                    'locked down (integrity), and the modules are not signed'),
    'enforced': (put('/sys/module/module/parameters/sig_enforce', 'Y\n'), ['signature'], 'signatures are enforced'),
    'secure boot': (secure_boot, ['signature'], 'Secure Boot is on: the kernel is locked down (integrity), and the modules are not signed'),
    'signed': (signed, ['signature'], 'note: the kernel is locked down (integrity); the modules are signed by "DKMS'),
    'ftrace off': (put('/proc/sys/kernel/ftrace_enabled', '0\n'), ['ftrace-off'], 'sysctl kernel.ftrace_enabled=1'),
    'dry pool': (put(f'{NETWORK}/skipped', '1234\n'), ['dry-pool'], 'network: 1,234 operations were not tracked'),
    'marks that are suppressed': (marks(suppressed=1234), ['suppressed-marks'],
                                  'mark: 1,234 late operations of programs were not reported, as a user has too many in a second'),
    'marks that cannot be': (marks(refused=7, dropped=9), ['refused-marks', 'dropped-marks'],
                             'note: mark: 7 times a program has said of its marks what cannot be'),
    'no device': (without_device, ['no-device'], 'no program can mark its operations'),
    'no marks': (marks(threads=0), ['no-marks'], 'note: no program has marks now; /dev/latency_tracker has the mode 0600, and the owner'),
    'marks': (marks(abandoned=3), [], 'nothing is wrong'),
    'off': (put(f'{NETWORK}/tracking_on', '0\n'), ['switched-off'], 'network is switched off'),
    'tracer': (put('/sys/module/latency_tracker_network/parameters/missed', '7\n'), ['foreign-tracer'],
               'network: 7 times the kernel could not call a probe'),
    'events': (put('/sys/kernel/tracing/events/latency_tracker/enable', '0\n'), ['events-off'], 'note: the trace'),
    'old': (put('/sys/module/latency_tracker/srcversion', 'OLD\n'), ['old-loaded'], 'latency-tracker stop'),
    'log': (put('/dev/kmsg', '6,1,2,-;latency_tracker_block: Unknown symbol x (err -2)\n'), ['kernel-log'],
            'Unknown symbol x'),
}


@pytest.mark.parametrize('cause', CAUSES)
def test_a_cause_is_named(shell: Shell, cause: str) -> None:
    make, names, text = CAUSES[cause]
    healthy(shell.machine)
    make(shell.machine)
    told = shell('doctor')
    objects = shell('doctor', '--json').objects
    assert [of['name'] for of in objects] == names and text in told.out
    assert told.status == (2 if any(not of['note'] for of in objects) else 0)


def test_a_kernel_that_tells_nothing(shell: Shell) -> None:
    shell.machine.put('/proc/sys/kernel/osrelease', VERSION)
    assert 'there are no modules' in shell('doctor').out
