# SPDX-License-Identifier: GPL-2.0-only
"""record: late operations to a file, for "report"; for a time, or while a command runs."""
from __future__ import annotations

import argparse
import gzip
import io
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import IO, Protocol, cast

from latency_tracker import Error, version
from latency_tracker.cmd_reports import Filter, Listener, tell_missed
from latency_tracker.instance import Instance
from latency_tracker.machine import Machine
from latency_tracker.output import Output
from latency_tracker.paths import EVENT, Gatherer, Path, is_wanted
from latency_tracker.records import Report
from latency_tracker.show import Shower, Summary, stack_of_call, wall_time
from latency_tracker.show_paths import PathShower
from latency_tracker.signals import Signals
from latency_tracker.spool import Converter, Spool
from latency_tracker.stacks import Symbols, kallsyms
from latency_tracker.state import Tracker, chosen
from latency_tracker.words import words

# After the command has ended: what was late with it is reported by then.
SETTLE_SECONDS = 0.5
STEP_SECONDS = 0.5
# Between two looks at the buffers, which fill up meanwhile.
CONVERT_SECONDS = 0.05
NEW_NS = 10**9


class File:
    """NDJSON, compressed if its name ends in .gz. What a killed program had not written yet is missing."""

    def __init__(self, name: str) -> None:
        try:
            self.raw = open(name, 'wb')  # pylint: disable=consider-using-with
        except OSError as error:
            raise Error(f'{name} cannot be written: {error.strerror}') from None
        packed = name.endswith('.gz')
        stream: object = gzip.GzipFile(fileobj=self.raw, mode='wb', compresslevel=3) if packed else self.raw
        self.text = io.TextIOWrapper(cast(IO[bytes], stream), encoding='utf-8', write_through=not packed)

    def close(self) -> None:
        """All is written."""
        self.text.close()
        self.raw.close()


class Lines(Output):
    """Objects to a file; it is not flushed for each of them, which would keep it from being compressed."""

    def raw(self, text: str = '') -> None:
        self.stream.write(text + '\n')


def start(words: list[str]) -> subprocess.Popen[bytes] | None:
    """A command, if one is wanted."""
    if not words:
        return None
    try:
        return subprocess.Popen(words)  # pylint: disable=consider-using-with
    except OSError as error:
        raise Error(f'{words[0]}: {error.strerror}') from None


class Taker(Protocol):
    """Where reports go."""

    def take(self, report: Report) -> None:
        """One."""


class Sink:
    """Where reports go that pass, and the paths of their trackers."""

    def __init__(self, machine: Machine, to: Output, passes: Filter, trackers: Sequence[Tracker] = ()) -> None:
        self.machine, self.passes, self.names = machine, passes, {tracker.name for tracker in trackers}
        self.shower, self.summary = Shower(machine, to), Summary()
        self.gatherer = Gatherer(self.shower.cgroups.path, machine.monotonic_ns)
        self.path_shower, self.paths = PathShower(machine, to), 0

    def take(self, report: Report) -> None:
        """One, or a segment of a path."""
        if report.event == EVENT:
            self._take_paths(self.gatherer.add(report))
            return
        self.gatherer.remember(report)
        if report.own or not self.passes.passes(report):
            return
        # Where a call is blocked now says something of it only if its report is new.
        is_new = self.machine.monotonic_ns() - report.at_ns < NEW_NS
        of = words(report, stack_of_call(self.machine, report) if is_new else ())
        self.summary.add(report, of)
        self.shower.show(report, of)

    def end(self) -> None:
        """Nothing comes any more."""
        self._take_paths(self.gatherer.rest())

    def _take_paths(self, found: Sequence[Path]) -> None:
        for path in found:
            if is_wanted(path, self.names, self.passes.passes):
                self.path_shower.show(path)
                self.paths += 1


