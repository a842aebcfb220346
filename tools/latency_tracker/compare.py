# SPDX-License-Identifier: GPL-2.0-only
"""compare and save: has a distribution changed, or is it chance?

Of each quantile, the operations of both sides that took longer than the quantile of both together are
counted, and those that took at least so long, since many may be in its bucket. If nothing has changed,
how they spread over the sides is hypergeometric, whatever the distribution is. With m such tests the
level of each is LEVEL / m (Bonferroni), so LEVEL bounds how often a comparison of the same with itself
finds anything, as long as operations are independent.
"""
from __future__ import annotations

import argparse
import json
import math
import pathlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from latency_tracker import Error
from latency_tracker.cmd_hist import emit
from latency_tracker.machine import Machine
from latency_tracker.output import Output
from latency_tracker.profile import WINDOWS, Histogram, groups, windows
from latency_tracker.state import chosen
from latency_tracker.units import human

QUANTILES = {'p50': 0.5, 'p90': 0.9, 'p99': 0.99, 'p99.9': 0.999}
LEVEL = 0.005
# With fewer operations beyond a quantile, the sum over all outcomes is taken, else the normal distribution.
EXACT = 400
# Tracker, dimension ("" is the tracker as a whole), group.
Key = tuple[str, str, str]


def minus(whole: Histogram, part: Histogram) -> Histogram:
    """What is in one and not in the other, which it includes. The maximum is that of the whole."""
    counts = {bucket: count - part.counts.get(bucket, 0) for bucket, count in whole.counts.items()}
    return Histogram(whole.schema, {bucket: count for bucket, count in counts.items() if count > 0},
                     whole.sum_ns - part.sum_ns, whole.max_ns, whole.span_ns - part.span_ns)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def chance(beyond_a: int, count_a: int, beyond_b: int, count_b: int) -> float:
    """How probable so uneven a spread is, to either side, if nothing has changed."""
    count, beyond = count_a + count_b, beyond_a + beyond_b
    share = count_a / count
    mean = beyond * share
    if min(beyond, count - beyond) > EXACT:
        variance = mean * (1 - share) * (count - beyond) / (count - 1)
        return math.erfc(max(abs(beyond_a - mean) - 0.5, 0) / math.sqrt(2 * variance)) if variance else 1.0
    all_ways = _log_choose(count, beyond)

    def one(k: int) -> float:
        return math.exp(_log_choose(count_a, k) + _log_choose(count_b, beyond - k) - all_ways)
    low, high = max(0, beyond - count_b), min(beyond, count_a)
    below = sum(one(k) for k in range(low, beyond_a + 1))
    above = sum(one(k) for k in range(beyond_a, high + 1))
    return min(2 * min(below, above), 1.0)


@dataclass
class Change:
    """Of a quantile; times in ns."""
    key: Key
    quantile: str
    before_ns: int
    after_ns: int
    chance: float

    @property
    def ratio(self) -> float:
        """Of after to before."""
        return self.after_ns / max(self.before_ns, 1)


def _tests(key: Key, a: Histogram, b: Histogram) -> Iterator[Change]:
    both = Histogram(a.schema, {bucket: a.counts.get(bucket, 0) + b.counts.get(bucket, 0)
                                for bucket in a.counts.keys() | b.counts.keys()})
    for name, share in QUANTILES.items():
        # Of fewer, the quantile is the maximum.
        if min(a.count, b.count) * (1 - share) < 1:
            continue
        at = both.bucket_of_quantile(share)
        chances = [chance(*(part for of in (a, b) for part in (of.beyond(bucket), of.count)))
                   for bucket in (at, at - 1)]
        yield Change(key, name, a.quantile_ns(share), b.quantile_ns(share), min(2 * min(chances), 1.0))


def changes(before: Mapping[Key, Histogram], after: Mapping[Key, Histogram], least: float) -> list[Change]:
    """The quantiles that have changed by at least such a share of themselves, and not by chance; the most
    changed first."""
    tested = [change for key in before.keys() & after.keys() if before[key].schema == after[key].schema
              for change in _tests(key, before[key], after[key])]
    found = [change for change in tested if change.chance < LEVEL / len(tested) and
             abs(math.log(max(change.ratio, 1e-9))) >= math.log1p(least)]
    return sorted(found, key=lambda change: -abs(math.log(max(change.ratio, 1e-9))))


