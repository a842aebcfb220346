# SPDX-License-Identifier: GPL-2.0-only
"""What record makes of the pages of trace buffers, which are written here as ring_buffer.h tells."""
from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import signal
import struct
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from latency_tracker import Error
from latency_tracker.cmd_reports import Filter
from latency_tracker.instance import Instance
from latency_tracker.output import Output
from latency_tracker.pages import Format, events, page_size
from latency_tracker.record import Buffers, Sink
from latency_tracker.records import Report, Value
from latency_tracker.signals import Signals
from latency_tracker.spool import Converter, Spool
from latency_tracker.stacks import Symbols
from latency_tracker.state import Tracker
from latency_tracker.words import words

from .conftest import Shell
from .fake import HEADER_PAGE, NOW_NS, TRACING, Fake, event_format, trace_page

FLAG = '"flag=%s", __print_symbolic(REC->flag, { 0, "ended" } , { 1, "pending" }, { 2, "collected" })'
CALL = event_format(7, 'syscall_latency', [
    ('u64 delay', 8), ('u64 start', 8), ('u64 cgroup_id', 8), ('long nr', 8), ('long ret', 8), ('char call[24]', 24),
    ('char comm[16]', 16), ('pid_t pid', 4), ('pid_t tgid', 4), ('u16 flag', 2), ('u16 compat', 2)], FLAG)
STACK = event_format(8, 'syscall_latency_stack', [
    ('u64 delay', 8), ('u64 start', 8), ('pid_t pid', 4), ('u16 flag', 2), ('u16 compat', 2),
    ('__data_loc unsigned long[] stack', 4)], FLAG)
WAKEUP = event_format(10, 'offcpu_sched_wakeup', [
    ('u64 delay', 8), ('u64 start', 8), ('char waker_comm[16]', 16), ('pid_t waker_pid', 4), ('pid_t wakee_pid', 4),
    ('__data_loc unsigned long[] waker_stack', 4)])
MANY = event_format(9, 'irq_latency', [
    ('const void * handler', 8), ('const void * skbaddr', 8), ('u32 ret', 4), ('s64 low', 8), ('__data_loc char[] name', 4),
    ('__rel_loc char[] near', 4), ('char rwbs[8]', 8)],
    '"handler=%ps, skbaddr=%p", REC->handler, __print_symbolic(REC->ret, { 0x10, "a, b" }, { 255U, "-" })')
SYMBOLS = Symbols(lambda: ['1000 T outer', '2000 t inner [ext4]'])


def call(delay: int = 236_000_000, comm: bytes = b'mariadbd', flag: int = 0, pid: int = 252, start: int = 5) -> bytes:
    """An event."""
    return struct.pack('<HHiQQQqq24s16siiHH', 7, 0, pid, delay, start, 1, 75, 0, b'fdatasync', comm, pid, pid, flag, 0)


def sample(delay: int, *stack: int, pid: int = 252) -> bytes:
    """Where a call was blocked."""
    head = struct.pack('<HHiQQiHHI', 8, 0, pid, delay, 5, pid, 0, 0, len(stack) * 8 << 16 | 36)
    return head + struct.pack(f'<{len(stack)}Q', *stack)


def test_fields_are_what_the_format_says() -> None:
    made = Format(MANY)
    data = struct.pack('<HHiQQIqII8s', 9, 0, 1, 0x1010, 0xffff888000001234, 16, -5, 3 << 16 | 52, 4 << 16 | 11, b'WS\0x\xff\0\0\0')
    data += b'ab\0cd\xff\0'
    assert (made.id, made.name) == (9, 'irq_latency')
    found = made.decode(data, SYMBOLS)
    # A raw address is told to nobody.
    assert found == {'handler': 'outer+0x10', 'ret': 'a, b', 'low': -5, 'name': 'ab', 'near': 'cd\\xff', 'rwbs': 'WS'}
    assert made.decode(data[:24] + struct.pack('<I', 99) + data[28:], SYMBOLS)['ret'] == 99
    with pytest.raises(Error, match='cut off'):
        made.decode(data[:30], SYMBOLS)


