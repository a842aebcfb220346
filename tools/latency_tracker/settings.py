# SPDX-License-Identifier: GPL-2.0-only
"""Settings of trackers by names and units that people use, for the parameters of the modules:
Documentation/ABI/module-parameters."""
from __future__ import annotations

from collections.abc import Sequence

from latency_tracker import Error
from latency_tracker.state import Tracker
from latency_tracker.units import NEVER_NS, exact, parse_time

# Of these, the module takes microseconds.
TIMES = {'over': 'usec_threshold', 'raise-over': 'usec_threshold_raise', 'pending': 'usec_timeout'}
ALIASES = {**TIMES, 'per-minute': 'per_minute', 'process': 'tgid'}
OFF_IS_0 = ('usec_timeout', 'per_minute')
NEVER_USEC = NEVER_NS // 1000
SWITCHES = frozenset(('profile', 'groups', 'kthreads', 'waker_irq', 'preempted', 'bios', 'egress',
                      'interrupt_isolated'))
YES_NO = {'on': 'Y', 'yes': 'Y', '1': 'Y', 'off': 'N', 'no': 'N', '0': 'N'}

HELP = '''\
settings, as NAME=VALUE; what a tracker does not have is refused:
  over=50ms           late is what takes at least so long; "never"
  per-minute=60       over finds itself, so that so many are late per minute; "off"
  pending=2s          report what has not ended after so long; "off"
  raise-over=10ms     irq: soft interrupts, from raise to run
  thresholds=LIST     of groups, such as fsync:20ms,sda:50ms,/system.slice:5ms; empty: none
  pid= process= cgroup= dev= calls= states= irq= vector= cpu= protocol=
                      only these; empty: all
  groups=on           count the delays by groups; profile=off: count none
  action=snapshot     what the kernel does with its own trace at a crossing: none, traceoff
and all other parameters of the modules, by their names.'''


def parameter_of(name: str) -> str:
    """The parameter that a name stands for."""
    return ALIASES.get(name, name.replace('-', '_'))


def value_of(name: str, text: str) -> str:
    """What the module takes for it."""
    parameter = parameter_of(name)
    if name == 'pending' and text == 'never' or parameter in OFF_IS_0 and text == 'off':
        return '0'
    if name in TIMES:
        ns = parse_time(text)
        if ns == NEVER_NS:
            return str(NEVER_USEC)
        if ns % 1000:
            raise Error(f'{name}={text}: whole microseconds only')
        return str(ns // 1000)
    return YES_NO.get(text, text) if parameter in SWITCHES else text


def arguments(settings: dict[str, str]) -> dict[str, str]:
    """By the names of parameters, as modprobe takes them."""
    return {parameter_of(name): value_of(name, text) for name, text in settings.items()}


def shown(parameter: str, text: str) -> tuple[str, str]:
    """A parameter and its value as a person would write them, so that "set" takes them."""
    names = {parameter: name for name, parameter in ALIASES.items()}
    name = names.get(parameter, parameter)
    if name in TIMES and text.isdigit():
        usec = int(text)
        if not usec:
            return name, 'off' if name == 'pending' else '0'
        return name, 'never' if usec >= NEVER_USEC else exact(usec * 1000)
    if parameter == 'per_minute' and text == '0':
        return name, 'off'
    if parameter in SWITCHES and text in ('Y', 'N'):
        return name, 'on' if text == 'Y' else 'off'
    return name, text


def split(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Names of trackers, and settings; in any order."""
    names, settings = [], {}
    for word in words:
        name, equals, value = word.partition('=')
        if not equals:
            names += [part for part in name.split(',') if part]
        elif not name:
            raise Error(f'"{word}" is no setting: NAME=VALUE, such as over=50ms')
        elif name in settings:
            raise Error(f'{name} is set twice')
        else:
            settings[name] = value
    return names, settings


def prepare(tracker: Tracker, settings: dict[str, str]) -> dict[str, str]:
    """The parameters to write, by name. Error: there is no such one, or it cannot change now."""
    there = tracker.parameters()
    found = {}
    for name, text in settings.items():
        parameter = parameter_of(name)
        if parameter not in there:
            known = ' '.join(shown(other, '')[0] for other in there if tracker.may_write(other))
            raise Error(f'{tracker.name} has no setting "{name}"; it has: {known}')
        if not tracker.may_write(parameter):
            raise Error(f'{name} of {tracker.name} can be given only when it is loaded: '
                        f'latency-tracker stop {tracker.name}; latency-tracker start {tracker.name} '
                        f'{name}={text}')
        found[parameter] = value_of(name, text)
    return found


def apply(wanted: Sequence[tuple[Tracker, dict[str, str]]]) -> None:
    """Write all of them, or none: what was written before one is refused gets its old value back."""
    done: list[tuple[Tracker, str, str]] = []
    try:
        for tracker, parameters in wanted:
            for parameter, value in parameters.items():
                before = tracker.get(parameter)
                tracker.set(parameter, value)
                done.append((tracker, parameter, before))
    except Error as error:
        what = f'{tracker.name}: {error}'
        for other, parameter, before in reversed(done):
            try:
                other.set(parameter, before)
            except Error as another:
                raise Error(f'{what}; {parameter} of {other.name} stays changed: {another}') from None
        raise Error(what + ('; nothing was changed' if done else '')) from None