def from_file(name: str) -> dict[Key, Histogram]:
    """What "save" has written, or "hist --json": of each, the longest window."""
    found: dict[Key, Histogram] = {}
    try:
        text = pathlib.Path(name).read_text(encoding='utf-8')
        for line in text.splitlines():
            entry = json.loads(line)
            if entry['type'] != 'histogram' or entry['window'] != 'total':
                continue
            key = entry['tracker'], entry['dimension'] or '', entry['group'] or ''
            found[key] = Histogram(int(entry['schema_scale']), {
                int(bucket): int(count) for bucket, count in entry['buckets'].items()},
                int(entry['sum_ns']), int(entry['max_ns']), int(entry['span_ns']))
    except FileNotFoundError:
        raise Error(f'{name} is neither a file nor one of the windows {", ".join(WINDOWS)}') from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Error(f'{name} is nothing that "latency-tracker save" has written') from None
    if not found:
        raise Error(f'{name} has no profile of all time: write it with "latency-tracker save"')
    return found


def live(machine: Machine, names: list[str]) -> dict[str, dict[Key, Histogram]]:
    """Of each window, the trackers that work and, as far as they are counted, their groups."""
    found: dict[str, dict[Key, Histogram]] = {name: {} for name in WINDOWS}
    for tracker in chosen(machine, names):
        for name, of in windows(tracker).items():
            found[name][tracker.name, '', ''] = of
        for group in groups(tracker):
            key = tracker.name, group.dimension, group.name
            found['total'][key], found['1m'][key] = group.total, group.minute
    return found


def sides(machine: Machine, a: str, b: str, names: list[str]) -> tuple[dict[Key, Histogram],
                                                                     dict[Key, Histogram]]:
    """Both, without what is in both."""
    now = live(machine, names) if {a, b} & set(WINDOWS) else {}
    before, after = (now[name] if name in now else from_file(name) for name in (a, b))
    if a in now and b in now:
        if a == b:
            raise Error(f'{a} is {b}: take two windows')
        if WINDOWS.index(a) > WINDOWS.index(b):
            before = {key: minus(of, after[key]) for key, of in before.items() if key in after}
        else:
            after = {key: minus(of, before[key]) for key, of in after.items() if key in before}
    return before, after


def compare(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """The exit status is 2 if something has changed."""
    before, after = sides(machine, args.before, args.after, args.trackers)
    if args.trackers:
        before = {key: of for key, of in before.items() if key[0] in args.trackers}
    found = changes(before, after, args.least / 100)
    rows = []
    for change in found:
        tracker, dimension, group = change.key
        out.object('change', tracker=tracker, dimension=dimension or None, group=group or None,
                   quantile=change.quantile, before_ns=change.before_ns, after_ns=change.after_ns,
                   ratio=round(change.ratio, 4), chance=change.chance)
        rows.append([tracker, f'{dimension} {group}' if dimension else 'all', change.quantile,
                     human(change.before_ns), human(change.after_ns), f'{change.ratio * 100 - 100:+.0f} %',
                     f'{max(change.chance, 1e-300):.0e}'])
    if rows:
        out.table(['tracker', 'of', 'quantile', '>before', '>after', '>change', '>by chance'],
                  rows[:args.number])
    if len(rows) > args.number:
        out.line(f'and {len(rows) - args.number} more')
    count = len(before.keys() & after.keys())
    if not found:
        out.line(f'no change of {args.least:g} % or more that is not chance, in {count} distributions')
    return 2 if found else 0


def save(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """All windows and groups to a file, as --json has them."""
    trackers = chosen(machine, args.trackers)
    try:
        with open(args.file, 'w', encoding='utf-8') as stream:
            to = Output(as_json=True, stream=stream)
            for tracker in trackers:
                for name, of in windows(tracker).items():
                    emit(to, tracker, name, of)
                for group in groups(tracker):
                    emit(to, tracker, 'total', group.total, group)
                    emit(to, tracker, '1m', group.minute, group)
    except OSError as error:
        raise Error(f'{args.file} cannot be written: {error.strerror}') from None
    out.line(f'{", ".join(tracker.name for tracker in trackers)}: saved in {args.file}')
    return 0
