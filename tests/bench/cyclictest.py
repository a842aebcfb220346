#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""latency_tracker_chain, judged by cyclictest: how late does each say that a task of cyclictest ran? What
tests/bench/guest/chain-guest has left in a directory is read.

Of cyclictest its latencies are known, in order, and that it begins at a full second: from that follows when each activation
was due, as its source has it. So a report counts only if it is of exactly that moment. cyclictest looks at its clock when its
call has returned, chain when the kernel leaves for user space, or where that is not told, when it switches to the task; both
are before that.

Why the two differ by more, the other events of the trace say: what happened between the two moments on that CPU, in the name
of cyclictest. If the kernel's own event of the switch is among them, that is compared with what chain tells, too."""
from __future__ import annotations

import argparse
import bisect
import json
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TOLERANCE = 5000
# What happened is the reason, if without it there is no more left than that: an interrupt also takes time before its first
# event, and behind its last one; and of some things the trace does not tell how long they take.
AROUND, UNTOLD = 5000, 25000
# By how much the maximum may be above that without trackers.
ABOVE = 2000
SECOND = 10**9
LISTED = 20
EVENT = re.compile(r'^ *(.+)-(\d+) +\[(\d+)\] \S+ +(\d+)\.(\d{6}): (\w+): ?(.*)$')
WAKING = re.compile(r'comm=(.*) pid=\d+ prio=(\d+)')
FIELD = re.compile(r'(\w+)=(\S+?)(?:,|\s|$)')


class Report(NamedTuple):
    """What chain tells, ns: the moment that the timer was programmed for, the one at which the task has a CPU, and the one
    at which it is in user space, or the same again."""
    start: int
    switched: int
    ran: int
    cpu: int


class Event(NamedTuple):
    """Of the trace, ns, up to the microsecond."""
    time: int
    cpu: int
    name: str
    text: str


class Off(NamedTuple):
    """An activation: by how much cyclictest's latency is above chain's, and why that is so much."""
    index: int
    latency: int
    off: int | None
    why: str


# --- what is read ---------------------------------------------------------------------

def latencies_of(path: Path, count: int) -> list[int]:
    """Lines TASK:NUMBER:NS. A value that was overwritten before it was printed would be one too few."""
    found = []
    for line in path.read_text().splitlines():
        words = line.split(':')
        if len(words) != 3 or not all(word.strip().isdigit() for word in words):
            continue
        if int(words[1]) != len(found):
            raise SystemExit(f'{path}: {len(found)} is followed by {words[1].strip()}')
        found.append(int(words[2]))
    if len(found) < count:
        raise SystemExit(f'{path}: {len(found)} activations instead of {count}')
    return found[:count]


def events_of(path: Path) -> Iterator[Event]:
    with path.open(encoding='utf-8', errors='replace') as lines:
        for line in lines:
            if found := EVENT.match(line):
                _, _, cpu, seconds, usecs, name, text = found.groups()
                yield Event(int(seconds) * SECOND + int(usecs) * 1000, int(cpu), name, text)


def report_of(event: Event) -> Report:
    fields = dict(FIELD.findall(event.text))
    start, raised, handled, waited = (int(fields[name]) for name in ('start', 'raise', 'handling', 'waiting'))
    switched = start + raised + handled + waited
    return Report(start, switched, switched + max(0, int(fields['returning'])), int(fields['run_cpu']))


def due_times(latencies: list[int], first: int, interval: int) -> list[int]:
    """As cyclictest has it: one interval after the other, but for those that have passed already when it looks."""
    due, times = first, []
    for latency in latencies:
        times.append(due)
        now = due + latency
        due += interval
        while now > due:
            due += interval
    return times


# --- why ------------------------------------------------------------------------------

