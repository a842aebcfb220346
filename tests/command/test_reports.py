# SPDX-License-Identifier: GPL-2.0-only
"""Reports: read, in words, filtered, counted."""
from __future__ import annotations

import random

import pytest

from latency_tracker import Error
from latency_tracker.records import parse
from latency_tracker.show import Summary
from latency_tracker.stacks import Symbols
from latency_tracker.words import operation, result, words

from .conftest import Shell
from .fake import ADDRESS, NAMED, NOW_NS, SIGNED, STACK, TEXT, UNSIGNED, Fields, mark, record, syscall

SYMBOLS = Symbols(lambda: ['0000000000001000 T io_schedule', '0000000000002000 t jbd2_wait\t[jbd2]',
                           '0000000000002000 t an_alias', '0000000000003000 D data',
                           '0000000000004000 T __x64_sys_fdatasync', '0000000000005000 T do_syscall_64'])


def common(delay: int, flag: str, comm: str, pid: int) -> Fields:
    """What all events have."""
    return (('delay', UNSIGNED, delay), ('start', UNSIGNED, NOW_NS - delay),
            ('flag', NAMED, (1 if flag == 'pending' else 0, flag)), ('comm', TEXT, comm), ('pid', SIGNED, pid))


def typed(**values: object) -> Fields:
    """Texts and numbers."""
    return tuple((name, TEXT if isinstance(value, str) else STACK if isinstance(value, list) else SIGNED, value)
                 for name, value in values.items())


def offcpu(flag: str = 'ended', **more: object) -> Fields:
    values = {'state': 'blocked', 'waker_comm': 'jbd2/sda-8', 'waker_pid': 120, 'waker_context': 'task',
              'waker_irq': -1, 'waker_softirq': '-', 'runqueue': 5000, 'stall': 'io',
              'stack': [0x1004, 0x2010], **more}
    return (*common(235_000_000, flag, 'mariadbd', 252), *typed(**values))


def wakeup(flag: str = 'ended', **more: object) -> Fields:
    values = {'cpu': 1, 'waker_comm': 'mariadbd', 'waker_pid': 252, 'prev_comm': 'mariadbd', 'prev_pid': 286,
              'holder_comm': 'mariadbd', 'holder_pid': 286, 'holder_ran': 42_500_000, 'cause': 'cpu',
              'cause_ran': 42_500_000, 'reason': 'woken', **more}
    return (*common(43_000_000, flag, 'jbd2/sda-8', 120), *typed(**values))


def lock(flag: str = 'ended', **more: object) -> Fields:
    values = {'lock': 'ext4_lock+0x0/0x20', 'kind': 'mutex', 'ret': 0, 'held_by': 'task', 'holder_comm': 'sync',
              'holder_pid': 7, 'holder_state': 'unknown', 'holder_cpu': -1, 'holder_lock': '0x0',
              'waker_comm': 'cp', 'waker_pid': 8, 'handover': 52_000, **more}
    return (*common(43_000_000, flag, 'mariadbd', 252), *typed(**values))


def block(flag: str = 'ended', **more: object) -> Fields:
    values = {'disk': 'sda', 'dev': 8 << 20, 'sector': 8000, 'nr_bytes': 4096, 'rwbs': 'WFS',
              'stage': 'device', 'error': 0, 'requeues': 0, 'cause': '-', 'throttled': 0, 'getrq': 0,
              'queue': 0, 'device': 0, 'flush': 0, **more}
    return (*common(43_200_000, flag, 'kworker/1:1H', 87), *typed(**values))


def irq(flag: str = 'ended') -> Fields:
    return (*common(1_400_000, flag, 'sh', 9), ('handler', ADDRESS, 0x2004),
            *typed(irq=32, name='eth0', cpu=1))


def softirq(stage: str, flag: str = 'ended') -> Fields:
    return (*common(360_000_000, flag, 'sh', 9), ('vec', NAMED, (6, 'TASKLET')), *typed(stage=stage, cpu=1))


def network(flag: str = 'ended', **more: object) -> Fields:
    values = {'stage': 'receive', 'dev': 'eth0', 'l4': 6, 'len': 540, 'end': 'socket', 'reason': '-',
              'qdisc': '-', 'location': '-', **more}
    return (*common(69_600_000, flag, 'nginx', 247), *typed(**values))


