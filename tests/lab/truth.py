# SPDX-License-Identifier: GPL-2.0-only
"""The truth table: what the guest tests injected and observed, and what was reported, from lines
  KERNEL|TRACKER|CASE|INJECTED_NS|REPORTED_NS|OBSERVED|LATE|REPORTED|MISSED|INVENTED|SKIPPED
of which each has either a delay or the figures of an observer."""

import re
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

_WIDTHS = (-15, -9, -34, 9, 9, 7, 9, 7, 9, 7, 9, 8)
_HEADS = (
    ("kernel", "tracker", "case", "injected", "reported", "error", "observed", "late")
    + ("reported", "missed", "invented", "skipped"),
    ("", "", "", "ms", "ms", "ms", "", "", "", "", "", ""),
)
# So many late operations an observer must have seen, or the row proves nothing.
_LEAST = 15
_EXPLAIN = "late: longer than the threshold by a margin, for sure; reported: also those near it"


def trackers(top: Path) -> list[str]:
    """The names of all trackers, as their use cases have them. Those of examples/api are not
    tested with delays."""
    pattern = re.compile(r'struct lt_usecase \w+ = \{\s*\.name = "(\w+)",')
    names = []
    for source in sorted((top / "examples").rglob("*.c")):
        if source.parent.name != "api":
            names += pattern.findall(source.read_text(encoding="utf-8"))
    return sorted(names)


def _row(cells: Sequence[str]) -> str:
    padded = (
        cell.ljust(-width) if width < 0 else cell.rjust(width)
        for cell, width in zip(cells, _WIDTHS)
    )
    return " ".join(padded)


class Table:
    """The rows, and what about them is wrong."""

    def __init__(self) -> None:
        self.rows = [_row(head) for head in _HEADS] + [_EXPLAIN, ""]
        self.problems: list[str] = []
        # In the order in which they came.
        self._kernels: dict[str, None] = {}
        # Kernel, tracker, and whether there was a delay.
        self._seen: set[tuple[str, str, bool]] = set()

    def add(self, line: str) -> None:
        """Add a line of the above form."""
        cells = (line.split("|") + [""] * 11)[:11]
        kernel, tracker, case, injected, reported = cells[:5]
        self._kernels[kernel] = None
        self._seen.add((kernel, tracker, bool(injected)))
        try:
            if injected:
                times = (int(injected), int(reported), int(reported) - int(injected))
                cells[3:] = [f"{time / 1000000:.1f}" for time in times] + [""] * 6
                wrong = ["not reported"] * (int(reported) <= 0)
            else:
                late, missed, invented, skipped = (int(cells[i]) for i in (6, 8, 9, 10))
                cells[3:5] = [""] * 3
                wrong = [f"{invented} invented"] * bool(invented)
                wrong += [f"{missed} missed, but only {skipped} skipped"] * (missed > skipped)
                wrong += [f"only {late} were late, so it proves little"] * (late < _LEAST)
            self.rows.append(_row(cells))
        except ValueError:
            wrong = [f"no figures: {line}"]
        self.problems += [f"{kernel}: {tracker}, {case}: {text}" for text in wrong]

    def expect(self, names: Iterable[str]) -> None:
        """On each kernel there must be both for each of these trackers."""
        for name in names:
            for kernel in self._kernels:
                if (kernel, name, True) not in self._seen:
                    self.problems.append(f"{kernel}: {name}: no delay was injected")
                if (kernel, name, False) not in self._seen:
                    self.problems.append(f"{kernel}: {name}: no observer has counted")

    def __str__(self) -> str:
        wrong = ["", "Not the truth:", *(f"  {text}" for text in self.problems)]
        return "\n".join(self.rows + (wrong if self.problems else []))


class Truths:
    """The lines of all kernels. The file has them, too, in case that this run is killed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self.lines: list[str] = []

    def add(self, kernel: str, line: str) -> None:
        with self._lock:
            self.lines.append(f"{kernel}|{line}")
            with self._file.open("a") as file:
                file.write(self.lines[-1] + "\n")

    def table(self, expected: Iterable[str]) -> Table:
        """All of them, by kernel."""
        self.lines.sort(key=lambda line: line.partition("|")[0])
        self._file.write_text("".join(line + "\n" for line in self.lines))
        table = Table()
        for line in self.lines:
            table.add(line)
        table.expect(expected)
        return table