class Around:
    """What happened on the CPU of cyclictest, in its name."""

    def __init__(self, events: list[Event], prio: int) -> None:
        self.events = sorted(events, key=lambda event: event.time)
        self.times = [event.time for event in self.events]
        self.prio = prio
        # The kernel's own events of the switch to it.
        self.switches = [event.time for event in self.events if self.is_switch_to(event)]

    def is_switch_to(self, event: Event) -> bool:
        return event.name == 'sched_switch' and f'next_prio={self.prio}' in event.text

    def between(self, begin: int, end: int, cpu: int) -> list[Event]:
        """As the time in the trace is cut off, what was in the same microsecond counts."""
        first = bisect.bisect_left(self.times, begin - begin % 1000)
        last = bisect.bisect_right(self.times, end)
        return [event for event in self.events[first:last] if event.cpu == cpu]

    def costs(self, events: list[Event]) -> Counter[str]:
        """What took the time, in ns. An interrupt lasts from its first event to the last one in its name: the soft interrupts
        that follow, and the tasks that it wakes. Of what has no length only that it was there."""
        costs: Counter[str] = Counter()
        what, since = '', 0
        for event in events:
            if what:
                costs[what] += event.time - since
                since = event.time
            if event.name == 'sched_switch':
                what, since = '', event.time
                if not self.is_switch_to(event):
                    what = 'preempted by ' + re.sub(r'.*next_comm=(.*) next_pid=.*', r'\1', event.text)
            elif event.name == 'sys_exit':
                what = ''
            elif event.name.endswith('_entry') and not event.name.startswith(('irq_handler', 'softirq')):
                what, since = f'interrupt {event.name.removesuffix("_entry")}', event.time
                costs[what] += 0
            elif event.name.startswith('page_fault'):
                costs['page fault'] += 0
            elif event.name == 'chain_latency':
                costs['chain reports that another task has gone to sleep'] += 0
            if event.name == 'sched_waking' and (found := WAKING.match(event.text)) and int(found[2]) < self.prio:
                costs[f'{found[1]} is woken, of a higher priority'] += 0
        return costs

    def where(self, report: Report, events: list[Event], end: int) -> str:
        """Of the time between: what of it was in the kernel, if there is a witness."""
        left = [event.time for event in events if event.name == 'sys_exit']
        if not left or not self.switches:
            return ''
        kernel = max(0, left[-1] - report.ran)
        return f', {kernel / 1000:.0f} us in the kernel, {(end - report.ran - kernel) / 1000:.0f} us in cyclictest'

    def why(self, report: Report, latency: int, usual: int) -> str:
        """The reason, if it accounts for the time; else what is known."""
        end = report.start + latency
        off = end - report.ran
        events = self.between(report.ran, end, report.cpu)
        costs = self.costs(events)
        named = ' and '.join(f'{name}, {took / 1000:.0f} us' if took else name for name, took in costs.most_common())
        left = off - sum(costs.values())
        rest = f'{left / 1000:.0f} us besides'
        if costs and left <= max(TOLERANCE, usual) + (AROUND if all(costs.values()) else UNTOLD):
            return f'{named}; {rest}'
        where = self.where(report, events, end)
        if not costs and usual > TOLERANCE and off <= 3 * usual:
            return f'the way from the switch to its clock, which takes {usual / 1000:.0f} us here at the median{where}'
        return f'unknown{where}{"; " if named else ""}{named}; {rest}'

    def as_switched(self, reports: list[Report]) -> tuple[int, int]:
        """Of how many reports the kernel's own event of a switch is within the tolerance; and of how many it is known."""
        near = 0
        for report in reports:
            at = bisect.bisect_left(self.switches, report.switched - report.switched % 1000)
            near += at < len(self.switches) and self.switches[at] - report.switched <= TOLERANCE
        return near, len(reports) if self.switches else 0


# --- agreement ------------------------------------------------------------------------

class Verdict(NamedTuple):
    """Of each activation; how many moments that chain tells are none of cyclictest's, or twice."""
    offs: list[Off]
    invented: int

    def good(self) -> list[Off]:
        return [off for off in self.offs if off.off is not None and 0 <= off.off <= TOLERANCE]


