# SPDX-License-Identifier: GPL-2.0-only
"""mark: operations of programs that do not mark them."""
from __future__ import annotations

import argparse
import itertools
import os
import re
from collections.abc import Sequence

from latency_tracker import Error
from latency_tracker.elf import Program
from latency_tracker.machine import Machine
from latency_tracker.output import Output
from latency_tracker.state import chosen

NAME = re.compile(r'(?!/)[A-Za-z0-9_./-]{1,47}')


def _parse(text: str) -> list[tuple[str, str]]:
    """The names and the rest of each probe of the parameter."""
    return [(name, rest) for name, _, rest in (entry.partition('=') for entry in text.split(',') if entry)]


def _checked(name: str, of: str) -> str:
    if not NAME.fullmatch(name):
        raise Error(f'"{name}" is no name of a mark, of up to 47 letters, digits and _ . - /: ' + of)
    return name


def _functions(program: Program, words: Sequence[str], path: str) -> list[tuple[str, str]]:
    probes = []
    for word in words:
        name, equals, function = word.partition('=')
        function = function if equals else name
        _checked(name, f'give it one, such as name={function}')
        probes.append((name, f'{path}:{program.function(function)}'))
    return probes


def _usdt(program: Program, pair: str, name: str, path: str) -> list[tuple[str, str]]:
    begin, comma, end = pair.partition(',')
    if not comma or ':' not in begin or ':' not in end:
        raise Error(f'"{pair}" is no pair of probes: --usdt PROVIDER:BEGIN,PROVIDER:END')
    places = itertools.zip_longest(program.usdt(begin), program.usdt(end), fillvalue='')
    return [(_checked(name, '--name NAME'), f'{path}:{at}-{to}') for at, to in places]


def _find(args: argparse.Namespace, machine: Machine) -> list[tuple[str, str]]:
    path = os.path.abspath(args.program)
    if ',' in path or any(ord(character) <= 32 for character in path):
        raise Error(f'{path}: the list takes no path with a comma or a space: make a link to it, such as in /run')
    with Program(str(machine.path(path)), path) as program:
        if args.usdt:
            if args.functions or not args.name:
                raise Error('--usdt has a --name, and no functions')
            return _usdt(program, args.usdt, args.name, path)
        if not args.functions or args.name:
            raise Error('give functions, as FUNCTION or NAME=FUNCTION; or --usdt with a --name')
        return _functions(program, args.functions, path)


def mark(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    """Find the places, and add them to the setting. Those of the same name go."""
    tracker = chosen(machine, ['mark'])[0]
    probes = _parse(tracker.get('probes'))
    if args.remove:
        new = [(name, rest) for name, rest in probes if name != args.remove]
        if len(new) == len(probes):
            there = ' '.join(dict.fromkeys(name for name, _ in probes)) or 'none'
            raise Error(f'{args.remove} has no probes (there are: {there}): see --list')
    elif args.program:
        found = _find(args, machine)
        names = {name for name, _ in found}
        new = [(name, rest) for name, rest in probes if name not in names] + found
    else:
        new = probes
    if new != probes:
        tracker.set('probes', ','.join(f'{name}={rest}' for name, rest in new))
    for name, rest in new:
        path, _, places = rest.rpartition(':')
        out.object('probe', name=name, program=path, places=places)
        out.line(f'{name}: {path}, {"" if "-" in places else "function at "}{places}')
    return 0
