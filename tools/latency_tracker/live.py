# SPDX-License-Identifier: GPL-2.0-only
"""The command without a subcommand: who waits for what, right now."""
from __future__ import annotations

import argparse
import sys
import time

from latency_tracker.borrow import Borrowed
from latency_tracker.cmd_reports import Filter, Listener, follow, tell_missed
from latency_tracker.machine import Machine
from latency_tracker.output import Output
from latency_tracker.profile import windows
from latency_tracker.show import Shower, Summary
from latency_tracker.signals import Signals
from latency_tracker.state import KNOWN, Tracker, loaded
from latency_tracker.units import NEVER_NS, human

# Seconds of the profile that the first thresholds are taken from.
PROFILE_SECONDS = 2.5
PER_MINUTE = 20


def first_threshold_ns(tracker: Tracker) -> int:
    """By what it has seen so far: that of PER_MINUTE operations in a minute, as far as so short a time
    tells, but at least what is ever worth a report."""
    of = windows(tracker)['total']
    wanted = PER_MINUTE * PROFILE_SECONDS / 60
    share = 1 - min(wanted / of.count, 1) if of.count else 1
    return max(of.quantile_ns(share), KNOWN[tracker.name].floor_ns)


def _usec(ns: int) -> str:
    return str(-(-ns // 1000))


class Live:
    """Trackers that were not loaded are tuned; those of the user are listened to as they are."""

    def __init__(self, machine: Machine, out: Output, signals: Signals) -> None:
        self.machine, self.out, self.signals = machine, out, signals
        self.borrowed = Borrowed(machine)

    def begin(self) -> None:
        """Load, look at the profile, set thresholds."""
        out = self.out
        known = [Tracker(self.machine, name) for name in KNOWN]
        out.line('loading the trackers ...', 'dim')
        new = self.borrowed.load(known, {'over': 'never'})
        for text in self.borrowed.failed:
            out.line(f'left out: {text}', 'yellow')
        if new:
            out.line(f'looking at what is usual for {PROFILE_SECONDS:g} s ...', 'dim')
            self.signals.wait(PROFILE_SECONDS)
        for tracker in loaded(self.machine):
            if tracker.name in {other.name for other in new}:
                self._tune(tracker)
            else:
                out.line(f'{tracker.name} was loaded: its settings stay as they are', 'dim')

    def _tune(self, tracker: Tracker) -> None:
        first_ns = first_threshold_ns(tracker)
        if tracker.name == 'syscalls':
            # Most that are late wait for a peer, and nothing tells these from others. Those that wait
            # for a disk are told by offcpu and block.
            tracker.set('calls', tracker.get('calls') + ',!read,!readv')
        tracker.set('usec_threshold', _usec(first_ns))
        if 'usec_threshold_raise' in tracker.parameters():
            tracker.set('usec_threshold_raise', _usec(first_ns))
        if KNOWN[tracker.name].stuck_ns:
            tracker.set('usec_timeout', _usec(max(KNOWN[tracker.name].stuck_ns, first_ns)))
        # The first threshold holds until the tracker has a better one, at its next sum.
        tracker.set('per_minute', str(PER_MINUTE))
        tracker.set('usec_threshold', _usec(KNOWN[tracker.name].floor_ns))

    def tell(self) -> None:
        """The thresholds in force."""
        parts = []
        for tracker in loaded(self.machine):
            now = tracker.number('threshold_now_ns')
            parts.append(f'{tracker.name} {human(now) if now < NEVER_NS - 1000 else "never"}')
            self.out.object('threshold', tracker=tracker.name, threshold_ns=now)
        self.out.line('late is now: ' + ', '.join(parts), 'dim')


def live(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """Until Ctrl-C, or for so many seconds; everything is as it was then."""
    signals = Signals()
    view = Live(machine, out, signals)
    summary = Summary()
    listener = None
    try:
        view.begin()
        view.tell()
        listener = Listener(machine, loaded(machine), signals)
        until = time.monotonic() + (args.seconds or 1e9)
        out.line('late operations, as they come; Ctrl-C ends it', 'dim')
        out.line()
        follow(listener, Shower(machine, out, args.stack), summary, Filter(args, machine).passes, until,
               args.max or -1)
        out.line()
        view.tell()
    finally:
        # Nothing is printed before this: that the reader is gone must not keep it from being done.
        if listener:
            listener.close()
        failed = view.borrowed.give_back()
        signals.close()
        for text in failed:
            print(f'latency-tracker: left behind: {text}', file=sys.stderr)
    tell_missed(listener.missed, out)
    summary.table(out)
    if not summary.sums:
        out.line('nothing was late')
    return 1 if failed else 0
