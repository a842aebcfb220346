# SPDX-License-Identifier: GPL-2.0-only
"""The command line, the truth table, and how processes end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.children import Children, Ending, descendants
from lab.main import _report
from lab.mutants import half, mutants_command, whole_kernels, twins_words
from lab.options import Options, UsageError, parse
from lab.tally import Tally
from lab.truth import Truths, trackers


def test_command_line() -> None:
    words = (
        "quick --kernel sid --also all a --minutes 5 --strings 7 --chains 9 --fuzz 3600 --jobs 3 --list b"
        " --all-mutants"
    ).split()
    assert parse(words) == Options(
        quick=True, kernel="sid", also="all", minutes=5, strings=7, chains=9, fuzz=3600, jobs=3,
        listing=True, all_mutants=True, filters=["a", "b"],
    )


BAD = ["--kernel", "--jobs 0", "--jobs", "--minutes x", "--minutes 10000", "-z", "--strings -1"]


@pytest.mark.parametrize("words", BAD)
def test_bad_command_line(words: str) -> None:
    with pytest.raises(UsageError, match="see --help"):
        parse(words.split())


def test_mutants_of_a_run(tmp_path: Path) -> None:
    run = [f"{tmp_path}/tests/mutants/run", "--kind", "guest", "--kind", "script"]
    kinds = ["guest", "script"]
    assert mutants_command(tmp_path, Options(all_mutants=True), kinds) == run
    # Without git.
    assert mutants_command(tmp_path, Options(), kinds) == [*run, "--by", "0", "--count", "10"]
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    head = subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()
    assert mutants_command(tmp_path, Options(), ["host"])[-3:] == [head, "--count", "20"]
    assert twins_words(tmp_path, Options()) == ["TWINS=2", f"BY={head}"]
    assert twins_words(tmp_path, Options(all_mutants=True)) == []


def test_kernels_whose_signatures_are_looked_at(tmp_path: Path) -> None:
    names = list("abcde")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x"]
    subprocess.run([*git, "init", "-q"], check=True)
    taken: list[list[str]] = []
    for _ in range(20):
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", str(len(taken))], check=True)
        taken.append(whole_kernels(tmp_path, Options(), names))
        assert taken[-1] == whole_kernels(tmp_path, Options(), names)
    assert {len(set(some)) for some in taken} == {2}
    # Each has its turn.
    assert set().union(*taken) == set(names)
    assert whole_kernels(tmp_path, Options(all_mutants=True), names) == names
    assert whole_kernels(tmp_path, Options(filters=["sid:signatures"]), names) == names
    assert whole_kernels(tmp_path, Options(), ["a"]) == ["a"]


def test_halves(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example"]
    subprocess.run([*git, "init", "-q"], check=True)
    taken: list[str] = []
    for n in range(20):
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", str(n)], check=True)
        taken.append(half(tmp_path, Options(also="all")))
        assert taken[-1] == half(tmp_path, Options(also="all"))
    assert set(taken) == {"0", "1"}
    assert half(tmp_path, Options()) == half(tmp_path, Options(also="all", all_mutants=True)) == ""


def test_nothing_chosen_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert not _report(Tally())
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 1 failed, 0 skipped"


def test_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert _report(Tally(passed=3, skipped=1))
    assert not _report(Tally(passed=3, failed=1, failures=["guest/a: b"]))
    text = "\n3 passed, 0 failed, 1 skipped\n\nFailed (logs in build/check/):\n  guest/a: b\n\n"
    assert capsys.readouterr().out == text + "3 passed, 1 failed, 0 skipped\n"
    tally = Tally(passed=3, took=[(0, "c"), (5, "a")])
    tally.add(Tally(took=[(7, "b")]))
    assert _report(tally)
    text = "\nLongest, in seconds: b 7, a 5\n\n3 passed, 0 failed, 0 skipped\n"
    assert capsys.readouterr().out == text
    assert tally.longest(1) == "b 7"
    tally.fail("c", [str(n) for n in range(9)] + ["x" * 1000])
    tally.fail("d")
    notes = "".join(f"      {note}\n" for note in "45678") + "      " + "x" * 300
    assert tally.failures_in_full() == f"  c\n{notes}\n  d\n"


DELAY = "wakeup|a hog|600000000|600100000"
COUNTS = "wakeup|all|||15|15|15|0|0|0"

# Lines, and what is wrong about them, where these trackers are to be there.
TRUTHS: dict[str, tuple[list[str], list[str], list[str]]] = {
    "good": ([DELAY, COUNTS], ["wakeup"], []),
    "not reported": (["wakeup|x|600|0"], [], ["wakeup, x: not reported"]),
    "invented": (["wakeup|x|||15|15|15|0|1|0"], [], ["wakeup, x: 1 invented"]),
    "missed": (["wakeup|x|||15|15|15|2|0|1"], [], ["wakeup, x: 2 missed, but only 1 skipped"]),
    "few": (
        ["wakeup|x|||99|14|14|0|0|0"],
        [],
        ["wakeup, x: only 14 were late, so it proves little"],
    ),
    "no figures": (["wakeup|x|||5|5|5"], [], ["wakeup, x: no figures: k|wakeup|x|||5|5|5"]),
    "missing": ([DELAY], ["wakeup", "irq"], [
        "wakeup: no observer has counted",
        "irq: no delay was injected",
        "irq: no observer has counted",
    ]),
}


@pytest.mark.parametrize("lines, expected, problems", TRUTHS.values(), ids=TRUTHS)
def test_truth(
    tmp_path: Path, lines: list[str], expected: list[str], problems: list[str]
) -> None:
    truths = Truths(tmp_path / "truth")
    for line in lines:
        truths.add("k", line)
    table = truths.table(expected)
    assert table.problems == [f"k: {problem}" for problem in problems]
    assert (" 600.0     600.1     0.1 " in str(table)) == (DELAY in lines)


def test_names_of_trackers(tmp_path: Path) -> None:
    files = {"b.c": "b", "folder/main.c": "a", "api/example.c": "c"}
    for file, name in files.items():
        path = tmp_path / "examples" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'struct lt_usecase x = {{\n\t.name = "{name}",\n\t.x = {{ .name = "y", }}')
    (tmp_path / "examples/folder/filter.c").write_text('\t.name = "filter",\n')
    assert trackers(tmp_path) == ["a", "b"]


def ended(pid: int) -> bool:
    """Whether a process is gone, but for its entry that nobody has read."""
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(") ")[2].startswith("Z")


def test_all_processes_end(tmp_path: Path) -> None:
    children = Children()
    # The second one is nobody's descendant once its parent has ended, and does not listen.
    deaf = f"trap '' TERM; echo $$ >{tmp_path}/pid; while :; do sleep 0.1; done"
    script = 'bash -c "$1" & sleep 100'
    with (tmp_path / "errors").open("wb") as errors:
        process = children.start(["bash", "-c", script, "-", deaf], errors)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        time.sleep(0.05)
    children.end(grace=1.0)
    process.wait()
    assert ended(int((tmp_path / "pid").read_text()))
    with (tmp_path / "errors").open("wb") as errors, pytest.raises(Ending):
        children.start(["true"], errors)


def test_processes_end_with_a_run_that_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys, time; from lab.children import Children\n"
        f"Children().start(['sleep', '100'], open('{tmp_path}/errors', 'wb'))\n"
        "print('started', flush=True); time.sleep(100)"
    )
    tests = Path(__file__).resolve().parents[1]
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(tests)},
    ) as run:
        assert run.stdout is not None
        run.stdout.readline()
        time.sleep(0.3)
        (child,) = descendants(run.pid)
        run.send_signal(signal.SIGKILL)
    time.sleep(0.5)
    assert ended(child.pid)
