# SPDX-License-Identifier: GPL-2.0-only
"""What the late time of alike operations was made of, over many paths: the segments that no other one explains, by their
cause."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from latency_tracker.cmd_hist import bar
from latency_tracker.output import Output
from latency_tracker.paths import Path, Segment, outermost
from latency_tracker.show_paths import percent
from latency_tracker.units import human

# What no segment tells: of a path that is not complete, and of one that is, whose parts that were too short are left out.
NOT_SEEN, CUT = 'not seen', 'cut'
# Causes that are not told by their names.
OTHER = 'other', ''
COLUMNS = 16
# Of a cause: its name, and what alike ones have in common besides.
Cause = tuple[str, str]
# Of alike operations: the tracker, and what they are.
Kind = tuple[str, str]
# Of an operation that was pending, and of its end alike.
Operation = tuple[str, int, int]


def parts(path: Path) -> Iterator[tuple[Cause, int]]:
    """The causes of a path, with their ns, which add up to its delay."""
    total = 0
    for of in path.leaves:
        total += of.delay_ns
        yield (of.cause, of.detail), of.delay_ns
    if total < path.delay_ns:
        yield (CUT if path.complete else NOT_SEEN, ''), path.delay_ns - total


def chains(paths: Iterable[Path]) -> Counter[tuple[str, ...]]:
    """The ns of each chain: the task, its cause, the task that this was about, its cause, and so on. No time counts
    twice, and what waits for something to do is left out."""
    sums: Counter[tuple[str, ...]] = Counter()
    for path in outermost(path for path in paths if not path.idle):
        numbered = {of.number: of for of in path.segments}
        for leaf in path.leaves:
            chain: list[str] = []
            of: Segment | None = leaf
            while of:
                # Time in a device is no task's.
                chain = [*([of.comm] if of.pid >= 0 else []), f'{of.cause} {of.detail}'.strip(), *chain]
                # A parent that is garbled must not go round in circles.
                of = numbered.get(of.parent) if of.parent < of.number else None
            sums[tuple(chain)] += leaf.delay_ns
    return sums


@dataclass
class Share:
    """Of a cause: in how many operations, how long in all, and in one of them."""
    count: int = 0
    total_ns: int = 0
    worst_ns: int = 0

    def merge(self, more: Share) -> None:
        """That of other operations."""
        self.count += more.count
        self.total_ns += more.total_ns
        self.worst_ns = max(self.worst_ns, more.worst_ns)


@dataclass
class Late:
    """Alike operations."""
    count: int = 0
    total_ns: int = 0
    shares: dict[Cause, Share] = field(default_factory=dict)

    def add(self, path: Path) -> None:
        """One."""
        self.count += 1
        self.total_ns += path.delay_ns
        found: dict[Cause, int] = {}
        for cause, ns in parts(path):
            found[cause] = found.get(cause, 0) + ns
        for cause, ns in found.items():
            share = self.shares.setdefault(cause, Share())
            share.count += 1
            share.total_ns += ns
            share.worst_ns = max(share.worst_ns, ns)

    def merge(self, more: Late) -> None:
        """Those of another time."""
        self.count += more.count
        self.total_ns += more.total_ns
        for cause, share in more.shares.items():
            self.shares.setdefault(cause, Share()).merge(share)

    def trim(self, most: int) -> None:
        """Only so many causes keep their names, the heaviest ones."""
        order = sorted(self.shares.items(), key=lambda entry: -entry[1].total_ns)
        self.shares = dict(order[:most])
        rest = self.shares.setdefault(OTHER, Share())
        for _, share in order[most:]:
            rest.merge(share)
        # An operation may have several of them.
        rest.count = min(rest.count, self.count)


# Of all operations of a time.
Sums = dict[Kind, Late]


def operation_of(path: Path) -> Operation:
    """The same if it was told when it was pending, and when it had ended."""
    return path.tracker, path.pid, path.start_ns


def add_to(sums: Sums, path: Path, most: int = 0) -> None:
    """Unless it waits for something to do. most: so many causes of alike operations keep their names, or up to twice as many; 0: all,
    which may be as many as tasks have names."""
    if not path.idle:
        late = sums.setdefault((path.tracker, path.what), Late())
        late.add(path)
        # Not for each path.
        if most and len(late.shares) > 2 * most:
            late.trim(most)


def sums_of(paths: Iterable[Path]) -> Sums:
    """Of operations that were pending, only the last that is known. Different trackers tell of the same time, so what they
    tell is not added up."""
    last: dict[Operation, Path] = {}
    for path in paths:
        key = operation_of(path)
        if key not in last or path.delay_ns >= last[key].delay_ns:
            last[key] = path
    found: Sums = {}
    for path in last.values():
        add_to(found, path)
    return found


def heaviest(times: Iterable[Sums]) -> list[tuple[Kind, Late]]:
    """What took the most in all these times comes first."""
    found: Sums = {}
    for sums in times:
        for kind, late in sums.items():
            found.setdefault(kind, Late()).merge(late)
    return sorted(found.items(), key=lambda entry: -entry[1].total_ns)


def causes_of(paths: Iterable[Path]) -> list[tuple[Kind, Late]]:
    """The heaviest first."""
    return heaviest([sums_of(paths)])


def show_causes(out: Output, found: list[tuple[Kind, Late]], most: int) -> None:
    """So many rows of a table, or objects."""
    rows = []
    for (tracker, what), late in found:
        for number, ((cause, detail), share) in enumerate(sorted(late.shares.items(), key=lambda entry: -entry[1].total_ns)):
            out.object('cause', tracker=tracker, what=what, operations=late.count, late_ns=late.total_ns, cause=cause, detail=detail,
                       count=share.count, total_ns=share.total_ns, worst_ns=share.worst_ns,
                       share=round(share.total_ns / max(late.total_ns, 1), 4))
            part = share.total_ns / max(late.total_ns, 1)
            rows.append([*(('', '', '') if number else (tracker, what, f'{late.count:,}')), f'{cause} {detail}'.strip(),
                         percent(share.total_ns, late.total_ns), bar(min(part, 1), COLUMNS), human(share.total_ns), human(share.worst_ns),
                         f'{share.count:,}'])
    if rows:
        out.table(['tracker', 'of the late time of', '>late', 'was', '>share', '', '>in all', '>worst', '>in'], rows[:most])
    if len(rows) > most:
        out.line(f'and {len(rows) - most} more')
