#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a turn of "latency-tracker top" costs, for six trackers with groups, and when the first line comes."""
from __future__ import annotations

import argparse
import contextlib
import io
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from command.fake import Fake, groups_file
from latency_tracker.main import main as command
from latency_tracker.state import KNOWN

EVERY_S = 2


def turn_ms(groups: int, turns: int) -> float:
    """Of a CPU."""
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as directory:
        machine = Fake(Path(directory))
        delays = [int(2**chance.uniform(10, 33)) for _ in range(2000)]
        for number, name in enumerate(KNOWN):
            machine.tracker(name)
            machine.put(f'/sys/kernel/latency_tracker/{name}/profile/groups', groups_file(
                {('call', f'group{i}'.encode()): delays for i in range(number, groups, len(KNOWN))}))
        spent = []
        for count in (1, turns + 1):
            begin = time.process_time()
            with contextlib.redirect_stdout(io.StringIO()):
                command(['top', '--turns', str(count), '--every', '1ms'], machine)
            spent.append(time.process_time() - begin)
    return (spent[1] - spent[0]) / turns * 1000


def first_line_ms(program: Path) -> float:
    """The best of five."""
    found = []
    for _ in range(5):
        begin = time.monotonic()
        with subprocess.Popen([sys.executable, program, 'list'], stdout=subprocess.PIPE) as child:
            assert child.stdout and child.stdout.readline()
            found.append(time.monotonic() - begin)
    return min(found) * 1000


def main() -> None:
    """A line for each number of groups."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--turns', type=int, default=20)
    args = parser.parse_args()
    for groups in (20, 200, 2000):
        ms = turn_ms(groups, args.turns)
        print(f'top, {groups} groups: {ms:.1f} ms of a CPU for a turn, {ms / EVERY_S / 10:.2f} % at one in {EVERY_S} s')
    program = Path(__file__).resolve().parents[2] / 'tools/latency-tracker'
    print(f'the first line of "list": after {first_line_ms(program):.0f} ms')


if __name__ == '__main__':
    main()
