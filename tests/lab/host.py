# SPDX-License-Identifier: GPL-2.0-only
"""The suites that need no kernel."""

import os
import sys
from pathlib import Path

from .mutants import mutants_command
from .options import Options

# They only compute, and may take their time: they run beside the guests, behind them. A fuzzer
# has its time of a CPU, not of the clock.
ASIDE = {"command-mutants", "models", "fuzz", "fuzz-mutants"}
# They wait for most of their time, and measure none: they run beside the guests that measure none.
BESIDE = {"command"}
# Not in the short form.
_LONG = {"command-mutants", "host-mutants", "fuzz", "fuzz-mutants"}


def host_suites(top: Path, options: Options) -> dict[str, list[str]]:
    """The suites that were asked for, with their commands, in their order."""
    make = ["make", "-s", "-C", str(top / "tests/host")]
    pytest = ["env", f"PYTHONPATH={top}/tests:{top}/tools", sys.executable, "-P", "-m", "pytest"]
    pytest += ["-p", "lab.ktap", "-p", "no:cacheprovider", "-p", "no:terminal"]
    suites = {
        "check-self": [*pytest, str(top / "tests/lab")],
        "command": [str(top / "tests/command/run.sh"), *pytest, str(top / "tests/command")],
        "command-mutants": [
            str(top / "tests/command/run.sh"),
            *mutants_command(top, options, ["command"]),
        ],
        "judges": [sys.executable, str(top / "tests/guest/known.py")],
        "host": [*make, "check", *(["QUICK=1"] if options.quick else [])],
        "host-mutants": mutants_command(top, options, ["host"]),
        "models": [str(top / "tests/litmus/run.sh"), str(top / "build/models")],
        "fuzz": [*make, "fuzz", f"FUZZ_TIME={os.environ.get('FUZZ_TIME') or 60}"],
        "fuzz-mutants": mutants_command(top, options, ["fuzz"]),
    }
    return {
        name: command
        for name, command in suites.items()
        if options.wants(name) and not (options.quick and name in _LONG)
    }
