# SPDX-License-Identifier: GPL-2.0-only
"""Wait for a crossing of a tracker's threshold or timeout, and act: keep the trace that
led to it.

It sleeps in poll(2) on /sys/kernel/latency_tracker/TRACKER/crossings. The first crossing
starts the actions; crossings during the cooldown belong to the same burst. Without an
action each burst is only printed. The order of the actions is fixed: snapshot of ftrace,
stop of ftrace, snapshot of LTTng, signal, command.

The environment of the command has the fields of the first event of the burst, in
capitals, with LT_ in front, such as LT_COMM, LT_PID, LT_DELAY (ns) and LT_FLAG, as far
as the event has them; and

  LT_TRACKER    the tracker
  LT_EVENT      name of the event; empty if it could not be read
  LT_CROSSINGS  crossings that started the actions: 1, or more in a storm
  LT_TIME       wall-clock time
  LT_SAYS       the event in words

If the module critical_path is loaded, the command gets what the operation was made of, too,
which is known a moment later; it is waited for, for a second at most, before the command runs:

  LT_PATH_CAUSE     what most of its time was, in words; empty if that is not known
  LT_PATH_CAUSE_NS  how long that was

A process chooses its comm, which may contain any character: quote it, and use it in no
file name, such as ../../etc. For that, each field but stacks has a variant with _SAFE
behind its name, such as LT_COMM_SAFE, of letters, digits, "_", "-" and "." only, the
last two not in front.

Exit status: 0 ended normally (a signal, --max), 1 an error, or an action that failed,
2 a crossing was seen, and --once was given.
"""
from __future__ import annotations

import argparse
import datetime
import os
import re
import select
import time
from collections.abc import Callable
from typing import NoReturn, TypeVar

from latency_tracker import Error
from latency_tracker.actions import Action, Command, FtraceSnapshot, Lttng, Signal, StopTracing, complain, tracefs
from latency_tracker.machine import Machine
from latency_tracker.on_path import Waiter, cause_of, waits_for
from latency_tracker.output import Output
from latency_tracker.records import Reader, Report
from latency_tracker.show import stack_of_call
from latency_tracker.signals import Signals
from latency_tracker.stacks import Symbols, kallsyms
from latency_tracker.state import STATE, Tracker, loaded
from latency_tracker.words import words

Number = TypeVar('Number', int, float)
# In the order of the kernel, linux/interrupt.h.
VECTORS = ('HI', 'TIMER', 'NET_TX', 'NET_RX', 'BLOCK', 'IRQ_POLL', 'TASKLET', 'SCHED', 'HRTIMER', 'RCU')


def safe(text: str) -> str:
    """For the name of a file, or of a part of it."""
    return re.sub(r'^(?=[.-]|$)', '_', re.sub(r'[^A-Za-z0-9_.-]', '_', text))


def printed(report: Report) -> dict[str, str]:
    """The fields of an event, as the event itself prints them: Documentation/ABI/trace-events."""
    found = {'delay': str(report.delay_ns), 'start': str(report.start_ns), 'flag': report.flag}
    for name, value in report.values.items():
        found[name] = ' <- '.join(value) if isinstance(value, list) else str(value)
        if isinstance(value, int) and name == 'dev':
            found[name] = f'{value >> 20},{value & 0xfffff}'
        elif isinstance(value, int) and name == 'protocol':
            found[name] = f'0x{value:04x}'
        elif name in ('handler', 'function'):
            found[name] = re.sub(r'\+0x[0-9a-f]+', '', str(value))
        elif name == 'vec':
            found['name'] = str(value)
            found[name] = str(VECTORS.index(str(value))) if value in VECTORS else str(value)
    return found


