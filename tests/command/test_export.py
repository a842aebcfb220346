# SPDX-License-Identifier: GPL-2.0-only
"""What "export" answers, read by the library of Prometheus; what it sends, as a collector gets it."""
from __future__ import annotations

import math
import os
import random
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics_parser

from latency_tracker import Error
from latency_tracker.export import Exporter, Pusher, Server, parse_address, serve
from latency_tracker.otlp import Sender
from latency_tracker.records import Reader
from latency_tracker.signals import Signals
from latency_tracker.stacks import Symbols
from latency_tracker.state import Tracker

from .conftest import Later, Shell
from .fake import COUNTERS, NOW_NS, UNSIGNED, Fake, buckets_file, groups_file, record, syscall
from .judge import Collector, free_port
from .test_state import types_are_right

STATE = '/sys/kernel/latency_tracker'
OPENMETRICS = 'application/openmetrics-text; version=1.0.0'
CHANCE = random.Random(3)
DELAYS = [int(2**CHANCE.uniform(4, 36.5)) for _ in range(3000)]


@pytest.fixture
def exporter(machine: Fake) -> Exporter:
    """Of two trackers."""
    for name in ('block', 'syscalls'):
        machine.tracker(name, crossings=3)
        machine.put(f'{STATE}/{name}/profile/buckets', buckets_file(DELAYS))
    return Exporter(machine, [], 100)


@pytest.fixture
def server(exporter: Exporter) -> Iterator[Server]:
    """It answers."""
    of = serve(('127.0.0.1', 0), exporter)
    yield of
    of.server_close()


@pytest.fixture
def collector() -> Iterator[Collector]:
    """It takes all."""
    of = Collector()
    yield of
    of.close()


def samples(exporter: Exporter, accept: str = '') -> list[Any]:
    """As the library of Prometheus reads them."""
    data, kind = exporter.answer(accept)
    read = openmetrics_parser if 'openmetrics' in kind else parser
    return [sample for family in read.text_string_to_metric_families(data.decode())
            for sample in family.samples]


def values(exporter: Exporter, name: str, **labels: str) -> list[float]:
    """Of the series of a name that have these labels."""
    return [sample.value for sample in samples(exporter)
            if sample.name == f'latency_tracker_{name}' and labels.items() <= sample.labels.items()]


@pytest.mark.parametrize('accept', ['', OPENMETRICS])
def test_histograms_have_all_operations(exporter: Exporter, accept: str) -> None:
    of = [sample for sample in samples(exporter, accept) if sample.labels.get('tracker') == 'block' and
          sample.name.startswith('latency_tracker_delay_seconds')]
    counts = {float(sample.labels['le']): sample.value for sample in of if 'le' in sample.labels}
    assert counts[math.inf] == len(DELAYS) and len(counts) == 31
    for bound, count in counts.items():
        if bound < math.inf:
            # Delays are whole ns, and bounds are exact.
            assert count == sum(delay <= bound * 1e9 for delay in DELAYS), bound
    rest = {sample.name.rpartition('_')[2]: sample.value for sample in of if 'le' not in sample.labels}
    assert rest == {'count': len(DELAYS), 'sum': pytest.approx(sum(DELAYS) / 1e9)}


def test_a_delay_at_a_bound_is_below_it(exporter: Exporter, machine: Fake) -> None:
    machine.put(f'{STATE}/block/profile/buckets', buckets_file([10**9, 10**9 + 1, 5 * 10**8, 64 * 10**9, 65 * 10**9]))
    for bound, count in (('0.5', 1), ('1.0', 2), ('2.0', 3), ('64.0', 4), ('+Inf', 5)):
        assert values(exporter, 'delay_seconds_bucket', tracker='block', le=bound) == [count]


