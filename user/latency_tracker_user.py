# SPDX-License-Identifier: MIT
"""Marks: a program tells latency_tracker_mark when an operation of its own begins and ends. The
module reports what is late, with the kernel's reason, and counts the rest.

    request = Mark('request')

    with request(number):
        ...

An operation ends in the thread that has begun it, and inside of those around it: so not across an
await, nor a yield. What does not is for begin_id() and end_id(); what ends in another process, for
begin_shared() and end_shared(). Without the module nothing happens, and Mark.error says why.
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
from collections.abc import Callable
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
SLOTS = 256
NO_TIME = (1 << 64) - 1
AREA = 0x10000
SLOTS_AT = AREA * (THREADS + 1)
SLOT_FRAME = 0x100

# The system calls: _IOWR, _IOR and _IOW of asm-generic.
DEFINE_FORMAT = f'={NAME}sII'
END_FORMAT = '=IIIIQQQQQ'
BETWEEN_FORMAT = '=IIQ'
DEFINE = 3 << 30 | struct.calcsize(DEFINE_FORMAT) << 16 | ord('L') << 8 | 0x71
THREAD = 2 << 30 | 4 << 16 | ord('L') << 8 | 0x72
END = 1 << 30 | struct.calcsize(END_FORMAT) << 16 | ord('L') << 8 | 0x73
BEGIN_SHARED = 1 << 30 | struct.calcsize(BETWEEN_FORMAT) << 16 | ord('L') << 8 | 0x74
END_SHARED = BEGIN_SHARED + 1

# struct lt_mark_head, lt_mark_thread, lt_mark_frame and lt_mark_cell: words of 4 and of 8 bytes.
HEAD_SIZE = 16
HEAD_VERSION, HEAD_ON, HEAD_LEAST = 0, 1, 1
RUN_SEQ, RUN_NS, IN_NS, ENDED, DROPPED = 0, 1, 2, 16, 17
FRAMES, FRAME_SIZE = 128, 32
CELL_AT, CELL_SIZE = FRAMES + DEPTH * FRAME_SIZE, 16
LAST_AT = CELL_AT + CELLS * CELL_SIZE
THREAD_SIZE = LAST_AT + MARKS * 8

# Stores are seen in their order on these machines.
_ORDERED = platform.machine() in ('x86_64', 'i686', 'AMD64')


def _key(mark: int, delay_ns: int) -> int:
    """lt_mark_key()."""
    shift = max(delay_ns.bit_length() - 5, 0)
    return mark << 16 | ((shift << 4) + (delay_ns >> shift) + 1)


def _slot_at(mark: int, ident: int) -> int:
    """lt_mark_slot_at()."""
    return (((ident ^ ident >> 32 ^ mark << 26) & 0xffffffff) * 0x9e3779b1 & 0xffffffff) >> 24


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
        self.slots: _Area | None = None
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

    def find_slots(self) -> _Area | None:
        """Locked, and open."""
        if not self.slots:
            try:
                self.slots = _Area(self.fd, SLOTS * FRAME_SIZE, SLOTS_AT, mmap.PROT_READ | mmap.PROT_WRITE)
            except OSError:
                pass
        return self.slots

    def forget(self) -> None:
        """In a child: what is mapped and open is the parent's."""
        for area in (*self.areas, self.head, self.slots):
            if area:
                area.close()
        if self.fd >= 0:
            os.close(self.fd)


class _Thread:
    """What a thread has. A signal handler, or the end of an object, may come in between: its
    operations are left out."""
    __slots__ = ('area', 'busy', 'depth', 'failed', 'number', 'over', 'over_marks')

    def __init__(self) -> None:
        self.area: _Area | None = None
        self.failed = False
        self.busy = False
        self.number = 0
        self.depth = 0
        self.over = 0
        self.over_marks: set[int] = set()

    def find_area(self) -> _Area | None:
        """None if there is none, from then on."""
        if self.area or self.failed:
            return self.area
        self.failed = True
        try:
            with _lock:
                _open()
            asked = bytearray(4)
            fcntl.ioctl(_process.fd, THREAD, asked)
            self.number, = struct.unpack('=I', asked)
            self.area = _Area(_process.fd, THREAD_SIZE, AREA * (self.number + 1), mmap.PROT_READ | mmap.PROT_WRITE)
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


