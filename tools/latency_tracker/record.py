# SPDX-License-Identifier: GPL-2.0-only
"""record: late operations to a file, for "report"; for a time, or while a command runs."""
from __future__ import annotations

import argparse
import gzip
import io
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

from latency_tracker import Error, version
from latency_tracker.cmd_reports import Filter, Listener, follow, tell_missed
from latency_tracker.machine import Machine
from latency_tracker.output import Output
from latency_tracker.show import Shower, Summary, wall_time
from latency_tracker.signals import Signals
from latency_tracker.state import chosen

# After the command has ended: what was late with it is reported by then.
SETTLE_SECONDS = 0.5
STEP_SECONDS = 0.2


class File:
    """NDJSON, compressed if its name ends in .gz. What a killed program had not written yet is missing."""

    def __init__(self, name: str) -> None:
        try:
            self.raw = open(name, 'wb')  # pylint: disable=consider-using-with
        except OSError as error:
            raise Error(f'{name} cannot be written: {error.strerror}') from None
        packed = name.endswith('.gz')
        stream: object = gzip.GzipFile(fileobj=self.raw, mode='wb', compresslevel=3) if packed else self.raw
        self.text = io.TextIOWrapper(cast(IO[bytes], stream), encoding='utf-8', write_through=not packed)

    def close(self) -> None:
        """All is written."""
        self.text.close()
        self.raw.close()


class Lines(Output):
    """Objects to a file; it is not flushed for each of them, which would keep it from being compressed."""

    def raw(self, text: str = '') -> None:
        self.stream.write(text + '\n')


def start(words: list[str]) -> subprocess.Popen[bytes] | None:
    """A command, if one is wanted."""
    if not words:
        return None
    try:
        return subprocess.Popen(words)  # pylint: disable=consider-using-with
    except OSError as error:
        raise Error(f'{words[0]}: {error.strerror}') from None


def drain(listener: Listener, to: Output, summary: Summary, passes: Filter, ended: Callable[[], bool],
          until: float) -> None:
    """Until it has ended, a moment has come, or a signal."""
    shower = Shower(listener.machine, to)
    while not ended() and time.monotonic() < until and not listener.signals.caught:
        follow(listener, shower, summary, passes.passes, min(time.monotonic() + STEP_SECONDS, until), -1)


def record(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """The exit status is 1 if the command failed."""
    trackers = chosen(machine, args.trackers)
    file = File(args.output)
    to, summary, signals = Lines(as_json=True, stream=file.text), Summary(), Signals()
    to.object('recording', version=version(), kernel=machine.read('/proc/sys/kernel/osrelease').strip(),
              time=wall_time(machine, machine.monotonic_ns()).isoformat(timespec='microseconds'),
              command=list(args.command), trackers=[tracker.name for tracker in trackers])
    listener = Listener(machine, trackers, signals)
    status = 0
    try:
        child = start(args.command)
        until = time.monotonic() + (args.seconds or 1e9)
        drain(listener, to, summary, Filter(args, machine), lambda: child is not None and child.poll() is not None, until)
        if child:
            if child.poll() is None:
                child.terminate()
            status = child.wait()
            drain(listener, to, summary, Filter(args, machine), lambda: False, time.monotonic() + SETTLE_SECONDS)
        tell_missed(listener, to)
    finally:
        listener.close()
        file.close()
        signals.close()
    summary.table(out)
    tell_missed(listener, out)
    count = sum(of.count for of in summary.sums.values())
    out.line(f'{count:,} late operations in {args.output}: latency-tracker report {args.output}')
    if status:
        print(f'latency-tracker: {args.command[0]} ended with status {status}', file=sys.stderr)
    return 1 if status else 0


def default_name(prefix: str = 'latency-tracker') -> str:
    """One that is not there yet."""
    stamp = time.strftime('%Y%m%d-%H%M%S')
    name, number = f'{prefix}-{stamp}.json.gz', 1
    while Path(name).exists():
        name, number = f'{prefix}-{stamp}-{number}.json.gz', number + 1
    return name
