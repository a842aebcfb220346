# SPDX-License-Identifier: GPL-2.0-only
"""What "export" tells: counters, settings and distributions of the trackers, in no format yet."""
from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from latency_tracker import Error, version
from latency_tracker.cgroups import Cgroups
from latency_tracker.machine import Machine
from latency_tracker.profile import Group, Histogram, groups, windows
from latency_tracker.records import Reader, Report
from latency_tracker.stacks import Symbols
from latency_tracker.state import Tracker, chosen, loaded

# Files that are no counters, those in ns as seconds. Of settings only what explains the others.
GAUGES = {'pending': 'operations that have not ended',
          'capacity': 'operations that can be pending at once now',
          'memory_bytes': 'memory of the tracker',
          'threshold_now_ns': 'what takes so long, or longer, is late'}
NOT_TOLD = {'crossings_interval_ns', 'collect_ns', 'grow_limit', 'per_minute', 'timeout_ns', 'threshold_ns',
            'tracking_on'}
PREFIX = 'latency_tracker_'
OTHER = 'other'


@dataclass
class Series:
    """One, with its labels. examples: of a histogram, late operations, by octave."""
    labels: dict[str, str]
    value: int | float | Histogram
    examples: dict[int, Report] = field(default_factory=dict)


@dataclass
class Family:
    """All series of a name. kind: "counter", "gauge" or "histogram"; a counter's name has no _total."""
    name: str
    about: str
    kind: str
    series: list[Series] = field(default_factory=list)


def octave(histogram: Histogram, bucket: int) -> int:
    """A bucket is in (2^octave s, 2^(octave + 1) s]."""
    return bucket >> histogram.schema


class Examples:
    """The last late operation of each octave, of one tracker."""

    def __init__(self, tracker: Tracker) -> None:
        self.reader: Reader | None = None
        self.found: dict[int, Report] = {}
        self.seen = self.crossings = 0
        try:
            # Stacks are not told: nobody looks their symbols up.
            self.reader = Reader(tracker, 'last', Symbols(lambda: ()))
        except Error:
            # It may be read by root only.
            pass

    def read(self, crossings: int) -> dict[int, Report]:
        """By octave; crossings: the counter of the tracker."""
        if self.reader and crossings != self.crossings:
            for report in self.reader.last(self.seen):
                self.seen = report.nr
                if report.ended and not report.own:
                    # 2^k s is the end of an octave: one ns less is in it, too.
                    self.found[math.frexp(max(report.delay_ns - 1, 1) / 1e9)[1] - 1] = report
            self.crossings = crossings
        return dict(self.found)

    def close(self) -> None:
        """No more reads."""
        if self.reader:
            self.reader.close()


def added(one: Histogram, other: Histogram) -> Histogram:
    """Both together."""
    counts = dict(one.counts)
    for bucket, count in other.counts.items():
        counts[bucket] = counts.get(bucket, 0) + count
    return Histogram(one.schema, counts, one.sum_ns + other.sum_ns, max(one.max_ns, other.max_ns),
                     max(one.span_ns, other.span_ns))


