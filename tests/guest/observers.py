# SPDX-License-Identifier: GPL-2.0-only
"""What the kernel's own events say of operations, one class for each kind of them."""
import bisect
import os
import re
from collections import defaultdict

import ftrace

# Tracker and observer look at the same moment at most so far from each other, in us, unless
# the CPU paused between the two.
EXACT = 300
# A task that runs again, and is to do no more than this, may take so long for it.
MOMENT = 900
# A report is looked for at most so far from an end of its operation.
CLOSE = 20000
RELEASE = tuple(map(int, (os.environ.get('LAB_RELEASE') or os.uname().release).split('.')[:2]))
# Before 5.18 sched_switch reads the state of the task once more, and so do the trackers:
# when somebody wakes it in that moment, they need not agree.
STATE_UNSURE = RELEASE < (5, 18)
# Since 6.13 a task can be preempted between the tracker's look at a system call and ours.
CALLS_PREEMPTIBLE = RELEASE >= (6, 13)

# sys_exit of EINTR and of what restarts a call.
INTERRUPTED = re.compile(r' = -(4|51[2-6])$')


class Recorded:
    """When each CPU recorded an event of the kernel in a task, and which CPUs did so at a time,
    in a task or not."""

    def __init__(self):
        self.times = defaultdict(list)
        # A bit for each CPU.
        self.cpus = {}

    def add(self, line):
        # The trackers' own reports come between a look of theirs and the kernel's event.
        if 'flag=' in line.text or 'stack=' in line.text:
            return
        self.cpus[line.time] = self.cpus.get(line.time, 0) | 1 << line.cpu
        if line.context in ('', '.'):
            self.times[line.cpu].append(line.time)

    def paused(self, begin, end):
        """Whether a CPU that recorded an event at one of the two times recorded none until the
        other: only then may two looks at the same moment be so far from each other."""
        cpus = self.cpus.get(begin, 0) | self.cpus.get(end, 0)
        for cpu in range(cpus.bit_length()):
            if not cpus >> cpu & 1:
                continue
            times = self.times[cpu]
            following = bisect.bisect_right(times, begin)
            if following == len(times) or times[following] >= end:
                return True
        return False