def test_counters_and_gauges(exporter: Exporter) -> None:
    for name in ('started', 'finished', 'late', 'skipped', 'clock_back', 'unwatched', 'timeouts'):
        assert values(exporter, f'{name}_total', tracker='syscalls') == [COUNTERS[name]]
    assert values(exporter, 'threshold_seconds', tracker='block') == [0.01]
    assert values(exporter, 'pending', tracker='block') == [10]
    assert values(exporter, 'worst_seconds', tracker='block') == [max(DELAYS) / 1e9]
    assert values(exporter, 'export_errors_total') == [0]
    names = {sample.name for sample in samples(exporter)}
    assert not names & {'latency_tracker_tracking_on_total', 'latency_tracker_threshold_ns'}


def test_an_exemplar_names_the_event(exporter: Exporter, machine: Fake) -> None:
    machine.last('syscalls', record(7, 'syscall_latency', syscall(comm='a "b"\n')),
                 record(8, 'syscall_latency', syscall(delay=10**9)),
                 record(9, 'syscall_latency', syscall(delay=3 * 10**9, flag=(1, 'pending'))))
    found = {sample.labels['le']: sample.exemplar for sample in samples(exporter, OPENMETRICS) if sample.exemplar}
    assert set(found) == {'0.25', '1.0'} and found['1.0'].value == 1
    labels = found['0.25'].labels
    assert labels['event'] == 'syscall_latency' and labels['call'] == 'fdatasync' and labels['nr'] == '7'
    assert labels['comm'] == 'a "b"\n' and 'pid' not in labels
    assert sum(len(name) + len(value) for name, value in labels.items()) <= 128
    machine.last('syscalls', record(10, 'syscall_latency', syscall(delay=240 * 10**6)))
    assert {sample.exemplar.labels['nr'] for sample in samples(exporter, OPENMETRICS) if sample.exemplar} == {'7', '8'}
    machine.put(f'{STATE}/syscalls/crossings', '4\n')
    assert {sample.exemplar.labels['nr'] for sample in samples(exporter, OPENMETRICS) if sample.exemplar} == {'10', '8'}


def test_names_of_others_are_escaped(exporter: Exporter, machine: Fake) -> None:
    machine.put(f'{STATE}/block/profile/groups', groups_file({('cgroup', b'/a"\\b\n\xff'): [10**6]}))
    groups = [sample.labels['group'] for sample in samples(exporter)
              if sample.name == 'latency_tracker_group_delay_seconds_count']
    assert groups == ['/a"\\b\n\\xff']


def test_groups_beyond_the_limit_are_others(machine: Fake) -> None:
    machine.tracker('block')
    exporter = Exporter(machine, [], 2)

    def groups(**delays: int) -> dict[str, float]:
        machine.put(f'{STATE}/block/profile/groups', groups_file(
            {('disk', name.encode()): [delay] * 3 for name, delay in delays.items()}))
        return {sample.labels['group']: sample.value for sample in samples(exporter)
                if sample.name == 'latency_tracker_group_delay_seconds_count'}

    assert groups(a=10**6, b=10**7, c=10**8, other=1) == {'b': 3, 'c': 3, 'other': 6}
    # No counter falls, although others are the larger ones now.
    assert groups(a=10**9, b=10**7, c=10**8, d=10**9, other=1) == {'b': 3, 'c': 3, 'other': 9}
    # The place of one that is gone is for what comes then.
    assert groups(a=10**9, c=10**8, e=1, other=1) == {'c': 3, 'e': 3, 'other': 6}


def test_groups_of_one_name_are_one(machine: Fake) -> None:
    machine.tracker('block')
    path = machine.path('/sys/fs/cgroup/web')
    path.mkdir(parents=True)
    machine.put('/sys/fs/cgroup/cgroup.controllers', '')
    data = groups_file({('cgroup', b'...web'): [10**6] * 2, ('cgroup', b'/web'): [10**6] * 3})
    # The one that was made again, and one that is gone.
    data = data[:40] + path.stat().st_ino.to_bytes(8, 'little') + data[48:4136] + b'\xff' * 7 + data[4143:]
    machine.put(f'{STATE}/block/profile/groups', data)
    assert values(Exporter(machine, [], 9), 'group_delay_seconds_count', group='/web', dimension='cgroup') == [5]


