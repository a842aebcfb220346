# SPDX-License-Identifier: GPL-2.0-only
"""Metrics as Prometheus reads them: text and OpenMetrics, by its own library, with a bucket per octave; and
protobuf, with native histograms that have all buckets of the trackers (metrics.proto of client_model)."""
from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Sequence
from typing import Any, Callable

from latency_tracker import Error
from latency_tracker.machine import Machine
from latency_tracker.metrics import Family, Series, octave
from latency_tracker.profile import ENDS, Histogram
from latency_tracker.records import Report
from latency_tracker.show import wall_time

# Upper bounds of classic buckets: 2^k s. Each is the end of a bucket of the trackers, too.
OCTAVES = range(-23, 7)
PROTOBUF = ('application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; '
            'encoding=delimited')
# What an exemplar may have in all, names included.
EXEMPLAR_CHARACTERS = 128


def library(name: str, package: str) -> Any:
    """A module that is not part of Python."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Error(f'export needs the package {package}: apt-get install {package}') from None


def cumulative(of: Histogram) -> list[tuple[float, int]]:
    """Upper bounds, s, and how many operations took no longer; the last bound is infinite."""
    first, _, last = ENDS[of.schema]
    by_octave = dict.fromkeys(OCTAVES, 0)
    for bucket, count in of.counts.items():
        power = OCTAVES[0] if bucket == first else octave(of, bucket) + 1
        if bucket != last and power in by_octave:
            by_octave[power] += count
    found, total = [], 0
    for power, count in by_octave.items():
        total += count
        found.append((2.0**power, total))
    return [*found, (math.inf, of.count)]


def exemplar(report: Report) -> dict[str, str]:
    """The event, and as much as there is room for of who and what it was: "last" shows the one with that nr."""
    found, room = {'event': report.event, 'nr': str(report.nr)}, EXEMPLAR_CHARACTERS
    room -= sum(len(name) + len(value) for name, value in found.items())
    for name in ('comm', 'call', 'mark', 'disk', 'dev', 'name', 'vec', 'state', 'cause', 'stage'):
        value = report.text(name)
        if value != '-' and len(name) + len(value) <= room:
            found[name] = value
            room -= len(name) + len(value)
    return found


class Text:
    """Version 0.0.4, or OpenMetrics, which has exemplars."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.core = library('prometheus_client.core', 'python3-prometheus-client')
        self.samples = library('prometheus_client.samples', 'python3-prometheus-client')
        self.exposition = library('prometheus_client.exposition', 'python3-prometheus-client')

    def encode(self, families: Sequence[Family], accept: str) -> tuple[bytes, str]:
        """And the type of the content."""
        encode, kind = self.exposition.choose_encoder(accept)
        library_families = [self._family(family) for family in families]

        class Registry:
            """Of one answer."""

            @staticmethod
            def collect() -> Iterator[Any]:
                """All of it."""
                yield from library_families

        data: bytes = encode(Registry())
        return data, kind

    def _family(self, family: Family) -> Any:
        metric = self.core.Metric(family.name, family.about, family.kind)
        for series in family.series:
            if isinstance(series.value, Histogram):
                self._histogram(metric, series, series.value)
            else:
                name = family.name + ('_total' if family.kind == 'counter' else '')
                metric.add_sample(name, series.labels, series.value)
        return metric

    def _histogram(self, metric: Any, series: Series, of: Histogram) -> None:
        for bound, count in cumulative(of):
            metric.add_sample(f'{metric.name}_bucket',
                              {**series.labels, 'le': self.exposition.floatToGoString(bound)}, count,
                              exemplar=self._exemplar(series, bound))
        metric.add_sample(f'{metric.name}_count', series.labels, of.count)
        metric.add_sample(f'{metric.name}_sum', series.labels, of.sum_ns / 1e9)

    def _exemplar(self, series: Series, bound: float) -> Any:
        report = series.examples.get(round(math.log2(bound)) - 1) if bound < math.inf else None
        if not report:
            return None
        return self.samples.Exemplar(exemplar(report), report.delay_ns / 1e9,
                                     wall_time(self.machine, report.at_ns).timestamp())


# Of a message: fields by number; a message, an enumeration or a type of protobuf; + is repeated.
MESSAGES = {
    'LabelPair': {1: 'name string', 2: 'value string'},
    'Gauge': {1: 'value double'},
    'Counter': {1: 'value double'},
    'Exemplar': {1: 'label LabelPair+', 2: 'value double', 3: 'timestamp Timestamp'},
    'Timestamp': {1: 'seconds int64', 2: 'nanos int32'},
    'Bucket': {1: 'cumulative_count uint64', 2: 'upper_bound double', 3: 'exemplar Exemplar'},
    'BucketSpan': {1: 'offset sint32', 2: 'length uint32'},
    'Histogram': {1: 'sample_count uint64', 2: 'sample_sum double', 3: 'bucket Bucket+', 5: 'schema sint32',
                  6: 'zero_threshold double', 7: 'zero_count uint64', 12: 'positive_span BucketSpan+',
                  13: 'positive_delta sint64+', 16: 'exemplars Exemplar+'},
    'Metric': {1: 'label LabelPair+', 2: 'gauge Gauge', 3: 'counter Counter', 7: 'histogram Histogram'},
    'MetricFamily': {1: 'name string', 2: 'help string', 3: 'type int32', 4: 'metric Metric+'},
}
# MetricType, which on the wire is a number.
TYPES = {'counter': 0, 'gauge': 1, 'histogram': 4}


