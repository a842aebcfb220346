# SPDX-License-Identifier: GPL-2.0-only
"""Loading and unloading the modules, now and at each boot."""
from __future__ import annotations

import re

from latency_tracker import Error
from latency_tracker.machine import KernelLog, Machine
from latency_tracker.settings import arguments
from latency_tracker.state import DEVICE, MODULES, Tracker

LOAD_AT_BOOT = '/etc/modules-load.d/latency-tracker.conf'
OPTIONS_AT_BOOT = '/etc/modprobe.d/latency-tracker.conf'
WRITTEN_BY = '# Written by latency-tracker start --boot; latency-tracker stop --boot removes it.\n'
# What modprobe says, and what to do.
CAUSES = (
    ('not found', 'the modules are not installed for this kernel: install the package '
     'latency-tracker-dkms and the headers of the running kernel, or "make install" in the sources'),
    ('Key was rejected', 'Secure Boot wants a signature that it knows: see secure-boot.md in the '
     'documentation'),
    ('Operation not permitted', 'be root; or the kernel is locked down: see secure-boot.md'),
    ('Invalid argument', 'a setting was refused'),
    ('Exec format error', 'the module is of another kernel: build it again'),
)


def load(tracker: Tracker, settings: dict[str, str]) -> None:
    """With these settings. Error: why not, and what to do."""
    words = [f'{name}={text}' for name, text in arguments(settings).items()]
    log = KernelLog(tracker.machine.path('/dev/kmsg'))
    status, said = tracker.machine.run(['modprobe', tracker.module, *words])
    told = log.told()
    if not status:
        return
    hint = next((text for sign, text in CAUSES if sign in said), '')
    raise Error(f'{tracker.module} cannot be loaded: {"; ".join(filter(None, (said, told, hint)))}')


def unload(tracker: Tracker) -> None:
    """Error: it is in use."""
    status, said = tracker.machine.run(['modprobe', '-r', tracker.module])
    if status:
        # A program that has marks is no module.
        who = f'fuser -v {DEVICE}' if tracker.name == 'mark' else 'lsmod'
        raise Error(f'{tracker.module} cannot be unloaded: {said}; who uses it: {who}')


def is_module(machine: Machine, name: str) -> bool:
    """It is loaded, whether or not its tracker works."""
    return machine.path(f'{MODULES}/{name}').is_dir()


class Boot:
    """What is loaded at each boot: two files in /etc."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.settings: dict[str, dict[str, str]] = {}
        for line in self._lines(LOAD_AT_BOOT):
            found = re.fullmatch(r'latency_tracker_(\w+)', line)
            if found:
                self.settings[found[1]] = {}
        for line in self._lines(OPTIONS_AT_BOOT):
            found = re.fullmatch(r'options latency_tracker_(\w+) (.*)', line)
            if found and found[1] in self.settings:
                self.settings[found[1]] = dict(re.findall(r'(\w+)="?((?<=")[^"]*|\S*)"?', found[2]))

    def _lines(self, name: str) -> list[str]:
        try:
            text = self.machine.read(name)
        except FileNotFoundError:
            return []
        if not text.startswith(WRITTEN_BY):
            raise Error(f'{name} was not written by this program: move it away')
        return text.splitlines()[1:]

    def set(self, name: str, settings: dict[str, str]) -> None:
        """Load it, with these settings beside those that it has there."""
        for text in settings.values():
            if re.search(r'["\n]', text):
                raise Error(f'{text!r} cannot be written to {OPTIONS_AT_BOOT}')
        self.settings.setdefault(name, {}).update(arguments(settings))

    def write(self) -> None:
        """Both files, or none if nothing is loaded at boot."""
        loads = ''.join(f'latency_tracker_{name}\n' for name in self.settings)
        options = ''.join(
            f'options latency_tracker_{name} ' +
            ' '.join(f'{key}="{text}"' if ' ' in text else f'{key}={text}'
                     for key, text in settings.items()) + '\n'
            for name, settings in self.settings.items() if settings)
        for path, text in ((LOAD_AT_BOOT, loads), (OPTIONS_AT_BOOT, options)):
            file = self.machine.path(path)
            try:
                if text:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(WRITTEN_BY + text, encoding='utf-8')
                else:
                    file.unlink(missing_ok=True)
            except PermissionError:
                raise Error(f'{path} may be written by root only: use sudo') from None
