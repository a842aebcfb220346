# SPDX-License-Identifier: GPL-2.0-only
"""The files profile/last and profile/worst of a tracker, as Documentation/ABI/sysfs lays them
out: reports with each field of their event, whether or not anybody traces."""
from __future__ import annotations

import os
import struct
import sys
from dataclasses import dataclass, field
from typing import Union

from latency_tracker import Error
from latency_tracker.profile import RECORD, WINDOWS
from latency_tracker.stacks import Symbols
from latency_tracker.state import Tracker

HEADER = struct.Struct('=QIIIIQQQQQQQIIII32s')
FIELD = struct.Struct('=24sHHHH')
UNSIGNED, SIGNED, NAMED, ADDRESS, TEXT, STACK = range(1, 7)
MAGIC = int.from_bytes(b'LTRECS\0\0', 'little')
FLAGS = ('ended', 'pending', 'collected')
# The kernel copies a record in microseconds, and a window changes with each late operation.
TRIES = 50
Value = Union[int, str, 'list[str]']


@dataclass
class Report:
    """One; times in ns of CLOCK_MONOTONIC. values has the fields by name: numbers, or their names if
    they have one; texts; an address as a symbol; a stack as symbols, innermost first."""
    tracker: str
    event: str
    nr: int
    at_ns: int
    start_ns: int
    delay_ns: int
    flag: str
    window: str = ''
    rank: int = 0
    generation: int = 0
    # It was reported since that was asked for, and is no crossing.
    asked: bool = False
    # Its path, if the report is of a recording.
    cgroup: str = ''
    values: dict[str, Value] = field(default_factory=dict)

    def number(self, name: str) -> int:
        """A field that is one; -1 if the event has none of that name."""
        value = self.values.get(name, -1)
        return value if isinstance(value, int) else -1

    def text(self, name: str) -> str:
        """A field as text; "-" if the event has none of that name."""
        value = self.values.get(name, '-')
        return ' '.join(value) if isinstance(value, list) else str(value)

    def stack(self, name: str) -> list[str]:
        """A field that is one; empty if the event has none of that name."""
        value = self.values.get(name)
        return value if isinstance(value, list) else []

    @property
    def own(self) -> bool:
        """Of this program, which is not what its user looks for. An interrupt has only interrupted it."""
        return self.number('tgid') == os.getpid() and self.event not in ('irq_latency', 'softirq_latency')

    @property
    def ended(self) -> bool:
        """It is not pending."""
        return self.flag == 'ended'


def _text(data: bytes) -> str:
    return data.split(b'\0')[0].decode(errors='backslashreplace')


def _value(record: bytes, symbols: Symbols, name: str, kind: int, size: int, at: int, text: int) -> Value:
    data = record[at:at + size]
    if kind == TEXT:
        return _text(data)
    if kind == STACK:
        return [symbols.name(address) for address in struct.unpack(f'={size // 8}Q', data)]
    number = int.from_bytes(data, sys.byteorder, signed=kind == SIGNED)
    if kind == ADDRESS:
        return symbols.of_field(name, number)
    return _text(record[text:]) if kind == NAMED and text else number


def parse(tracker: str, record: bytes, symbols: Symbols) -> Report | None:
    """A record of 4096 bytes. None: it holds no report. Error: it is none that is known here."""
    (magic, version, size, window, rank, generation, _, _, nr, at_ns, start_ns, delay_ns, flag,
     nr_fields, fields, asked, event) = HEADER.unpack_from(record)
    if magic != MAGIC or version != 1 or not HEADER.size <= size <= RECORD:
        raise Error(f'the records of {tracker} have a layout that is not known here: is the command '
                    'older than the modules?')
    if not nr:
        return None
    report = Report(tracker, _text(event), nr, at_ns, start_ns, delay_ns,
                    FLAGS[flag] if flag < len(FLAGS) else str(flag),
                    WINDOWS[window] if window < len(WINDOWS) else 'last', rank, generation, asked == 1)
    for at in range(fields, fields + nr_fields * FIELD.size, FIELD.size):
        try:
            name, *where = FIELD.unpack_from(record, at)
            report.values[_text(name)] = _value(record, symbols, _text(name), *where)
        except struct.error:
            raise Error(f'a record of {tracker} is garbled') from None
    return report


class Reader:
    """Of one file, which stays open: so it costs a read for each record, and no look-up."""

    def __init__(self, tracker: Tracker, name: str, symbols: Symbols) -> None:
        self.tracker, self.symbols = tracker, symbols
        path = tracker.machine.path(f'{tracker.state}/profile/{name}')
        try:
            self.fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise Error(f'{tracker.name} has no profile/{name}: its module is an older one') from None
        except PermissionError:
            raise Error(f'profile/{name} may be read by root only: use sudo') from None

    def _record(self, index: int) -> bytes:
        try:
            data = os.pread(self.fd, RECORD, index * RECORD)
        except OSError:
            raise Error(f'the tracker {self.tracker.name} was unloaded') from None
        if data and len(data) != RECORD:
            raise Error(f'a record of {self.tracker.name} is cut off')
        return data

    def last(self, after: int = 0) -> list[Report]:
        """Those whose nr is higher, in their order."""
        found, index = [], 0
        while record := self._record(index):
            index += 1
            # Symbols are looked up only for what is new.
            if HEADER.unpack_from(record)[8] > after:
                report = parse(self.tracker.name, record, self.symbols)
                if report:
                    found.append(report)
        return sorted(found, key=lambda report: report.nr)

    def worst(self) -> dict[str, list[Report]]:
        """Of each window, the slowest first; each window of one moment."""
        count = os.fstat(self.fd).st_size // RECORD // len(WINDOWS)
        return {name: self._window(range(window * count, (window + 1) * count))
                for window, name in enumerate(WINDOWS)}

    def _window(self, indexes: range) -> list[Report]:
        for _ in range(TRIES):
            records = [self._record(index) for index in indexes]
            if len({HEADER.unpack_from(record)[5] for record in records}) == 1:
                reports = [parse(self.tracker.name, record, self.symbols) for record in records]
                return [report for report in reports if report]
        raise Error(f'the worst of {self.tracker.name} changed during each of {TRIES} reads')

    def close(self) -> None:
        """No more reads."""
        os.close(self.fd)