@pytest.mark.parametrize('text', ['', 'ID: 7\n', 'name: x\nformat:\n'])
def test_another_format_is_an_error(text: str) -> None:
    with pytest.raises(Error, match='not understood'):
        Format(text)


def test_page_size() -> None:
    assert page_size(HEADER_PAGE) == 4096 and page_size(HEADER_PAGE.replace('4080', '65520')) == 65536
    with pytest.raises(Error, match='not understood'):
        page_size(HEADER_PAGE.replace('offset:8', 'offset:4'))


def test_events_of_a_page() -> None:
    page = trace_page(1000, (0, b'abcd'), (5, b'x' * 112), (1 << 30, b'y' * 400), (3, b'z'))
    assert [(at, data[:1], len(data)) for at, data in events(page)] == [
        (1000, b'a', 4), (1005, b'x', 112), (1005 + (1 << 30), b'y', 400), (1008 + (1 << 30), b'z', 4)]
    # What was taken back: it has a time, and no data. Then an absolute time, and the rest of the page.
    words = struct.pack('<II4sIII4sI', 7 << 5 | 29, 8, b'....', 3 << 5 | 31, 2, 4 << 5 | 1, b'abcd', 29)
    of = struct.pack('<QQ', 100, 4 * 8 | 1 << 31) + words + b'\xee' * 100
    assert list(events(of)) == [((2 << 27) + 3 + 4, b'abcd')]


