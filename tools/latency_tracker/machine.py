# SPDX-License-Identifier: GPL-2.0-only
"""What is outside: files of the kernel, other programs, clocks. Tests have another one."""
from __future__ import annotations

import errno
import os
import pathlib
import re
import subprocess
import time
from collections.abc import Iterator, Sequence

from latency_tracker import Error

NICE = 10


def _messages(fd: int) -> Iterator[str]:
    """All that can be read at once."""
    while True:
        try:
            record = os.read(fd, 8192)
        except BrokenPipeError:
            # Some were overwritten meanwhile.
            continue
        except OSError:
            return
        if not record:
            return
        yield record.split(b'\n')[0].decode(errors='backslashreplace').partition(';')[2]


def kernel_log(path: pathlib.Path) -> list[str]:
    """What the kernel still has of its messages; none for others than root."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        return list(_messages(fd))
    finally:
        os.close(fd)


class KernelLog:
    """What the kernel says from now on."""

    def __init__(self, path: pathlib.Path) -> None:
        try:
            self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self.fd, 0, os.SEEK_END)
        except OSError:
            self.fd = -1

    def told(self) -> str:
        """The messages of our modules since then, the last of them first; ends the listening."""
        if self.fd < 0:
            return ''
        found = [text for text in _messages(self.fd) if re.match(r'latency_tracker\w*: ', text)]
        os.close(self.fd)
        return '; '.join(reversed(found))


class Machine:
    """The one that runs this, or a directory that looks like it."""

    def __init__(self, root: str = '/') -> None:
        self.root = pathlib.Path(root)

    def path(self, name: str) -> pathlib.Path:
        """name begins with a slash."""
        return self.root / name.lstrip('/')

    def read(self, name: str) -> str:
        """All of a text file; a missing one is FileNotFoundError."""
        try:
            return self.path(name).read_bytes().decode(errors='backslashreplace')
        except PermissionError:
            raise Error(f'{name} may be read by root only: use sudo') from None

    def write(self, name: str, text: str) -> None:
        """To a file of sysfs, in one go; what the kernel says if it refuses is in the Error."""
        log = KernelLog(self.path('/dev/kmsg'))
        try:
            fd = os.open(self.path(name), os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.write(fd, os.fsencode(text) or b'\n')
            finally:
                os.close(fd)
        except PermissionError:
            raise Error(f'{name} may be written by root only: use sudo') from None
        except FileNotFoundError:
            raise
        except OSError as error:
            why = log.told() or ('the kernel does not take that value' if error.errno == errno.EINVAL
                                 else error.strerror)
            raise Error(f'{pathlib.Path(name).name}={text}: {why}') from None

    def give_way(self) -> None:
        """To other processes, from now on."""
        os.setpriority(os.PRIO_PROCESS, 0, max(os.getpriority(os.PRIO_PROCESS, 0), NICE))

    def make_instance(self, name: str) -> None:
        """A directory of tracefs, in which the kernel makes the files."""
        self.path(name).mkdir()

    def remove_instance(self, name: str) -> None:
        """It, with all that is in it."""
        self.path(name).rmdir()

    def run(self, words: Sequence[str]) -> tuple[int, str]:
        """A program to its end: the status, and all that it has said."""
        try:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False, errors='backslashreplace')
        except FileNotFoundError:
            raise Error(f'there is no program {words[0]}: is /sbin in PATH?') from None
        return done.returncode, done.stdout.strip()

    def hostname(self) -> str:
        """As the kernel has it."""
        return self.read('/proc/sys/kernel/hostname').strip()

    def monotonic_ns(self) -> int:
        """The clock of the trackers."""
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    def wall_ns(self) -> int:
        """Since 1970."""
        return time.time_ns()
