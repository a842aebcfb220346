# SPDX-License-Identifier: GPL-2.0-only
"""doctor: why does it not work here, and what to do."""
from __future__ import annotations

import argparse
import gzip
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from latency_tracker import Error
from latency_tracker.machine import Machine, kernel_log
from latency_tracker.output import Output
from latency_tracker.state import DEVICE, MODULES, Tracker, loaded

# Without these there are no modules; without those, one of them does less. Documentation/kernel-config.md.
NEEDED = 'MODULES SYSFS TRACEPOINTS EVENT_TRACING STACKTRACE BLOCK NET KRETPROBES NETFILTER'.split()
USEFUL = {'FTRACE_SYSCALLS': 'syscalls has no tracepoints', 'KALLSYMS': 'stacks have no names',
          'SCHED_INFO': 'wakeup knows the last task on a CPU only, not who held it longest'}
# Where DKMS, "make install" and the lab put the core.
PLACES = {'DKMS': 'updates/dkms', 'make install': 'updates/latency-tracker', 'by hand': 'updates'}
SECURE_BOOT = '/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c'
TELLING = re.compile(r'latency_tracker\w*: .*(?:Unknown symbol|disagrees about version|no tracepoint|'
                     r'no such function|version magic|signature|key)|'
                     r'(?:Loading of|Lockdown: modprobe:|module verification).*')
# A counter of a loaded tracker, and what it means if it is not 0.
COUNTERS = {
    'skipped': ('dry-pool', 'operations were not tracked, for want of a free event',
                'load it with a larger max_events or grow_limit, or track less: filters'),
    'clock_back': ('clock', 'operations ended before they began, by the clock',
                   'look for a clock source that is not stable: dmesg'),
}
PARAMETERS = {
    'missed': ('foreign-tracer', 'the kernel could not call a probe, as when a kprobe of another tool runs',
               'look for kprobes of other tools: cat /sys/kernel/tracing/kprobe_events; bpftool perf'),
    'doubtful': ('foreign-tracer', 'reports were left out, since a tracer may have kept their end from view',
                 'look for other tools that trace the same functions'),
}
# Of mark: what programs do is for those who wrote them, but for what is not reported.
MARKS = {
    'suppressed': ('suppressed-marks', 'late operations of programs were not reported, as a user has too many in a second; '
                   'the profile counts them', 'latency-tracker set mark over=..., or user_reports=...'),
    'refused': ('refused-marks', 'times a program has said of its marks what cannot be',
                'is its library of another version than the modules?'),
    'dropped': ('dropped-marks', 'operations of programs are not known, as they were within eight others',
                'mark fewer operations that are within each other'),
}


@dataclass
class Finding:
    """name does not change; a note is nothing that is wrong."""
    name: str
    text: str
    remedy: str
    note: bool = False


def release(machine: Machine) -> str:
    """Of the kernel that runs."""
    return machine.read('/proc/sys/kernel/osrelease').strip()


def installed(machine: Machine) -> dict[str, str]:
    """The core, by who has put it there."""
    found = {}
    for who, place in PLACES.items():
        directory = machine.path(f'/lib/modules/{release(machine)}/{place}')
        for path in directory.glob('latency_tracker.ko*') if directory.is_dir() else ():
            found[who] = str(path)
    return found


def config(machine: Machine) -> dict[str, str]:
    """Options of the kernel; empty if it does not tell."""
    version = release(machine)
    texts = []
    for name in (f'/boot/config-{version}', f'/lib/modules/{version}/config', f'/lib/modules/{version}/build/.config'):
        try:
            texts.append(machine.read(name))
        except (OSError, Error):
            pass
    try:
        texts.append(gzip.decompress(machine.path('/proc/config.gz').read_bytes()).decode(errors='replace'))
    except OSError:
        pass
    return dict(re.findall(r'^CONFIG_(\w+)=(.*)$', texts[0], re.M)) if texts else {}


