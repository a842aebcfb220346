# SPDX-License-Identifier: GPL-2.0-only
"""All of it: scripts/check calls main()."""

import fcntl
import os
import shutil
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import FrameType

from . import kernel as kernels
from . import setup
from .beside import LOWEST
from .children import Children, Ending
from .guest import find_tests
from .host import ASIDE, BESIDE, host_suites
from .lane import Brief, Lane, More, Request
from .mutants import whole_kernels
from .options import USAGE, Options, UsageError, parse
from .output import Console, info
from .shell import Failed, Shell
from .suite import Place, Suite
from .tally import Tally
from .truth import Truths, trackers


# Of so many suites and guest tests the last lines tell what they took.
_LONGEST = 40


class Run:
    """One call of scripts/check."""

    def __init__(self, top: Path, options: Options) -> None:
        self._top = top
        self._options = options
        self._shell = Shell(top)
        self._console = Console()
        self._children = Children()
        self._logs = top / "build/check"
        self._truths = Truths(self._logs / "truth")
        chosen = kernels.choose(self._shell, top, options.kernel)
        request = Request(top, options, chosen, find_tests(top))
        self._lanes = [Lane(request, kernel) for kernel in chosen]
        besides = kernels.besides(self._shell, top, options.also, chosen)
        whole = whole_kernels(top, options, [kernel.name for kernel in besides])
        self._briefs = [Brief(request, kernel, kernel.name in whole) for kernel in besides]
        self._host = host_suites(top, options)

    def names(self) -> list[str]:
        """What would run."""
        lanes = [*self._lanes, *self._briefs]
        return [*self._host, *(name for lane in lanes for name in lane.names())]

    # --- the end, if it comes early -----------------------------------------------------

    def _on_signal(self, signum: int, _frame: FrameType | None) -> None:
        for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(other, signal.SIG_IGN)
        self._console.fall_silent()
        self._children.end()
        os._exit(128 + signum)

    def _catch_signals(self) -> None:
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, self._on_signal)

    # --- the run ------------------------------------------------------------------------

    def _lock_logs(self) -> None:
        """One at a time in a checkout."""
        self._logs.mkdir(parents=True, exist_ok=True)
        # Open until the end of this process.
        self._lock = (self._logs / ".lock").open("w")
        began = time.monotonic()
        told = 2
        while True:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(0.2)
            if time.monotonic() - began > told:
                info(f"waiting for another check of this checkout ... {told} s")
                told += 15

    def _clear_logs(self) -> None:
        for file in self._logs.glob("[!.]*"):
            if file.is_dir():
                shutil.rmtree(file)
            else:
                file.unlink()

    def _place(self, kernel: str = "") -> Place:
        def add_truth(line: str) -> None:
            self._truths.add(kernel, line)

        return Place(self._console, self._children, self._logs, Tally(), add_truth)

    def _run_host(self, place: Place) -> None:
        for name, command in self._host.items():
            if name not in ASIDE | BESIDE:
                Suite(place, name).run(command)

    def _beside(self, built: Sequence["Future[bool]"]) -> More:
        """For beside the guests of the first lane: suites without one, and those of the kernels
        besides, with whether these are built."""

        def run(name: str, place: Place) -> None:
            Suite(place, name).run(self._host[name])

        def run_brief(brief: Brief, done: "Future[bool]", place: Place) -> None:
            if done.result():
                brief.run(place)

        return More(
            [(name, partial(run, name)) for name in self._host if name in BESIDE],
            [("", partial(run_brief, brief, done)) for brief, done in zip(self._briefs, built)],
        )

    def _run_aside(
        self, built: Sequence["Future[None]"], besides: Sequence["Future[bool]"], place: Place
    ) -> None:
        """What only computes, beside the guests: those wait for most of their time, and get a
        CPU at once when they need one."""
        for lane, done in zip(self._lanes, built):
            done.result()
            lane.run_aside(place)
        for name, command in self._host.items():
            if name in ASIDE:
                Suite(place, name).run(command)
        for brief, ready in zip(self._briefs, besides):
            if ready.result():
                brief.run_aside(place)

    def _run_lane(
        self, lane: Lane, built: "Future[None]", besides: Sequence["Future[bool]"], place: Place
    ) -> None:
        built.result()
        lane.run(place, self._beside(besides) if lane is self._lanes[0] else None)

    def _run_truth(self, place: Place) -> None:
        """What was injected, observed and reported, for all kernels. A suite of one test."""
        if not self._truths.lines:
            return
        # Only where nothing was left out is everything to be there.
        whole = not self._options.quick and not self._options.filters
        table = self._truths.table(trackers(self._top) if whole else [])
        (self._logs / "truth-table.txt").write_text(f"{table}\n")
        wrong = bool(table.problems)
        text = f"{'not ' * wrong}ok - nothing invented, nothing missed that was not skipped"
        Suite(place, "truth").read(["1..1", text], int(wrong))
        self._console.show(f"\n{table}")

    def _guard(self, name: str, run: Callable[[Place], None], place: Place) -> None:
        """In a thread: what goes wrong with it is a failure."""
        try:
            run(place)
        except (Ending, Failed):
            pass
        except Exception:
            traceback.print_exc()
            Suite(place, name).fail("did not come to its end")

    def _build(self, lab: setup.Lab, lane: Lane, place: Place) -> None:
        """What comes ahead of a kernel's first guest."""
        try:
            lane.prepare(lab)
        except Failed:
            # Nothing else is of interest then.
            self._children.end()
            raise
        lane.report_build(place)
        # There are guests from now on.
        self._shell.prefix = LOWEST

    def _build_besides(
        self, lab: setup.Lab, brief: Brief, built: Sequence["Future[None]"], place: Place
    ) -> bool:
        """The same for a kernel besides, behind the others. Whether it may run."""
        for future in built:
            future.result()
        try:
            brief.prepare(lab)
        except Failed:
            Suite(place, f"{brief.kernel.prefix}build").fail("not built: see above")
            return False
        brief.report_build(place)
        return True

    def _run_threads(
        self, places: Sequence[Place], briefs: Sequence[Place], aside: Place
    ) -> None:
        """Some kernels run side by side, while the next ones are built."""
        lab = setup.Lab(self._top, self._shell, self._console)
        with (
            ThreadPoolExecutor(1) as builder,
            ThreadPoolExecutor(1) as behind,
            ThreadPoolExecutor(self._options.jobs) as pool,
        ):
            built = [
                builder.submit(self._build, lab, lane, place)
                for lane, place in zip(self._lanes, places)
            ]
            besides = [
                builder.submit(self._build_besides, lab, brief, built, place)
                for brief, place in zip(self._briefs, briefs)
            ]
            run_aside = partial(self._run_aside, built, besides)
            futures = [behind.submit(self._guard, "aside", run_aside, aside)]
            for lane, place, done in zip(self._lanes, places, built):
                run = partial(self._run_lane, lane, done, besides)
                futures.append(pool.submit(self._guard, lane.kernel.name, run, place))
            for future in [*built, *futures]:
                future.result()

    def run(self) -> Tally:
        """Run what was asked for; returns what was counted."""
        self._catch_signals()
        setup.set_up(self._top, self._lanes[0].kernel.arch)
        self._lock_logs()
        self._clear_logs()
        host, aside, rest = self._place(), self._place(), self._place()
        aside.prefix = LOWEST
        places = [self._place(lane.kernel.name) for lane in self._lanes]
        briefs = [self._place(brief.kernel.name) for brief in self._briefs]
        self._run_host(host)
        self._run_threads(places, briefs, aside)
        self._run_truth(rest)
        tally = Tally()
        for place in (host, aside, *places, *briefs, rest):
            tally.add(place.tally)
        return tally


def _report(tally: Tally) -> bool:
    """The last lines. Whether all is well."""
    print()
    if not tally.passed and not tally.failed and not tally.skipped:
        tally.fail("no test has such a name: see --list")
    longest = tally.longest(_LONGEST)
    if longest:
        print(f"Longest, in seconds: {longest}\n")
    if tally.failed:
        print("Failed (logs in build/check/):")
        print(tally.failures_in_full())
    print(tally)
    return not tally.failed


def _main(top: Path, arguments: Sequence[str]) -> int:
    options = parse(arguments)
    if options.help:
        print(USAGE, end="")
        return 0
    run = Run(top, options)
    if options.listing:
        for name in run.names():
            print(name)
        return 0
    return 0 if _report(run.run()) else 1


def main(top: Path, arguments: Sequence[str]) -> int:
    """Returns the exit status."""
    try:
        return _main(top, arguments)
    except UsageError as error:
        info(str(error))
    except Failed:
        pass
    return 1
