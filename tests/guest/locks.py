#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Locks of the kernel that are held for a set time, see tests/inject/locks.c; and whether what
latency_tracker_lock tells of them is true.

    locks.py crowd TASKS TURNS KIND...    so many tasks take locks of these kinds, 0 to 2 ms each, at
                                          random; then the turns, a line each
    locks.py judge TRACE TURNS KIND TOLD  of a tracker with threshold 0, which calls it TOLD; prints
                                          counts as NAME=VALUE; also with turns of userlocks.py
"""
import bisect
import os
import random
import sys
import time
from collections import Counter

import ftrace

LOCKS = '/proc/latency_tracker_locks'
# Whoever has waited longer than this, or has held a lock by more than a tenth of it, has done so for sure:
# between the clocks of the module and of the probes there are calls, and interrupts.
SLACK_NS = 2 * 10**6
CLOCKS_NS = 10**5
# As the tracker calls them.
ON_FILES = ('flock', 'posix')
OF_USER = ('futex', 'futex_pi', *ON_FILES)
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
                # The others are to have it, too.
                time.sleep(0.001)
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
        # Each begins when the one before has ended, so this is in order, too.
        self.gave = [turn['gave'] for turn in self.turns]

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

    def holders(self, first, last):
        """Who may have held the lock at some time between these."""
        near = range(max(bisect.bisect(self.got, first) - 2, 0), min(bisect.bisect(self.got, last) + 3, len(self.turns)))
        spans = {nr: self.span(nr) for nr in near}
        return {self.turns[nr]['pid'] for nr, (begin, end) in spans.items() if begin <= last and first <= end}

    def gave_near(self, time):
        """Who may have given the lock back just then: also the last two, if the machine stood still."""
        near = bisect.bisect(self.gave, time + CLOCKS_NS)
        return {turn['pid'] for nr, turn in enumerate(self.turns[:near]) if near - nr <= 2 or time - turn['gave'] < GIVE_NS}

    def waited(self, time):
        """Who waited then: whoever waits for a lock on a file wakes those who wait behind it."""
        return {turn['pid'] for turn in self.turns if turn['asked'] <= time <= turn['got'] + SLACK_NS}

    def held_for_sure(self, time):
        """The one that held it then, and neither had just got it nor was about to give it back."""
        nr = bisect.bisect(self.got, time) - 1
        turn = self.turns[nr] if nr >= 0 else None
        sure = turn and turn['got'] + SLACK_NS / 10 < time < turn['gave'] - SLACK_NS / 10
        return turn['pid'] if sure else None


def is_turn(fields, kind, told):
    """Is it about a lock that the crowd takes? No other has these kinds of names in these tests."""
    return fields.get('kind') == told and (
        fields['comm'].startswith('lt-crowd') if told in OF_USER else f'hold_in_{kind}' in fields['stack'])


def judge(trace, path, kind, told):
    turns, count, seen = Turns(path, kind), Counter(), set()
    for line in ftrace.read(trace):
        fields = ftrace.report(line.text) if line.event == 'lock_latency' else {}
        if not is_turn(fields, kind, told):
            continue
        start, delay = int(fields['start']), int(fields['delay'])
        nr = turns.of(int(fields['pid']), start)
        if nr is None:
            count['invented'] += 1
            continue
        turn = turns.turns[nr]
        # The tracker looks at the lock, then at its clock; a machine that is emulated may stand still between.
        looked = turn['asked'] if nr not in seen else start - SLACK_NS / 2
        seen.add(nr)
        holder, waker = int(fields['holder_pid']), int(fields['waker_pid'])
        sure = turns.held_for_sure(start)
        count['told'] += 1
        # Who sleeps for a lock of user space may find it taken again, and begin anew.
        begin = turn['asked'] if told in OF_USER else turns.span(nr)[0]
        count['wrong_delay'] += not begin <= start + delay <= turn['got'] + CLOCKS_NS
        count['wrong_holder'] += holder != -1 and holder not in turns.holders(looked, start)
        count['sure'] += sure is not None
        count['named'] += sure is not None and holder == sure
        woken = start + delay - int(fields['handover'])
        count['woken'] += waker != -1
        wakers = turns.gave_near(woken) | (turns.waited(woken) if told in ON_FILES else set())
        count['wrong_waker'] += waker != -1 and waker not in wakers
        count['by_the_last'] += waker != -1 and nr > 0 and waker == turns.turns[nr - 1]['pid']
    # The first one found it free: if it has slept, then for something else.
    waited = [nr for nr, turn in enumerate(turns.turns) if nr and turn['slept'] and turn['got'] - turn['asked'] > SLACK_NS / 2]
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
