# SPDX-License-Identifier: GPL-2.0-only
"""Which guest tests run, and in which machines. The machine is a script here."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from lab.beside import LOWEST, run_beside
from lab.guest import Guests, GuestTest, choose_tests, find_tests
from lab.kernel import Kernel
from lab.lane import Brief, Lane, More, Request
from lab.options import Options
from lab.shell import Failed
from lab.suite import Place, Suite

from .conftest import Bench


def kernel(name: str, suite: str = "a", prefix: str = "") -> Kernel:
    values = {"arch": "amd64", "suite": suite, "detectors": "", "pairs": "", "lttng": ""}
    return Kernel(name, values, "", prefix)


def checkout(directory: Path, tests: dict[str, str], machine: str = "") -> Path:
    """A checkout with tests, by their headers, and a scripts/vm-run."""
    for name, header in tests.items():
        file = directory / f"tests/guest/{name}.tc"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# SPDX\n{header}\n\n# timeout: 7\n")
    script = directory / "scripts/vm-run"
    script.parent.mkdir(exist_ok=True)
    # The names of the tests are the last words; "calls" has all words of each machine.
    script.write_text(
        f"#!/bin/bash\necho \"$*\" >>{directory}/calls\n"
        'while [ "$1" != tests/guest/run ]; do shift; done\nshift 2\n'
        'good() { printf "# test: %s\\n1..1\\nok 1\\n# done: %s\\n" "$1" "$1"; }\n' + machine
    )
    script.chmod(0o755)
    return directory


GOOD = 'for test; do good "$test"; done\n'


def run(bench: Bench, options: Options, tests: dict[str, str], machine: str) -> Sequence[str]:
    """Returns what the machines were called with."""
    top = checkout(bench.directory, tests, machine)
    with Guests(top, bench.place, options, kernel("k")) as guests:
        guests.run(find_tests(top), bench.place)
        run_beside(bench.place, guests.behind(find_tests(top)), 1)
    return (top / "calls").read_text().splitlines()


def test_names_are_paths(tmp_path: Path) -> None:
    top = checkout(tmp_path, {"b": "# timeout: 5", "a/b": "# timeout: 60", "a/c/d": ""})
    tests = find_tests(top)
    assert [test.name for test in tests] == ["a/b", "a/c/d", "b"]
    assert [test.timeout for test in tests if test.name != "a/c/d"] == [60, 5]


def test_test_without_a_timeout(tmp_path: Path) -> None:
    # The header ends at the first line that is no comment.
    (test,) = find_tests(checkout(tmp_path, {"a": "# quick: no"}))
    with pytest.raises(Failed):
        print(test.timeout)


def test_choice(tmp_path: Path) -> None:
    top = checkout(tmp_path, {"a/x": "# once: suite", "b": "# quick: no", "c": ""})
    tests = find_tests(top)
    suites = {"one": "s", "two": "s", "three": "t"}
    kernels = [kernel(name, suite, f"{name}:") for name, suite in suites.items()]

    def chosen(options: Options, which: int) -> list[str]:
        return [test.name for test in choose_tests(tests, options, kernels, kernels[which])]

    assert chosen(Options(), 0) == ["a/x", "b", "c"]
    assert chosen(Options(), 1) == ["b", "c"]
    assert chosen(Options(), 2) == ["a/x", "b", "c"]
    assert chosen(Options(quick=True), 0) == ["a/x", "c"]
    assert chosen(Options(filters=["guest/a/"]), 0) == ["a/x"]
    assert chosen(Options(filters=["one:guest/b"]), 0) == ["b"]
    assert chosen(Options(filters=["one:guest/b"]), 1) == []


def test_words_of_the_machine(bench: Bench) -> None:
    tests = {"a": "# timeout: 10", "b": "# timeout: 5\n# boot: quiet x=1\n# icount: yes\n# nodes: 3\n# behind: yes"}
    calls = run(bench, Options(quick=True, strings=400, chains=7, fuzz=90), tests, GOOD)
    logs = bench.place.logs
    rest = f"--out {logs}/k-kept -- env QUICK=1 STRINGS=400 CHAINS=7 MARK_FUZZ=90 MORE_TIME=100 HALF="
    rest += " JUDGES=/out/.judges"
    rest += " tests/guest/run build/guest"
    copied = "--copy tests/guest --copy tools --copy build/guest"
    assert calls == [
        f"--no-build --kernel k --timeout 170 {copied} --console {logs}/k-console1.log {rest} a",
        "--no-build --kernel k --timeout 165 --append quiet x=1 --icount --nodes 3 --cpus 3"
        f" {copied} --console {logs}/k-console1-b.log {rest} b",
    ]
    assert bench.figures == (2, 0, 0)
    assert not (logs / "k-kept").exists()


def test_after_a_death_the_rest_has_another_machine(bench: Bench) -> None:
    machine = 'for test; do [ $test != b ] || { echo "# test: b"; exit 125; }; good $test; done\n'
    calls = run(bench, Options(), dict.fromkeys("abc", "# timeout: 1"), machine)
    assert [call.split("run build/guest ")[1] for call in calls] == ["a b c", "c"]
    assert bench.figures == (2, 2, 0)


def test_after_a_death_of_the_emulator_its_test_too(bench: Bench) -> None:
    machine = (
        'for test; do [ $test != b -o -e "$0.died" ] || { touch "$0.died"; echo "# test: b";'
        " exit 122; }; good $test; done\n"
    )
    calls = run(bench, Options(), dict.fromkeys("abc", "# timeout: 1"), machine)
    assert [call.split("run build/guest ")[1] for call in calls] == ["a b c", "b c"]
    assert bench.figures == (3, 0, 0)


def test_machine_that_does_not_start(bench: Bench) -> None:
    calls = run(bench, Options(), dict.fromkeys("ab", "# timeout: 1"), "exit 124\n")
    assert len(calls) == 1
    assert bench.tally.failures[-2:] == ["guest: a did not run", "guest: b did not run"]


def test_machines_that_measure_no_time_run_side_by_side(bench: Bench) -> None:
    # Each waits until the others have begun; the last one must find them gone.
    machine = (
        'dir=$(dirname "$0"); touch "$dir/$1.begun"\n'
        'for ((i = 0; i < 100; i++)); do [ ! -e "$dir/a.begun" -o ! -e "$dir/b.begun" -o'
        ' ! -e "$dir/x.begun" ] || break; sleep 0.1; done\n'
        '((i < 100)) || exit 125\n[ $1 != c -o -e "$dir/b.ended" ] || exit 125\n'
        + GOOD
        + 'touch "$dir/$1.ended"\n'
    )
    tests = {
        "a": "# timeout: 1\n# beside: yes\n# boot: a",
        "b": "# timeout: 1\n# beside: yes",
        "c": "# timeout: 1",
    }
    top = checkout(bench.directory, tests, machine)

    def other(place: Place) -> None:
        (top / "scripts/x.begun").touch()
        Suite(place, "x").read(["1..1", "not ok 1 - x"], 1)

    with Guests(top, bench.place, Options(), kernel("k")) as guests:
        run_beside(bench.place, [("x", other), *guests.beside(find_tests(top))], 3)
        guests.run(find_tests(top), bench.place)
    assert bench.figures == (3, 1, 0)
    assert bench.tally.failures == ["x: x"]
    logs = ["guest-a.log", "guest-b.log", "guest.log", "x-x.log"]
    assert sorted(file.name for file in bench.place.logs.iterdir()) == logs


def test_machines_that_may_take_longest_come_first(tmp_path: Path) -> None:
    # One machine is not for all of a kind.
    seconds = {"a": 5, "b": 7, "c/a": 2, "c/b": 6, **{f"x/{n}": 1 for n in range(8)}}
    tests = {
        name: f"# timeout: {timeout}\n# beside: yes\n# boot: {name[0]}"
        for name, timeout in seconds.items()
    }
    tests |= {"d": "# timeout: 9", "e": "# timeout: 9\n# behind: yes"}
    top = checkout(tmp_path, tests)
    with Guests(top, Bench(tmp_path).place, Options(), kernel("k")) as guests:
        jobs = guests.beside(find_tests(top))
        assert [tag for tag, _ in jobs] == ["c/a", "b", "x/0", "a", "x/6"]
        assert [tag for tag, _ in guests.behind(find_tests(top))] == ["e"]


def lane_of(bench: Bench, tests: dict[str, str], machine: str, kernels: Sequence[Kernel]) -> Lane:
    """That of the first kernel."""
    top = checkout(bench.directory, tests, machine)
    (top / "tests/bench").mkdir()
    (top / "tests/bench/recorded").touch()
    return Lane(Request(top, Options(filters=["guest/"]), kernels, find_tests(top)), kernels[0])


# What this has itself.
POLICY = "SCHED_IDLE" if os.sched_getscheduler(0) == os.SCHED_IDLE else "SCHED_OTHER"
# Each waits until as many machines as $all have begun, and ends before what comes later.
TOGETHER = (
    'dir=$(dirname "$0"); name=${!#}; touch "$dir/$name.begun"\n'
    'for ((i = 0; i < 100; i++)); do set -- "$dir"/*.begun; [ $# -lt "$all" ] || break;'
    " sleep 0.1; done\n((i < 100)) || exit 125\n"
    "policy=$(chrt -p $$ | head -n 1)\n"
)
NAMED = 'set -- "$name"\n' + GOOD + 'touch "$dir/$name.ended"\n'
LANE = {
    "a": "# timeout: 1",
    "b": "# timeout: 1\n# behind: yes\n# icount: yes",
    "c": "# timeout: 1\n# beside: yes\n# boot: x",
}


def test_machines_that_measure_no_time_run_behind_the_others(bench: Bench) -> None:
    machine = (
        "all=3\n" + TOGETHER + "[[ $name = a || $policy = *SCHED_IDLE ]] || exit 125\n"
        "[ $name != a ] || sleep 1\n" + NAMED
    )
    lane = lane_of(bench, LANE, machine, [kernel("k")])
    assert lane.names() == ["guest/a", "guest/b", "guest/c"]

    def other(place: Place) -> None:
        assert (bench.directory / "scripts/a.ended").exists()
        assert not place.prefix
        Suite(place, "x").read(["1..1", "ok 1"], 0)

    def another(place: Place) -> None:
        assert (bench.directory / "scripts/a.ended").exists()
        assert list(place.prefix) == list(LOWEST)
        Suite(place, "y").read(["1..1", "ok 1"], 0)

    lane.run(bench.place, More([("x", other)], [("y", another)]))
    assert bench.tally.failures == []
    assert bench.figures == (5, 0, 0)
    logs = ["guest-b.log", "guest-c.log", "guest.log", "x-x.log", "y-y.log"]
    assert sorted(file.name for file in bench.place.logs.iterdir()) == logs
    calls = (bench.directory / "calls").read_text().splitlines()
    words = {call.split()[-1]: call.partition(" --copy")[0].split(" --timeout ")[-1] for call in calls}
    assert words["a"].split()[0] == "61"
    assert words["b"] == "64 --icount"
    # It may wait for long without having locked up.
    assert words["c"] == "64 --append x watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=300"
    assert [" PATIENCE=4 " in call for call in calls] == ["run build/guest a" not in call for call in calls]


def test_machine_that_measures_no_time_alone(bench: Bench) -> None:
    machine = "all=1\n" + TOGETHER + f"[[ $policy = *{POLICY} ]] || exit 125\n" + NAMED
    lane_of(bench, {"c": LANE["c"]}, machine, [kernel("k")]).run(bench.place)
    assert bench.figures == (1, 0, 0)
    assert "--append x --copy" in (bench.directory / "calls").read_text()


def test_machines_of_several_kernels(bench: Bench) -> None:
    machine = (
        "all=2\n" + TOGETHER + "[ $name != a ] || sleep 1\n"
        f'[[ $name != c || -e "$dir/a.ended" && $policy = *{POLICY} ]] || exit 125\n' + NAMED
    )
    lane = lane_of(bench, LANE, machine, [kernel("k"), kernel("l")])
    lane.run(bench.place)
    assert bench.figures == (3, 0, 0)


def test_kernel_besides(bench: Bench) -> None:
    tests = ("selftest", "selftest-too", "a/selftest")
    top = checkout(bench.directory, dict.fromkeys(tests, "# timeout: 1"), GOOD)
    (top / "tests/bench").mkdir()
    (top / "tests/bench/recorded").touch()
    here = kernel("k", prefix="k:")
    request = Request(top, Options(), [], find_tests(top))
    assert Brief(request, here, True).names() == ["k:build", "k:signatures", "k:guest/selftest"]
    assert Brief(request, here, False).names() == ["k:build", "k:guest/selftest"]
    request = Request(top, Options(filters=["k:guest"]), [], find_tests(top))
    brief = Brief(request, here, True)
    assert brief.names() == ["k:guest/selftest"]
    brief.run(bench.place)
    assert bench.figures == (1, 0, 0)
    (call,) = (top / "calls").read_text().splitlines()
    assert call.endswith("run build/guest selftest")


def test_program_ahead_of_a_machine(bench: Bench) -> None:
    top = checkout(bench.directory, {"a": "# timeout: 1\n# ahead: a/x"}, GOOD)
    program = top / "tests/guest/a/x"
    program.parent.mkdir()
    program.write_text(f'#!/bin/bash\necho "$1" >{top}/told\n[ "$2" != {top}/scripts/vm-run ]\n')
    program.chmod(0o755)
    with Guests(top, bench.place, Options(), kernel("k")) as guests:
        guests.run(find_tests(top), bench.place)
    assert (top / "told").read_text() == "k\n"
    # It has not run what comes behind it.
    assert bench.tally.failures[-1] == "guest: a did not run"


def test_files_of_failed_tests_stay(bench: Bench) -> None:
    machine = 'touch "$(dirname "$0")/../logs/k-kept/x"\n' + GOOD
    run(bench, Options(), {"a": "# timeout: 1"}, machine)
    assert (bench.place.logs / "k-kept/x").exists()
    assert isinstance(find_tests(bench.directory)[0], GuestTest)
