# SPDX-License-Identifier: GPL-2.0-only
"""A suite: a command that prints TAP or KTAP. What is believed is only what is complete, and
agrees with how the command ends."""

import os
import select
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import lines
from .children import Children, wait
from .output import Console
from .tally import Document, Tally

# Of scripts/vm-run: the emulator has failed.
EMULATOR_FAILED = 122
# Of scripts/vm-run: the machine itself was in trouble.
MACHINE_TROUBLE = range(122, 127)
_SILENCE = 30.0
_LAST_WORDS = 60


@dataclass
class Place:
    """Where a suite runs: what all suites of a lane share."""

    console: Console
    children: Children
    logs: Path
    tally: Tally
    add_truth: Callable[[str], None] = lambda text: None
    # What the commands begin with.
    prefix: Sequence[str] = ()
    # Whose logs have been begun.
    opened: set[str] = field(default_factory=set)
    # At the end of the names of logs, where several suites of a lane run at a time.
    tag: str = ""

    def part(self, tag: str) -> "Place":
        """For what runs beside others: with a tally of its own, which is to be added."""
        if tag:
            tag = f"-{tag.replace('/', '-')}"
        return replace(self, tally=Tally(), opened=set(), tag=tag)

    def log_of(self, suite: str) -> Path:
        """The suite's log. The first time it is made empty."""
        log = self.logs / (suite.replace("/", "-") + self.tag + ".log")
        if suite not in self.opened:
            log.write_bytes(b"")
            self.opened.add(suite)
        return log


@dataclass
class Outcome:
    """What became of a suite. begun: guest tests, in their order; dropped: its machine, or that
    of the last of those tests, has died of the emulator, and it is to run again."""

    begun: list[str] = field(default_factory=list)
    dropped: bool = False