def test_garbled_pages_are_counted() -> None:
    chance, page = random.Random(6), trace_page(1000, *((n, call()) for n in range(20)))
    converter, kept = Converter({7: Format(CALL)}, SYMBOLS), 0
    for _ in range(3000):
        data = bytearray(page)
        for _ in range(chance.randrange(1, 20)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        kept += len(list(converter.reports([bytes(data[:chance.choice((9, 40, 500, 4096))])])))
    assert kept > 1000 and converter.unread > 1000


def test_reports_of_all_cpus_are_in_order() -> None:
    pages = [trace_page(1000, (0, call(1)), (20, call(3))), trace_page(1010, (0, call(2)), (20, call(4, flag=1)))]
    found = list(Converter({7: Format(CALL)}, SYMBOLS).reports(pages))
    assert [(of.nr, of.delay_ns, of.at_ns) for of in found] == [(1, 1, 1000), (2, 2, 1010), (3, 3, 1020), (4, 4, 1030)]
    assert found[3].flag == 'pending' and found[0].tracker == 'syscalls' and found[0].values['call'] == 'fdatasync'


def test_a_call_has_the_stack_of_its_longest_block() -> None:
    converter = Converter({7: Format(CALL), 8: Format(STACK)}, SYMBOLS)
    pages = [trace_page(1000, (0, sample(100, 0x1000)), (1, sample(200, 0x1010)), (1, sample(900, 0x2004, 0x1020)),
                        (1, sample(950, 0x1030)), (1, sample(7, 0x1000, pid=9)), (1, call(1000)), (1, call(1, pid=9)),
                        (1, call(1000)))]
    first, other, again = converter.reports(pages)
    assert first.values['switched_stack'] == ['inner+0x4 [ext4]', 'outer+0x20'] and first.number('switched_until') == 900
    # Whether it was blocked or preempted, nobody has said.
    assert words(first).details == ['switched out in inner(), and on the CPU again 900 ns after its begin']
    assert other.values['switched_stack'] == ['outer+0x0'] and 'switched_stack' not in again.values
    assert not converter.held and not converter.longest


def test_a_waker_is_that_of_the_time_off_the_cpu() -> None:
    # A call and a time off the CPU of one task may begin in the same nanosecond.
    converter = Converter({7: Format(CALL), 10: Format(WAKEUP)}, SYMBOLS)
    woken = struct.pack('<HHiQQ16siiI', 10, 0, 252, 3, 5, b'waker', 1, 252, 8 << 16 | 52) + struct.pack('<Q', 0x1000)
    (report,) = converter.reports([trace_page(0, (0, woken), (1, call()))])
    assert 'waker_stack' not in report.values and len(converter.held) == 1


def test_stacks_that_nobody_wants_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('latency_tracker.spool.HELD', 10)
    converter = Converter({7: Format(CALL), 8: Format(STACK)}, SYMBOLS)
    assert not list(converter.reports([trace_page(0, (1, sample(100, 0x1000, pid=pid))) for pid in range(100)]))
    assert len(converter.held) == len(converter.longest) == 10


def test_spool(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    for _ in range(2):
        spool.put([b'a' * 9, b''])
        spool.put([b'b'])
        assert spool.get() == [b'a' * 9, b''] and spool.get() == [b'b'] and spool.get() == []
        assert spool.end == 0
    assert not list(tmp_path.iterdir())
    spool.close()


def feed(machine: Fake, pages: list[tuple[int, bytes]], lost: int = 0, last: str = 'syscall_latency_stack',
         ends: bool = True) -> None:
    """Once somebody reads: to the buffers of CPUs; and then a signal."""
    end = time.monotonic() + 20
    # The last of the events is enabled.
    while not (made := [path for path in machine.path(f'{TRACING}/instances').glob(f'*/events/*/{last}/enable')
                        if path.read_text()[:1] == '1']):
        assert time.monotonic() < end
        time.sleep(0.01)
    top = made[0].parents[3]
    # All of them at once: without an end the command may close them as soon as it has read enough.
    pipes = [open(top / f'per_cpu/cpu{cpu}/trace_pipe_raw', 'wb', buffering=0) for cpu in range(machine.cpus)]
    for cpu, pipe in enumerate(pipes):
        with pipe, contextlib.suppress(BrokenPipeError):
            for page in [page for of, page in pages if of == cpu]:
                pipe.write(page)
    if not ends:
        return
    (top / 'per_cpu/cpu1/stats').write_text(f'overrun: {lost}\ncommit overrun: 0\ndropped events: 1\n')
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)


def recorded(shell: Shell, into: Path, pages: list[tuple[int, bytes]], *words: str, lost: int = 0) -> tuple[Any, list[dict[str, Any]]]:
    """What record says, and what it has written."""
    shell.machine.put('/proc/sys/kernel/osrelease', '6.1.0-x\n')
    shell.machine.tracker('syscalls')
    shell.machine.tracefs(CALL, STACK)
    thread = threading.Thread(target=feed, args=(shell.machine, pages, lost))
    thread.start()
    told = shell('record', '-o', str(into), *words)
    thread.join()
    return told, [json.loads(line) for line in into.read_text().splitlines()]


def test_record(shell: Shell, tmp_path: Path) -> None:
    pages = [(n % 2, trace_page(NOW_NS + n * 1000, *((1, call(10**7 + 40 * n + i, pid=n)) for i in range(30)))) for n in range(200)]
    told, objects = recorded(shell, tmp_path / 'into.json', pages, lost=4)
    assert told.status == 0 and not told.err
    reports = [of for of in objects if of['type'] == 'report']
    assert sorted(of['delay_ns'] for of in reports) == sorted(10**7 + 40 * n + i for n in range(200) for i in range(30))
    assert [of['nr'] for of in reports] == list(range(1, 6001)) and objects[-1] == {'schema': 1, 'type': 'missed', 'count': 5}
    assert '5 more reports came too fast' in told.out and '6,000 late operations in' in told.out
    assert shell.machine.log == ['nice', 'rmdir latency-tracker'] and not list(shell.machine.path(f'{TRACING}/instances').iterdir())
    assert [path.name for path in tmp_path.glob('*.json')] == ['into.json']


def test_record_filters_and_tells_where_a_call_was_blocked(shell: Shell, tmp_path: Path) -> None:
    page = trace_page(NOW_NS, (0, sample(9, 0x2000)), (1, call(comm=b'a\x1b')), (1, call(comm=b'b')), (1, call(pid=os.getpid())))
    shell.machine.put('/proc/kallsyms', '')
    told, objects = recorded(shell, tmp_path / 'into.json', [(0, page)], '--comm', 'a*')
    (report,) = [of for of in objects if of['type'] == 'report']
    assert report['fields']['comm'] == 'a\x1b' and report['fields']['switched_until'] == 9
    assert len(report['fields']['switched_stack']) == 1 and told.status == 0


def test_what_this_program_does_is_its_own() -> None:
    for event, own in (('syscall_latency', True), ('irq_latency', False), ('softirq_latency', False)):
        values: dict[str, Value] = {'tgid': os.getpid()}
        assert Report('x', event, 1, 1, 1, 1, 'ended', values=values).own == own
        assert not Report('x', event, 1, 1, 1, 1, 'ended', values={'tgid': 1}).own


def test_what_a_killed_one_has_left_is_removed(shell: Shell, tmp_path: Path) -> None:
    machine = shell.machine
    machine.tracker('syscalls')
    machine.tracefs(CALL, STACK)
    machine.put('/proc/4242/stat', '4242 (x) S ' + '0 ' * 18 + '17 0\n')
    for name in ('latency-tracker.99999999.5', 'latency-tracker.4242.17', 'latency-tracker.4242.18', 'of-the-user'):
        machine.path(f'{TRACING}/instances/{name}').mkdir()
    instance = Instance(machine, [Tracker(machine, 'syscalls')], 99)
    assert machine.read(f'{instance.name}/buffer_size_kb') == '99\n' and machine.read(f'{instance.name}/trace_clock') == 'mono\n'
    instance.close()
    for cpus, kib in ((2, '4096'), (256, '1024'), (1024, '512')):
        machine.tracefs(CALL, STACK, cpus=cpus)
        instance = Instance(machine, [Tracker(machine, 'syscalls')], 0)
        assert machine.read(f'{instance.name}/buffer_size_kb') == kib + '\n'
        instance.close()
    assert {path.name for path in machine.path(f'{TRACING}/instances').iterdir()} == {'of-the-user', 'latency-tracker.4242.17'}


def test_without_tracefs_it_says_so_and_goes_on(shell: Shell, tmp_path: Path) -> None:
    shell.machine.put('/proc/sys/kernel/osrelease', '6.1.0-x\n')
    shell.machine.tracker('syscalls')
    told = shell('record', '-o', str(tmp_path / 'x'), '--for', '10ms')
    assert told.status == 0 and re.search('no trace instance.*profile/last', told.err)
    shell.machine.tracefs(CALL)
    told = shell('record', '-o', str(tmp_path / 'x'), '--for', '10ms')
    # An event that it needs is not there: nothing is left.
    assert told.status == 0 and 'cannot be recorded' in told.err
    assert not list(shell.machine.path(f'{TRACING}/instances').iterdir())


def test_what_is_in_the_buffers_at_the_end_is_read(machine: Fake, tmp_path: Path) -> None:
    machine.tracefs(CALL, STACK)
    machine.tracker('syscalls')
    args = argparse.Namespace(buffer=9, output=str(tmp_path / 'x'), over=None, comm=None, pid=None, cgroup=None)
    signals = Signals()
    buffers, written = Buffers(machine, args, [Tracker(machine, 'syscalls')], signals), io.StringIO()
    sink = Sink(machine, Output(True, written), Filter(args, machine))
    pipe = os.open(machine.path(f'{buffers.instance.name}/per_cpu/cpu1/trace_pipe_raw'), os.O_WRONLY)
    os.write(pipe, trace_page(NOW_NS, *((1, call(n)) for n in range(3))))
    assert buffers.finish(sink) == 0
    assert machine.read(f'{buffers.instance.name}/events/enable') == '0\n'
    assert [json.loads(line)['delay_ns'] for line in written.getvalue().splitlines()] == [0, 1, 2]
    os.close(pipe)
    buffers.close()
    signals.close()