def check_options(machine: Machine) -> Iterator[Finding]:
    """What the kernel was built with."""
    there = config(machine)
    if not there:
        return
    for option in NEEDED:
        if there.get(option) not in ('y', 'm'):
            yield Finding('option', f'this kernel was built without {option}', 'it needs another kernel')
    for option, what in USEFUL.items():
        if there.get(option) not in ('y', 'm'):
            yield Finding('option', f'this kernel was built without {option}: {what}', 'another kernel', note=True)


def check_installed(machine: Machine) -> Iterator[Finding]:
    """Are there modules for this kernel, once, or could they be built?"""
    version, found = release(machine), installed(machine)
    if len(found) > 1:
        yield Finding('twice', f'the modules are installed twice, by {" and by ".join(found)}: it is not defined '
                      'which are loaded', 'remove one of them: apt-get remove latency-tracker-dkms, or make '
                      'uninstall')
    if found:
        return
    yield Finding('not-installed', f'there are no modules for this kernel, {version}',
                  'install the package latency-tracker-dkms, or run "make install" in the sources')
    build = f'/lib/modules/{version}/build'
    if not machine.path(f'{build}/include/generated/utsrelease.h').exists():
        yield Finding('headers', f'the headers of this kernel are missing, {build}',
                      f'apt-get install linux-headers-{version}; then dkms autoinstall, or make install')
        return
    yield from check_compiler(machine)


def _major(machine: Machine, compiler: str) -> str:
    """Of its version; empty if it is not there."""
    try:
        status, said = machine.run([compiler, '-dumpversion'])
    except Error:
        return ''
    return '' if status else said.split('.')[0]


def check_compiler(machine: Machine) -> Iterator[Finding]:
    """It has to be the one that the kernel was built with."""
    text = config(machine).get('CC_VERSION_TEXT', '').strip('"')
    found = re.match(r'(?:\S*-)?(gcc|clang)(?:-\d+)?\b.*?(\d+)\.\d+', text)
    if not found:
        return
    name, wanted = found[1], found[2]
    if wanted in (_major(machine, f'{name}-{wanted}'), _major(machine, name)):
        return
    there = _major(machine, name)
    yield Finding('compiler', f'the kernel was built with {name} {wanted}, and here is ' +
                  (f'{name} {there}' if there else f'no {name}'), f'apt-get install {name}-{wanted}')


def _secure_boot(machine: Machine) -> bool:
    """What the firmware says: four bytes of flags, and the value."""
    try:
        return machine.path(SECURE_BOOT).read_bytes()[4:] == b'\1'
    except OSError:
        return False


def check_signature(machine: Machine) -> Iterator[Finding]:
    """Would the kernel load them?"""
    found = installed(machine)
    locked = _optional(machine, '/sys/kernel/security/lockdown')
    enforced = _optional(machine, f'{MODULES}/module/parameters/sig_enforce').strip() == 'Y'
    mode = re.search(r'\[(\w+)\]', locked)
    if not found or not enforced and (not mode or mode[1] == 'none'):
        return
    _, signer = machine.run(['modinfo', '-F', 'signer', next(iter(found.values()))])
    why = 'signatures are enforced' if enforced else f'the kernel is locked down ({mode[1] if mode else ""})'
    if _secure_boot(machine):
        why = f'Secure Boot is on: {why}'
    if not signer:
        yield Finding('signature', f'{why}, and the modules are not signed', 'sign them: secure-boot.md in the '
                      'documentation')
    elif not machine.path(f'{MODULES}/latency_tracker').is_dir():
        yield Finding('signature', f'{why}; the modules are signed by "{signer}"', 'if they do not load, enrol '
                      'that key: mokutil --test-key; secure-boot.md', note=True)


def _optional(machine: Machine, name: str) -> str:
    try:
        return machine.read(name)
    except (OSError, Error):
        return ''


