# SPDX-License-Identifier: GPL-2.0-only
"""path, top --by cause: what late operations were made of, as they happen. The module critical_path tells it in trace events only, so
they are read out of a trace instance of one's own."""
from __future__ import annotations

import argparse
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence

from latency_tracker import Error
from latency_tracker.causes import Kind, Late, Operation, Sums, add_to, causes_of, heaviest, operation_of, show_causes, sums_of
from latency_tracker.cgroups import Cgroups
from latency_tracker.cmd_hist import clear
from latency_tracker.cmd_reports import Filter, tell_missed
from latency_tracker.machine import Machine
from latency_tracker.output import Output
from latency_tracker.paths import EVENT, Gatherer, Path, is_wanted, operations
from latency_tracker.record import STEP_SECONDS, Buffers
from latency_tracker.records import Report
from latency_tracker.show_paths import PathShower
from latency_tracker.signals import Signals
from latency_tracker.state import Tracker, chosen
from latency_tracker.units import WINDOWS_OF_CAUSES

SECOND_NS, MINUTE_NS = 10**9, 60 * 10**9
# Paths that are kept; if there are more, the last ones. And rows, at the end.
MOST, ROWS = 10000, 20
# Causes of alike operations that have names in the sums of a minute.
CAUSES = 200


def trackers_of_paths(machine: Machine, names: list[str]) -> list[Tracker]:
    """Those that are named, or all that work, whose operations get a path. Error: there is none, and why."""
    part = Tracker(machine, EVENT)
    if not part.loaded:
        raise Error(f'the module {part.module} is not loaded, which tells what late operations were made of: latency-tracker '
                    f'start {EVENT}, or modprobe {part.module}')
    told = operations(part)
    found = chosen(machine, names)
    left = [tracker.name for tracker in found if tracker.name not in told]
    if names and left or len(left) == len(found):
        raise Error(f'operations of {", ".join(left)} get no path, but those of: {", ".join(told) or "none"}; see operations= '
                    f'of latency-tracker set {EVENT}')
    return [tracker for tracker in found if tracker.name in told]


class PathSink:
    """Where events go, and paths come from. most: no more paths than that; 0: any number."""

    def __init__(self, machine: Machine, args: argparse.Namespace, trackers: Sequence[Tracker], use: Callable[[Path], None],
                 most: int = 0) -> None:
        self.gatherer = Gatherer(Cgroups(machine).path, machine.monotonic_ns)
        self.passes, self.names = Filter(args, machine).passes, {tracker.name for tracker in trackers}
        self.use, self.most, self.count = use, most, 0

    @property
    def full(self) -> bool:
        """There were as many as are wanted."""
        return bool(self.most) and self.count >= self.most

    def take(self, report: Report) -> None:
        """An event."""
        if report.event == EVENT:
            self._use(self.gatherer.add(report))
        else:
            self.gatherer.remember(report)

    def look(self, now_ns: int) -> None:
        """What is missing does not come any more."""
        self._use(self.gatherer.overdue(now_ns))

    def end(self) -> None:
        """Nothing comes any more."""
        self._use(self.gatherer.rest())

    def _use(self, found: Sequence[Path]) -> None:
        for path in found:
            if not self.full and is_wanted(path, self.names, self.passes):
                self.count += 1
                self.use(path)


class Follower:
    """From its making to close(): the paths of operations of some trackers."""

    def __init__(self, machine: Machine, args: argparse.Namespace, trackers: Sequence[Tracker], sink: PathSink, signals: Signals) -> None:
        self.machine, self.sink, self.signals = machine, sink, signals
        # Samples of stacks would cost the tracker, and nobody looks at them.
        self.buffers = Buffers(machine, args, [*trackers, Tracker(machine, EVENT)], signals, samples=False)

    def until(self, end: float) -> None:
        """A moment of time.monotonic(), a signal, or as many as are wanted."""
        while not self.signals.caught and not self.sink.full and (left := end - time.monotonic()) > 0:
            self.buffers.turn(self.sink, seconds=min(STEP_SECONDS, left))
            # What is missing may have been read.
            if not self.buffers.behind:
                self.sink.look(self.machine.monotonic_ns())

    def finish(self) -> int:
        """What has come; returns how many events were lost."""
        lost = self.buffers.finish(self.sink)
        self.sink.end()
        return lost

    def close(self) -> None:
        """Nothing of it is left."""
        self.buffers.close()


