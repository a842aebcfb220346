# SPDX-License-Identifier: GPL-2.0-only
"""What is loaded or switched on for as long as a command runs: two commands at a time share it, and the
next one sets back what one that was killed has left."""
from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from latency_tracker import Error
from latency_tracker.machine import Machine
from latency_tracker.modules import is_module, load, unload
from latency_tracker.state import Tracker

DIRECTORY = '/run/latency-tracker'


def start_of(machine: Machine, pid: int) -> str:
    """When a process began; empty if there is none. A number is used again, but not with this."""
    try:
        return machine.read(f'/proc/{pid}/stat').rpartition(')')[2].split()[19]
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return ''


@dataclass
class Use:
    """Names of trackers: that a process has loaded, and whose groups it has switched on; or that it uses
    although another one has."""
    names: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)

    def add(self, other: Use) -> None:
        """All of another one."""
        self.names += other.names
        self.groups += other.groups


class Borrowed:
    """What this process has borrowed."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.directory = machine.path(DIRECTORY)
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except PermissionError:
            raise Error('trackers can be loaded by root only: use sudo') from None
        self.note = self.directory / f'{os.getpid()}.json'
        self.mine = Use()
        # Why some could not be loaded.
        self.failed: list[str] = []

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with open(self.directory / 'lock', 'w', encoding='ascii') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _uses(self) -> tuple[Use, Use]:
        """Of other processes that run; and what those have left that do not run any more."""
        live, left = Use(), Use()
        for path in self.directory.glob('*.json'):
            if path == self.note:
                continue
            try:
                entry = json.loads(path.read_text(encoding='ascii'))
                use, start = Use(list(entry['names']), list(entry['groups'])), str(entry['start'])
            except (ValueError, KeyError, TypeError):
                # It was killed before it had written all, and so before it had done anything.
                use, start = Use(), ''
            if start and start == start_of(self.machine, int(path.stem)):
                live.add(use)
            else:
                left.add(use)
                path.unlink()
        return live, left

    def _write_note(self) -> None:
        """Before anything is done, so that a kill at any moment leaves a note."""
        partial = self.note.with_suffix('.new')
        partial.write_text(json.dumps({'start': start_of(self.machine, os.getpid()), 'names': self.mine.names,
                                       'groups': self.mine.groups}), encoding='ascii')
        partial.replace(self.note)

    def _set_back(self, use: Use, live: Use) -> list[str]:
        """What no other process uses. Returns what could not be, and why."""
        failed = []
        for name in sorted(set(use.groups) - set(live.groups)):
            tracker = Tracker(self.machine, name)
            if tracker.loaded:
                tracker.write('profile/groups_on', '0')
        for name in sorted(set(use.names) - set(live.names)):
            try:
                self._unload(name)
            except Error as error:
                failed.append(str(error))
        return failed

    def load(self, trackers: Sequence[Tracker], settings: dict[str, str]) -> list[Tracker]:
        """Those that are not there. Returns what it has loaded; those of others are left as they are. One
        that cannot be loaded is left out, and told in failed. Error: there is none at all."""
        wanted, new = [], []
        with self._locked():
            live, left = self._uses()
            self._set_back(left, live)
            for tracker in trackers:
                there = is_module(self.machine, tracker.module)
                if not there or tracker.name in live.names:
                    self.mine.names.append(tracker.name)
                if not there:
                    wanted.append(tracker)
            self._write_note()
            for tracker in wanted:
                try:
                    load(tracker, settings)
                    new.append(tracker)
                except Error as error:
                    self.failed.append(str(error))
        if self.failed and len(self.failed) == len(trackers):
            raise Error(self.failed[0])
        return new

    def switch_groups_on(self, trackers: Sequence[Tracker]) -> None:
        """Of those that do not count by groups."""
        with self._locked():
            live, left = self._uses()
            self._set_back(left, live)
            off = [tracker for tracker in trackers if tracker.number('profile/groups_on') == 0]
            self.mine.groups += [tracker.name for tracker in trackers
                                 if tracker in off or tracker.name in live.groups]
            self._write_note()
            for tracker in off:
                tracker.write('profile/groups_on', '1')

    def _unload(self, name: str) -> None:
        tracker = Tracker(self.machine, name)
        if is_module(self.machine, tracker.module):
            unload(tracker)

    def give_back(self) -> list[str]:
        """Set back what no other process uses. Returns what could not be, and why."""
        with self._locked():
            live, left = self._uses()
            left.add(self.mine)
            failed = self._set_back(left, live)
            self.note.unlink(missing_ok=True)
        return failed
