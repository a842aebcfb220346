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

from latency_tracker import cmd_paths, paths, record
from latency_tracker.causes import Share, add_to, causes_of, chains
from latency_tracker.cmd_paths import MINUTE_NS, Follower, PathSink, Window
from latency_tracker.instance import Instance
from latency_tracker.paths import Segment, outermost, worst_of
from latency_tracker.signals import Signals
from latency_tracker.state import Tracker
from latency_tracker.units import WINDOWS_OF_CAUSES

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


def test_what_was_read_is_waited_for(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine so slow that a turn understands one event."""
    convert = record.Buffers._convert

    def slowly(self: record.Buffers, sink: record.Taker) -> bool:
        time.sleep(2 * record.CONVERT_SECONDS)
        return convert(self, sink)
    monkeypatch.setattr(record.Buffers, '_convert', slowly)
    monkeypatch.setattr(paths, 'WAIT_NS', -10**12)
    told = run(shell, [(0, page(fsync(), *flushed()))], 'path', '--json', '--max', '1', '--for', '20s')
    assert [len(of['segments']) for of in told.objects if of['type'] == 'path'] == [7]  # type: ignore[arg-type]


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
        assert 'operations of block get no path, but those of: syscalls, offcpu, wakeup, lock, mark' in shell('path', *words).err
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


def test_what_is_too_short_was_seen() -> None:
    # All segments came: 100 ms are in none of them, and 200 in one that says so itself.
    found = gather([segment(0, 0, -1, 0, 400, 'running', count=2), segment(1, 0, -1, 500, 200, 'cut', count=2)])
    ((_, late),) = causes_of(found)
    assert late.shares == {('running', ''): Share(1, 400 * MS, 400 * MS), ('cut', ''): Share(1, 300 * MS, 300 * MS)}


def test_many_causes_have_no_names() -> None:
    sums: dict[tuple[str, str], Any] = {}
    for number in range(100):
        by = ('heavy' if number % 2 else f't{number}', 9)
        (path,) = gather([segment(0, 0, -1, 0, 10, 'cpu', by=by, op=number, total=11, count=1, begin=NOW_NS + number * MS)])
        add_to(sums, path, 5)
    (late,) = sums.values()
    assert late.count == 100 and late.total_ns == 1100 * MS and len(late.shares) <= 10
    assert sum(share.total_ns for share in late.shares.values()) == late.total_ns
    # None counts an operation twice.
    assert late.shares['cpu', 'heavy'] == Share(50, 500 * MS, 10 * MS) and late.shares['other', ''].count <= 50
    late.trim(1)
    assert late.shares == {('cpu', 'heavy'): Share(50, 500 * MS, 10 * MS), ('other', ''): Share(100, 600 * MS, 10 * MS)}


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
    of_window, *causes = told.objects
    assert len(causes) == 5 and all(types_are_right(of) for of in told.objects)
    assert (of_window['says'], of_window['lost']) == ('the last minute', 0)
    assert sum(of['share'] for of in causes) == pytest.approx(1, abs=1e-3)  # type: ignore[misc]
    assert 'and 3 more' in top(pages, 3, '-n', '2').out
    assert 'nothing was late yet' in top([], 0).out
    shell.machine.run(['modprobe', '-r', 'latency_tracker_critical_path'])
    assert 'modprobe latency_tracker_critical_path' in shell('top', '--by', 'cause').err


class Clock:
    """Of a machine."""

    def __init__(self, machine: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = NOW_NS
        monkeypatch.setattr(machine, 'monotonic_ns', lambda: self.now_ns)


@pytest.fixture
def clock(machine: Fake, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """That of the machine, which a test sets."""
    return Clock(machine, monkeypatch)


def told_at(at_ns: int, delay: int = 700, begin: int = 0, flag: str = 'ended') -> paths.Path:
    """A path of one segment, at a time; begin: if it began earlier than its delay tells. Delays in ms."""
    of = Segment(0, -1, 0, delay * MS, begin or at_ns - delay * MS, 'running', 'fio', 1234)
    return paths.Path(at_ns, 'syscalls', 'fsync', flag, delay * MS, 1, at_ns, [of], what='fsync()')


def totals(window: Window) -> list[tuple[int, int]]:
    """How many operations, and their ms."""
    return [(late.count, late.total_ns // MS) for _, late in window.now()]


def test_a_window_is_bounded(machine: Fake, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cmd_paths, 'MOST', 10)
    windows = {name: Window(machine, name) for name in WINDOWS_OF_CAUSES}
    assert [totals(window) for window in windows.values()] == [[]] * 3
    # Nobody looks at it for two hours: 20 in each minute, of 1 ms each.
    for number in range(20 * 120):
        clock.now_ns = NOW_NS + number * MINUTE_NS // 20
        for window in windows.values():
            window.add(told_at(clock.now_ns, 1))
    for name, (minutes, says) in WINDOWS_OF_CAUSES.items():
        window = windows[name]
        assert len(window.paths) <= 10 and len(window.sums) <= minutes and len(window.left_out) <= 120 and window.says == says
        ((count, ms),) = totals(window)
        assert count == ms and (count == 10 if name == '1m' else 20 * (minutes - 1) <= count <= 20 * minutes)
        # Those of longer windows are in the sums. One is just a minute old.
        assert sum(window.left_out.values()) == (11 if name == '1m' else 0)
    # In the end nothing is left.
    clock.now_ns += 61 * MINUTE_NS
    assert [totals(window) for window in windows.values()] == [[]] * 3
    assert all(not window.paths and not window.sums and not window.left_out for window in windows.values())


def test_a_window_is_not_older_than_it_says(machine: Fake, clock: Clock) -> None:
    window = Window(machine, '10m')
    for second in range(0, 3600, 10):
        clock.now_ns = NOW_NS + second * 10**9
        window.add(told_at(clock.now_ns, 1))
        ((count, _),) = totals(window)
        assert min(second // 10 + 1, 9 * 6) <= count <= 10 * 6 + 1


def test_pending_and_its_end_count_once(machine: Fake, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    for most in (10000, 1):
        monkeypatch.setattr(cmd_paths, 'MOST', most)
        clock.now_ns = NOW_NS
        window = Window(machine, '1h')
        for minute, flag in ((1, 'pending'), (3, 'pending'), (5, 'ended')):
            clock.now_ns = NOW_NS + minute * MINUTE_NS
            window.add(told_at(clock.now_ns, minute * 60000, NOW_NS, flag))
            assert totals(window) == [(1, minute * 60000)]
            clock.now_ns += MINUTE_NS + 1
            assert totals(window) == [(1, minute * 60000)]
        assert not window.pending and not window.left_out
        # Of what hangs for ever nothing is left in the end.
        window.add(told_at(clock.now_ns, 1, flag='pending'))
        clock.now_ns += 61 * MINUTE_NS
        assert totals(window) == [] and not window.pending
    # There may be many of them.
    for number in range(4):
        window.add(told_at(clock.now_ns + number, 1, flag='pending'))
    assert totals(window) == [(2, 2)] and sum(window.left_out.values()) == 2


def test_a_window_says_since_when_it_is(machine: Fake, clock: Clock) -> None:
    windows = [Window(machine, name) for name in ('1m', '10m', '1h')]
    for seconds, says in ((7, ['the last minute', 'the last 7 s, since this began', 'the last 7 s, since this began']),
                          (599, ['the last minute', *2 * ['the last 9 minutes, since this began']]),
                          (779, ['the last minute', 'the last 10 minutes', 'the last 12 minutes, since this began']),
                          (3600, ['the last minute', 'the last 10 minutes', 'the last hour'])):
        clock.now_ns = NOW_NS + seconds * 10**9
        assert [window.says for window in windows] == says


def test_what_waits_is_not_left_out(machine: Fake, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cmd_paths, 'MOST', 1)
    for name in ('1m', '1h'):
        window = Window(machine, name)
        for number in range(3):
            path = told_at(clock.now_ns + number, flag='pending')
            path.idle = True
            window.add(path)
        assert totals(window) == [] and not window.left_out


def test_top_by_cause_of_a_window(shell: Shell, top: Top, monkeypatch: pytest.MonkeyPatch) -> None:
    # The command begins, and when the paths have come it is later.
    for minutes, window, says in ((7, '10m', 'the last 7 minutes, since this began'), (60, '1h', 'the last hour'), (8, '1m', '')):
        times = [NOW_NS]
        monkeypatch.setattr(shell.machine, 'monotonic_ns', lambda times=times, minutes=minutes:
                            times.pop() if times else NOW_NS + minutes * MINUTE_NS)
        # A few minutes old, but not as old as the hour.
        begin = NOW_NS + (minutes - 5) * MINUTE_NS
        pages = [(0, page(*flushed(operation='fsync', begin=begin), at_ns=begin + 700 * MS))]
        told = top(pages, 1, '--window', window)
        assert told.status == 0 and not told.err
        if not says:
            assert 'nothing was late in the last minute' in told.out
            continue
        lines = told.out.splitlines()
        assert lines[0].endswith(f', {says}: what the late time of operations was made of')
        assert lines[2].split()[:5] == ['syscalls', 'fsync()', '1', 'device', 'vda'] and len(lines) == 8


def test_top_by_cause_says_what_was_lost(top: Top, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Instance, 'lost', lambda _self: 3)
    assert '3 events came too fast' in top(PAGES, 1).out
    window, *_ = top(PAGES, 1, '--window', '1h', '--json').objects
    assert (window['type'], window['lost']) == ('window', 3) and types_are_right(window)


def test_top_by_cause_says_what_is_left_out(top: Top, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cmd_paths, 'MOST', 2)
    pages = [(0, page(segment(0, 0, -1, 0, 90, 'running', op=op, total=90, count=1, begin=NOW_NS + op), at_ns=NOW_NS + op))
             for op in range(20, 25)]
    lines = top(pages, 5).out.splitlines()
    assert lines[-2] == '3 more paths came than are kept: they are not in these sums'
    told = top(pages, 5, '--json')
    _, cause, missed = told.objects
    assert cause['operations'] == 2 and missed == {'schema': 1, 'type': 'missed', 'count': 3} and types_are_right(missed)
    # They are in the sums of their minute.
    told = top(pages, 5, '--json', '--window', '10m')
    assert [of['operations'] for of in told.objects[1:]] == [5]


def test_window_of_top_is_for_causes(shell: Shell) -> None:
    shell.machine.tracker('syscalls')
    for words in ((), ('--by', 'call'), ('--by', 'cgroup', '--window', '1m')):
        told = shell('top', '--window', '1h', '--turns', '1', *words)
        assert told.status == 1 and not told.out and '--window is for --by cause' in told.err and 'leave --window out' in told.err
    told = shell('top', '--by', 'cause', '--window', '5m')
    assert told.status == 1 and 'latency-tracker: argument --window: invalid choice' in told.err


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