class Limit:
    """How many groups have series of their own: the first so many that had operations, those that took
    the most time first. What is not among them is in "other", and stays there, since a counter must not
    fall when another group becomes larger."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.told: set[tuple[str, str, str]] = set()
        self.folded: set[tuple[str, str, str]] = set()

    def name(self, key: tuple[str, str, str]) -> str:
        """Of tracker, dimension and name of a group: the name under which it is told."""
        if key in self.told or key[2] == OTHER:
            return key[2]
        if key in self.folded or len(self.told) >= self.most:
            self.folded.add(key)
            return OTHER
        self.told.add(key)
        return key[2]

    def forget(self, tracker: str, there: set[tuple[str, str, str]]) -> None:
        """Groups of a tracker that are not there any more leave room for others."""
        self.told = {key for key in self.told if key[0] != tracker or key in there}
        self.folded = {key for key in self.folded if key[0] != tracker or key in there}


class Collector:
    """Of some trackers, or of whatever is loaded at that moment if there are no names."""

    def __init__(self, machine: Machine, names: Sequence[str], most_groups: int) -> None:
        # One that is not there may come; one that cannot be is an error.
        self.machine, self.names = machine, [Tracker(machine, name).name for name in names]
        self.limit = Limit(most_groups)
        self.cgroups = Cgroups(machine)
        self.examples: dict[str, Examples] = {}
        self.errors = 0

    def trackers(self) -> list[Tracker]:
        """Those that there are now."""
        there = loaded(self.machine)
        return [tracker for tracker in there if tracker.name in self.names] if self.names else there

    def check(self) -> None:
        """Error: there is nothing to tell of yet."""
        chosen(self.machine, self.names)

    def collect(self) -> list[Family]:
        """All. A tracker that is unloaded meanwhile is left out; one that cannot be read is counted."""
        trackers = self.trackers()
        for gone in set(self.examples) - {tracker.name for tracker in trackers}:
            self.examples.pop(gone).close()
        found = [entry for tracker in trackers for entry in self._read(tracker)]
        families = {family.name: family for family in self._families()}
        for name, series in found:
            counter = Family(name, f'the file {name[len(PREFIX):]}: Documentation/ABI/sysfs', 'counter')
            families.setdefault(name, counter).series.append(series)
        return [family for family in families.values() if family.series]

    def _read(self, tracker: Tracker) -> list[tuple[str, Series]]:
        """Nothing if it is gone, or cannot be read."""
        for pause in (0.05, 0.05, 0):
            try:
                return list(self._of(tracker))
            except (Error, OSError):
                # It may be on its way out.
                if not tracker.loaded:
                    return []
            time.sleep(pause)
        self.errors += 1
        return []

    def _families(self) -> Iterator[Family]:
        yield Family(PREFIX + 'version', 'of the command', 'gauge', [Series({'version': version()}, 1)])
        yield Family(PREFIX + 'export_errors', 'trackers that could not be read', 'counter', [Series({}, self.errors)])
        yield Family(PREFIX + 'export_cpu_seconds', 'what the export itself took', 'counter',
                     [Series({}, time.process_time())])
        yield Family(PREFIX + 'delay_seconds', 'delays of all operations that ended, late or not', 'histogram')
        yield Family(PREFIX + 'group_delay_seconds', 'the same by what they belong to', 'histogram')
        yield Family(PREFIX + 'worst_seconds', 'the longest delay of the last minute', 'gauge')
        yield Family(PREFIX + 'records_lost', 'reports that profile/last and profile/worst do not have', 'counter')
        for name, about in GAUGES.items():
            yield Family(self._gauge(name), about, 'gauge')

    @staticmethod
    def _gauge(name: str) -> str:
        return PREFIX + name.replace('_now_ns', '_seconds')

    def _of(self, tracker: Tracker) -> Iterator[tuple[str, Series]]:
        labels = {'tracker': tracker.name}
        counters = tracker.counters()
        for name, value in counters.items():
            if name in GAUGES:
                yield self._gauge(name), Series(labels, value / 1e9 if name.endswith('_ns') else value)
            elif name not in NOT_TOLD:
                yield PREFIX + name, Series(labels, value)
        yield PREFIX + 'records_lost', Series(labels, tracker.number('profile/lost'))
        of = windows(tracker, ('total', '1m'))
        yield PREFIX + 'worst_seconds', Series(labels, of['1m'].max_ns / 1e9)
        examples = self.examples.get(tracker.name)
        if not examples:
            examples = self.examples[tracker.name] = Examples(tracker)
        yield PREFIX + 'delay_seconds', Series(labels, of['total'], examples.read(counters.get('crossings', 0)))
        for (dimension, name), histogram in self._groups(tracker).items():
            yield PREFIX + 'group_delay_seconds', Series({**labels, 'dimension': dimension, 'group': name}, histogram)

    def _name(self, group: Group) -> str:
        path = self.cgroups.path(group.id) if group.dimension == 'cgroup' and not group.other else '?'
        return group.name if path in ('-', '?') else path

    def _groups(self, tracker: Tracker) -> dict[tuple[str, str], Histogram]:
        found = [group for group in groups(tracker) if group.total.count]
        found.sort(key=lambda group: -group.total.sum_ns)
        named = [((tracker.name, group.dimension, self._name(group)), group) for group in found]
        self.limit.forget(tracker.name, {key for key, _ in named})
        told: dict[tuple[str, str], Histogram] = {}
        for key, group in named:
            # Two may have one name: a cgroup that was removed and made again.
            at = group.dimension, self.limit.name(key)
            told[at] = added(told[at], group.total) if at in told else group.total
        return told