def check_loaded(machine: Machine) -> Iterator[Finding]:
    """Do those that are loaded see all?"""
    for tracker in loaded(machine):
        counters = tracker.counters()
        if not counters['tracking_on']:
            yield Finding('switched-off', f'{tracker.name} is switched off',
                          f'echo 1 > {tracker.state}/tracking_on')
        for counter, (name, text, remedy) in COUNTERS.items():
            if counters.get(counter):
                yield Finding(name, f'{tracker.name}: {counters[counter]:,} {text}', remedy)
        for parameter, (name, text, remedy) in PARAMETERS.items():
            value = _optional(machine, f'{MODULES}/{tracker.module}/parameters/{parameter}').strip()
            if value.isdigit() and int(value):
                yield Finding(name, f'{tracker.name}: {int(value):,} times {text}', remedy)
    if _optional(machine, '/sys/kernel/tracing/events/latency_tracker/enable').strip() == '0':
        yield Finding('events-off', 'the trace events are off: ftrace and perf see nothing; this program does '
                      'not need them', 'echo 1 > /sys/kernel/tracing/events/latency_tracker/enable', note=True)
    core = f'{MODULES}/latency_tracker/srcversion'
    found = installed(machine)
    if found and machine.path(core).exists():
        status, there = machine.run(['modinfo', '-F', 'srcversion', next(iter(found.values()))])
        if not status and there and there != machine.read(core).strip():
            yield Finding('old-loaded', 'the modules that are loaded are not those that are installed',
                          'latency-tracker stop; latency-tracker start')


def check_marks(machine: Machine) -> Iterator[Finding]:
    """Can programs mark their operations, and does all of it come through?"""
    tracker, device = Tracker(machine, 'mark'), machine.path(DEVICE)
    if not tracker.loaded:
        return
    counts = {name: _optional(machine, f'{MODULES}/{tracker.module}/parameters/{name}').strip() for name in (*MARKS, 'threads')}
    for name, (finding, text, remedy) in MARKS.items():
        if counts[name].isdigit() and int(counts[name]):
            yield Finding(finding, f'mark: {int(counts[name]):,} {text}', remedy, note=name != 'suppressed')
    if not device.exists():
        yield Finding('no-device', f'mark is loaded, and there is no {DEVICE}: no program can mark its operations',
                      'look at what makes the files in /dev, such as udev, or the runtime of a container')
    elif counts['threads'] == '0':
        of = device.stat()
        yield Finding('no-marks', f'no program has marks now; {DEVICE} has the mode {of.st_mode & 0o7777:04o}, and the owner '
                      f'{of.st_uid}:{of.st_gid}', 'start one that marks its operations; it must be allowed to open that file: device_mode, '
                      'or a rule for udev', note=True)


def check_ftrace(machine: Machine) -> Iterator[Finding]:
    """Can functions be hooked?"""
    if _optional(machine, '/proc/sys/kernel/ftrace_enabled').strip() == '0':
        yield Finding('ftrace-off', 'kernel.ftrace_enabled is 0: bios and some ends of packets cannot be seen',
                      'sysctl kernel.ftrace_enabled=1')


def check_log(machine: Machine) -> Iterator[Finding]:
    """What the kernel has said of the modules since it started; the last of each kind."""
    told = [line for line in kernel_log(machine.path('/dev/kmsg')) if TELLING.search(line)]
    for line in list(dict.fromkeys(reversed(told)))[:3]:
        yield Finding('kernel-log', f'the kernel has said: {line}', 'troubleshooting.md in the documentation', note=True)


CHECKS: tuple[Callable[[Machine], Iterator[Finding]], ...] = (
    check_options, check_installed, check_signature, check_ftrace, check_loaded, check_marks, check_log)


def doctor(_args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """The exit status is 2 if something is wrong."""
    found = [finding for check in CHECKS for finding in check(machine)]
    unique = list({(finding.name, finding.text): finding for finding in found}.values())
    for finding in sorted(unique, key=lambda finding: finding.note):
        out.object('finding', name=finding.name, note=finding.note, says=finding.text, remedy=finding.remedy)
        out.line(('note: ' if finding.note else '') + finding.text, '' if finding.note else 'yellow')
        out.line(f'  -> {finding.remedy}')
    wrong = sum(not finding.note for finding in unique)
    if not wrong:
        out.line('nothing is wrong that can be seen from here', 'green')
    return 2 if wrong else 0
