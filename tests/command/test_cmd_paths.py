# SPDX-License-Identifier: GPL-2.0-only
"""Paths as they happen, and of recordings."""
from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from latency_tracker import paths
from latency_tracker.causes import Share, causes_of, chains
from latency_tracker.cmd_paths import Follower, PathSink
from latency_tracker.paths import Segment, outermost, worst_of
from latency_tracker.signals import Signals
from latency_tracker.state import Tracker

from .conftest import Shell, Told
from .fake import NOW_NS, TRACING, Fake, trace_page
from .fake_paths import FORMAT, MS, flushed, segment
from .test_paths import gather
from .test_record import CALL, STACK, call, feed
from .test_state import types_are_right


def fsync(begin: int = NOW_NS, delay: int = 700, pid: int = 1234) -> bytes:
    """The report that comes before a path."""
    return call(delay * MS, b'fio', pid=pid, start=begin)


def page(*events: bytes, at_ns: int = NOW_NS) -> bytes:
    """Of events, in their order."""
    return trace_page(at_ns, *((1, event) for event in events))


def run(shell: Shell, pages: list[tuple[int, bytes]], *words: str, lost: int = 0, last: str = 'critical_path',
        ends: bool = True) -> Told:
    """A command that reads the buffers; last: the event that it enables last."""
    shell.machine.tracker('syscalls')
    shell.machine.part()
    shell.machine.put('/proc/kallsyms', '')
    shell.machine.put('/proc/sys/kernel/osrelease', '6.1.0-x\n')
    shell.machine.tracefs(CALL, STACK, FORMAT)
    thread = threading.Thread(target=feed, args=(shell.machine, pages, lost, last, ends and '--max' not in words))
    thread.start()
    told = shell(*words)
    thread.join()
    assert not list(shell.machine.path(f'{TRACING}/instances').iterdir())
    return told


PAGES = [(0, page(fsync(), *flushed()[:4])), (1, page(*flushed()[4:], at_ns=NOW_NS + 10))]


def test_path(shell: Shell) -> None:
    told = run(shell, PAGES, 'path', lost=2)
    lines = told.out.splitlines()
    assert told.status == 0 and not told.err and lines[0].startswith('waiting for late operations of syscalls;')
    assert lines[1] == '12:00:00.000  syscalls  fdatasync() of fio (1234) took 700 ms, returned 0'
    end = lines.index('')
    assert [sum(' ms ' in line for line in part) for part in (lines[2:end], lines[end:])] == [7, 5]
    assert '3 more reports came too fast' in lines[-1]
    # As a report has it.
    assert any(line.strip() == '? <- ?' or line.strip() == '?' for line in lines)


def test_path_as_json(shell: Shell) -> None:
    told = run(shell, [*PAGES, (1, page(*flushed(op=18)[:3], at_ns=NOW_NS + 99))], 'path', '--json')
    # The buffers lose one.
    whole, part, missed = [of for of in told.objects if of['type'] != 'cause']
    assert types_are_right(whole) and missed == {'schema': 1, 'type': 'missed', 'count': 1}
    assert types_are_right(whole) and types_are_right(part)
    assert len(whole['segments']) == 7 and whole['count'] == 7 and whole['what'] == 'fdatasync()'  # type: ignore[arg-type]
    # At the end, what has not come is missing.
    assert len(part['segments']) == 3 and part['count'] == 7  # type: ignore[arg-type]


def test_what_path_shows(shell: Shell) -> None:
    pages = [(0, page(fsync(), *flushed())), (0, page(*flushed(op=18, total=900, begin=NOW_NS + 10**9), at_ns=NOW_NS + 50)),
             (0, page(*(segment(i, 0, -1, i, 1, 'running', of=('me', os.getpid()), op=19, count=2) for i in range(2)), at_ns=NOW_NS + 70)),
             (0, page(segment(0, 0, -1, 0, 90, 'running', op=20, tracker='wakeup', total=90, count=1), at_ns=NOW_NS + 80))]
    cases: list[tuple[list[str], list[int]]] = [([], [17, 18]), (['--over', '800ms'], [18]), (['--comm', 'x*'], []),
                                                (['--pid', '1234'], [17, 18]), (['--cgroup', '/'], [17]), (['--max', '1', '--for', '5s'], [17])]
    for words, ops in cases:
        told = run(shell, pages, 'path', '--json', *words)
        assert [of['op'] for of in told.objects if of['type'] == 'path'] == ops, words
        assert told.status == (2 if '--max' in words else 0)