def _make_message() -> Callable[[], Any]:
    """What makes an empty MetricFamily."""
    package = 'python3-protobuf'
    descriptor = library('google.protobuf.descriptor_pb2', package)
    pool = library('google.protobuf.descriptor_pool', package).DescriptorPool()
    factory = library('google.protobuf.message_factory', package)
    file = descriptor.FileDescriptorProto(name='metrics.proto', package='io.prometheus.client', syntax='proto2')
    kinds = descriptor.FieldDescriptorProto
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, words in fields.items():
            field_name, kind = words.rstrip('+').split()
            entry = message.field.add(name=field_name, number=number,
                                      label=kinds.LABEL_REPEATED if words.endswith('+') else kinds.LABEL_OPTIONAL)
            if kind in MESSAGES:
                entry.type, entry.type_name = kinds.TYPE_MESSAGE, f'.{file.package}.{kind}'
            else:
                entry.type = getattr(kinds, f'TYPE_{kind.upper()}')
    pool.Add(file)
    family = pool.FindMessageTypeByName(f'{file.package}.MetricFamily')
    # Before version 4.22, and since.
    make: Callable[[], Any] = factory.GetMessageClass(family) if hasattr(factory, 'GetMessageClass') else \
        factory.MessageFactory(pool).GetPrototype(family)
    return make


def spans(of: Histogram) -> tuple[list[tuple[int, int]], list[int]]:
    """Buckets as a native histogram has them: runs, each with the empty buckets before it, and the
    difference of each count to the one before. Bucket i ends at 2^(i / 2^schema) s, so the trackers'
    i is its i + 1; what is shorter than all is in its zero bucket."""
    first, _, _ = ENDS[of.schema]
    runs: list[tuple[int, int]] = []
    deltas, after, before = [], 0, 0
    for bucket, count in sorted(of.counts.items()):
        if bucket == first or not count:
            continue
        at = bucket + 1
        if runs and at == after:
            runs[-1] = runs[-1][0], runs[-1][1] + 1
        else:
            runs.append((at - after, 1))
        deltas.append(count - before)
        after, before = at + 1, count
    return runs, deltas


class Protobuf:
    """For those who ask for it, which are those that take native histograms."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.make = machine, _make_message()

    def encode(self, families: Sequence[Family]) -> tuple[bytes, str]:
        """And the type of the content: messages, each behind its length."""
        data = bytearray()
        for family in families:
            message = self.make()
            message.name = family.name + ('_total' if family.kind == 'counter' else '')
            message.help, message.type = family.about, TYPES[family.kind]
            for series in family.series:
                self._metric(message.metric.add(), family, series)
            packed = message.SerializeToString()
            length = len(packed)
            while length > 127:
                data.append(length & 127 | 128)
                length >>= 7
            data.append(length)
            data += packed
        return bytes(data), PROTOBUF

    def _metric(self, metric: Any, family: Family, series: Series) -> None:
        for name, value in series.labels.items():
            metric.label.add(name=name, value=value)
        if isinstance(series.value, Histogram):
            self._histogram(metric.histogram, series, series.value)
        else:
            getattr(metric, family.kind).value = series.value

    def _histogram(self, message: Any, series: Series, of: Histogram) -> None:
        first, bound_ns, _ = ENDS[of.schema]
        message.sample_count, message.sample_sum, message.schema = of.count, of.sum_ns / 1e9, of.schema
        message.zero_threshold, message.zero_count = bound_ns / 1e9, of.counts.get(first, 0)
        runs, deltas = spans(of)
        for offset, length in runs:
            message.positive_span.add(offset=offset, length=length)
        message.positive_delta.extend(deltas)
        if not runs:
            # Else an empty one would be taken for a classic histogram.
            message.positive_span.add(offset=0, length=0)
        # Prometheus takes exemplars from the buckets, before 2.50 only from those.
        for _, report in sorted(series.examples.items()):
            self._exemplar(message.exemplars.add(), report)
        for bound, count in cumulative(of):
            bucket = message.bucket.add(cumulative_count=count, upper_bound=bound)
            of_bucket = series.examples.get(round(math.log2(bound)) - 1) if bound < math.inf else None
            if of_bucket:
                self._exemplar(bucket.exemplar, of_bucket)

    def _exemplar(self, message: Any, report: Report) -> None:
        for name, value in exemplar(report).items():
            message.label.add(name=name, value=value)
        message.value = report.delay_ns / 1e9
        at_ns = int(wall_time(self.machine, report.at_ns).timestamp() * 1e9)
        message.timestamp.seconds, message.timestamp.nanos = divmod(at_ns, 10**9)
