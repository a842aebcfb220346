# SPDX-License-Identifier: GPL-2.0-only
"""watch --still: what is pending at this moment."""
from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

from latency_tracker import Error
from latency_tracker.cmd_reports import Filter
from latency_tracker.machine import Machine
from latency_tracker.output import Output
from latency_tracker.records import Reader, Report
from latency_tracker.show import Shower, stack_of_call
from latency_tracker.stacks import Symbols, kallsyms
from latency_tracker.state import Tracker, chosen
from latency_tracker.words import words

# So many operations are reported at once; the tracker keeps twice as many.
PAGE = 32
# Where no threshold says what is late.
OVER_NS = 10**9


class Pending:
    """Of one tracker. What the tracker has left out as doubtful, or has overwritten before it was read, is counted
    in missed."""

    def __init__(self, tracker: Tracker, symbols: Symbols) -> None:
        if tracker.read('profile/on') != '1':
            raise Error(f'{tracker.name} keeps no reports while its profile is off: latency-tracker set '
                        f'{tracker.name} profile=on')
        self.tracker, self.missed = tracker, 0
        self.reader = Reader(tracker, 'last', symbols)
        self.newest = max((report.nr for report in self.reader.last()), default=0)

    def over_ns(self) -> int:
        """How long something is pending that is late."""
        return min(self.tracker.number('threshold_now_ns'), OVER_NS)

    def _page(self, over_ns: int, after_ns: int) -> tuple[int, list[Report]]:
        """Those that began first after a moment. Returns how many were reported, and what of it was
        kept."""
        before = self.tracker.number('report_pending')
        self.tracker.write('report_pending', f'{over_ns} {after_ns}')
        count = self.tracker.number('report_pending') - before
        found = self.reader.last(self.newest)
        self.newest = found[-1].nr if found else self.newest
        page = [report for report in found
                if report.asked and report.start_ns > after_ns and report.delay_ns >= over_ns]
        self.missed += max(count - len(page), 0)
        return count, page

    def all(self, over_ns: int) -> Iterator[Report]:
        """In the order of their begins, each once."""
        after_ns, seen = 0, set()
        while True:
            count, page = self._page(over_ns, after_ns)
            new = []
            for report in sorted(page, key=lambda report: report.start_ns):
                operation = report.start_ns, report.event, str(sorted(
                    (name, str(value)) for name, value in report.values.items() if name != 'delay'))
                if operation not in seen:
                    seen.add(operation)
                    new.append(report)
            yield from new
            if count < PAGE or not new:
                return
            # Others may have begun in the same nanosecond.
            after_ns = new[-1].start_ns - 1

    def close(self) -> None:
        """No more."""
        self.reader.close()


def pending(trackers: list[Tracker], over_ns: int | None, passes: Callable[[Report], bool]) -> tuple[list[Report], int]:
    """What is pending, that which began first in front, and how many reports were missed."""
    symbols = Symbols(kallsyms)
    found, missed = [], 0
    for tracker in trackers:
        of = Pending(tracker, symbols)
        found += [report for report in of.all(of.over_ns() if over_ns is None else over_ns)
                  if not report.own and passes(report)]
        missed += of.missed
        of.close()
    return sorted(found, key=lambda report: report.start_ns), missed


def still(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """The exit status: 2 if something is pending that does not wait for something to do."""
    if args.seconds:
        raise Error('--still looks once: it has no --for')
    found, missed = pending(chosen(machine, args.trackers), args.over, Filter(args, machine).passes)
    shower = Shower(machine, out, args.stack)
    shown = idle = 0
    for report in found:
        of = words(report, stack_of_call(machine, report))
        if of.idle and not args.all:
            idle += 1
        elif not args.max or shown < args.max:
            shower.show(report, of)
            shown += not of.idle
    out.object('still', shown=shown, idle=idle)
    more = f'{idle:,} that wait for something to do, which --all shows' if idle else ''
    if not shown:
        out.line('nothing is pending that long' + (f', but {more}' if more else ''), 'dim')
    elif more:
        out.line(f'and {more}', 'dim')
    if missed:
        out.object('missed', count=missed)
        out.line(f'{missed:,} more could not be read, or are doubtful', 'yellow')
    return 2 if shown else 0
