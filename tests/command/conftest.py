# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of the command share. Run them with

    PYTHONPATH=tests:tools tests/command/run.sh /usr/bin/python3 -P -m pytest tests/command
"""
from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from latency_tracker.main import main
from latency_tracker.signals import Signals

from .fake import Fake


class Told:
    """How a run has ended."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def objects(self) -> list[dict[str, object]]:
        """Of a run with --json."""
        return [json.loads(line) for line in self.out.splitlines()]


class Shell:
    """Runs the command on a machine."""

    def __init__(self, machine: Fake, capsys: pytest.CaptureFixture[str]) -> None:
        self.machine, self.capsys = machine, capsys

    def __call__(self, *words: str) -> Told:
        try:
            status = main(list(words), self.machine)
        except SystemExit as end:
            status = int(end.code or 0)
        out, err = self.capsys.readouterr()
        return Told(status, out, err)


Later = Callable[[float, Callable[[], None]], None]
_begin = Signals.__init__


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    """Plans a call for so many seconds after the command has begun to catch signals, however long that takes."""
    def plan(seconds: float, call: Callable[[], None]) -> None:
        def begin(signals: Signals) -> None:
            _begin(signals)
            threading.Timer(seconds, call).start()
        monkeypatch.setattr(Signals, '__init__', begin)
    return plan


@pytest.fixture
def machine(tmp_path: Path) -> Fake:
    """Without trackers."""
    return Fake(tmp_path)


@pytest.fixture
def shell(machine: Fake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    """The command, in Greenwich."""
    monkeypatch.setenv('TZ', 'UTC')
    return Shell(machine, capsys)