def get(server: Server, path: str, accept: str = '') -> tuple[str, bytes]:
    """The type of an answer, and it."""
    url = f'http://127.0.0.1:{server.server_address[1]}{path}'
    with urllib.request.urlopen(urllib.request.Request(url, headers={'Accept': accept}), timeout=10) as answer:
        return answer.headers['Content-Type'], answer.read()


def test_it_answers(server: Server) -> None:
    kind, data = get(server, '/metrics')
    assert kind.startswith('text/plain') and b'latency_tracker_late_total{tracker="block"} 3.0' in data
    assert get(server, '/metrics?x=1', OPENMETRICS)[1].endswith(b'# EOF\n')
    protobuf = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7'
    assert get(server, '/metrics', protobuf)[0].startswith('application/vnd.google.protobuf')
    with pytest.raises(urllib.error.HTTPError, match='404'):
        get(server, '/')


def test_trackers_come_and_go(server: Server, machine: Fake) -> None:
    threads = [threading.Thread(target=get, args=(server, '/metrics')) for _ in range(8)]
    for thread in threads:
        thread.start()
    machine.run(['modprobe', '-r', 'latency_tracker_block'])
    machine.tracker('irq')
    for thread in threads:
        thread.join()
    data = get(server, '/metrics')[1]
    assert b'block' not in data and b'latency_tracker_late_total{tracker="irq"}' in data
    assert b'export_errors_total 0.0' in data


def test_what_cannot_be_read_is_counted(server: Server, machine: Fake) -> None:
    machine.put(f'{STATE}/block/profile/buckets', b'garbled')
    data = get(server, '/metrics')[1]
    assert b'latency_tracker_late_total{tracker="syscalls"}' in data and b'tracker="block"' not in data
    assert b'export_errors_total 1.0' in data


@pytest.mark.parametrize('text, address', [('127.0.0.1:1', ('127.0.0.1', 1)), (':80', ('', 80)), ('[::]:9', ('::', 9))])
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize('text', ['1', 'a:b', '::1:80', 'a:99999', '', ':'])
def test_bad_addresses(text: str) -> None:
    with pytest.raises(Error, match='address and port'):
        parse_address(text)


def test_it_works_until_a_signal(shell: Shell, collector: Collector, later: Later) -> None:
    shell.machine.tracker('block')
    port = free_port()
    later(1, lambda: os.kill(os.getpid(), signal.SIGTERM))
    told = shell('export', '--listen', f'127.0.0.1:{port}', '--otlp', collector.url, '--every', '100ms')
    assert told.status == 0 and told.out == f'metrics for Prometheus: http://127.0.0.1:{port}/metrics\n'
    assert len(collector.of('metrics')) > 2 and not collector.of('logs')
    later(1, lambda: os.kill(os.getpid(), signal.SIGINT))
    (entry,) = shell('export', '--listen', 'none', '--otlp', collector.url, '--json').objects
    assert types_are_right(entry) and entry['port'] is None and entry['native'] is True


def test_once(shell: Shell) -> None:
    assert 'latency-tracker start' in shell('export', '--once').err
    shell.machine.tracker('block')
    assert 'latency_tracker_late_total{tracker="block"} 3.0\n' in shell('export', '--once').out


@pytest.mark.parametrize('words', [['../block'], ['--listen', 'none'], ['--listen', '1.2.3.4:1'], ['--otlp', 'localhost:4318'],
                                   ['--listen', 'nowhere.invalid:1']])
def test_what_cannot_work_says_so(shell: Shell, words: list[str]) -> None:
    told = shell('export', *words)
    assert told.status == 1 and told.err.startswith('latency-tracker: ')


