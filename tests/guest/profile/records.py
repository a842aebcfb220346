#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The records of a tracker, and what they are judged by.

Usage: records.py show FILE                     FILE is profile/last or profile/worst
       records.py last STATE INSTANCE SINCE EVENT...
                                                against the raw trace in INSTANCE, which begins
                                                at SINCE, ns
       records.py worst FILE EVENT SLEEPS       each window against the clock of an application
       records.py torn COUNT FILE...            until so many were read and written
       records.py windows FILE                  the delays of each window in ms, slowest first

Records are laid out as Documentation/ABI/sysfs says. STATE has a directory for each tracker.
SLEEPS has lines "sleep=MS begin=NS end=NS". Prints what is wrong, and at last figures.
"""
import collections
import os
import pathlib
import re
import struct
import sys
import time

SIZE = 4096
HEADER = struct.Struct('=QIIIIQQQQQQQIIII32s')
NAMES = ('magic version size window rank generation begin_ns end_ns nr at_ns start_ns delay_ns flag'
         ' nr_fields fields asked event').split()
FIELD = struct.Struct('=24sHHHH')
UNSIGNED, SIGNED, NAMED, ADDRESS, TEXT, STACK = range(1, 7)
WINDOWS = ('1m', '5m', '1h', 'total')
WORST = 16
FORMAT = re.compile(r'field:(?P<type>.*?)(?P<name>\w+)(?:\[(?P<nr>\w*)\])?;\toffset:(?P<offset>\d+);'
                    r'\tsize:(?P<size>\d+);\tsigned:(?P<signed>\d);')
wrong: list[str] = []


def expect(is_so: bool, text: str) -> None:
    """One comparison."""
    if not is_so:
        wrong.append(text)


def text_of(data: bytes) -> str:
    """Up to the first 0."""
    return data.split(b'\0')[0].decode(errors='replace')


class Record:
    """Its header by name, its values, and the names of some of them."""

    def __init__(self, data: bytes) -> None:
        self.header = dict(zip(NAMES, HEADER.unpack_from(data)))
        self.event = text_of(self.header['event'])
        self.values: dict[str, object] = {}
        self.texts: dict[str, str] = {}
        expect(data[:8] == b'LTRECS\0\0' and self.header['version'] == 1, 'magic, version')
        expect(self.header['size'] <= SIZE and not any(data[self.header['size']:]), 'size')
        for nr in range(self.header['nr_fields']):
            raw, kind, size, at, text = FIELD.unpack_from(data,
                                                          self.header['fields'] + nr * FIELD.size)
            value = data[at:at + size]
            self.values[text_of(raw)] = decode(kind, value)
            if text:
                self.texts[text_of(raw)] = text_of(data[text:])

    def __getattr__(self, name: str) -> int:
        return self.header[name]


def decode(kind: int, value: bytes) -> object:
    """A number, a text, or a list of addresses."""
    if kind == TEXT:
        return text_of(value)
    if kind == STACK:
        return list(struct.unpack(f'={len(value) // 8}Q', value))
    return int.from_bytes(value, sys.byteorder, signed=kind == SIGNED)


def read(path: str) -> list[Record]:
    """All that there are."""
    found = []
    with open(path, 'rb', buffering=0) as file:
        while data := file.read(SIZE):
            expect(len(data) == SIZE, f'a read of {len(data)}')
            found.append(Record(data))
    return found


def read_worst(path: str) -> list[list[Record]]:
    """By window; each of one generation."""
    windows = []
    for window in range(len(WINDOWS)):
        for _ in range(50):
            records = read(path)[window * WORST:(window + 1) * WORST]
            if len({record.generation for record in records}) == 1:
                break
        expect(len({record.generation for record in records}) == 1, 'torn 50 times')
        expect([(record.window, record.rank) for record in records] ==
               [(window, rank) for rank in range(WORST)], f'{WINDOWS[window]}: windows, ranks')
        there = [record for record in records if record.nr]
        delays = [record.delay_ns for record in there]
        expect(delays == sorted(delays, reverse=True), f'{WINDOWS[window]}: not sorted')
        expect(all(record.nr for record in records[:len(there)]), 'an empty one in between')
        expect(len({(record.event, record.start_ns, record.values.get('pid'))
                    for record in there}) == len(there), f'{WINDOWS[window]}: an operation twice')
        windows.append(there)
    return windows


# --- the raw trace ------------------------------------------------------------------------

Format = collections.namedtuple('Format', 'name fields')


def read_format(path: pathlib.Path) -> tuple[int, Format]:
    """Number of an event, and where its fields are."""
    text = path.read_text()
    ident = re.search(r'^ID: (\d+)', text, re.M)
    assert ident
    fields = [match.groupdict() for match in FORMAT.finditer(text)
              if not match['name'].startswith('common_')]
    return int(ident[1]), Format(path.parent.name, fields)


def value_of(field: dict[str, str], data: bytes) -> object:
    """Of an event, as decode() has it."""
    at, size = int(field['offset']), int(field['size'])
    if '__data_loc' in field['type']:
        where = int.from_bytes(data[at:at + 4], sys.byteorder)
        return decode(STACK, data[where & 0xffff:(where & 0xffff) + (where >> 16)])
    if field['nr'] is not None:
        return decode(TEXT, data[at:at + size])
    return decode(SIGNED if field['signed'] == '1' else UNSIGNED, data[at:at + size])


def events_of(page: bytes, formats: dict[int, Format]):
    """Of a page of the ring buffer: see ring_buffer_event in include/linux/ring_buffer.h."""
    now, commit = struct.unpack_from('=QQ', page)
    at, end = 16, 16 + (commit & 0xfffff)
    while at < end:
        head = int.from_bytes(page[at:at + 4], sys.byteorder)
        kind, delta = head & 31, head >> 5
        long = int.from_bytes(page[at + 4:at + 8], sys.byteorder)
        if kind == 29:
            at += 4 + long
            continue
        if kind in (30, 31):
            now = now + delta + (long << 27) if kind == 30 else delta + (long << 27)
            at += 8
            continue
        now += delta
        begin, size = (at + 8, long - 4) if kind == 0 else (at + 4, kind * 4)
        at = begin + size
        found = formats.get(int.from_bytes(page[begin:begin + 2], sys.byteorder))
        if found:
            data = page[begin:begin + size]
            yield now, found.name, {field['name']: value_of(field, data)
                                    for field in found.fields}


def read_trace(instance: str, names: list[str]):
    """All events of these names: time, name, values; by time."""
    group = pathlib.Path(instance, 'events/latency_tracker')
    formats = dict(read_format(group / name / 'format') for name in names)
    found = []
    for raw in pathlib.Path(instance, 'per_cpu').glob('cpu*/trace_pipe_raw'):
        file = os.open(raw, os.O_RDONLY | os.O_NONBLOCK)
        while True:
            try:
                page = os.read(file, SIZE)
            except BlockingIOError:
                break
            if not page:
                break
            found += list(events_of(page, formats))
        os.close(file)
    return sorted(found, key=lambda event: event[0])


def check_last(state: str, instance: str, since: int, names: list[str]) -> None:
    """The last 64 of each tracker are what the trace has, field by field."""
    trace = read_trace(instance, names)
    compared = records = stacks = 0
    for path in sorted(pathlib.Path(state).glob('*/profile/last')):
        found = sorted((record for record in read(str(path)) if record.at_ns > since),
                       key=lambda record: record.nr)
        kinds = {record.event for record in found}
        mine = [event for event in trace if event[1] in kinds and event[0] > since]
        there: dict[tuple[str, int, int], list[dict[str, object]]] = collections.defaultdict(list)
        for _, name, values in mine:
            there[name, values['start'], values['delay']].append(values)
        expect(len(found) == min(64, len(mine)), f'{path}: {len(found)} of {len(mine)}')
        for record in found:
            values = there[record.event, record.start_ns, record.delay_ns]
            if record.values in values:
                values.remove(record.values)
            else:
                differ = [(name, value, values[0].get(name)) for name, value in
                          record.values.items() if values[0].get(name) != value] if values else ''
                expect(False, f'{path}: {record.event} {record.header["nr"]}: {differ}'[:400])
            expect(record.values['flag'] == record.flag, 'flag')
            compared += len(record.values)
            stacks += any(isinstance(value, list) and value for value in record.values.values())
        # None is missing that was reported behind the first of them.
        oldest = min((record.at_ns for record in found), default=0) + 100000
        left = [event for event in mine if event[0] > oldest and
                event[2] in there[event[1], event[2]['start'], event[2]['delay']]]
        expect(len(left) <= 4, f'{path}: {len(left)} later ones are not there')
        records += len(found)
    print_wrong()
    print(f'wrong={len(wrong)} records={records} compared={compared} stacks={stacks}'
          f' of={len(trace)}')


# --- the clock of an application ------------------------------------------------------------

def check_worst(path: str, event: str, sleeps_path: str) -> None:
    """The slowest sleeps are there, and no other."""
    with open(sleeps_path, encoding='ascii') as file:
        sleeps = [{name: int(value) for name, value in (word.split('=') for word in line.split())}
                  for line in file if line.startswith('sleep=')]
    figures = []
    for name, records in zip(WINDOWS, read_worst(path)):
        expect(len(records) == min(WORST, len(sleeps)), f'{name}: {len(records)} records')
        kept, over = [], 0
        for record in records:
            mine = [sleep for sleep in sleeps if sleep['begin'] <= record.start_ns and
                    record.start_ns + record.delay_ns <= sleep['end']]
            expect(len(mine) == 1 and record.event == event, f'{name}: {record.values}')
            expect(record.start_ns == record.values['start'] and
                   record.delay_ns == record.values['delay'], f'{name}: head and values')
            if mine:
                # A task leaves the CPU a while after it has set its timer.
                late = 10 if event.startswith('offcpu') else 0
                expect(record.delay_ns >= (mine[0]['sleep'] - late) * 1000000, f'{name}: too short')
                over = max(over, mine[0]['end'] - mine[0]['begin'] - record.delay_ns)
                kept.append(mine[0])
        least = min((record.delay_ns for record in records), default=0)
        for sleep in sleeps:
            # The application sees up to so much more of a sleep.
            expect(sleep in kept or sleep['end'] - sleep['begin'] - over <= least,
                   f'{name}: {sleep} is not there, and {least} is')
        figures.append(f'{name}={len(records)}')
    stacks = [value for record in records for value in record.values.values()
              if isinstance(value, list)]
    print_wrong()
    print(f'wrong={len(wrong)} sleeps={len(sleeps)} {" ".join(figures)}'
          f' stacks={sum(map(bool, stacks))} inner={hex(stacks[0][0]) if stacks else 0}')


# --- others -----------------------------------------------------------------------------------

def check_torn(count: int, paths: list[str]) -> None:
    """A record is of one report, however fast they come."""
    reads = records = 0
    end = time.monotonic() + 90
    last_nr = 0
    while min(records, last_nr) < count and time.monotonic() < end:
        for path in paths:
            for record in read(path):
                if not record.nr:
                    continue
                records += 1
                last_nr = max(last_nr, record.nr)
                expect(record.values['delay'] == record.delay_ns and
                       record.values['start'] == record.start_ns and
                       record.values['flag'] == record.flag,
                       f'{path}: {record.header} {record.values}')
                expect(record.at_ns - record.start_ns - record.delay_ns < 10**9,
                       f'{path}: {record.header}')
            reads += 1
    print_wrong()
    print(f'wrong={len(wrong)} reads={reads} records={records} reports={last_nr}')


def show(path: str) -> None:
    """For people."""
    for record in read(path):
        if record.nr:
            print(record.event, {**record.header, 'event': 0})
            print('   ', {**record.values, **record.texts})


def print_wrong() -> None:
    """The first ones."""
    for text in wrong[:10]:
        print('#', text)


def main() -> None:
    """See above."""
    what, *args = sys.argv[1:]
    if what == 'show':
        show(args[0])
    elif what == 'last':
        check_last(args[0], args[1], int(args[2]), args[3:])
    elif what == 'worst':
        check_worst(*args)
    elif what == 'torn':
        check_torn(int(args[0]), args[1:])
    else:
        windows = read_worst(args[0])
        print_wrong()
        print(*(f'{name}:' + ','.join(str(record.delay_ns // 1000000) for record in records)
                for name, records in zip(WINDOWS, windows)))


main()
