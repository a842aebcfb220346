# SPDX-License-Identifier: MIT
"""Marks: a program tells latency_tracker_mark when an operation of its own begins and ends. The
module reports what is late, with the kernel's reason, and counts the rest.

    request = Mark('request')

    with request(number):
        ...

An operation ends in the thread that has begun it, and inside of those around it: so not across an
await, nor a yield. Without the module nothing happens, and Mark.error says why.
latency_tracker_user.h describes the rest.
"""
from __future__ import annotations

import errno
import fcntl
import mmap
import os
import platform
import struct
import threading
import time
import weakref
from types import TracebackType

__all__ = ['Mark']

DEVICE = '/dev/latency_tracker'
VERSION = 1
NAME = 48
MARKS = 64
DEPTH = 8
THREADS = 1024
CELLS = 512
PROBES = 16
NO_TIME = (1 << 64) - 1
AREA = 0x10000

# The system calls: _IOWR, _IOR and _IOW of asm-generic.
DEFINE_FORMAT = f'={NAME}sII'
END_FORMAT = '=IIIIQQQQQ'
DEFINE = 3 << 30 | struct.calcsize(DEFINE_FORMAT) << 16 | ord('L') << 8 | 0x71
THREAD = 2 << 30 | 4 << 16 | ord('L') << 8 | 0x72
END = 1 << 30 | struct.calcsize(END_FORMAT) << 16 | ord('L') << 8 | 0x73

# struct lt_mark_head, lt_mark_thread, lt_mark_frame and lt_mark_cell: words of 4 and of 8 bytes.
HEAD_SIZE = 16
HEAD_VERSION, HEAD_ON, HEAD_LEAST = 0, 1, 1
RUN_SEQ, RUN_NS, IN_NS, ENDED, DROPPED = 0, 1, 2, 16, 17
FRAMES, FRAME_SIZE = 128, 32
CELL_AT, CELL_SIZE = FRAMES + DEPTH * FRAME_SIZE, 16
THREAD_SIZE = CELL_AT + CELLS * CELL_SIZE

# Stores are seen in their order on these machines.
_ORDERED = platform.machine() in ('x86_64', 'i686', 'AMD64')


def _key(mark: int, delay_ns: int) -> int:
    """lt_mark_key()."""
    shift = max(delay_ns.bit_length() - 5, 0)
    return mark << 16 | ((shift << 4) + (delay_ns >> shift) + 1)


class _Area:
    """What a thread shares with the kernel: words of 4 bytes and of 8."""

    def __init__(self, fd: int, size: int, offset: int, prot: int) -> None:
        self.memory = mmap.mmap(fd, size, mmap.MAP_SHARED, prot, offset=offset)
        self.half = memoryview(self.memory).cast('I')
        self.word = memoryview(self.memory)[:size // 8 * 8].cast('Q')

    def close(self) -> None:
        self.half.release()
        self.word.release()
        try:
            self.memory.close()
        except BufferError:         # pragma: no cover
            pass                    # it goes with what still looks at it


class _Process:
    """The device, which is opened once."""

    def __init__(self, names: dict[str, int] | None = None) -> None:
        self.fd = -1
        self.names: dict[str, int] = names or {}
        self.areas: weakref.WeakSet[_Area] = weakref.WeakSet()
        self.head: _Area | None = None
        # A child opens it at its first begin.
        self.on = memoryview(bytearray(struct.pack('=II', 0, bool(names)))).cast('I')

    def _define(self, fd: int, name: str) -> int:
        encoded = name.encode()
        if len(encoded) >= NAME:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        asked = bytearray(struct.pack(DEFINE_FORMAT, encoded, 0, 0))
        fcntl.ioctl(fd, DEFINE, asked)
        number: int = struct.unpack(DEFINE_FORMAT, asked)[1]
        return number

    def open(self) -> None:
        """Locked. An OSError says why not."""
        if self.fd >= 0:
            return
        fd = os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC)
        try:
            head = _Area(fd, HEAD_SIZE, 0, mmap.PROT_READ)
            # A child has the numbers of its parent.
            if head.half[HEAD_VERSION] != VERSION or any(
                    self._define(fd, name) != number for name, number in self.names.items()):
                head.close()
                raise OSError(errno.EPROTONOSUPPORT, os.strerror(errno.EPROTONOSUPPORT))
        except BaseException:
            os.close(fd)
            raise
        self.fd = fd
        self.head = head
        self.on = head.half

    def define(self, name: str) -> int:
        """Locked."""
        self.open()
        number = self._define(self.fd, name)
        self.names[name] = number
        return number

    def forget(self) -> None:
        """In a child: what is mapped and open is the parent's."""
        for area in (*self.areas, *([self.head] if self.head else [])):
            area.close()
        if self.fd >= 0:
            os.close(self.fd)


class _Thread:
    """What a thread has. A signal handler, or the end of an object, may come in between: its
    operations are left out."""
    __slots__ = ('area', 'busy', 'depth', 'failed', 'over', 'over_marks')

    def __init__(self) -> None:
        self.area: _Area | None = None
        self.failed = False
        self.busy = False
        self.depth = 0
        self.over = 0
        self.over_marks: set[int] = set()

    def find_area(self) -> _Area | None:
        """None if there is none, from then on."""
        global _process
        if self.area or self.failed:
            return self.area
        self.failed = True
        try:
            with _lock:
                try:
                    _process.open()
                except OSError:
                    _process = _Process()
                    raise
            asked = bytearray(4)
            fcntl.ioctl(_process.fd, THREAD, asked)
            number: int = struct.unpack('=I', asked)[0]
            self.area = _Area(_process.fd, THREAD_SIZE, AREA * (number + 1), mmap.PROT_READ | mmap.PROT_WRITE)
        except OSError:
            return None
        with _lock:
            _process.areas.add(self.area)
        self.failed = False
        return self.area


