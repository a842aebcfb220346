# SPDX-License-Identifier: GPL-2.0-only
"""watch --still: what is pending at this moment."""
from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Collection, Iterator

from latency_tracker import Error
from latency_tracker.cmd_paths import Follower, PathSink
from latency_tracker.cmd_reports import Filter
from latency_tracker.machine import Machine
from latency_tracker.output import Output
from latency_tracker.paths import EVENT, Path, operations
from latency_tracker.records import Reader, Report
from latency_tracker.show import Shower, stack_of_call
from latency_tracker.show_paths import PathShower
from latency_tracker.signals import Signals
from latency_tracker.stacks import Symbols, kallsyms
from latency_tracker.state import Tracker, chosen
from latency_tracker.words import words

# So many operations are reported at once; the tracker keeps twice as many.
PAGE = 32
# Where no threshold says what is late.
OVER_NS = 10**9
# The module critical_path looks for a path some 20 ms behind the report; a busy machine takes longer.
PATH_SECONDS, LOOK_SECONDS = 2.0, 0.05


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


class Paths:
    """From its making to close(), what pending operations are made of so far, by the module critical_path; none without
    it. error: why there are none, though it is there."""

    def __init__(self, machine: Machine, args: argparse.Namespace, trackers: list[Tracker]) -> None:
        self.found: dict[tuple[str, int, int], Path] = {}
        self.follower: Follower | None = None
        self.error = ''
        self.signals = Signals()
        part = Tracker(machine, EVENT)
        told = operations(part) if part.loaded else []
        self.of = [tracker for tracker in trackers if tracker.name in told]
        args = argparse.Namespace(**vars(args) | {'buffer': 0})
        try:
            if self.of:
                self.follower = Follower(machine, args, self.of, PathSink(machine, args, self.of, self._take), self.signals)
        except Error as error:
            self.error = str(error)

    def _take(self, path: Path) -> None:
        if path.flag == 'pending':
            self.found[path.tracker, path.pid, path.delay_ns] = path

    def wait(self, reports: Collection[Report]) -> None:
        """For those of some reports, but not for long: there may be none."""
        names = {tracker.name for tracker in self.of}
        wanted = {_operation(report) for report in reports if report.tracker in names}
        end = time.monotonic() + PATH_SECONDS
        while self.follower and wanted - self.found.keys() and time.monotonic() < end and not self.signals.caught:
            self.follower.until(time.monotonic() + LOOK_SECONDS)
        if self.follower:
            # What has come by then; to understand it may take longer.
            self.follower.finish()

    def close(self) -> None:
        """No more."""
        if self.follower:
            self.follower.close()
        self.signals.close()


def _operation(report: Report) -> tuple[str, int, int]:
    """As Gatherer knows it."""
    return report.tracker, report.number('pid'), report.delay_ns


def _look(args: argparse.Namespace, machine: Machine) -> tuple[list[Report], int, Paths]:
    """What is pending, how many reports were missed, and paths."""
    trackers = chosen(machine, args.trackers)
    paths = Paths(machine, args, trackers)
    try:
        found, missed = pending(trackers, args.over, Filter(args, machine).passes)
        paths.wait([report for report in found if args.all or not words(report).idle])
    finally:
        paths.close()
    return found, missed, paths


def still(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """The exit status: 2 if something is pending that does not wait for something to do."""
    if args.seconds:
        raise Error('--still looks once: it has no --for')
    found, missed, paths = _look(args, machine)
    shower, trees = Shower(machine, out, args.stack), PathShower(machine, out, args.stack)
    shown = idle = 0
    for report in found:
        of = words(report, stack_of_call(machine, report))
        if of.idle and not args.all:
            idle += 1
        elif not args.max or shown < args.max:
            shower.show(report, of)
            path = paths.found.get(_operation(report))
            if path:
                trees.show_below(path)
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
    if paths.error:
        out.line(f'without what they are made of: {paths.error}', 'yellow')
    return 2 if shown else 0