class Window:
    """What the late operations of the last minutes were made of; name: one of WINDOWS_OF_CAUSES. The paths of the last minute are kept, and of
    each minute before it only sums, which do not grow with the number of paths."""

    def __init__(self, machine: Machine, name: str) -> None:
        self.machine, self.begin_ns = machine, machine.monotonic_ns()
        self.minutes, self.name = WINDOWS_OF_CAUSES[name]
        self.seen = False
        self.paths: deque[Path] = deque()
        # They are older than a minute, and what is told at their end replaces them.
        self.pending: dict[Operation, Path] = {}
        # By the number of the minute; and how many paths found no room, by the second.
        self.sums: dict[int, Sums] = {}
        self.left_out: Counter[int] = Counter()
        self.minute = 0

    def add(self, path: Path) -> None:
        """One."""
        self.seen = self.seen or not path.idle
        self.paths.append(path)
        if len(self.paths) > MOST:
            self._sum_up(self.paths.popleft())
        # Nobody may look for long.
        if path.at_ns // MINUTE_NS > self.minute:
            self.minute = path.at_ns // MINUTE_NS
            self._forget(path.at_ns)

    def now(self) -> list[tuple[Kind, Late]]:
        """The heaviest first."""
        self._forget(self.machine.monotonic_ns())
        return heaviest([*self.sums.values(), sums_of([*self.pending.values(), *self.paths])])

    @property
    def seconds(self) -> int:
        """Of how much time it is."""
        return min((self.machine.monotonic_ns() - self.begin_ns) // SECOND_NS, 60 * self.minutes)

    @property
    def says(self) -> str:
        """Of which time it is."""
        seconds = self.seconds
        if self.minutes == 1 or seconds >= 60 * self.minutes:
            return self.name
        return f'the last {f"{seconds} s" if seconds < 120 else f"{seconds // 60} minutes"}, since this began'

    def _sum_up(self, path: Path) -> None:
        if self.minutes == 1:
            self._leave_out(path)
        elif path.flag == 'pending':
            self.pending[operation_of(path)] = path
            if len(self.pending) > MOST:
                self._leave_out(self.pending.pop(next(iter(self.pending))))
        else:
            self.pending.pop(operation_of(path), None)
            add_to(self.sums.setdefault(path.at_ns // MINUTE_NS, {}), path, CAUSES)

    def _leave_out(self, path: Path) -> None:
        if not path.idle:
            self.left_out[path.at_ns // SECOND_NS] += 1

    def _forget(self, now_ns: int) -> None:
        while self.paths and self.paths[0].at_ns < now_ns - MINUTE_NS:
            self._sum_up(self.paths.popleft())
        # A minute of which a part is too old is left out, so that nothing is older than what it is called.
        since_ns = now_ns - self.minutes * MINUTE_NS
        self.sums = {minute: sums for minute, sums in self.sums.items() if minute * MINUTE_NS > since_ns}
        self.pending = {of: path for of, path in self.pending.items() if path.at_ns >= since_ns}
        self.left_out = Counter({second: count for second, count in self.left_out.items() if second * SECOND_NS >= since_ns})


def show_top(window: Window, out: Output, most: int, lost: int) -> None:
    """So many rows of what it has now. lost: events, since this began."""
    found = window.now()
    clear(out)
    out.object('window', says=window.says, seconds=window.seconds, lost=lost)
    if found:
        out.line(time.strftime('%H:%M:%S') + f', {window.says}: what the late time of operations was made of', 'bold')
    else:
        out.line(f'nothing was late in {window.name}' if window.seen else 'nothing was late yet', 'dim')
    show_causes(out, found, most)
    left_out = sum(window.left_out.values())
    if left_out:
        out.object('missed', count=left_out)
        out.line(f'{left_out:,} more paths came than are kept: they are not in these sums', 'dim')
    if lost:
        out.line(f'{lost:,} events came too fast since this began, and are not in these sums: raise the threshold', 'yellow')
    out.line()


def top_causes(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """Of the paths of a window, again and again."""
    trackers, signals = trackers_of_paths(machine, args.trackers), Signals()
    window = Window(machine, args.window or '1m')
    follower = Follower(machine, args, trackers, PathSink(machine, args, trackers, window.add), signals)
    try:
        for _ in range(args.turns or 10**9):
            follower.until(time.monotonic() + args.seconds)
            show_top(window, out, args.number, follower.buffers.lost)
            if signals.caught:
                break
    finally:
        follower.close()
        signals.close()
    return 0


def path(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """Each when it is told, and in the end what they were made of. The exit status is 2 if --max ended it."""
    trackers, signals = trackers_of_paths(machine, args.trackers), Signals()
    shower, seen = PathShower(machine, out, args.stack), deque[Path](maxlen=MOST)

    def use(path: Path) -> None:
        seen.append(path)
        shower.show(path)
    sink = PathSink(machine, args, trackers, use, args.max or 0)
    follower = Follower(machine, args, trackers, sink, signals)
    try:
        out.line(f'waiting for late operations of {", ".join(tracker.name for tracker in trackers)}; Ctrl-C ends it', 'dim')
        follower.until(time.monotonic() + (args.seconds or 1e9))
        lost = follower.finish()
    finally:
        follower.close()
        signals.close()
    out.line()
    show_causes(out, causes_of(seen), ROWS)
    tell_missed(lost, out)
    return 2 if sink.full else 0
