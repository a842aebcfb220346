# SPDX-License-Identifier: GPL-2.0-only
"""A report in words: who waited, for what, how long, and why. What is not known is said to be
unknown, or left out; nothing is guessed."""
from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from latency_tracker.records import Report
from latency_tracker.stacks import Stack, call_of, function, reason
from latency_tracker.units import human, size

OPERATIONS = {'R': 'read', 'W': 'write', 'D': 'discard', 'E': 'erase', 'F': 'flush', 'N': 'command'}
OPERATION_FLAGS = {'S': 'sync', 'M': 'meta', 'A': 'ahead', 'F': 'FUA'}
PROTOCOLS = {1: 'ICMP', 6: 'TCP', 17: 'UDP', 58: 'ICMPv6'}
# Calls that wait for something to do: being late is what they are for.
WAITING_CALLS = set(
    'poll ppoll select pselect6 epoll_wait epoll_pwait epoll_pwait2 futex pause '
    'nanosleep clock_nanosleep wait4 waitid rt_sigtimedwait rt_sigsuspend accept '
    'accept4 recvfrom recvmsg io_getevents io_uring_enter restart_syscall'.split())
# Functions in which a call or a task waits for the data of another task.
WAITING_FUNCTIONS = {'pipe_read', 'unix_stream_read_generic', 'unix_stream_data_wait',
                     'n_tty_read', 'sk_wait_data'}
# Of a bio: why it was slow.
BIO_CAUSES = {'throttled': 'throttled by a limit of its cgroup', 'getrq': 'waiting for a request',
              'queue': 'in the queue of the disk', 'device': 'in the device',
              'flush': 'waiting for a flush of the disk', 'lower': 'in a device below',
              'unknown': 'for a reason that is not known'}


@dataclass
class Words:
    """who and what name the kind of operation, for counting alike ones; text is a sentence; details
    are one line each."""
    who: str
    what: str
    text: str
    details: list[str] = field(default_factory=list)
    # It waits for something to do, as far as that is known: being late is what it is for.
    idle: bool = False


def operation(rwbs: str) -> str:
    """What blktrace's letters say. A leading F is a flush that comes first, which a pure flush has,
    too."""
    kinds, name = rwbs, ''
    if kinds[:1] == 'F' and kinds[1:2] in OPERATIONS:
        kinds, name = kinds[1:], '' if kinds[1] == 'F' else 'flush, '
    name += OPERATIONS.get(kinds[:1], kinds[:1])
    flags = [OPERATION_FLAGS.get(flag, flag) for flag in kinds[1:]]
    return ' '.join([name] + ([f'({", ".join(flags)})'] if flags else []))


def result(ret: int) -> str:
    """What a call has returned."""
    if -4096 < ret < 0:
        return os.strerror(-ret) if ret > -512 else 'interrupted by a signal'
    return str(ret)


def _task(report: Report, prefix: str = '') -> str:
    """"name (pid)"."""
    pid = report.number(f'{prefix}pid')
    return f'{report.text(f"{prefix}comm")} ({pid})' if pid >= 0 else 'unknown'


def _call(report: Report) -> str:
    name = report.text('call')
    return (f'{name}()' if name != '-' else f'system call {report.number("nr")}') + \
        (' (32-bit)' if report.number('compat') == 1 else '')


def _syscall(report: Report) -> Words:
    call, delay = _call(report), human(report.delay_ns)
    if report.ended:
        text = f'{call} of {_task(report)} took {delay}, returned {result(report.number("ret"))}'
    else:
        text = f'{call} of {_task(report)} has not returned for {delay}'
    # It was blocked there, or preempted: the sample does not say which.
    there, details = report.stack('switched_stack'), []
    if there:
        details.append(f'switched out in {reason(there)}(), and on the CPU again {human(report.number("switched_until"))} '
                       'after its begin')
    return Words(report.text('comm'), call, text, details, idle=report.text('call') in WAITING_CALLS or
                 any(function(frame) in WAITING_FUNCTIONS for frame in there))


