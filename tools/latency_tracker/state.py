# SPDX-License-Identifier: GPL-2.0-only
"""The trackers: what there is, what each counts, its settings. Documentation/ABI/sysfs."""
from __future__ import annotations

import re
from dataclasses import dataclass

from latency_tracker import Error
from latency_tracker.machine import Machine

STATE = '/sys/kernel/latency_tracker'
MODULES = '/sys/module'
# Through which programs mark their operations, for the tracker mark.
DEVICE = '/dev/latency_tracker'


@dataclass(frozen=True)
class Known:
    """A tracker of this project. Times in ns: for the live view, what is never worth a report, and
    after what time an operation counts as stuck; 0: never."""
    name: str
    about: str
    floor_ns: int
    stuck_ns: int


KNOWN = {known.name: known for known in (
    Known('wakeup', 'a task waits for a CPU', 2_000_000, 100_000_000),
    Known('offcpu', 'a task is off the CPU', 10_000_000, 1_000_000_000),
    Known('syscalls', 'a system call', 10_000_000, 2_000_000_000),
    Known('block', 'a request to a disk', 2_000_000, 500_000_000),
    Known('irq', 'an interrupt, or a soft interrupt', 500_000, 100_000_000),
    Known('network', 'a packet, from or to its device', 2_000_000, 0),
)}

# Those that are loaded by name only, and what an operation of them is.
OPTIONAL = {'lock': 'a wait for a lock, of the kernel, of user space or on a file',
            'mark': 'an operation of a program, which the program marks itself',
            'chain': 'an activation of a task, from its timer or interrupt until its work is done'}
# Profiles of parts of operations of a tracker, beside its own: they have a directory in STATE, no module and no reports.
STAGES = ('chain_raise', 'chain_handling', 'chain_waiting', 'chain_returning', 'chain_working')
# Modules that are no trackers: they have parameters, but no directory in STATE, and no operations.
PARTS = {'critical_path': 'what late operations of tasks were made of: latency-tracker path'}


class Tracker:
    """One, loaded or not."""

    def __init__(self, machine: Machine, name: str) -> None:
        if not re.fullmatch(r'[A-Za-z0-9_-]{1,55}', name):
            raise Error(f'"{name}" is no name of a tracker')
        self.machine, self.name = machine, name
        self.state = f'{STATE}/{name}'
        self.module = f'latency_tracker_{name}'

    @property
    def about(self) -> str:
        """What an operation of it is."""
        known = KNOWN.get(self.name)
        return known.about if known else {**OPTIONAL, **PARTS}.get(self.name, 'of another module')

    @property
    def loaded(self) -> bool:
        """It works."""
        return self.machine.path(f'{MODULES}/{self.module}' if self.name in PARTS else self.state).is_dir()

    def read(self, name: str) -> str:
        """A file of it, such as "late" or "profile/1m"; Error: the tracker is gone, or an old one."""
        try:
            return self.machine.read(f'{self.state}/{name}').strip()
        except (FileNotFoundError, OSError) as error:
            if self.loaded and isinstance(error, FileNotFoundError):
                raise Error(f'{self.name} has no file "{name}": its module is an older one') from None
            raise Error(f'the tracker {self.name} is not loaded: latency-tracker start {self.name}'
                        ) from None

    def number(self, name: str) -> int:
        """Of a file with one."""
        return int(self.read(name))

    def write(self, name: str, text: str) -> None:
        """Error: it was refused."""
        try:
            self.machine.write(f'{self.state}/{name}', text)
        except FileNotFoundError:
            raise Error(f'the tracker {self.name} is not loaded: latency-tracker start {self.name}'
                        ) from None

    def counters(self) -> dict[str, int]:
        """All files with one number, by name; of a part, the parameters that are counters."""
        if self.name in PARTS:
            return {name: int(self.get(name)) for name in self.parameters()
                    if not self.may_write(name) and self.get(name).isdigit()}
        found = {}
        directory = self.machine.path(self.state)
        for path in sorted(directory.iterdir()) if directory.is_dir() else []:
            if path.is_file():
                found[path.name] = self.number(path.name)
        if not found:
            self.number('started')
        return found

    def parameters(self) -> list[str]:
        """The names of its settings, those that can only be read included."""
        directory = self.machine.path(f'{MODULES}/{self.module}/parameters')
        if not directory.is_dir():
            raise Error(f'the tracker {self.name} is not loaded: latency-tracker start {self.name}')
        return sorted(path.name for path in directory.iterdir())

    def may_write(self, parameter: str) -> bool:
        """Whether it can be changed while the module is loaded."""
        path = self.machine.path(f'{MODULES}/{self.module}/parameters/{parameter}')
        return bool(path.stat().st_mode & 0o200)

    def get(self, parameter: str) -> str:
        """A setting, as the module prints it."""
        return self.machine.read(f'{MODULES}/{self.module}/parameters/{parameter}').strip('\n')

    def set(self, parameter: str, text: str) -> None:
        """Error: it was refused, and nothing has changed."""
        self.machine.write(f'{MODULES}/{self.module}/parameters/{parameter}', text)


def loaded(machine: Machine) -> list[Tracker]:
    """All that work, those of this project first, without STAGES."""
    directory = machine.path(STATE)
    names = [path.name for path in directory.iterdir() if path.is_dir() and path.name not in STAGES] \
        if directory.is_dir() else []
    order = list(KNOWN)
    names.sort(key=lambda name: (order.index(name) if name in order else len(order), name))
    return [Tracker(machine, name) for name in names]


def chosen(machine: Machine, names: list[str], with_parts: bool = False) -> list[Tracker]:
    """Those that are named, or all that work; parts, which are no trackers, only by name. Error: one that is not
    loaded, or none is."""
    if not names:
        found = loaded(machine)
        if not found:
            raise Error('no tracker is loaded: "latency-tracker start" loads all, and '
                        '"latency-tracker" alone loads them for as long as it runs')
        return found
    found = [Tracker(machine, name) for name in names]
    for tracker in found:
        if tracker.name in PARTS and not with_parts:
            raise Error(f'{tracker.name} is no tracker: it tells {tracker.about}')
        if not tracker.loaded:
            there = ' '.join(other.name for other in loaded(machine)) or 'none'
            raise Error(f'the tracker {tracker.name} is not loaded: latency-tracker start '
                        f'{tracker.name} (loaded: {there})')
    return found
