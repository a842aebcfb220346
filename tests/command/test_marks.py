# SPDX-License-Identifier: GPL-2.0-only
"""Marks of programs, wherever operations of the kernel are shown: recorded, counted, exported, acted on."""
from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import pytest

from latency_tracker.metrics import Collector
from latency_tracker.on import Crossings, printed
from latency_tracker.paths import Gatherer, outermost
from latency_tracker.prometheus import exemplar
from latency_tracker.records import parse
from latency_tracker.stacks import Symbols

from .conftest import Shell
from .fake import NOW_NS, TRACING, Fake, event_format, groups_file, mark, record, syscall, trace_page
from .fake_paths import MS, flushed
from .test_paths import gather, reports
from .test_state import types_are_right

ID = 12
# As include/trace/events/latency_tracker_mark.h has it.
FORMAT = event_format(ID, 'mark_latency', [
    ('u64 delay', 8), ('u64 start', 8), ('u64 id', 8), ('s64 cpu_time', 8), ('u64 cgroup_id', 8), ('char mark[48]', 48),
    ('char outer[96]', 96), ('char comm[16]', 16), ('pid_t pid', 4), ('pid_t tgid', 4), ('u32 flag', 4), ('int cpu', 4),
    ('__data_loc unsigned long[] stack', 4)],
    '"mark=%s, flag=%s", REC->mark, __print_symbolic(REC->flag, { 0, "ended" }, { 1, "pending" }, { 2, "collected" })')
GROUPS = '/sys/kernel/latency_tracker/mark/profile/groups'


def event(delay: int, name: bytes = b'request', outer: bytes = b'-', flag: int = 0, cpu_time: int = -1, stack: tuple[int, ...] = ()) -> bytes:
    """As the kernel writes it."""
    head = struct.pack('<HHiQQQqQ48s96s16siiIi', ID, 0, 1, delay, NOW_NS - 10**9, 2**64 - 1, cpu_time, 1, name, outer, b'server',
                       252, 250, flag, 3)
    return head + struct.pack('<I', len(stack) * 8 << 16 | len(head) + 4) + struct.pack(f'<{len(stack)}Q', *stack)


@pytest.fixture
def recording(shell: Shell, tmp_path: Path) -> Path:
    """Of the buffers: a request that hangs, then ends, with a query within it."""
    machine = shell.machine
    machine.put('/proc/sys/kernel/osrelease', '6.1.0-x\n')
    machine.put('/proc/kallsyms', '')
    machine.tracker('mark')
    machine.tracefs(FORMAT)
    machine.put('/page', trace_page(NOW_NS, (0, event(10**8, flag=1, stack=(0x1000, 0x2000))), (5, event(8 * 10**8, b'query', b'request')),
                                    (9, event(9 * 10**8, cpu_time=10**7))))
    feed = ('import glob, sys; (buffer,) = glob.glob(sys.argv[1] + "/instances/latency-tracker.*/per_cpu/cpu0/trace_pipe_raw"); '
            'open(buffer, "wb").write(open(sys.argv[2], "rb").read())')
    path = tmp_path / 'marks.json'
    told = shell('record', '-o', str(path), '--', sys.executable, '-c', feed, str(machine.path(TRACING)), str(machine.path('/page')))
    assert told.status == 0 and '2 late operations in' in told.out, told.err
    return path


def test_they_are_recorded(recording: Path) -> None:
    reports = [of for of in map(json.loads, recording.read_text().splitlines()) if of['type'] == 'report']
    assert all(types_are_right(of) for of in reports) and {of['tracker'] for of in reports} == {'mark'}
    assert [(of['who'], of['what'], of['flag'], of['fields']['outer'], of['fields']['cpu_time']) for of in reports] == [
        ('server', 'request', 'pending', '-', -1), ('server', 'query', 'ended', 'request', -1), ('server', 'request', 'ended', '-', 10**7)]
    assert reports[0]['fields']['id'] == 2**64 - 1 and len(reports[0]['fields']['stack']) == 2 and not reports[2]['fields']['stack']


def test_a_report_has_them(shell: Shell, recording: Path, tmp_path: Path) -> None:
    out = shell('report', '--each', str(recording)).out
    assert 'mark: an operation of a program, which the program marks itself' in out
    assert 'request of server (252) took 900 ms, of which it ran 10.0 ms' in out and 'query of server (252) took 800 ms, within request' in out
    # What hangs, and its end, is one operation.
    assert [line.split()[1:4] for line in out.splitlines() if line.startswith('mark ') and ' of ' not in line] == [
        ['server', 'request', '1'], ['server', 'query', '1']]
    events = [of for of in json.loads(shell('report', '--trace', str(recording)).out)['traceEvents'] if of['ph'] == 'X']
    # On the line of their thread.
    assert [(of['name'], of['pid'], of['tid'], of['dur']) for of in events] == [
        ('query', 250, 252, 800_000), ('request', 250, 252, 900_000)]
    page = tmp_path / 'page.html'
    shell('report', '--html', '-o', str(page), str(recording))
    assert page.read_text().count('#e6ab02') > 3 and 'request of server (252) took' in page.read_text()