# Behind "was" or "is": the states of a task that is off the CPU.
STATES = {'preempted': 'preempted', 'yielded': 'off the CPU, which it had yielded,',
          'runnable': 'runnable, but off the CPU', 'throttled': 'throttled (cpu.max)',
          'stopped': 'stopped by a signal', 'traced': 'stopped by a debugger',
          'frozen': 'frozen', 'sleeping': 'asleep', 'blocked': 'blocked'}


def _waker(report: Report) -> str:
    if report.number('waker_pid') >= 0:
        return f'woken by {_task(report, "waker_")}'
    context = report.text('waker_context')
    if context == 'hardirq':
        irq = report.number('waker_irq')
        return f'woken by interrupt {irq}' if irq >= 0 else 'woken by an interrupt'
    if context == 'softirq':
        return f'woken by soft interrupt {report.text("waker_softirq")}'
    return 'woken by an NMI' if context == 'nmi' else ''


def _offcpu(report: Report) -> Words:
    state = report.text('state')
    inside = reason(report.stack('stack'))
    where = f' in {inside}()' if inside not in ('-', '?') and \
        state in ('sleeping', 'blocked', 'other', 'unknown') else ''
    call = call_of(report.stack('stack'))
    if where and call:
        where += f', called by {call}()'
    text = (f'{_task(report)} {"was" if report.ended else "is"} '
            f'{STATES.get(state, f"off the CPU (state {state})")} for {human(report.delay_ns)}{where}')
    details = []
    if report.ended and _waker(report):
        details.append(_waker(report))
    if report.text('stall') != '-':
        details.append(f'it waited for {report.text("stall")}, as the kernel accounts it')
    if report.number('runqueue') > 0 and state not in ('preempted', 'yielded', 'runnable'):
        details.append(f'{human(report.number("runqueue"))} of it waiting for a CPU, when it could run')
    return Words(report.text('comm'), f'{state}{where}', text, details,
                 idle=state == 'sleeping' or inside in WAITING_FUNCTIONS)


WAKEUP_CAUSES = {'throttled': 'its cgroup was throttled (cpu.max)',
                 'rt_throttled': 'real-time tasks had used up their share',
                 'dl_server': 'real-time tasks had used up their share',
                 'steal': 'the hypervisor had given the CPU to others'}


def _holder(report: Report) -> str:
    """What most of the wait was; empty if that is not known."""
    cause = report.text('cause')
    ran = human(report.number('cause_ran'))
    if cause in WAKEUP_CAUSES:
        return f'{WAKEUP_CAUSES[cause]} for {ran}'
    if cause == 'cpu' and report.number('holder_pid') > 0 and report.number('holder_ran') > 0:
        return f'which {_task(report, "holder_")} had for {human(report.number("holder_ran"))}'
    return ''


def _part(report: Report) -> str:
    """What is known of the CPU although it is not what most of the wait was."""
    if report.number('holder_pid') > 0 and report.number('holder_ran') > 0:
        return f'{_task(report, "holder_")} had it for {human(report.number("holder_ran"))} of that'
    return 'the CPU was idle when it got it' if report.ended and report.number('prev_pid') == 0 else ''


def _wakeup(report: Report) -> Words:
    holder, cpu = _holder(report), f'CPU {report.number("cpu")}'
    text = (f'{_task(report)} {"waited" if report.ended else "has been waiting"} '
            f'{human(report.delay_ns)} for {cpu}' +
            (f', {holder}' if holder.startswith('which') else
             f': {holder}' if holder else ', held up for an unknown reason'))
    details = [] if holder or not _part(report) else [_part(report)]
    if report.number('waker_pid') >= 0:
        details.append(f'woken by {_task(report, "waker_")}')
    elif report.text('reason') not in ('woken', '-'):
        details.append(f'it had been {report.text("reason")}')
    cause = report.text('cause')
    who = report.text('holder_comm') if cause == 'cpu' else cause
    return Words(report.text('comm'), f'waiting for a CPU, {who}', text, details)