# Event, fields, the sentence, and details.
GOLDEN: list[tuple[str, Fields, str, list[str]]] = [
    ('syscall_latency', syscall(), 'fdatasync() of mariadbd (252) took 236 ms, returned 0', []),
    ('syscall_latency', syscall(ret=-11, call='-', compat=1),
     'system call 75 (32-bit) of mariadbd (252) took 236 ms, returned Resource temporarily unavailable', []),
    ('syscall_latency', syscall(flag=(1, 'pending')),
     'fdatasync() of mariadbd (252) has not returned for 236 ms', []),
    ('lock_latency', lock(), 'mariadbd (252) waited 43.0 ms for a mutex ext4_lock, which sync (7) had when it came',
     ['woken by cp (8) 52.0 µs before the end']),
    ('lock_latency', lock(lock='0xffff888001', kind='rwsem_write', held_by='readers', holder_pid=-1, waker_pid=-1, ret=-4),
     'mariadbd (252) waited 43.0 ms for a semaphore to write, which readers had when it came',
     ['it gave up: Interrupted system call']),
    ('lock_latency', lock('pending', holder_state='blocked', holder_cpu=3, holder_lock='b_lock+0x0/0x8',
                          waker_pid=-1, holder_stack=[0x1004, 0x2010]),
     'mariadbd (252) has been waiting 43.0 ms for a mutex ext4_lock, which sync (7) has',
     ['sync (7) is blocked in jbd2_wait() on CPU 3, and waits itself for a lock b_lock']),
    # Of the heap: it waits, for what has no name.
    ('lock_latency', lock('pending', holder_state='blocked', holder_cpu=3, holder_lock='?', waker_pid=-1),
     'mariadbd (252) has been waiting 43.0 ms for a mutex ext4_lock, which sync (7) has',
     ['sync (7) is blocked on CPU 3, and waits itself for a lock']),
    ('lock_latency', lock(held_by='unknown', holder_pid=-1, kind='semaphore', waker_pid=-1),
     'mariadbd (252) waited 43.0 ms for a semaphore ext4_lock', []),
    ('lock_latency', lock(lock='0x7f27eeeee080', kind='futex', held_by='hint', waker_pid=-1, ret=-110),
     'mariadbd (252) waited 43.0 ms for a lock of user space, which sync (7) had when it came, as far as its memory tells',
     ['it gave up: Connection timed out']),
    ('lock_latency', lock(lock='0xffff888001', kind='flock', held_by='process', waker_pid=-1, dev=8 << 20 | 1, ino=17),
     'mariadbd (252) waited 43.0 ms for a lock on a file, inode 17 on 8:1, which sync (7) had when it came', []),
    ('lock_latency', lock(kind='futex_other', held_by='unknown', holder_pid=-1, waker_pid=-1),
     'mariadbd (252) waited 43.0 ms for a condition of user space', []),
    ('mark_latency', mark(), 'request of server (252) took 236 ms, of which it ran 12.0 ms', []),
    ('mark_latency', mark(outer='batch', id=2**64 - 1), 'request of server (252) took 236 ms, of which it ran 12.0 ms, within batch',
     ['number 18446744073709551615']),
    ('mark_latency', mark(mark='sql/query-1', outer='batch>request', cpu_time=-1, comm='a\x1b'),
     'sql/query-1 of a\x1b (252) took 236 ms, within batch > request', []),
    ('mark_latency', mark(cpu_time=0), 'request of server (252) took 236 ms, of which it ran 0 ns', []),
    ('mark_latency', mark(flag=(1, 'pending'), id=17, stack=[0x1004, 0x2010, 0x4004, 0x5000]),
     'request of server (252) has not ended for 236 ms, of which it has run 12.0 ms',
     ['number 17', 'now in jbd2_wait(), called by fdatasync()']),
    ('mark_latency', mark(flag=(1, 'pending'), stack=[0x2010], cpu_time=-1, outer='batch'),
     'request of server (252) has not ended for 236 ms, within batch', ['now in jbd2_wait()']),
    # It runs in user space.
    ('mark_latency', mark(flag=(1, 'pending'), cpu_time=236_000_000),
     'request of server (252) has not ended for 236 ms, of which it has run 236 ms', []),
    ('mark_latency', mark(flag=(2, 'collected'), cpu_time=-1),
     'request of server (252) has not ended for 236 ms; its end has not been seen, and it is not tracked any longer', []),
    ('offcpu_sched_switch', offcpu(), 'mariadbd (252) was blocked for 235 ms in jbd2_wait()',
     ['woken by jbd2/sda-8 (120)', 'it waited for io, as the kernel accounts it',
      '5.00 µs of it waiting for a CPU, when it could run']),
    ('offcpu_sched_switch', offcpu(stall='-', runqueue=0, waker_pid=-1, stack=[0x1004, 0x2010, 0x4004, 0x5000],
                                   waker_context='unknown'),
     'mariadbd (252) was blocked for 235 ms in jbd2_wait(), called by fdatasync()', []),
    ('offcpu_sched_switch', offcpu('pending', stall='-', runqueue=-1, stack=[], waker_pid=-1),
     'mariadbd (252) is blocked for 235 ms', []),
    ('offcpu_sched_switch', offcpu(state='preempted', stall='-', waker_pid=-1, waker_context='unknown'),
     'mariadbd (252) was preempted for 235 ms', []),
    ('offcpu_sched_switch', offcpu(stall='-', runqueue=0, waker_pid=-1, waker_context='hardirq', waker_irq=32),
     'mariadbd (252) was blocked for 235 ms in jbd2_wait()', ['woken by interrupt 32']),
    ('wakeup_latency', wakeup(),
     'jbd2/sda-8 (120) waited 43.0 ms for CPU 1, which mariadbd (286) had for 42.5 ms',
     ['woken by mariadbd (252)']),
    ('wakeup_latency', wakeup(cause='throttled', reason='preempted', waker_pid=-1),
     'jbd2/sda-8 (120) waited 43.0 ms for CPU 1: its cgroup was throttled (cpu.max) for 42.5 ms',
     ['it had been preempted']),
    ('wakeup_latency', wakeup(cause='unknown', holder_ran=10_300_000, cause_ran=32_000_000),
     'jbd2/sda-8 (120) waited 43.0 ms for CPU 1, held up for an unknown reason',
     ['mariadbd (286) had it for 10.3 ms of that', 'woken by mariadbd (252)']),
    ('wakeup_latency', wakeup(cause='unknown', prev_pid=0, holder_pid=-1, holder_comm='-', holder_ran=0),
     'jbd2/sda-8 (120) waited 43.0 ms for CPU 1, held up for an unknown reason',
     ['the CPU was idle when it got it', 'woken by mariadbd (252)']),
    ('wakeup_latency', wakeup('pending', cause='unknown', holder_pid=-1, holder_comm='-', holder_ran=0),
     'jbd2/sda-8 (120) has been waiting 43.0 ms for CPU 1, held up for an unknown reason',
     ['woken by mariadbd (252)']),
    ('block_latency', block(), 'write (FUA, sync) of 4 KiB on sda took 43.2 ms in the device',
     ['by kworker/1:1H (87), sector 8000']),
    ('block_latency', block(stage='bio', cause='throttled', throttled=40_000_000, device=3_000_000, rwbs='R'),
     'read of 4 KiB on sda took 43.2 ms mostly throttled by a limit of its cgroup',
     ['by kworker/1:1H (87), sector 8000',
      'of that 40.0 ms throttled by a limit of its cgroup, 3.00 ms in the device']),
    ('block_latency', block('pending', stage='request', requeues=2, rwbs='FF', nr_bytes=0),
     'flush on sda has taken 43.2 ms with 2 retries', ['by kworker/1:1H (87)']),
    ('block_latency', block(error=-5), 'write (FUA, sync) of 4 KiB on sda took 43.2 ms in the device',
     ['by kworker/1:1H (87), sector 8000', 'it failed: Input/output error']),
    ('irq_latency', irq(), 'handler jbd2_wait() of interrupt eth0, line 32 ran 1.40 ms on CPU 1',
     ['it interrupted sh (9)']),
    ('softirq_latency', softirq('raise'), 'soft interrupt TASKLET waited 360 ms on CPU 1 before it ran',
     ['in sh (9)']),
    ('softirq_latency', softirq('run', 'pending'),
     'soft interrupt TASKLET has been running 360 ms on CPU 1', ['in sh (9)']),
    ('network_latency', network(),
     'TCP packet of 540 bytes from eth0 waited 69.6 ms until nginx (247) read it', []),
    ('network_latency', network(end='dropped', reason='NO_SOCKET', l4=17),
     'UDP packet of 540 bytes from eth0 was dropped after 69.6 ms: NO_SOCKET', []),
    ('network_latency', network(stage='send', end='sent', qdisc='netem'),
     'TCP packet of 540 bytes to eth0 was 69.6 ms in the queue (netem)', []),
    ('other_latency', (*common(1000, 'ended', 'sh', 9), *typed(what='x')),
     'other_latency took 1.00 µs: comm=sh, pid=9, what=x', []),
]


