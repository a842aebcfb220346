# SPDX-License-Identifier: GPL-2.0-only
"""What each run takes some of: mutants, twins, and kernels besides of which everything is built; all of
them with --all-mutants."""

import random
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from .options import Options

# What one minute is enough for; those that share guests take four.
FEW = {"host": 20, "fuzz": 10, "command": 30, "guest": 10}

# Of the twins of torture, each of which may take 40 seconds.
_TWINS = 2
# Of the kernels besides, of which everything is built, and the signatures are looked at: a minute of a CPU each.
_WHOLE = 2


def _commit(top: Path) -> str:
    git = ["git", "-C", str(top), "rev-parse", "HEAD"]
    head = subprocess.run(
        git, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
    )
    # Without git, always the same ones.
    return head.stdout.strip() or "0"


def mutants_command(top: Path, options: Options, kinds: Iterable[str]) -> list[str]:
    """The command that runs those of some kinds. Which ones depends on the commit, so that a
    failure can be repeated, and each has its turn."""
    kinds = list(kinds)
    command = [str(top / "tests/mutants/run")]
    for kind in kinds:
        command += ["--kind", kind]
    if options.all_mutants:
        return command
    return [*command, "--by", _commit(top), "--count", str(FEW[kinds[0]])]


def twins_words(top: Path, options: Options) -> list[str]:
    """The same for the twins of torture, as words for env."""
    return [] if options.all_mutants else [f"TWINS={_TWINS}", f"BY={_commit(top)}"]


def half(top: Path, options: Options) -> str:
    """Which half of the calls is refused in guest/refusals/calls, 0 or 1, beside other kernels; ""
    is all of them."""
    if not options.also or options.all_mutants:
        return ""
    return str(random.Random(_commit(top)).randrange(2))


def whole_kernels(top: Path, options: Options, names: Sequence[str]) -> list[str]:
    """The same for the kernels besides, by their names, of which everything is built."""
    if options.all_mutants or options.filters:
        return list(names)
    return random.Random(_commit(top)).sample(names, min(_WHOLE, len(names)))
