# SPDX-License-Identifier: GPL-2.0-only
"""The processes that a run has started, and how all of them end with it.

A run that is killed with SIGKILL cannot end anything: its suites then get SIGTERM from the
kernel (setpriv), and scripts/vm-run looks whether those for whom it runs are there yet
(LAB_OWNERS of scripts/lib.sh)."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import IO, Any

_GRACE = 10.0


def descendants(root: int) -> list[Any]:
    """The processes that process root has started, and those that they have."""
    # Not at the start: it may have to be installed first.
    import psutil

    return list(psutil.Process(root).children(recursive=True))


def _signal(processes: list[Any], signum: int) -> list[Any]:
    """Send it; returns the processes that are left. What has ended may wait to be read."""
    import psutil

    left = []
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.send_signal(signum)
            if process.status() != psutil.STATUS_ZOMBIE:
                left.append(process)
    return left


def wait(process: "subprocess.Popen[bytes]") -> tuple[int, float]:
    """Its status, as that of wait(), and the seconds of a CPU that it and its children took."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


class Ending(Exception):
    """This run is being ended: nothing is started any more."""


class Children:
    """Starts processes, until they are to end."""

    def __init__(self) -> None:
        self._ending = False

    def start(self, command: Sequence[str], errors: IO[bytes]) -> "subprocess.Popen[bytes]":
        """Start a suite's command. The caller reads its standard output."""
        if self._ending:
            raise Ending
        return subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", "--", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "LAB_OWNERS": str(os.getpid())},
        )

    def end(self, grace: float = _GRACE) -> None:
        """End all that was started, and what that has started."""
        self._ending = True
        # They are remembered: the child of one that has ended is nobody's descendant.
        left: list[Any] = []
        for signum in (signal.SIGTERM, signal.SIGKILL):
            left = _signal(left + descendants(os.getpid()), signum)
            until = time.monotonic() + grace
            while left and time.monotonic() < until:
                time.sleep(0.1)
                left = _signal(left, 0)