@pytest.mark.parametrize('event, fields, text, details', GOLDEN)
def test_in_words(event: str, fields: Fields, text: str, details: list[str]) -> None:
    report = parse('any', record(1, event, fields), SYMBOLS)
    assert report
    told = words(report)
    assert (told.text, told.details) == (text, details)


def test_symbols() -> None:
    assert [SYMBOLS.name(address) for address in (0x1000, 0x1fff, 0x2003, 0x3fff, 0xfff)] == [
        'io_schedule+0x0', 'io_schedule+0xfff', 'jbd2_wait+0x3 [jbd2]', 'data+0xfff', '?']
    assert Symbols(lambda: ['0000000000000000 T hidden']).name(0x1000) == '?'
    with_data = Symbols(lambda: ['0000000000001000 T io_schedule', '0000000000002000 d a_lock\t[jbd2]'])
    assert [with_data.name(address) for address in (0x2000, 0x101fff, 0x102000)] == [
        'a_lock+0x0 [jbd2]', 'a_lock+0xfffff [jbd2]', '?']
    # Where no variable is told of, a lock is not called by the function that happens to be before it.
    assert [with_data.of_field('lock', address) for address in (0, 0x2000)] == ['-', 'a_lock+0x0 [jbd2]']
    assert [SYMBOLS.of_field(field, 0x2000) for field in ('lock', 'location')] == ['?', 'jbd2_wait+0x0 [jbd2]']


