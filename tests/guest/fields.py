#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares each field of a tracker's reports in a trace with the kernel's own events at the
begin and at the end of the operation.

Usage: fields.py KIND TRACE THRESHOLD_MS
       fields.py stack TRACE REPORT FIELD KERNEL

KIND is wakeup, offcpu or syscalls, of a trace with sched_switch, sched_process_exec, sched_waking and
sched_wakeup_new or raw_syscalls, and the option record-tgid; waits: what wakeup reports as
pending; device, queue, request or bio: the stages of block, of which each must have been
reported; packets. Prints
    compared=N wrong=N alone=N ...
where wrong are reports with a field that differs, which is said on lines with "# ", and
alone are reports without such an event near.

"stack" takes the first line that matches REPORT, and the stack that the kernel recorded (option
stacktrace) with it, if KERNEL is "own", or with the event that matches KERNEL at the begin of
what was late. Prints both, innermost first, and
    same=FRAMES or differ
"""
import bisect
import re
import sys
from collections import Counter, defaultdict

import ftrace
import requests
from observers import CALLS_PREEMPTIBLE, STATE_UNSURE

# The tracker looks at the clock shortly before the kernel's event does, us: its probes were
# registered first. The machine may pause in between, but no other event of the task comes there.
NEAR = 1000
PAUSE = 1000000
# A holder that had the CPU for about as long as another one is as good.
SLACK = 1000
# An R may be a call of sched_yield() or not. The kernel's event has the state that a task has set
# itself, even if it could go on, since a signal or a wake-up had come: then nothing wakes it.
STATES = {'R+': {'preempted'}, 'R': {'preempted', 'yielded'}, 'S': {'sleeping', 'preempted'},
          'D': {'blocked', 'preempted'}, 'T': {'stopped'}, 't': {'traced'}}
RUNNABLE = 'preempted', 'yielded', 'runnable'
CONTEXTS = {'h': 'hardirq', 'H': 'hardirq', 's': 'softirq', 'z': 'nmi', 'Z': 'nmi', '.': 'task'}
# Where the stack of the kernel's has what only tells how it was recorded, up to and with the
# first function that fits, or up to it.
BEHIND = re.compile(r'__schedule$|asm_sysvec_|asm_common_interrupt$|el1h?(_64)?_irq$')
# The compiler adds .isra.0 and the like to the name of a function that it has changed.
FROM = re.compile(r'(try_to_wake_up|__do_softirq|handle_softirqs)(\.\w+)*$')
ENTRIES = re.compile(r'(netif_receive_skb(_list)?|netif_rx(_ni)?|napi_gro_(receive|frags))_entry$')


class Series(list):
    """Events in the order of their times."""

    def __init__(self):
        super().__init__()
        self.times = []

    def append(self, event):
        super().append(event)
        self.times.append(event.time)

    def first_from(self, time):
        return bisect.bisect_left(self.times, time)

    def behind(self, time):
        """The first one from a time on; None if there is none within a pause. The times of
        events are cut off at a microsecond."""
        first = self.first_from(int(time))
        found = first < len(self) and self.times[first] <= time + PAUSE
        return self[first] if found else None

    def within(self, begin, end):
        """Is there one in between, or in the same microsecond?"""
        return self.first_from(end + 1) > self.first_from(begin)


class Switch:
    def __init__(self, line):
        self.time, self.cpu = line.time, line.cpu
        self.__dict__.update(line.switch())


class Trace:
    """The kernel's events by what they are about, and the reports."""

    def __init__(self, path):
        self.reports = []
        self.away, self.to, self.cpus = (defaultdict(Series) for _ in range(3))
        self.wakes, self.enters, self.exits = (defaultdict(Series) for _ in range(3))
        self.comms, self.prios, self.tgids = defaultdict(set), defaultdict(set), {}
        self.begin = None
        # By CPU, which interrupt runs: the line, the vector of soft interrupts.
        self.irqs, self.softirqs = {}, {}
        for line in ftrace.read(path):
            self.begin = line.time if self.begin is None else self.begin
            self.add(line)

    def add(self, line):
        if line.tgid and line.tgid.isdigit():
            self.tgids[line.pid] = int(line.tgid)
        if line.event == 'sched_switch':
            self.switched(Switch(line))
        elif line.event == 'sched_process_exec':
            self.executed(line)
        elif line.event in ('sched_waking', 'sched_wakeup_new'):
            line.irq = self.irqs.get(line.cpu, '-1')
            line.softirq = self.softirqs.get(line.cpu, '-')
            self.wakes[int(line.fields()['pid'])].append(line)
        elif line.event in ('irq_handler_entry', 'irq_handler_exit'):
            self.irqs[line.cpu] = line.fields()['irq'] if line.event.endswith('entry') else '-1'
        elif line.event in ('softirq_entry', 'softirq_exit'):
            self.softirqs[line.cpu] = re.search(r'action=(\w+)', line.text)[1] \
                if line.event.endswith('entry') else '-'
        elif line.event == 'sys_enter':
            self.enters[line.pid].append(line)
        elif line.event == 'sys_exit':
            self.exits[line.pid].append(line)
        elif '_latency' in line.event or line.event.startswith('offcpu_'):
            self.reports.append(line)

    def switched(self, switch):
        self.away[switch.prev].append(switch)
        self.to[switch.next].append(switch)
        self.cpus[switch.cpu].append(switch)
        for pid, comm, prio in ((switch.prev, switch.prev_comm, switch.prev_prio),
                                (switch.next, switch.next_comm, switch.next_prio)):
            self.comms[pid].add(comm)
            self.prios[pid].add(prio)

    def executed(self, line):
        """A program that goes on to another one may not be switched away from in between."""
        path = re.search(r'filename=(.*) pid=', line.text)[1]
        self.comms[line.pid].add(path.rpartition('/')[2][:15])

    def ran(self, cpu, begin, end):
        """How long each task had the CPU between two times, and how many switches that are."""
        times, switches = Counter(), self.cpus[cpu]
        first = max(switches.first_from(begin) - 1, 0)
        for i in range(first, len(switches)):
            if switches[i].time >= end:
                return times, i - first
            until = switches[i + 1].time if i + 1 < len(switches) else end
            times[switches[i].next] += max(0, min(until, end) - max(switches[i].time, begin))
        return times, len(switches) - first