def _open() -> None:
    """Locked. Who fails does not try again."""
    global _process
    try:
        _process.open()
    except OSError:
        _process = _Process()
        raise


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
    _finish(area, (depth, area.half[at // 4] - 1, mark, 0, ident, area.word[at // 8 + 2], area.word[at // 8 + 3],
                   now, run))


def _finish(area: _Area, end: tuple[int, ...]) -> None:
    """Count what is over, or tell it: a struct lt_mark_end."""
    mark, start, now = end[2], end[5], end[7]
    delay = max(now - start, 0)
    area.word[LAST_AT // 8 + mark] = now
    head = _process.head
    if not head or (delay < head.word[HEAD_LEAST] and _count(area, _key(mark, delay), delay)):
        return
    try:
        fcntl.ioctl(_process.fd, END, struct.pack(END_FORMAT, *end))
    except OSError:
        pass


def _find_slot(slots: _Area, mark: int, ident: int, pending: bool) -> tuple[int, int] | None:
    """Where that operation is, or where there is room for it, and the number there. Locked."""
    first = _slot_at(mark, ident)
    for i in range(first, first + PROBES):
        at = i % SLOTS * FRAME_SIZE
        seq = slots.half[at // 4]
        if pending:
            if seq % 4 == 3 and slots.half[at // 4 + 1] == mark and slots.word[at // 8 + 1] == ident:
                return at, seq
        elif seq % 4 == 0:
            return at, seq
    return None


def _put_id(here: _Thread, area: _Area, mark: int, ident: int) -> None:
    with _lock:
        slots = _process.find_slots()
        found = _find_slot(slots, mark, ident, False) if slots and 0 <= mark < MARKS else None
        if not slots or not found:
            area.half[DROPPED] = area.half[DROPPED] + 1 & 0xffffffff
            return
        at, seq = found
        if not _ORDERED:
            _fence()
        slots.half[at // 4 + 1] = mark
        slots.word[at // 8 + 1] = ident
        slots.word[at // 8 + 2] = time.monotonic_ns()
        slots.word[at // 8 + 3] = here.number
        if not _ORDERED:
            _fence()
        # At once, so an exception leaves none half way.
        slots.half[at // 4] = seq + 3 & 0xffffffff


def _take_id(here: _Thread, area: _Area, mark: int, ident: int) -> None:
    with _lock:
        slots = _process.slots
        found = _find_slot(slots, mark, ident, True) if slots else None
        if not slots or not found:
            return
        at, seq = found
        start, now = slots.word[at // 8 + 2], time.monotonic_ns()
        slots.half[at // 4] = seq + 1 & 0xffffffff
    _finish(area, (SLOT_FRAME + at // FRAME_SIZE, seq, mark, 0, ident, start, NO_TIME, now, NO_TIME))


def _call_shared(command: int, mark: int, ident: int) -> None:
    try:
        with _lock:
            _open()
            fcntl.ioctl(_process.fd, command, struct.pack(BETWEEN_FORMAT, mark, 0, ident))
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


    def _by_id(self, does: Callable[[_Thread, _Area, int, int], None], ident: int) -> None:
        here = _here.thread
        if here.busy:
            return
        here.busy = True
        try:
            area = here.find_area()
            if area:
                does(here, area, self.number, ident & NO_TIME)
        finally:
            here.busy = False

    def begin_id(self, ident: int) -> None:
        """An operation begins that any thread of the process may end."""
        if _process.on[HEAD_ON]:
            self._by_id(_put_id, ident)

    def end_id(self, ident: int) -> None:
        """It ends; without such a begin nothing happens."""
        if _process.slots:
            self._by_id(_take_id, ident)

    def _shared(self, command: int, ident: int) -> None:
        here = _here.thread
        if here.busy or self.number < 0:
            return
        here.busy = True
        try:
            _call_shared(command, self.number, ident & NO_TIME)
        finally:
            here.busy = False

    def begin_shared(self, ident: int) -> None:
        """An operation begins that another process of the user may end, by a mark of the same name."""
        if _process.on[HEAD_ON]:
            self._shared(BEGIN_SHARED, ident)

    def end_shared(self, ident: int) -> None:
        """It ends, in this process or another one; without such a begin nothing happens."""
        if _process.names:
            self._shared(END_SHARED, ident)


def _in_child() -> None:
    global _process, _here
    old = _process
    _here = _Here()
    _process = _Process(old.names)
    _lock.release()
    old.forget()


os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_in_child)
