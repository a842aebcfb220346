#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Whether "latency-tracker record" keeps up: pages of a trace buffer come at a rate, as long as there is room in
1 MiB, and the recording has all of their events, or not. record has one CPU, what feeds it another one."""
from __future__ import annotations

import argparse
import fcntl
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from command.fake import NOW_NS, TRACING, Fake, trace_page
from command.test_record import CALL, STACK, call, sample
from latency_tracker.main import main

BUFFER = 1 << 20
PER_PAGE = 12


def feed(machine: Fake, rate: int, seconds: float, parent: int) -> int:
    """Calls with a stack each; returns how many had no room. Then it ends the recording."""
    while not (found := [path for path in machine.path(f'{TRACING}/instances').glob('*/events/*/syscall_latency_stack/enable')
                         if path.read_text()[0] == '1']):
        time.sleep(0.01)
    fd = os.open(found[0].parents[3] / 'per_cpu/cpu0/trace_pipe_raw', os.O_WRONLY | os.O_NONBLOCK)
    fcntl.fcntl(fd, 1031, BUFFER)    # F_SETPIPE_SZ
    stack = [0x1000 + i * 16 for i in range(12)]
    lost, begin = 0, time.monotonic()
    for number in range(int(rate * seconds / PER_PAGE)):
        page = trace_page(NOW_NS + number * 1000, *(
            event for i in range(PER_PAGE // 2) for event in ((1, sample(9, *stack)), (1, call(10**7 + i)))))
        late = begin + number * PER_PAGE / rate - time.monotonic()
        if late > 0:
            time.sleep(late)
        try:
            os.write(fd, page)
        except BlockingIOError:
            lost += PER_PAGE
    took = time.monotonic() - begin
    os.kill(parent, signal.SIGINT)
    os.close(fd)
    print(f'{rate * seconds:.0f} events in {took:.1f} s', file=sys.stderr)
    return lost


def run() -> None:
    """A line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rate', type=int, default=20000, help='events per second (20000)')
    parser.add_argument('--seconds', type=int, default=20)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        machine = Fake(Path(directory) / 'machine')
        machine.tracker('syscalls')
        machine.tracefs(CALL, STACK, cpus=1)
        machine.put('/proc/sys/kernel/osrelease', '6.1.0\n')
        parent, child = os.getpid(), os.fork()
        if not child:
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
            lost = feed(machine, args.rate, args.seconds, parent)
            (Path(directory) / 'lost').write_text(str(lost))
            os._exit(0)
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        begin, cpu = time.monotonic(), time.process_time()
        main(['record', '-o', f'{directory}/out.json'], machine)
        os.waitpid(child, 0)
        with open(f'{directory}/out.json', encoding='utf-8') as file:
            reports = sum(json.loads(line)['type'] == 'report' for line in file)
        lost = int((Path(directory) / 'lost').read_text())
        print(f'{args.rate} events/s for {args.seconds} s, half of them stacks: {lost} lost, {reports} reports; '
              f'all was written after {time.monotonic() - begin:.1f} s, {time.process_time() - cpu:.1f} s of a CPU')


if __name__ == '__main__':
    run()