class Check:
    """One report, and what is wrong with it."""

    def __init__(self, trace, line, counts):
        self.trace, self.line, self.counts = trace, line, counts
        self.fields = ftrace.report(line.text)
        self.wrong = []
        self.delay_us = self.number('delay') / 1000
        self.begin = self.number('start') / 1000
        self.end = self.begin + self.delay_us

    def number(self, name):
        return int(self.fields[name])

    def expect(self, **fields):
        """The fields are as given: a value, or one of a set of them, unless that is empty."""
        for name, right in fields.items():
            right = {str(r) for r in (right if isinstance(right, set) else {right})}
            if right and self.fields[name] not in right:
                self.wrong.append(f'{name}={self.fields[name]}, not {" or ".join(sorted(right))}')

    def expect_tgid(self, name, pid):
        if pid in self.trace.tgids:
            self.expect(**{name: self.trace.tgids[pid]})
            self.counts['threads'] += self.trace.tgids[pid] != pid


# --- one report after the other: True if it was compared, None if there is no event near ----


def wakeup(check):
    if check.fields['flag'] != 'ended':
        return False
    trace, pid = check.trace, check.number('pid')
    switch = trace.to[pid].behind(check.end)
    since = (trace.wakes if check.fields.get('reason', 'woken') == 'woken' else trace.away)[pid]
    since = since.behind(check.begin)
    if not since or not switch:
        return None
    woken_or_left(check, since, switch)
    check.expect(comm=switch.next_comm, prio=switch.next_prio, cpu=switch.cpu,
                 prev_comm=switch.prev_comm, prev_pid=switch.prev, prev_prio=switch.prev_prio)
    check.expect_tgid('tgid', pid)
    check.expect_tgid('prev_tgid', switch.prev)
    holder(check, switch)
    return True


