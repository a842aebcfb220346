# SPDX-License-Identifier: GPL-2.0-only
"""What ends a command that waits."""
from __future__ import annotations

import os
import select
import signal
import types


class Signals:
    """From its making to close(), they end nothing by themselves. fd is readable once one came."""

    NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self.fd, self._in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.caught = 0
        signal.set_wakeup_fd(self._in, warn_on_full_buffer=False)
        for number in self.NUMBERS:
            signal.signal(number, self._catch)

    def _catch(self, number: int, _frame: types.FrameType | None) -> None:
        self.caught = number

    def wait(self, seconds: float) -> bool:
        """So long, or until one comes; whether none came."""
        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        poll.poll(seconds * 1000)
        return not self.caught

    def wait_for(self, fd: int, events: int) -> bool:
        """Until there is something at fd, or one comes; whether none came."""
        poll = select.poll()
        poll.register(fd, events)
        poll.register(self.fd, select.POLLIN)
        poll.poll()
        return not self.caught

    def close(self) -> None:
        """From now on they do what they do by default."""
        for number in self.NUMBERS:
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        os.close(self.fd)
        os.close(self._in)
