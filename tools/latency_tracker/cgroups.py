# SPDX-License-Identifier: GPL-2.0-only
"""The paths of control groups (version 2), by the ids that events have: inodes of their directories."""
from __future__ import annotations

import os
import time

from latency_tracker.machine import Machine

# Version 2 alone, or beside version 1.
MOUNTS = ('/sys/fs/cgroup', '/sys/fs/cgroup/unified')
ROOT_ID = 1
# One that is not found may be gone, or new: it is looked for again after that time.
AGAIN_SECONDS = 5


class Cgroups:
    """All that there were when one was looked for."""

    def __init__(self, machine: Machine) -> None:
        self.paths: dict[int, str] = {}
        self.walked = -AGAIN_SECONDS * 2.0
        self.top = next((machine.path(name) for name in MOUNTS
                         if machine.path(f'{name}/cgroup.controllers').exists()), None)

    def _walk(self) -> None:
        """A directory that vanishes meanwhile is left out."""
        self.walked = time.monotonic()
        if not self.top:
            return
        for directory, _, _ in os.walk(self.top):
            try:
                inode = os.stat(directory).st_ino
            except OSError:
                continue
            self.paths[inode] = '/' + os.path.relpath(directory, self.top) if directory != str(self.top) else '/'

    def path(self, ident: int) -> str:
        """As in /proc/PID/cgroup; "-" if the id is of no task, "?" if the group is not to be found."""
        if ident <= 0:
            return '-'
        if ident not in self.paths and time.monotonic() - self.walked > AGAIN_SECONDS:
            self._walk()
        return self.paths.get(ident, '/' if ident == ROOT_ID else '?')
