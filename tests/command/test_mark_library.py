# SPDX-License-Identifier: GPL-2.0-only
"""The library for marks in Python, with a file in place of the device: it is mapped as the device
is. What it writes, and asks for, is compared with the header of C."""
from __future__ import annotations

import errno
import fcntl
import importlib.util
import itertools
import os
import random
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOP = Path(__file__).parents[2]
LEAST_NS = 10**9
OF_C = r'''
#include <latency_tracker_mark.h>
#include <stddef.h>
#include <stdio.h>
#define SAY(value) printf(#value " %llu\n", (unsigned long long)(value))
int main(void)
{
    unsigned long long delay;
    unsigned int mark;

    SAY(LT_MARK_DEFINE); SAY(LT_MARK_THREAD); SAY(LT_MARK_END); SAY(LT_MARK_VERSION);
    SAY(LT_MARK_AREA); SAY(LT_MARK_MAX); SAY(LT_MARK_DEPTH); SAY(LT_MARK_CELLS); SAY(LT_MARK_PROBES);
    SAY(sizeof(struct lt_mark_head)); SAY(sizeof(struct lt_mark_thread)); SAY(sizeof(struct lt_mark_frame));
    SAY(offsetof(struct lt_mark_head, on)); SAY(offsetof(struct lt_mark_head, least_ns));
    SAY(offsetof(struct lt_mark_thread, run_ns)); SAY(offsetof(struct lt_mark_thread, in_ns));
    SAY(offsetof(struct lt_mark_thread, ended)); SAY(offsetof(struct lt_mark_thread, dropped));
    SAY(offsetof(struct lt_mark_thread, frame)); SAY(offsetof(struct lt_mark_thread, cell));
    SAY(offsetof(struct lt_mark_frame, run_ns)); SAY(offsetof(struct lt_mark_cell, sum_ns));
    SAY(LT_MARK_SLOTS); SAY(LT_MARK_SLOTS_OFFSET); SAY(LT_MARK_SLOT_FRAME(0)); SAY(LT_MARK_BEGIN_SHARED); SAY(LT_MARK_END_SHARED);
    SAY(offsetof(struct lt_mark_thread, last_ns));
    while (scanf("%u %llu", &mark, &delay) == 2)
        printf("key %u\nslot %u\n", lt_mark_key(mark, delay), lt_mark_slot_at(mark, delay));
    return 0;
}
'''


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location('latency_tracker_user', TOP / 'user/latency_tracker_user.py')
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Device:
    """A new module, and what it has asked the device for."""

    def __init__(self, path: Path) -> None:
        self.user = load()
        self.user.__dict__['DEVICE'] = str(path)
        self.path = path
        self.names: list[bytes] = []
        self.threads = 0
        self.told: list[tuple[int, ...]] = []
        self.shared: list[tuple[int, ...]] = []
        self.refuses = False
        with open(path, 'wb') as file:
            file.truncate(self.user.SLOTS_AT + self.user.AREA)
        self.write(0, '=IIQ', 1, 1, LEAST_NS)

    def write(self, at: int, form: str, *values: int) -> None:
        fd = os.open(self.path, os.O_WRONLY)
        os.pwrite(fd, struct.pack(form, *values), at)
        os.close(fd)

    def read(self, at: int, form: str) -> tuple[int, ...]:
        fd = os.open(self.path, os.O_RDONLY)
        data = os.pread(fd, struct.calcsize(form), at)
        os.close(fd)
        return struct.unpack(form, data)

    def ioctl(self, fd: int, command: int, asked: bytearray | bytes) -> int:
        if command == self.user.DEFINE:
            assert isinstance(asked, bytearray)
            name = struct.unpack(self.user.DEFINE_FORMAT, asked)[0]
            if name not in self.names:
                self.names.append(name)
            asked[48:52] = struct.pack('=I', self.names.index(name))
        elif command == self.user.THREAD:
            assert isinstance(asked, bytearray)
            if self.refuses:
                self.threads += 1
                raise OSError(errno.EDQUOT, 'no')
            asked[:] = struct.pack('=I', self.threads)
            self.threads += 1
        elif command in (self.user.BEGIN_SHARED, self.user.END_SHARED):
            self.shared.append((command - self.user.BEGIN_SHARED, *struct.unpack('=IIQ', asked)))
            raise OSError(errno.ENOENT, 'no')
        else:
            assert command == self.user.END
            self.told.append(struct.unpack(self.user.END_FORMAT, asked))
        return 0

    def frames(self, thread: int = 0) -> list[tuple[int, ...]]:
        """seq, mark, id, start, CPU time of those that are pending."""
        base = (thread + 1) * self.user.AREA + self.user.FRAMES
        all_of = [self.read(base + i * self.user.FRAME_SIZE, '=IIQQQ') for i in range(self.user.DEPTH)]
        return [frame for frame in all_of if frame[0] & 1]

    def slots(self) -> list[tuple[int, ...]]:
        """Likewise of those by id: number, seq, mark, id, start, thread."""
        all_of = [(i, *self.read(self.user.SLOTS_AT + i * self.user.FRAME_SIZE, '=IIQQQ')) for i in range(self.user.SLOTS)]
        return [slot for slot in all_of if slot[1] & 1]

    def counts(self, thread: int = 0) -> tuple[int, int]:
        """Ended and dropped."""
        ended, dropped = self.read((thread + 1) * self.user.AREA + 64, '=II')
        return ended, dropped

    def last(self, mark: int, thread: int = 0) -> int:
        return self.read((thread + 1) * self.user.AREA + self.user.LAST_AT + 8 * mark, '=Q')[0]

    def cells(self, thread: int = 0) -> dict[int, tuple[int, int]]:
        base = (thread + 1) * self.user.AREA + self.user.CELL_AT
        all_of = [self.read(base + i * self.user.CELL_SIZE, '=IIQ') for i in range(self.user.CELLS)]
        return {key: (count, total) for key, count, total in all_of if key}


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    made = Device(tmp_path / 'device')
    monkeypatch.setattr(fcntl, 'ioctl', made.ioctl)
    yield made


