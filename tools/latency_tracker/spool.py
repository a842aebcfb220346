# SPDX-License-Identifier: GPL-2.0-only
"""Pages of trace buffers become reports: at once if there is time, else later; none is lost here."""
from __future__ import annotations

import os
import struct
import tempfile
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from latency_tracker import Error
from latency_tracker.instance import TRACKER_OF
from latency_tracker.pages import Format, events
from latency_tracker.records import Report, Value
from latency_tracker.stacks import Symbols

LENGTH = struct.Struct('=I')
# Stacks of operations that are late, but have not ended. More are not kept.
HELD = 4096
# Of an operation of a task: its tracker, the task, its begin.
Key = tuple[str, int, int]


class Spool:
    """Pages by the turn in which they were read, in a file that has no name. Not where the recording is: a network
    file system may forget such a file. Nor in /tmp, if there is better, which may be memory."""

    def __init__(self, directory: str = '/var/tmp') -> None:
        usable = os.access(directory, os.W_OK)
        self.file = tempfile.TemporaryFile(dir=directory if usable else None)  # pylint: disable=consider-using-with
        self.read_at = self.end = 0

    def put(self, pages: Sequence[bytes]) -> None:
        """The pages of a turn."""
        self.file.seek(self.end)
        self.file.write(LENGTH.pack(len(pages)))
        for page in pages:
            self.file.write(LENGTH.pack(len(page)) + page)
        self.end = self.file.tell()

    def get(self) -> list[bytes]:
        """Those of the oldest turn; none if there is none."""
        if self.read_at == self.end:
            if self.end:
                self.file.truncate(0)
                self.read_at = self.end = 0
            return []
        self.file.seek(self.read_at)
        pages = [self.file.read(LENGTH.unpack(self.file.read(LENGTH.size))[0])
                 for _ in range(LENGTH.unpack(self.file.read(LENGTH.size))[0])]
        self.read_at = self.file.tell()
        return pages

    def close(self) -> None:
        """It is gone."""
        self.file.close()


class Converter:
    """Reports, in the order of their time within a turn."""

    def __init__(self, formats: dict[int, Format], symbols: Symbols) -> None:
        self.formats, self.symbols = formats, symbols
        self.numbers: dict[str, int] = {}
        self.unread = 0
        # Of operations that have not ended: the stacks of their samples.
        self.held: OrderedDict[Key, dict[str, Value]] = OrderedDict()
        self.longest: dict[Key, tuple[int, int]] = {}

    def reports(self, pages: Sequence[bytes]) -> Iterator[Report]:
        """Of a turn. What is garbled is counted."""
        found: list[tuple[int, bytes]] = []
        for page in pages:
            try:
                found += events(page)
            except Error:
                self.unread += 1
        found.sort(key=lambda entry: entry[0])
        for at_ns, data in found:
            made = self.formats.get(int.from_bytes(data[:2], 'little'))
            try:
                report = self._report(made, at_ns, data) if made else None
            except (Error, struct.error):
                self.unread += 1
                continue
            if report:
                yield report

    def _report(self, made: Format, at_ns: int, data: bytes) -> Report | None:
        values = made.decode(data, self.symbols)
        tracker = TRACKER_OF.get(made.name, made.name.rpartition('_latency')[0] or made.name)
        report = Report(tracker, made.name, 0, at_ns, 0, 0, '', values=values)
        report.start_ns, report.delay_ns, report.flag = report.number('start'), report.number('delay'), report.text('flag')
        if made.name in ('offcpu_sched_wakeup', 'syscall_latency_stack'):
            self._hold(report)
            return None
        key = tracker, report.number('pid'), report.start_ns
        if made.name in ('offcpu_sched_switch', 'syscall_latency') and key in self.held:
            values.update(self.held[key])
            if report.ended:
                del self.held[key]
                self.longest.pop(key, None)
        report.nr = self.numbers[tracker] = self.numbers.get(tracker, 0) + 1
        return report

    def _hold(self, sample: Report) -> None:
        """For the report of its operation. Of a call, the stack where it was switched out for longest, as far as
        samples tell: one is taken each time the task has the CPU again, be it after a block or a preemption."""
        if sample.event == 'offcpu_sched_wakeup':
            self._keep((sample.tracker, sample.number('wakee_pid'), sample.start_ns), {'waker_stack': sample.stack('waker_stack')})
            return
        key = sample.tracker, sample.number('pid'), sample.start_ns
        last_ns, longest_ns = self.longest.get(key, (0, -1))
        took_ns = sample.delay_ns - last_ns
        if took_ns > longest_ns:
            self._keep(key, {'switched_stack': sample.stack('stack'), 'switched_until': sample.delay_ns})
        self.longest[key] = sample.delay_ns, max(took_ns, longest_ns)

    def _keep(self, key: Key, values: dict[str, Value]) -> None:
        self.held[key] = values
        self.held.move_to_end(key)
        while len(self.held) > HELD:
            gone, _ = self.held.popitem(last=False)
            self.longest.pop(gone, None)
