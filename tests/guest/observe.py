#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The independent observer: works out from the kernel's own events in a trace which
operations were late, and compares them with what a tracker reported in the same trace.

Usage: observe.py KIND TRACE THRESHOLD_MS MARGIN_MS
       observe.py running TRACE - -    counts the wake-ups of running tasks

Only operations that lie wholly between the marks "begin" and "end" count. One whose
delay is within MARGIN of the threshold may be reported or not. Prints
    observed=N late=N reported=N missed=N invented=N
where missed are late ones without a report, and invented are reports without such an
operation, and says on lines with "# " which ones.
"""
import bisect
import os
import re
import sys
from collections import defaultdict
from itertools import product

LINE = re.compile(r'^ *(?P<task>.*)-(?P<pid>\d+) +\[(?P<cpu>\d+)\] +\S+ +'
                  r'(?P<sec>\d+)\.(?P<usec>\d{6}): (?P<event>\w+): (?P<text>.*)$')
SWITCH = re.compile(r'prev_pid=(\d+) .*prev_state=(\S+) ==> .*next_pid=(\d+) ')
BLOCK = re.compile(r'^(\d+),(\d+) (\S+) (?:\d+ )?\(.*?\) (\d+) \+ (\d+)')
# Tracker and observer take the same two times of an operation, one shortly after the
# other; but an emulated CPU may pause between the two, though hardly at both ends.
CLOSE = 20000
LOOSE = 2000000
# What only may explain a report must begin with it: others began shortly before.
EXACT = 300
# What the explanation of an operation shows before its begin and behind its end.
AROUND = 2000
RELEASE = tuple(map(int, os.uname().release.split('.')[:2]))
# Before 5.18 sched_switch reads the state of the task once more, and so do the trackers:
# when somebody wakes it in that moment, they need not agree.
STATE_UNSURE = RELEASE < (5, 18)
# Since 6.13 a task can be preempted between the tracker's look at a system call and ours.
CALLS_PREEMPTIBLE = RELEASE >= (6, 13)
FIELD = re.compile(r'(?:^|[ ,])(\w+)=([^,\s]*)')


class Line:
    """One event of the trace; times in microseconds."""

    def __init__(self, match):
        self.task = match['task']
        self.pid = int(match['pid'])
        self.cpu = int(match['cpu'])
        self.time = int(match['sec']) * 1000000 + int(match['usec'])
        self.event = match['event']
        self.text = match['text']

    def fields(self):
        return dict(FIELD.findall(self.text))


class Observer:
    """Operations as (key, begin, end), reports alike."""
    report = None

    def __init__(self):
        self.operations = []
        self.reports = []
        self.open = {}
        # Operations, as (key, begin), that may be reported or not.
        self.doubtful = set()
        # What may explain a report, as operations, but need not have one.
        self.perhaps = []
        # When operations, as (key, begin), may have ended for the tracker already.
        self.ended_by = {}

    def begin(self, key, time):
        self.open.setdefault(key, time)

    def end(self, key, time):
        begin = self.open.pop(key, None)
        if begin is not None:
            self.operations.append((key, begin, time))

    def reported(self, line):
        fields = line.fields()
        key = self.key(line, fields)
        if fields['flag'] == 'ended' and key is not None:
            begin = int(fields['start'])
            self.reports.append((key, begin // 1000, (begin + int(fields['delay'])) // 1000))

    def key(self, line, fields):
        return int(fields['pid'])

    def finish(self, time):
        """The trace ends at this time."""

    def unsure(self, key, begin):
        """Whether this operation may be reported or not."""
        return (key, begin) in self.doubtful

    def least(self, key, begin, end):
        """The shortest delay that this operation may have had for the tracker."""
        return self.ended_by.get((key, begin), end) - begin

    def concerns(self, key, line):
        """Whether this line of the trace may explain an operation of the key."""
        number = key[0] if isinstance(key, tuple) else key
        return re.search(rf'\b{number}\b', f'{line.task}-{line.pid} {line.text}')


class Syscalls(Observer):
    """A call that does not return has no end, though the next task of its pid may have one:
    a task that was cloned begins with the exit of that call.

    Who is preempted, and does no more than begin or end a call when he runs again, may have
    been so behind the tracker's probe and in front of ours.
    """
    report = 'syscall_latency'
    final = re.compile(r'NR (60|231) ')         # exit, exit_group

    def __init__(self):
        super().__init__()
        # Since when it has only run for moments, since when it runs, and when a call that
        # is open may have begun for the tracker.
        self.preempted = {}
        self.resumed = {}
        self.early = {}

    def see(self, line):
        if line.event == 'sys_enter':
            self.open.pop(line.pid, None)
            self.early[line.pid] = self.since(line)
            if not self.final.match(line.text):
                self.begin(line.pid, line.time)
        elif line.event == 'sys_exit':
            self.returns(line)
        elif line.event == 'sched_switch' and CALLS_PREEMPTIBLE:
            prev, state, after = SWITCH.search(line.text).groups()
            self.switch(line.time, int(prev), state, int(after))

    def returns(self, line):
        begin, since = self.open.get(line.pid), self.since(line)
        if begin is None:
            return
        if since is not None:
            self.ended_by[line.pid, begin] = since
        if self.early[line.pid] is not None:
            self.perhaps.append((line.pid, self.early[line.pid], line.time))
        self.end(line.pid, line.time)

    def switch(self, time, prev, state, after):
        if state != 'R+' or not self.for_a_moment(prev, time):
            self.preempted.pop(prev, None)
        if state == 'R+':
            self.preempted.setdefault(prev, time)
        self.resumed[after] = time

    def for_a_moment(self, pid, time):
        return time - self.resumed.get(pid, 0) <= EXACT

    def since(self, line):
        """When the tracker may have seen this already; None if it was now."""
        since = self.preempted.pop(line.pid, None)
        return since if self.for_a_moment(line.pid, line.time) else None


class Scheduler(Observer):
    """Knows who is running."""

    def __init__(self):
        super().__init__()
        self.running = {}
        self.woken_running = 0

    def see(self, line):
        if line.event == 'sched_switch':
            prev, state, after = SWITCH.search(line.text).groups()
            self.running[line.cpu] = int(after)
            self.switch(line.time, int(prev), state, int(after))
        elif line.event.startswith('sched_wak'):
            pid = int(line.fields()['pid'])
            if pid in self.running.values():
                self.woken_running += pid != line.pid
                self.woken_early(line, pid)
            elif pid:
                self.woken(line.time, pid)

    def switch(self, time, prev, state, after):
        raise NotImplementedError

    def woken(self, time, pid):
        pass

    def woken_early(self, line, pid):
        pass


class Wakeup(Scheduler):
    """A task that is off the CPU is woken, and gets a CPU.

    An emulated CPU may pause in the middle of a switch. When the tracker of off-CPU times
    has told of a task that comes, in front of our event, it may be that it came then.
    """
    report = 'wakeup_latency'

    def __init__(self):
        super().__init__()
        # When those were woken that had not yet let go of their CPU.
        self.early = {}
        # Who comes to a CPU, and when that was said.
        self.coming = {}

    def see(self, line):
        if line.event == Offcpu.report:
            fields = line.fields()
            if fields['flag'] == 'ended':
                self.coming[line.cpu] = (int(fields['pid']), line.time)
            return
        if line.event == 'sched_switch':
            pid, time = self.coming.pop(line.cpu, (None, 0))
            if pid in self.open and pid == int(SWITCH.search(line.text)[3]):
                self.ended_by[pid, self.open[pid]] = time
        super().see(line)

    def switch(self, time, prev, state, after):
        # What was woken before it had let go of its CPU does not wait, unless it lets
        # go of it in the middle of its wake-up: then sched_wakeup is still to come.
        self.open.pop(prev, None)
        if state.endswith('+'):
            self.early.pop(prev, None)
        self.early.pop(after, None)
        self.end(after, time)

    def woken(self, time, pid):
        self.begin(pid, self.early.pop(pid, time))

    def woken_early(self, line, pid):
        self.early.pop(pid, None)
        if line.event == 'sched_waking' and pid != line.pid:
            self.early[pid] = line.time


class Offcpu(Scheduler):
    """A task loses its CPU, for whatever reason, and gets one again."""
    report = 'offcpu_sched_switch'

    def __init__(self):
        super().__init__()
        self.doubtful = set()
        self.idlers = set()

    def switch(self, time, prev, state, after):
        self.end(after, time)
        # Dead, or a kernel thread that waits for work and is not tracked.
        if prev and state[0] not in ('XZ' if STATE_UNSURE else 'XZI'):
            self.begin(prev, time)
        if STATE_UNSURE and state in ('R', 'I'):
            self.doubtful.add((prev, time))
            if state == 'I':
                self.idlers.add(prev)

    def unsure(self, key, begin):
        return key in self.idlers and super().unsure(key, begin)


class Block(Observer):
    """A request is issued to its device, and completes, maybe in several parts."""
    report = 'block_latency'
    stage = 'device'

    def __init__(self):
        super().__init__()
        # What is left of a request, by its present sector: (sector, sectors, issued).
        self.left = {}

    def see(self, line):
        match = BLOCK.search(line.text)
        if not match:
            return
        dev, sector, nr = (int(match[1]), int(match[2])), int(match[4]), int(match[5])
        if line.event == 'block_rq_issue':
            self.left[dev, sector] = (sector, nr, line.time)
        elif line.event == 'block_rq_requeue':
            self.left.pop((dev, sector), None)
        elif line.event == 'block_rq_complete':
            first, left, begin = self.left.pop((dev, sector), (None, 0, 0))
            if first is None:
                return
            if nr < left:
                self.left[dev, sector + nr] = (first, left - nr, begin)
            else:
                self.operations.append((dev + (first,), begin, line.time))

    def key(self, line, fields):
        if fields['stage'] != self.stage:
            return None
        major, minor = re.search(r'dev=(\d+),(\d+)', line.text).groups()
        return (int(major), int(minor), int(fields['sector']))


class Queue(Block):
    """A request is inserted into a queue, and issued to its device."""
    stage = 'queue'

    def see(self, line):
        match = BLOCK.search(line.text)
        if not match:
            return
        key = (int(match[1]), int(match[2]), int(match[4]))
        if line.event == 'block_rq_insert':
            self.open.pop(key, None)
            self.begin(key, line.time)
        elif line.event == 'block_rq_issue':
            self.end(key, line.time)


class Irq(Observer):
    """A handler of a hard interrupt line runs; they are nested."""
    report = 'irq_latency'

    def __init__(self):
        super().__init__()
        self.stacks = defaultdict(list)

    def see(self, line):
        stack = self.stacks[line.cpu]
        irq = line.fields().get('irq')
        if line.event == 'irq_handler_entry':
            # To the end of the line: a name may have spaces.
            stack.append((irq, line.text.split('name=', 1)[1], line.time))
        elif line.event == 'irq_handler_exit' and stack and stack[-1][0] == irq:
            _, name, begin = stack.pop()
            self.operations.append(((line.cpu, int(irq), name), begin, line.time))

    def key(self, line, fields):
        name = re.search(r'name=(.*?), handler=', line.text).group(1)
        return (int(fields['cpu']), int(fields['irq']), name)


class Softirq(Observer):
    """A vector is raised until it runs, and runs.

    The first raise counts, up to a run that begins after it. An interrupt may come
    while a run begins, between the tracker's look at it and ours: then what it raises
    is served by this run for the one, and by the next for the other.
    """
    report = 'softirq_latency'

    def __init__(self):
        super().__init__()
        # A vector may have been raised before the trace began, until it has run.
        self.known = set()
        self.running = {}
        # Raises that were not the first, and those that may have come while a run began.
        self.again = defaultdict(list)
        self.between = {}

    def see(self, line):
        match = re.match(r'vec=(\d+) ', line.text)
        if not match:
            return
        place = (line.cpu, int(match[1]))
        # Whoever runs it may be preempted, with PREEMPT_RT, and another one runs it.
        task = (line.cpu, line.pid, int(match[1]))
        if line.event == 'softirq_raise':
            if place + ('raise',) in self.open:
                self.again[place].append(line.time)
            self.begin(place + ('raise',), line.time)
        elif line.event == 'softirq_entry':
            self.taken_up(place, line.time)
            self.running[task] = line.time
        elif line.event == 'softirq_exit' and task in self.running:
            self.operations.append((place + ('run',), self.running.pop(task), line.time))

    def taken_up(self, place, time):
        key = place + ('raise',)
        begin = self.open.pop(key, None)
        if begin is not None:
            self.operations.append((key, begin, time))
            if place not in self.known:
                self.doubtful.add((key, begin))
        self.perhaps += [(key, again, time) for again in self.between.get(place, ())]
        self.between[place] = [again for again in self.again.pop(place, ())
                               if time - again < CLOSE]
        self.known.add(place)

    def concerns(self, key, line):
        return line.cpu == key[0] and line.fields().get('vec') == str(key[1])

    def key(self, line, fields):
        return (int(fields['cpu']), int(fields['vec']), fields['stage'])


class Network(Observer):
    """A packet enters the stack, and is copied to a socket, consumed or dropped.

    The kernel says nothing when GRO or TCP frees one: not for traces with TCP. Nor does it
    when UDP copies one: lt_udp_read is a kprobe event of the test."""
    report = 'network_latency'

    def see(self, line):
        key = self.key(line, line.fields())
        if line.event.endswith('_entry'):
            self.silent(key, line.time)
            self.open[key] = line.time
        elif 'defer' in line.fields().get('location', ''):
            self.silent(key, line.time)
        elif line.event in ('skb_copy_datagram_iovec', 'lt_udp_read', 'consume_skb',
                            'kfree_skb'):
            self.end(key, line.time)
        elif line.event in ('net_dev_queue', 'net_dev_start_xmit'):
            # It is forwarded, or this is another one by now.
            self.silent(key, line.time)

    def silent(self, key, time):
        """Where the kernel frees it later, or says nothing at all: it has ended by now."""
        begin = self.open.pop(key, None)
        if begin is not None:
            self.doubtful.add((key, begin))
            self.operations.append((key, begin, time))

    def finish(self, time):
        for key in list(self.open):
            self.silent(key, time)

    def key(self, line, fields):
        return fields.get('skbaddr', '').removeprefix('0x')


KINDS = {'syscalls': Syscalls, 'wakeup': Wakeup, 'offcpu': Offcpu, 'block': Block,
         'queue': Queue, 'irq': Irq, 'softirq': Softirq,
         'network': Network}


def read(observer, path):
    """Feeds the trace to the observer; returns the window between the marks."""
    begin, end, last = None, None, 0
    with open(path, encoding='utf-8', errors='replace') as trace:
        for text in trace:
            match = LINE.match(text)
            if not match:
                continue
            line = Line(match)
            last = line.time
            if line.event == 'tracing_mark_write':
                if line.text == 'begin':
                    begin = line.time
                elif line.text == 'end':
                    end = line.time
            elif line.event == observer.report:
                observer.reported(line)
            else:
                observer.see(line)
    observer.finish(last)
    if begin is None or end is None:
        sys.exit('observe.py: the marks "begin" and "end" are not in the trace')
    return begin, end


def nearest(times, taken, time, tolerance):
    """The index, not taken, of the time next to this one; None if it is not close."""
    at = bisect.bisect_left(times, time)
    best = None
    for step, i in ((-1, at - 1), (1, at)):
        while 0 <= i < len(times) and abs(times[i] - time) <= tolerance:
            if i not in taken:
                if best is None or abs(times[i] - time) < abs(times[best] - time):
                    best = i
                break
            i += step
    return best


def match(operations, reports, pause=LOOSE):
    """Finds for each operation of a key its report: one of the same end or of the same
    begin, and not more than a pause away at the other. Both are pairs (begin, end). Returns
    what is left of both, and the pairs that were found."""
    pairs = []
    # The closest first, or one that is off takes its neighbour's.
    for tolerance, end in product((30, 300, 3000, CLOSE), (1, 0)):
        reports = sorted(reports, key=lambda report, end=end: report[end])
        times, taken, left = [report[end] for report in reports], set(), []
        for operation in operations:
            i = nearest(times, taken, operation[end], tolerance)
            if i is not None and abs(reports[i][1 - end] - operation[1 - end]) <= pause:
                taken.add(i)
                pairs.append((operation, reports[i]))
            else:
                left.append(operation)
        operations = left
        reports = [report for i, report in enumerate(reports) if i not in taken]
    return operations, reports, pairs


def explains(operation, report, near, far):
    """Whether a report may be of this operation: near it at one end, not far at the other."""
    off = [abs(a - b) for a, b in zip(operation, report)]
    return min(off) <= near and max(off) <= far


def is_excused(report, perhaps, pairs):
    """Whether a report that is left is of what may explain one, or of an operation whose own,
    though closer, is of that. Takes such a pair out."""
    def may_be(other):
        return any(abs(begin - other[0]) <= EXACT and abs(end - other[1]) <= CLOSE
                   for begin, end in perhaps)

    if may_be(report):
        return True
    for pair in pairs:
        if explains(pair[0], report, CLOSE, LOOSE) and may_be(pair[1]):
            pairs.remove(pair)
            return True
    return False


def compare(observer, window, threshold, margin):
    """Finds for each operation its report and for each report its operation."""
    operations, short, reports = defaultdict(list), defaultdict(list), defaultdict(list)
    perhaps = defaultdict(list)
    late = missed = invented = 0
    odd = []

    def is_late(key, begin, end):
        return (observer.least(key, begin, end) > threshold + margin
                and begin >= window[0] and end <= window[1]
                and not observer.unsure(key, begin))

    for key, begin, end in sorted(observer.operations, key=lambda op: op[2]):
        if end - begin < threshold - margin:
            short[key].append((begin, end))
            continue
        operations[key].append((begin, end))
        if is_late(key, begin, end):
            late += 1
    for key, begin, end in observer.perhaps:
        perhaps[key].append((begin, end))
    for key, begin, end in observer.reports:
        reports[key].append((begin, end))
    for key in operations.keys() | reports.keys():
        without, left, pairs = match(operations[key], reports[key])
        for begin, end in without:
            if is_late(key, begin, end):
                missed += 1
                print(f'# missed: {key} late by {end - begin} us at {end} us')
                odd.append((key, begin, end))
        # Late for the tracker, but not for us, if there was a short pause in between.
        for begin, end in match(short[key], left, CLOSE)[1]:
            # What began before the observer did is not known to it.
            if begin >= window[0] and not is_excused((begin, end), perhaps[key], pairs):
                invented += 1
                print(f'# invented: {key} reported {end - begin} us at {end} us')
                odd.append((key, begin, end))
    return odd, (f'observed={len(observer.operations)} late={late} '
                 f'reported={len(observer.reports)} missed={missed} invented={invented}')


def explain(observer, path, key, begin, end):
    """What the trace says of this operation, for who wants to know what went wrong."""
    with open(path, encoding='utf-8', errors='replace') as trace:
        for text in trace:
            line = LINE.match(text)
            line = Line(line) if line else None
            if (line and begin - AROUND <= line.time <= end + AROUND
                    and observer.concerns(key, line)):
                yield text.strip()[:200]


def main():
    if len(sys.argv) == 5 and sys.argv[1] == 'running':
        observer = Wakeup()
        read(observer, sys.argv[2])
        print(observer.woken_running)
        return
    if len(sys.argv) != 5 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    observer = KINDS[sys.argv[1]]()
    window = read(observer, sys.argv[2])
    odd, figures = compare(observer, window, float(sys.argv[3]) * 1000,
                           float(sys.argv[4]) * 1000)
    for operation in odd[:2]:
        lines = list(explain(observer, sys.argv[2], *operation))
        print(*(f'#   {text}' for text in lines[:12] + lines[12:][-12:]), sep='\n')
    print(figures)


main()