def set_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    now = [10**9]

    def step(ns: int) -> None:
        now[0] += ns

    monkeypatch.setattr(time, 'monotonic_ns', lambda: now[0])
    return step


def test_it_is_as_the_header_says(tmp_path: Path) -> None:
    user = load()
    (tmp_path / 'c.c').write_text(OF_C)
    subprocess.run(['gcc', f'-I{TOP}/include/uapi', '-o', tmp_path / 'c', tmp_path / 'c.c'], check=True)
    pairs = [(random.randrange(64), random.getrandbits(random.randrange(1, 64))) for _ in range(2000)]
    told = subprocess.run([tmp_path / 'c'], input=''.join(f'{mark} {delay}\n' for mark, delay in pairs), text=True,
                          stdout=subprocess.PIPE, check=True).stdout.splitlines()
    values = [int(line.split()[-1]) for line in told]
    assert values[:28] == [
        user.DEFINE, user.THREAD, user.END, user.VERSION, user.AREA, user.MARKS, user.DEPTH, user.CELLS, user.PROBES,
        user.HEAD_SIZE, user.THREAD_SIZE, user.FRAME_SIZE, 4 * user.HEAD_ON, 8 * user.HEAD_LEAST, 8 * user.RUN_NS,
        8 * user.IN_NS, 4 * user.ENDED, 4 * user.DROPPED, user.FRAMES, user.CELL_AT, 24, 8,
        user.SLOTS, user.SLOTS_AT, user.SLOT_FRAME, user.BEGIN_SHARED, user.END_SHARED, user.LAST_AT]
    assert values[28::2] == [user._key(mark, delay) for mark, delay in pairs]
    assert values[29::2] == [user._slot_at(mark, ident) for mark, ident in pairs]


