# SPDX-License-Identifier: GPL-2.0-only
"""What is counted of what a suite prints, and how it ends."""

from pathlib import Path

import pytest

from lab import suite as module

from .conftest import Bench

GOOD = "TAP version 13\n1..2\nok 1 - one\nok 2 - two\n"
DIED = "died before it said how many tests there are"
SILENT = "suite: printed no test results"
TWO = "1..1\nok 1\n1..1\n"


def of(got: int, planned: int) -> str:
    return f"{got} of {planned} tests reported a result"


# What is printed, the status, what is counted (passed, failed, skipped), and the failures.
# With names, since the lines that this suite prints are read, too.
CASES: dict[str, tuple[str, int, tuple[int, int, int], list[str]]] = {
    "good": (GOOD, 0, (2, 0, 0), []),
    "plan at the end": ("ok 1\nok 2\n1..2\n", 0, (2, 0, 0), []),
    "last line without an end": ("1..1\nok 1", 0, (1, 0, 0), []),
    "bytes that are no text": ("1..1\n\\377\\376\nok 1 - \\377\n", 0, (1, 0, 0), []),
    "failed": ("1..1\nnot ok 1 - bad\n", 1, (0, 1, 0), ["suite: bad"]),
    "truncated": ("1..3\nok 1\n", 0, (1, 1, 0), [f"suite: {of(1, 3)}"]),
    "more than planned": ("1..1\nok 1\nok 2\n", 0, (2, 1, 0), [f"suite: {of(2, 1)}"]),
    "no plan": ("ok 1\n", 0, (1, 1, 0), [f"suite: {DIED}"]),
    "plan of nothing": ("1..0\n", 0, (0, 1, 0), ["suite: has no tests"]),
    "two plans": (TWO, 0, (1, 1, 0), ["suite: said more than once how many tests there are"]),
    "silence": ("", 0, (0, 1, 0), [SILENT]),
    "no TAP": ("hello\nokay 1\n10 of 10\n", 0, (0, 1, 0), [SILENT]),
    "several documents": (GOOD + "KTAP version 1\n1..1\nok 1\n", 0, (3, 0, 0), []),
    "first document is truncated": (
        "KTAP version 1\n1..2\nok 1\n" + GOOD, 0, (3, 1, 0), [f"suite: {of(1, 2)}"]),
    "bail out": ("1..1\nok 1\nBail out! no disk\n", 0, (1, 1, 0), ["suite: gave up: no disk"]),
    "duplicate": ("1..2\nok 1\nok 1\n", 0, (2, 1, 0), ["suite: test 1 reported 2 results"]),
    "garbled": (
        "1..3\nok 1\n[ 1.0] consok 2\noke 3\n", 0, (1, 1, 0), [f"suite: {of(1, 3)}"]),
    "skip with a reason": ("1..1\nok 1 - one # SKIP no disk\n", 0, (0, 0, 1), []),
    "skip behind a hash": ("1..1\nok 1 - a # b # SKIP no disk\n", 0, (0, 0, 1), []),
    "skip behind a directive": ("1..1\nok 1 - a # TODO b # SKIP no disk\n", 0, (0, 0, 1), []),
    "skip without a reason": ("1..1\nok 1 - one # SKIP\n", 1, (0, 1, 0), ["suite: one # SKIP"]),
    "skip with an empty reason": ("1..1\nok 1 # SKIP \n", 1, (0, 1, 0), ["suite: # SKIP"]),
    "skip of a failure": ("1..1\nnot ok 1 # SKIP no\n", 1, (0, 1, 0), ["suite: # SKIP no"]),
    "failure to do": ("1..1\nnot ok 1 # TODO later\n", 1, (0, 1, 0), ["suite: # TODO later"]),
    "good results and a bad end": ("1..1\nok 1\n", 3, (1, 1, 0), ["suite: ended with status 3"]),
    "guest test that prints nothing": (
        "# test: a\n# done: a\n# test: b\n1..1\nok 1\n# done: b\n", 0, (1, 1, 0),
        [f"suite/a: {DIED}"]),
    "guest that dies in a test": ("# test: a\n1..2\nok 1\n", 125, (1, 2, 0), [
        f"suite/a: {of(1, 2)}", "suite: ended with status 125"]),
    "emulator that dies of what is not repeated": ("1..2\nok 1\n", 122, (1, 2, 0), [
        f"suite: {of(1, 2)}", "suite: ended with status 122"]),
    **{
        f"trouble {status} of the machine beside a failure": (
            "1..1\nnot ok 1 - x\n", status, (0, 2, 0),
            ["suite: x", f"suite: ended with status {status}"])
        for status in range(122, 127)
    },
}


