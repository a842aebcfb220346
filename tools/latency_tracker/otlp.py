# SPDX-License-Identifier: GPL-2.0-only
"""Metrics and late operations to a collector of OpenTelemetry: OTLP over HTTP, in JSON."""
from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections import deque
from collections.abc import Mapping, Sequence

from latency_tracker import Error, version
from latency_tracker.cgroups import Cgroups
from latency_tracker.machine import Machine
from latency_tracker.metrics import Family
from latency_tracker.output import Json
from latency_tracker.profile import ENDS, Histogram
from latency_tracker.records import Report
from latency_tracker.words import words

TIMEOUT_SECONDS = 10
CUMULATIVE = 2
# Severities: of what waits for something to do, and of the others.
INFO, WARN = (9, 'INFO'), (13, 'WARN')
# Late operations that wait for a collector that does not answer.
QUEUE = 10000
BATCH = 1000
TAKEN = 200
# By the specification of OTLP, these are to be tried again.
AGAIN = (429, 502, 503, 504)


def attributes(values: Mapping[str, str | int | float | bool]) -> list[Json]:
    """A list of keys with typed values; 64-bit numbers are strings in JSON, and those that an int64 does
    not hold are texts."""
    found: list[Json] = []
    for key, value in values.items():
        typed: Json = ({'boolValue': value} if isinstance(value, bool) else
                       {'intValue': str(value)} if isinstance(value, int) and abs(value) < 2**63 else
                       {'doubleValue': value} if isinstance(value, float) else {'stringValue': str(value)})
        found.append({'key': key, 'value': typed})
    return found


def exponential(of: Histogram) -> dict[str, Json]:
    """The fields of a data point. Bucket i is the trackers' i, so nothing is lost."""
    first, bound_ns, _ = ENDS[of.schema]
    counts = {bucket: count for bucket, count in of.counts.items() if bucket != first}
    low, high = min(counts, default=0), max(counts, default=-1)
    point: dict[str, Json] = {
        'count': str(of.count), 'sum': of.sum_ns / 1e9, 'scale': of.schema,
        'zeroCount': str(of.counts.get(first, 0)), 'zeroThreshold': bound_ns / 1e9,
        'positive': {'offset': low, 'bucketCounts': [str(counts.get(i, 0)) for i in range(low, high + 1)]}}
    if of.count:
        point['max'] = of.max_ns / 1e9
    return point


