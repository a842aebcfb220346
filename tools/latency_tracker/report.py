# SPDX-License-Identifier: GPL-2.0-only
"""report: what a recording has, as text, for flame graphs, for Perfetto, as a page or
a picture."""
from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator

from latency_tracker import Error
from latency_tracker.causes import causes_of, chains, show_causes
from latency_tracker.flame import svg
from latency_tracker.machine import Machine
from latency_tracker.output import Json, Output
from latency_tracker.page import page
from latency_tracker.page_paths import of_paths
from latency_tracker.paths import Path, path_of, worst_of
from latency_tracker.records import Report, Value
from latency_tracker.show import Shower, Summary
from latency_tracker.show_paths import PathShower
from latency_tracker.stacks import plain
from latency_tracker.state import KNOWN, Tracker
from latency_tracker.words import Words, words

# The fields that have a task's stack, and whose it is: the prefix of comm.
STACKS = {'stack': '', 'prev_stack': 'prev_'}
# Operations of these overlap each other: they are on no task's line.
OVERLAPPING = ('block_latency', 'network_latency')
# Of the table of causes.
ROWS = 20


class Recording:
    """Of reports, and what was missed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.missed = self.unread = 0
        self.cut_off = False
        self.paths: list[Path] = []
        # From CLOCK_MONOTONIC to the time of day, for the first report.
        self.first_time = ''

    def lines(self) -> Iterator[str]:
        """Of the file, compressed or not; "-" is standard input."""
        try:
            if self.name == '-':
                yield from sys.stdin
                return
            with open(self.name, 'rb') as file:
                packed = file.read(2) == b'\x1f\x8b'
            with (gzip.open(self.name, 'rt', encoding='utf-8', errors='backslashreplace') if packed else
                  open(self.name, encoding='utf-8', errors='backslashreplace')) as text:
                yield from text
        except EOFError:
            self.cut_off = True
        except OSError as error:
            raise Error(f'{self.name} cannot be read: {error}') from None

    def reports(self) -> Iterator[tuple[Report, Words]]:
        """In their order; a line that is none is counted. Paths are kept beside them."""
        for line in self.lines():
            try:
                entry = json.loads(line)
                if entry['type'] == 'missed':
                    self.missed += int(entry['count'])
                if entry['type'] == 'path':
                    self.paths.append(path_of(entry))
                    self.first_time = self.first_time or str(entry['time'])
                if entry['type'] == 'report':
                    found = self._report(entry)
                    self.first_time = self.first_time or str(entry['time'])
                    yield found
            except (ValueError, KeyError, TypeError, AttributeError):
                self.unread += 1

    def _report(self, entry: dict[str, object]) -> tuple[Report, Words]:
        values: dict[str, Value] = {}
        for name, value in dict(entry['fields']).items():  # type: ignore[call-overload]
            values[str(name)] = ([str(frame) for frame in value] if isinstance(value, list) else
                                 value if isinstance(value, int) else str(value))
        number, at_ns, start_ns, delay_ns = (int(str(entry[name])) for name in (
            'nr', 'at_ns', 'start_ns', 'delay_ns'))
        report = Report(str(entry['tracker']), str(entry['event']), number, at_ns, start_ns, delay_ns,
                        str(entry['flag']), cgroup=str(entry.get('cgroup', '?')), values=values)
        of = words(report)
        # What was seen at that moment is more than the fields tell.
        details = entry['details']
        of.text, of.idle = str(entry['says']), bool(entry['idle'])
        of.details = [str(detail) for detail in details] if isinstance(details, list) else []
        return report, of


def folded_stacks(recording: Recording) -> Counter[tuple[str, ...]]:
    """The us of operations that ended, by their stacks: who, then functions, outermost first. What waits for
    something to do is left out if there is anything else."""
    sums: Counter[tuple[str, ...]] = Counter()
    idle: Counter[tuple[str, ...]] = Counter()
    for report, of in recording.reports():
        for name, whose in STACKS.items():
            stack = [plain(frame) for frame in reversed(report.stack(name))]
            if stack and report.ended:
                first = report.text(f'{whose}comm') if whose else of.who
                (idle if of.idle else sums)[(first, *stack)] += report.delay_ns // 1000
    sums = sums or idle
    if not sums:
        raise Error(f'{recording.name} has no stack of an operation that ended')
    return sums


def chains_of(recording: Recording) -> Counter[tuple[str, ...]]:
    """The ns of its paths, by the causes behind each other."""
    for _ in recording.reports():
        # Paths are read with them.
        pass
    sums = chains(recording.paths)
    if not sums:
        raise Error(f'{recording.name} has no path: was the module critical_path loaded?')
    return sums


def folded(recording: Recording, out: Output, of_paths: bool) -> None:
    """A line for each stack, with us, or of paths for each chain, with ns: what flamegraph.pl and speedscope take."""
    for stack, weight in sorted((chains_of if of_paths else folded_stacks)(recording).items()):
        line = ';'.join(part.replace(';', ':').replace('\n', ' ') for part in stack)
        out.line(f'{line} {weight}')


def _named(events: list[Json], names: dict[tuple[int, int], str]) -> None:
    for (process, thread), name in names.items():
        events.append({'ph': 'M', 'name': 'thread_name', 'pid': process, 'tid': thread, 'args': {'name': name}})


def trace(recording: Recording, out: Output) -> None:
    """JSON that Perfetto and chrome://tracing open: a line for each task; disks and devices have
    operations that overlap."""
    events: list[Json] = []
    names: dict[tuple[int, int], str] = {}
    for number, (report, of) in enumerate(recording.reports()):
        if report.flag == 'pending':
            continue
        process, thread = max(report.number('tgid'), 0), max(report.number('pid'), 0)
        args: dict[str, Json] = {'says': of.text, 'details': [*of.details]}
        for name in STACKS:
            if report.stack(name):
                args[name] = [plain(frame) for frame in report.stack(name)]
        event: dict[str, Json] = {'name': of.what, 'cat': report.tracker, 'ts': report.start_ns / 1000,
                                  'pid': process, 'tid': thread, 'args': args}
        end = (report.start_ns + report.delay_ns) / 1000
        if report.event in OVERLAPPING:
            event.update(name=f'{of.who}: {of.what}', pid=0, tid=0, id=number)
            events += [{**event, 'ph': 'b'}, {**event, 'ph': 'e', 'ts': end}]
        else:
            names.setdefault((process, thread), f'{report.text("comm")} ({thread})')
            events.append({**event, 'ph': 'X', 'dur': report.delay_ns / 1000})
    _named(events, names)
    out.raw(json.dumps({'traceEvents': events, 'displayTimeUnit': 'ms',
                        'otherData': {'first': recording.first_time, 'clock': 'CLOCK_MONOTONIC, us'}}))


class Section:
    """The sum of alike reports, and the slowest of each kind."""

    def __init__(self) -> None:
        self.summary = Summary()
        self.worst: dict[tuple[str, str, str], tuple[Report, Words]] = {}
        self.count = 0

    def add(self, report: Report, of: Words) -> None:
        """One."""
        self.count += 1
        self.summary.add(report, of)
        key = report.tracker, of.who, of.what
        if key not in self.worst or report.delay_ns > self.worst[key][0].delay_ns:
            self.worst[key] = report, of

    def show(self, shower: Shower, out: Output, most: int) -> None:
        """What waits for something to do comes last."""
        self.summary.table(out)
        order = sorted(self.worst.values(), key=lambda entry: (entry[1].idle, -entry[0].delay_ns))
        for report, of in order[:most]:
            out.line()
            shower.show(report, of, with_time=False)


def text(args: argparse.Namespace, recording: Recording, machine: Machine, out: Output) -> None:
    """All in one, or a section for each tracker."""
    sections: dict[str, Section] = {}
    for report, of in recording.reports():
        sections.setdefault(report.tracker if args.each else '', Section()).add(report, of)
    count = sum(section.count for section in sections.values())
    out.line(f'{count:,} reports, the first at {recording.first_time or "no time"}', 'bold')
    shower, order = Shower(machine, out, args.stack), list(KNOWN)
    for name in sorted(sections, key=lambda name: (order.index(name) if name in order else len(order), name)):
        if name:
            out.line()
            out.line(f'{name}: {Tracker(machine, name).about}', 'bold')
        sections[name].show(shower, out, args.number)
    show_paths(args, recording, machine, out)


def show_paths(args: argparse.Namespace, recording: Recording, machine: Machine, out: Output) -> None:
    """What the late time was made of, and the slowest."""
    if recording.paths:
        out.line()
        show_causes(out, causes_of(recording.paths), ROWS)
        out.line()
        out.line(f'{len(recording.paths):,} paths: what the slowest were made of', 'bold')
    shower = PathShower(machine, out, args.stack)
    for path in worst_of(recording.paths, args.number):
        out.line()
        shower.show(path, with_time=False)


def made_of(args: argparse.Namespace, recording: Recording) -> str:
    """The page, or the picture."""
    if args.svg and args.paths:
        return svg({chain: -(-ns // 1000) for chain, ns in chains_of(recording).items()}, 'what late operations were made of')
    if args.svg:
        return svg(folded_stacks(recording), 'where late operations were blocked')
    entries = list(recording.reports())
    most = max(args.number, 10)
    more = of_paths(recording.paths, most)
    if not entries and not more:
        raise Error(f'{args.file} has no report: it is no recording, or nothing was late')
    return page(entries, recording.first_time, recording.missed, most, more)


def write(args: argparse.Namespace, made: str) -> None:
    """To the file that was named, or to standard output."""
    try:
        if args.output:
            with open(args.output, 'w', encoding='utf-8') as file:
                file.write(made)
        else:
            sys.stdout.write(made)
    except OSError as error:
        raise Error(f'{args.output or "standard output"} cannot be written: {error.strerror}') from None


def report_file(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """One of the forms."""
    recording = Recording(args.file)
    if args.paths and not args.folded and not args.svg:
        raise Error('--paths is for --folded and --svg: the others have paths anyway')
    if args.folded:
        folded(recording, out, args.paths)
    elif args.trace:
        trace(recording, out)
    elif args.html or args.svg:
        write(args, made_of(args, recording))
    else:
        text(args, recording, machine, out)
    for number, what in ((recording.missed, 'reports came too fast, and are missing'),
                         (recording.unread, 'lines are no object of this program')):
        if number:
            print(f'latency-tracker: {number:,} {what}', file=sys.stderr)
    if recording.cut_off:
        print(f'latency-tracker: {args.file} is cut off: its program was killed', file=sys.stderr)
    return 0
