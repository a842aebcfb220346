# SPDX-License-Identifier: GPL-2.0-only
"""The suites of one kernel: those that measure time one after the other, and behind these what has
a clock of its own; then the others side by side."""

import shutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from .beside import LOWEST, Job, run_beside
from .guest import GuestTest, Guests, choose_tests
from .kernel import Kernel, is_first_of
from .mutants import mutants_command, twins_words
from .options import Options
from .setup import Lab
from .suite import Place, Suite

_PAIRS = 50_000_000
# On one of several kernels.
_FEWER_PAIRS = 5_000_000
# Three times what torture takes on a slow machine, in seconds.
_TORTURE_LIMIT = 1800
# Of a kernel besides.
_BRIEF = {"build", "signatures", "guest/selftest"}
# Machines behind others, which wait for a part of their time, too.
_BEHIND_AT_A_TIME = 2
# The suites behind the guest tests.
_BEHIND = ("mutants", "torture", "cost")


@dataclass(frozen=True)
class Request:
    """What was asked for, and of what it is chosen."""

    top: Path
    options: Options
    kernels: Sequence[Kernel]
    tests: Sequence[GuestTest]


@dataclass
class More:
    """What else runs beside guests of a lane, each with a tag for its logs. suites: they count on a
    machine that is not too slow; guests: of other kernels, which may take their time."""

    suites: list[tuple[str, Job]] = field(default_factory=list)
    guests: list[tuple[str, Job]] = field(default_factory=list)


def _gated(room: threading.Semaphore, open_: threading.Event, job: Job, place: Place) -> None:
    """A job that waits until it may run, and has room then."""
    open_.wait()
    with room:
        job(place)