class Suite:
    """One run of a suite, under its name."""

    def __init__(self, place: Place, name: str, repeat: bool = False) -> None:
        self._place = place
        self._tally = place.tally
        self._base = name
        # With that of the guest test that runs.
        self._name = name
        self._repeat = repeat
        self._began = self._test_began = time.monotonic()
        self._failed = 0
        self._documents = 0
        self._document: Document | None = None
        self._outcome = Outcome()
        # Diagnostics: those ahead of a result, and whether they are shown at once.
        self._notes: list[str] = []
        self._show_notes = False
        self._remember()

    # --- what it prints ---------------------------------------------------------------

    def _say(self, text: str) -> None:
        self._place.console.say(f"{self._name}: {text}")

    def _seconds(self) -> int:
        return int(time.monotonic() - self._began)

    def _end_test(self) -> None:
        seconds = int(time.monotonic() - self._test_began)
        self._tally.took.append((seconds, self._name))
        self._name = self._base

    def fail(self, text: str) -> None:
        """A failure that no test has reported by itself."""
        self._failed += 1
        self._tally.fail(f"{self._name}: {text}")
        self._say(f"FAILED: {text}")

    # --- documents --------------------------------------------------------------------

    def _remember(self) -> None:
        """What was counted before the document that begins."""
        self._before = (self._tally.passed, self._tally.failed, self._tally.skipped)

    def _end_document(self) -> None:
        """Was all that was promised printed?"""
        if self._document is None:
            return
        for text in self._document.complaints():
            self.fail(text)
        self._document = None
        self._documents += 1

    def _drop_document(self) -> bool:
        """What the emulator has ended did not happen, a guest test or else the whole suite, and
        is to run again: as long as nothing in it has failed, and that does not become a
        habit."""
        passed, failed, skipped = self._before
        if (
            not self._repeat
            or self._document is None
            or self._tally.failed != failed
            or self._tally.machines == 0
        ):
            return False
        self._tally.machines -= 1
        self._tally.passed, self._tally.skipped = passed, skipped
        self._document = None
        self._say("QEMU has failed, not the guest (the log has more): this runs again")
        return True

    def _begin_test(self, name: str) -> None:
        self._name = f"{self._base}/{name}"
        self._outcome.begun.append(name)
        self._test_began = time.monotonic()
        self._notes = []
        self._show_notes = False
        self._remember()

    # --- lines ------------------------------------------------------------------------

    def _add_result(self, result: lines.Line) -> None:
        self._show_notes = False
        if result.good and result.skipped:
            self._tally.skipped += 1
            self._say(f"skip   {result.text}")
        elif result.good and result.skipped is None:
            self._tally.passed += 1
            self._say(f"ok     {result.text}")
            self._notes = []
        else:
            # Among these: a skip without a reason.
            self._failed += 1
            self._tally.fail(f"{self._name}: {result.text}", self._notes)
            self._say(f"FAILED {result.text}")
            self._show(self._notes)
            self._notes = []
            self._show_notes = True

    def _show(self, texts: Iterable[str], indent: str = "        ") -> None:
        for line in texts:
            self._place.console.show(indent + line)

    def _add_note(self, text: str) -> None:
        if self._show_notes:
            self._show([text])
        else:
            self._notes.append(text)

    def _add_line(self, text: str) -> None:
        line = lines.read(text)
        if line.kind in ("version", "test", "done"):
            self._end_document()
        if line.kind in ("version", "test"):
            self._document = Document()
        match line.kind:
            case "test":
                self._begin_test(line.text)
            case "done":
                self._end_test()
            case "plan":
                self._document = self._document or Document()
                self._document.plans.append(line.number)
            case "result":
                self._document = self._document or Document()
                self._document.numbers.append(line.number)
                self._add_result(line)
            case "bail":
                self.fail(f"gave up: {line.text}")
            case "truth":
                self._place.add_truth(line.text)
            case "note":
                self._add_note(line.text)

    # --- the run ----------------------------------------------------------------------

    def _chunks(self, output: int) -> Iterator[bytes]:
        """What arrives; tells that the suite is alive while nothing does."""
        poll = select.poll()
        poll.register(output, select.POLLIN)
        while True:
            if not poll.poll(_SILENCE * 1000):
                self._say(f"... running for {self._seconds()} s")
                continue
            chunk = os.read(output, 65536)
            if not chunk:
                return
            yield chunk

    def _collect(self, output: int, log: Path) -> None:
        rest = b""
        with log.open("ab", buffering=0) as copy:
            for chunk in self._chunks(output):
                copy.write(chunk)
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    self._add_line(line.decode(errors="replace"))
        if rest:
            self._add_line(rest.decode(errors="replace"))

    def _judge(self, status: int, last_words: Sequence[str], cpu: str = "") -> None:
        """The command's end and its results must agree. cpu: what it took of that, in words."""
        if status == EMULATOR_FAILED and self._drop_document():
            self._outcome.dropped = True
            status = 0
        self._end_document()
        self._name = self._base
        if not self._documents and not self._outcome.dropped:
            self.fail("printed no test results")
        if status and (not self._failed or status in MACHINE_TROUBLE):
            self.fail(f"ended with status {status}")
            self._show(last_words, "        | ")
        self._tally.took.append((self._seconds(), self._base))
        self._say(f"took {self._seconds()} s{cpu}")

    def run(self, command: Sequence[str]) -> Outcome:
        """Run a command, and count its results."""
        log = self._place.log_of(self._base)
        errors = log.with_suffix(".log.err")
        with errors.open("wb") as file:
            process = self._place.children.start([*self._place.prefix, *command], file)
            assert process.stdout is not None
            with process.stdout:
                self._collect(process.stdout.fileno(), log)
            status, cpu = wait(process)
        text = errors.read_bytes()
        words = text.decode(errors="replace").splitlines()
        # Of scripts/vm-run, which does so by itself.
        for line in words:
            if line.endswith("it is booted again"):
                self._say(line)
        # As in a shell, after a signal.
        self._judge(128 - status if status < 0 else status, words[-_LAST_WORDS:], f", {cpu:.0f} s of a CPU")
        with log.open("ab") as copy:
            copy.write(text)
        errors.unlink()
        return self._outcome

    def read(self, output: Iterable[str], status: int) -> None:
        """Count results that need no command."""
        with self._place.log_of(self._base).open("a") as log:
            for line in output:
                log.write(line + "\n")
                self._add_line(line)
        self._judge(status, [])