def _block(report: Report) -> Words:
    disk, stage = report.text('disk'), report.text('stage')
    what = operation(report.text('rwbs'))
    name = disk if disk != '-' else report.text('dev')
    much = f' of {size(report.number("nr_bytes"))}' if report.number('nr_bytes') > 0 else ''
    cause = report.text('cause')
    where = {'queue': 'in the queue', 'device': 'in the device',
             'request': f'with {report.number("requeues")} retries',
             'bio': f'mostly {BIO_CAUSES.get(cause, cause)}'}.get(stage, stage)
    verb = 'took' if report.ended else 'has taken'
    text = f'{what}{much} on {name} {verb} {human(report.delay_ns)} {where}'
    details = [f'by {_task(report)}' +
               (f', sector {report.number("sector")}' if report.number('nr_bytes') > 0 else '')]
    parts = [f'{human(report.number(part))} {words}' for part, words in BIO_CAUSES.items()
             if report.number(part) > 0]
    if stage == 'bio' and parts:
        details.append('of that ' + ', '.join(parts))
    if report.number('error') not in (0, -1) or report.number('error') == -1 and report.ended:
        details.append(f'it failed: {os.strerror(abs(report.number("error")))}')
    return Words(name, f'{what}, {stage}' + (f' ({cause})' if stage == 'bio' else ''), text, details)


def _irq(report: Report) -> Words:
    line = f'{report.text("name")}, line {report.number("irq")}'
    text = (f'handler {report.text("handler").split("+")[0]}() of interrupt {line} '
            f'{"ran" if report.ended else "has been running"} {human(report.delay_ns)} '
            f'on CPU {report.number("cpu")}')
    return Words(report.text('name'), f'interrupt {report.number("irq")}, run', text,
                 [f'it interrupted {_task(report)}'])


def _softirq(report: Report) -> Words:
    name, cpu = report.text('vec'), report.number('cpu')
    if report.text('stage') == 'raise':
        verb = 'waited' if report.ended else 'has been waiting'
        text = f'soft interrupt {name} {verb} {human(report.delay_ns)} on CPU {cpu} before it ran'
    else:
        verb = 'ran' if report.ended else 'has been running'
        text = f'soft interrupt {name} {verb} {human(report.delay_ns)} on CPU {cpu}'
    details = [f'in {_task(report)}'] if report.number('pid') >= 0 else []
    return Words(name, f'soft interrupt, {report.text("stage")}', text, details)


def _network(report: Report) -> Words:
    protocol = PROTOCOLS.get(report.number('l4'), f'protocol {report.number("l4")}')
    dev, end, delay = report.text('dev'), report.text('end'), human(report.delay_ns)
    packet = f'{protocol} packet of {report.number("len")} bytes'
    if report.text('stage') == 'send':
        way, verb = f'to {dev}', f'was {delay} in the queue ({report.text("qdisc")})'
    else:
        way = f'from {dev}'
        verb = {'socket': f'waited {delay} until {_task(report)} read it',
                'dropped': f'was dropped after {delay}: {report.text("reason")}',
                'consumed': f'took {delay} until the kernel was done with it'}.get(end, f'took {delay}')
    if not report.ended:
        verb = f'has been on its way for {delay}'
    details = [f'dropped in {report.text("location")}'] if end == 'dropped' and \
        report.text('location') not in ('-', '?') else []
    who = report.text('comm') if end == 'socket' else dev
    return Words(who, f'{protocol} {way}, {end if end != "-" else "pending"}',
                 f'{packet} {way} {verb}', details)


