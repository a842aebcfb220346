# SPDX-License-Identifier: GPL-2.0-only
"""The functions of scripts/lib.sh, which scripts/vm-run, bench and demo share with us."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


class Failed(Exception):
    """A step failed, and has said why on standard error."""


class Shell:
    """Runs functions of scripts/lib.sh."""

    def __init__(self, top: Path) -> None:
        self._lib = str(top / "scripts/lib.sh")
        # What the commands begin with.
        self.prefix: Sequence[str] = ()

    def _command(self, script: str, arguments: tuple[str, ...]) -> list[str]:
        # Its messages begin with our name, as everywhere.
        prologue = 'set -euo pipefail; . "$1"; shift\n'
        return [*self.prefix, "bash", "-c", prologue + script, "check", self._lib, *arguments]

    def script(self, script: str, *arguments: str) -> str:
        """Run a script that knows lib.sh; returns what it prints."""
        done = subprocess.run(
            self._command(script, arguments), stdout=subprocess.PIPE, text=True, check=False
        )
        if done.returncode:
            raise Failed
        return done.stdout

    def call(self, *words: str) -> bool:
        """Call a function that may ask, install or build; whether that went well."""
        sys.stdout.flush()
        return subprocess.run(self._command('"$@"', words), check=False).returncode == 0

    def step(self, text: str, *words: str) -> bool:
        """The same for a step that is silent, unless it fails or takes long."""
        # In a subshell, since it may exit.
        script = 'text=$1; shift; aside() { ("$@"); }; progress "$text" aside "$@"'
        sys.stdout.flush()
        return subprocess.run(self._command(script, (text, *words)), check=False).returncode == 0