def woken_or_left(check, since, switch):
    """Who has woken it, or that it has lost its CPU."""
    if check.fields.get('reason', 'woken') == 'woken':
        check.expect(waker_pid=since.pid, waker_comm=check.trace.comms[since.pid])
        return
    check.counts['lost'] += 1
    check.expect(waker_pid=-1, waker_comm='-')
    check.expect(reason={'preempted', 'yielded'} if since.cpu == switch.cpu else 'migrated')
    if since.state[0] != 'R':
        check.wrong.append(f'it could not go on: {since.state}')


def waits(check):
    """A task that waits for a CPU has not left one since its begin, but for the moment of it, until
    it was found; it may have got one before it was reported."""
    if check.fields['flag'] != 'pending':
        return False
    away, came = check.trace.away[check.number('pid')], check.trace.to[check.number('pid')]
    begun = check.begin + 5 * NEAR
    since = away[away.first_from(begun):away.first_from(check.end)]
    if since:
        check.wrong.append(f'it was on a CPU until {since[-1].time} us')
    came, gone = came[:came.first_from(begun)], away[:away.first_from(begun)]
    if came and (not gone or came[-1].time > gone[-1].time):
        check.wrong.append(f'it has a CPU since {came[-1].time} us')
    return True


def holder(check, switch):
    """For how long others have had the CPU, if the tracker could know. The scheduler's clock and
    ours may be read with a pause of the machine between them: not each has to agree."""
    times, switches = check.trace.ran(switch.cpu, check.begin, switch.time)
    pid, ran = check.number('holder_pid'), check.number('holder_ran')
    check.expect(holder_comm=check.trace.comms[pid], holder_prio=check.trace.prios[pid])
    if switches > 25 or check.delay_us < 5 * SLACK or not ran or not times:
        return
    check.counts['holders'] += 1
    slack = SLACK + check.delay_us / 20
    if times[pid] < max(times.values()) - slack or abs(times[pid] - ran / 1000) > slack:
        check.counts['off'] += 1
        print(f'# off: holder_pid={pid} ran {ran} ns, not {times.most_common(2)} us')


def offcpu(check):
    if check.line.event == 'offcpu_sched_wakeup':
        return waker(check)
    if check.fields['flag'] != 'ended':
        return False
    trace, pid = check.trace, check.number('pid')
    away = trace.away[pid].behind(check.begin)
    back = trace.to[pid].behind(check.end)
    if not away or not back:
        return None
    if away.state.startswith('I'):
        check.wrong.append('it is idle')
    states = STATES.get(away.state, {'other'})
    if trace.wakes[pid].within(away.time, back.time):
        states = states - {'preempted'} or states
    if STATE_UNSURE and away.state[0] == 'R':
        states = states | {'unknown'}
        # It had set another one, and was woken on its way to sleep.
        if trace.wakes[pid].within(away.time - NEAR, away.time):
            states = states | {'sleeping', 'blocked'}
    check.counts[check.fields['state']] += 1
    check.expect(state=states, comm=back.next_comm, cpu=back.cpu)
    check.expect_tgid('tgid', pid)
    woken_by(check, away, back, states)
    return True