def test_nested(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    step = set_clock(monkeypatch)
    outer, inner = device.user.Mark('outer'), device.user.Mark('inner')
    with outer(7):
        step(5)
        with inner(8):
            assert device.frames() == [(1, 0, 7, 10**9, 2**64 - 1), (1, 1, 8, 10**9 + 5, 2**64 - 1)]
            step(100)
        assert (device.last(0), device.last(1)) == (0, 10**9 + 105)
        with pytest.raises(KeyError), inner(9):
            step(101)
            raise KeyError
        assert len(device.frames()) == 1
    assert not device.frames() and device.counts() == (3, 0) and not device.told
    key = device.user._key
    assert device.last(0) == device.last(1) == 10**9 + 206
    assert device.cells() == {key(1, 100): (2, 201), key(0, 206): (1, 206)}


def test_ends_that_do_not_fit(device: Device) -> None:
    outer, inner = device.user.Mark('outer'), device.user.Mark('inner')
    inner.end(1)
    outer.begin(1)
    inner.begin(2)
    inner.end(1)
    outer.end(2)
    assert len(device.frames()) == 2
    outer.end(1)
    inner.end(2)
    assert not device.frames() and device.counts() == (1, 0)


def test_too_deep(device: Device) -> None:
    marks = [device.user.Mark(f'm{i}') for i in range(10)]
    for mark in marks:
        mark.begin()
    assert len(device.frames()) == 8 and device.counts() == (0, 2)
    for i, mark in reversed([*enumerate(marks)]):
        mark.end()
        assert len(device.frames()) == min(i, 8)
    for mark in marks:
        mark.begin()
    marks[3].end()
    assert len(device.frames()) == 3 and device.counts()[0] == 9
    marks[9].begin()
    marks[9].end()
    assert len(device.frames()) == 3 and device.counts()[0] == 10
    marks[0].end()
    for _ in range(10):
        marks[0].begin()
    for i in range(9, -1, -1):
        marks[0].end()
        assert len(device.frames()) == min(i, 8)


def test_late(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    step = set_clock(monkeypatch)
    mark = device.user.Mark('mark')
    with mark(1):
        step(LEAST_NS - 1)
    assert not device.told and device.counts() == (1, 0)
    device.write(device.user.AREA + 8, '=QQ', 500, 10**9)
    with mark(2):
        step(LEAST_NS)
    start = 2 * 10**9 - 1
    assert device.told == [(0, 3, 0, 0, 2, start, 500 + LEAST_NS - 1, start + LEAST_NS, 500 + 2 * LEAST_NS - 1)]


def test_off(device: Device) -> None:
    mark = device.user.Mark('mark')
    mark.begin(1)
    device.write(4, '=I', 0)
    with mark(2):
        assert len(device.frames()) == 1
    mark.end(1)
    assert not device.frames() and device.counts() == (1, 0)


def test_without_device(device: Device) -> None:
    device.path.unlink()
    mark = device.user.Mark('mark')
    assert mark.error and mark.error.errno == errno.ENOENT
    with mark(1):
        pass
    assert not device.threads


def test_threads(device: Device) -> None:
    mark = device.user.Mark('mark')

    def work() -> None:
        for i in range(100):
            with mark(i):
                pass

    work()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert device.threads == 5 and [device.counts(i) for i in range(5)] == [(100, 0)] * 5
    assert len(device.user._process.areas) == 1
    device.refuses = True
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert device.threads == 6


def test_full(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    step = set_clock(monkeypatch)
    mark = device.user.Mark('mark')
    for i in range(28):
        for j in range(16, 32):
            with mark(i):
                step(j << i if j << i < LEAST_NS else j)
            with device.user.Mark('other')(i):
                step(j << i if j << i < LEAST_NS else j)
    assert device.told and device.counts()[0] + len(device.told) == 2 * 28 * 16
    assert sum(count for count, _ in device.cells().values()) == device.counts()[0]


def in_thread(does: Callable[[int], None], ident: int) -> None:
    thread = threading.Thread(target=does, args=(ident,))
    thread.start()
    thread.join()


def test_by_id(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    step = set_clock(monkeypatch)
    mark, other = device.user.Mark('mark'), device.user.Mark('other')
    mark.end_id(7)
    assert not device.threads
    other.begin_id(-7)
    with mark(1):
        mark.begin_id(7)
        at = device.user._slot_at(0, 7)
        assert (at, 3, 0, 7, 10**9, 0) in device.slots() and len(device.slots()) == 2
    other.end_id(7)
    mark.end_id(-7)
    # What would be looked for in the same place.
    mark.end_id(next(i for i in itertools.count(8) if device.user._slot_at(0, i) == at))
    for nr in range(2, device.user.MARKS):
        another = device.user.Mark(f'mark{nr}')
        if (at - device.user._slot_at(nr, 7)) % device.user.SLOTS < device.user.PROBES:
            another.end_id(7)
    assert len(device.slots()) == 2
    step(100)
    in_thread(mark.end_id, 7)
    mark.end_id(7)
    assert device.cells(1) == {device.user._key(0, 100): (1, 100)}
    assert [slot[2:4] for slot in device.slots()] == [(1, 2**64 - 7)]
    step(LEAST_NS)
    other.end_id(-7)
    assert not device.slots() and device.told == [
        (256 + device.user._slot_at(1, 2**64 - 7), 3, 1, 0, 2**64 - 7, 10**9, 2**64 - 1, 2 * 10**9 + 100, 2**64 - 1)]
    in_thread(mark.begin_id, 7)
    assert device.slots() == [(at, 7, 0, 7, 2 * 10**9 + 100, 2)]
    device.write(4, '=I', 0)
    mark.begin_id(8)
    assert len(device.slots()) == 1
    mark.end_id(7)
    assert not device.slots()


def test_by_id_full(device: Device) -> None:
    # On no machine do they take that long.
    device.write(8, '=Q', 3600 * LEAST_NS)
    mark = device.user.Mark('mark')
    for ident in range(512):
        mark.begin_id(ident)
    pending = {slot[3] for slot in device.slots()}
    assert len(pending) == len(device.slots()) > 192 and device.counts() == (0, 512 - len(pending))
    for ident in range(512):
        mark.end_id(ident)
        pending.discard(ident)
        assert len(device.slots()) == len(pending)
    assert device.counts()[0] + device.counts()[1] == 512


def test_shared(device: Device) -> None:
    mark = device.user.Mark('mark')
    mark.begin_shared(-1)
    mark.end_shared(3)
    device.write(4, '=I', 0)
    mark.begin_shared(4)
    mark.end_shared(4)
    assert device.shared == [(0, 0, 0, 2**64 - 1), (1, 0, 0, 3), (1, 0, 0, 4)] and not device.threads
    device.user.Mark('a' * 48).end_shared(1)
    assert len(device.shared) == 3


def in_child(device: Device, mark: Any, other: Any) -> None:
    """It has a device of its own, and the marks of its parent."""
    path = device.path.with_name('of-child')
    here = Device(path)
    device.user.__dict__['DEVICE'] = str(path)
    device.names, device.threads, device.path = [], 0, path
    assert here.read(0, '=I') == (1,)
    mark.end(5)
    other.begin(6)
    assert device.names == [b'mark'.ljust(48, b'\0'), b'other'.ljust(48, b'\0')]
    assert [frame[1:3] for frame in device.frames()] == [(1, 6)]
    other.end(6)
    mark.end_id(9)
    other.begin_id(9)
    assert [slot[2:4] for slot in device.slots()] == [(1, 9)]
    other.end_shared(10)
    assert device.shared == [(1, 1, 0, 10)]
    assert device.counts() == (1, 0) and device.user._process.fd >= 0


def test_fork(device: Device) -> None:
    mark, other = device.user.Mark('mark'), device.user.Mark('other')
    mark.begin(5)
    mark.begin_id(9)
    pid = os.fork()
    if not pid:
        status = 1
        try:
            in_child(device, mark, other)
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert len(device.frames()) == 1
    mark.end(5)
    mark.end_id(9)
    assert device.counts() == (2, 0) and not device.slots()


def test_half_way(device: Device) -> None:
    """An exception at any place, as a Ctrl-C is one: the next operation is whole."""
    mark = device.user.Mark('mark')
    with mark(1):
        pass
    base = device.user.AREA + device.user.FRAMES
    seq, = device.read(base, '=I')
    device.write(base, '=I', seq + 1)
    with mark(2):
        assert device.read(base, '=IIQ') == (seq + 3, 0, 2)
    assert not device.frames()
