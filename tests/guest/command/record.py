#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Whether a recording has what the kernel has printed of the same events.

Usage: record.py RECORDING TRACE COMM

Prints how many reports there are, how many have no line in the trace, how many fields were compared and how
many are wrong, how many sleeps of COMM and how many of these have a stack where they were switched out:
    reports=N alone=N told=N wrong=N calls=N blocks=N events=N
"""
import json
import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
import ftrace

SAMPLES = ('offcpu_sched_wakeup', 'syscall_latency_stack')
# What a recording has of other events.
OF_SAMPLES = ('waker_stack', 'switched_stack', 'switched_until')


def frames(text):
    """Of a stack, as a recording has them: without sizes."""
    return [] if text == '-' else [re.sub(r'/0x[0-9a-f]+', '', frame) for frame in text.split(' <- ')]


def is_same(name, value, printed):
    if isinstance(value, list):
        # The kernel prints the twelve innermost.
        return [frame.split('+')[0] for frame in value[:12]] == [frame.split('+')[0] for frame in frames(printed)[:12]]
    if name == 'dev' and isinstance(value, int):
        value = f'{value >> 20},{value & 0xfffff}'
    if name == 'protocol':
        value = f'{value:#06x}'
    if name in ('handler', 'location'):
        # The kernel prints no address as a number.
        value, printed = str(value).split('+', maxsplit=1)[0], re.split('[+ ]', printed)[0].replace('0x0', '-')
    return str(value) == printed


def main():
    lines = {}
    for line in ftrace.read(sys.argv[2]):
        if line.event not in SAMPLES:
            fields = ftrace.report(line.text)
            lines[line.event, fields.get('start'), fields.get('delay'), fields.get('pid')] = fields
    reports = alone = told = wrong = calls = blocks = 0
    events = set()
    with open(sys.argv[1], encoding='utf-8') as recording:
        for line in recording:
            entry = json.loads(line)
            if entry['type'] != 'report':
                continue
            reports += 1
            events.add(entry['event'])
            fields = entry['fields']
            if fields.get('comm') == sys.argv[3] and 'nanosleep' in fields.get('call', ''):
                calls += 1
                blocks += 'switched_stack' in fields
            printed = lines.get((entry['event'], str(entry['start_ns']), str(entry['delay_ns']), str(fields.get('pid'))))
            if not printed:
                alone += 1
                print('# not in the trace:', entry['says'])
                continue
            for name, value in fields.items():
                if name in OF_SAMPLES or name == 'netns' and name not in printed:
                    continue
                # A number that is told by its name is printed as "name", too.
                of = printed.get('name') if entry['event'] == 'softirq_latency' and name == 'vec' else printed.get(name)
                told += 1
                if of is None or not is_same(name, value, of):
                    wrong += 1
                    print('#', entry['event'], name, value, of)
    print(f'reports={reports} alone={alone} told={told} wrong={wrong} calls={calls} blocks={blocks} events={len(events)}')


if __name__ == '__main__':
    main()
