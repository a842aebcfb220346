# SPDX-License-Identifier: GPL-2.0-only
"""watch --still: what is pending now, page by page."""
from __future__ import annotations

import pytest

from .conftest import Shell
from .fake import NOW_NS, Fields, mark, record, syscall
from .fake_paths import MS, segment
from .test_cmd_paths import page, run

PENDING = (1, 'pending')


def call(delay: int, pid: int, name: str = 'fdatasync') -> tuple[int, Fields]:
    """A system call that has not returned."""
    return NOW_NS - delay, syscall(delay, pid=pid, flag=PENDING, call=name)


@pytest.mark.parametrize('count', [0, 1, 31, 32, 33, 64, 150])
def test_all_are_shown_once_the_oldest_first(shell: Shell, count: int) -> None:
    shell.machine.tracker('syscalls')
    # Three each have begun in the same nanosecond.
    shell.machine.pending('syscalls', *(call(2 * 10**9 + n // 3, n + 1) for n in range(count)))
    told = shell('watch', '--still', '--json')
    reports = [entry for entry in told.objects if entry['type'] == 'report']
    fields = [entry['fields'] for entry in reports]
    assert sorted(field['pid'] for field in fields if isinstance(field, dict)) == [*range(1, count + 1)]
    begins = [entry['start_ns'] for entry in reports]
    assert begins == sorted(begins, key=str)
    assert told.objects[-1] == {'schema': 1, 'type': 'still', 'shown': count, 'idle': 0}
    assert told.status == (2 if count else 0)


def test_a_threshold_of_its_own_or_a_second(shell: Shell) -> None:
    for threshold_ns, options, shown in ((10**7, (), [1, 2]), (2**64 - 1, (), [1]), (10**7, ('--over', '10s'), []),
                                         (10**7, ('--over', '0s'), [1, 2, 3])):
        shell.machine.tracker('syscalls', threshold_now_ns=threshold_ns)
        shell.machine.pending('syscalls', call(10**9, 1), call(10**7, 2), call(10**6, 3))
        told = shell('watch', '--still', '--json', *options)
        fields = [entry['fields'] for entry in told.objects if entry['type'] == 'report']
        assert [field['pid'] for field in fields if isinstance(field, dict)] == shown


def test_what_waits_for_something_to_do_is_counted(shell: Shell) -> None:
    shell.machine.tracker('syscalls')
    shell.machine.pending('syscalls', *(call(5 * 10**9 + n, n + 10, 'poll') for n in range(40)), call(2 * 10**9, 1))
    told = shell('watch', '--still')
    assert 'fdatasync() of mariadbd (1) has not returned for 2.00 s' in told.out
    assert 'and 40 that wait for something to do, which --all shows' in told.out
    assert told.status == 2 and 'poll()' not in told.out
    assert shell('watch', '--still', '--all').out.count('poll() of') == 40
    shell.machine.pending('syscalls', call(5 * 10**9, 10, 'poll'))
    told = shell('watch', '--still')
    assert 'nothing is pending that long, but 1 that wait' in told.out and told.status == 0


def test_marks(shell: Shell) -> None:
    shell.machine.tracker('mark')
    shell.machine.put('/proc/kallsyms', '')
    shell.machine.pending('mark', *((NOW_NS - 3 * 10**9 + n, mark(3 * 10**9 - n, PENDING, id=n, outer='batch' if n else '-'))
                                    for n in range(40)))
    told = shell('watch', '--still')
    assert told.status == 2 and told.out.count('mark      request of server (252) has not ended for 3.00 s, of which it has run') == 40
    assert told.out.count(', within batch') == 39 and 'number 39' in told.out
    (of, *_) = shell('watch', '--still', '--json', '--max', '1').objects
    assert (of['tracker'], of['event'], of['who'], of['what'], of['idle']) == ('mark', 'mark_latency', 'server', 'request', False)


def test_with_what_they_are_made_of(shell: Shell) -> None:
    fsync = call(700 * MS, 1234)
    late = [segment(0, 0, -1, 0, 700, 'disk', op=17, total=700, begin=fsync[0], count=1, flag=1)]
    shell.machine.tracker('syscalls')
    shell.machine.pending('syscalls', fsync, call(600 * MS, 99))
    told = run(shell, [(0, page(*late))], 'watch', '--still', ends=False)
    assert told.status == 2 and not told.err
    lines = told.out.splitlines()
    at = next(n for n, line in enumerate(lines) if '(1234) has not returned' in line)
    assert any('100 %' in line and 'disk' in line for line in lines[at:at + 4]), told.out
    # The other one has none, which is waited for, but not for long.
    assert sum('100 %' in line for line in lines) == 1 and '(99) has not returned' in told.out


def test_without_a_trace_they_are_told_as_well(shell: Shell) -> None:
    shell.machine.tracker('syscalls')
    shell.machine.part()
    shell.machine.pending('syscalls', call(2 * 10**9, 1))
    told = shell('watch', '--still')
    assert told.status == 2 and '(1) has not returned' in told.out
    assert 'without what they are made of: no trace instance can be made' in told.out


def test_what_was_there_before_is_not_pending(shell: Shell) -> None:
    shell.machine.tracker('syscalls')
    shell.machine.last('syscalls', record(0, '', ()), record(1, 'syscall_latency', syscall(3 * 10**9, flag=PENDING)))
    shell.machine.put('/sys/kernel/latency_tracker/syscalls/report_pending', '1\n')
    shell.machine.pending('syscalls')
    assert shell('watch', '--still').out == 'nothing is pending that long\n'


def test_what_is_not_told_is_counted(shell: Shell) -> None:
    shell.machine.tracker('syscalls')
    doubtful = syscall(3 * 10**9, comm='doubtful', flag=PENDING)
    shell.machine.pending('syscalls', *((NOW_NS - 3 * 10**9 + n, doubtful) for n in range(5)), call(2 * 10**9, 1))
    told = shell('watch', '--still')
    assert 'mariadbd (1) has not' in told.out and '5 more could not be read, or are doubtful' in told.out


def test_it_says_what_it_cannot(shell: Shell) -> None:
    shell.machine.tracker('syscalls')
    shell.machine.put('/sys/kernel/latency_tracker/syscalls/profile/on', '0\n')
    assert 'set syscalls profile=on' in shell('watch', '--still').err
    assert '--still looks once' in shell('watch', '--still', '--for', '3s').err
    assert '--all is for --still' in shell('watch', '--all').err
