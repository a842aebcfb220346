# SPDX-License-Identifier: GPL-2.0-only
"""The tests of tests/guest. Those with the same words for the kernel's command line share a
machine. When it dies, its test has failed, and those that had no turn get another machine. So
does a test whose machine died of the emulator. Machines whose tests measure no time run side by
side, the others have this machine for themselves, but for those that need not hurry."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .beside import Job
from .judges import Judges
from .kernel import Kernel, is_first_of
from .mutants import half
from .options import Options
from .output import info
from .shell import Failed
from .suite import Place, Suite

# What a machine may take to start, beside what its tests may.
_START = 60
# Of the tests that run side by side, so many share a machine: one with all of them would still run
# when all else has ended.
_SHARE = 6
# To the kernel of a machine that gives way to others: how long its watchdogs wait, in seconds. That of
# a CPU that is locked up waits for twice that.
_PATIENT = ("watchdog_thresh=60", "rcupdate.rcu_cpu_stall_timeout=300")
# So many times longer its tests wait for what they expect.
_PATIENCE = 4
# Where guests ask for a judge, in the directory that they see as /out.
_JUDGES = ".judges"


@dataclass(frozen=True, eq=False)
class GuestTest:
    """A test, by its path below tests/guest, with its header."""

    name: str
    header: dict[str, str]

    @property
    def machine(self) -> tuple[str, ...]:
        """Options of scripts/vm-run: words for the kernel's command line, whether the clock
        counts instructions, and memory nodes, with a CPU each."""
        return self._with_words(self.header.get("boot", ""))

    @property
    def patient(self) -> tuple[str, ...]:
        """The same for one that may have to wait for a CPU for long: it has not locked up then."""
        boot = [self.header.get("boot", ""), *(() if self.is_counted else _PATIENT)]
        return self._with_words(" ".join(word for word in boot if word))

    @property
    def is_counted(self) -> bool:
        """Whether its clock counts instructions: it stands still while it waits for a CPU."""
        return self.header.get("icount") == "yes"

    def _with_words(self, words: str) -> tuple[str, ...]:
        """With words for the kernel's command line."""
        nodes = self.header.get("nodes")
        return (
            *(("--append", words) if words else ()),
            *(("--icount",) if self.is_counted else ()),
            *(("--nodes", nodes, "--cpus", nodes) if nodes else ()),
        )

    @property
    def behind(self) -> bool:
        """Whether its machine may wait for a CPU for as long as others need it."""
        return self.header.get("behind") == "yes"

    @property
    def beside(self) -> bool:
        """Whether it may run beside other machines: it measures no time."""
        return self.header.get("beside") == "yes"

    @property
    def is_timed(self) -> bool:
        """Whether it is none of both."""
        return not self.behind and not self.beside

    @property
    def timeout(self) -> int:
        """In seconds."""
        text = self.header.get("timeout", "")
        if not text.isdecimal():
            info(f'tests/guest/{self.name}.tc needs a line "# timeout: SECONDS"')
            raise Failed
        return int(text)


def _read_header(file: Path) -> dict[str, str]:
    """The lines "# KEY: VALUE" at the top of a test."""
    header: dict[str, str] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        key, colon, value = line.removeprefix("# ").partition(":")
        if colon:
            header.setdefault(key, value.strip())
    return header


def find_tests(top: Path) -> list[GuestTest]:
    """All of them, in their order."""
    root = top / "tests/guest"
    files = sorted(root.rglob("*.tc"), key=str)
    return [
        GuestTest(str(file.relative_to(root).with_suffix("")), _read_header(file))
        for file in files
    ]


def choose_tests(
    tests: Iterable[GuestTest], options: Options, kernels: Sequence[Kernel], kernel: Kernel
) -> list[GuestTest]:
    """Those that are to run on a kernel."""
    chosen = []
    for test in tests:
        once = test.header.get("once")
        if (
            options.wants(f"{kernel.prefix}guest/{test.name}")
            and (not once or is_first_of(kernels, kernel, once))
            and not (options.quick and test.header.get("quick") == "no")
        ):
            chosen.append(test)
    return chosen


def copy_options(kernel: Kernel) -> list[str]:
    """Options of scripts/vm-run: what is read again and again is in the machine's memory, where
    Python can keep what it has compiled, too."""
    return ["--copy", "tests/guest", "--copy", "tools", "--copy", kernel.programs]