class Payloads:
    """What is sent, as JSON. Times are ns since 1970; the begin of the counts stays the same."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.cgroups = machine, Cgroups(machine)
        self.begin_ns: dict[str, int] = {}
        self.resource: dict[str, Json] = {'attributes': attributes({
            'service.name': 'latency-tracker', 'service.version': version(), 'os.type': 'linux',
            'host.name': machine.hostname()})}
        self.scope: dict[str, Json] = {'name': 'latency-tracker', 'version': version()}

    def metrics(self, families: Sequence[Family]) -> dict[str, Json]:
        """ExportMetricsServiceRequest."""
        now_ns = self.machine.wall_ns()
        found: list[Json] = [self._family(family, now_ns) for family in families]
        return {'resourceMetrics': [{'resource': self.resource, 'scopeMetrics': [
            {'scope': self.scope, 'metrics': found}]}]}

    def _family(self, family: Family, now_ns: int) -> Json:
        points: list[Json] = []
        for series in family.series:
            key = family.name + repr(sorted(series.labels.items()))
            point: dict[str, Json] = {'attributes': attributes(series.labels), 'timeUnixNano': str(now_ns)}
            if isinstance(series.value, Histogram):
                point.update(exponential(series.value))
                begin_ns = now_ns - series.value.span_ns
            else:
                whole = isinstance(series.value, int)
                point['asInt' if whole else 'asDouble'] = str(series.value) if whole else series.value
                begin_ns = now_ns
            if family.kind != 'gauge':
                point['startTimeUnixNano'] = str(self.begin_ns.setdefault(key, begin_ns))
            points.append(point)
        name = family.name.replace('latency_tracker_', 'latency_tracker.').replace('_seconds', '')
        found: dict[str, Json] = {'name': name, 'description': family.about,
                                  'unit': 's' if family.name.endswith('_seconds') else '1'}
        if family.kind == 'gauge':
            found['gauge'] = {'dataPoints': points}
        elif family.kind == 'histogram':
            found['exponentialHistogram'] = {'dataPoints': points, 'aggregationTemporality': CUMULATIVE}
        else:
            found['sum'] = {'dataPoints': points, 'aggregationTemporality': CUMULATIVE, 'isMonotonic': True}
        return found

    def logs(self, reports: Sequence[Report]) -> dict[str, Json]:
        """ExportLogsServiceRequest."""
        # It changes while the machine is suspended, or when its clock is set.
        ahead_ns = self.machine.wall_ns() - self.machine.monotonic_ns()
        found: list[Json] = [self._log(report, ahead_ns) for report in reports]
        return {'resourceLogs': [{'resource': self.resource, 'scopeLogs': [
            {'scope': self.scope, 'logRecords': found}]}]}

    def _log(self, report: Report, ahead_ns: int) -> Json:
        of = words(report)
        values: dict[str, str | int | float | bool] = {
            'tracker': report.tracker, 'event': report.event, 'flag': report.flag, 'nr': report.nr,
            'delay_ns': report.delay_ns, 'idle': of.idle,
            'cgroup': self.cgroups.path(report.number('cgroup_id'))}
        for name, value in report.values.items():
            if name not in ('delay', 'start', 'flag'):
                values[f'field.{name}'] = '\n'.join(value) if isinstance(value, list) else value
        number, name = INFO if of.idle else WARN
        return {'timeUnixNano': str(report.start_ns + ahead_ns), 'severityNumber': number,
                'observedTimeUnixNano': str(report.at_ns + ahead_ns), 'severityText': name,
                'body': {'stringValue': '; '.join([of.text, *of.details])}, 'attributes': attributes(values)}


def headers_of(text: str) -> dict[str, str]:
    """Of OTEL_EXPORTER_OTLP_HEADERS: name=value, name=value, with %20 for a blank."""
    found = {}
    for word in filter(None, (word.strip() for word in text.split(','))):
        name, separator, value = word.partition('=')
        if not separator or not name.strip():
            raise Error('OTEL_EXPORTER_OTLP_HEADERS is no list of NAME=VALUE')
        found[name.strip()] = urllib.parse.unquote(value.strip())
    return found


class Sender:
    """To one collector. What it refuses, and what comes while it does not answer and the queue is full, is
    lost and counted."""

    def __init__(self, machine: Machine, url: str) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ('http', 'https') or not parts.netloc:
            raise Error(f'"{url}" is no address of a collector, such as http://localhost:4318')
        self.url = url.rstrip('/')
        self.headers = {'Content-Type': 'application/json', 'User-Agent': f'latency-tracker/{version()}',
                        **headers_of(os.environ.get('OTEL_EXPORTER_OTLP_HEADERS', ''))}
        self.payloads = Payloads(machine)
        self.queue: deque[Report] = deque()
        self.lost = {'metrics': 0, 'logs': 0}
        self.complaint = ''

    def add(self, report: Report) -> None:
        """To be sent with the next ones."""
        if len(self.queue) >= QUEUE:
            self.queue.popleft()
            self.lost['logs'] += 1
        self.queue.append(report)

    def send(self, families: Sequence[Family]) -> None:
        """All that there is. complaint says what did not work, if something did not."""
        self.complaint = ''
        # Counters come again: those that were not taken are not sent a second time.
        status = self._post('metrics', self.payloads.metrics(families))
        self.lost['metrics'] += status != TAKEN
        while self.queue and status:
            batch = [self.queue[i] for i in range(min(BATCH, len(self.queue)))]
            status = self._post('logs', self.payloads.logs(batch))
            if not status or status in AGAIN:
                return
            self.lost['logs'] += len(batch) if status != TAKEN else 0
            for _ in batch:
                self.queue.popleft()

    def _post(self, signal: str, payload: dict[str, Json]) -> int:
        """The status of HTTP; 0: there was no answer."""
        request = urllib.request.Request(f'{self.url}/v1/{signal}', json.dumps(payload).encode(), self.headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                self._refused(signal, answer.read())
            return TAKEN
        except urllib.error.HTTPError as error:
            self.complaint = f'{self.url}/v1/{signal} answers {error.code} {error.reason}'
            return error.code
        except (OSError, http.client.HTTPException) as error:
            self.complaint = f'{self.url}: {getattr(error, "reason", None) or error}'
            return 0

    def _refused(self, signal: str, answer: bytes) -> None:
        """A collector may take a part of it."""
        try:
            partial = json.loads(answer or b'{}').get('partialSuccess') or {}
            count = int(partial.get('rejectedLogRecords' if signal == 'logs' else 'rejectedDataPoints') or 0)
        except (ValueError, AttributeError):
            # It was taken; what else it says is its own.
            return
        if count:
            self.lost[signal] += count if signal == 'logs' else 1
            self.complaint = f'{self.url} refuses {count}: {partial.get("errorMessage", "")}'