class Crossings:
    """Of a tracker: how many there were, and the reports of the last ones. It touches no trace buffer."""

    def __init__(self, machine: Machine, name: str, events: list[str]) -> None:
        self.tracker, self.events, self.lost = Tracker(machine, name), events, 0
        try:
            self.fd = os.open(machine.path(f'{self.tracker.state}/crossings'), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            if self.tracker.loaded:
                raise Error(f'{name} has no file "crossings": its core is an older one') from None
            there = ' '.join(sorted(other.name for other in loaded(machine)))
            raise Error(f'there is no tracker "{name}": modprobe latency_tracker_{name}'
                        f' (loaded: {there or "none"})') from None
        self.reader = Reader(self.tracker, 'last', Symbols(kallsyms))
        if self.tracker.number('profile/on') != 1:
            complain(f'warning: the profile of {name} is off, and so nothing is known of its events: '
                     f'latency-tracker set {name} profile=on')
        # Reports of crossings before the first count are not counted.
        self.before = self.count()
        self.newest = max((report.nr for report in self.reader.last()), default=0)
        self.queue: list[Report] = []

    def count(self) -> int:
        """All that there ever were."""
        try:
            return int(os.pread(self.fd, 32, 0))
        except OSError:
            raise Error(f'{self.tracker.name} is gone: its module was unloaded') from None

    def new(self) -> tuple[int, list[Report]]:
        """How many there are since the last look, and their reports, as far as they were not overwritten.
        Each comes before its crossing is counted."""
        now = self.count()
        number, self.before = now - self.before, now
        if not number:
            return 0, []
        found = self.reader.last(self.newest)
        if found:
            self.lost += found[-1].nr - self.newest - len(found)
            self.newest = found[-1].nr
        self.queue += [report for report in found if report.flag != 'collected' and not report.asked and
                       (not self.events or report.event in self.events)]
        # More may have been lost than there are places: then the queue is of the last ones.
        taken, self.queue = self.queue[:number], self.queue[number:]
        return number, taken

    def close(self) -> None:
        """No more."""
        self.reader.close()
        os.close(self.fd)


class Options:
    """What the command line says."""
    tracker: str
    json: bool
    once: bool
    max: int | None
    cooldown: float
    delay_over: int | None
    event: list[str] | None
    instance: str | None
    ftrace_snapshot: bool
    stop_tracing: bool
    lttng_snapshot: str | None
    signal: Signal | None
    command: list[str] | None


class Run:
    """Counts what comes, and acts on it."""

    def __init__(self, args: Options, actions: list[Action], crossings: Crossings, machine: Machine,
                 signals: Signals) -> None:
        self.args, self.actions, self.signals = args, actions, signals
        self.waiter = waiter_of(args, machine)
        self.crossings, self.machine, self.out = crossings, machine, Output(args.json)
        self.seen = self.acted_on = self.cooled = self.passed = 0
        self.acts = self.failures = 0
        self.quiet_until = 0.0

    def go(self) -> int:
        """Returns the exit status."""
        while self.signals.wait_for(self.crossings.fd, select.POLLPRI | select.POLLERR):
            number, reports = self.crossings.new()
            if not number:
                continue
            self.crossed(number, reports)
            if self.acts and self.args.once:
                return 1 if self.failures else 2
            if self.args.max and self.acts >= self.args.max:
                break
        return 1 if self.failures else 0

    def crossed(self, number: int, reports: list[Report]) -> None:
        """So many are new."""
        self.seen += number
        if time.monotonic() < self.quiet_until:
            self.cooled += number
            return
        if self.args.delay_over:
            reports = [report for report in reports if report.delay_ns >= self.args.delay_over * 1000]
            if not reports:
                self.passed += number
                return
        self.acted_on += number
        self.act(number, reports[0] if reports else None)
        self.quiet_until = time.monotonic() + self.args.cooldown

    def environment(self, number: int, report: Report | None, says: str, now: str) -> dict[str, str]:
        """Of the command."""
        env = {'LT_TRACKER': self.crossings.tracker.name, 'LT_CROSSINGS': str(number), 'LT_TIME': now,
               'LT_EVENT': report.event if report else '', 'LT_SAYS': says}
        for name, value in printed(report).items() if report else ():
            # What no variable can have.
            env['LT_' + name.upper()] = value.replace('\0', '')
            if not name.endswith('stack'):
                env[f'LT_{name.upper()}_SAFE'] = safe(value)
        return env

    def path_of(self, report: Report | None) -> dict[str, str]:
        """More of the environment. The trace is kept by then."""
        if not self.waiter:
            return {}
        says, ns = cause_of(self.waiter.wait(report, self.signals) if report else None)
        return {'LT_PATH_CAUSE': says.replace('\0', ''), 'LT_PATH_CAUSE_SAFE': safe(says), 'LT_PATH_CAUSE_NS': ns}

    def act(self, number: int, report: Report | None) -> None:
        """All actions, and a line."""
        now = datetime.datetime.now().astimezone().isoformat(timespec='milliseconds')
        says = words(report, stack_of_call(self.machine, report)).text if report else ''
        env = self.environment(number, report, says, now)
        done = []
        for action in self.actions:
            try:
                if isinstance(action, Command):
                    env.update(self.path_of(report))
                done.append(action.run(env, self.signals))
            except (Error, OSError) as error:
                self.failures += 1
                complain(f'failed: {error}')
                done.append('an action failed')
        self.acts += 1
        # The stacks are in the trace.
        what = ', '.join(f'{name}={value}' for name, value in printed(report).items()
                         if not name.endswith('stack')) if report else ''
        event = f'{report.event}: {what}' if report else 'its event could not be read'
        self.out.line(f'{now} {env["LT_TRACKER"]}: {number} crossing{"s" * (number > 1)}; {event};'
                      f' {", ".join(done) or "no action"}')
        self.out.object('burst', tracker=env['LT_TRACKER'], time=now, crossings=number, event=env['LT_EVENT'], says=says,
                        fields={**printed(report)} if report else {}, actions=[*done])

    def tell(self) -> None:
        """What it has come to."""
        name, lost = self.crossings.tracker.name, self.crossings.lost
        text = (f'{name}: {self.seen} crossings seen: {self.acted_on} acted on in'
                f' {self.acts} bursts, {self.cooled} during a cooldown')
        if self.args.delay_over:
            text += f', {self.passed} without a delay of {self.args.delay_over} us'
        self.out.line(f'{text}; {lost} events lost')
        self.out.object('bursts', tracker=name, seen=self.seen, acted_on=self.acted_on, acts=self.acts, cooled=self.cooled,
                        passed=self.passed, lost=lost)


def at_least(least: int, what: Callable[[str], Number]) -> Callable[[str], Number]:
    """A type of an option."""
    def number(text: str) -> Number:
        value = what(text)
        if not least <= value < 1e9:
            raise argparse.ArgumentTypeError(f'{text} is not between {least} and 1e9')
        return value
    return number


class Parser(argparse.ArgumentParser):
    """With the exit status 1: 2 says that a crossing was seen."""

    def error(self, message: str) -> NoReturn:
        """To standard error."""
        self.exit(1, f'on-latency: {message}: see --help\n')


def make_parser() -> Parser:
    """Of all options."""
    parser = Parser(
        prog='on-latency', description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage='on-latency [OPTION...] TRACKER [ACTION...] [-- COMMAND...]', allow_abbrev=False)
    add = parser.add_argument
    add('tracker', metavar='TRACKER', help='a directory of ' + STATE)
    add('--json', action='store_true', help='an object per line, as "latency-tracker schema" says')
    add('--once', action='store_true', help='end after the first burst, with status 2')
    add('--max', type=at_least(1, int), metavar='N', help='end after N bursts')
    add('--cooldown', type=at_least(0, float), default=60, metavar='SECONDS',
        help='after an action, count crossings but do not act for so long (60)')
    add('--delay-over', type=at_least(1, int), metavar='USEC',
        help='act only on an event with a delay of so many microseconds or more')
    add('--event', action='append', metavar='NAME',
        help='of a tracker with several events: only this one tells of a crossing')
    add('--instance', metavar='NAME',
        help='the instance of ftrace that the next two act on (the one at the top)')
    add('--ftrace-snapshot', action='store_true', help='swap the trace into the file snapshot')
    add('--stop-tracing', action='store_true', help='stop ftrace: tracing_on becomes 0')
    add('--lttng-snapshot', nargs='?', const='', metavar='SESSION',
        help='lttng snapshot record, in the current session or in SESSION')
    add('--signal', type=Signal, metavar='SIGNAL:PID', help='send a signal, such as USR1:1234')
    return parser


def parse(argv: list[str]) -> Options:
    """Error: what is wrong is told, and the program ends."""
    command = None
    if '--' in argv:
        at = argv.index('--')
        argv, command = argv[:at], argv[at + 1:]
    parser = make_parser()
    args = parser.parse_args(argv, Options())
    if '/' in args.tracker or args.tracker.startswith('.'):
        parser.error(f'"{args.tracker}" is no name of a tracker')
    if command is not None and not command:
        parser.error('there is no command behind --')
    args.command = command
    return args


def wanted(args: Options, machine: Machine) -> list[Action]:
    """Their order is fixed."""
    found: list[Action] = []
    ftrace = tracefs(machine) if args.ftrace_snapshot or args.stop_tracing else ''
    if args.instance and ftrace:
        ftrace += '/instances/' + args.instance
        if not machine.path(ftrace).is_dir():
            raise Error(f'there is no {ftrace}: mkdir it, and enable events in it')
    if args.ftrace_snapshot:
        found.append(FtraceSnapshot(machine, ftrace))
    if args.stop_tracing:
        found.append(StopTracing(machine, ftrace))
    if args.lttng_snapshot is not None:
        found.append(Lttng(args.lttng_snapshot))
    if args.signal:
        found.append(args.signal)
    if args.command:
        found.append(Command(args.command))
    return found


def waiter_of(args: Options, machine: Machine) -> Waiter | None:
    """If there is a command, and its operations get a path."""
    if not args.command or not waits_for(machine, args.tracker):
        return None
    try:
        return Waiter(machine)
    except Error as error:
        complain(f'warning: what an operation was made of is not known: {error}')
        return None


def _on(args: Options, machine: Machine) -> int:
    signals = Signals()
    crossings = Crossings(machine, args.tracker, args.event or [])
    actions = wanted(args, machine)
    for action in actions:
        action.check()
    run = Run(args, actions, crossings, machine, signals)
    try:
        return run.go()
    finally:
        if run.waiter:
            run.waiter.close()
        crossings.close()
        signals.close()
        run.tell()


def on(argv: list[str], machine: Machine) -> int:
    """The exit status."""
    try:
        return _on(parse(argv), machine)
    except Error as error:
        complain(str(error))
    return 1
