#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Locks of the kernel that are held for a set time, see tests/inject/locks.c; and whether what
latency_tracker_lock tells of them is true.

    locks.py crowd TASKS TURNS KIND...    so many tasks take locks of these kinds, 0 to 2 ms each, at
                                          random; then the turns, a line each
    locks.py judge TRACE TURNS KIND TOLD  of a tracker with threshold 0, which calls it TOLD; prints
                                          counts as NAME=VALUE
"""
import bisect
import os
import random
import sys
from collections import Counter

import ftrace

LOCKS = '/proc/latency_tracker_locks'
# Whoever has waited longer than this, or has held a lock by more than a tenth of it, has done so for sure:
# between the clocks of the module and of the probes there are calls, and interrupts.
SLACK_NS = 2 * 10**6
CLOCKS_NS = 10**5
# A task may lose its CPU between the two.
GIVE_NS = 50 * 10**6


def hold(name, *words):
    with open('/proc/thread-self/comm', 'w', encoding='ascii') as comm:
        comm.write(name)
    with open(LOCKS, 'w', encoding='ascii') as locks:
        locks.write(' '.join(words))


def crowd(tasks, turns, kinds):
    for task in range(tasks):
        if not os.fork():
            chance = random.Random(task)
            for _ in range(turns):
                hold(f'lt-crowd{task}', chance.choice(kinds), str(chance.randrange(3)))
            os._exit(0)
    for _ in range(tasks):
        if os.wait()[1]:
            sys.exit('a task of the crowd failed')
    with open(LOCKS, encoding='ascii') as locks:
        sys.stdout.write(locks.read())


class Turns:
    """Who had a lock that one task has at a time, and when."""

    def __init__(self, path, kind):
        self.turns = []
        with open(path, encoding='ascii') as lines:
            for line in lines:
                turn = dict(word.split('=') for word in line.split())
                if turn['kind'] == kind:
                    self.turns.append({name: int(value) for name, value in turn.items() if name != 'kind'})
        self.turns.sort(key=lambda turn: turn['got'])
        self.got = [turn['got'] for turn in self.turns]

    def of(self, pid, start):
        """The number of the turn for which this task has begun to wait then."""
        for nr, turn in enumerate(self.turns):
            if turn['pid'] == pid and turn['asked'] <= start <= turn['got']:
                return nr
        return None

    def span(self, nr):
        """From when to when it may have been held in this turn: a task may lose its CPU at each edge."""
        turn = self.turns[nr]
        begin = max(turn['asked'], self.turns[nr - 1]['gave'] if nr else 0)
        end = self.turns[nr + 1]['got'] if nr + 1 < len(self.turns) else turn['gave'] + SLACK_NS
        return begin - CLOCKS_NS, end + CLOCKS_NS

    def holders(self, time):
        """Who may have held the lock then."""
        near = bisect.bisect(self.got, time)
        spans = {nr: self.span(nr) for nr in range(max(near - 2, 0), min(near + 3, len(self.turns)))}
        return {self.turns[nr]['pid'] for nr, (begin, end) in spans.items() if begin <= time <= end}

    def gave_near(self, time):
        """Who may have given the lock back just then."""
        return {turn['pid'] for turn in self.turns if -CLOCKS_NS < time - turn['gave'] < GIVE_NS}

    def held_for_sure(self, time):
        """The one that held it then, and neither had just got it nor was about to give it back."""
        nr = bisect.bisect(self.got, time) - 1
        turn = self.turns[nr] if nr >= 0 else None
        sure = turn and turn['got'] + SLACK_NS / 10 < time < turn['gave'] - SLACK_NS / 10
        return turn['pid'] if sure else None


def judge(trace, path, kind, told):
    turns, count, seen = Turns(path, kind), Counter(), set()
    for line in ftrace.read(trace):
        fields = ftrace.report(line.text) if line.event == 'lock_latency' else {}
        if fields.get('kind') != told or f'hold_in_{kind}' not in fields['stack']:
            continue
        start, delay = int(fields['start']), int(fields['delay'])
        nr = turns.of(int(fields['pid']), start)
        if nr is None:
            count['invented'] += 1
            continue
        seen.add(nr)
        turn = turns.turns[nr]
        holder, waker = int(fields['holder_pid']), int(fields['waker_pid'])
        sure = turns.held_for_sure(start)
        count['told'] += 1
        begin, _ = turns.span(nr)
        count['wrong_delay'] += not begin <= start + delay <= turn['got'] + CLOCKS_NS
        count['wrong_holder'] += holder != -1 and holder not in turns.holders(start)
        count['sure'] += sure is not None
        count['named'] += sure is not None and holder == sure
        woken = start + delay - int(fields['handover'])
        count['woken'] += waker != -1
        count['wrong_waker'] += waker != -1 and waker not in turns.gave_near(woken)
        count['by_the_last'] += waker != -1 and nr > 0 and waker == turns.turns[nr - 1]['pid']
    waited = [nr for nr, turn in enumerate(turns.turns) if turn['slept'] and turn['got'] - turn['asked'] > SLACK_NS / 2]
    count['waited'] = len(waited)
    count['missed'] = len(set(waited) - seen)
    count['turns'] = len(turns.turns)
    names = ('turns', 'waited', 'missed', 'told', 'invented', 'wrong_delay', 'sure', 'named', 'wrong_holder', 'woken',
             'wrong_waker', 'by_the_last')
    print(' '.join(f'{name}={count[name]}' for name in names))


def main():
    what, *words = sys.argv[1:]
    if what == 'crowd':
        crowd(int(words[0]), int(words[1]), words[2:])
    else:
        judge(*words)


if __name__ == '__main__':
    main()