class _Here(threading.local):
    """That of the thread that asks."""

    def __init__(self) -> None:
        self.thread = _Thread()


_lock = threading.Lock()
_process = _Process()
_here = _Here()
_order = threading.Lock()


def _fence() -> None:
    """What is stored before is seen before what is stored behind."""
    with _order:
        pass


def _now(area: _Area) -> tuple[int, int]:
    """The time, and the CPU time of the thread then. A switch in between is seen by its number."""
    half, word = area.half, area.word
    for _ in range(4):
        seq = half[RUN_SEQ]
        now = time.monotonic_ns()
        run, since = word[RUN_NS], word[IN_NS]
        if not seq & 1 and seq == half[RUN_SEQ]:
            return now, run + max(now - since, 0) if since else NO_TIME
    return now, NO_TIME


def _take(area: _Area, at: int) -> None:
    """A frame has no operation; one that an exception has left half way, neither."""
    seq = area.half[at // 4]
    area.half[at // 4] = seq + (seq & 1) & 0xffffffff


def _push(here: _Thread, area: _Area, mark: int, ident: int) -> None:
    if here.depth == DEPTH or not 0 <= mark < MARKS:
        area.half[DROPPED] = area.half[DROPPED] + 1 & 0xffffffff
        if 0 <= mark < MARKS:
            here.over += 1
            here.over_marks.add(mark)
        return
    at = FRAMES + here.depth * FRAME_SIZE
    _take(area, at)
    now, run = _now(area)
    if not _ORDERED:
        _fence()
    area.half[at // 4 + 1] = mark
    area.word[at // 8 + 1] = ident
    area.word[at // 8 + 2] = now
    area.word[at // 8 + 3] = run
    if not _ORDERED:
        _fence()
    here.depth += 1
    area.half[at // 4] = area.half[at // 4] + 1 & 0xffffffff


def _count(area: _Area, key: int, delay: int) -> bool:
    """Is there a cell for it?"""
    first = (key * 0x9e3779b1 & 0xffffffff) >> 23
    for i in range(first, first + PROBES):
        at = CELL_AT + i % CELLS * CELL_SIZE
        if area.half[at // 4] not in (0, key):
            continue
        area.word[at // 8 + 1] = area.word[at // 8 + 1] + delay & NO_TIME
        area.half[at // 4 + 1] = area.half[at // 4 + 1] + 1 & 0xffffffff
        if not _ORDERED:
            _fence()
        area.half[at // 4] = key
        area.half[ENDED] = area.half[ENDED] + 1 & 0xffffffff
        return True
    return False


def _pop(here: _Thread, area: _Area, mark: int, ident: int) -> None:
    """What is left inside of it is taken away with it."""
    if mark in here.over_marks:
        here.over -= 1
        if not here.over:
            here.over_marks.clear()
        return
    for depth in range(here.depth - 1, -1, -1):
        at = FRAMES + depth * FRAME_SIZE
        if area.half[at // 4 + 1] == mark and area.word[at // 8 + 1] == ident:
            break
    else:
        return
    now, run = _now(area)
    here.over = 0
    here.over_marks.clear()
    while here.depth > depth:
        _take(area, FRAMES + (here.depth - 1) * FRAME_SIZE)
        here.depth -= 1
    start, start_run = area.word[at // 8 + 2], area.word[at // 8 + 3]
    delay = max(now - start, 0)
    head = _process.head
    if not head or (delay < head.word[HEAD_LEAST] and _count(area, _key(mark, delay), delay)):
        return
    try:
        fcntl.ioctl(_process.fd, END, struct.pack(END_FORMAT, depth, area.half[at // 4] - 1, mark, 0, ident,
                                                  start, start_run, now, run))
    except OSError:
        pass


class _Operation:
    """Pending from its begin to its end."""
    __slots__ = ('ident', 'mark')

    def __init__(self, mark: Mark, ident: int) -> None:
        self.mark = mark
        self.ident = ident

    def __enter__(self) -> None:
        self.mark.begin(self.ident)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.mark.end(self.ident)


class Mark:
    """A kind of operation: the same one for the same name, also in a child. The error is None, or says
    why there is none."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.number = -1
        self.error: OSError | None = None
        try:
            with _lock:
                self.number = _process.define(name)
        except OSError as error:
            self.error = error

    def __call__(self, ident: int = 0) -> _Operation:
        return _Operation(self, ident)

    def begin(self, ident: int = 0) -> None:
        """For what is no block. The id is in the report."""
        if not _process.on[HEAD_ON]:
            return
        here = _here.thread
        if here.busy:
            return
        here.busy = True
        try:
            area = here.find_area()
            if area:
                _push(here, area, self.number, ident & NO_TIME)
        finally:
            here.busy = False

    def end(self, ident: int = 0) -> None:
        """With the id of its begin; without such a begin nothing happens."""
        here = _here.thread
        if not here.depth or here.busy:
            return
        here.busy = True
        try:
            area = here.area
            if area:
                _pop(here, area, self.number, ident & NO_TIME)
        finally:
            here.busy = False


def _in_child() -> None:
    global _process, _here
    old = _process
    _here = _Here()
    _process = _Process(old.names)
    _lock.release()
    old.forget()


os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_in_child)