def test_path_says_what_it_needs(shell: Shell) -> None:
    machine = shell.machine
    assert 'modprobe latency_tracker_critical_path' in shell('path').err
    machine.part()
    assert 'no tracker is loaded' in shell('path').err
    machine.tracker('block')
    for words in ((), ('block',)):
        assert 'operations of block get no path, but those of: syscalls, offcpu, wakeup, lock' in shell('path', *words).err
    machine.tracker('syscalls')
    assert 'operations of block get no path' in shell('path', 'syscalls', 'block').err
    assert 'no trace instance can be made' in shell('path').err
    machine.tracefs(CALL, STACK)
    told = shell('path')
    assert told.status == 1 and 'cannot be recorded' in told.err and not list(machine.path(f'{TRACING}/instances').iterdir())
    machine.put('/sys/module/latency_tracker_critical_path/parameters/operations', 'offcpu, wakeup\n')
    assert 'operations of syscalls get no path' in shell('path', 'syscalls').err


def test_path_asks_for_no_stacks(machine: Fake) -> None:
    machine.tracker('syscalls')
    machine.part()
    machine.tracefs(CALL, STACK, FORMAT)
    args = argparse.Namespace(buffer=9, over=None, comm=None, pid=None, cgroup=None)
    trackers, signals = [Tracker(machine, 'syscalls')], Signals()
    follower = Follower(machine, args, trackers, PathSink(machine, args, trackers, print), signals)
    events = machine.path(f'{follower.buffers.instance.name}/events/latency_tracker')
    assert {path.parent.name: path.read_text()[0] for path in events.glob('*/enable')} == {
        'syscall_latency': '1', 'syscall_latency_stack': '0', 'critical_path': '1'}
    follower.close()
    signals.close()


@pytest.fixture
def recording(shell: Shell, tmp_path: Path) -> Path:
    """Of two calls and their paths, and the path of a wait within one of them, by the command itself."""
    inner = segment(0, 0, -1, 0, 400, 'task', op=5, tracker='offcpu', total=400, count=1)
    pages = [*PAGES, (0, page(fsync(NOW_NS + 10**9, 300, 7), *(
        segment(i, 0, -1, start, delay, cause, op=18, total=300, count=2, of=('fio', 7), begin=NOW_NS + 10**9)
        for i, (start, delay, cause) in enumerate(((0, 100, 'running'), (100, 200, 'throttled')))), inner, at_ns=NOW_NS + 20))]
    into = tmp_path / 'into.json'
    shell.machine.tracker('offcpu')
    told = run(shell, pages, 'record', '-o', str(into), 'syscalls')
    assert told.status == 0 and '2 late operations, and 2 paths, in' in told.out
    text = into.read_text()
    # As if offcpu had been asked for, too.
    (path,) = gather([inner])
    more = {'schema': 1, 'type': 'path', 'time': '2026-11-27T12:00:01', 'host': 'db1', **path.values()}
    into.write_text(text + json.dumps(more) + '\n')
    return into


def test_record_has_paths(recording: Path) -> None:
    objects: list[dict[str, Any]] = [json.loads(line) for line in recording.read_text().splitlines()]
    assert Counter(of['type'] for of in objects) == {'recording': 1, 'report': 2, 'path': 3, 'missed': 1}
    assert all(types_are_right(of) for of in objects)
    assert sorted((of['op'], of['says'], len(of['segments'])) for of in objects if of['type'] == 'path')[1:] == [
        (17, 'fdatasync() of fio (1234) took 700 ms, returned 0', 7), (18, 'fdatasync() of fio (7) took 300 ms, returned 0', 2)]


def test_record_without_the_module(shell: Shell, tmp_path: Path) -> None:
    shell.machine.tracker('syscalls')
    shell.machine.put('/proc/sys/kernel/osrelease', '6.1.0-x\n')
    shell.machine.tracefs(CALL, STACK)
    told = shell('record', '-o', str(tmp_path / 'x'), '--for', '10ms')
    assert told.status == 0 and not told.err and 'paths' not in told.out


def test_report_has_the_slowest(shell: Shell, recording: Path) -> None:
    told = shell('report', str(recording))
    lines = told.out.splitlines()
    at = lines.index('3 paths: what the slowest were made of')
    # Of the same task and call the slowest; and what is within that is not told twice.
    assert lines[at + 2] == 'syscalls  fdatasync() of fio (1234) took 700 ms, returned 0'
    assert sum('took' in line for line in lines[at:]) == 1 and any('in the device vda' in line for line in lines[at:])
    recording.write_text(next(line for line in recording.read_text().splitlines() if '"op": 17' in line) + '\n{"type": "path", "op": 1}\n')
    told = shell('report', str(recording))
    assert '1 lines are no object' in told.err and '0 reports, the first at 2026-11-27' in told.out and '1 paths' in told.out
    (of,) = [of for of in shell('report', '--json', str(recording)).objects if of['type'] == 'path']
    assert types_are_right(of) and of['op'] == 17