@pytest.mark.parametrize('rwbs, text', [('R', 'read'), ('WS', 'write (sync)'), ('FWS', 'flush, write (sync)'),
                                        ('FF', 'flush'), ('F', 'flush'), ('N', 'command'), ('D', 'discard')])
def test_operations(rwbs: str, text: str) -> None:
    assert operation(rwbs) == text


def test_results() -> None:
    assert [result(n) for n in (0, 66, -2, -512)] == ['0', '66', 'No such file or directory',
                                                     'interrupted by a signal']


def test_garbled_records_are_errors_or_reports() -> None:
    chance = random.Random(3)
    good = record(1, 'offcpu_sched_switch', offcpu())
    for _ in range(3000):
        data = bytearray(good)
        for _ in range(chance.randrange(1, 40)):
            data[chance.randrange(12, 1200)] = chance.randrange(256)
        try:
            report = parse('offcpu', bytes(data), SYMBOLS)
        except Error:
            continue
        if report:
            words(report)


def test_last_is_in_the_order_of_time(shell: Shell) -> None:
    shell.machine.tracker('syscalls')
    shell.machine.tracker('block')
    shell.machine.last('syscalls', record(9, 'syscall_latency', syscall(), at_ns=NOW_NS - 10**9),
                       record(8, 'syscall_latency', syscall(call='fsync'), at_ns=NOW_NS - 3 * 10**9))
    shell.machine.last('block', record(1, 'block_latency', block(), at_ns=NOW_NS - 2 * 10**9))
    told = shell('last')
    assert told.status == 0
    assert [line[:23] for line in told.out.splitlines() if line[:1] == '1'] == [
        '11:59:57.000  syscalls ', '11:59:58.000  block    ', '11:59:59.000  syscalls ']
    assert 'fsync()' in told.out.splitlines()[0]
    objects = shell('last', '-n', '1', '--json').objects
    assert len(objects) == 1 and objects[0]['delay_ns'] == 236_000_000
    assert objects[0]['time'] == '2026-11-27T11:59:59.000000+00:00'


