# SPDX-License-Identifier: GPL-2.0-only
"""hist and top: the distribution of all operations, late or not."""
from __future__ import annotations

import argparse
import fnmatch
import time
from collections.abc import Sequence

from latency_tracker import Error
from latency_tracker.borrow import Borrowed
from latency_tracker.machine import Machine
from latency_tracker.output import Output
from latency_tracker.profile import WINDOWS, Group, Histogram, groups, windows
from latency_tracker.signals import Signals
from latency_tracker.state import Tracker, chosen
from latency_tracker.units import human

EIGHTHS = ' ▏▎▍▌▋▊▉█'
BLOCKS = ' ▁▂▃▄▅▆▇█'


def bar(share: float, columns: int) -> str:
    """Of a share of 0 to 1; what is not 0 is never empty."""
    eighths = max(round(share * columns * 8), 1 if share > 0 else 0)
    return '█' * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def spark(histogram: Histogram, low: int, high: int) -> str:
    """A character for each octave of delays from 2^low to 2^high s."""
    counts = [0] * (high - low)
    for bucket, count in histogram.counts.items():
        counts[min(max((bucket >> histogram.schema) - low, 0), high - low - 1)] += count
    top = max(counts, default=0)
    return ''.join(BLOCKS[-(-8 * count // top) if top else 0] for count in counts)


def octaves(histograms: Sequence[Histogram]) -> tuple[int, int]:
    """From which power of two to which, in s, they have delays."""
    buckets = [bucket >> histogram.schema for histogram in histograms for bucket in histogram.counts]
    return min(buckets, default=0), max(buckets, default=0) + 1


def figures_row(name: str, of: Histogram) -> list[str]:
    """A row of figures."""
    figures = of.figures()
    rate = of.count / (of.span_ns / 1e9) if of.span_ns else 0
    return [name, f'{of.count:,}', f'{rate:,.1f}/s', *(human(figures[key]) if of.count else '-' for key in (
        'p50_ns', 'p90_ns', 'p99_ns', 'p999_ns', 'max_ns'))]


FIGURES = ['>operations', '>rate', '>p50', '>p90', '>p99', '>p99.9', '>max']


def bars(chosen_windows: dict[str, Histogram], rows: int) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of a table: windows side by side, each row a range of delays."""
    buckets = [bucket for of in chosen_windows.values() for bucket in of.counts]
    merge = 1
    while buckets and (max(buckets) // merge - min(buckets) // merge + 1) > rows:
        merge *= 2
    heads, table = ['>up to'], []
    for name in chosen_windows:
        heads += [name, '>operations']
    lasts = range(min(buckets) // merge * merge + merge - 1, max(buckets) + merge, merge) if buckets else []
    merged = {name: of.merged(merge) for name, of in chosen_windows.items()}
    tops = {name: max(counts.values(), default=1) for name, counts in merged.items()}
    for last in lasts:
        line = [human(max(of.upper_ns(last) for of in chosen_windows.values()))]
        for name, counts in merged.items():
            count = counts.get(last, 0)
            line += [bar(count / tops[name], 24), f'{count:,}' if count else '']
        table.append(line)
    return heads, table


def emit(out: Output, tracker: Tracker, window: str, of: Histogram, group: Group | None = None) -> None:
    """A window as JSON: buckets by their index, and by their upper bound, ns."""
    indexes = {str(bucket): count for bucket, count in sorted(of.counts.items())}
    bounds = {str(of.upper_ns(bucket)): count for bucket, count in sorted(of.counts.items())}
    out.object('histogram', tracker=tracker.name, window=window, schema_scale=of.schema,
               dimension=group.dimension if group else None, group=group.name if group else None,
               group_id=group.id if group else None, buckets={**indexes}, buckets_ns={**bounds}, **of.figures())


def show_groups(args: argparse.Namespace, tracker: Tracker, out: Output) -> None:
    """A table of the groups of one dimension."""
    found = groups(tracker)
    dimensions = list(dict.fromkeys(group.dimension for group in found))
    if not found and tracker.number('profile/groups_on') == 0:
        raise Error(f'{tracker.name} does not count by groups: latency-tracker set {tracker.name} groups=on')
    wanted = args.by if args.by != 'any' else dimensions[0]
    if wanted not in dimensions:
        raise Error(f'{tracker.name} has no groups by {wanted}; it has: {" ".join(dimensions)}')
    window = args.window or 'total'
    if window not in ('1m', 'total'):
        raise Error(f'groups have the windows 1m and total, not {window}')
    rows = []
    of_groups = [(group, group.minute if window == '1m' else group.total) for group in found
                 if group.dimension == wanted and fnmatch.fnmatchcase(group.name, args.group)]
    of_groups = [(group, of) for group, of in of_groups if of.count]
    of_groups.sort(key=lambda entry: -entry[1].sum_ns)
    low, high = octaves([of for _, of in of_groups])
    for group, of in of_groups:
        emit(out, tracker, window, of, group)
        rows.append([*figures_row(group.name, of), spark(of, low, high)])
    out.line(f'{tracker.name}, by {wanted}, {"the last minute" if window == "1m" else "all time"}', 'bold')
    out.table([wanted, *FIGURES, f'{human(2.0**low * 1e9)} to {human(2.0**high * 1e9)}'],
              rows[:args.number])
    if len(rows) > args.number:
        out.line(f'and {len(rows) - args.number} more')


def hist(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """Windows of trackers, or their groups."""
    names = args.window.split(',') if args.window else []
    for name in names:
        if name not in WINDOWS:
            raise Error(f'there is no window "{name}": take some of {", ".join(WINDOWS)}')
    for number, tracker in enumerate(chosen(machine, args.trackers)):
        if number:
            out.line()
        if args.by or args.group != '*':
            args.by = args.by or 'any'
            show_groups(args, tracker, out)
            continue
        of = windows(tracker)
        for name in names or WINDOWS:
            emit(out, tracker, name, of[name])
        out.line(f'{tracker.name}: delays of all operations that ended', 'bold')
        out.table(['window', *FIGURES], [figures_row(name, of[name]) for name in WINDOWS])
        out.line()
        # Side by side those that differ most.
        out.table(*bars({name: of[name] for name in names or ('1m', 'total')}, args.number))
    return 0


class Rates:
    """Operations per second of groups, between two reads."""

    def __init__(self) -> None:
        self.before: dict[tuple[str, str, str, int], int] = {}
        self.at = 0.0

    def rows(self, found: Sequence[tuple[Tracker, Group]]) -> list[tuple[float, Tracker, Group]]:
        """What had operations since the last call, the most time spent first."""
        now = time.monotonic()
        seconds, self.at = now - self.at, now
        counts = {(tracker.name, group.dimension, group.name, group.id): group.total.count
                  for tracker, group in found}
        rows = []
        for tracker, group in found:
            key = tracker.name, group.dimension, group.name, group.id
            rate = (counts[key] - self.before.get(key, 0 if self.before else counts[key])) / seconds
            if group.minute.count:
                rows.append((rate, tracker, group))
        self.before = counts
        return sorted(rows, key=lambda row: -row[2].minute.sum_ns)


def top(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """Groups of the last minute, again and again. Groups that were off are on meanwhile."""
    signals = Signals()
    trackers = chosen(machine, args.trackers)
    borrowed = Borrowed(machine)
    rates = Rates()
    try:
        borrowed.switch_groups_on(trackers)
        for turn in range(args.turns + 1 if args.turns else 10**9):
            found = [(tracker, group) for tracker in trackers for group in groups(tracker)
                     if args.by in ('any', group.dimension)]
            rows = rates.rows(found)
            if turn:
                _show_top(args, rows, out)
            if signals.caught or args.turns and turn == args.turns:
                break
            signals.wait(args.seconds)
            if signals.caught:
                break
    finally:
        borrowed.give_back()
    signals.close()
    return 0


def clear(out: Output) -> None:
    """A terminal, before it is shown anew."""
    if out.terminal and not out.as_json:
        out.stream.write('\x1b[H\x1b[2J')


def _show_top(args: argparse.Namespace, rows: list[tuple[float, Tracker, Group]], out: Output) -> None:
    clear(out)
    # There may be thousands, of which a terminal shows some.
    for rate, tracker, group in rows if out.as_json else ():
        out.object('top', tracker=tracker.name, dimension=group.dimension, group=group.name,
                   group_id=group.id, per_second=round(rate, 2), **group.minute.figures())
    if not rows:
        out.line('no operation has ended in a group yet: they are counted for as long as this runs', 'dim')
        return
    rows = rows[:args.number]
    low, high = octaves([group.minute for _, _, group in rows])
    table = []
    for rate, tracker, group in rows:
        of = group.minute
        figures = of.figures()
        table.append([tracker.name, group.dimension, group.name, f'{rate:,.1f}/s', human(figures['p50_ns']),
                      human(figures['p99_ns']), human(of.max_ns), human(of.sum_ns), spark(of, low, high)])
    out.line(time.strftime('%H:%M:%S') + ', the last minute; those that took the most time in all first',
             'bold')
    out.table(['tracker', 'by', 'group', '>rate', '>p50', '>p99', '>worst', '>in all',
               f'{human(2.0**low * 1e9)} to {human(2.0**high * 1e9)}'], table)
    out.line()
