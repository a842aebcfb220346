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
import re
import sys
from collections import defaultdict

LINE = re.compile(r'^ *(?P<task>.*)-(?P<pid>\d+) +\[(?P<cpu>\d+)\] +\S+ +'
                  r'(?P<sec>\d+)\.(?P<usec>\d{6}): (?P<event>\w+): (?P<text>.*)$')
SWITCH = re.compile(r'prev_pid=(\d+) .*prev_state=(\S+) ==> .*next_pid=(\d+) ')
BLOCK = re.compile(r'^(\d+),(\d+) (\S+) (?:\d+ )?\(.*?\) (\d+) \+ (\d+)')
# An emulated CPU may pause between the two times that tracker and observer take.
TOLERANCE = 100000
FIELD = re.compile(r'(?:^|[ ,])(\w+)=([^,\s]*)')


class Line:
    """One event of the trace; times in microseconds."""

    def __init__(self, match):
        self.pid = int(match['pid'])
        self.cpu = int(match['cpu'])
        self.time = int(match['sec']) * 1000000 + int(match['usec'])
        self.event = match['event']
        self.text = match['text']

    def fields(self):
        return dict(FIELD.findall(self.text))


class Observer:
    """Operations as (key, begin, end), reports as (key, delay, time)."""
    report = None

    def __init__(self):
        self.operations = []
        self.reports = []
        self.open = {}

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
            self.reports.append((key, int(fields['delay']) // 1000, line.time))

    def key(self, line, fields):
        return int(fields['pid'])


class Syscalls(Observer):
    report = 'syscall_latency'

    def see(self, line):
        if line.event == 'sys_enter':
            self.open.pop(line.pid, None)
            self.begin(line.pid, line.time)
        elif line.event == 'sys_exit':
            self.end(line.pid, line.time)


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
            elif pid:
                self.woken(line.time, pid)

    def switch(self, time, prev, state, after):
        raise NotImplementedError

    def woken(self, time, pid):
        pass


class Wakeup(Scheduler):
    """A task that is off the CPU is woken, and gets a CPU."""
    report = 'wakeup_latency'

    def switch(self, time, prev, state, after):
        # What was woken before it had let go of its CPU does not wait.
        self.open.pop(prev, None)
        self.end(after, time)

    def woken(self, time, pid):
        self.begin(pid, time)


class Offcpu(Scheduler):
    """A task loses its CPU, for whatever reason, and gets one again."""
    report = 'offcpu_sched_switch'

    def switch(self, time, prev, state, after):
        self.end(after, time)
        # Dead, or a kernel thread that waits for work and is not tracked.
        if prev and state[0] not in 'XZI':
            self.begin(prev, time)


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


KINDS = {'syscalls': Syscalls, 'wakeup': Wakeup, 'offcpu': Offcpu, 'block': Block,
         'queue': Queue}


def read(observer, path):
    """Feeds the trace to the observer; returns the window between the marks."""
    begin, end = None, None
    with open(path, encoding='utf-8', errors='replace') as trace:
        for text in trace:
            match = LINE.match(text)
            if not match:
                continue
            line = Line(match)
            if line.event == 'tracing_mark_write':
                if line.text == 'begin':
                    begin = line.time
                elif line.text == 'end':
                    end = line.time
            elif line.event == observer.report:
                observer.reported(line)
            else:
                observer.see(line)
    if begin is None or end is None:
        sys.exit('observe.py: the marks "begin" and "end" are not in the trace')
    return begin, end


def compare(observer, window, threshold, margin):
    """Finds for each operation its report and for each report its operation."""
    by_key = defaultdict(list)
    for key, delay, time in observer.reports:
        by_key[key].append((time, delay))
    for reports in by_key.values():
        reports.sort()
    taken = defaultdict(set)
    late = missed = 0
    for key, begin, end in sorted(observer.operations, key=lambda op: op[2]):
        delay = end - begin
        if delay < threshold - margin:
            continue
        found = False
        reports = by_key[key]
        for i in range(bisect.bisect_left(reports, (end - TOLERANCE, 0)), len(reports)):
            if reports[i][0] > end + TOLERANCE:
                break
            if i not in taken[key] and abs(reports[i][1] - delay) <= TOLERANCE:
                taken[key].add(i)
                found = True
                break
        if delay > threshold + margin and begin >= window[0] and end <= window[1]:
            late += 1
            if not found:
                missed += 1
                print(f'# missed: {key} late by {delay} us at {end} us')
    invented = 0
    for key, reports in by_key.items():
        for i, (time, delay) in enumerate(reports):
            # What began before the observer did is not known to it.
            if i not in taken[key] and time - delay >= window[0]:
                invented += 1
                print(f'# invented: {key} reported {delay} us at {time} us')
    print(f'observed={len(observer.operations)} late={late} '
          f'reported={len(observer.reports)} missed={missed} invented={invented}')


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
    compare(observer, window, float(sys.argv[3]) * 1000, float(sys.argv[4]) * 1000)


main()
