#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Critical paths, judged by Perfetto: for each moment of a late operation, which task does Perfetto say that it waited for,
and which one latency_tracker_critical_path? Both have seen the same: a trace has the events critical_path, sched_switch,
sched_waking and task_newtask. Perfetto's trace processor is the program that TRACE_PROCESSOR names.

Perfetto's is the task that did something, or waited for an interrupt, at that moment (sched.thread_executing_span). Ours is
that of the segment which no other one explains; a device or a request is the time of the task above it."""
from __future__ import annotations

import argparse
import bisect
import csv
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path += [str(Path(__file__).parents[1] / 'guest'), str(Path(__file__).parents[1] / 'guest/critical_path')]
import ftrace
from chain import UNKNOWN, paths_of

MS = 10**6
# Waits that are shorter are not told by default; nor is what is less than two thousandths of an operation, together with
# what is told.
SHORT = MS
# Of these waits another task is told, unless all that it did is too short to be told.
FOLLOWED = ('task', 'lock')
# What the scheduler's events say, as numbers of a kernel before 4.14, which Perfetto takes a trace for that names no kernel.
STATES = {'R': 0, 'S': 1, 'D': 2, 'T': 4, 't': 8, 'X': 0x10, 'Z': 0x20, 'P': 0x200, 'I': 0x402, 'R+': 0x800}
# In the third of the flags of a line: a hard or a soft interrupt, or both.
CONTEXTS = {'h': 0x08, 's': 0x10, 'H': 0x18}
TASK_NEWTASK = 235


class Piece(NamedTuple):
    """A part of an operation, ns: which task was it? cause, above: of our segment, and the tasks above it; cause of
    Perfetto's: it slept until an interrupt woke it."""
    begin: int
    end: int
    pid: int
    cause: str = ''
    above: tuple[int, ...] = ()


# --- the trace, as Perfetto reads it --------------------------------------------------

def varint(number: int) -> bytes:
    number &= 2**64 - 1
    out = bytearray()
    while number > 0x7f:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def packed(number: int, values: Iterable[int]) -> bytes:
    return field(number, b''.join(map(varint, values)))


def deltas(times: list[int]) -> Iterator[int]:
    return (time - before for time, before in zip(times, [0, *times]))


class Cpu:
    """Its part of the trace: a FtraceEventBundle."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.switches: list[tuple[int, int, int, int]] = []
        self.wakings: list[tuple[int, int, int, int]] = []
        self.others: list[bytes] = []

    def name(self, comm: str) -> int:
        return self.names.setdefault(comm, len(self.names))

    def switch(self, time: int, line: Any) -> None:
        fields = line.switch()
        self.switches.append((time, STATES[fields['state']], fields['next'], self.name(fields['next_comm'])))

    def waking(self, time: int, line: Any) -> None:
        comm = line.text.partition('comm=')[2].rpartition(' pid=')[0]
        self.wakings.append((time, line.woken(), self.name(comm), CONTEXTS.get(line.context, 0)))

    def newtask(self, time: int, line: Any) -> None:
        fields = line.fields()
        task = field(1, int(fields['pid'])) + field(2, fields['comm'].encode()) + field(3, int(fields['clone_flags'], 16))
        self.others.append(field(1, time) + field(2, line.pid) + field(TASK_NEWTASK, task))

    def bundle(self, number: int) -> bytes:
        times, states, pids, comms = ([one[i] for one in self.switches] for i in range(4))
        woken_at, woken, woken_comms, contexts = ([one[i] for one in self.wakings] for i in range(4))
        compact = b''.join((
            *(field(5, comm.encode()) for comm in self.names),
            packed(1, deltas(times)), packed(2, states), packed(3, pids), packed(4, [120] * len(pids)), packed(6, comms),
            packed(7, deltas(woken_at)), packed(8, woken), packed(9, [number] * len(woken)),
            packed(10, [120] * len(woken)), packed(11, woken_comms), packed(12, contexts)))
        return field(1, number) + field(4, compact) + b''.join(field(2, event) for event in self.others)


def convert(trace: str) -> bytes:
    """A Trace of Perfetto's."""
    cpus: dict[int, Cpu] = defaultdict(Cpu)
    last = 0
    for line in ftrace.read(trace):
        cpu = cpus[line.cpu]
        # In the order of the trace, which is exact to a nanosecond, while its times are not.
        last = max(line.time * 1000, last + 1)
        take = {'sched_switch': cpu.switch, 'sched_waking': cpu.waking, 'task_newtask': cpu.newtask}.get(line.event)
        if take:
            take(last, line)
    return b''.join(field(1, field(1, cpu.bundle(number)) + field(10, 1)) for number, cpu in sorted(cpus.items()))


# --- Perfetto's paths -----------------------------------------------------------------

