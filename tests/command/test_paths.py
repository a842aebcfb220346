# SPDX-License-Identifier: GPL-2.0-only
"""Critical paths: put together from their events, in words, as a tree."""
from __future__ import annotations

import io
import json
import random
from collections.abc import Sequence

import pytest

from latency_tracker import paths
from latency_tracker.output import Output
from latency_tracker.pages import Format
from latency_tracker.paths import Gatherer, Path, Segment, path_of
from latency_tracker.records import Report
from latency_tracker.show_paths import PathShower, bar_of, percent
from latency_tracker.spool import Converter
from latency_tracker.stacks import Symbols

from .fake import NOW_NS, Fake, trace_page
from .fake_paths import CAUSES, DEV, FORMAT, MS, TASK, flushed, segment
from .test_record import CALL, call
from .test_state import types_are_right

SYMBOLS = Symbols(lambda: ['1000 T outer', '2000 t inner [ext4]', '3000 d the_lock'])


def gather(events: Sequence[bytes], gatherer: Gatherer | None = None, at_ns: int = NOW_NS) -> list[Path]:
    """What becomes of events; those that are not complete come last."""
    gatherer, found = gatherer or Gatherer(lambda ident: f'/{ident}' if ident else '-'), []
    for report in reports(events, at_ns):
        if report.event == 'critical_path':
            found += gatherer.add(report)
        else:
            gatherer.remember(report)
    return found + gatherer.rest()


def reports(events: Sequence[bytes], at_ns: int) -> list[Report]:
    """Of a page for each event."""
    converter = Converter({7: Format(CALL), 11: Format(FORMAT)}, SYMBOLS)
    found = list(converter.reports([trace_page(at_ns + i, (0, event)) for i, event in enumerate(events)]))
    assert not converter.unread
    return found


def shown(path: Path, machine: Fake) -> list[str]:
    """As text, without colours."""
    stream = io.StringIO()
    PathShower(machine, Output(stream=stream), 6).show(path)
    return stream.getvalue().splitlines()


def test_a_path_is_complete_with_its_last_segment() -> None:
    gatherer = Gatherer(str)
    events = reports(flushed(), NOW_NS)
    assert [gatherer.add(event) for event in events[:-1]] == [[]] * 6
    (path,) = gatherer.add(events[-1])
    assert path.complete and not gatherer.open and not path.missing
    assert (path.op, path.tracker, path.flag, path.delay_ns, path.comm, path.pid) == (17, 'syscalls', 'ended', 700 * MS, *TASK)
    assert path.start_ns == NOW_NS and [of.number for of in path.segments] == list(range(7))
    assert [of.parent for of in path.segments] == [-1, 0, 1, 1, 0, -1, -1] and path.segments[3].sector == 4711
    # What no other one explains is all of it.
    assert [of.cause for of in path.leaves] == ['queue', 'device', 'cpu', 'lock', 'running']
    assert sum(of.delay_ns for of in path.leaves) == path.delay_ns


def test_paths_may_come_mixed_and_in_any_order() -> None:
    events = [*flushed(), *flushed(op=18), *flushed(op=19)]
    random.Random(1).shuffle(events)
    found = gather(events)
    assert sorted(path.op for path in found) == [17, 18, 19] and all(path.complete for path in found)
    assert all([of.number for of in path.segments] == list(range(7)) for path in found)


def test_a_path_begins_with_its_operation() -> None:
    # What is too short to be told stands at the end, together.
    (path,) = gather([segment(0, 0, -1, 100, 600, 'running', count=2), segment(1, 0, -1, 600, 100, 'cut', count=2)])
    assert path.start_ns == NOW_NS and path.end_ns == NOW_NS + 700 * MS
    # What is missing may be the end.
    (path,) = gather(flushed()[:4])
    assert path.start_ns == NOW_NS
    (path,) = gather(flushed()[2:])
    assert path.start_ns == NOW_NS
    (path,) = gather([segment(3, 1, 0, 100, 600, 'running', count=4)])
    assert path.start_ns == NOW_NS + 100 * MS