def judge(latencies: list[int], reports: list[Report], interval: int, around: Around | None = None) -> Verdict:
    """around: without it no reasons are looked for."""
    if not reports:
        return Verdict([Off(i, latency, None, 'not told') for i, latency in enumerate(latencies)], 0)
    # The first one is an interval behind a full second.
    first = reports[0].start // SECOND * SECOND + interval
    due = due_times(latencies, first, interval)
    wanted = set(due)
    told: dict[int, Report] = {}
    invented = 0
    for report in reports:
        if report.start > due[-1]:
            continue
        invented += report.start not in wanted or report.start in told
        told.setdefault(report.start, report)
    offs = []
    for i, (latency, start) in enumerate(zip(latencies, due)):
        found = told.get(start)
        offs.append(Off(i, latency, None if found is None else start + latency - found.ran, ''))
    usual = int(statistics.median([off.off for off in offs if off.off is not None] or [0]))

    def reason(off: Off) -> str:
        if off.off is None:
            return 'not told'
        if off.off < 0:
            return 'told to run after cyclictest has seen its clock'
        return around.why(told[due[off.index]], off.latency, usual) if around else ''

    return Verdict([off if off.off is not None and 0 <= off.off <= TOLERANCE else off._replace(why=reason(off))
                    for off in offs], invented)


def passes(verdict: Verdict, percent: float) -> bool:
    return not verdict.invented and len(verdict.good()) >= len(verdict.offs) * percent / 100


def twins(latencies: list[int], reports: list[Report], interval: int, verdict: Verdict) -> dict[str, bool]:
    """The same with reports that are wrong by a hair: is each noticed?"""
    middle = len(reports) // 2
    wrong = {
        'timers that expire 3 us later than programmed': [r._replace(start=r.start + 3000) for r in reports],
        'the same, with tasks as late as before': [r._replace(start=r.start + 3000, ran=r.ran + 3000) for r in reports],
        'tasks that run 5 us earlier': [r._replace(ran=r.ran - 5000) for r in reports],
        'tasks that run 3 us later': [r._replace(ran=r.ran + 3000) for r in reports],
        'one that is not told': reports[:middle] + reports[middle + 1:],
        'one that is told twice': reports[:middle] + reports[middle - 1:],
        'the latencies of the ones before': [r._replace(ran=r.start + before.ran - before.start)
                                             for before, r in zip(reports, reports[1:])],
    }
    found = {name: judge(latencies, value, interval) for name, value in wrong.items()}
    return {name: len(other.good()) < len(verdict.good()) or other.invented > verdict.invented
            for name, other in found.items()}


