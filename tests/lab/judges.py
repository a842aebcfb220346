# SPDX-License-Identifier: GPL-2.0-only
"""Programs of tests/guest that judge files, run here for a guest, which waits: nothing is emulated,
so they take a twentieth of the time. tests/guest/judge.sh is the other end.

A request is a directory with the files and with "words", each with a NUL behind it: what the program
is to learn about the guest, as VARIABLE=VALUE, then its name and its arguments. It gets "out", "err"
and at last "status"."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_PERIOD = 0.05
_VARIABLE = re.compile(r"LAB_[A-Z]+=")
_PROGRAM = re.compile(r"([a-z_]+/)?[a-z_]+\.py")


class Judges:
    """Serves the guests that have a directory mounted."""

    def __init__(self, top: Path, directory: Path) -> None:
        self._programs = top / "tests/guest"
        self._directory = directory
        self._seen: set[Path] = set()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    def _requests(self) -> Iterator[Path]:
        """Those that are complete, and new."""
        for words in self._directory.glob("*/words"):
            if words.parent not in self._seen:
                self._seen.add(words.parent)
                yield words.parent

    def _answer(self, request: Path) -> None:
        words = (request / "words").read_text(encoding="utf-8").split("\0")[:-1]
        variables = [word for word in words if _VARIABLE.match(word)]
        program, *arguments = words[len(variables) :]
        status = 1
        with (request / "out").open("wb") as out, (request / "err").open("wb") as err:
            if _PROGRAM.fullmatch(program):
                command = ["env", "LC_ALL=C.UTF-8", *variables, sys.executable, str(self._programs / program)]
                status = subprocess.run(
                    [*command, *arguments],
                    cwd=request,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    check=False,
                ).returncode
            else:
                err.write(f"there is no judge {program}\n".encode())
        # It is there only when it is complete.
        (request / "status.new").write_text(f"{status}\n")
        (request / "status.new").rename(request / "status")

    def _serve(self) -> None:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            while not self._ending.wait(_PERIOD):
                for request in self._requests():
                    pool.submit(self._answer, request)

    def __enter__(self) -> "Judges":
        self._directory.mkdir(parents=True, exist_ok=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ending.set()
        self._thread.join()
