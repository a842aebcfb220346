# SPDX-License-Identifier: GPL-2.0-only
"""What the tests share: a place for suites, whose lines are kept; and KTAP, for which pytest's
own output is switched off:

    PYTHONPATH=tests python3 -P -m pytest -p no:cacheprovider -p no:terminal tests/lab
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from lab.children import Children
from lab.output import Console
from lab.suite import Outcome, Place, Suite
from lab.tally import Tally

_ended: list[str] = []


def pytest_configure(config: Any) -> None:
    """An option of that output, which pytest looks at to explain an assertion."""
    config.option.verbose = getattr(config.option, "verbose", 0)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """They have been found."""
    print(f"KTAP version 1\n1..{len(items)}", flush=True)


def pytest_collectreport(report: Any) -> None:
    """A file that cannot be read has no tests that could fail."""
    if report.failed:
        print(f"Bail out! {report.nodeid}: {report.longreprtext.splitlines()[-1]}", flush=True)


def pytest_runtest_logreport(report: Any) -> None:
    """A test ends with "call", unless it has failed to begin or to clean up."""
    if report.when != "call" and not report.failed:
        return
    _ended.append(report.nodeid)
    file, _, name = report.nodeid.partition("::")
    for line in report.longreprtext.splitlines()[-30:]:
        print(f"# {line}")
    text = f"{Path(file).stem.removeprefix('test_')}: {name.removeprefix('test_')}"
    result = f"{'not ' * report.failed}ok {len(_ended)}"
    print(f"{result} - {text.replace('_', ' ')}", flush=True)


class Bench:
    """Runs suites and keeps what they show."""

    def __init__(self, directory: Path) -> None:
        self.lines: list[str] = []
        self.truths: list[str] = []
        self.directory = directory
        self.tally = Tally()
        logs = directory / "logs"
        logs.mkdir()
        console = Console(self.lines.append)
        self.place = Place(console, Children(), logs, self.tally, self.truths.append)

    def suite(self, *command: str, repeat: bool = False) -> Outcome:
        """A suite of this command."""
        return Suite(self.place, "suite", repeat).run(command)

    def read(self, text: str, status: int = 0, repeat: bool = False) -> Outcome:
        """A suite that prints this, and ends so."""
        command = ["bash", "-c", 'printf "$1"; exit "$2"', "-", text, str(status)]
        return self.suite(*command, repeat=repeat)

    @property
    def figures(self) -> tuple[int, int, int]:
        """Passed, failed, skipped."""
        return (self.tally.passed, self.tally.failed, self.tally.skipped)

    def shown(self, texts: Iterable[str]) -> list[bool]:
        """Which of these were shown."""
        return [any(text in line for line in self.lines) for text in texts]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """An empty one."""
    return Bench(tmp_path)
