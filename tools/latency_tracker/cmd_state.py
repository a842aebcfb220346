# SPDX-License-Identifier: GPL-2.0-only
"""list, status, set, start, stop."""
from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from latency_tracker import Error
from latency_tracker.machine import Machine
from latency_tracker.modules import Boot, is_module, load, unload
from latency_tracker.output import Json, Output
from latency_tracker.settings import apply, arguments, prepare, shown, split
from latency_tracker.state import KNOWN, OPTIONAL, PARTS, Tracker, chosen, loaded
from latency_tracker.units import human, size

# Losses: the counter, and what it means if it is not 0.
LOSSES = {
    'skipped': 'operations were not tracked, for want of a free event: raise max_events, or filter',
    'clock_back': 'times were wrong, since the clock went back',
    'unwatched': 'begins or ends came where RCU was not watching',
}
# Instructions of a begin with its end, with the profile (Documentation/overhead.md); and how many of
# them a CPU executes in a second, for a figure that is an estimate.
PAIR = {'wakeup': 330, 'offcpu': 330, 'syscalls': 330}
PAIR_OF_TABLE = 480
PER_SECOND = 3e9


def threshold(counters: dict[str, int]) -> str:
    """The one in force."""
    now = counters.get('threshold_now_ns', counters.get('threshold_ns', 0))
    return human(now) + (' (finds itself)' if counters.get('per_minute') else '')


def list_trackers(_args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """What there is, loaded or not."""
    names = list(dict.fromkeys([*KNOWN, *OPTIONAL, *PARTS, *(tracker.name for tracker in loaded(machine))]))
    rows, styles = [], []
    for name in names:
        tracker = Tracker(machine, name)
        counters = tracker.counters() if tracker.loaded else {}
        out.object('tracker', tracker=name, about=tracker.about, loaded=tracker.loaded, **counters)
        state = 'not loaded' if not tracker.loaded else 'on' if counters.get('tracking_on', 1) else 'off'
        # A part has neither.
        rows.append([name, state, threshold(counters) if 'late' in counters else '',
                     f'{counters["late"]:,}' if 'late' in counters else '', tracker.about])
        styles.append('' if tracker.loaded else 'dim')
    out.table(['tracker', 'state', '>late is', '>late', 'an operation is'], rows, styles)
    return 0


def cost(tracker: Tracker, operations: float) -> float:
    """Of one CPU, in percent, at so many operations per second: an estimate."""
    return operations * PAIR.get(tracker.name, PAIR_OF_TABLE) / PER_SECOND * 100


def status(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """Counters, losses, memory, rate."""
    trackers = chosen(machine, args.trackers)
    before = {tracker.name: tracker.number('started') for tracker in trackers}
    began = time.monotonic()
    time.sleep(args.seconds)
    rows, problems = [], []
    for tracker in trackers:
        counters = tracker.counters()
        seconds = time.monotonic() - began
        rate = (counters['started'] - before[tracker.name]) / seconds
        percent = cost(tracker, rate)
        lost = int(tracker.read('profile/lost'))
        out.object('status', tracker=tracker.name, per_second=round(rate, 1),
                   cpu_percent_estimate=round(percent, 3), records_lost=lost, **counters)
        rows.append([tracker.name, threshold(counters), f'{counters["started"]:,}', f'{rate:,.0f}/s',
                     f'{counters["late"]:,}', f'{counters["timeouts"]:,}', f'{counters["pending"]:,}',
                     f'{counters["skipped"]:,}', size(counters['memory_bytes']), f'{percent:.2f} %'])
        problems += [f'{tracker.name}: {counters[name]:,} {text}' for name, text in LOSSES.items()
                     if counters.get(name)]
        problems += [f'{tracker.name} is switched off (tracking_on)'] if not counters['tracking_on'] else []
        problems += [f'{tracker.name}: {lost:,} reports are missing in last and worst'] if lost else []
    out.table(['tracker', '>late is', '>tracked', '>rate', '>late', '>timed out', '>pending', '>skipped',
               '>memory', '>cost'], rows)
    for problem in problems:
        out.line(problem, 'yellow')
    out.line('cost: of one CPU, an estimate: rate x the instructions of a begin with its end.', 'dim')
    return 0


def _at_boot(machine: Machine, trackers: Sequence[Tracker], settings: dict[str, str]) -> None:
    """Load them with these settings."""
    boot = Boot(machine)
    for tracker in trackers:
        boot.set(tracker.name, settings)
    boot.write()


def set_settings(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """Without settings, show them."""
    names, settings = split(args.words)
    if not names and settings:
        raise Error('which tracker? "latency-tracker set block over=50ms", or "all"')
    trackers = chosen(machine, [] if names == ['all'] else names, with_parts=True)
    if settings:
        wanted = [(tracker, prepare(tracker, settings)) for tracker in trackers]
        apply(wanted)
        if args.boot:
            _at_boot(machine, trackers, settings)
    for tracker in trackers:
        for parameter in tracker.parameters():
            name, text = shown(parameter, tracker.get(parameter))
            if settings and parameter not in arguments(settings):
                continue
            fixed = not tracker.may_write(parameter)
            out.object('setting', tracker=tracker.name, name=name, value=text, parameter=parameter,
                       raw=tracker.get(parameter), fixed=fixed)
            out.line(f'{tracker.name} {name}={text}', 'dim' if fixed else '')
    return 0


def start(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """Load, and set. What works already is set only."""
    names, settings = split(args.words)
    trackers = [Tracker(machine, name) for name in names if name != 'all'] or \
        [Tracker(machine, name) for name in KNOWN]
    new = [tracker for tracker in trackers if not tracker.loaded]
    apply([(tracker, prepare(tracker, settings)) for tracker in trackers if tracker.loaded])
    done: list[Tracker] = []
    try:
        for tracker in new:
            load(tracker, settings)
            done.append(tracker)
    except Error:
        for tracker in done:
            unload(tracker)
        raise
    if args.boot:
        _at_boot(machine, trackers, settings)
    for tracker in trackers:
        counters = tracker.counters()
        values: dict[str, Json] = {'tracker': tracker.name, 'loaded_now': tracker in done,
                                   'boot': bool(args.boot), 'threshold_ns': counters.get('threshold_ns')}
        out.object('started', **values)
        what = f'it tells {tracker.about}' if tracker.name in PARTS else f'late is {threshold(counters)} or more'
        out.line(f'{tracker.name}: {"loaded" if tracker in done else "was loaded"}; {what}' +
                 ('; loaded at each boot' if args.boot else ''))
    return 0


def stop(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """Unload; the core as well, once nothing uses it."""
    trackers = [Tracker(machine, name) for name in args.trackers if name != 'all'] or \
        [Tracker(machine, name) for name in KNOWN]
    boot = Boot(machine)
    for tracker in trackers:
        there = is_module(machine, tracker.module)
        if there:
            unload(tracker)
        elif args.trackers and not args.boot and args.trackers != ['all']:
            raise Error(f'the tracker {tracker.name} is not loaded')
        if args.boot:
            boot.settings.pop(tracker.name, None)
        if there:
            out.object('stopped', tracker=tracker.name)
            out.line(f'{tracker.name}: unloaded')
    if args.boot:
        boot.write()
    core = '/sys/module/latency_tracker/holders'
    if machine.path(core).is_dir() and not any(machine.path(core).iterdir()):
        # modprobe -r takes it along, unless it was loaded by itself; then it may stay.
        machine.run(['modprobe', '-r', 'latency_tracker'])
    return 0