def paths_of(*spans: tuple[int, int, int, str]) -> list[paths.Path]:
    """Pid, begin, delay, tracker."""
    return gather([segment(0, 0, -1, start, delay, 'running', of=('x', pid), op=op, total=delay, count=1, tracker=tracker)
                   for op, (pid, start, delay, tracker) in enumerate(spans)])


def test_no_time_counts_twice() -> None:
    found = outermost(paths_of((5, 0, 100, 'syscalls'), (5, 0, 50, 'syscalls'), (5, 20, 80, 'offcpu'), (6, 20, 80, 'offcpu'),
                               (5, 90, 20, 'wakeup'), (-1, 0, 9, 'x'), (-1, 1, 3, 'x')))
    assert sorted(path.op for path in found) == [0, 3, 4, 5, 6]


def test_the_slowest_of_each_kind() -> None:
    found = paths_of((5, 0, 100, 'syscalls'), (6, 0, 900, 'syscalls'), (7, 0, 500, 'offcpu'), (8, 0, 100, 'lock'))
    found[1].idle = True
    found[1].what = 'poll()'
    assert [path.op for path in worst_of(found, 9)] == [2, 0, 3, 1] and [path.op for path in worst_of(found, 1)] == [2]


def test_causes_add_up() -> None:
    found = gather([*flushed(operation='fsync'), *flushed(op=18, operation='fsync', begin=NOW_NS + 10**9),
                    # Pending, and its end; what waits for something to do; another kind; and a part of one.
                    *flushed(op=19, flag=1, operation='fsync'), *flushed(op=20, operation='poll', begin=NOW_NS + 2 * 10**9),
                    *flushed(op=21, tracker='offcpu'), *flushed(op=22, operation='read', begin=NOW_NS + 3 * 10**9)[:4]])
    next(path for path in found if path.op == 20).idle = True
    told = dict(causes_of(found))
    assert set(told) == {('syscalls', 'fsync()'), ('syscalls', 'read()'), ('offcpu', 'time off the CPU')}
    late = told['syscalls', 'fsync()']
    assert (late.count, late.total_ns) == (2, 1400 * MS)
    assert {cause: (share.count, share.total_ns, share.worst_ns) for cause, share in late.shares.items()} == {
        ('queue', 'vda'): (2, 100 * MS, 50 * MS), ('device', 'vda'): (2, 400 * MS, 200 * MS), ('cpu', 'stress'): (2, 300 * MS, 150 * MS),
        ('lock', 'mutex, cp'): (2, 400 * MS, 200 * MS), ('running', ''): (2, 200 * MS, 100 * MS)}
    # What was not seen of it is told, too.
    late = told['syscalls', 'read()']
    assert late.shares['not seen', ''].total_ns == 450 * MS and sum(share.total_ns for share in late.shares.values()) == late.total_ns
    assert [late.total_ns for _, late in causes_of(found)] == [1400 * MS, 700 * MS, 700 * MS]


def test_a_cause_counts_once_in_an_operation() -> None:
    ((_, late),) = causes_of(gather([segment(0, 0, -1, 0, 300, 'running', count=2), segment(1, 0, -1, 300, 400, 'running', count=2)]))
    assert late.shares['running', ''] == Share(1, 700 * MS, 700 * MS)


# Pages, how many paths they have, and words.
Top = Callable[..., Told]


