# SPDX-License-Identifier: GPL-2.0-only
"""Trackers that are loaded for as long as a command runs: two commands at a time share them, and what
one that was killed has left is unloaded by the next."""
from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

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


class Borrowed:
    """The trackers that this process has loaded, or uses although another one has."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.directory = machine.path(DIRECTORY)
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except PermissionError:
            raise Error('trackers can be loaded by root only: use sudo') from None
        self.mine = self.directory / f'{os.getpid()}.json'
        self.names: list[str] = []
        # Why some could not be loaded.
        self.failed: list[str] = []

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with open(self.directory / 'lock', 'w', encoding='ascii') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _uses(self) -> tuple[dict[int, list[str]], list[str]]:
        """Of other processes that run; and what those have left that do not run any more."""
        live: dict[int, list[str]] = {}
        left: list[str] = []
        for path in self.directory.glob('*.json'):
            try:
                use = json.loads(path.read_text(encoding='ascii'))
            except ValueError:
                use = {'start': '', 'names': []}
            if path == self.mine:
                continue
            if use['start'] and use['start'] == start_of(self.machine, int(path.stem)):
                live[int(path.stem)] = use['names']
            else:
                left += use['names']
                path.unlink()
        return live, left

    def _note(self) -> None:
        """Before a module is loaded, so that a kill at any moment leaves a note."""
        partial = self.mine.with_suffix('.new')
        partial.write_text(json.dumps({'start': start_of(self.machine, os.getpid()),
                                       'names': self.names}), encoding='ascii')
        partial.replace(self.mine)

    def load(self, trackers: Sequence[Tracker], settings: dict[str, str]) -> list[Tracker]:
        """Those that are not there. Returns what it has loaded; those of others are left as they are. One
        that cannot be loaded is left out, and told in failed. Error: there is none at all."""
        wanted, new = [], []
        with self._locked():
            live, left = self._uses()
            shared = {name for names in live.values() for name in names}
            for name in set(left) - shared:
                self._unload(name)
            for tracker in trackers:
                there = is_module(self.machine, tracker.module)
                if not there or tracker.name in shared:
                    self.names.append(tracker.name)
                if not there:
                    wanted.append(tracker)
            self._note()
            for tracker in wanted:
                try:
                    load(tracker, settings)
                    new.append(tracker)
                except Error as error:
                    self.failed.append(str(error))
        if self.failed and len(self.failed) == len(trackers):
            raise Error(self.failed[0])
        return new

    def _unload(self, name: str) -> None:
        tracker = Tracker(self.machine, name)
        if is_module(self.machine, tracker.module):
            unload(tracker)

    def give_back(self) -> list[str]:
        """Unload what no other process uses. Returns what could not be, and why."""
        failed = []
        with self._locked():
            live, left = self._uses()
            shared = {name for names in live.values() for name in names}
            for name in sorted({*self.names, *left} - shared):
                try:
                    self._unload(name)
                except Error as error:
                    failed.append(str(error))
            self.mine.unlink(missing_ok=True)
        return failed
