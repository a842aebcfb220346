# SPDX-License-Identifier: GPL-2.0-only
"""What an operation that has crossed was made of, for the command of "on". Its path comes a moment later."""
from __future__ import annotations

import time

from latency_tracker.instance import Instance
from latency_tracker.machine import Machine
from latency_tracker.paths import EVENT, Gatherer, Path, operations
from latency_tracker.records import Report
from latency_tracker.signals import Signals
from latency_tracker.spool import Converter
from latency_tracker.stacks import Symbols, kallsyms
from latency_tracker.state import Tracker

# The module tells a path within some tens of milliseconds, unless there are many.
SECONDS, STEP_SECONDS = 1.0, 0.02
# Of a CPU: some hundred segments, of which the newest are kept.
BUFFER_KIB = 128


class Waiter:
    """From its making to close(). Error: there can be no trace instance."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.instance = Instance(machine, [Tracker(machine, EVENT)], BUFFER_KIB)
        self.converter = Converter(self.instance.formats, Symbols(kallsyms))
        self.gatherer = Gatherer(lambda _: '-', machine.monotonic_ns)

    def _look(self, report: Report) -> Path | None:
        found = None
        for segment in self.converter.reports(self.instance.drain()):
            for path in self.gatherer.add(segment):
                if path.is_of(report):
                    found = path
        return found

    def wait(self, report: Report, signals: Signals) -> Path | None:
        """The path of an operation, if it comes in time."""
        end = time.monotonic() + SECONDS
        while not (path := self._look(report)) and time.monotonic() < end and signals.wait(STEP_SECONDS):
            pass
        return path

    def close(self) -> None:
        """Nothing of it is left."""
        self.instance.close()


def waits_for(machine: Machine, name: str) -> bool:
    """Whether operations of that tracker get a path."""
    part = Tracker(machine, EVENT)
    return part.loaded and name in operations(part)


def cause_of(path: Path | None) -> tuple[str, str]:
    """What most of the time was, of what no other segment explains, and its ns; empty if that is not known."""
    if not path or not path.leaves:
        return '', ''
    longest = max(path.leaves, key=lambda of: of.delay_ns)
    return path.says(longest), str(longest.delay_ns)
