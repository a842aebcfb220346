#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares what a tool prints of the trackers' events with what the kernel prints.

Usage: same-events.py KERNEL TOOL [EVENT...]

KERNEL is a trace of ftrace, TOOL the output of trace-cmd report or perf script of the same
time. Prints "#" lines about what differs, then one line of figures: events=N of KERNEL in
TOOL, each of EVENT among them at least once, and with all fields alike, differ=N, stacks=N
not empty, absent=EVENT of those that KERNEL or TOOL does not have, unparsed=N lines. What
perf can't see is not among them.
"""
import re
import sys

# "%pS" of the kernel says more than that of the tools.
FRAME = re.compile(r'/0x[0-9a-f]+( \[\w+\])?')
LINE = re.compile(r'\b([a-z]+_(?:latency(?:_stack)?|sched_switch|sched_wakeup)): +(.*)')
# See latency_tracker_format.h: how many frames the tools can print, and what is none.
SHOWN = 12
NOWHERE = '0xffffff'
# While it wakes its reader, perf takes no event, which might lead to another wake-up:
# perf_pending_irq(), on older kernels perf_pending_event().
BLIND = 'perf_pending_'


def addresses():
    """{name: addresses}: one has several names, of which perf and the kernel may take others."""
    symbols = {}
    with open('/proc/kallsyms', encoding='ascii') as lines:
        for line in lines:
            address, _, name = line.split()[:3]
            symbols.setdefault(name, set()).add(int(address, 16))
    return symbols


SYMBOLS = addresses()


def places(frame):
    """The addresses that "name+0xoffset" may be."""
    name, _, offset = frame.partition('+')
    return {address + int(offset or '0', 16) for address in SYMBOLS.get(name, ())}


def stack_of(text):
    """Frames of a stack, innermost first, and whether the tool says that there are more."""
    frames = [FRAME.sub('', frame).strip() for frame in text.split(' <- ')]
    more = frames[-1] == '...'
    return [frame for frame in frames if frame not in ('-', NOWHERE, '...', '')], more


def events_of(path):
    """{(event, start, other fields): (stack, more)} of a trace, and lines not parsed."""
    events, unparsed = {}, 0
    with open(path, encoding='utf-8', errors='replace') as lines:
        for line in lines:
            unparsed += 'FAILED TO PARSE' in line
            match = LINE.search(line)
            if not match or 'start=' not in match.group(2):
                continue
            text, _, stack = match.group(2).partition('stack=')
            # Addresses are hashed by the kernel, and in another way by the tools; a
            # function of a module has its name behind it only in the kernel's text.
            text = re.sub(r', skbaddr=\S+', '', FRAME.sub('', text)).rstrip(', ')
            text = re.sub(r'(handler=\w+) \[\w+\]', r'\1', text)
            text = text.replace(f'location={NOWHERE}', 'location=0x0')
            events[match.group(1), ' '.join(text.split())] = stack_of(stack)
    return events, unparsed


def differs(kernel, tool):
    """Does the tool show another stack than the kernel?"""
    stack, more = tool
    return (len(stack) != min(len(kernel), SHOWN) or more != (len(kernel) > SHOWN) or
            any(a != b and not places(a) & places(b) for a, b in zip(kernel, stack)))


def main():
    """Compare, print."""
    kernel, _ = events_of(sys.argv[1])
    tool, unparsed = events_of(sys.argv[2])
    blind = [key for key in kernel
             if key not in tool and any(frame.startswith(BLIND) for frame in kernel[key][0])]
    for key in blind:
        print('# perf was blind:', *key)
        del kernel[key]
    common = [key for key in kernel if key in tool]
    wrong = [key for key in common if differs(kernel[key][0], tool[key])]
    for key in wrong[:5]:
        print('# kernel:', *key, kernel[key])
        print('# tool:  ', *key, tool[key])
    for key in [key for key in kernel if key not in tool][:5]:
        print('# only the kernel:', *key, kernel[key])
    absent = [event for event in sys.argv[3:] if all(key[0] != event for key in common)]
    print(f'events={len(common)} of={len(kernel)} differ={len(wrong)}',
          f'stacks={sum(bool(kernel[key][0]) for key in common)}',
          f'absent={"+".join(absent) or "none"} unparsed={unparsed}')


main()
