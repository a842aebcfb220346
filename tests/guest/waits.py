#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Whether the reports in a trace explain what a task has waited for, by its own clock.

Usage: waits.py TRACE WAITS NAME...

WAITS has lines with pid=, begin= and end=, in ns, and maybe cpu=, how much of that it was on a CPU,
and so did not wait; pid=0 is a packet. Reports about that thread, about
disks, packets and interrupts count. Prints what the reports cover of the time, which NAMEs no field has,
and which causes are named that are none, each of at least a fifth of the time:
    took=NS waited=NS covered=NS unknown=NS missing=NAME+NAME other=NAME+NAME named=NAME+NAME
A NAME is FIELD:VALUE, such as call:fsync, state:stopped, waker:COMM, holder:COMM, cause:throttled, stall:memory,
disk:sda, stage:device, io:throttled (of a bio), packet:lo, qdisc:KIND, irq:NAME, lock:KIND, held:COMM
(who held the lock), path:CAUSE (of the segments of hop 0 of a critical path). One with a ? behind it may be
named, or not.
"""
import sys
from collections import Counter

import ftrace

# What these fields say is the cause of a wait, if it is there.
CAUSES = {'state:' + state for state in ('preempted', 'yielded', 'throttled', 'stopped', 'traced',
                                         'frozen', 'other')}
CAUSE_FIELDS = ('path', 'cause', 'holder', 'disk', 'io', 'packet', 'qdisc', 'irq', 'stall', 'lock', 'held')
OTHERS = 'of others: '
UNKNOWN = {'state:unknown', 'cause:unknown', 'io:unknown', 'path:unknown', 'path:lost', 'path:cut'}


def names(event, fields):
    """What a report says of the cause."""
    if event == 'critical_path':
        return {f'path:{fields["cause"]}'}
    if event == 'syscall_latency':
        return {f'call:{fields["call"]}'}
    if event == 'offcpu_sched_switch':
        woken = {f'waker:{fields["waker_comm"]}'} if fields['waker_context'] == 'task' else set()
        memory = {'stall:memory'} if fields['stall'].startswith('memory') else set()
        return {f'state:{fields["state"]}'} | woken | memory
    if event == 'wakeup_latency':
        held = {f'holder:{fields["holder_comm"]}'} if fields['cause'] == 'cpu' else set()
        return {f'cause:{fields["cause"]}'} | held
    if event == 'block_latency':
        bio = {f'io:{fields["cause"]}'} if fields['stage'] == 'bio' else set()
        return {f'{name}:{fields[name]}' for name in ('disk', 'stage')} | bio
    if event == 'network_latency':
        queue = {f'qdisc:{fields["qdisc"]}'} if fields['stage'] == 'send' else set()
        return {f'packet:{fields["dev"]}'} | queue
    if event == 'irq_latency':
        return {f'irq:{fields["name"].replace(" ", "_")}'}
    if event == 'lock_latency':
        held = {f'held:{fields["holder_comm"]}'} if fields['holder_comm'] != '-' else set()
        return {f'lock:{fields["kind"]}'} | held
    return set()


def is_about(event, fields, pid, interrupts):
    """Of a task only what is about it; disks and packets are nobody else's here. An interrupt is
    about a CPU: only where one is injected it is the victim's."""
    if event == 'irq_latency':
        return interrupts
    if event == 'critical_path' and fields['hop'] != '0':
        return False
    if event == 'block_latency':
        return bool(pid)
    if event == 'network_latency':
        return not pid or fields['stage'] == 'send'
    return fields['pid'] == str(pid)


def union(spans):
    """The length of all of them together."""
    total = last = 0
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, last))
        last = max(last, end)
    return total


def spans_of(trace, waits, wanted):
    """By name, and '' for all: which parts of the waits the reports are about."""
    spans, interrupts = {'': []}, any(name.startswith('irq:') for name in wanted)
    for line in ftrace.read(trace):
        fields = ftrace.report(line.text) if line.event.endswith(('_latency', '_switch', '_path')) else {}
        if fields.get('flag') != 'ended':
            continue
        begin = int(fields['start'])
        for pid, first, last in waits:
            span = max(begin, first), min(begin + int(fields['delay']), last)
            if span[0] < span[1] and is_about(line.event, fields, pid, interrupts):
                for name in names(line.event, fields) | {''}:
                    if name.startswith('io:') and fields['pid'] != str(pid):
                        name = OTHERS + name
                    spans.setdefault(name, []).append(span)
    # What kept the bios of others is why it waited only if it has none of its own.
    own = any(name.startswith('io:') for name in spans)
    return {name.replace(OTHERS, ''): of for name, of in spans.items()
            if not (own and name.startswith(OTHERS))}


def judge(trace, lines, wanted):
    waits, worked = [], 0
    for line in lines:
        fields = dict(word.split('=', 1) for word in line.split() if '=' in word)
        if 'begin' in fields:
            waits.append((int(fields['pid']), int(fields['begin']), int(fields['end'])))
            worked += int(fields.get('cpu', 0))
    length = Counter({name: union(spans) for name, spans in spans_of(trace, waits, wanted).items()})
    waited = sum(end - begin for _, begin, end in waits) - worked
    named = {name for name in length if name and length[name] * 5 >= waited}
    maybe = {name.rstrip('?') for name in wanted}
    wanted = {name for name in wanted if not name.endswith('?')}
    causes = {name for name in named if name in CAUSES or name.split(':')[0] in CAUSE_FIELDS}
    return {'took': waited + worked, 'waited': waited, 'covered': length[''],
            'unknown': max(length[name] for name in UNKNOWN),
            'missing': '+'.join(sorted(wanted - named)),
            'other': '+'.join(sorted(causes - maybe - UNKNOWN)),
            'named': '+'.join(sorted(named))}


def main():
    with open(sys.argv[2], encoding='utf-8') as lines:
        seen = judge(sys.argv[1], lines, sys.argv[3:])
    print(' '.join(f'{name}={value}' for name, value in seen.items()))


if __name__ == '__main__':
    main()
