# SPDX-License-Identifier: GPL-2.0-only
"""A machine in a directory, whose trackers have the files of Documentation/ABI/sysfs. It is written by
that document, and shares nothing with the program that reads it."""
from __future__ import annotations

import os
import shutil
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from latency_tracker import Error
from latency_tracker.machine import Machine

NOW_NS = 100 * 10**9
COUNTERS = {'capacity': 4096, 'cleared': 0, 'clock_back': 0, 'collected': 0, 'crossings': 0,
            'finished': 90, 'late': 3, 'memory_bytes': 1 << 20, 'pending': 10, 'per_minute': 0, 'report_pending': 0,
            'skipped': 0, 'started': 100, 'threshold_now_ns': 10**7, 'threshold_ns': 10**7,
            'timeout_ns': 0, 'timeouts': 0, 'tracking_on': 1, 'unwatched': 0}
PARAMETERS = {'usec_threshold': '10000', 'usec_timeout': '0', 'per_minute': '0', 'profile': 'Y',
              'groups': 'N', 'thresholds': '', 'cgroup': '', 'max_events': '4096'}
UNSIGNED, SIGNED, NAMED, ADDRESS, TEXT, STACK = range(1, 7)
# Of a module that is no tracker, with its counters, which are read-only.
PART = {'usec_wait': '1000', 'usec_stack': '10000', 'operations': 'all'}
PART_COUNTERS = {'waits': '4096', 'tasks': '32768', 'paths': '7', 'left_out': '0', 'lost': '0', 'unknown': '2', 'cut': '0'}
# What the tracker of marks has besides, those that are read-only in the second one.
MARKS = {'user_threads': '4096', 'user_reports': '1000', 'probes': ''}
MARKS_FIXED = {'device_mode': '0600', 'threads': '2', 'suppressed': '0', 'refused': '0', 'abandoned': '0', 'dropped': '0'}
TRACING = '/sys/kernel/tracing'
HEADER_PAGE = ('''\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;
''')
Fields = Sequence[tuple[str, int, object]]


def bucket_of(delay_ns: int, schema: int, first: int, last: int) -> int:
    """By integers only: 2^(i/2^schema) < delay <= 2^((i+1)/2^schema), in seconds."""
    steps = 1 << schema
    power, base = max(delay_ns, 1)**steps, 10**(9 * steps)
    index: int = power.bit_length() - base.bit_length() - 2
    while power > (base << index + 1 if index >= -1 else base >> -index - 1):
        index += 1
    return min(max(index, first), last)


def buckets_file(delays: Sequence[int], generations: Iterable[int] = (7,) * 8) -> bytes:
    """profile/buckets, the same delays in all windows."""
    counts = Counter(-766 if delay < 64 else bucket_of(delay, 5, -765, 195) for delay in delays)
    data = b''
    for number, generation in enumerate(generations):
        first = number % 2 * 481
        head = struct.pack('=QIIiiIIIIQQQQQ', 0x464f5250544c, 1, number // 2, 5, first - 766, first, 481,
                           962, 0, generation, NOW_NS - 60 * 10**9, NOW_NS, sum(delays),
                           max(delays, default=0))
        data += head.ljust(248, b'\0') + struct.pack(
            '=481Q', *(counts[first - 766 + i] for i in range(481)))
    return data


def groups_file(groups: Mapping[tuple[str, bytes], Sequence[int]]) -> bytes:
    """profile/groups: the delays of each dimension and name; all of them in the last minute."""
    data = b''
    for number, ((dimension, name), delays) in enumerate(groups.items()):
        counts = Counter(bucket_of(delay, 3, -192, 48) for delay in delays)
        row = [counts[i - 192] for i in range(241)]
        longest, total = max(delays, default=0), sum(delays)
        data += struct.pack('=QIIiiIIQQQQQQQQQII16s64s', 0x50555247544c, 1, 0, 3, -192, 241, len(groups),
                            5, number, 0, NOW_NS - 60 * 10**9, NOW_NS, total, longest, total, longest,
                            name == b'other', 0, dimension.encode(), name).ljust(240, b'\0')
        data += struct.pack('=482Q', *row, *row).ljust(4096 - 240, b'\0')
    return data


