# SPDX-License-Identifier: GPL-2.0-only
"""latency-tracker on, without a kernel: guest/on-latency has the rest."""
from __future__ import annotations

import os
import select
import signal
import time
from pathlib import Path
from typing import cast

import pytest

from latency_tracker.on import Crossings, printed, safe
from latency_tracker.records import parse
from latency_tracker.signals import Signals
from latency_tracker.stacks import Symbols

from .conftest import Later, Shell
from .fake import ADDRESS, NAMED, NOW_NS, SIGNED, STACK, TEXT, TRACING, UNSIGNED, Fake, Fields, record, syscall, trace_page
from .fake_paths import FORMAT, MS, flushed
from .test_state import types_are_right

SYMBOLS = Symbols(lambda: ['0000000000001000 T handle', '0000000000002000 t __schedule\t[x]'])


def of(event: str, *fields: tuple[str, int, object]) -> dict[str, str]:
    """As it is printed."""
    head: Fields = (('delay', UNSIGNED, 5), ('start', UNSIGNED, NOW_NS - 5), ('flag', NAMED, (0, 'ended')))
    report = parse('any', record(7, event, (*head, *fields)), SYMBOLS)
    assert report
    found = printed(report)
    assert (found.pop('delay'), found.pop('start'), found.pop('flag')) == ('5', str(NOW_NS - 5), 'ended')
    return found


def test_fields_are_as_the_events_print_them() -> None:
    assert of('block_latency', ('dev', UNSIGNED, 8 << 20 | 17), ('sector', UNSIGNED, 2**64 - 1)) == {
        'dev': '8,17', 'sector': '18446744073709551615'}
    assert of('network_latency', ('dev', TEXT, 'eth0'), ('protocol', UNSIGNED, 0x800)) == {'dev': 'eth0', 'protocol': '0x0800'}
    assert of('softirq_latency', ('vec', NAMED, (6, 'TASKLET')), ('cpu', SIGNED, -1)) == {
        'vec': '6', 'name': 'TASKLET', 'cpu': '-1'}
    assert of('irq_latency', ('handler', ADDRESS, 0x1000), ('comm', TEXT, 'a, b=1')) == {'handler': 'handle', 'comm': 'a, b=1'}
    assert of('x_latency', ('stack', STACK, [0x1004, 0x2010])) == {'stack': 'handle+0x4 <- __schedule+0x10 [x]'}


@pytest.mark.parametrize('name, file', [('../../etc', '_.._.._etc'), ('-rf x', '_-rf_x'), ('', '_'), ('.a', '_.a'), ('a.b-c_9', 'a.b-c_9')])
def test_safe_names(name: str, file: str) -> None:
    assert safe(name) == file


def cross(machine: Fake, number: int, *records: bytes) -> None:
    machine.put('/sys/kernel/latency_tracker/syscalls/crossings', f'{number}\n')
    machine.last('syscalls', *records)


def test_each_crossing_has_its_report(machine: Fake) -> None:
    machine.tracker('syscalls')
    machine.last('syscalls', record(1, 'syscall_latency', syscall()))
    crossings = Crossings(machine, 'syscalls', [])
    assert crossings.new() == (0, [])
    pending = syscall(flag=(1, 'pending'), pid=9)
    # One that was asked for, one that was given up, three that have crossed, of which two are counted.
    cross(machine, 2, record(2, 'syscall_latency', pending, asked=1), record(3, 'syscall_latency', syscall(pid=3)),
          record(4, 'syscall_latency', syscall(flag=(2, 'collected'))), record(5, 'syscall_latency', pending),
          record(6, 'syscall_latency', syscall(pid=6)))
    number, reports = crossings.new()
    assert (number, [report.number('pid') for report in reports]) == (2, [3, 9])
    cross(machine, 3, record(6, 'syscall_latency', syscall(pid=6)), record(9, 'syscall_latency', syscall(pid=8)))
    number, reports = crossings.new()
    assert (number, [report.number('pid') for report in reports], crossings.lost) == (1, [6], 2)
    crossings.close()