# Behind "a": the kinds of locks, see Documentation/ABI/trace-events.
LOCKS = {'rwsem_read': 'semaphore to read', 'rwsem_write': 'semaphore to write', 'rt_mutex': 'rt_mutex',
         'rwbase_read': 'lock to read', 'rwbase_write': 'lock to write', 'percpu_read': 'per-CPU semaphore to read',
         'percpu_write': 'per-CPU semaphore to write', 'rwlock_read': 'rwlock to read', 'rwlock_write': 'rwlock to write',
         'futex': 'lock of user space', 'futex_pi': 'lock of user space with priority inheritance',
         'flock': 'lock on a file', 'posix': 'lock on a range of a file'}
HOLDERS = {'running': 'runs', 'runnable': 'waits for a CPU', 'blocked': 'is blocked', 'sleeping': 'is asleep'}


def _lock_of(report: Report) -> str:
    """Which lock."""
    if report.text('kind') == 'futex_other':
        return 'a condition of user space'
    text = f'a {LOCKS.get(report.text("kind"), report.text("kind"))}{_lock_name(report.text("lock"))}'
    if report.number('ino') > 0:
        dev = report.number('dev')
        text += f', inode {report.number("ino")} on {dev >> 20}:{dev & 0xfffff}'
    return text


def _lock_name(value: str) -> str:
    """" NAME", if the lock is a variable that has one."""
    name = value.partition('+')[0]
    return '' if name in ('', '-', '?') or name.startswith('0x') else f' {name}'


def _lock_holder(report: Report) -> str:
    """What the holder is doing at this moment; empty if that is not known."""
    if report.ended or report.number('holder_pid') < 0 or report.text('holder_state') not in HOLDERS:
        return ''
    inside = reason(report.stack('holder_stack'))
    where = f' in {inside}()' if inside not in ('-', '?') else ''
    waits = f', and waits itself for a lock{_lock_name(report.text("holder_lock"))}' \
        if report.text('holder_lock') not in ('0', '0x0', '-') else ''
    return f'{_task(report, "holder_")} {HOLDERS[report.text("holder_state")]}{where} on CPU {report.number("holder_cpu")}{waits}'


def _lock(report: Report) -> Words:
    lock = _lock_of(report)
    verb = 'waited' if report.ended else 'has been waiting'
    text = f'{_task(report)} {verb} {human(report.delay_ns)} for {lock}'
    if report.number('holder_pid') >= 0:
        text += f', which {_task(report, "holder_")} {"had when it came" if report.ended else "has"}'
        if report.text('held_by') == 'hint':
            text += ', as far as its memory tells'
    elif report.text('held_by') == 'readers':
        text += f', which readers {"had when it came" if report.ended else "have"}'
    details = list(filter(None, [_lock_holder(report)]))
    if report.number('waker_pid') >= 0:
        details.append(f'woken by {_task(report, "waker_")} {human(report.number("handover"))} before the end')
    if report.ended and report.number('ret'):
        details.append(f'it gave up: {result(report.number("ret"))}')
    who = report.text('holder_comm') if report.number('holder_pid') >= 0 else report.text('held_by')
    return Words(report.text('comm'), f'waiting for {lock}, {who}', text, details)


def _mark(report: Report) -> Words:
    mark = report.text('mark')
    text = f'{mark} of {_task(report)} {"took" if report.ended else "has not ended for"} {human(report.delay_ns)}'
    if report.number('cpu_time') >= 0:
        text += f', of which it {"ran" if report.ended else "has run"} {human(report.number("cpu_time"))}'
    if report.text('outer') != '-':
        text += f', within {report.text("outer").replace(">", " > ")}'
    # Programs that do not tell their operations apart have 0.
    details = [f'number {report.number("id")}'] if report.number('id') > 0 else []
    inside, call = reason(report.stack('stack')), call_of(report.stack('stack'))
    where = f' in {inside}()' if inside not in ('-', '?') else ''
    if where:
        details.append(f'now{where}' + (f', called by {call}()' if call else ''))
    return Words(report.text('comm'), f'{mark}{where}', text, details)


