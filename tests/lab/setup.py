# SPDX-License-Identifier: GPL-2.0-only
"""What must be there before a suite can run: packages, root file systems, modules, programs.
What was found once holds for the whole run: the scripts that are started learn it from the
environment, see need_setup() and rootfs_dir() of scripts/lib.sh."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .kernel import Kernel
from .output import Console, info
from .shell import Failed, Shell


def set_up(top: Path, arch: str) -> None:
    """Install what is missing for guests of an architecture."""
    ready = os.environ.get("LAB_READY", "").split()
    if arch in ready:
        return
    if subprocess.run([top / "scripts/setup", arch], check=False).returncode:
        raise Failed
    os.environ["LAB_READY"] = " ".join([*ready, arch])


def _needs(tests: Sequence[str], subject: str) -> bool:
    """Whether one of the guest tests is about something that is to be built for it."""
    return any(test.partition("/")[0] == subject for test in tests)


class Lab:
    """Prepares kernels, each once."""

    def __init__(self, top: Path, shell: Shell, console: Console) -> None:
        self._top = top
        self._shell = shell
        self._console = console
        self._has_package = False

    def find(self, kernel: Kernel) -> None:
        """Find the kernel's root file system, or make it."""
        set_up(self._top, kernel.arch)
        variable = "LAB_ROOTFS_" + re.sub(r"\W", "_", kernel.name)
        os.environ[variable] = self._shell.script('rootfs_dir "$1"', kernel.name).strip()

    def prepare(self, kernel: Kernel, tests: Sequence[str], is_whole: bool = True) -> None:
        """All that keeps this machine busy before a guest is started. is_whole: with the modules of all tests,
        not of the selftest alone."""
        self.find(kernel)
        if _needs(tests, "lttng") and not self._shell.call("build_lttng", kernel.name):
            self._console.say("so guest/lttng will fail")
        self._console.say(f"building the modules for {kernel.name}")
        which = [] if is_whole else ["selftest"]
        if not self._shell.step("building the modules", "build_modules", kernel.name, *which):
            info("the modules do not compile: correct what is reported above")
            raise Failed
        self._build_programs(kernel)
        if _needs(tests, "package"):
            self._build_package()

    def _build_package(self) -> None:
        """For guest/package, once."""
        if not self._has_package:
            deb = self._top / "scripts/deb"
            if subprocess.run([deb], stdout=subprocess.DEVNULL, check=False).returncode:
                info("the package could not be built: correct what is reported above")
                raise Failed
        self._has_package = True

    # --- the program of tests/guest: static, so that it runs in any guest --------------

    def _build_programs(self, kernel: Kernel) -> None:
        program = self._top / kernel.programs / "inject"
        places = ("tests/guest/inject", "user", "include/uapi")
        files = sorted(file for place in places for file in (self._top / place).glob("*.[ch]"))
        if program.exists() and program.stat().st_mtime >= max(
            file.stat().st_mtime for file in files
        ):
            return
        program.parent.mkdir(parents=True, exist_ok=True)
        words = ["in_rootfs", kernel.name] if kernel.cross else []
        words += [f"{kernel.cross}gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-static"]
        words += [f"-I{place}" for place in places[1:]]
        words += ["-pthread", "-o", str(program)]
        words += [str(file) for file in files if file.suffix == ".c" and "inject" in file.parts]
        if not self._shell.step("building the program of tests/guest", *words):
            info("tests/guest/inject does not compile: correct what is reported above")
            raise Failed