def figures(values: list[int]) -> dict[str, float]:
    values = sorted(values)
    return {'min': values[0], 'mean': statistics.fmean(values), 'p99': values[len(values) * 99 // 100],
            'p99.9': values[len(values) * 999 // 1000], 'max': values[-1]}


def in_us(value: float) -> str:
    return f'{value / 1000:.2f}'


def in_words(values: dict[str, float]) -> str:
    return ', '.join(f'{name} {in_us(value)}' for name, value in values.items())


def kind_of(why: str) -> str:
    """Without figures."""
    return re.sub(r', \d+ us( in the kernel| in cyclictest)?|;.*|, which takes.*', '', why)


def read_trace(args: argparse.Namespace) -> tuple[list[Report], list[Event]]:
    """The reports about the thread of cyclictest, from its first activation on, and all else."""
    reports, events = [], []
    for event in events_of(args.directory / 'trace'):
        if event.name != 'chain_latency' or f' prio={args.prio},' not in event.text:
            events.append(event)
        elif 'irq=-1,' in event.text and 'flag=ended' in event.text and 'function=hrtimer_wakeup' in event.text:
            reports.append(report_of(event))
    # The thread sleeps for other reasons before it begins.
    due = args.interval * 1000
    first = next((i for i, report in enumerate(reports) if report.start % SECOND == due), len(reports))
    if reports and first == len(reports):
        print(f'  no report is of {args.interval} us behind a full second, when the first one is due; one is of '
              f'{in_us(reports[-1].start % SECOND)} us behind it')
    return reports[first:], events


def print_outliers(args: argparse.Namespace, outliers: list[Off]) -> None:
    """How many there are of each kind, and the worst; all of them are in a file."""
    print(f'  {len(outliers)} outliers, {sum(off.why.startswith("unknown") for off in outliers)} of unknown cause')
    for kind, number in Counter(kind_of(off.why) for off in outliers).most_common():
        print(f'    {number:6} {kind}')
    for off in sorted(outliers, key=lambda off: -(off.off or SECOND))[:LISTED]:
        told = '-' if off.off is None else in_us(off.latency - off.off)
        print(f'    number {off.index}: cyclictest {in_us(off.latency)}, chain {told} us: {off.why}')
    with (args.directory / 'outliers').open('w', encoding='utf-8') as out:
        out.writelines(f'{json.dumps(off._asdict())}\n' for off in outliers)


def agree(args: argparse.Namespace) -> int:
    interval = args.interval * 1000
    latencies = latencies_of(args.directory / 'values', args.activations)
    reports, events = read_trace(args)
    around = Around(events, args.prio)
    verdict = judge(latencies, reports, interval, around)
    good, known = verdict.good(), [off.off for off in verdict.offs if off.off is not None]
    print(f'  cyclictest, us: {in_words(figures(latencies))}')
    print(f'  {len(good)} of {len(verdict.offs)} activations agree within {TOLERANCE // 1000} us '
          f'({100 * len(good) / len(verdict.offs):.6g} %)')
    if known:
        print(f'  cyclictest later than chain, us: {in_words(figures(known))}')
    near, seen = around.as_switched(reports)
    if seen:
        print(f'  of {seen} reports, {near} have the task switched to within {TOLERANCE // 1000} us of the event sched_switch '
              f'({100 * near / seen:.4g} %)')
    print(f'  {verdict.invented} reports are of no activation')
    print_outliers(args, [off for off in verdict.offs if off.why])
    print('  counted: ' + ', '.join((args.directory / 'counts').read_text().splitlines()))
    result = passes(verdict, args.percent)
    if 2 * len(good) > len(verdict.offs):
        found = twins(latencies, reports, interval, verdict)
        unseen = [name for name, noticed in found.items() if not noticed]
        print(f'  of {len(found)} twins, with reports that are wrong by a hair, {len(found) - len(unseen)} are noticed')
        for name in unseen:
            print(f'  NOT NOTICED: {name}')
            result = False
    print(f'  {"reached" if result else "MISSED"}: {args.percent:g} % within {TOLERANCE // 1000} us')
    return int(not result)


# --- with and without -----------------------------------------------------------------

def maximum(args: argparse.Namespace) -> int:
    values: dict[str, list[int]] = {'without': [], 'with': [], 'quiet': []}
    print(f'  {"cyclictest, us":18} {"mean":>8} {"p99.9":>8} {"max":>8}')
    for number in range(1, args.rounds + 1):
        for name, into in values.items():
            found = latencies_of(args.directory / f'{number}.{name}', args.activations)
            into += found
            line = figures(found)
            print(f'  {f"round {number} {name}":18} ' + ' '.join(f'{in_us(line[key]):>8}' for key in ('mean', 'p99.9', 'max')))
    total = {name: figures(found) for name, found in values.items()}
    for name, line in total.items():
        print(f'  {f"all {name}":18} ' + ' '.join(f'{in_us(line[key]):>8}' for key in ('mean', 'p99.9', 'max')))
    above = {}
    for name in ('quiet', 'with'):
        above = {key: total[name][key] - total['without'][key] for key in ('mean', 'p99.9', 'max')}
        print(f'  {f"more, {name}":18} ' + ' '.join(f'{in_us(value):>8}' for value in above.values()))
        print(f'  {"in instructions":18} ' + ' '.join(f'{value / 2:8.0f}' for value in above.values()))
    late: Counter[str] = Counter()
    for text in (args.directory / 'late').read_text(encoding='ascii').splitlines():
        tracker, number = text.split()
        late[tracker] += int(number)
    print('  late meanwhile, at the defaults: ' + ', '.join(f'{tracker} {number}' for tracker, number in late.items() if number))
    result = above['max'] <= ABOVE
    print(f'  {"reached" if result else "MISSED"}: the maximum is {in_us(above["max"])} us above, '
          f'{ABOVE // 1000} us are allowed')
    return int(not result)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('what', choices=('agree', 'maximum'))
    parser.add_argument('directory', type=Path)
    parser.add_argument('--activations', type=int, required=True, help='of each file')
    parser.add_argument('--interval', type=int, default=497, help='between them, in us')
    parser.add_argument('--prio', type=int, default=4, help='of the task, as the kernel counts')
    parser.add_argument('--percent', type=float, default=100, help='so many have to agree')
    parser.add_argument('--rounds', type=int, default=1)
    args = parser.parse_args()
    return agree(args) if args.what == 'agree' else maximum(args)


if __name__ == '__main__':
    sys.exit(main())
