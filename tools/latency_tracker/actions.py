# SPDX-License-Identifier: GPL-2.0-only
"""What a crossing starts: see on.py."""
from __future__ import annotations

import argparse
import os
import re
import select
import signal
import subprocess
import sys

from latency_tracker import Error
from latency_tracker.machine import Machine
from latency_tracker.signals import Signals

# Seconds that a command has to end by itself when we do.
PATIENCE = 5


def complain(text: str) -> None:
    """To standard error, at once."""
    print(f'on-latency: {text}', file=sys.stderr, flush=True)


class Action:
    """What a crossing starts."""

    def check(self) -> None:
        """Before anything is waited for: whether it will work."""

    def run(self, env: dict[str, str], signals: Signals) -> str:
        """Tells what it did."""
        raise NotImplementedError


def tracefs(machine: Machine) -> str:
    """Where it is mounted."""
    for path in '/sys/kernel/tracing', '/sys/kernel/debug/tracing':
        if machine.path(path + '/trace').exists():
            return path
    raise Error('no tracefs: mount -t tracefs nodev /sys/kernel/tracing')


def _warn_if_idle(machine: Machine, ftrace: str) -> None:
    if machine.read(f'{ftrace}/tracing_on').strip() == '0':
        complain(f'warning: {ftrace}/tracing_on is 0: nothing will be recorded')
    elif not machine.read(f'{ftrace}/set_event') and machine.read(f'{ftrace}/current_tracer').strip() == 'nop':
        complain(f'warning: nothing is being recorded in {ftrace}: echo 1 >'
                 f' {ftrace}/events/sched/sched_switch/enable')


class FtraceSnapshot(Action):
    """The trace is swapped into the file snapshot."""

    def __init__(self, machine: Machine, ftrace: str) -> None:
        self.machine, self.ftrace = machine, ftrace

    def check(self) -> None:
        """The buffer is there."""
        path = f'{self.ftrace}/snapshot'
        if not self.machine.path(path).exists():
            raise Error('this kernel takes no snapshots: it needs CONFIG_TRACER_SNAPSHOT')
        # Not at the crossing: that takes time, and may fail.
        with open(self.machine.path(path), encoding='utf-8', errors='replace') as file:
            is_freed = 'Snapshot is freed' in file.read(4096)
        if is_freed:
            self.machine.write(path, '1')
        _warn_if_idle(self.machine, self.ftrace)

    def run(self, env: dict[str, str], signals: Signals) -> str:
        """As in Action."""
        self.machine.write(f'{self.ftrace}/snapshot', '1')
        return f'snapshot in {self.ftrace}/snapshot'


class StopTracing(Action):
    """tracing_on becomes 0."""

    def __init__(self, machine: Machine, ftrace: str) -> None:
        self.machine, self.ftrace = machine, ftrace

    def check(self) -> None:
        """Something is being recorded."""
        _warn_if_idle(self.machine, self.ftrace)

    def run(self, env: dict[str, str], signals: Signals) -> str:
        """As in Action."""
        self.machine.write(f'{self.ftrace}/tracing_on', '0')
        return f'{self.ftrace} stopped'


class Lttng(Action):
    """A snapshot of a session of LTTng."""

    def __init__(self, session: str) -> None:
        self.session = ['-s', session] if session else []

    def _call(self, *words: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(['lttng', *words, *self.session], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                                  errors='replace')
        except FileNotFoundError:
            raise Error('there is no program lttng: install lttng-tools') from None

    def check(self) -> None:
        """The session is there."""
        done = self._call('snapshot', 'list-output')
        if done.returncode:
            raise Error('no snapshot session: lttng create --snapshot; lttng enable-event -k'
                        f' "sched_*"; lttng start. lttng says: {done.stdout.strip()}')

    def run(self, env: dict[str, str], signals: Signals) -> str:
        """As in Action."""
        done = self._call('snapshot', 'record')
        if done.returncode:
            raise Error(f'lttng snapshot record: {done.stdout.strip()}')
        return 'LTTng snapshot'


class Signal(Action):
    """SIGNAL:PID is sent."""

    def __init__(self, text: str) -> None:
        name, _, pid = text.partition(':')
        try:
            self.number = (signal.Signals(int(name)) if name.isdigit() else
                           signal.Signals['SIG' + name.upper().replace('SIG', '', 1)])
        except (KeyError, ValueError):
            raise argparse.ArgumentTypeError(f'there is no signal "{name}"') from None
        if not re.fullmatch('[1-9][0-9]{0,8}', pid):
            raise argparse.ArgumentTypeError(f'"{text}" is not SIGNAL:PID')
        self.pid = int(pid)

    def _send(self, number: int) -> None:
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            raise Error(f'there is no process {self.pid}') from None

    def check(self) -> None:
        """The process is there."""
        self._send(0)

    def run(self, env: dict[str, str], signals: Signals) -> str:
        """As in Action."""
        self._send(self.number)
        return f'{self.number.name} sent to {self.pid}'


class Command(Action):
    """A program is run to its end."""

    def __init__(self, words: list[str]) -> None:
        self.words = words

    def run(self, env: dict[str, str], signals: Signals) -> str:
        """As in Action."""
        try:
            child = subprocess.Popen(self.words, stdin=subprocess.DEVNULL,
                                     env={**os.environ, **env})
        except OSError as error:
            raise Error(f'{self.words[0]}: {error.strerror}') from None
        pidfd = os.pidfd_open(child.pid)
        try:
            if not signals.wait_for(pidfd, select.POLLIN):
                child.terminate()
        finally:
            os.close(pidfd)
        try:
            status = child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            status = child.wait()
        if signals.caught:
            return f'{self.words[0]} was ended, because of {signal.Signals(signals.caught).name}'
        if status:
            raise Error(f'{self.words[0]} ended with status {status}')
        return f'{self.words[0]} has run'