def record(nr: int, event: str, fields: Fields, window: int = 4, rank: int = 0, at_ns: int = NOW_NS,
           generation: int = 3, asked: int = 0) -> bytes:
    """A record of profile/last; nr 0: an empty one. A NAMED field is a number and its name."""
    values = {name: value for name, _, value in fields}
    delay, start = values.get('delay', 0), values.get('start', 0)
    names = {'ended': 0, 'pending': 1, 'collected': 2}
    flag = values.get('flag', (0, 'ended'))
    heads, texts = b'', b''
    base = 128 + 32 * len(fields)
    for name, kind, value in fields:
        text_at = 0
        if isinstance(value, tuple):
            data = struct.pack('=I', value[0])
        elif isinstance(value, str):
            data = value.encode() + b'\0'
        elif isinstance(value, bytes):
            data = value + b'\0'
        elif isinstance(value, list):
            data = struct.pack(f'={len(value)}Q', *value)
        else:
            assert isinstance(value, int)
            data = value.to_bytes(8, 'little', signed=kind == SIGNED)
        at = base + len(texts)
        texts += data
        if isinstance(value, tuple):
            text_at = base + len(texts)
            texts += str(value[1]).encode() + b'\0'
        heads += struct.pack('=24sHHHH', name.encode(), kind, len(data), at, text_at)
    if not nr:
        heads = texts = b''
    assert isinstance(flag, tuple)
    head = struct.pack('=QIIIIQQQQQQQIIII32s', 0x53434552544c, 1, 128 + len(heads + texts), window, rank,
                       generation, 0, NOW_NS, nr, at_ns if nr else 0, start if nr else 0,
                       delay if nr else 0, names[str(flag[1])] if nr else 0,
                       len(fields) if nr else 0, 128 if nr else 0, asked, event.encode() if nr else b'')
    return (head + heads + texts).ljust(4096, b'\0')


def syscall(delay: int = 236_000_000, comm: str | bytes = 'mariadbd', flag: tuple[int, str] = (0, 'ended'),
            pid: int = 252, **more: object) -> Fields:
    """The fields of a syscall_latency."""
    values: dict[str, object] = {'cgroup_id': 1, 'nr': 75, 'ret': 0, 'call': 'fdatasync', 'compat': 0, **more}
    return (('delay', UNSIGNED, delay), ('start', UNSIGNED, NOW_NS - delay), ('comm', TEXT, comm),
            ('pid', SIGNED, pid), ('tgid', SIGNED, pid), ('flag', NAMED, flag),
            *((name, TEXT if isinstance(value, str) else SIGNED, value) for name, value in values.items()))


def mark(delay: int = 236_000_000, flag: tuple[int, str] = (0, 'ended'), **more: object) -> Fields:
    """The fields of a mark_latency. A STACK is a list."""
    values: dict[str, object] = {'id': 0, 'cpu_time': 12_000_000, 'cgroup_id': 1, 'mark': 'request', 'outer': '-', 'comm': 'server',
                                 'pid': 252, 'tgid': 250, 'cpu': 1, 'stack': [], **more}
    return (('delay', UNSIGNED, delay), ('start', UNSIGNED, NOW_NS - delay), ('flag', NAMED, flag),
            *((name, TEXT if isinstance(value, str) else STACK if isinstance(value, list) else SIGNED if name in ('cpu_time', 'pid')
               else UNSIGNED, value) for name, value in values.items()))


def event_format(ident: int, name: str, fields: Sequence[tuple[str, int]], fmt: str = '""') -> str:
    """The file format of an event, with fields "TYPE NAME" and their sizes behind each other from 8 on. Returns it."""
    lines, at = [f'name: {name}', f'ID: {ident}', 'format:', '\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;',
                 '\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;', ''], 8
    for words, size in fields:
        signed = int(words.split()[0] in ('int', 'long', 's32', 's64', 'pid_t', 'char'))
        lines.append(f'\tfield:{words};\toffset:{at};\tsize:{size};\tsigned:{signed};')
        at += size
    return '\n'.join([*lines, '', f'print fmt: {fmt}', ''])