def test_without_the_library_it_says_which(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('prometheus_client.core', 'google.protobuf.descriptor_pb2'):
        monkeypatch.setitem(__import__('sys').modules, name, None)
    assert 'apt-get install python3-prometheus-client' in shell('export').err


def test_without_protobuf_there_is_text(machine: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__('sys').modules, 'google.protobuf.descriptor_pb2', None)
    machine.tracker('block')
    exporter = Exporter(machine, [], 1)
    assert 'python3-protobuf' in exporter.without
    assert exporter.answer('application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily')[1].startswith('text/')


# --- OpenTelemetry ---------------------------------------------------------------------

def plain(attributes: list[Any]) -> dict[str, Any]:
    """By key, as they are in JSON."""
    return {of['key']: next(iter(of['value'].values())) for of in attributes}


def sender(exporter: Exporter, machine: Fake, collector: Collector, *records: bytes) -> Sender:
    """With late operations that wait."""
    of = exporter.sender = Sender(machine, collector.url)
    machine.last('syscalls', *records)
    reader = Reader(Tracker(machine, 'syscalls'), 'last', Symbols(lambda: ()))
    for report in reader.last():
        of.add(report)
    reader.close()
    return of


def test_metrics_of_otlp(exporter: Exporter, machine: Fake, collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Bearer%20x, b=c')
    of = sender(exporter, machine, collector)
    of.send(exporter.families())
    time.sleep(0.01)
    of.send(exporter.families())
    assert collector.headers['Authorization'] == 'Bearer x' and collector.headers['Content-Type'] == 'application/json'
    first, second = ({metric['name']: metric for metric in data['resourceMetrics'][0]['scopeMetrics'][0]['metrics']}
                     for data in collector.of('metrics'))
    resource = plain(collector.of('metrics')[0]['resourceMetrics'][0]['resource']['attributes'])
    assert resource['host.name'] == 'db1' and resource['service.name'] == 'latency-tracker'
    delay = first['latency_tracker.delay']
    assert delay['unit'] == 's' and delay['exponentialHistogram']['aggregationTemporality'] == 2
    point = delay['exponentialHistogram']['dataPoints'][0]
    assert plain(point['attributes']) == {'tracker': 'syscalls'} and point['count'] == str(len(DELAYS))
    positive, seen = point['positive'], 0
    for i, count in enumerate(positive['bucketCounts']):
        low = 2**((positive['offset'] + i) / 32) * 1e9
        high = low * 2**(1 / 32) if positive['offset'] + i < 195 else math.inf
        assert int(count) == sum(max(low, 63) < delay <= high for delay in DELAYS), i
        seen += int(count)
    assert seen + int(point['zeroCount']) == len(DELAYS)
    assert int(point['zeroCount']) == sum(delay / 1e9 <= point['zeroThreshold'] for delay in DELAYS)
    late = first['latency_tracker.late']['sum']
    assert late['isMonotonic'] and late['dataPoints'][0]['asInt'] == '3'
    starts = [of['latency_tracker.delay']['exponentialHistogram']['dataPoints'][0]['startTimeUnixNano']
              for of in (first, second)]
    assert starts[0] == starts[1] and int(starts[0]) == machine.wall_ns() - 60 * 10**9
    assert first['latency_tracker.threshold']['gauge']['dataPoints'][0]['asDouble'] == 0.01


def test_what_came_with_a_tracker_is_sent(machine: Fake, collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('latency_tracker.cmd_reports.Listener.SECONDS', 0.1)
    machine.tracker('block')
    machine.last('block', record(1, 'syscall_latency', syscall()))
    exporter, signals = Exporter(machine, [], 9), Signals()
    exporter.sender = Sender(machine, collector.url)
    pusher = Pusher(machine, exporter, exporter.sender, signals)
    pusher.turn(0.3)
    assert not collector.of('logs')
    machine.tracker('syscalls')
    # It was loaded before, or it was not: what is in its file then is new, in part lost.
    machine.last('syscalls', record(3, 'syscall_latency', syscall()))
    pusher.turn(0.3)
    (logs,) = collector.of('logs')
    assert [plain(of['attributes'])['nr'] for of in logs['resourceLogs'][0]['scopeLogs'][0]['logRecords']] == ['3']
    assert exporter.missed == 2
    pusher.listener.close()
    signals.close()


def test_who_is_not_root_sends_metrics_and_says_so_once(machine: Fake, collector: Collector, monkeypatch: pytest.MonkeyPatch,
                                                        capsys: pytest.CaptureFixture[str]) -> None:
    machine.tracker('block')

    def refuse(*_: object) -> Reader:
        raise Error('profile/last may be read by root only: use sudo')

    monkeypatch.setattr('latency_tracker.cmd_reports.Reader', refuse)
    exporter, signals = Exporter(machine, [], 9), Signals()
    exporter.sender = Sender(machine, collector.url)
    pusher = Pusher(machine, exporter, exporter.sender, signals)
    pusher.turn(0.01)
    files = len(os.listdir('/proc/self/fd'))
    for _ in range(9):
        pusher.turn(0.01)
    assert len(collector.of('metrics')) == 10 and len(os.listdir('/proc/self/fd')) < files + 5
    assert capsys.readouterr().err == 'latency-tracker: profile/last may be read by root only: use sudo\n'
    pusher.listener.close()
    signals.close()


def test_late_operations_of_otlp(exporter: Exporter, machine: Fake, collector: Collector) -> None:
    sender(exporter, machine, collector, record(1, 'syscall_latency', syscall()),
           record(2, 'syscall_latency', (*syscall(comm='x'), ('sector', UNSIGNED, 2**64 - 1)))).send(exporter.families())
    (logs,) = collector.of('logs')
    records = logs['resourceLogs'][0]['scopeLogs'][0]['logRecords']
    assert [plain(of['attributes'])['field.comm'] for of in records] == ['mariadbd', 'x']
    assert records[0]['body']['stringValue'].startswith('fdatasync() of mariadbd (252) took 236 ms')
    assert int(records[0]['timeUnixNano']) == machine.wall_ns() - 236 * 10**6 - NOW_NS + machine.monotonic_ns()
    assert plain(records[0]['attributes'])['delay_ns'] == '236000000' and records[0]['severityText'] == 'WARN'
    # An int64 is all that there is: a collector would take none of them.
    assert {'key': 'field.sector', 'value': {'stringValue': str(2**64 - 1)}} in records[1]['attributes']


@pytest.mark.parametrize('statuses, kept, lost', [
    ([200, 503], 2, (0, 0)), ([503, 200], 0, (1, 0)), ([200, 400], 0, (0, 2)), ([404, 404], 0, (1, 2))])
def test_what_a_collector_refuses(exporter: Exporter, machine: Fake, collector: Collector, statuses: list[int],
                                  kept: int, lost: tuple[int, int]) -> None:
    of = sender(exporter, machine, collector, *(record(nr, 'syscall_latency', syscall()) for nr in (1, 2)))
    collector.status = list(statuses)
    of.send(exporter.families())
    assert len(of.queue) == kept and (of.lost['metrics'], of.lost['logs']) == lost
    assert str(max(statuses)) in of.complaint
    assert values(exporter, 'export_otlp_lost_total', signal='logs') == [lost[1]]
    of.send(exporter.families())
    assert not of.queue and not of.complaint


def test_a_collector_that_takes_a_part(exporter: Exporter, machine: Fake, collector: Collector) -> None:
    of = sender(exporter, machine, collector, record(1, 'syscall_latency', syscall()))
    collector.answer = {'partialSuccess': {'rejectedLogRecords': '1', 'errorMessage': 'too old'}}
    of.send(exporter.families())
    assert of.lost == {'metrics': 0, 'logs': 1} and 'too old' in of.complaint


def test_a_collector_that_is_gone(exporter: Exporter, machine: Fake, collector: Collector,
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('latency_tracker.otlp.QUEUE', 3)
    of = sender(exporter, machine, collector, *(record(nr, 'syscall_latency', syscall()) for nr in range(1, 6)))
    of.url = f'http://127.0.0.1:{free_port()}'
    of.send(exporter.families())
    assert len(of.queue) == 3 and of.lost == {'metrics': 1, 'logs': 2} and 'refused' in of.complaint
    of.url = collector.url
    of.send(exporter.families())
    (logs,) = collector.of('logs')
    assert [plain(log['attributes'])['nr'] for log in logs['resourceLogs'][0]['scopeLogs'][0]['logRecords']] == ['3', '4', '5']
