# SPDX-License-Identifier: GPL-2.0-only
"""How a report looks: a paragraph, or a JSON object; and what many of them have in common."""
from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from latency_tracker import Error
from latency_tracker.cgroups import Cgroups
from latency_tracker.machine import Machine
from latency_tracker.output import Json, Output, printable
from latency_tracker.records import Report
from latency_tracker.stacks import Stack, in_short, plain
from latency_tracker.units import human
from latency_tracker.words import Words, stacks, words

INDENT = 14


def wall_time(machine: Machine, at_ns: int) -> datetime.datetime:
    """Of a moment of CLOCK_MONOTONIC, in local time."""
    since_1970 = machine.wall_ns() - machine.monotonic_ns() + at_ns
    return datetime.datetime.fromtimestamp(since_1970 / 1e9).astimezone()


def in_line(stack: Stack, frames: int) -> str:
    """The innermost frames that say something, and how many more there are."""
    shown = in_short(stack)
    more = len(shown) - frames
    return ' <- '.join(plain(frame) for frame in shown[:frames]) + (f' <- {more} more' if more > 0 else '')


class Shower:
    """Shows reports; frames is how long a stack may get, 0 for none."""

    def __init__(self, machine: Machine, out: Output, frames: int = 6) -> None:
        self.machine, self.out, self.frames = machine, out, frames
        self.cgroups = Cgroups(machine)
        self.host = machine.hostname()

    def show(self, report: Report, of: Words | None = None, with_time: bool = True) -> None:
        """One. Without its time if it is of another boot."""
        of = of or words(report)
        when = wall_time(self.machine, report.at_ns)
        cgroup = report.cgroup or self.cgroups.path(report.number('cgroup_id'))
        if self.out.as_json:
            values: dict[str, Json] = {name: list(value) if isinstance(value, list) else value
                                       for name, value in report.values.items()}
            self.out.object('report', tracker=report.tracker, event=report.event,
                            time=when.isoformat(timespec='microseconds'), at_ns=report.at_ns,
                            start_ns=report.start_ns, delay_ns=report.delay_ns, flag=report.flag,
                            window=report.window, rank=report.rank, nr=report.nr, host=self.host, who=of.who,
                            what=of.what, says=of.text, idle=of.idle, cgroup=cgroup, details=[*of.details],
                            fields=values)
            return
        stamp = when.strftime('%H:%M:%S.') + f'{when.microsecond // 1000:03}'
        self.out.raw((self.out.style(stamp, 'bold') + '  ' if with_time else '') + self._head(report, of))
        for detail in of.details:
            self.out.line(detail, indent=INDENT)
        if cgroup not in ('/', '-', '?'):
            self.out.line(f'in the control group {cgroup}', indent=INDENT)
        for title, stack in stacks(report) if self.frames else ():
            self._stack(title, stack)

    def _head(self, report: Report, of: Words) -> str:
        mark = ('dim' if of.idle else 'yellow' if report.flag == 'pending' else
                'red' if report.flag == 'collected' else '')
        return (self.out.style(f'{report.tracker:9}', 'cyan') + ' ' +
                self.out.style(printable(of.text), mark))

    def _stack(self, title: str, stack: list[str]) -> None:
        self.out.line(f'{title}: {in_line(stack, self.frames)}', 'dim', indent=INDENT)


@dataclass
class Sum:
    """Of alike reports; times in ns."""
    count: int = 0
    total_ns: int = 0
    worst_ns: int = 0
    pending: int = 0
    idle: bool = False


@dataclass
class Told:
    """An operation that was reported while it was pending: the key of its sum, and how much is in it."""
    key: tuple[str, str, str]
    delay_ns: int


class Summary:
    """Counts alike operations, by tracker, who and what. An operation that is reported while it is
    pending and again at its end counts once."""

    def __init__(self) -> None:
        self.sums: dict[tuple[str, str, str], Sum] = {}
        self.told: dict[tuple[str, str, str, int], Told] = {}

    def add(self, report: Report, of: Words) -> None:
        """One report."""
        # Of marks of a thread that are within each other, several may begin at once, by a clock that is coarse.
        operation = report.event, str(report.values.get('pid', of.who)), report.text('mark'), report.start_ns
        told = self.told.pop(operation, None)
        # What was said while it was pending knows more of what it waited for.
        key = told.key if told else (report.tracker, of.who, of.what)
        found = self.sums.setdefault(key, Sum(idle=of.idle))
        found.count += not told
        found.pending += (report.flag == 'pending') - bool(told)
        found.total_ns += report.delay_ns - (told.delay_ns if told else 0)
        found.worst_ns = max(found.worst_ns, report.delay_ns)
        if report.flag == 'pending':
            self.told[operation] = Told(key, report.delay_ns)

    def ordered(self) -> list[tuple[tuple[str, str, str], Sum]]:
        """The heaviest first; what waits for something to do comes last."""
        return sorted(self.sums.items(), key=lambda entry: (entry[1].idle, -entry[1].total_ns))

    def table(self, out: Output, most: int = 15) -> None:
        """For people, or as objects."""
        order = self.ordered()
        for (tracker, who, what), found in order:
            out.object('summary', tracker=tracker, who=who, what=what, count=found.count,
                       total_ns=found.total_ns, worst_ns=found.worst_ns, pending=found.pending,
                       idle=found.idle)
        rows = [[tracker, who, what, f'{found.count:,}', human(found.worst_ns), human(found.total_ns)]
                for (tracker, who, what), found in order[:most]]
        if rows:
            out.table(['tracker', 'who', 'what', '>late', '>worst', '>in all'], rows,
                      ['dim' if found.idle else '' for _, found in order[:most]])
        if len(order) > most:
            out.line(f'and {len(order) - most} more kinds')


def stack_of_call(machine: Machine, report: Report) -> list[str]:
    """Where the task of a pending system call is blocked at this moment; empty if it is in another call
    by now, or runs, or is not to be known."""
    if report.event != 'syscall_latency' or report.flag != 'pending':
        return []
    task = f'/proc/{report.number("pid")}'
    try:
        before = machine.read(f'{task}/syscall').split()
        lines = machine.read(f'{task}/stack').splitlines()
        if before != machine.read(f'{task}/syscall').split() or \
                before[:1] != [str(report.number('nr'))]:
            return []
    except (OSError, Error):
        return []
    return [line.split('] ', 1)[-1] for line in lines]


def show_all(shower: Shower, reports: Iterable[Report]) -> int:
    """In their order; returns how many there were."""
    count = 0
    for report in reports:
        shower.show(report)
        count += 1
    return count