@pytest.mark.parametrize("text, status, figures, failures", CASES.values(), ids=CASES)
def test_count(
    bench: Bench, text: str, status: int, figures: tuple[int, int, int], failures: list[str]
) -> None:
    bench.read(text, status)
    assert bench.figures == figures
    assert bench.tally.failures == failures


def test_what_is_shown(bench: Bench) -> None:
    bench.read(GOOD + "1..1\nok 3 - three # SKIP no disk\n")
    texts = ["ok     one", "ok     two", "skip   three # SKIP no disk", "took 0 s, 0 s of a CPU"]
    assert all(bench.shown(f"suite: {text}" for text in texts))


def test_time_of_a_cpu(bench: Bench) -> None:
    # Of a child, which is ended when it has had a second.
    bench.suite("bash", "-c", "(ulimit -t 1; while :; do :; done) 2>/dev/null; echo 1..1; echo ok 1")
    assert bench.shown([" s, 1 s of a CPU"]) == [True]


def test_lines_that_end_with_a_carriage_return(bench: Bench) -> None:
    bench.read("1..1\r\nnot ok 1 - one\r\n# why\r\n", 1)
    assert bench.figures == (0, 1, 0)
    assert bench.shown(["\r", "# why"]) == [False, True]


def test_notes_of_a_failure_are_shown(bench: Bench) -> None:
    bench.read("1..3\n# of one\nok 1\n# why\nnot ok 2 - bad\n# more\nok 3\n# quiet\n", 1)
    assert bench.lines[2:4] == ["        # why", "        # more"]
    assert bench.shown(["# of one", "# quiet"]) == [False, False]
    assert bench.tally.said == {"suite: bad": ["# why"]}


HASHES = ["C#", "a # b", "#1", "one #SKIPPED", "a skip # of it"]


@pytest.mark.parametrize("text", HASHES, ids=range(len(HASHES)))
def test_hash_in_a_text(bench: Bench, text: str) -> None:
    bench.read(f"1..1\nok 1 - {text}\n")
    assert bench.figures == (1, 0, 0)
    assert bench.shown([f"ok     {text}"]) == [True]


def test_last_words_of_a_bad_end(bench: Bench) -> None:
    bench.suite("bash", "-c", "echo 1..1; echo ok 1; echo gone >&2; kill -KILL $$")
    assert bench.tally.failures == ["suite: ended with status 137"]
    assert bench.lines[-2] == "        | gone"


def test_machine_that_was_booted_again_is_told(bench: Bench) -> None:
    again = "vm-run: the guest's clock goes wrong: it is booted again"
    bench.suite("bash", "-c", f'echo 1..1; echo ok 1; echo "{again}" >&2; echo other >&2')
    assert bench.figures == (1, 0, 0)
    assert bench.shown([f"suite: {again}", "other"]) == [True, False]


def test_guest_tests_have_documents_of_their_own(bench: Bench) -> None:
    text = "# test: a/b\n1..1\nok 1 - x\n# done: a/b\n# test: c\n1..1\nok 1 - y\n# done: c\n"
    assert bench.read(text).begun == ["a/b", "c"]
    assert bench.figures == (2, 0, 0)
    assert all(bench.shown(["suite/a/b: ok     x", "suite/c: ok     y"]))
    assert [name for _, name in bench.tally.took] == ["suite/a/b", "suite/c", "suite"]


def test_emulator_that_dies_in_a_test(bench: Bench) -> None:
    text = "# test: a\n1..1\nok 1\n# done: a\n# test: b\n1..2\nok 1\n"
    outcome = bench.read(text, 122, repeat=True)
    assert (outcome.begun, outcome.dropped) == (["a", "b"], True)
    # That of b did not happen.
    assert bench.figures == (1, 0, 0)


def test_emulator_that_dies_more_than_twice(bench: Bench) -> None:
    dropped = [bench.read("1..2\nok 1\n", 122, repeat=True).dropped for _ in range(3)]
    assert dropped == [True, True, False]
    assert bench.figures == (1, 2, 0)


def test_emulator_that_dies_behind_a_failure(bench: Bench) -> None:
    assert not bench.read("1..2\nnot ok 1\n", 122, repeat=True).dropped
    assert bench.figures == (0, 3, 0)


def test_truth(bench: Bench) -> None:
    bench.read("# truth: wakeup|a|1|2\n1..1\nok 1\n")
    assert bench.truths == ["wakeup|a|1|2"]


def test_sign_of_life(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SILENCE", 0.2)
    bench.suite("bash", "-c", "echo 1..1; sleep 0.5; echo ok 1")
    assert bench.shown(["suite: ... running for 0 s"]) == [True]


def test_log_has_all_of_this_run(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "logs/suite.log").write_text("of an earlier run\n")
    for _ in range(2):
        bench.suite("bash", "-c", "echo 1..0; echo bad >&2")
    assert (tmp_path / "logs/suite.log").read_text() == "1..0\nbad\n" * 2
