# SPDX-License-Identifier: GPL-2.0-only
"""export: what the trackers know, for Prometheus and for OpenTelemetry."""
from __future__ import annotations

import argparse
import http.server
import socket
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any, cast

from latency_tracker import Error
from latency_tracker.cmd_reports import Listener
from latency_tracker.machine import Machine
from latency_tracker.metrics import PREFIX, Collector, Family, Series
from latency_tracker.otlp import Sender
from latency_tracker.output import Output
from latency_tracker.prometheus import PROTOBUF, Protobuf, Text
from latency_tracker.signals import Signals
from latency_tracker.stacks import Symbols, kallsyms
from latency_tracker.state import Tracker

# A client that says nothing for so long is gone.
CLIENT_SECONDS = 10
NO_LISTEN = 'none'


class Exporter:
    """One for all who ask; each answer is of the moment of the question."""

    def __init__(self, machine: Machine, names: Sequence[str], most_groups: int) -> None:
        self.collector = Collector(machine, names, most_groups)
        self.text = Text(machine)
        self.protobuf: Protobuf | None = None
        self.without = ''
        try:
            self.protobuf = Protobuf(machine)
        except Error as error:
            self.without = str(error)
        self.sender: Sender | None = None
        self.missed = 0
        # Two who ask at once share the files that stay open.
        self.lock = threading.Lock()

    def families(self) -> list[Family]:
        """All."""
        with self.lock:
            found = self.collector.collect()
        if self.sender:
            found.append(Family(PREFIX + 'export_otlp_lost', 'sets of metrics, and late operations, that a '
                                'collector of OpenTelemetry did not get', 'counter',
                                [Series({'signal': signal}, count + (self.missed if signal == 'logs' else 0))
                                 for signal, count in self.sender.lost.items()]))
        return found

    def answer(self, accept: str) -> tuple[bytes, str]:
        """And the type of its content; accept is the header of the question."""
        families = self.families()
        if self.protobuf and PROTOBUF.split(';', maxsplit=1)[0] in accept and 'MetricFamily' in accept:
            return self.protobuf.encode(families)
        return self.text.encode(families, accept)


class Server(http.server.ThreadingHTTPServer):
    """Answers /metrics."""
    daemon_threads = True

    def __init__(self, address: tuple[str, int], exporter: Exporter) -> None:
        self.exporter = exporter
        if ':' in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, Handler)


class Handler(http.server.BaseHTTPRequestHandler):
    """Of one client."""
    timeout = CLIENT_SECONDS
    server_version = 'latency-tracker'
    sys_version = ''

    def do_GET(self) -> None:  # pylint: disable=invalid-name
        """The metrics; a word about where they are."""
        if self.path.partition('?')[0] != '/metrics':
            self.send_error(404, 'The metrics are at /metrics')
            return
        exporter = cast(Server, self.server).exporter
        data, kind = exporter.answer(self.headers.get('Accept', ''))
        self.send_response(200)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nobody reads who has asked."""


def parse_address(text: str) -> tuple[str, int]:
    """"host:port", "[::1]:port", ":port" for all addresses."""
    host, separator, port = text.rpartition(':')
    if not separator or not port.isascii() or not port.isdigit() or int(port) > 65535 or \
            ':' in host and not (host.startswith('[') and host.endswith(']')):
        raise Error(f'"{text}" is no address and port, such as 127.0.0.1:9905, or [::]:9905 for all')
    return host.strip('[]'), int(port)


def serve(address: tuple[str, int], exporter: Exporter) -> Server:
    """In a thread of its own, until the program ends."""
    try:
        server = Server(address, exporter)
    except OSError as error:
        raise Error(f'cannot listen on {address[0]}:{address[1]}: {error.strerror or error}') from None
    # Only the end of the program would have to be looked for.
    threading.Thread(target=server.serve_forever, args=(3600,), daemon=True).start()
    return server


class Pusher:
    """Late operations and metrics to a collector, every so many seconds."""

    def __init__(self, machine: Machine, exporter: Exporter, sender: Sender, signals: Signals) -> None:
        self.exporter, self.sender, self.signals = exporter, sender, signals
        self.symbols = Symbols(kallsyms)
        self.listener = Listener(machine, (), signals)
        # Of this turn, and of the one before.
        self.complaints: set[str] = set()
        self.told: set[str] = set()
        self._listen(from_now=True)

    def _listen(self, from_now: bool = False) -> None:
        """To those that have come since the last turn, too, and to what was late meanwhile."""
        there = {source.tracker.name for source in self.listener.sources.values()}
        for tracker in self.exporter.collector.trackers():
            if tracker.name not in there:
                self._add(tracker, from_now)

    def _add(self, tracker: Tracker, from_now: bool) -> None:
        try:
            self.listener.add(tracker, self.symbols, from_now)
        except (Error, OSError) as error:
            # Late operations may be seen by root only; metrics are sent all the same.
            if tracker.loaded:
                self.complaints.add(str(error))

    def turn(self, seconds: float) -> None:
        """Collect for so long, then send."""
        until = time.monotonic() + seconds
        self._listen()
        try:
            if self.listener.sources:
                for report in self.listener.wait(until):
                    if not report.own:
                        self.sender.add(report)
        except Error as error:
            self.complaints.add(str(error))
        self.signals.wait(max(until - time.monotonic(), 0))
        self.exporter.missed = self.listener.missed
        self.sender.send(self.exporter.families())
        self._complain()

    def _complain(self) -> None:
        """About what was not so a turn ago."""
        if self.sender.complaint:
            self.complaints.add(self.sender.complaint)
        for complaint in sorted(self.complaints - self.told):
            print(f'latency-tracker: {complaint}', file=sys.stderr, flush=True)
        self.told, self.complaints = self.complaints, set()


def export(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """Until a signal; with --once, once."""
    exporter = Exporter(machine, args.trackers, args.groups)
    if args.once:
        exporter.collector.check()
        data, _ = exporter.text.encode(exporter.families(), '')
        out.stream.write(data.decode())
        return 0
    address = None if args.listen == NO_LISTEN else parse_address(args.listen)
    if args.otlp:
        exporter.sender = Sender(machine, args.otlp)
    elif not address:
        raise Error('with --listen none, --otlp has to say where to send to')
    signals = Signals()
    server = serve(address, exporter) if address else None
    pusher = Pusher(machine, exporter, exporter.sender, signals) if exporter.sender else None
    port = server.server_address[1] if server else None
    if server:
        out.line(f'metrics for Prometheus: http://{args.listen.rpartition(":")[0]}:{port}/metrics')
    if server and exporter.without:
        out.line(f'no native histograms: {exporter.without}', 'yellow')
    out.object('exporting', port=port, native=bool(exporter.protobuf), otlp=args.otlp)
    while not signals.caught:
        if pusher:
            pusher.turn(args.seconds)
        else:
            signals.wait(3600)
    if pusher:
        pusher.listener.close()
    if server:
        server.server_close()
    signals.close()
    return 0