@pytest.fixture
def top(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Top:
    """top --by cause, with one turn, which does not end before the paths have come, however busy the machine is."""
    once = Follower.until

    def run_top(pages: list[tuple[int, bytes]], count: int, *words: str) -> Told:
        def until(follower: Follower, end: float) -> None:
            once(follower, end)
            while follower.sink.count < count and time.monotonic() < end + 20:
                once(follower, time.monotonic() + 0.1)
        monkeypatch.setattr(Follower, 'until', until)
        return run(shell, pages, 'top', '--by', 'cause', '--every', '300ms', '--turns', '1', *words, ends=False)
    return run_top


def test_top_by_cause(shell: Shell, top: Top) -> None:
    old = page(*flushed(op=5, begin=NOW_NS - 70 * 10**9, operation='old'), at_ns=NOW_NS - 61 * 10**9)
    pages = [(0, old), *PAGES, (1, page(*flushed(op=18, begin=NOW_NS + 10**9, operation='fdatasync'), at_ns=NOW_NS + 50))]
    told = top(pages, 3)
    lines = told.out.splitlines()
    assert told.status == 0 and not told.err and 'the last minute' in lines[0]
    assert lines[2].split() == ['syscalls', 'fdatasync()', '2', 'device', 'vda', '29', '%', '████▋', '400', 'ms', '200', 'ms', '2']
    assert [line.split()[0] for line in lines[3:7]] == ['lock', 'cpu', 'running', 'queue'] and 'old' not in told.out
    told = top(pages, 3, '--json')
    assert len(told.objects) == 5 and all(types_are_right(of) for of in told.objects)
    assert sum(of['share'] for of in told.objects) == pytest.approx(1, abs=1e-3)  # type: ignore[misc]
    assert 'and 3 more' in top(pages, 3, '-n', '2').out
    assert 'nothing was late yet' in top([], 0).out
    shell.machine.run(['modprobe', '-r', 'latency_tracker_critical_path'])
    assert 'modprobe latency_tracker_critical_path' in shell('top', '--by', 'cause').err


def test_report_has_causes(shell: Shell, recording: Path) -> None:
    lines = shell('report', str(recording)).out.splitlines()
    (row,) = [line.split() for line in lines if 'fdatasync()' in line and ' % ' in line and 'syscalls' in line]
    # 1000 ms of two calls: 200 in the device, and as much each for the lock and throttled; 200 of it running.
    assert row[:3] == ['syscalls', 'fdatasync()', '2'] and row.count('%') == 1
    found = [of for of in shell('report', '--json', str(recording)).objects if of['type'] == 'cause' and of['tracker'] == 'syscalls']
    assert {of['cause']: of['total_ns'] for of in found} == {
        'device': 200 * MS, 'lock': 200 * MS, 'throttled': 200 * MS, 'running': 200 * MS, 'cpu': 150 * MS, 'queue': 50 * MS}
    assert all(types_are_right(of) and of['late_ns'] == 1000 * MS for of in found)


CHAINS: dict[tuple[str, ...], int] = {
    ('fio', 'task jbd2/vda-8', 'jbd2/vda-8', 'disk vda', 'queue vda'): 50 * MS,
    ('fio', 'task jbd2/vda-8', 'jbd2/vda-8', 'disk vda', 'device vda'): 200 * MS,
    ('fio', 'task jbd2/vda-8', 'jbd2/vda-8', 'cpu stress'): 150 * MS, ('fio', 'lock mutex, cp'): 200 * MS, ('fio', 'running'): 100 * MS}


def test_chains() -> None:
    idle = gather(flushed(op=20, begin=NOW_NS + 10**9))
    idle[0].idle = True
    assert chains([*gather([*flushed(), *flushed(op=18, flag=1), *flushed(op=19, tracker='offcpu')]), *idle]) == CHAINS
    # What is garbled ends.
    found = gather([segment(0, 0, 1, 0, 700, 'running', count=3), segment(1, 0, 0, 0, 700, 'running', count=3),
                    segment(2, 0, 2, 0, 700, 'running', count=3)])
    assert chains(found) == {}
    found = gather([segment(0, 0, 9, 0, 700, 'timer', count=2), segment(9, 1, 0, 0, 700, 'running', count=2)])
    found[0].segments.append(Segment(10, 9, 2, 700 * MS, NOW_NS, 'cut'))
    assert chains(found) == {('fio', 'timer', 'fio', 'running', 'cut'): 700 * MS}
    assert chains(gather([segment(3, 0, 9, 0, 700, 'timer', count=1)])) == {('fio', 'timer'): 700 * MS}


def test_folded_chains(shell: Shell, recording: Path, tmp_path: Path) -> None:
    told = shell('report', '--folded', '--paths', str(recording))
    of_file = dict(line.rsplit(' ', 1) for line in told.out.splitlines())
    more: dict[tuple[str, ...], int] = {('fio', 'running'): 200 * MS, ('fio', 'throttled'): 200 * MS}
    assert of_file == {';'.join(chain): str(ns) for chain, ns in {**CHAINS, **more}.items()}
    made = tmp_path / 'flame.svg'
    shell('report', '--svg', '--paths', '-o', str(made), str(recording))
    boxes = {box[0].text: box[1] for box in ElementTree.parse(made).getroot().findall('{*}g')}
    assert 'fio: 1.00 s, 100.0 %' in boxes and 'disk vda: 250 ms, 25.0 %' in boxes
    assert 'what late operations were made of' in made.read_text()
    assert '--paths is for' in shell('report', '--paths', str(recording)).err
    recording.write_text('')
    assert 'has no path' in shell('report', '--folded', '--paths', str(recording)).err