# Of an activation: the field of each stage, and what it is spent with.
CHAIN_STAGES = {'raise': 'until its timer was served', 'handling': 'until it was woken',
                'waiting': 'waiting for a CPU', 'returning': 'until it was back in user space', 'working': 'at work'}


def _chain_why(report: Report, stage: str) -> str:
    """What the time was spent with, as far as that is known; empty if it is not."""
    if stage == 'raise':
        inside = reason(report.stack('stack'))
        where = f' in {inside}()' if inside not in ('-', '?') else ''
        return f': the interrupt has found {_task(report, "interrupted_")}{where}'
    if stage == 'handling':
        return {'softirq': ', by a soft interrupt', 'thread': ', by the thread of its handler'}.get(report.text('via'), '')
    if stage == 'waiting' and report.number('prev_pid') >= 0:
        had = 'has it' if report.text('stage') == 'waiting' else 'had it last'
        who = 'nothing' if report.number('prev_pid') == 0 else _task(report, 'prev_')
        return f': {who} {had}'
    return ''


def _chain(report: Report) -> Words:
    irq = report.number('irq')
    times = {stage: report.number(stage) for stage in CHAIN_STAGES}
    longest = max(times, key=lambda stage: times[stage])
    how = 'is not done' if not report.ended else 'was done' if report.text('stage') == 'done' else (
        'was not done when it was to begin again,')
    text = (f'{_task(report)}, woken by {f"interrupt {irq}" if irq >= 0 else "a timer"}, {how} after {human(report.delay_ns)}, '
            f'mostly {CHAIN_STAGES[longest]}')
    details = [f'{human(ns)}, {100 * ns / max(report.delay_ns, 1):.0f} %, {CHAIN_STAGES[stage]}{_chain_why(report, stage)}'
               for stage, ns in times.items() if ns >= 0]
    if times['raise'] < 0:
        details.append('when the line was raised is not known')
    return Words(report.text('comm'), f'activation, {CHAIN_STAGES[longest]}', text, details)


def _other(report: Report) -> Words:
    values = ', '.join(f'{name}={report.text(name)}' for name in report.values
                       if name not in ('delay', 'start', 'flag') and not report.stack(name))
    verb = 'took' if report.ended else 'has taken'
    return Words(report.text('comm'), report.event,
                 f'{report.event} {verb} {human(report.delay_ns)}: {values}')


KINDS: dict[str, Callable[[Report], Words]] = {
    'wakeup_latency': _wakeup,
    'offcpu_sched_switch': _offcpu,
    'syscall_latency': _syscall,
    'block_latency': _block,
    'irq_latency': _irq,
    'softirq_latency': _softirq,
    'network_latency': _network,
    'lock_latency': _lock,
    'mark_latency': _mark,
    'chain_latency': _chain,
}
# Whose stack the field is, for a title.
STACKS = {'stack': 'stack', 'prev_stack': 'stack of {prev_comm} ({prev_pid})',
          'waker_stack': 'stack of its waker', 'holder_stack': 'stack of {holder_comm} ({holder_pid})',
          'switched_stack': 'stack where it was switched out'}


def words(report: Report, inside: Stack = ()) -> Words:
    """Of any event, also of one that is not known here. inside: the stack of its task at this moment,
    if the operation is a system call that has not returned, and the task is blocked."""
    found = KINDS.get(report.event, _other)(report)
    name = reason(inside)
    if name not in ('-', '?'):
        found.what += f' in {name}()'
        found.details.append(f'now its task is blocked in {name}()')
        found.idle = found.idle or bool(WAITING_FUNCTIONS & {function(frame) for frame in inside})
    if report.flag == 'collected':
        found.text += '; its end has not been seen, and it is not tracked any longer'
    return found


def stacks(report: Report) -> list[tuple[str, list[str]]]:
    """Titles, and stacks."""
    return [(STACKS.get(name, name).format_map({key: report.text(key) for key in report.values}),
             value) for name, value in report.values.items() if isinstance(value, list) and value]