def test_what_is_missing_is_told(machine: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = gather([event for i, event in enumerate(flushed()) if i not in (0, 3)])
    assert path.missing == '5 of 7 segments seen' and '  5 of 7 segments seen' in shown(path, machine)
    # The number begins anew.
    found = gather([*flushed()[:3], *flushed()])
    assert [(len(path.segments), path.complete) for path in found] == [(3, False), (7, True)]
    # What does not come in time is not waited for, nor too many at a time.
    gatherer = Gatherer(str)
    for event in reports(flushed()[:2], NOW_NS):
        assert not gatherer.add(event)
    assert not gatherer.overdue(NOW_NS + 2 * 10**9)
    assert [len(path.segments) for path in gatherer.overdue(NOW_NS + 2 * 10**9 + 2)] == [2]
    # An event that was taken late is not one that comes no more.
    now_ns = NOW_NS + 60 * 10**9
    gatherer = Gatherer(str, lambda: now_ns)
    for event in reports(flushed()[:-1], NOW_NS):
        assert not gatherer.add(event)
    assert not gatherer.overdue(now_ns + 10**9) and len(gatherer.overdue(now_ns + 3 * 10**9)) == 1
    monkeypatch.setattr(paths, 'HELD', 3)
    gatherer = Gatherer(str)
    found = [path for event in reports([flushed(op=op)[0] for op in range(5)], NOW_NS) for path in gatherer.add(event)]
    assert [path.op for path in found] == [0, 1] and len(gatherer.open) == 3


def test_a_path_has_the_words_of_its_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    of_it = call(700 * MS, b'fio', pid=1234, start=NOW_NS)
    (path,) = gather([of_it, call(700 * MS, b'fio', pid=1234, start=NOW_NS + 1), *flushed()])
    assert path.what == 'fdatasync()' and path.text == 'fdatasync() of fio (1234) took 700 ms, returned 0' and path.cgroup == '/1'
    assert path.as_report().number('tgid') == 1234 and path.as_report().event == 'syscall_latency'
    # Without its report it is known which task, how long, and which tracker.
    (path,) = gather([call(700 * MS, pid=1235, start=NOW_NS), *flushed(flag=1)])
    assert path.what == 'system call' and path.text == 'system call of fio (1234) has taken 700 ms' and path.cgroup == '?'
    assert gather(flushed(operation='fsync'))[0].text == 'fsync() of fio (1234) took 700 ms'
    assert gather(flushed(operation='mutex', tracker='lock'))[0].text == 'wait for a lock (mutex) of fio (1234) took 700 ms'
    report = path.as_report()
    assert (report.delay_ns, report.text('comm'), report.number('pid'), report.flag) == (700 * MS, *TASK, 'pending')
    # That of when it was pending is another one.
    assert gather([of_it, *flushed(flag=1)])[0].report is None
    monkeypatch.setattr(paths, 'REMEMBERED', 2)
    assert gather([of_it, *(call(pid=n) for n in range(2)), *flushed()])[0].report is None


# The fields that differ, and the words.
WORDS: list[tuple[dict[str, object], str]] = [
    ({'cause': 'unknown'}, 'unknown'), ({'cause': 'running'}, 'running'), ({'cause': 'short'}, 'short waits'),
    ({'cause': 'running', 'name': 'user'}, 'running in user space'), ({'cause': 'running', 'name': 'kernel'}, 'running in the kernel'),
    ({'cause': 'interrupt', 'name': 'eth0'}, 'interrupt handlers eth0'),
    ({'cause': 'cpu', 'by': ('stress', 9)}, 'waiting for a CPU that stress (9) had'),
    ({'cause': 'cpu', 'by': ('swapper/1', 0)}, 'waiting for a CPU that was idle'), ({'cause': 'cpu'}, 'waiting for a CPU'),
    ({'cause': 'throttled', 'cgroup': 5}, 'throttled (cpu.max of /5)'), ({'cause': 'throttled'}, 'throttled (cpu.max)'),
    ({'cause': 'steal'}, 'the hypervisor had given the CPU to others'),
    ({'cause': 'lock', 'name': 'mutex', 'lock': 0x3000, 'by': ('cp', 8)}, 'lock mutex the_lock, held by cp (8)'),
    ({'cause': 'lock', 'name': 'futex', 'lock': 0x7f0000000000}, 'lock futex'),
    ({'cause': 'disk', 'name': 'vda', 'dev': DEV, 'sector': 4711}, 'disk vda, sector 4711'),
    ({'cause': 'disk', 'dev': DEV | 16}, 'disk 254:16'), ({'cause': 'device', 'name': 'vda', 'dev': DEV, 'sector': 0},
                                                         'in the device vda, sector 0'),
    ({'cause': 'queue'}, 'in the queue of a disk'), ({'cause': 'task', 'by': ('sh', 3)}, 'woken by sh (3)'),
    ({'cause': 'task', 'by': ('kworker/1:1', 5), 'name': 'do_job'}, 'woken by kworker/1:1 (5), work item do_job'),
    ({'cause': 'work', 'by': ('sh', 3), 'name': 'do_job'}, 'work item do_job waited for a worker, queued by sh (3)'),
    ({'cause': 'work', 'name': 'do_job'}, 'work item do_job waited for a worker'),
    ({'cause': 'task'}, 'woken by another task'), ({'cause': 'softirq', 'name': 'NET_RX'}, 'until soft interrupt NET_RX'),
    ({'cause': 'raised', 'name': 'TIMER', 'by': ('cp', 8)}, 'soft interrupt TIMER waited until it ran, behind cp (8)'),
    ({'cause': 'timer', 'name': 'timer'}, 'until a timer'), ({'cause': 'hardirq', 'name': 'eth0'}, 'until interrupt eth0'),
    ({'cause': 'frozen'}, 'frozen'),
    ({'cause': 'lost'}, 'unknown: its history was overwritten'), ({'cause': 'cut'}, 'not told apart: short parts, or too many hops')]


@pytest.mark.parametrize('fields, says', WORDS)
def test_in_words(fields: dict[str, object], says: str) -> None:
    (path,) = gather([segment(0, 0, -1, 0, 700, **fields, count=1)])  # type: ignore[arg-type]
    (of,) = path.segments
    assert of.says == says and path.says(of) == says


def test_each_cause_has_words() -> None:
    for cause in CAUSES:
        assert len(Segment(cause=cause).says) > 3
    # Of a newer module.
    (path,) = gather([segment(0, 0, -1, 0, 700, 'unknown', count=1)])
    path.segments[0].cause = '99'
    assert path.says(path.segments[0]) == '99'


@pytest.mark.parametrize('fields, detail', [
    ({'cause': 'lock', 'name': 'mutex', 'by': ('cp', 8)}, 'mutex, cp'), ({'cause': 'device', 'name': 'vda, 2 requeues'}, 'vda'),
    ({'cause': 'cpu', 'by': ('stress', 9)}, 'stress'), ({'cause': 'running'}, ''), ({'cause': 'timer', 'name': 'timer', 'by': ('x', 1)}, '')])
def test_alike_causes(fields: dict[str, object], detail: str) -> None:
    (path,) = gather([segment(0, 0, -1, 0, 700, **fields, count=1)])  # type: ignore[arg-type]
    assert path.segments[0].detail == detail


def test_the_tree(machine: Fake) -> None:
    (path,) = gather([call(700 * MS, b'fio', pid=1234, start=NOW_NS), *flushed()])
    assert shown(path, machine) == [
        '12:00:00.000  syscalls  fdatasync() of fio (1234) took 700 ms, returned 0',
        '   400 ms   57 %  █████████████▊            woken by jbd2/vda-8 (77)',
        ' ' * 46 + 'inner [ext4] <- outer',
        '   250 ms   36 %  ████████▋                   jbd2/vda-8 (77): disk vda, sector 4711',
        '  50.0 ms    7 %  █▊                            in the queue of vda, sector 4711',
        '   200 ms   29 %   ██████▉                      in the device vda, sector 4711',
        '   150 ms   21 %          █████▏              jbd2/vda-8 (77): waiting for a CPU that stress (9) had',
        '   200 ms   29 %               ██████▉      lock mutex the_lock, held by cp (8)',
        '   100 ms   14 %                      ███▍  running']


def test_a_bar_never_leaves_its_room() -> None:
    chance = random.Random(4)
    for _ in range(500):
        (path,) = gather([segment(0, 0, -1, 0, 1, 'running', count=1)])
        path.delay_ns = chance.randrange(0, 1000)
        path.segments.append(Segment(1, -1, 0, chance.randrange(0, 2000), path.start_ns + chance.randrange(0, 2000)))
        assert 0 <= len(bar_of(path, path.segments[1], 24)) <= 24
    assert [percent(part, 1000) for part in (0, 1, 5, 994, 1000)] == ['0 %', '<1 %', '0 %', '99 %', '100 %'] and percent(1, 0)


def test_names_cannot_write_to_the_terminal(machine: Fake) -> None:
    (path,) = gather([segment(0, 0, -1, 0, 700, 'task', of=('\x1b[2J', 5), by=('\x1b]0', 3), count=1)])
    assert not any('\x1b' in line for line in shown(path, machine))


def test_json_comes_back_as_it_was(machine: Fake) -> None:
    stream = io.StringIO()
    (path,) = gather([call(700 * MS, b'fio', pid=1234, start=NOW_NS), *flushed()])
    PathShower(machine, Output(True, stream)).show(path)
    told = json.loads(stream.getvalue())
    assert types_are_right(told) and told['segments'][3]['says'] == 'in the device vda, sector 4711'
    assert told['time'].startswith('2026-11-27T12:00:00') and told['host'] == 'db1'
    again = path_of(told)
    path.report = None
    assert again == path and again.segments[0].stack == ['inner+0x4 [ext4]', 'outer+0x20']
    garbled: list[dict[str, object]] = [{}, {**told, 'segments': []}, {**told, 'segments': [{}]}, {**told, 'op': 'x'}]
    for wrong in garbled:
        with pytest.raises((ValueError, KeyError, TypeError)):
            path_of(wrong)