def woken_by(check, away, back, states):
    """The waker is that of the kernel's own event in between, and a task only if that did it. One that
    came on the way to sleep may be missing."""
    wakes, context = check.trace.wakes[check.number('pid')], check.fields['waker_context']
    wakes = wakes[wakes.first_from(away.time):wakes.first_from(back.time + 1)]
    if context == 'unknown':
        check.expect(waker_comm='-', waker_pid=-1, waker_irq=-1, waker_softirq='-')
        if check.fields['state'] in RUNNABLE:
            check.expect(runqueue=check.number('delay'))
        elif not any(wake.pid == 0 for wake in wakes):
            check.expect(runqueue=-1)
            check.counts['unseen'] += bool(wakes) and 'preempted' not in states
        elif check.number('runqueue') != -1:
            # By an idle CPU, which is in no interrupt and in no task's service.
            is_off(check, wakes, back)
        return
    # Linux 5.10 may lose an event that an interrupt brings while another one is written.
    check.counts['unseen'] += not wakes
    check.expect(waker_context={CONTEXTS[wake.context] for wake in wakes})
    if context == 'task':
        check.expect(waker_pid={wake.pid for wake in wakes},
                     waker_comm=set().union(*(check.trace.comms[wake.pid] for wake in wakes)))
    else:
        check.expect(waker_comm='-', waker_pid=-1)
    check.expect(waker_irq={wake.irq if context == 'hardirq' else '-1' for wake in wakes},
                 waker_softirq={wake.softirq if context == 'softirq' else '-' for wake in wakes})
    check.counts['lines'] += check.fields['waker_irq'] != '-1'
    check.counts['vectors'] += check.fields['waker_softirq'] != '-'
    check.counts[f'by_{context}'] += 1
    is_off(check, wakes, back)


def is_off(check, wakes, back):
    """The wait for a CPU lasts from the wake-up on."""
    if wakes and abs(back.time - wakes[0].time - check.number('runqueue') / 1000) > SLACK:
        check.counts['off'] += 1
        print(f'# off: woken {back.time - wakes[0].time} us ago: {check.line.text[:300]}')


def waker(check):
    trace, wakee = check.trace, check.number('wakee_pid')
    if not trace.wakes[wakee].behind(check.end) or not trace.away[wakee].behind(check.begin):
        return None
    check.counts['wakers'] += 1
    check.expect(flag='pending', waker_pid=check.line.pid,
                 waker_comm=trace.comms[check.line.pid], wakee_comm=trace.comms[wakee])
    return True


def syscalls(check):
    if check.line.event == 'syscall_latency' and check.fields['flag'] != 'ended':
        return False
    trace, pid = check.trace, check.number('pid')
    enter = trace.enters[pid].behind(check.begin)
    if not enter:
        return None
    check.expect(nr=re.match(r'NR (-?\d+)', enter.text)[1], comm=trace.comms[pid], compat=0)
    check.expect_tgid('tgid', pid)
    # Not from when it first left its CPU.
    at = trace.away[pid].first_from(enter.time)
    if at < len(trace.away[pid]) and trace.away[pid][at].time < check.end:
        check.counts['slept'] += 1
        check.counts['from_switch'] += (abs(trace.away[pid][at].time - check.begin) <
                                        abs(enter.time - check.begin))
    if check.line.event == 'syscall_latency_stack':
        check.counts['stacks'] += 1
        check.expect(flag='pending')
        return True if trace.to[pid].behind(check.end) else None
    return left(check, pid, enter)


def left(check, pid, enter):
    """A call ends with sys_exit or behind it, when its task has done all that is to do before user
    space, and so before the next call; exit and exit_group end when the task is gone."""
    trace = check.trace
    exits, after = trace.exits[pid], trace.enters[pid].first_from(enter.time + 1)
    leave = next(iter(exits[exits.first_from(enter.time):]), None)
    check.expect(pid=check.line.pid)
    if ftrace.FINAL.match(enter.text):
        last = trace.away[pid].behind(check.end)
        check.counts['final'] += 1
        check.expect(ret=0)
        if not last or last.state[0] not in 'XZ':
            check.wrong.append('the task is not gone')
        return True
    if not leave:
        return None
    ret = re.search(r'= (-?\d+)', leave.text)[1]
    check.expect(ret=ret)
    check.counts['positive'] += int(ret) > 0
    check.counts['behind'] += check.end > leave.time + 3 * NEAR
    away = trace.away[pid]
    between = away[away.first_from(check.end):away.first_from(leave.time)]
    # It may be preempted between the tracker's look at the end and that of the kernel.
    if CALLS_PREEMPTIBLE:
        between = [switch for switch in between if switch.state != 'R+']
    if check.end < leave.time - 3 * NEAR and between:
        check.wrong.append(f'it has not ended before {leave.time} us')
    elif after < len(trace.enters[pid]) and check.end > trace.enters[pid].times[after] + 3 * NEAR:
        check.wrong.append('the next call has begun')
    return True