def test_as_json(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = shell.machine
    machine.tracker('syscalls', crossings=0)
    # Of a file that is no kernel's, nothing is told: it crosses when it is waited for.
    def wait_for(_signals: Signals, _fd: int, _events: int) -> bool:
        cross(machine, 1, record(1, 'syscall_latency', syscall()))
        return True
    monkeypatch.setattr(Signals, 'wait_for', wait_for)
    told = shell('on', 'syscalls', '--json', '--once', '--', 'sleep', '0')
    assert told.status == 2, told.err
    burst, end = told.objects
    assert burst['says'] == 'fdatasync() of mariadbd (252) took 236 ms, returned 0'
    assert cast('dict[str, str]', burst['fields'])['call'] == 'fdatasync' and burst['actions'] == ['sleep has run']
    assert (end['seen'], end['acts'], end['lost']) == (1, 1, 0)
    assert all(types_are_right(entry) for entry in told.objects)


def test_a_signal_ends_it(shell: Shell, later: Later) -> None:
    shell.machine.tracker('syscalls')
    later(0.5, lambda: os.kill(os.getpid(), signal.SIGTERM))
    told = shell('on', 'syscalls')
    assert told.status == 0 and told.out.startswith('syscalls: 0 crossings seen: 0 acted on in 0 bursts')


def act(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: list[bytes]) -> dict[str, str]:
    """The environment of a command after a crossing, when a module has told these pages."""
    machine, into = shell.machine, tmp_path / 'environment'
    machine.tracker('syscalls', crossings=0)
    machine.part()
    machine.put('/proc/kallsyms', '')
    machine.tracefs(FORMAT)

    def wait_for(signals: Signals, fd: int, events: int) -> bool:
        if events == select.POLLIN:
            return _wait_for(signals, fd, events)
        cross(machine, 1, record(1, 'syscall_latency', syscall(700 * MS, pid=1234)))
        for top in machine.path(f'{TRACING}/instances').iterdir():
            pipe = os.open(top / 'per_cpu/cpu1/trace_pipe_raw', os.O_RDWR)
            pipes.append(pipe)
            for page in pages:
                os.write(pipe, page)
        return True
    pipes: list[int] = []
    monkeypatch.setattr(Signals, 'wait_for', wait_for)
    told = shell('on', 'syscalls', '--once', '--', 'sh', '-c', f'env -0 >{into}')
    assert told.status == 2, told.err
    for pipe in pipes:
        os.close(pipe)
    assert not list(machine.path(f'{TRACING}/instances').iterdir())
    return dict(line.split('=', 1) for line in into.read_text().split('\0') if line.startswith('LT_'))


_wait_for = Signals.wait_for


def test_the_command_knows_what_it_was_made_of(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = NOW_NS - 700 * MS
    # Another task, another tracker, and another time come before it, and one behind it.
    others: list[dict[str, object]] = [{'begin': begin, 'total': 800}, {'begin': begin, 'tracker': 'offcpu'}, {'begin': begin},
                                       {'begin': begin + MS}]
    pages = [trace_page(NOW_NS + i, *((1, event) for event in flushed(op=i, **more))) for i, more in enumerate(others)]
    env = act(shell, tmp_path, monkeypatch, pages)
    assert (env['LT_PATH_CAUSE'], env['LT_PATH_CAUSE_NS']) == ('in the device vda, sector 4711', str(200 * MS))
    assert env['LT_PATH_CAUSE_SAFE'] == 'in_the_device_vda__sector_4711' and env['LT_CALL'] == 'fdatasync'


def test_a_path_that_does_not_come_is_not_waited_for_long(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began = time.monotonic()
    env = act(shell, tmp_path, monkeypatch, [trace_page(NOW_NS, *((1, event) for event in flushed(begin=NOW_NS)))])
    assert env['LT_PATH_CAUSE'] == env['LT_PATH_CAUSE_NS'] == '' and 1 <= time.monotonic() - began < 10


def test_without_a_trace_instance_it_warns(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.machine.tracker('syscalls')
    shell.machine.part()
    monkeypatch.setattr(Signals, 'wait_for', lambda *_: False)
    told = shell('on', 'syscalls', '--', 'true')
    assert told.status == 0 and 'warning: what an operation was made of is not known: no trace instance' in told.err
    # Nobody would be told.
    assert 'warning' not in shell('on', 'syscalls').err
    shell.machine.put('/sys/module/latency_tracker_critical_path/parameters/operations', 'lock\n')
    assert 'warning' not in shell('on', 'syscalls', '--', 'true').err