class Lane:
    """The suites of one kernel."""

    def __init__(self, request: Request, kernel: Kernel) -> None:
        self._top = request.top
        self._options = request.options
        self._kernels = request.kernels
        self.kernel = kernel
        self._is_whole = True
        self._choose_all(request)

    def _choose_all(self, request: Request) -> None:
        self.tests = choose_tests(request.tests, request.options, request.kernels, self.kernel)
        self._suites = list(self._choose())

    # --- which suites -----------------------------------------------------------------

    def _choose(self) -> Iterator[str]:
        kernel, long = self.kernel, not self._options.quick
        possible = {
            "build": True,
            "lab": long,
            # A kernel made of the same sources says the same.
            "signatures": not kernel.is_debug,
            "detectors": kernel.is_debug,
            "mutants": long and not kernel.prefix,
            "torture": long,
            # Where there is a figure to compare with.
            "cost": long and self._has_recorded_cost(),
        }
        for suite, is_possible in possible.items():
            if is_possible and self._options.wants(kernel.prefix + suite):
                yield suite

    def _has_recorded_cost(self) -> bool:
        recorded = (self._top / "tests/bench/recorded").read_text().splitlines()
        return any(line.startswith(f"{self.kernel.name}|") for line in recorded)

    def names(self) -> list[str]:
        """What would run."""
        before = [suite for suite in self._suites if suite not in _BEHIND]
        tests = [f"guest/{test.name}" for test in self.tests]
        behind = [suite for suite in self._suites if suite in _BEHIND]
        return [self.kernel.prefix + name for name in (*before, *tests, *behind)]

    # --- what keeps this machine busy -------------------------------------------------

    def prepare(self, lab: Lab) -> None:
        """Build what the suites need."""
        if self.tests or set(self._suites) - {"signatures", "mutants", "cost"}:
            lab.prepare(self.kernel, [test.name for test in self.tests], self._is_whole)
        elif self._suites:
            lab.find(self.kernel)

    def _warnings(self) -> list[str]:
        out = self._top / "build" / self.kernel.name
        warned = (out / ".warned").exists()
        text = (
            f"{'not ' * warned}ok - all modules compile without a warning, with W=1 and the"
            f" compiler of '{self.kernel.name}'"
        )
        log = (out / ".log").read_text(errors="replace").splitlines()
        return ["1..1", text, *(f"# {line}" for line in log)]

    def report_build(self, place: Place) -> None:
        """The suite of what was compiled."""
        if "build" in self._suites:
            self._suite(place, "build").read(self._warnings(), 0)

    def run_aside(self, place: Place) -> None:
        """The suites that only compute, and what later ones need: see host.ASIDE."""
        if "mutants" in self._suites:
            self._build_mutants(place)
        if "signatures" in self._suites:
            self._run_script(place, "signatures", "tests/signatures/run.sh")

    # --- what runs guests -------------------------------------------------------------

    def _suite(self, place: Place, name: str, repeat: bool = False) -> Suite:
        return Suite(place, self.kernel.prefix + name, repeat)

    def _run_script(self, place: Place, name: str, script: str, *words: str) -> None:
        command = [str(self._top / script), "--kernel", self.kernel.name, *words]
        self._suite(place, name).run(command)

    def _run_lab(self, place: Place) -> None:
        first = is_first_of(self._kernels, self.kernel, "arch")
        brief = self.kernel.is_debug or not first
        self._run_script(place, "lab", "tests/vm/selftest.sh", *(["--brief"] if brief else []))

    def _mutants(self) -> list[str]:
        return mutants_command(self._top, self._options, ["guest", "script"])

    def _build_mutants(self, place: Place) -> None:
        """Ahead of their turn, when all that is wrong is reported."""
        with (place.logs / "mutants-build.log").open("wb") as log:
            command = [*place.prefix, *self._mutants(), "--build"]
            process = place.children.start(command, log)
            assert process.stdout is not None
            with process.stdout:
                shutil.copyfileobj(process.stdout, log)
            process.wait()

    def _run_mutants(self, place: Place) -> None:
        # One that fails without a mistake, too, fails in this run anyway.
        tested = [] if self._options.filters else ["--tested"]
        self._suite(place, "mutants").run([*self._mutants(), *tested])

    def _run_torture(self, place: Place) -> None:
        kernel = self.kernel
        pairs = _FEWER_PAIRS if kernel.prefix else _PAIRS
        if kernel.is_debug:
            pairs = int(kernel.values["pairs"])
        elif self._options.also and not self._options.all_mutants:
            pairs //= 2
        seconds = self._options.minutes * 60
        command = [str(self._top / "scripts/vm-run"), "--no-build", "--kernel", kernel.name]
        command += ["--timeout", str(_TORTURE_LIMIT + seconds), "--console"]
        command += [str(place.logs / f"{kernel.name}-torture-console.log"), "--"]
        twins = ["TWINS=0"] if kernel.is_debug else twins_words(self._top, self._options)
        command += ["env", *twins]
        command += ["tests/torture/run", str(pairs), str(seconds)]
        while self._suite(place, "torture", repeat=True).run(command).dropped:
            pass

    def _run_cost(self, place: Place) -> None:
        self._run_script(place, "cost", "tests/bench/guard.sh")

    def _run_timed(self, guests: Guests, place: Place, told: threading.Event) -> None:
        """told: that only the mutants are left, and what runs behind them may take its time."""
        try:
            guests.run(self.tests, place)
        finally:
            told.set()
        if "mutants" in self._suites:
            self._run_mutants(place)

    def _behind(self, guests: Guests) -> list[tuple[str, Job]]:
        """Their clocks count instructions, so they may wait for a CPU for as long as others need it."""
        jobs = guests.behind(self.tests)
        if "cost" in self._suites:
            jobs.insert(0, ("cost", self._run_cost))
        return jobs

    def _run_guests(self, place: Place, more: More) -> None:
        """First what measures time; behind it what need not hurry, and what measures none. The rest
        then shares this machine with what is left of that."""
        # Of some kernels, so many at a time already keep this machine busy.
        room = threading.Semaphore(max(1, self._options.jobs // len(self._kernels)))
        told, ended = threading.Event(), threading.Event()

        def run_timed(part: Place) -> None:
            try:
                self._run_timed(guests, part, told)
            finally:
                ended.set()

        def run_behind(jobs: Sequence[tuple[str, Job]], part: Place) -> None:
            run_beside(replace(part, prefix=LOWEST), jobs, _BEHIND_AT_A_TIME)

        with Guests(self._top, place, self._options, self.kernel) as guests:
            lab: list[tuple[str, Job]] = [("lab", self._run_lab)] if "lab" in self._suites else []
            behind, rest = self._behind(guests), list(more.suites)
            # The guests of several kernels leave nothing that a guest could live on.
            if len(self._kernels) == 1 and any(test.is_timed for test in self.tests):
                behind += guests.beside(self.tests)
                free = threading.Semaphore(_BEHIND_AT_A_TIME)
                behind += [
                    (tag, partial(_gated, free, told, job)) for tag, job in [*lab, *more.guests]
                ]
            else:
                # Those of other kernels come last, since they are built while the others run.
                rest = [*lab, *guests.beside(self.tests), *rest, *more.guests]
            jobs: list[tuple[str, Job]] = [("", run_timed), ("behind", partial(run_behind, behind))]
            jobs += [(tag, partial(_gated, room, ended, job)) for tag, job in rest]
            run_beside(place, jobs, 3)

    def run(self, place: Place, more: More | None = None) -> None:
        """The suites that run guests, and more beside those that measure no time."""
        if "detectors" in self._suites:
            console = str(place.logs / f"{self.kernel.name}-detectors-console.log")
            self._run_script(place, "detectors", "tests/detectors/run.sh", "--console", console)
        self._run_guests(place, more or More())
        # It needs all of this machine.
        if "torture" in self._suites:
            self._run_torture(place)


class Brief(Lane):
    """A kernel besides: are the modules right for it, too? is_whole: are the modules of all tests
    built, and the signatures looked at?"""

    def __init__(self, request: Request, kernel: Kernel, is_whole: bool) -> None:
        self._left_out = set() if is_whole else {"signatures"}
        super().__init__(request, kernel)
        self._is_whole = is_whole

    def _choose_all(self, request: Request) -> None:
        brief = [test for test in request.tests if f"guest/{test.name}" in _BRIEF]
        self.tests = choose_tests(brief, request.options, [self.kernel], self.kernel)
        wanted = _BRIEF - self._left_out
        self._suites = [suite for suite in self._choose() if suite in wanted]

    def run(self, place: Place, more: More | None = None) -> None:
        """Its guest, beside others."""
        with Guests(self._top, place, self._options, self.kernel) as guests:
            guests.run(self.tests, place)
