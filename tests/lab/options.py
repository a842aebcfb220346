# SPDX-License-Identifier: GPL-2.0-only
"""The command line of scripts/check."""

import argparse
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

USAGE = """\
Usage: scripts/check [quick] [OPTION...] [FILTER...]

Sets up, builds and runs all tests. The last line is "N passed, N failed, N skipped";
the exit status is 0 only if none failed.

  check-self     does scripts/check itself count right? (tests/lab)
  command        the program latency-tracker, without a kernel (tests/command)
  command-mutants
                 broken variants of it, each of which these tests must catch; of all
                 mutants, some that the hash of the commit chooses
  judges         do the programs that judge traces judge right?
  host           the core's lock-free parts in user space, and the library for
                 marks, with a kernel of ordinary memory: stress tests, plain,
                 with AddressSanitizer and with ThreadSanitizer
  host-mutants   broken variants of them, each of which the host tests must catch
  models         models of the orderings of memory accesses that the code relies on,
                 searched exhaustively, and broken ones that must be refuted
  fuzz           operations in sequences that look for new paths through the core, from
                 nothing, for FUZZ_TIME seconds (60; for a release 600)
  fuzz-mutants   broken variants of the core, each of which the fuzzers must find
  build          do the modules compile without a warning?
  lab            does scripts/vm-run tell the truth? (tests/vm/selftest.sh)
  signatures     does a tracepoint with other arguments break the build?
  guest/NAME     tests/guest/NAME.tc, also in folders: the modules in a virtual machine, one
                 test after the other. After a crash, the rest runs in a new machine, and
                 the test that crashed again if that was a fault of QEMU's.
  mutants        broken variants of the modules, ten of them: each must be caught by its
                 guest test (tests/mutants/run)
  torture        everything against everything, in all contexts at once, for 50 million
                 pairs of begin and end; then broken twins of the core, two of them, each of
                 which must be caught. Documentation/reliability.md
  detectors      do the detectors of a debug kernel find what they are there for?
  cost           instructions of a begin with its end, against those that were recorded

  quick          under 4 minutes with warm caches: without fuzz, lab, torture, cost and all
                 mutants, without the guest tests that say "quick: no" in their header, and
                 with shorter host stress
  FILTER         run only what has FILTER in its name, such as guest/block
  --kernel NAME  the kernel of the virtual machines, a file of tests/vm/kernels (bookworm);
                 "all": those that people use. What tests the tools around the kernel then
                 runs once per suite or architecture: "lab" in part, guest/package; and
                 torture is 5 million pairs on each.
                 "debug": kasan and kcsan, which are built first, once; they find errors
                 of memory, locks, RCU, leaks, and data races. All is some four times
                 slower there, and torture is 500 thousand pairs, without the twins.
  --also NAME    besides, on the kernels that NAME means: build and guest/selftest, behind
                 the guests of the others as far as it goes; on two of them, which the hash
                 of the commit chooses, the modules of all tests, and signatures. Then
                 torture is half of that, and guest/refusals/calls refuses each second call
  --minutes N    torture for so many minutes, if that is more
  --strings N    guest/bad-input feeds so many strings to each file, if that is more
  --chains N     guest/critical_path/chains builds so many chains of tasks, if that is more
  --all-mutants  all of them, and all twins of torture; the suite "mutants" then takes hours
  --fuzz N       guest/mark/fuzz goes on for so many seconds, if that is more
  --jobs N       so many kernels at a time (as many as the machine has CPUs, but 2)
  --list         only print the names of what would run

Complete logs are in build/check/, and in KERNEL-kept/ there the traces and other files that
failed guest tests were judged by.
"""


class UsageError(Exception):
    """The command line cannot be understood; the text says what to do."""


@dataclass
class Options(argparse.Namespace):
    """What was asked for. help: only the text above."""

    quick: bool = False
    kernel: str = "bookworm"
    also: str = ""
    minutes: int = 0
    strings: int = 0
    chains: int = 0
    all_mutants: bool = False
    fuzz: int = 0
    jobs: int = field(default_factory=lambda: min(os.cpu_count() or 1, 2))
    listing: bool = False
    help: bool = False
    filters: list[str] = field(default_factory=list)

    def wants(self, name: str) -> bool:
        """Whether a suite or test with this name is to run."""
        return not self.filters or any(text in name for text in self.filters)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}: see --help")


def _number(digits: int) -> Callable[[str], int]:
    """Reads numbers from 1 with so many digits."""

    def number(text: str) -> int:
        if not re.fullmatch(f"[1-9][0-9]{{0,{digits - 1}}}", text):
            raise ValueError
        return int(text)

    return number


def parse(arguments: Sequence[str]) -> Options:
    """Read the words of the command line."""
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--list", action="store_true", dest="listing")
    parser.add_argument("--kernel")
    parser.add_argument("--also")
    parser.add_argument("--minutes", type=_number(4))
    parser.add_argument("--strings", type=_number(7))
    parser.add_argument("--chains", type=_number(4))
    parser.add_argument("--all-mutants", action="store_true")
    parser.add_argument("--fuzz", type=_number(5))
    parser.add_argument("--jobs", type=_number(4))
    parser.add_argument("words", nargs="*")
    options = Options()
    found = vars(parser.parse_intermixed_args(arguments, options))
    words = found.pop("words")
    options.quick = "quick" in words
    options.filters = [word for word in words if word != "quick"]
    return options
