#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The judges on traces whose truth is known. What is right must be found right; with one value of
it changed, it must not. Prints TAP.

Usage: known.py
"""
import contextlib
import io
import re
import sys
import tempfile

import fields
import observe
import observers
import tools
import waits
from critical_path import timeline

BEGIN = 100 * 10**9         # ns
TGIDS = {'task-7': 5, 'hog-9': 4}


def line(ms, text, task='task-7', cpu=1):
    seconds, us = divmod(round(ms * 1000), 10**6)
    return (f'  {task} ({TGIDS.get(task, 1):7}) [{cpu:03}] d..1. '
            f'{100 + seconds}.{us:06}: {text}\n')


def switch(ms, prev, after, cpu=1):
    """A task is NAME-PID/PRIORITY/STATE."""
    (prev, prio, state), (after, next_prio, _) = prev.split('/'), after.split('/')
    (name, pid), (next_name, next_pid) = prev.rsplit('-', 1), after.rsplit('-', 1)
    return line(ms, f'sched_switch: prev_comm={name} prev_pid={pid} prev_prio={prio} '
                f'prev_state={state} ==> next_comm={next_name} next_pid={next_pid} '
                f'next_prio={next_prio}', f'{name}-{pid}', cpu)


def put(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def times(begin, end, flag='ended'):
    return f'delay={round((end - begin) * 10**6)}, flag={flag}, start={BEGIN + round(begin * 10**6)}'


# --- the observer ---------------------------------------------------------------------

OTHER = 'other-8/120/R'
WORDS = {
    # By an interrupt.
    'raise': lambda at: line(at, 'softirq_raise: vec=1 [action=TIMER]').replace('..1.', '.h1.'),
    'run': lambda at: (line(at, 'softirq_entry: vec=1 [action=TIMER]') +
                       line(at, 'softirq_exit: vec=1 [action=TIMER]')),
    'entry': lambda at: line(at, 'softirq_entry: vec=1 [action=TIMER]').replace('..1.', '.s1.'),
    'exit': lambda at: line(at, 'softirq_exit: vec=1 [action=TIMER]').replace('..1.', '.s1.'),
    # In the midst of a soft interrupt.
    'irq': lambda begin, end: (
        line(begin, 'irq_handler_entry: irq=3 name=lt').replace('..1.', '.H1.') +
        line(end, 'irq_handler_exit: irq=3 ret=handled').replace('..1.', '.H1.')),
    'reported': lambda begin, end: line(
        end, 'softirq_latency: vec=1, name=TIMER, stage=raise, cpu=1, comm=task, pid=7, tgid=7, ' +
        times(begin, end)),
    'wakes': lambda at: line(at, 'sched_waking: comm=task pid=7 prio=120 target_cpu=001'),
    # The tracker of off-CPU times says that it comes, or that it is still away.
    'coming': lambda at: line(at, 'offcpu_sched_switch: comm=task, pid=7, tgid=7, cpu=1, ' +
                              times(at - 200, at) + ', state=sleeping'),
    'gone': lambda at: line(at, 'offcpu_sched_switch: comm=task, pid=7, tgid=7, cpu=1, ' +
                            times(at - 200, at, 'pending') + ', state=sleeping'),
    'comes': lambda at: switch(at, OTHER, 'task-7/120/S'),
    'another': lambda at: switch(at, OTHER, 'third-9/120/S'),
    'enters': lambda at: line(at, 'sys_enter: NR 230 (0, 0, 0, 0, 0, 0)'),
    'returns': lambda at: line(at, 'sys_exit: NR 230 = 0'),
    'dies': lambda at: switch(at, 'task-7/120/X', OTHER),
    'loses': lambda begin, end: (switch(begin, 'task-7/120/R+', OTHER) +
                                 switch(end, OTHER, 'task-7/120/R')),
    'yields': lambda begin, end: (switch(begin, 'task-7/120/R', OTHER) +
                                  switch(end, OTHER, 'task-7/120/R')),
    'called': lambda begin, end: line(
        end, 'syscall_latency: comm=task, pid=7, tgid=7, nr=230, ret=0, ' + times(begin, end)),
    # Another call.
    'asks': lambda at: line(at, 'sys_enter: NR 9 (0, 0, 0, 0, 0, 0)'),
    'answered': lambda begin, end: line(
        end, 'syscall_latency: comm=task, pid=7, tgid=7, nr=9, ret=0, ' + times(begin, end)),
}
# From 6.13 on a task may lose its CPU between the tracker's look at its call and ftrace's.
MAY = int(observers.CALLS_PREEMPTIBLE)
# What happens, in ms; how many are missed and invented; KIND [THRESHOLD MARGIN], 30 and 10 ms.
OBSERVED = (
    ('raised 100 ms before it ran, and reported', 'raise@100 run@200 reported@100-200', 0, 0),
    ('the same without a report', 'raise@100 run@200', 1, 0),
    ('raised 10 ms before it ran, 90 ms reported', 'raise@100 run@110 reported@20-110', 0, 1),
    ('the same, where the CPU paused before the raise',
     'raise@100 run@110 reported@20-110 pause@20-100', 0, 0),
    ('the same, for a part of the time', 'raise@100 run@110 reported@20-110 pause@21-100', 0, 1),
    ('a pause of the CPU behind what was late',
     'raise@100 run@200 pause@200-300 reported@100-300', 0, 0),
    ('late, reported for 10 ms less', 'raise@100 run@200 reported@100-190', 1, 1),
    # While a run begins, an interrupt raises its vector again. For the tracker the run has begun,
    # and what is raised is for the next one; for ftrace it comes a moment later.
    ('raised while a run begins, served by the next',
     'raise@100 raise@110 run@110 run@200 reported@110-200', 0, 0),
    ('raised while a run begins, and once more behind it',
     'raise@100 raise@110 run@110 raise@190 run@200 reported@110-200', 0, 0),
    # The tracker's own report lies in between, and takes its time.
    ('raised twice while a run begins',
     'raise@100 raise@105 raise@112 run@113 raise@190 run@200 reported@105-200', 0, 0),
    ('the same, but reported as of a time at which nothing was raised',
     'raise@100 raise@110 run@110 raise@190 run@200 reported@60-200', 0, 1),
    ('raised while a run begins, and 50 ms before the next, without a report',
     'raise@100 raise@110 run@110 raise@150 run@200', 1, 0),
    ('raised while a run begins, but reported as of the first raise, which was served',
     'raise@100 raise@110 run@110 run@200 reported@100-200', 0, 1),
    ('the same, raised again 2 ms behind the first',
     'raise@100 raise@102 run@110 raise@190 run@200 reported@100-200', 0, 1),
    # All three probes of the tracker were some milliseconds before ftrace's, and the report of
    # the second run is closer to the first one than its own.
    ('raised while a run begins, served at once',
     'raise@103 raise@109 run@110 reported@100-108 run@112 reported@109-111 pause@100-112', 0, 0,
     'softirq', 0, 0),
    ('the same, and it is a while until the next probe of ftrace',
     'raise@100 raise@110 run@110 reported@100-110 run@140 reported@110-115 pause@115-140', 0, 0,
     'softirq', 0, 0),
    ('the same, though the CPU did something meanwhile',
     'raise@100 raise@110 run@110 reported@100-110 run@140 reported@110-115 pause@116-140', 0, 1,
     'softirq', 0, 0),
    ('raised while a run begins, and again, served by the next',
     'raise@100 raise@110 run@110 reported@100-110 raise@190 run@200 reported@110-200', 0, 0,
     'softirq', 0, 0),
    ('the same, reported as of a time in between',
     'raise@100 raise@110 run@110 reported@100-110 raise@190 run@200 reported@150-200', 1, 1,
     'softirq', 0, 0),
    ('raised while a run begins, served at once, but raised only once',
     'raise@103 run@110 reported@100-108 run@112 reported@109-111 pause@100-112', 0, 1,
     'softirq', 0, 0),
    # An interrupt comes between the tracker's look and ftrace's.
    ('interrupted where its run ends, after 10 ms', 'entry@100 irq@110-199.9 exit@200 pause@90-200',
     0, 0),
    ('interrupted in the midst of its run', 'entry@100 irq@110-190 exit@200 pause@90-200', 1, 0),
    ('interrupted where its run begins, after 10 ms',
     'raise@100 irq@110-199.9 entry@200 exit@201 pause@90-201', 0, 0),
    ('the same, but something else ran in between',
     'raise@100 irq@110-199.8 exit@199.9 entry@200 exit@201 pause@90-201', 1, 0),
    # The CPU pauses in the middle of the switch that ends a wake-up of 10 ms.
    ('comes after 10 ms, as another tracker says, but the switch takes 90 more',
     'wakes@100 coming@110 comes@200', 0, 0, 'wakeup'),
    ('the same, but another task comes then', 'wakes@100 coming@110 another@120 comes@200', 1, 0,
     'wakeup'),
    ('the same, that it is still away', 'wakes@100 gone@110 comes@200', 1, 0, 'wakeup'),
    # At its end by the tracker's clock it took 10 ms, and is in time.
    ('preempted where a call ends, after 10 ms', 'enters@100 loses@110-200 returns@200', 1 - MAY, 0,
     'syscalls'),
    ('the same, twice', 'enters@100 loses@110-150 loses@150-200 returns@200', 1 - MAY, 0,
     'syscalls'),
    ('preempted after 10 ms, and has run for 1 ms since', 'enters@100 loses@110-199 returns@200',
     1, 0, 'syscalls'),
    ('preempted where a call ends, after 60 ms', 'enters@100 loses@160-200 returns@200', 1, 0,
     'syscalls'),
    ('preempted where a call begins', 'loses@100-200 enters@200 returns@201 called@100-201', 0,
     1 - MAY, 'syscalls'),
    ('preempted in user mode, in front of it',
     'yields@100-200 enters@200 returns@201 called@100-201', 0, 1, 'syscalls'),
    # A task that loses its CPU behind sys_exit is not back in user space.
    ('preempted behind sys_exit', 'enters@100 returns@110 loses@110-200 called@100-200', 0, 0,
     'syscalls'),
    ('the same, and reported for longer',
     'enters@100 returns@110 loses@110-200 called@100-250', 0, 1, 'syscalls'),
    ('the same, but in its next call',
     'enters@100 returns@110 enters@111 loses@111-200 called@100-200', 0, 1, 'syscalls'),
    ('killed behind sys_exit', 'enters@100 returns@200 dies@201', 0, 0, 'syscalls'),
    ('killed later, in its next call', 'enters@100 returns@200 asks@201 dies@202', 1, 0, 'syscalls'),
    ('not killed', 'enters@100 returns@200', 1, 0, 'syscalls'),
    # The report of the next call is closer to both ends of the first one than its own.
    ('the CPU paused where a short call begins, in front of another one',
     'enters@100.9 returns@100.918 called@100.51-100.906 asks@100.921 returns@100.931 answered@100.921-100.925', 0, 0,
     'syscalls', 0, 0),
    ('the same, reported as the other call',
     'enters@100.9 returns@100.918 answered@100.51-100.906 asks@100.921 returns@100.931 answered@100.921-100.925', 1, 1,
     'syscalls', 0, 0),
)


def observed(path, what, missed, invented, kind='softirq', threshold=30, margin=10):
    lines = [line(0, 'tracing_mark_write: begin')]
    paused = []
    # The first run is there because the observer must have seen one, to know of any raise.
    for word in f'raise@1 run@2 {what}'.split():
        name, at = word.split('@')
        at = [*map(float, at.split('-'))]
        if name == 'pause':
            paused += range(*map(int, at))
        else:
            lines += WORDS[name](*at).splitlines(keepends=True)
    # Between all that the CPU records something else, unless it pauses.
    lines += [line(ms, 'else: ').replace('000: else', '500: else')
              for ms in range(300) if ms not in paused]
    lines.append(line(999, 'tracing_mark_write: end'))
    put(path, ''.join(sorted(lines, key=lambda text: text.split('1. ', 1)[1][:11])))
    observer = observers.KINDS[kind]()
    window = observe.read(observer, path)
    figures = observe.compare(observer, window, threshold * 1000, margin * 1000)
    return figures.endswith(f' missed={missed} invented={invented}'), figures


# --- each value of a report -----------------------------------------------------------

SLEPT = (switch(90, OTHER, 'waker-6/120/S', 0) + switch(100, 'task-7/120/S', 'hog-9/89/R') +
         line(200, 'sched_waking: comm=task pid=7 prio=120 target_cpu=001', 'waker-6', 0))
LOST = switch(90, OTHER, 'waker-6/120/S', 0) + switch(100, 'task-7/120/R', 'hog-9/89/R')
EXEC = line(150, 'sched_process_exec: filename=/usr/bin/chrt pid=6 old_pid=6', 'waker-6', 0)
CAME = switch(300, 'hog-9/89/R', 'task-7/120/R')
CALL = line(100, 'sys_enter: NR 230 (0, 0)')
RETURN = line(300, 'sys_exit: NR 230 = 3') + line(310, 'sys_enter: NR 0 (0, 0)')
ISSUE = line(100, 'block_rq_issue: 8,0 R 4096 () 8 + 8 [task]')
BIO = (line(70, 'block_bio_queue: 8,0 R 8 + 8 [task]') + line(130, 'block_getrq: 8,0 R 8 + 8 [task]') +
       line(200, 'block_rq_issue: 8,0 R 4096 () 8 + 8 [task]') +
       line(290, 'block_rq_complete: 8,0 R () 8 + 8 [0]'))
REQUEUE = line(200, 'block_rq_requeue: 8,0 R () 8 + 8 [0]')
REQUEST = 'dev=8,0, sector=8, nr_bytes=4096, rwbs=R, stage={}, error=0, comm=task, pid=7, '
# KIND: what the kernel has; the report, by TASK of its line; what is judged elsewhere.
REPORTS = (
    ('wakeup', SLEPT + CAME, 'wakeup_latency: comm=task, pid=7, tgid=5, prio=120, cpu=1, ' +
     times(200, 300) + ', waker_comm=waker, waker_pid=6, prev_comm=hog, prev_pid=9, prev_tgid=4, '
     'prev_prio=89, holder_comm=hog, holder_pid=9, holder_prio=89, holder_ran=100000000', 'hog-9',
     ''),
    ('wakeup', EXEC + SLEPT + CAME, 'wakeup_latency: comm=task, pid=7, tgid=5, prio=120, cpu=1, ' +
     times(200, 300) + ', waker_comm=chrt, waker_pid=6, prev_comm=hog, prev_pid=9, prev_tgid=4, '
     'prev_prio=89, holder_comm=hog, holder_pid=9, holder_prio=89, holder_ran=100000000', 'hog-9',
     ''),
    ('wakeup', LOST + CAME, 'wakeup_latency: comm=task, pid=7, tgid=5, prio=120, cpu=1, ' +
     times(100, 300) + ', waker_comm=-, waker_pid=-1, prev_comm=hog, prev_pid=9, prev_tgid=4, '
     'prev_prio=89, holder_comm=hog, holder_pid=9, holder_prio=89, holder_ran=200000000, '
     'reason=preempted', 'hog-9', ''),
    ('offcpu', SLEPT + CAME, 'offcpu_sched_switch: comm=task, pid=7, tgid=5, cpu=1, ' +
     times(100, 300) + ', state=sleeping, waker_comm=waker, waker_pid=6, waker_context=task, '
     'waker_irq=-1, waker_softirq=-, runqueue=100000000', 'hog-9', ''),
    ('offcpu', SLEPT + CAME, 'offcpu_sched_wakeup: waker_comm=waker (6), wakee_comm=task (7), '
     'wakee_offcpu_' + times(100, 200, 'pending'), 'waker-6', ''),
    ('syscalls', SLEPT + CALL + CAME + RETURN, 'syscall_latency: comm=task, pid=7, tgid=5, nr=230, '
     'compat=0, ret=3, ' + times(100, 300), 'task-7', ''),
    ('syscalls', SLEPT + CALL + CAME, 'syscall_latency_stack: comm=task, pid=7, tgid=5, nr=230, '
     'compat=0, ' + times(100, 300, 'pending'), 'hog-9', ''),
    ('device', ISSUE + line(300, 'block_rq_complete: 8,0 R () 8 + 8 [0]'), 'block_latency: ' +
     REQUEST.format('device') + times(100, 300) + ', end=completed, requeues=0', 'idle-0',
     'delay start'),
    ('request', ISSUE + REQUEUE + ISSUE + line(300, 'block_rq_complete: 8,0 R () 8 + 8 [0]'),
     'block_latency: ' + REQUEST.format('request') + times(100, 300) +
     ', end=completed, requeues=1', 'idle-0', 'delay start'),
    ('queue', ISSUE, 'block_latency: ' + REQUEST.format('queue') + times(90, 100) +
     ', end=issued, requeues=0', 'task-7', 'rwbs error comm pid delay start requeues'),
    ('bio', BIO, 'block_latency: ' + REQUEST.format('bio') + times(70, 300) + ', throttled=0, '
     'getrq=60000000, queue=70000000, device=90000000', 'idle-0', 'error delay throttled'),
    ('bio', BIO, 'block_latency: ' + REQUEST.format('bio') + times(10, 300) + ', throttled=60000000, '
     'getrq=60000000, queue=70000000, device=90000000', 'idle-0', 'error comm pid delay'),
    ('packets', line(100, 'netif_receive_skb_entry: dev=v0 skbaddr=000000001234 protocol=0x0800 '
                     'len=128'), 'network_latency: dev=v0, protocol=0x0800, l4=17, len=128, ' +
     times(100, 300) + ', skbaddr=000000001234', 'task-7', 'l4 delay flag'),
)
TOKEN = re.compile(r'(?<=[=(])(?!-)[^,()\s]+')


def figures_of(judge, *args):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        judge(*args)
    return out.getvalue().splitlines()[-1]


def is_right(path, kind, kernel, report, task):
    """Whether fields.py finds it right, as fields() of lib.sh asks for it."""
    put(path, kernel + line(300, report, task))
    sys.argv[1:] = kind, path, '1'
    figures = figures_of(fields.main).split()
    return {'compared=1', 'wrong=0', 'alone=0'} <= set(figures) and 'off=1' not in figures


def unnoticed(report, unjudged, right):
    """The names of the values of which each, when changed, is still right."""
    for token in TOKEN.finditer(report):
        before, after = report[:token.start()], report[token.start():]
        name = re.findall(r'(\w+)=', before)[-1]
        if name not in unjudged.split() and right(f'{before}1{after}'):
            yield name


def judged(report, unjudged, right):
    if not right(report):
        return False, 'it is not found right'
    missed = ' '.join(unnoticed(report, unjudged, right))
    return not missed, f'changed and not noticed: {missed or "none"}'


# --- stacks, waits, tools --------------------------------------------------------------

WAITS = 'wakeup_latency: pid=7, ' + times(200, 290, 'pending')
STACK = 'vfs_read+0x10/0x20 <- ksys_read+0x8/0x20'
STACKED = ('irq_latency: irq=3, name=lt, handler=lt_first [lt], cpu=1, ret=none, comm=task, pid=7, '
           'tgid=5, ' + times(100, 300) + f', stack={STACK}')
RECORD = ('delay = 200000000, start = 100100000000, irq = 3, name = "lt", handler = 0x1000, '
          'cpu = 1, ret = ( "none" : container = 0 ), comm = "task", pid = 7, tgid = 5, '
          'flag = ( "ended" : container = 0 ), _stack_length = 2, '
          'stack = [ [0] = 0x2010, [1] = 0x3008 ]')
SYMBOLS = '1000 t lt_first\n2000 t vfs_read\n3000 t ksys_read\n10000 t last\n'
FORMAT = ('field:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n'
          'field:int cpu;\toffset:8;\tsize:{};\tsigned:{};\n')
METADATA = ('event { name = "irq_latency"; fields := struct { '
            'integer { size = 32; align = 8; signed = 1; } _cpu; } }')


def is_own_stack(path, frames):
    put(path, line(300, STACKED) + line(300, '<stack trace>').replace('300000:', '300001:') +
        ''.join(f' => {frame}\n' for frame in frames.split()))
    return figures_of(fields.stack, path, 'irq_latency', 'stack', 'own') == 'same=2'


def is_text(path, tool):
    """As trace-cmd or perf might show it."""
    put(path, line(300, STACKED))
    put(f'{path}.tool', line(300, tool))
    return figures_of(
        tools.compare_text, path, f'{path}.tool', 'irq_latency') == 'events=1 of=1 differ=0 stacks=1 absent=0 unparsed=0'


def is_record(path, report):
    put(path, line(0, 'tracing_mark_write: begin') + line(300, report) +
        line(999, 'tracing_mark_write: end'))
    put(f'{path}.symbols', SYMBOLS)
    put(f'{path}.lttng', '[100300000500] (+0.1) host irq_latency: '
        f'{{ cpu_id = 1 }}, {{ {RECORD} }}\n')
    return figures_of(
        tools.compare_values, path, f'{path}.lttng', f'{path}.symbols') == 'records=1 events=1 differ=0 missing=0 invented=0 untimely=0'


# A task is kept from 100 to 300 ms: (reports, what is wanted, what is said of it).
DISK = ('block_latency: disk=sda, stage=device, pid=0, ' + times(110, 290), 'task-7')
HELD = ('block_latency: disk=sda, stage=bio, pid=0, cause=throttled, ' + times(110, 290), 'task-7')
OWN = (HELD[0].replace('pid=0, cause=throttled', 'pid=7, cause=getrq'), 'task-7')
STOPPED = ('offcpu_sched_switch: pid={}, state=stopped, waker_context=softirq, waker_comm=-, '
           'stall=-, ')
KEPT = (
    ((DISK,), 'disk:sda', 'covered=180000000 unknown=0 missing= other='),
    ((DISK,), 'disk:sdb', 'covered=180000000 unknown=0 missing=disk:sdb other=disk:sda'),
    ((HELD,), 'disk:sda', 'covered=180000000 unknown=0 missing= other=io:throttled'),
    ((HELD,), 'disk:sda io:getrq', 'covered=180000000 unknown=0 missing=io:getrq other=io:throttled'),
    # Bios of others, too.
    ((HELD, OWN), 'disk:sda io:getrq', 'covered=180000000 unknown=0 missing= other='),
    ((HELD, OWN), 'disk:sda', 'covered=180000000 unknown=0 missing= other=io:getrq'),
    ((DISK, (STOPPED.format(7) + times(105, 280), 'task-7')), 'disk:sda',
     'covered=185000000 unknown=0 missing= other=state:stopped'),
    ((DISK, (STOPPED.format(7) + times(105, 280), 'task-7')), 'disk:sda state:stopped? irq:lt?',
     'covered=185000000 unknown=0 missing= other='),
    # Of another task, of another time, not for long, not over.
    ((DISK, (STOPPED.format(8) + times(100, 300), 'other-8')), 'disk:sda',
     'covered=180000000 unknown=0 missing= other='),
    (((STOPPED.format(7) + times(300, 500), 'task-7'),), '', 'covered=0 unknown=0 missing= other='),
    ((DISK, (STOPPED.format(7) + times(290, 320), 'task-7')), 'disk:sda',
     'covered=190000000 unknown=0 missing= other='),
    (((STOPPED.format(7) + times(100, 300, 'pending'), 'task-7'),), '',
     'covered=0 unknown=0 missing= other='),
    (((STOPPED.format(7).replace('stopped', 'unknown') + times(100, 200), 'task-7'),), '',
     'covered=100000000 unknown=100000000 missing= other='),
)


def explains(path, reports, wanted):
    put(path, ''.join(line(500, text, task) for text, task in reports))
    seen = waits.judge(path, [f'pid=7 begin={BEGIN + 10**8} end={BEGIN + 3 * 10**8}'], wanted.split())
    return ' '.join(f'{name}={seen[name]}' for name in ('covered', 'unknown', 'missing', 'other'))


# --- critical paths -------------------------------------------------------------------

SCHEDULED = (switch(90, OTHER, 'task-7/120/S') + switch(100, 'task-7/120/S', 'hog-9/120/R') +
             line(300, 'sched_waking: comm=task pid=7 prio=120 target_cpu=001', 'hog-9') +
             switch(310, 'hog-9/120/R', 'task-7/120/S') + switch(330, 'task-7/120/S', OTHER))
# Of each segment what it explains, from when to when, whose time it is, and what it was.
SEGMENTS = ((-1, 100, 300, 'task-7', 'task'), (0, 100, 300, 'hog-9', 'running'), (-1, 300, 310, 'task-7', 'cpu'),
            (-1, 310, 320, 'task-7', 'running'))
# Numbers of segments, and what they are instead; and the judgement: segments agree wakers right.
PATHS = (
    ({}, '4 4 1 1'),
    ({0: (-1, 100, 300, 'task-7', 'timer')}, '4 4 1 0'), ({0: (-1, 100, 300, 'task-7', 'running')}, '3 2 0 0'),
    ({1: (0, 100, 300, 'other-8', 'running')}, '4 3 1 0'),
    ({1: (0, 100, 300, 'hog-9', 'unknown')}, '3 3 1 1'), ({1: (0, 100, 300, 'hog-9', 'task')}, '4 3 1 1'),
    ({1: (0, 100, 200, 'task-7', 'task'), 2: (0, 200, 300, 'hog-9', 'running')}, '4 4 1 1'),
    ({1: (0, 100, 200, 'hog-9', 'running'), 2: (0, 200, 300, 'task-7', 'task')}, '4 4 1 0'),
    ({0: (-1, 100, 290, 'task-7', 'task'), 2: (-1, 290, 310, 'task-7', 'cpu')}, '4 3 1 0'),
)


def told(number, parent, begin, end, task, cause):
    comm, pid = task.rsplit('-', 1)
    return line(500, f'critical_path: comm={comm}, pid={pid}, cause={cause}, op=1, tracker=syscalls, operation=read, '
                f'{times(begin, end)}, total={220 * 10**6}, hop={parent + 1}, segment={number}, parent={parent}, '
                f'segments={len(SEGMENTS)}, by_comm=-, by_pid=-1')


def path_agrees(path, instead):
    put(path, SCHEDULED + ''.join(told(i, *instead.get(i, of)) for i, of in enumerate(SEGMENTS)))
    with contextlib.redirect_stdout(io.StringIO()) as said:
        timeline.judge(path)
    counts = dict(word.split('=') for word in said.getvalue().splitlines()[-1].split())
    return ' '.join(counts[name] for name in ('segments', 'agree', 'wakers', 'right'))


def others(path):
    yield 'timeline.py', [path_agrees(path, instead) == said for instead, said in PATHS], [1] * len(PATHS)
    explained = [explains(path, reports, wanted) == said for reports, wanted, said in KEPT]
    yield 'waits.py', explained, [1] * len(KEPT)
    waiting = [is_right(path, 'waits', SLEPT + more, WAITS, 'hog-9')
             for more in ('', switch(250, 'task-7/120/S', OTHER),
                          switch(203, OTHER, 'task-7/120/S'))]
    yield 'a task that waits; it was away meanwhile; it had the CPU before', waiting, [1, 0, 0]
    stacks = [is_own_stack(path, frames) for frames in (
        'report asm_sysvec_irq_work vfs_read ksys_read', 'vfs_read ksys_read',
        'report asm_sysvec_irq_work vfs_read', 'ksys_read vfs_read')]
    yield 'a stack, and the one of the kernel', stacks, [1, 1, 0, 0]
    types = [tools.ctf_fields(METADATA) == tools.format_fields(FORMAT.format(*kind))
             for kind in ((4, 1), (8, 1), (4, 0))]
    yield 'types of a field in LTTng', types, [1, 0, 0]


def main(path):
    results = []
    for text, *case in OBSERVED:
        results.append((f'observe.py: {text}', *observed(path, *case)))
    for kind, kernel, report, task, unjudged in REPORTS:
        results.append((f'fields.py {kind}', *judged(
            report, unjudged, lambda text, known=(kind, kernel), task=task:
            is_right(path, *known, text, task))))
    results.append(('tools.py text', *judged(STACKED, '', lambda text: is_text(path, text))))
    results.append(('tools.py values', *judged(STACKED, '', lambda text: is_record(path, text))))
    for text, found, expected in others(path):
        results.append((text, found == expected, f'{found}'))
    print(f'1..{len(results)}')
    for text, good, found in results:
        print(f'{"" if good else "not "}ok - {text}: {found}')


with tempfile.TemporaryDirectory() as directory:
    main(f'{directory}/trace')
