# SPDX-License-Identifier: GPL-2.0-only
"""worst, last, watch."""
from __future__ import annotations

import argparse
import fnmatch
import os
import select
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from latency_tracker import Error
from latency_tracker.cgroups import Cgroups
from latency_tracker.machine import Machine
from latency_tracker.output import Output
from latency_tracker.records import Reader, Report
from latency_tracker.show import Shower, Summary, show_all, stack_of_call
from latency_tracker.signals import Signals
from latency_tracker.stacks import Symbols, kallsyms
from latency_tracker.state import Tracker, chosen
from latency_tracker.words import words


class Filter:
    """What is shown: options of a command."""

    def __init__(self, args: argparse.Namespace, machine: Machine) -> None:
        self.over_ns: int = args.over or 0
        self.comm: str | None = args.comm
        self.pid: int | None = args.pid
        self.cgroup: str | None = args.cgroup
        self.cgroups = Cgroups(machine)

    def passes(self, report: Report) -> bool:
        """All must fit; a report without such a field does not."""
        return (report.delay_ns >= self.over_ns and
                (self.comm is None or fnmatch.fnmatchcase(report.text('comm'), self.comm)) and
                (self.pid is None or self.pid in (report.number('pid'), report.number('tgid'))) and
                (self.cgroup is None or
                 fnmatch.fnmatchcase(self.cgroups.path(report.number('cgroup_id')), self.cgroup)))


def worst(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """The slowest operations of a window, of all trackers that are asked for."""
    symbols = Symbols(kallsyms)
    shower, passes = Shower(machine, out, args.stack), Filter(args, machine).passes
    count = 0
    for tracker in chosen(machine, args.trackers):
        reader = Reader(tracker, 'worst', symbols)
        reports = [report for report in reader.worst()[args.window] if passes(report)]
        reader.close()
        count += show_all(shower, reports[:args.number])
    if not count:
        out.line(f'nothing was late in the window {args.window}')
    return 0


def last(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """The last reports, the latest at the end."""
    symbols = Symbols(kallsyms)
    found: list[Report] = []
    for tracker in chosen(machine, args.trackers):
        reader = Reader(tracker, 'last', symbols)
        found += filter(Filter(args, machine).passes, reader.last())
        reader.close()
    found.sort(key=lambda report: report.at_ns)
    if not show_all(Shower(machine, out, args.stack), found[-args.number:]):
        out.line('nothing was late since the trackers were loaded')
    return 0


@dataclass
class Source:
    """A tracker that is listened to."""
    tracker: Tracker
    reader: Reader
    crossings: int
    seen: int


class Listener:
    """Waits for reports of some trackers. What came too fast to be kept is counted in missed."""

    # Reports that are no crossing, such as what was given up, are found at the latest after that.
    SECONDS = 2

    def __init__(self, machine: Machine, trackers: Sequence[Tracker], signals: Signals) -> None:
        self.machine, self.signals, self.missed = machine, signals, 0
        self.poll = select.poll()
        self.poll.register(signals.fd, select.POLLIN)
        self.sources: dict[int, Source] = {}
        symbols = Symbols(kallsyms)
        for tracker in trackers:
            self.add(tracker, symbols)

    def add(self, tracker: Tracker, symbols: Symbols, from_now: bool = True) -> None:
        """From now on, or from when it was loaded on."""
        reader = Reader(tracker, 'last', symbols)
        path = self.machine.path(f'{tracker.state}/crossings')
        crossings = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        os.pread(crossings, 32, 0)
        seen = max((report.nr for report in reader.last()), default=0) if from_now else 0
        self.sources[crossings] = Source(tracker, reader, crossings, seen)
        self.poll.register(crossings, select.POLLPRI)

    def wait(self, until: float) -> Iterator[Report]:
        """New reports, in their order; until a moment of time.monotonic() or a signal."""
        while not self.signals.caught:
            left = min(until - time.monotonic(), self.SECONDS)
            if left <= 0:
                return
            ready = {fd for fd, _ in self.poll.poll(left * 1000)}
            if self.signals.caught:
                return
            found: list[Report] = []
            for source in list(self.sources.values()):
                if source.crossings in ready or not ready:
                    found += self._new(source)
            yield from sorted(found, key=lambda report: report.at_ns)
            if not self.sources:
                raise Error('all trackers were unloaded')

    def _new(self, source: Source) -> list[Report]:
        try:
            os.pread(source.crossings, 32, 0)
            found = source.reader.last(source.seen)
        except (OSError, Error):
            # What cannot be read although it is there is not passed over.
            if source.tracker.loaded:
                raise
            self._forget(source)
            return []
        if found:
            self.missed += found[-1].nr - source.seen - len(found)
            source.seen = found[-1].nr
        # What was asked for was not told to those that wait.
        return [report for report in found if not report.asked]

    def _forget(self, source: Source) -> None:
        self.poll.unregister(source.crossings)
        del self.sources[source.crossings]
        source.reader.close()
        os.close(source.crossings)

    def close(self) -> None:
        """All files."""
        for source in list(self.sources.values()):
            self._forget(source)


def follow(listener: Listener, shower: Shower, summary: Summary, passes: Callable[[Report], bool],
           until: float, most: int) -> int:
    """Show what comes, until a moment, a signal, or so many; returns how many there were."""
    count = 0
    for report in listener.wait(until):
        if report.own or not passes(report):
            continue
        of = words(report, stack_of_call(listener.machine, report))
        summary.add(report, of)
        shower.show(report, of)
        count += 1
        if count == most:
            break
    return count


def tell_missed(missed: int, out: Output) -> None:
    """What could not be shown."""
    if missed:
        out.object('missed', count=missed)
        out.line(f'{missed:,} more reports came too fast: raise the threshold, or record with a larger --buffer', 'yellow')


def watch(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """Each late operation when it is reported."""
    signals = Signals()
    listener = Listener(machine, chosen(machine, args.trackers), signals)
    summary = Summary()
    out.line('waiting for late operations of ' +
             ', '.join(source.tracker.name for source in listener.sources.values()) +
             '; Ctrl-C ends it', 'dim')
    until = time.monotonic() + (args.seconds or 1e9)
    count = follow(listener, Shower(machine, out, args.stack), summary, Filter(args, machine).passes, until,
                   args.max or -1)
    out.line()
    summary.table(out)
    tell_missed(listener.missed, out)
    listener.close()
    signals.close()
    return 2 if args.max and count >= args.max else 0