class Buffers:
    """Reports out of trace buffers, which are read first, and understood when there is time for it."""

    def __init__(self, machine: Machine, args: argparse.Namespace, trackers: Sequence[Tracker], signals: Signals,
                 samples: bool = True) -> None:
        # What may fail comes before what would have to be removed.
        self.spool = Spool()
        self.instance = Instance(machine, trackers, args.buffer, samples)
        self.converter = Converter(self.instance.formats, Symbols(kallsyms))
        self.ahead: Iterator[Report] = iter(())
        self.more = False
        self.poll = select.poll()
        for fd in (signals.fd, *self.instance.fds):
            self.poll.register(fd, select.POLLIN)

    def turn(self, sink: Taker, child: int | None = None, seconds: float = STEP_SECONDS) -> None:
        """Wait for as long, or until much has come; then go on with what there is, for a short time. child: ends
        the waiting, too, when it can be read."""
        if child is not None:
            self.poll.register(child, select.POLLIN)
        self.poll.poll(0 if self.behind else seconds * 1000)
        if child is not None:
            self.poll.unregister(child)
        self._read()
        end = time.monotonic() + CONVERT_SECONDS
        self.more = True
        while self.more and time.monotonic() < end:
            self.more = self._convert(sink)

    @property
    def behind(self) -> bool:
        """There may be something that was read, but not understood yet."""
        return self.more or self.spool.read_at < self.spool.end

    def _read(self) -> bool:
        pages = self.instance.drain()
        if pages:
            self.spool.put(pages)
        return bool(pages)

    def _convert(self, sink: Taker) -> bool:
        """One report; whether there was one."""
        report = next(self.ahead, None)
        while not report:
            pages = self.spool.get()
            if not pages:
                return False
            self.ahead = self.converter.reports(pages)
            report = next(self.ahead, None)
        sink.take(report)
        return True

    def finish(self, sink: Taker) -> int:
        """All that there is; returns how many events were lost."""
        self.instance.stop()
        while self._read():
            pass
        while self._convert(sink):
            pass
        return self.lost

    @property
    def lost(self) -> int:
        """Events that found no room until now."""
        return self.instance.lost() + self.converter.unread

    def close(self) -> None:
        """Nothing of it is left."""
        self.instance.close()
        self.spool.close()


class Files:
    """Reports out of profile/last, where there is no tracefs."""

    def __init__(self, machine: Machine, trackers: Sequence[Tracker], signals: Signals) -> None:
        self.listener = Listener(machine, trackers, signals)

    def turn(self, sink: Sink, _child: int | None = None, seconds: float = STEP_SECONDS) -> None:
        """For so long."""
        for report in self.listener.wait(time.monotonic() + seconds):
            sink.take(report)

    def finish(self, _sink: Sink) -> int:
        """How many came too fast."""
        return self.listener.missed

    def close(self) -> None:
        """All files."""
        self.listener.close()


def source_of(machine: Machine, args: argparse.Namespace, trackers: Sequence[Tracker], signals: Signals) -> Buffers | Files:
    """Trace buffers if there can be some; with paths, if their module is loaded."""
    part = Tracker(machine, EVENT)
    try:
        return Buffers(machine, args, [*trackers, part] if part.loaded else trackers, signals)
    except Error as error:
        print(f'latency-tracker: {error}; reports come from profile/last, which is slower', file=sys.stderr)
        return Files(machine, trackers, signals)


def follow(source: Buffers | Files, sink: Sink, child: subprocess.Popen[bytes] | None, until: float, signals: Signals) -> int:
    """Until the command has ended, that moment, or a signal; returns the status of the command."""
    ended = os.pidfd_open(child.pid) if child else None
    try:
        while time.monotonic() < until and not signals.caught and (not child or child.poll() is None):
            source.turn(sink, ended, min(STEP_SECONDS, max(until - time.monotonic(), 0)))
    finally:
        if ended is not None:
            os.close(ended)
    if not child:
        return 0
    if child.poll() is None:
        child.terminate()
    status = child.wait()
    settled = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < settled:
        source.turn(sink, None, max(settled - time.monotonic(), 0))
    return status


def record(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """The exit status is 1 if the command failed."""
    trackers = chosen(machine, args.trackers)
    name = args.output or default_name()
    file, signals = File(name), Signals()
    to = Lines(as_json=True, stream=file.text)
    to.object('recording', version=version(), kernel=machine.read('/proc/sys/kernel/osrelease').strip(),
              time=wall_time(machine, machine.monotonic_ns()).isoformat(timespec='microseconds'),
              command=list(args.command), trackers=[tracker.name for tracker in trackers])
    sink = Sink(machine, to, Filter(args, machine), trackers)
    try:
        source = source_of(machine, args, trackers, signals)
        try:
            child = start(args.command)
            # The buffers wait for it: what is recorded should not.
            machine.give_way()
            status = follow(source, sink, child, time.monotonic() + (args.seconds or 1e9), signals)
            lost = source.finish(sink)
            sink.end()
        finally:
            source.close()
        tell_missed(lost, to)
    finally:
        file.close()
        signals.close()
    sink.summary.table(out)
    tell_missed(lost, out)
    count = sum(of.count for of in sink.summary.sums.values())
    paths = f', and {sink.paths:,} paths,' if sink.paths else ''
    out.line(f'{count:,} late operations{paths} in {name}: latency-tracker report {name}')
    if status:
        print(f'latency-tracker: {args.command[0]} ended with status {status}', file=sys.stderr)
    return 1 if status else 0


def default_name(prefix: str = 'latency-tracker') -> str:
    """One that is not there yet."""
    stamp = time.strftime('%Y%m%d-%H%M%S')
    name, number = f'{prefix}-{stamp}.json.gz', 1
    while os.path.exists(name):
        name, number = f'{prefix}-{stamp}-{number}.json.gz', number + 1
    return name
