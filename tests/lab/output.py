# SPDX-License-Identifier: GPL-2.0-only
"""Lines for who watches. Results go to standard output, the rest to standard error."""

import sys
import threading
import time
from collections.abc import Callable


def _print(text: str) -> None:
    print(text, flush=True)


class Console:
    """Writes whole lines, whichever thread they come from."""

    def __init__(self, show: Callable[[str], None] = _print) -> None:
        # A signal may interrupt whoever holds it.
        self._lock = threading.RLock()
        self._show = show
        self._start = time.monotonic()
        self._silent = False

    def seconds(self) -> int:
        """How long this run has taken."""
        return int(time.monotonic() - self._start)

    def say(self, text: str) -> None:
        """One line, with the time since the start."""
        self.show(f"{self.seconds():4d} s  {text}")

    def show(self, text: str) -> None:
        """Lines as they are."""
        with self._lock:
            if not self._silent:
                self._show(text)

    def fall_silent(self) -> None:
        """Nothing more is to be shown: this run is being ended."""
        with self._lock:
            self._silent = True


def info(text: str) -> None:
    """One line on standard error, like info() of scripts/lib.sh."""
    print(f"check: {text}", file=sys.stderr, flush=True)
