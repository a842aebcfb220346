# SPDX-License-Identifier: GPL-2.0-only
"""What was counted."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

# Of what a test has said before it failed, so much stands at the end of the log, too: of a long
# log often only that is kept.
_NOTES = 6
_WIDTH = 300


@dataclass
class Document:
    """What a suite, or one test of a guest, has printed so far: of TAP, a plan and as many
    results, each with a number of its own."""

    plans: list[int | None] = field(default_factory=list)
    numbers: list[int | None] = field(default_factory=list)

    def complaints(self) -> list[str]:
        """What is wrong with it, now that nothing more comes."""
        if not self.plans:
            return ["died before it said how many tests there are"]
        wrong = []
        if len(self.plans) > 1:
            wrong.append("said more than once how many tests there are")
        elif self.plans[0] == 0 and not self.numbers:
            wrong.append("has no tests")
        elif self.plans[0] != len(self.numbers):
            wrong.append(f"{len(self.numbers)} of {self.plans[0]} tests reported a result")
        return wrong + [
            f"test {number} reported {count} results"
            for number, count in Counter(self.numbers).items()
            if number is not None and count > 1
        ]


@dataclass
class Tally:
    """The figures of one lane. machines: so often, its tests may lose their machine to a
    fault of the emulator (scripts/vm-run: 122) and run again."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)
    # By failure, the last lines that the test has said before it.
    said: dict[str, list[str]] = field(default_factory=dict)
    machines: int = 2
    # Of each suite, and of each test of a guest: its seconds, and its name.
    took: list[tuple[int, str]] = field(default_factory=list)

    def fail(self, text: str, notes: Sequence[str] = ()) -> None:
        self.failed += 1
        self.failures.append(text)
        self.said[text] = [note[:_WIDTH] for note in notes[-_NOTES:]]

    def add(self, other: "Tally") -> None:
        """Add the figures of another lane."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures
        self.said |= other.said
        self.took += other.took

    def failures_in_full(self) -> str:
        """Each failure, and below it what was said before."""
        return "".join(
            f"  {failure}\n" + "".join(f"      {note}\n" for note in self.said.get(failure, ()))
            for failure in self.failures
        )

    def longest(self, count: int) -> str:
        """Those that took longest, on one line."""
        longest = sorted(self.took, reverse=True)[:count]
        return ", ".join(f"{name} {seconds}" for seconds, name in longest if seconds)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"