def trace_page(at_ns: int, *entries: tuple[int, bytes], size: int = 4096) -> bytes:
    """A page of a trace buffer, with events at so many ns since the one before, as ring_buffer.h tells."""
    data = b''
    for delta, event in entries:
        event = event.ljust(-(-len(event) // 4) * 4, b'\0')
        if delta >= 1 << 27:
            data += struct.pack('<II', (delta & (1 << 27) - 1) << 5 | 30, delta >> 27)
            delta = 0
        if len(event) <= 28 * 4:
            data += struct.pack('<I', delta << 5 | len(event) // 4) + event
        else:
            data += struct.pack('<II', delta << 5, len(event) + 4) + event
    assert len(data) <= size - 16
    return (struct.pack('<QQ', at_ns, len(data)) + data).ljust(size, b'\xee')


class Fake(Machine):
    """Its modprobe makes and removes the directories; what it did is in log."""

    def __init__(self, root: Path) -> None:
        super().__init__(str(root))
        self.log: list[str] = []
        self.fails: dict[str, str] = {}
        self.waits: dict[str, list[tuple[int, Fields]]] = {}
        # Of other programs: what they say, by their first words.
        self.said: dict[str, str] = {}
        self.put('/proc/self/stat', '')
        self.put('/proc/sys/kernel/hostname', 'db1\n')
        self.put(f'/proc/{os.getpid()}/stat', f'{os.getpid()} (a b) c) S ' + '0 ' * 18 + '4711 0\n')

    def put(self, name: str, data: str | bytes, mode: int = 0o644) -> None:
        """A file."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        path.chmod(mode)

    def tracker(self, name: str, **more: object) -> None:
        """A tracker that works."""
        state = f'/sys/kernel/latency_tracker/{name}'
        counters: dict[str, object] = {**COUNTERS, **more}
        for counter, value in counters.items():
            self.put(f'{state}/{counter}', f'{value}\n')
        self.put(f'{state}/profile/groups_on', '0\n')
        self.put(f'{state}/profile/lost', '0\n')
        self.put(f'{state}/profile/on', '1\n')
        self.put(f'{state}/profile/buckets', buckets_file([10**6] * 90))
        self.put(f'{state}/profile/groups', b'')
        self.put(f'{state}/profile/last', b''.join(record(0, '', ()) for _ in range(64)))
        self.put(f'{state}/profile/worst', b''.join(
            record(0, '', (), window, rank) for window in range(4) for rank in range(16)))
        own = {'syscalls': {'calls': '!poll,!futex'}, 'mark': {**MARKS, **MARKS_FIXED}}.get(name, {})
        for parameter, text in {**PARAMETERS, **own}.items():
            self.put(f'/sys/module/latency_tracker_{name}/parameters/{parameter}', f'{text}\n',
                     0o444 if parameter in ('max_events', *MARKS_FIXED) else 0o644)
        if name == 'mark':
            self.put('/dev/latency_tracker', '', 0o600)

    def part(self, name: str = 'critical_path') -> None:
        """A module that has parameters only."""
        for parameter, text in {**PART, **PART_COUNTERS}.items():
            self.put(f'/sys/module/latency_tracker_{name}/parameters/{parameter}', f'{text}\n',
                     0o444 if parameter in PART_COUNTERS else 0o644)

    def last(self, name: str, *records: bytes) -> None:
        """What profile/last has."""
        empty = [record(0, '', ())] * (64 - len(records))
        self.put(f'/sys/kernel/latency_tracker/{name}/profile/last', b''.join([*records, *empty]))

    def pending(self, name: str, *operations: tuple[int, Fields]) -> None:
        """What a tracker reports on request: begins, and fields of syscall_latency, or of mark_latency."""
        self.waits[f'/sys/kernel/latency_tracker/{name}/report_pending'] = list(operations)

    def write(self, name: str, text: str) -> None:
        """As a file of the kernel."""
        if name not in self.waits:
            super().write(name, text)
            # Nothing is left of what was there, and it ends in a newline.
            self.path(name).write_bytes(os.fsencode(text.rstrip('\n') + '\n'))
            return
        age_ns, after_ns = map(int, text.split())
        found = sorted(entry for entry in self.waits[name] if after_ns < entry[0] <= NOW_NS - age_ns)[:32]
        state = name.rpartition('/')[0]
        count = int(self.read(name))
        last = self.path(f'{state}/profile/last').read_bytes()
        records = [last[at:at + 4096] for at in range(0, len(last), 4096)]
        for _, fields in found:
            count += 1
            values = {name: value for name, _, value in fields}
            if values['comm'] == 'doubtful':
                continue
            records[count % 64] = record(count, 'mark_latency' if 'mark' in values else 'syscall_latency', fields, asked=1)
        self.put(f'{state}/profile/last', b''.join(records))
        self.put(name, f'{count}\n')

    def run(self, words: Sequence[str]) -> tuple[int, str]:
        """modprobe [-r] MODULE [NAME=VALUE...], or one of those in said."""
        if words[0] != 'modprobe':
            for begin, text in self.said.items():
                if ' '.join(words).startswith(begin):
                    return 0, text
            raise Error(f'there is no program {words[0]}')
        self.log.append(' '.join(words))
        name = words[-1 if words[1] == '-r' else 1]
        if name in self.fails:
            return 1, self.fails[name]
        tracker = name.replace('latency_tracker_', '')
        if words[1] == '-r':
            for path in (self.path(f'/sys/kernel/latency_tracker/{tracker}'),
                         self.path(f'/sys/module/{name}')):
                for file in sorted(path.rglob('*'), reverse=True):
                    file.rmdir() if file.is_dir() else file.unlink()
                if path.exists():
                    path.rmdir()
            if tracker == 'mark':
                self.path('/dev/latency_tracker').unlink()
            return 0, ''
        if tracker == 'critical_path':
            self.part()
        else:
            self.tracker(tracker)
        for word in words[2:]:
            parameter, _, value = word.partition('=')
            setting = f'/sys/module/{name}/parameters/{parameter}'
            there = self.path(setting)
            self.put(setting, value + '\n', there.stat().st_mode if there.exists() else 0o644)
        return 0, ''

    def tracefs(self, *formats: str, cpus: int = 2) -> None:
        """With events of these formats."""
        self.formats, self.cpus = formats, cpus
        self.put(f'{TRACING}/events/header_page', HEADER_PAGE)
        self.path(f'{TRACING}/instances').mkdir(exist_ok=True)

    def make_instance(self, name: str) -> None:
        """A buffer is a pipe: what is written is read once, by the page."""
        super().make_instance(name)
        for file in ('trace_clock', 'buffer_size_kb', 'buffer_percent', 'events/enable'):
            self.put(f'{name}/{file}', '')
        for text in self.formats:
            event = text.split()[1]
            for file, content in (('format', text), ('enable', '0\n')):
                self.put(f'{name}/events/latency_tracker/{event}/{file}', content)
        for cpu in range(self.cpus):
            self.put(f'{name}/per_cpu/cpu{cpu}/stats', 'entries: 7\noverrun: 0\ncommit overrun: 0\ndropped events: 0\n')
            os.mkfifo(self.path(f'{name}/per_cpu/cpu{cpu}/trace_pipe_raw'))

    def give_way(self) -> None:
        """The other tests would take their time, too."""
        self.log.append('nice')

    def remove_instance(self, name: str) -> None:
        """Of a kernel that would refuse it while somebody reads."""
        self.log.append(f'rmdir {Path(name).name.split(".")[0]}')
        shutil.rmtree(self.path(name))

    def monotonic_ns(self) -> int:
        """It stands still."""
        return NOW_NS

    def wall_ns(self) -> int:
        """2026-11-27, noon in Greenwich."""
        return 1795780800 * 10**9