def compare(kind, path, threshold_us, counts):
    trace = Trace(path)
    for line in trace.reports:
        check = Check(trace, line, counts)
        if check.begin < trace.begin:
            continue        # nobody has seen it begin
        done = kind(check)
        counts['alone'] += done is None
        if not done:
            continue
        counts['compared'] += 1
        if check.delay_us < threshold_us:
            check.wrong.append(f'a delay below {threshold_us} us')
        if check.wrong:
            counts['wrong'] += 1
            print(f'# wrong: {"; ".join(check.wrong)}: {line.text[:300]}')
    # A machine that pauses between two probes may bring one or the other closer.
    if counts['from_switch'] * 4 > counts['slept']:
        counts['wrong'] += 1
        print('# wrong: they begin when they leave the CPU')


# --- all at once ----------------------------------------------------------------------


def packets(path, counts):
    """Reports have the fields of an entry of their address, between their begin and end. Large
    are those of more than a frame."""
    entries, reports = defaultdict(list), []
    for line in ftrace.read(path):
        if ENTRIES.match(line.event):
            fields = line.fields()
            entries[fields['skbaddr'].removeprefix('0x')].append((line.time, fields))
        elif line.event == 'network_latency':
            reports.append(ftrace.report(line.text))
    for report in reports:
        start = int(report['start']) // 1000
        end = start + int(report['delay']) // 1000
        # An emulated CPU may pause between the tracker's look at its clock and the trace's.
        near = [fields for time, fields in entries[report['skbaddr']]
                if start - 3 * NEAR <= time <= end + 3 * NEAR]
        counts['compared'] += 1
        counts['large'] += int(report['len']) > 1500
        if not any(all(report[name] == fields[name] for name in ('dev', 'protocol', 'len'))
                   for fields in near):
            counts['wrong'] += 1
            print('# reported', report, 'the kernel:', near)


def stack(path, wanted, field, kernel):
    lines = list(ftrace.read(path))
    report = next((line for line in lines if re.search(wanted, f'{line.event}: {line.text}')), None)
    if report is None:
        print('no report\ndiffer')
        return
    fields = ftrace.report(report.text)
    # When the one that is late left its CPU.
    begin = int(fields['start']) // 1000
    found = [report] if kernel == 'own' else sorted(
        (line for line in lines if re.search(kernel, f'{line.event}: {line.text}')),
        key=lambda line: abs(line.time - begin))
    ours = [frame.split('+')[0] for frame in fields[field].split(' <- ')]
    theirs = found[0].stack if found else []
    for i, frame in enumerate(theirs):
        if BEHIND.match(frame) or FROM.match(frame):
            theirs = theirs[i + bool(BEHIND.match(frame)):]
            break
    theirs = theirs[:32]
    print('ours:   ', ' '.join(ours))
    print('kernels:', ' '.join(theirs))
    print(f'same={len(ours)}' if ours == theirs else 'differ')


def main():
    kinds = {kind.__name__: kind for kind in (wakeup, waits, offcpu, syscalls)}
    counts = Counter(compared=0, wrong=0, alone=0)
    if len(sys.argv) == 6 and sys.argv[1] == 'stack':
        stack(*sys.argv[2:])
        return
    if len(sys.argv) == 4 and sys.argv[1] in kinds:
        compare(kinds[sys.argv[1]], sys.argv[2], float(sys.argv[3]) * 1000, counts)
    elif len(sys.argv) == 4 and sys.argv[1] in requests.STAGES:
        requests.compare(sys.argv[1], sys.argv[2], counts)
    elif len(sys.argv) == 4 and sys.argv[1] == 'packets':
        packets(sys.argv[2], counts)
    else:
        sys.exit(__doc__)
    print(' '.join(f'{name}={number}' for name, number in counts.items()))


if __name__ == '__main__':
    main()