class Observer:
    """Operations as (key, begin, end), reports alike. ends: which of the two tells best which
    report is that of an operation, 1 the end, 0 the begin."""
    report = None
    ends = (1, 0)

    def __init__(self):
        self.operations = []
        self.reports = []
        self.open = {}
        # Operations, as (key, begin), that may be reported or not.
        self.doubtful = set()
        # What may explain a report, as operations, but need not have one.
        self.perhaps = []
        # When operations, as (key, begin), may have begun and ended for the tracker already.
        self.began_by = {}
        self.ended_by = {}
        self.recorded = Recorded()

    def begin(self, key, time):
        self.open.setdefault(key, time)

    def end(self, key, time):
        begin = self.open.pop(key, None)
        if begin is not None:
            self.operations.append((key, begin, time))

    def reported(self, fields):
        key = self.key(fields)
        if fields['flag'] == 'ended' and key is not None:
            begin = int(fields['start'])
            self.reports.append((key, begin // 1000, (begin + int(fields['delay'])) // 1000))

    def key(self, fields):
        return int(fields['pid'])

    def finish(self, time):
        """The trace ends at this time."""

    def unsure(self, key, begin):
        """Whether this operation may be reported or not."""
        return (key, begin) in self.doubtful

    def same(self, ours, theirs):
        """Whether tracker and observer may have seen the same at these times."""
        return (abs(ours - theirs) <= EXACT or
                self.recorded.paused(min(ours, theirs), max(ours, theirs)))

    def fits(self, key, operation, report):
        """Whether a report, as (begin, end), may be of this operation."""
        name = (key, operation[0])
        return all(self.same(ours, theirs) or (name in other and self.same(other[name], theirs))
                   for ours, theirs, other in zip(operation, report, (self.began_by, self.ended_by)))

    def least(self, key, begin, end):
        """The shortest delay that this operation may have had for the tracker."""
        return self.ended_by.get((key, begin), end) - begin


class Syscalls(Observer):
    """A call ends at sys_exit, or behind it, but before the next one: what the task has to do
    before user space passes no event. One that does not return has no end here, and fields.py
    looks at its reports; though the next task of its pid may have one: a task that was cloned
    begins with the exit of that call.

    Who is preempted, and does no more than begin or end a call when he runs again, may have
    been so behind the tracker's probe and in front of ours.
    """
    report = 'syscall_latency'
    ends = (0, 1)

    def __init__(self):
        super().__init__()
        # Since when it has only run for moments, since when it runs, and when a call that
        # is open may have begun for the tracker.
        self.preempted = {}
        self.resumed = {}
        self.early = {}
        # The last calls of tasks that have passed sys_exit: a signal may be their end, so that they
        # never are back in user space; and those of them that a signal has interrupted.
        self.last = {}
        self.interrupted = set()
        # When the last call of a task began that has passed sys_exit and may not be back in user
        # space: it was if it kept its CPU.
        self.leaving = {}
        # The latest time at which a task was back in user space, by its call: interrupts may come
        # once it got a CPU again and kept it, but not behind its next call.
        self.back_by = {}
        self.next_call = {}
        # Which call it was: operations by their begin, and reports.
        self.number = {}
        self.told = {}
        # When tasks got their CPU, and how long they had it the last time.
        self.came = {}
        self.stayed = {}

    def see(self, line):
        if line.event == 'sys_enter':
            self.open.pop(line.pid, None)
            self.last.pop(line.pid, None)
            self.next_call[line.pid, self.leaving.pop(line.pid, None)] = line.time
            self.early[line.pid] = since = self.since(line)
            if since is not None:
                self.began_by[line.pid, line.time] = since
            if not ftrace.FINAL.match(line.text):
                self.begin(line.pid, line.time)
                self.number[line.pid, line.time] = line.text.split()[1]
        elif line.event == 'sys_exit':
            self.returns(line)
        elif line.event == 'sched_switch':
            fields = line.switch()
            if fields['state'][0] in 'XZ':
                self.died(fields['prev'])
                self.leaving.pop(fields['prev'], None)
            before, after = fields['prev'], fields['next']
            self.stayed[before] = line.time - self.came.get(before, 0)
            self.came[after] = line.time
            if after in self.leaving:
                call = (after, self.leaving[after])
                self.perhaps.append((*call, line.time))
                if call not in self.back_by or self.stayed[after] <= MOMENT:
                    self.back_by[call] = line.time
            if CALLS_PREEMPTIBLE:
                self.switch(line.time, fields['prev'], fields['state'], fields['next'])

    def died(self, pid):
        if pid in self.last:
            self.doubtful.add((pid, self.last.pop(pid)))

    def key(self, fields):
        return None if ftrace.FINAL.match(f"NR {fields['nr']} ") else int(fields['pid'])

    def returns(self, line):
        begin, since = self.open.get(line.pid), self.since(line)
        if begin is None:
            self.died(line.pid)     # the pid is that of a new task
            return
        if since is not None:
            self.ended_by[line.pid, begin] = since
        if self.early[line.pid] is not None:
            self.perhaps.append((line.pid, self.early[line.pid], line.time))
        self.last[line.pid] = begin
        if INTERRUPTED.search(line.text):
            self.interrupted.add((line.pid, begin))
        self.leaving[line.pid] = begin
        self.end(line.pid, line.time)

    def finish(self, time):
        self.doubtful |= self.interrupted & set(self.last.items())

    def reported(self, fields):
        known = len(self.reports)
        super().reported(fields)
        for report in self.reports[known:]:
            self.told[report] = fields['nr']

    def fits(self, key, operation, report):
        begin, end = operation
        if self.number[key, begin] != self.told[(key, *report)]:
            return False
        behind = end <= report[1] <= min(self.back_by.get((key, begin), end) + CLOSE,
                                         self.next_call.get((key, begin), report[1]))
        return super().fits(key, (begin, report[1] if behind else end), report)

    def switch(self, time, prev, state, after):
        if state != 'R+' or not self.for_a_moment(prev, time):
            self.preempted.pop(prev, None)
        if state == 'R+':
            self.preempted.setdefault(prev, time)
        self.resumed[after] = time

    def for_a_moment(self, pid, time):
        return time - self.resumed.get(pid, 0) <= MOMENT

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
            fields = line.switch()
            self.running[line.cpu] = fields['next']
            self.switch(line.time, fields['prev'], fields['state'], fields['next'])
        elif line.event.startswith('sched_wak'):
            pid = line.woken()
            if pid in self.running.values():
                self.woken_running += pid != line.pid
                self.woken_early(line, pid)
            elif pid:
                self.woken(line, pid)

    def switch(self, time, prev, state, after):
        raise NotImplementedError

    def woken(self, line, pid):
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
            fields = ftrace.report(line.text)
            if fields['flag'] == 'ended':
                self.coming[line.cpu] = (int(fields['pid']), line.time)
            return
        if line.event == 'sched_switch':
            pid, time = self.coming.pop(line.cpu, (None, 0))
            if pid in self.open and pid == line.switch()['next']:
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

    def woken(self, line, pid):
        # A wake-up that is so slow that the task has run, and slept, since sched_waking.
        if line.event == 'sched_wakeup' and pid not in self.open and pid not in self.early:
            self.doubtful.add((pid, line.time))
        self.begin(pid, self.early.pop(pid, line.time))

    def woken_early(self, line, pid):
        self.early.pop(pid, None)
        if line.event == 'sched_waking' and pid != line.pid:
            self.early[pid] = line.time


class Preempted(Scheduler):
    """A task loses its CPU, although it could go on, and gets one again."""
    report = 'wakeup_latency'

    def switch(self, time, prev, state, after):
        self.end(after, time)
        if prev and state[0] == 'R':
            self.begin(prev, time)
            if STATE_UNSURE and state == 'R':
                self.doubtful.add((prev, time))

    def key(self, fields):
        return None if fields['reason'] == 'woken' else super().key(fields)


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
    """A request is issued to its device, and completes, maybe in several parts, or is requeued."""
    report = 'block_latency'
    stage = 'device'

    def __init__(self):
        super().__init__()
        # What is left of a request, by its present sector: (sector, sectors, issued).
        self.left = {}

    def see(self, line):
        request = line.block()
        if request:
            self.step(line, request['dev'], request['sector'], request['sectors'])

    def step(self, line, dev, sector, sectors):
        if line.event == 'block_rq_issue':
            self.left[dev, sector] = (sector, sectors, line.time)
        elif line.event == 'block_rq_requeue':
            first, _, begin = self.left.pop((dev, sector), (None, 0, 0))
            if first is not None:
                self.operations.append(((dev, first), begin, line.time))
        elif line.event == 'block_rq_complete':
            first, left, begin = self.left.pop((dev, sector), (None, 0, 0))
            if first is None:
                return
            if sectors < left:
                self.left[dev, sector + sectors] = (first, left - sectors, begin)
            else:
                self.operations.append(((dev, first), begin, line.time))

    def key(self, fields):
        return (fields['dev'], int(fields['sector'])) if fields['stage'] == self.stage else None


class Queue(Block):
    """A request is inserted into a queue, and issued to its device."""
    stage = 'queue'

    def step(self, line, dev, sector, sectors):
        if line.event == 'block_rq_insert':
            self.open.pop((dev, sector), None)
            self.begin((dev, sector), line.time)
        elif line.event == 'block_rq_issue':
            self.end((dev, sector), line.time)


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
            # To the end of the line: a name may have spaces. Reports have room for 31 letters.
            stack.append((irq, line.text.split('name=', 1)[1][:31], line.time))
        elif line.event == 'irq_handler_exit' and stack and stack[-1][0] == irq:
            _, name, begin = stack.pop()
            self.operations.append(((line.cpu, int(irq), name), begin, line.time))

    def key(self, fields):
        return (int(fields['cpu']), int(fields['irq']), fields['name'])


class Softirq(Observer):
    """A vector is raised until it runs, and runs.

    The first raise counts, up to a run that begins after it. An interrupt may come
    while a run begins, between the tracker's look at it and ours: then what it raises
    is served by this run for the one, and by the next for the other. Or it takes its
    time there, and there it may be at the end of a run, too: then what begins or ends
    may have done so for the tracker before the interrupt.
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
        # The latter, by the operation whose run may have served them.
        self.earlier = {}
        # When the first and the last event came out of interrupts since the last one of a CPU
        # in a soft interrupt.
        self.inside = {}

    def interrupted(self, line):
        """When the interrupt of a soft interrupt began that ended just now; None if none did."""
        first, last = self.inside.pop(line.cpu, (line.time, 0))
        if line.context == 'H':
            self.inside[line.cpu] = (first, line.time)
        return first if line.time - last <= EXACT else None

    def see(self, line):
        before = self.interrupted(line)
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
            self.taken_up(place, line.time, before)
            self.running[task] = line.time
        elif line.event == 'softirq_exit' and task in self.running:
            self.finished(place + ('run',), self.running.pop(task), line.time, before)

    def finished(self, key, begin, end, before):
        self.operations.append((key, begin, end))
        if before is not None and before > begin:
            self.ended_by[key, begin] = before

    def taken_up(self, place, time, before):
        key = place + ('raise',)
        begin = self.open.pop(key, None)
        earlier = self.between.get(place, ())
        if begin is not None:
            self.finished(key, begin, time, before)
            self.earlier[key, begin] = earlier
            if place not in self.known:
                self.doubtful.add((key, begin))
        self.perhaps += [(key, again, time) for again in earlier]
        self.between[place] = [again for again in self.again.pop(place, ())
                               if time - again < CLOSE or self.recorded.paused(again, time)]
        self.known.add(place)

    def fits(self, key, operation, report):
        begins = (operation[0], *self.earlier.get((key, operation[0]), ()))
        return any(super(Softirq, self).fits(key, (begin, operation[1]), report)
                   for begin in begins)

    def key(self, fields):
        return (int(fields['cpu']), int(fields['vec']), fields['stage'])


class Network(Observer):
    """A packet enters the stack, and is copied to a socket, consumed or dropped.

    The kernel says nothing when GRO or TCP frees one: not for traces with TCP. Nor does it
    when UDP copies one: lt_udp_read is a kprobe event of the test."""
    report = 'network_latency'

    def see(self, line):
        key = self.key(line.fields())
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

    def key(self, fields):
        return fields.get('skbaddr', '').removeprefix('0x')


KINDS = {'syscalls': Syscalls, 'wakeup': Wakeup, 'preempted': Preempted, 'offcpu': Offcpu,
         'block': Block, 'queue': Queue, 'irq': Irq, 'softirq': Softirq, 'network': Network}
