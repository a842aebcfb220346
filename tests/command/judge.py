# SPDX-License-Identifier: GPL-2.0-only
"""A real Prometheus, which reads what "export" answers, and a collector that keeps what it gets."""
from __future__ import annotations

import http.server
import json
import os
import socket
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SECONDS = 60


def free_port() -> int:
    """At this moment."""
    with socket.socket() as of:
        of.bind(('127.0.0.1', 0))
        return int(of.getsockname()[1])


class Prometheus:
    """It scrapes a port each second; features are those that it has only if it is asked."""

    def __init__(self, directory: Path, target: int, features: str) -> None:
        program = os.environ.get('LT_PROMETHEUS', '')
        if not os.access(program, os.X_OK):
            # No failure that a mutant could cause.
            pytest.exit('LT_PROMETHEUS names no Prometheus: tests/command/run.sh gets one', returncode=3)
        port = free_port()
        self.url = f'http://127.0.0.1:{port}'
        config = {'global': {'scrape_interval': '1s', 'scrape_timeout': '1s'}, 'scrape_configs': [
            {'job_name': 'trackers', 'static_configs': [{'targets': [f'127.0.0.1:{target}']}]}]}
        (directory / 'prometheus.yml').write_text(json.dumps(config))
        with open(directory / 'prometheus.log', 'wb') as log:
            self.process = subprocess.Popen(
                [program, f'--config.file={directory}/prometheus.yml', f'--web.listen-address=127.0.0.1:{port}',
                 f'--storage.tsdb.path={directory}/data', f'--enable-feature={features}'],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def get(self, path: str, **parameters: str) -> Any:
        """The data of an answer of its API."""
        url = f'{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}'
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)['data']
        except urllib.error.HTTPError as error:
            raise AssertionError(f'{parameters}: {error.read().decode()}') from None

    def query(self, expression: str) -> list[Any]:
        """The series of an instant query."""
        found: list[Any] = self.get('query', query=expression)['result']
        return found

    def wait(self, ready: Callable[[], bool], what: str) -> None:
        """Until it is so."""
        end = time.monotonic() + SECONDS
        while True:
            try:
                if ready():
                    return
            except (OSError, AssertionError):
                # It is starting.
                pass
            assert time.monotonic() < end, f'{what}: {self.targets()}'
            time.sleep(0.2)

    def targets(self) -> str:
        """What it says of them, such as an error of its parser."""
        try:
            return json.dumps(self.get('targets'))
        except OSError as error:
            return str(error)

    def close(self) -> None:
        """It ends."""
        self.process.kill()
        self.process.wait()


class Collector:
    """Of OpenTelemetry, as far as it is asked here. status: what it answers next, then 200 again."""

    def __init__(self) -> None:
        self.got: list[tuple[str, dict[str, Any]]] = []
        self.headers: dict[str, str] = {}
        self.status: list[int] = []
        self.answer: dict[str, Any] = {}
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Of one request."""

            def do_POST(self) -> None:  # pylint: disable=invalid-name
                """Keep it."""
                data = self.rfile.read(int(self.headers['Content-Length']))
                status = collector.status.pop(0) if collector.status else 200
                if status == 200:
                    collector.headers = dict(self.headers)
                    collector.got.append((self.path, json.loads(data)))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(collector.answer).encode())

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Not to the output of the tests."""

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def of(self, signal: str) -> list[dict[str, Any]]:
        """What came for "metrics", or for "logs"."""
        return [data for path, data in self.got if path == f'/v1/{signal}']

    def close(self) -> None:
        """No more."""
        self.server.shutdown()
        self.server.server_close()
