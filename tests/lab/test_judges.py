# SPDX-License-Identifier: GPL-2.0-only
"""Programs that judge, run for a guest: tests/guest/judge.sh asks."""

import subprocess
from pathlib import Path

import pytest

from lab.judges import Judges

LIBDIR = Path(__file__).resolve().parents[1] / "guest"
PROGRAM = """
import os, sys
print(open(sys.argv[1]).read(), sys.argv[2:], os.environ.get("LAB_RELEASE"), flush=True)
print("aside", file=sys.stderr)
sys.exit(3)
"""


def ask(directory: Path, judges: str, program: str) -> "subprocess.CompletedProcess[str]":
    """What a test of a guest would do: its $T is the directory, with a file."""
    (directory / "trace").write_text("a line")
    script = '. "$0/judge.sh"; LIBDIR=$1/tests/guest T=$1 JUDGES=$2 judge "$3" "$1/trace" "two words" ""'
    command = ["bash", "-uc", script, str(LIBDIR), str(directory), judges, program]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A checkout with such a program."""
    (tmp_path / "tests/guest/a").mkdir(parents=True)
    (tmp_path / "tests/guest/a/known.py").write_text(PROGRAM)
    return tmp_path


def test_judge_for_a_guest(top: Path) -> None:
    judges = top / "out/judges"
    release = subprocess.check_output(["uname", "-r"], text=True).strip()
    with Judges(top, judges):
        for _ in range(2):
            done = ask(top, str(judges), "a/known.py")
            assert done.stdout == f"a line ['two words', ''] {release}\n"
            assert (done.stderr, done.returncode) == ("aside\n", 3)
    assert not any(judges.iterdir())


def test_judge_without_one(top: Path) -> None:
    done = ask(top, "", "a/known.py")
    assert done.stdout == "a line ['two words', ''] None\n"
    assert (done.stderr, done.returncode) == ("aside\n", 3)


def test_only_programs_of_tests(top: Path) -> None:
    other = top / "tests/other.py"
    other.write_text("")
    with Judges(top, top / "judges"):
        for program in ("../other.py", str(other), "a/none.py"):
            assert ask(top, str(top / "judges"), program).returncode
