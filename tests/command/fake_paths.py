# SPDX-License-Identifier: GPL-2.0-only
"""Events critical_path as the kernel writes them, by the description of the event; and a path to look at."""
from __future__ import annotations

import struct
from collections.abc import Sequence

from .fake import NOW_NS, event_format

CAUSES = ('unknown running short interrupt cpu throttled rt_throttled dl_server steal lock disk queue device memory task timer packet '
          'softirq hardirq stopped traced frozen yielded lost cut raised work').split()
ID = 11
_FIELDS = [('u64 delay', 8), ('u64 start', 8), ('u64 op', 8), ('u64 total', 8), ('const void * lock', 8), ('u64 sector', 8),
           ('u64 cgroup_id', 8), ('char tracker[16]', 16), ('char operation[32]', 32), ('char comm[16]', 16), ('char by_comm[16]', 16),
           ('char name[32]', 32), ('pid_t pid', 4), ('pid_t by_pid', 4), ('u32 dev', 4), ('u32 flag', 4), ('u32 cause', 4), ('u32 hop', 4),
           ('u32 segment', 4), ('u32 segments', 4), ('int parent', 4), ('__data_loc unsigned long[] stack', 4)]
_NAMES = ', '.join(f'{{ {number}, "{name}" }}' for number, name in enumerate(CAUSES))
FORMAT = event_format(ID, 'critical_path', _FIELDS, '"flag=%s, cause=%s, lock=%pS", __print_symbolic(REC->flag, { 0, "ended" }, '
                      f'{{ 1, "pending" }}), __print_symbolic(REC->cause, {_NAMES}), REC->lock ? REC->lock : 0xffffff')
MS = 10**6
DEV = 254 << 20
TASK, FLUSHER = ('fio', 1234), ('jbd2/vda-8', 77)
NOBODY = ('-', -1)


def segment(number: int, hop: int, parent: int, start: int, delay: int, cause: str, of: tuple[str, int] = TASK,
            by: tuple[str, int] = NOBODY, name: str = '-', dev: int = 0, sector: int = 2**64 - 1, lock: int = 0, stack: Sequence[int] = (),
            op: int = 17, total: int = 700, count: int = 7, tracker: str = 'syscalls', flag: int = 0, begin: int = NOW_NS,
            cgroup: int = 0, operation: str = '-') -> bytes:
    """An event; start, delay and total in ms, start since the begin of the operation."""
    head = struct.pack('<HHi7Q16s32s16s16s32sii', ID, 0, 1, delay * MS, begin + start * MS, op, total * MS, lock, sector, cgroup,
                       *(text.encode() for text in (tracker, operation, of[0], by[0], name)), of[1], by[1])
    head += struct.pack('<IIIIIIi', dev, flag, CAUSES.index(cause), hop, number, count, parent)
    return head + struct.pack('<I', len(stack) * 8 << 16 | len(head) + 4) + struct.pack(f'<{len(stack)}Q', *stack)


def flushed(**more: object) -> list[bytes]:
    """An fsync of 700 ms: 400 for the journal's thread, which waited 250 for the disk, of which 200 were in the device, and 150
    for a CPU; 200 for a lock; and it ran for 100."""
    return [segment(0, 0, -1, 0, 400, 'task', by=FLUSHER, stack=[0x2004, 0x1020], **more),  # type: ignore[arg-type]
            segment(1, 1, 0, 0, 250, 'disk', FLUSHER, name='vda', dev=DEV, sector=4711, **more),  # type: ignore[arg-type]
            segment(2, 2, 1, 0, 50, 'queue', NOBODY, name='vda', dev=DEV, sector=4711, **more),  # type: ignore[arg-type]
            segment(3, 2, 1, 50, 200, 'device', NOBODY, name='vda', dev=DEV, sector=4711, **more),  # type: ignore[arg-type]
            segment(4, 1, 0, 250, 150, 'cpu', FLUSHER, by=('stress', 9), **more),  # type: ignore[arg-type]
            segment(5, 0, -1, 400, 200, 'lock', by=('cp', 8), name='mutex', lock=0x3000, **more),  # type: ignore[arg-type]
            segment(6, 0, -1, 600, 100, 'running', **more)]  # type: ignore[arg-type]
