# SPDX-License-Identifier: GPL-2.0-only
"""The kernels of the virtual machines: the files of tests/vm/kernels, which lib.sh reads."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from .shell import Shell

# What of an entry decides which tests run where; a "# once:" of a guest test names one, too.
VARIABLES = ("arch", "suite", "detectors", "pairs", "slow", "lttng")


@dataclass(frozen=True)
class Kernel:
    """One kernel. values: variables of its entry; prefix: what the names of its suites begin
    with, where several kernels run."""

    name: str
    values: dict[str, str]
    cross: str
    prefix: str = ""

    @property
    def arch(self) -> str:
        return self.values["arch"]

    @property
    def is_debug(self) -> bool:
        """Whether it has detectors, and is slow of them."""
        return bool(self.values["detectors"])

    @property
    def programs(self) -> str:
        """Where the programs for its guests are, in the checkout."""
        return "build/guest" if self.arch == "amd64" else f"build/guest-{self.arch}"


# For each kernel: its name, the variables, and what its compilers' names begin with.
_READ = """
for name in $1; do
    printf '%s\\0' "$name"
    (_kernel_entry "$name"; for value in $2; do printf '%s\\0' "${!value}"; done)
    arch_value "$(kernel_value "$name" arch)" cross | tr '\\n' '\\0'
done
"""


def _read(shell: Shell, names: Iterable[str]) -> list[Kernel]:
    words = shell.script(_READ, " ".join(names), " ".join(VARIABLES)).split("\0")[:-1]
    width = len(VARIABLES) + 2
    return [
        Kernel(words[at], dict(zip(VARIABLES, words[at + 1 :])), words[at + width - 1])
        for at in range(0, len(words), width)
    ]


def choose(shell: Shell, top: Path, word: str) -> list[Kernel]:
    """What --kernel WORD means."""
    if word not in ("all", "debug"):
        return _read(shell, [word])
    entries = sorted(path.name for path in (top / "tests/vm/kernels").iterdir())
    chosen = [kernel for kernel in _read(shell, entries) if kernel.is_debug == (word == "debug")]
    if len(chosen) == 1:
        return chosen
    return [replace(kernel, prefix=f"{kernel.name}:") for kernel in chosen]


def besides(shell: Shell, top: Path, word: str, chosen: Iterable[Kernel]) -> list[Kernel]:
    """What --also WORD means: none of those that were chosen."""
    if not word:
        return []
    taken = {kernel.name for kernel in chosen}
    return [
        replace(kernel, prefix=f"{kernel.name}:")
        for kernel in choose(shell, top, word)
        if kernel.name not in taken
    ]


def is_first_of(kernels: Iterable[Kernel], kernel: Kernel, variable: str) -> bool:
    """Whether it is the first of the kernels with its value of a variable."""
    value = kernel.values[variable]
    return kernel is next(other for other in kernels if other.values[variable] == value)