# Intervals of one task must not overlap: they are asked for in layers.
QUERY = """
INCLUDE PERFETTO MODULE sched.thread_executing_span;
CREATE PERFETTO TABLE asked AS
WITH operations(op, layer, tid, ts, dur) AS (VALUES {operations})
SELECT op, layer, ts, dur, (
  SELECT utid FROM thread WHERE thread.tid = operations.tid AND coalesce(start_ts, 0) <= ts ORDER BY coalesce(start_ts, 0) DESC LIMIT 1
) AS utid FROM operations;
CREATE PERFETTO TABLE states AS
SELECT utid, ts, lead(ts, 1, 1 << 62) OVER (PARTITION BY utid ORDER BY ts) AS until, state IN ('S', 'D', 'I') AS sleeps FROM thread_state;
{layers}
SELECT asked.op AS op, thread.tid AS tid, max(path.ts, states.ts) AS begin, min(path.ts + path.dur, states.until) AS until, states.sleeps AS sleeps
FROM ({union}) AS path
JOIN asked ON asked.utid = path.root_utid AND asked.ts = path.interval_ts AND asked.dur = path.interval_dur AND asked.layer = path.layer
JOIN thread ON thread.utid = path.utid
JOIN states ON states.utid = path.utid AND states.ts < path.ts + path.dur AND states.until > path.ts
ORDER BY op, begin;
"""
LAYER = """CREATE PERFETTO TABLE layer{0} AS SELECT {0} AS layer, * FROM
_critical_path_by_intervals!((SELECT utid, ts, dur FROM asked WHERE layer = {0} AND utid IS NOT NULL), _wakeup_graph);"""


def in_layers(paths: dict[int, list[dict[str, Any]]]) -> list[tuple[int, int, int, int, int]]:
    busy: dict[tuple[int, int], int] = {}
    asked = []
    for op, path in sorted(paths.items(), key=lambda one: int(one[1][0]['start'])):
        pid, start, total = path[0]['pid'], path[0]['start'], path[0]['total']
        layer = next(i for i in range(len(paths)) if busy.get((pid, i), 0) <= start)
        busy[pid, layer] = start + total
        asked.append((op, layer, pid, start, total))
    return asked


def ask(program: str, trace: str, paths: dict[int, list[dict[str, Any]]]) -> dict[int, list[Piece]]:
    """By operation, what Perfetto knows of it."""
    asked = in_layers(paths)
    layers = range(max(one[1] for one in asked) + 1)
    query = QUERY.format(operations=', '.join(map(str, asked)), layers='\n'.join(map(LAYER.format, layers)),
                         union=' UNION ALL '.join(f'SELECT * FROM layer{layer}' for layer in layers))
    with tempfile.TemporaryDirectory() as directory:
        converted, text = Path(directory) / 'trace', Path(directory) / 'query'
        converted.write_bytes(convert(trace))
        text.write_text(query, encoding='ascii')
        done = subprocess.run([program, '-q', text, converted], check=False, capture_output=True, encoding='utf-8')
    if done.returncode:
        sys.exit(f'{program} has failed: {done.stderr}')
    found: dict[int, list[Piece]] = defaultdict(list)
    for row in csv.DictReader(done.stdout.splitlines()):
        found[int(row['op'])].append(Piece(int(row['begin']), int(row['until']), int(row['tid']),
                                           'interrupt' if row['sleeps'] == '1' else ''))
    return found


# --- ours -----------------------------------------------------------------------------

def ours(path: list[dict[str, Any]]) -> list[Piece]:
    below: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for segment in path:
        below[segment['parent']].append(segment)
    pieces: list[Piece] = []

    def add(segment: dict[str, Any], begin: int, above: Piece) -> None:
        """From begin on: what is too short to be told is in the segment before it."""
        piece = Piece(begin, min(segment['start'] + segment['delay'], above.end), segment['pid'], segment['cause'],
                      (*above.above, above.pid) if segment['parent'] >= 0 else ())
        # What is told of no task is the time of the one above, which waits for it.
        if piece.pid <= 0:
            piece = piece._replace(pid=above.pid, above=above.above, cause=above.cause if piece.cause in UNKNOWN else piece.cause)
        fill(below[segment['segment']], piece)

    def fill(children: list[dict[str, Any]], piece: Piece) -> None:
        """What segments say of a time; and between them, what is too short to be told, of which only the sum is."""
        rest = piece
        if piece.cause in FOLLOWED and not children:
            rest = piece._replace(cause='cut')
        for child in children:
            if child['cause'] == 'cut':
                rest = piece._replace(cause='cut', pid=child['pid'], above=(*piece.above, piece.pid))
        begin = piece.begin
        for child in children:
            if child['cause'] == 'cut':
                continue
            if begin < child['start']:
                pieces.append(rest._replace(begin=begin, end=child['start']))
            add(child, max(begin, child['start']), piece)
            begin = max(begin, child['start'] + child['delay'])
        if begin < piece.end:
            pieces.append(rest._replace(begin=begin))

    start, total, pid = (path[0][name] for name in ('start', 'total', 'pid'))
    fill(below[-1], Piece(start, start + total, pid, 'unknown'))
    return sorted(pieces)