def test_they_are_counted_by_name_and_by_group(shell: Shell) -> None:
    shell.machine.tracker('mark', **{'profile/groups_on': 1})
    shell.machine.put(GROUPS, groups_file({('mark', b'request'): [10**7] * 9, ('mark', b'query'): [10**6] * 3, ('cgroup', b'/x'): [10**7] * 12}))
    assert [line.split()[0] for line in shell('hist', 'mark', '--by', 'mark').out.splitlines()[:4]] == ['mark,', 'mark', 'request', 'query']
    assert 'has no groups by call; it has: mark cgroup' in shell('hist', 'mark', '--by', 'call').err
    told = shell('top', 'mark', '--by', 'mark', '--turns', '1', '--every', '10ms', '--json').objects
    assert [(of['dimension'], of['group'], of['count']) for of in told if of['type'] == 'top'] == [('mark', 'request', 9), ('mark', 'query', 3)]
    labels = [series.labels for family in Collector(shell.machine, [], 100).collect() if family.name.endswith('group_delay_seconds')
              for series in family.series]
    assert {'tracker': 'mark', 'dimension': 'mark', 'group': 'request'} in labels


def test_an_exemplar_names_the_mark() -> None:
    report = parse('mark', record(7, 'mark_latency', mark(outer='batch')), Symbols(lambda: ()))
    assert report and exemplar(report) == {'event': 'mark_latency', 'nr': '7', 'comm': 'server', 'mark': 'request'}


def test_filters_know_their_tasks(shell: Shell) -> None:
    shell.machine.tracker('mark')
    shell.machine.tracker('syscalls')
    shell.machine.put('/proc/kallsyms', '')
    shell.machine.last('syscalls', record(1, 'syscall_latency', syscall(), at_ns=NOW_NS - 5))
    shell.machine.last('mark', record(1, 'mark_latency', mark()), record(2, 'mark_latency', mark(mark='query', comm='client', pid=9, tgid=9)))
    assert [line.split()[1:3] for line in shell('last').out.splitlines() if line[0] == '1'] == [
        ['syscalls', 'fdatasync()'], ['mark', 'request'], ['mark', 'query']]
    for words, count in ((['--comm', 'ser*'], 1), (['--pid', '250'], 1), (['--pid', '9'], 1), (['--over', '300ms'], 0)):
        assert len(shell('last', 'mark', *words, '--json').objects) == count, words


def test_what_they_were_made_of() -> None:
    # By the path alone, and with the report.
    assert [path.text for path in gather([*flushed(tracker='mark', operation='request'), *flushed(op=18, tracker='mark')])] == [
        'request of fio (1234) took 700 ms', 'operation of a program of fio (1234) took 700 ms']
    report = parse('mark', record(1, 'mark_latency', mark(700 * MS, comm='fio', pid=1234)), Symbols(lambda: ()))
    assert report
    gatherer = Gatherer(str)
    gatherer.remember(report)
    begin = NOW_NS - 700 * MS
    found = [path for of in reports([*flushed(tracker='mark', operation='request', begin=begin), *flushed(op=18, begin=begin)], NOW_NS)
             for path in gatherer.add(of)]
    assert [(path.what, path.text) for path in found] == [
        ('request', 'request of fio (1234) took 700 ms, of which it ran 12.0 ms'),
        ('system call', 'system call of fio (1234) took 700 ms')]
    # A call is a part of the operation that it is within.
    assert len(outermost(found)) == 1


def test_paths_are_those_of_the_module(shell: Shell) -> None:
    shell.machine.part()
    shell.machine.tracker('mark')
    assert 'no trace instance' in shell('path', 'mark').err
    shell.machine.put('/sys/module/latency_tracker_critical_path/parameters/operations', 'syscalls,offcpu,wakeup,lock\n')
    assert 'operations of mark get no path' in shell('path', 'mark').err


def test_a_crossing_is_acted_on(machine: Fake) -> None:
    machine.tracker('mark', crossings=0)
    crossings = Crossings(machine, 'mark', [])
    machine.put('/sys/kernel/latency_tracker/mark/crossings', '1\n')
    machine.last('mark', record(1, 'mark_latency', mark(outer='batch>page', id=17)))
    number, (report,) = crossings.new()
    found = printed(report)
    assert number == 1 and (found['mark'], found['outer'], found['id'], found['cpu_time'], found['stack']) == (
        'request', 'batch>page', '17', '12000000', '')
    crossings.close()