def _machines(tests: Sequence[GuestTest]) -> Iterator[list[GuestTest]]:
    """The tests of each machine."""
    for machine in sorted({test.machine for test in tests}):
        yield [test for test in tests if test.machine == machine]


class Guests:
    """The machines of one kernel."""

    def __init__(self, top: Path, place: Place, options: Options, kernel: Kernel) -> None:
        self._top = top
        self._options = options
        self._kernel = kernel
        # Three times what they take; a fuzzer knows how long it takes.
        self._more = max(options.strings // 4, options.chains * 3, options.fuzz)
        self._kept = place.logs / f"{kernel.name}-kept"
        self._judges = Judges(top, self._kept / _JUDGES)

    def _command(self, place: Place, tests: Sequence[GuestTest], turn: int) -> list[str]:
        options = self._options
        patience = _PATIENCE if place.prefix else 1
        timeout = _START + patience * sum(test.timeout + self._more for test in tests)
        console = place.logs / f"{self._kernel.name}-console{turn}{place.tag}.log"
        return [
            *self._ahead(tests),
            str(self._top / "scripts/vm-run"),
            *("--no-build", "--kernel", self._kernel.name, "--timeout", str(timeout)),
            *(tests[0].patient if place.prefix else tests[0].machine),
            *copy_options(self._kernel),
            *("--console", str(console), "--out", str(self._kept), "--"),
            *("env", f"QUICK={int(options.quick)}", f"STRINGS={options.strings}"),
            *(f"CHAINS={options.chains}", f"MARK_FUZZ={options.fuzz}", f"MORE_TIME={self._more}"),
            *([f"PATIENCE={patience}"] if place.prefix else []),
            f"HALF={half(self._top, options)}",
            f"JUDGES=/out/{_JUDGES}",
            *("tests/guest/run", self._kernel.programs),
            *(test.name for test in tests),
        ]

    def _ahead(self, tests: Sequence[GuestTest]) -> list[str]:
        """What one of them needs from this machine, which then runs the rest of the command. The
        root file system of another architecture can't be entered here."""
        programs = [test.header["ahead"] for test in tests if "ahead" in test.header]
        if not programs or self._kernel.cross:
            return []
        return [str(self._top / "tests/guest" / programs[0]), self._kernel.name]

    def _run_machine(self, tests: Sequence[GuestTest], place: Place) -> None:
        """And another one, for as long as it dies."""
        name = f"{self._kernel.prefix}guest"
        todo = list(tests)
        turn = 0
        while todo:
            turn += 1
            suite = Suite(place, name, repeat=True)
            outcome = suite.run(self._command(place, todo, turn))
            if not outcome.begun:
                # The machine does not even start: none of these has passed.
                for test in todo:
                    suite.fail(f"{test.name} did not run")
                return
            todo = todo[len(outcome.begun) - outcome.dropped :]

    def _jobs(self, tests: Sequence[GuestTest]) -> list[tuple[str, Job]]:
        """Machines for tests, each with a tag for its logs. Those that may take longest come
        first: the others then fill what is left beside them."""
        machines = sorted(
            (
                machine[first : first + _SHARE]
                for machine in _machines(tests)
                for first in range(0, len(machine), _SHARE)
            ),
            key=lambda machine: -sum(test.timeout for test in machine),
        )
        return [(machine[0].name, partial(self._run_machine, machine)) for machine in machines]

    def beside(self, tests: Sequence[GuestTest]) -> list[tuple[str, Job]]:
        """Those that measure no time."""
        return self._jobs([test for test in tests if test.beside])

    def behind(self, tests: Sequence[GuestTest]) -> list[tuple[str, Job]]:
        """Those that may wait for a CPU."""
        return self._jobs([test for test in tests if test.behind])

    def run(self, tests: Sequence[GuestTest], place: Place) -> None:
        """Run the others, machine by machine."""
        for machine in _machines([test for test in tests if test.is_timed]):
            self._run_machine(machine, place)

    def __enter__(self) -> "Guests":
        self._judges.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._judges.__exit__(*error)
        # Of a machine that has died, there may be requests.
        shutil.rmtree(self._kept / _JUDGES)
        # There is something in it only of what has failed.
        if not any(self._kept.iterdir()):
            self._kept.rmdir()
