#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The critical paths of a trace against what the scheduler's own events in it say: where each task was, and what woke it.

    timeline.py TRACE   Says which segments and wakers differ, and in the last line: paths=N segments=N agree=N wakers=N right=N

A wait must be one in these events, at that time; of the time in between, only how long the task ran in all is compared,
as a path does not know more. A wait that goes on with another task must have been ended by that one; one for an interrupt
by none.
"""
import bisect
import os
import sys
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.dirname(HERE)]
import ftrace
from chain import UNKNOWN, paths_of

SLOW = int(os.environ.get('LAB_SLOW', '1'))
# The two look at the same moment at most so far from each other, in us, unless the CPU pauses in between.
NEAR = 300 * SLOW
RAN = {'running', 'interrupt'}
READY = {'cpu', 'throttled', 'rt_throttled', 'dl_server', 'steal', 'yielded'}
ASLEEP = {'lock', 'disk', 'memory', 'task', 'timer', 'packet', 'softirq', 'hardirq', 'stopped', 'traced', 'frozen'}
INTERRUPTS = {'timer', 'packet', 'softirq', 'hardirq'}


class Task:
    """Where it was: from each of these times on, in us. by: what woke it then; -1 is an interrupt."""

    def __init__(self):
        self.times, self.states, self.by = [], [], []

    def note(self, time, state, by=None):
        self.times.append(time)
        self.states.append(state)
        self.by.append(by)

    def is_known(self, time):
        return self.times and self.times[0] <= time

    def spent(self, state, begin, end):
        at, total = max(bisect.bisect_right(self.times, begin) - 1, 0), 0
        while at < len(self.times) and self.times[at] < end:
            until = self.times[at + 1] if at + 1 < len(self.times) else end
            if self.states[at] == state:
                total += max(0, min(until, end) - max(self.times[at], begin))
            at += 1
        return total

    def waker(self, time, off):
        """What woke it at about that time; None: nothing did."""
        at = bisect.bisect_left(self.times, time - off)
        near = [i for i in range(at, len(self.times)) if self.times[i] <= time + NEAR and self.by[i] is not None]
        return self.by[min(near, key=lambda i: abs(self.times[i] - time))] if near else None


def tasks_of(trace):
    tasks = defaultdict(Task)
    for line in ftrace.read(trace):
        if line.event == 'sched_switch':
            fields = line.switch()
            tasks[fields['prev']].note(line.time, 'ready' if fields['state'][0] == 'R' else 'asleep')
            tasks[fields['next']].note(line.time, 'ran')
        elif line.event == 'sched_waking':
            task = tasks[line.woken()]
            if task.states and task.states[-1] == 'asleep':
                task.note(line.time, 'ready', line.pid if line.context in ('', '.') else -1)
    return tasks


def off_by(path):
    """What is too short to be told belongs to the segment before it: a thousandth of the operation, two at the end."""
    return NEAR + 2 * path[0]['total'] // 10**6


def span(segment):
    return segment['start'] // 1000, (segment['start'] + segment['delay']) // 1000


def differs(path, segment, task):
    """What of a wait is not one in the kernel's events, or an empty text."""
    state = 'ready' if segment['cause'] in READY else 'asleep'
    begin, end = span(segment)
    missing = end - begin - task.spent(state, begin, end)
    if missing > off_by(path):
        return f'{state} but for {missing} us'
    return ''


def ran_differs(path, group, task):
    told = sum(of['delay'] for of in group if of['cause'] in RAN) // 1000
    vague = sum(of['delay'] for of in group if of['cause'] in (*UNKNOWN, 'short', 'work')) // 1000
    begin, end = span(group[0])[0], span(group[-1])[1]
    ran, off = task.spent('ran', begin, end), len(group) * off_by(path)
    return '' if told - off <= ran <= told + vague + off else f'ran {ran} us, not {told} to {told + vague}'


def waker_differs(path, segment, task):
    """None if it says nothing of a waker."""
    by = task.waker(span(segment)[1], off_by(path))
    if segment['cause'] in INTERRUPTS:
        return '' if by == -1 else f'woken by {by}'
    behind = [of['pid'] for of in path if of['parent'] == segment['segment']]
    if segment['cause'] not in ('task', 'lock') or not behind or by == -1:
        return None
    # Before a worker comes who queued its work item.
    return '' if by == behind[-1] else f'woken by {by}, not by {behind[-1]}'


def judge(trace):
    tasks, counts = tasks_of(trace), dict.fromkeys(('paths', 'segments', 'agree', 'wakers', 'right'), 0)

    def count(all_of, good, segment, wrong):
        counts[all_of] += 1
        counts[good] += not wrong
        if wrong:
            print(f'{segment["comm"]} ({segment["pid"]}) op={segment["op"]} segment={segment["segment"]} {segment["cause"]}: {wrong}')

    for path in paths_of(trace).values():
        if path[0]['flag'] != 'ended' or len(path) != path[0]['segments']:
            continue
        counts['paths'] += 1
        groups = defaultdict(list)
        for segment in path:
            task = tasks[segment['pid']]
            # What was before the trace is not known to it.
            if segment['pid'] <= 0 or not task.is_known(span(segment)[0]):
                continue
            groups[segment['parent'], segment['pid']].append(segment)
            if segment['cause'] in READY | ASLEEP:
                count('segments', 'agree', segment, differs(path, segment, task))
            wrong = waker_differs(path, segment, task)
            if wrong is not None:
                count('wakers', 'right', segment, wrong)
        for group in groups.values():
            if any(of['cause'] in RAN for of in group):
                count('segments', 'agree', group[0], ran_differs(path, group, tasks[group[0]['pid']]))
    print(' '.join(f'{name}={number}' for name, number in counts.items()))


if __name__ == '__main__':
    judge(sys.argv[1])
