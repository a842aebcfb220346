# SPDX-License-Identifier: GPL-2.0-only
"""What a real Prometheus makes of what "export" answers, and of the queries of the dashboard."""
from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from latency_tracker.export import Exporter, serve

from .fake import Fake, buckets_file, groups_file, record, syscall
from .judge import Prometheus

TOP = Path(__file__).parents[2]
STATE = '/sys/kernel/latency_tracker'
NAMES = ('block', 'syscalls')
CHANCE = random.Random(4)
FIRST = [int(2**CHANCE.uniform(4, 35.5)) for _ in range(3000)]
# What comes later: shorter ones, so that a rate has another distribution than the sum.
MORE = [int(2**CHANCE.uniform(12, 30)) for _ in range(6000)]


class Load:
    """What the trackers count; step() lets time pass."""

    def __init__(self, machine: Fake) -> None:
        self.machine, self.late = machine, 3
        for name in NAMES:
            machine.tracker(name)
        self.put(FIRST)

    def put(self, delays: list[int]) -> None:
        """All that has come until now."""
        for name in NAMES:
            state = f'{STATE}/{name}'
            for counter in ('late', 'crossings', 'skipped', 'profile/lost'):
                self.machine.put(f'{state}/{counter}', f'{self.late}\n')
            self.machine.last(name, record(self.late, 'syscall_latency', syscall()))
            self.machine.put(f'{state}/profile/buckets', buckets_file(delays))
            self.machine.put(f'{state}/profile/groups', groups_file({
                ('call', b'fsync'): delays[::2], ('cgroup', b'/system.slice'): delays}))

    def go_on(self) -> None:
        """Later."""
        self.late += 5
        self.put(FIRST + MORE)


@pytest.fixture(scope='module')
def load(tmp_path_factory: pytest.TempPathFactory) -> Load:
    """A machine of two trackers."""
    return Load(Fake(tmp_path_factory.mktemp('machine')))


@pytest.fixture(scope='module', params=['native-histograms,exemplar-storage', 'exemplar-storage'])
def prometheus(request: pytest.FixtureRequest, load: Load,
               tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """With and without native histograms, once the load has gone on."""
    load.put(FIRST)
    server = serve(('127.0.0.1', 0), Exporter(load.machine, [], 100))
    of = Prometheus(tmp_path_factory.mktemp('prometheus'), server.server_address[1], request.param)
    try:
        of.wait(lambda: len(of.query('count_over_time(up[1m]) >= 2 and up == 1')) == 1, 'it cannot read the metrics')
        load.go_on()
        of.wait(lambda: value(of, 'max(latency_tracker_late_total)') >= load.late, 'it reads no more')
        load.late = 3
        yield of
    finally:
        of.close()
        server.server_close()


def value(of: Prometheus, query: str) -> float:
    """Of a query with one series; its time is left out."""
    (series,) = of.query(query)
    return float(series['value'][1])


def is_native(of: Prometheus) -> bool:
    """It has been asked for them."""
    return not of.query('latency_tracker_delay_seconds_bucket')


def quantile(of: Prometheus, share: float, labels: str, metric: str = 'latency_tracker_delay_seconds') -> float:
    """In ns."""
    suffix = '' if is_native(of) else '_bucket'
    return value(of, f'histogram_quantile({share}, {metric}{suffix}{{{labels}}})') * 1e9


@pytest.mark.parametrize('share', [0.1, 0.5, 0.9, 0.99, 0.999])
def test_quantiles_are_those_of_a_sort(prometheus: Prometheus, share: float) -> None:
    exact = sorted(FIRST + MORE)
    rank = exact[math.ceil(share * len(exact)) - 1]
    # Within a bucket: of 2.2 %, of an octave.
    width = 1.0221 if is_native(prometheus) else 2.01
    assert rank / width <= quantile(prometheus, share, 'tracker="block"') <= rank * width


def test_of_groups_likewise(prometheus: Prometheus) -> None:
    of = sorted((FIRST + MORE)[::2])
    rank = of[math.ceil(0.9 * len(of)) - 1]
    width = 1.0906 if is_native(prometheus) else 2.01
    told = quantile(prometheus, 0.9, 'tracker="block",group="fsync"', 'latency_tracker_group_delay_seconds')
    assert rank / width <= told <= rank * width


def test_count_and_sum_are_exact(prometheus: Prometheus) -> None:
    name, labels = 'latency_tracker_delay_seconds', '{tracker="syscalls"}'
    count, total = (f'histogram_count({name}{labels})', f'histogram_sum({name}{labels})') if is_native(prometheus) \
        else (f'{name}_count{labels}', f'{name}_sum{labels}')
    assert value(prometheus, count) == len(FIRST + MORE)
    assert value(prometheus, total) == pytest.approx(sum(FIRST + MORE) / 1e9)


def test_buckets_are_exact(prometheus: Prometheus) -> None:
    delays = FIRST + MORE
    if is_native(prometheus):
        _, of = prometheus.query('latency_tracker_delay_seconds{tracker="block"}')[0]['histogram']
        buckets = [(float(low), float(high), float(count)) for _, low, high, count in of['buckets']]
        assert buckets[0][0] < 0 < buckets[0][1] and buckets[0][2] == sum(delay < 64 for delay in delays)
        for low, high, count in buckets[1:]:
            assert count == sum(max(low, 63e-9) < delay / 1e9 <= high for delay in delays), (low, high)
        assert sum(count for _, _, count in buckets) == len(delays)
    else:
        series = prometheus.query('latency_tracker_delay_seconds_bucket{tracker="block"}')
        for of in series:
            bound = float(of['metric']['le'])
            assert float(of['value'][1]) == sum(delay / 1e9 <= bound for delay in delays), bound
        assert len(series) == 31


def test_exemplars_name_the_event(prometheus: Prometheus) -> None:
    name = 'latency_tracker_delay_seconds' + ('' if is_native(prometheus) else '_bucket')
    # 2.42 stores none for text of version 0.0.4; it asks for OpenMetrics, or protobuf.
    found = prometheus.get('query_exemplars', query=name, start='1795700000', end='1795900000')
    labels = [exemplar['labels'] for series in found for exemplar in series['exemplars']]
    assert labels and all(of['event'] == 'syscall_latency' and of['call'] == 'fdatasync' for of in labels)


def dashboard() -> dict[str, Any]:
    """As it is installed."""
    found: dict[str, Any] = json.loads((TOP / 'tools/grafana-dashboard.json').read_text())
    return found


QUERIES = [(panel['title'], target['expr']) for panel in dashboard()['panels'] for target in panel['targets']]


@pytest.mark.parametrize('title, query', QUERIES, ids=[title for title, _ in QUERIES])
def test_queries_of_the_dashboard_find_something(prometheus: Prometheus, title: str, query: str) -> None:
    for name in ('instance', 'tracker', 'dimension'):
        query = query.replace(f'${name}', '.+')
    query = query.replace('$__rate_interval', '1m')
    assert '$' not in query
    found = prometheus.query(query)
    assert {series['metric']['tracker'] for series in found} == set(NAMES), title
    assert all(float(series['value'][1]) > 0 for series in found), found


def test_variables_of_the_dashboard_have_values(prometheus: Prometheus) -> None:
    for variable in dashboard()['templating']['list']:
        if variable['type'] == 'query':
            selector, label = variable['query'][len('label_values('):-1].rsplit(', ', 1)
            assert prometheus.get(f'label/{label}/values', **{'match[]': selector}), variable['name']
