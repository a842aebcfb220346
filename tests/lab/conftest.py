# SPDX-License-Identifier: GPL-2.0-only
"""What the tests share: a place for suites, whose lines are kept."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from lab.children import Children
from lab.output import Console
from lab.suite import Outcome, Place, Suite
from lab.tally import Tally


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
