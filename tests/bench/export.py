#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What an answer of "latency-tracker export" costs, for six trackers whose buckets are all in use."""
from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from command.fake import Fake, buckets_file, groups_file, record, syscall
from latency_tracker.export import Exporter
from latency_tracker.prometheus import PROTOBUF
from latency_tracker.state import KNOWN

FORMATS = {'text': '', 'OpenMetrics, with exemplars': 'application/openmetrics-text; version=1.0.0',
           'native histograms': PROTOBUF}


def main() -> None:
    """A line for each format."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--groups', type=int, default=20)
    parser.add_argument('--rounds', type=int, default=50)
    args = parser.parse_args()
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as directory:
        machine = Fake(Path(directory))
        for number, name in enumerate(KNOWN):
            machine.tracker(name)
            state = f'/sys/kernel/latency_tracker/{name}/profile'
            delays = [int(2**chance.uniform(10, 33)) for _ in range(20000)]
            machine.put(f'{state}/buckets', buckets_file(delays))
            machine.last(name, record(1, 'syscall_latency', syscall()))
            machine.put(f'{state}/groups', groups_file(
                {('call', f'group{i}'.encode()): delays[:2000] for i in range(number, args.groups, len(KNOWN))}))
        exporter = Exporter(machine, [], args.groups)
        for name, accept in FORMATS.items():
            data, _ = exporter.answer(accept)
            begin = time.process_time()
            for _ in range(args.rounds):
                exporter.answer(accept)
            ms = (time.process_time() - begin) / args.rounds * 1000
            print(f'{name}: {ms:.1f} ms of a CPU, {len(data):,} bytes, six trackers, {args.groups} groups')


if __name__ == '__main__':
    main()