# --- the comparison -------------------------------------------------------------------

def both(mine: list[Piece], theirs: list[Piece]) -> Iterator[tuple[int, int, Piece, Piece]]:
    """From when to when, what the two say, where both say something."""
    ends = [piece.end for piece in theirs]
    for one in mine:
        at = bisect.bisect_right(ends, one.begin)
        while at < len(theirs) and theirs[at].begin < one.end:
            yield max(one.begin, theirs[at].begin), min(one.end, theirs[at].end), one, theirs[at]
            at += 1


class Score:
    """Of several paths, ns: in all; where Perfetto names a task; where that is not the one of the operation; and where ours
    is the same, the same without a cause, none (not known, or in many short parts), another one while that of
    Perfetto slept until an interrupt, where Perfetto stops; another one for so short that it is not told; or another one."""
    KINDS = ('all', 'known', 'elsewhere', 'same', 'vague', 'none', 'interrupt', 'brief', 'other')

    def __init__(self) -> None:
        self.ns: Counter[str] = Counter()
        self.paths = self.alike = 0

    def compare(self, path: list[dict[str, Any]], theirs: list[Piece]) -> list[tuple[int, int, Piece, Piece]]:
        """Returns where they differ."""
        ns: Counter[str] = Counter(all=path[0]['total'])
        differ: list[list[tuple[int, int, Piece, Piece]]] = []
        for begin, end, mine, their in both(ours(path), theirs):
            told, same = mine.cause not in UNKNOWN, mine.pid == their.pid
            kind = ('same' if told else 'vague') if same else 'none' if not told else their.cause or 'other'
            ns['known'] += end - begin
            ns['elsewhere'] += (end - begin) * (their.pid != path[0]['pid'])
            if kind != 'other':
                ns[kind] += end - begin
            elif differ and differ[-1][-1][1] == begin:
                differ[-1].append((begin, end, mine, their))
            else:
                differ.append([(begin, end, mine, their)])
        wrong = []
        for parts in differ:
            length = parts[-1][1] - parts[0][0]
            is_brief = length <= max(SHORT, 2 * path[0]['total'] / 1000)
            ns['brief' if is_brief else 'other'] += length
            wrong += [] if is_brief else parts
        self.ns.update(ns)
        self.paths += 1
        self.alike += not wrong
        return wrong

    def tell(self, trace: str) -> None:
        print(f'{Path(trace).name}: paths={self.paths} alike={self.alike}', *(f'{kind}={self.ns[kind] / MS:.0f}' for kind in self.KINDS), '(ms)')


def show(path: list[dict[str, Any]], wrong: list[tuple[int, int, Piece, Piece]]) -> None:
    first = path[0]
    print(f'op {first["op"]}: {first["operation"]} of {first["comm"]} ({first["pid"]}) took {first["total"] / MS:.1f} ms')
    for begin, end, mine, theirs in sorted(wrong, key=lambda part: part[0] - part[1])[:8]:
        print(f'    {(end - begin) / MS:8.2f} ms from {(begin - first["start"]) / MS:8.2f} on: '
              f'{" <- ".join(map(str, (*mine.above, mine.pid)))} {mine.cause}, Perfetto: {theirs.pid}')


def judge(program: str, trace: str, differing: int) -> None:
    paths = {op: path for op, path in paths_of(trace).items() if path[0]['flag'] == 'ended' and len(path) == path[0]['segments']}
    if not paths:
        sys.exit(f'{trace}: no critical_path in it')
    known, score = ask(program, trace, paths), Score()
    wrong = {op: score.compare(path, sorted(known[op])) for op, path in paths.items()}
    for op in sorted(filter(wrong.get, wrong), key=lambda op: -sum(end - begin for begin, end, *_ in wrong[op]))[:differing]:
        show(paths[op], wrong[op])
    score.tell(trace)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('traces', nargs='+', metavar='TRACE', help='text, as tracefs gives it')
    parser.add_argument('--differing', type=int, default=0, metavar='N', help='show the N paths that differ most')
    args = parser.parse_args()
    program = os.environ.get('TRACE_PROCESSOR')
    if not program:
        parser.error('TRACE_PROCESSOR has to name the trace_processor_shell of Perfetto')
    for trace in args.traces:
        judge(program, trace, args.differing)


if __name__ == '__main__':
    main()
