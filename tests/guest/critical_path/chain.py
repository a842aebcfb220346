#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Chains of tasks that wait for each other, by their own clocks: see tests/guest/inject/chain.c.

    chain.py random N SEED END...  N chains, at random, and how long each task works: words for "inject chain". Each of
                                seven ends, and of those named here, is that of as many
    chain.py judge TRACE TOLD   is the critical path of each what was done? TOLD has lines of "inject chain" and
                                of the module that holds locks, with chain=NUMBER in front. One line for
                                each chain, and last: chains=N named=N right=N; named are those in which every hop is named, and
                                all adds up; right are those of which each part is as long, within 2 ms or 2 %
    chain.py invented TRACE TOLD   how many segments of the one chain name a task that is none of it
    chain.py sums TRACE         how many paths are complete, and how many of them do not add up: paths=N wrong=N
"""
import os
import random
import sys
from collections import Counter, defaultdict

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ftrace

LINKS = ('pipe', 'futex', 'flock')
KERNEL = ('mutex', 'rwsem_write', 'rt_mutex')
MS = 10**6
SLOW = int(os.environ.get('LAB_SLOW', '1'))


def at_random(end):
    links = [random.choice(LINKS) for _ in range(random.randrange(1, 4))]
    return f"{'+'.join([*links, f'{end}:{random.randrange(150, 300) * SLOW}'])} {random.randrange(3, 20)}"


def chains_at_random(number, more):
    ends = ['sleep', 'spin', 'disk', 'swap', *KERNEL, *more]
    while number > 0:
        random.shuffle(ends)
        for end in ends[:number]:
            print(at_random(end))
        number -= len(ends)


# --- the judge ------------------------------------------------------------------------

# What a task waits for by a link, and what the last one does: causes, and names. PREEMPT_RT has other locks, and newer kernels name
# a disk as its directory. Whether a page that was swapped out is memory that is short, the kernel decides.
CAUSES = {'pipe': (('task',), ('-',)), 'futex': (('lock',), ('futex',)), 'flock': (('lock',), ('flock',)),
          'mutex': (('lock',), ('mutex', 'rt_mutex')), 'rwsem_write': (('lock',), ('rwsem_write', 'rwbase_write', 'rt_mutex')),
          'rt_mutex': (('lock',), ('rt_mutex',)), 'sleep': (('timer',), None), 'spin': (('running',), None),
          'disk': (('disk',), ('nullb0',)), 'retry': (('disk',), ('sda',)), 'swap': (('disk', 'memory'), ('nullb1', 'lt-swap'))}
# Each request of a disk takes so long; one is aborted at its end, and made once more.
REQUEST = 200 * MS * SLOW
REQUESTS = {'disk': (('nullb0',), REQUEST), 'swap': (('nullb1', 'lt-swap'), REQUEST), 'retry': (('sda, 1 requeues',), 2 * REQUEST)}
# The last task has a lock of the kernel meanwhile.
WITH_LOCK = (*KERNEL, 'retry')
UNKNOWN = ('unknown', 'lost', 'cut')


def paths_of(trace):
    """The segments of each operation."""
    paths = defaultdict(list)
    for line in ftrace.read(trace):
        if line.event == 'critical_path':
            fields = ftrace.report(line.text)
            for name in ('op', 'delay', 'start', 'total', 'hop', 'segment', 'segments', 'parent', 'pid', 'by_pid'):
                fields[name] = int(fields[name])
            paths[fields['op']].append(fields)
    return paths


def sums(path):
    """What does not add up."""
    wrong = []
    for parent in {fields['parent'] for fields in path}:
        whole = path[0]['total'] if parent < 0 else path[parent]['delay']
        parts = sum(fields['delay'] for fields in path if fields['parent'] == parent)
        # What is too short to be told goes to the segment before it.
        if abs(whole - parts) > max(whole / 100, path[0]['total'] / 200):
            wrong.append(f'segment {parent}: {parts} of {whole}')
    return wrong


def wait_of(tasks, turns, step, begin):
    """What a task has waited for, from when to when; and its CPU time: at least, at most."""
    one = dict(tasks[step])
    last = step == max(tasks) and one['by'] not in LINKS
    causes, names = CAUSES[one['by']]
    if last and one['by'] in WITH_LOCK:
        causes, names = CAUSES['retry' if one['by'] == 'retry' else 'sleep']
        one.update(asked=turns[one['pid']]['got'], got=turns[one['pid']]['gave'], worked=0)
    elif not last:
        # Until the next one gave what it had.
        giver = tasks[step + 1]
        one['got'] = turns[giver['pid']]['gave'] if one['by'] in KERNEL else giver['gave']
    waited = one['got'] - max(one['asked'], begin)
    if one['by'] == 'spin' and last:
        waited = one['before'] + one['used'] + one['worked']
    elif last and one['by'] not in WITH_LOCK:
        waited -= one['used']
    return causes, names, waited, one['worked'], one['before'] + one['used'] + one['worked']


def name_wrong(tasks, step, waits):
    """A task that waits for the next one: is that named, and the right one?"""
    if not waits:
        return [f'lt-c{step}: no {tasks[step]["by"]}']
    if step + 1 in tasks and any(fields['by_pid'] != tasks[step + 1]['pid'] for fields in waits):
        return [f'lt-c{step}: by {waits[0]["by_comm"]}']
    return []


def time_wrong(step, told, behind, took, ran):
    """How far off the wait of a task is, and its CPU time, of which there are bounds."""
    # Behind it, the task may have to wait for a CPU before it tells the time.
    error, wrong = min(abs(told - took), abs(told + behind - took)), []
    if error > max(2 * MS * SLOW, took / 50):
        wrong.append(f'lt-c{step}: waited {told / MS:.2f} (+ {behind / MS:.2f}) of {took / MS:.2f} ms')
    running, unknown, least, most = ran
    if step and not (running + unknown >= least - 2 * MS * SLOW and running <= most + 2 * MS * SLOW):
        wrong.append(f'lt-c{step}: ran {running / MS:.2f}, not {least / MS:.2f} to {most / MS:.2f} ms')
    return error, wrong


def request_wrong(by, waits, path, waited):
    """What a task waited for is a request of the disk, and that took as long as the disk does, or from when on
    the path is about it."""
    if by not in REQUESTS:
        return [], []
    names, took = REQUESTS[by]
    took = min(took, waited)
    numbers = {fields['segment'] for fields in waits}
    below = [fields for fields in path if fields['parent'] in numbers and fields['cause'] == 'device' and fields['name'] in names]
    unnamed, told = [] if below else ['no device'], sum(fields['delay'] for fields in below)
    if by == 'swap' and not all('do_swap_page' in fields['stack'] for fields in waits):
        unnamed.append('no swap-in')
    return unnamed, [f'in the device for {told / MS:.2f} of {took / MS:.2f} ms'] * (abs(told - took) > max(2 * MS * SLOW, took / 50))


def check(tasks, turns, path):
    """What of the path of a chain is not named, which times are wrong, and by how many ns a wait at most."""
    unnamed, wrong, worst = sums(path), [], 0
    if len(path) != path[0]['segments']:
        unnamed.append('segments are missing')
    for step, one in sorted(tasks.items()):
        causes, names, took, least, most = wait_of(tasks, turns, step, path[0]['start'])
        mine = [fields for fields in path if fields['hop'] == step and fields['pid'] == one['pid']]
        sums_of = Counter()
        for fields in mine:
            sums_of[fields['cause']] += fields['delay']
        waits = [fields for fields in mine if fields['cause'] in causes and (names is None or fields['name'] in names)]
        missing, late = request_wrong(one['by'], waits, path, took)
        unnamed, wrong = unnamed + name_wrong(tasks, step, waits) + missing, wrong + late
        # What interrupts take of a task is its CPU time, for the kernel.
        told = sum(fields['delay'] for fields in waits) + sums_of['interrupt'] * ('running' in causes)
        error, late = time_wrong(step, told, sums_of['cpu'] + sums_of['unknown'], took,
                                 (sums_of['running'], sums_of['interrupt'] + sums_of['unknown'], least, most))
        worst, wrong = max(worst, error), wrong + late
    unknown = sum(fields['delay'] for fields in path if fields['hop'] == 0 and fields['cause'] in UNKNOWN)
    # Or 15 ms: a machine that is emulated takes its time for each switch.
    if unknown > max(path[0]['total'] / 20, 15 * MS * SLOW):
        unnamed.append(f'unknown {unknown / MS:.2f} ms')
    return unnamed, wrong, worst


def read_told(told):
    """The tasks of each chain, and the turns with locks of the kernel, by pid."""
    chains, turns = defaultdict(dict), {}
    with open(told, encoding='ascii') as lines:
        for line in lines:
            fields = dict(word.split('=') for word in line.split())
            one = {name: value if name in ('by', 'kind') else int(value) for name, value in fields.items()}
            if 'task' in one:
                chains[one['chain']][one['task']] = one
            else:
                turns[one['pid']] = {name: one[name] for name in ('asked', 'got', 'gave')}
    return chains, turns


def judge(trace, told):
    chains, turns = read_told(told)
    paths, named, right = paths_of(trace), 0, 0
    for number, tasks in sorted(chains.items()):
        words = '+'.join(tasks[step]['by'] for step in sorted(tasks))
        mine = [path for path in paths.values() if path[0]['pid'] == tasks[0]['pid'] and
                path[0]['tracker'] == 'syscalls' and path[0]['start'] <= tasks[0]['got'] and
                path[0]['start'] + path[0]['total'] >= tasks[0]['asked']]
        unnamed, wrong, worst = check(tasks, turns, max(mine, key=lambda path: path[0]['total'])) if mine else (
            ['no path'], [], 0)
        named += not unnamed
        right += not unnamed + wrong
        print(f'chain {number} {words}: worst {worst / MS:.2f} ms {"; ".join(unnamed + wrong) or "right"}')
    print(f'chains={len(chains)} named={named} right={right}')


def invented(trace, told):
    """A cause that is named is of the chain, or of "inject", which has started it."""
    (tasks,) = read_told(told)[0].values()
    known = {one['pid'] for one in tasks.values()} | {-1}
    others = [fields for path in paths_of(trace).values() if path[0]['pid'] == tasks[0]['pid']
              for fields in path if fields['cause'] in ('task', 'lock') and
              fields['by_pid'] not in known and fields['by_comm'] != 'inject']
    print(f'invented={len(others)}')


def add_up(trace):
    """The begin of a trace may be lost, and a path with it."""
    whole = [path for path in paths_of(trace).values() if len(path) == path[0]['segments']]
    wrong = [text for path in whole for text in sums(path)]
    print('\n'.join([*wrong[:10], f'paths={len(whole)} wrong={len(wrong)}']))


def main():
    what, *words = sys.argv[1:]
    if what == 'invented':
        invented(*words)
        return
    if what == 'sums':
        add_up(*words)
        return
    if what == 'judge':
        judge(*words)
        return
    random.seed(int(words[1]))
    chains_at_random(int(words[0]), words[2:])


if __name__ == '__main__':
    main()