def test_filters(shell: Shell) -> None:
    shell.machine.tracker('syscalls')
    shell.machine.last('syscalls', record(1, 'syscall_latency', syscall(5_000_000, 'a')),
                       record(2, 'syscall_latency', syscall(50_000_000, 'ab', pid=7)))
    for words_, names in ((('--over', '6ms'), ['ab']), (('--comm', 'a*'), ['a', 'ab']), (('--comm', 'a'), ['a']),
                          (('--pid', '7'), ['ab']), (('--over', '50ms'), ['ab']), (('--over', '51ms'), [])):
        found = shell('last', '--json', *words_).objects
        assert [of['fields']['comm'] for of in found] == names  # type: ignore[index]


def test_control_groups_have_their_paths(shell: Shell) -> None:
    shell.machine.tracker('syscalls')
    shell.machine.put('/sys/fs/cgroup/cgroup.controllers', '')
    shell.machine.put('/sys/fs/cgroup/system.slice/a.service/cgroup.procs', '')
    ident = shell.machine.path('/sys/fs/cgroup/system.slice/a.service').stat().st_ino
    shell.machine.last('syscalls', record(1, 'syscall_latency', syscall(cgroup_id=ident)),
                       record(2, 'syscall_latency', syscall(pid=7)),
                       record(3, 'syscall_latency', syscall(cgroup_id=ident + 10**9)),
                       record(4, 'syscall_latency', syscall(cgroup_id=0)))
    assert [of['cgroup'] for of in shell('last', '--json').objects] == ['/system.slice/a.service', '/', '?', '-']
    found = shell('last', '--cgroup', '/system.slice/*').out
    assert found.count('took') == 1 and 'in the control group /system.slice/a.service' in found


def test_a_name_cannot_write_to_the_terminal(shell: Shell) -> None:
    shell.machine.tracker('syscalls')
    shell.machine.last('syscalls', record(1, 'syscall_latency', syscall(comm=b'\x1b[31m\xff\n')))
    assert '\x1b' not in shell('last').out and '\\x1b[31m\\xff\\x0a' in shell('last').out
    fields = shell('last', '--json').objects[0]['fields']
    assert fields['comm'] == '\x1b[31m\\xff\n'  # type: ignore[index]


def test_worst_takes_the_window(shell: Shell) -> None:
    shell.machine.tracker('syscalls')
    shell.machine.put('/sys/kernel/latency_tracker/syscalls/profile/worst', b''.join(
        record(20 - rank, 'syscall_latency', syscall(10**9 - rank, pid=window + 1), window, rank)
        if rank < 3 else record(0, '', (), window, rank) for window in range(4) for rank in range(16)))
    found = shell('worst', '--window', '5m', '-n', '2', '--json').objects
    assert [(of['window'], of['rank'], of['delay_ns'], of['fields']['pid']) for of in found] == [  # type: ignore
        ('5m', 0, 10**9, 2), ('5m', 1, 10**9 - 1, 2)]


def test_an_operation_that_was_pending_counts_once() -> None:
    summary = Summary()
    for flag, delay in (((1, 'pending'), 100), ((0, 'ended'), 300)):
        report = parse('syscalls', record(1, 'syscall_latency', (
            *syscall(delay, flag=flag)[:1], ('start', UNSIGNED, 5), *syscall(delay, flag=flag)[2:])), SYMBOLS)
        assert report
        summary.add(report, words(report, ['pipe_read+0x3/0x10'] if flag[0] else ()))
        (key, found), = summary.sums.items()
        assert key == ('syscalls', 'mariadbd', 'fdatasync() in pipe_read()') and found.idle
        assert (found.count, found.total_ns, found.worst_ns, found.pending) == (1, delay, delay, flag[0])
