#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What can be called on the way through a module, from some of its functions?

Usage: reach.py MODULE.ko FUNCTION...

Reads the machine code, so nothing hides behind a macro, an inline function or the
configuration of a kernel. Prints the functions outside of the module that can be
reached, one a line, and for each the way there; "indirect" stands for calls through a
pointer. A FUNCTION that the module does not have is an error.
"""
import bisect
import collections
import re
import subprocess
import sys

HEAD = re.compile(r'^[0-9a-f]+ <(.+)>:$')
CODE = re.compile(r'^ +[0-9a-f]+:\t(.*)')
RELOC = re.compile(r'^\t+[0-9a-f]+: R_\S+\t(?P<symbol>[^\s+-]+)(?P<add>[-+]0x[0-9a-f]+)?')
# x86-64 and arm64.
JUMP = re.compile(r'^(?:(?:lock|bnd|notrack|cs|ds|data16) +)*'
                  r'(?P<op>callq?|j[a-z]+|loop[a-z]*|bl?r?|b\.[a-z]+|[ct]bn?z)\s+(?P<to>.*)$')
# On x86-64 an address is relative to the end of the instruction.
BEHIND = {'callq', 'call', 'jmp', 'jmpq'}


def objdump(option, path):
    """Its lines."""
    return subprocess.run(['objdump', *option.split(), path], check=True,
                          capture_output=True, text=True).stdout.splitlines()


def functions(path):
    """For each section the addresses of its functions, sorted, and their names."""
    table = collections.defaultdict(list)
    for line in objdump('-t', path):
        match = re.match(r'^([0-9a-f]+) .{6}F (\S+)\t[0-9a-f]+ +(?:\.hidden )?(\S+)$', line)
        if match:
            table[match[2]].append((int(match[1], 16), match[3]))
    return {section: sorted(rows) for section, rows in table.items()}


class Graph:
    """Which function may go on to which."""

    def __init__(self, path):
        self.table = functions(path)
        self.calls = collections.defaultdict(set)
        self.function = None
        jump = None
        for line in objdump('-dr --no-show-raw-insn', path):
            reloc = RELOC.match(line)
            if reloc and jump:
                self.add(self.target(jump, reloc))
                jump = None
                continue
            if jump:
                self.add(self.inside(jump))
                jump = None
            head, code = HEAD.match(line), CODE.match(line)
            if head:
                self.function = head[1]
                self.calls[self.function] = set()
            elif code:
                jump = JUMP.match(code[1].split('#')[0].strip())

    def add(self, callee):
        if callee and callee != self.function:
            self.calls[self.function].add(callee)

    def target(self, jump, reloc):
        """Of a jump that the linker will set."""
        if jump['to'].startswith('*'):
            return 'indirect'
        rows = self.table.get(reloc['symbol'])
        if rows is None:
            return reloc['symbol']
        address = int(reloc['add'] or '0', 16)
        if jump['op'] in BEHIND or jump['op'].startswith('j'):
            address += 4
        return rows[max(bisect.bisect(rows, (address, '\x7f')) - 1, 0)][1]

    @staticmethod
    def inside(jump):
        """Of a jump within a section."""
        match = re.search(r'<([^+>]+)(?:\+0x[0-9a-f]+)?>', jump['to'])
        return match[1] if match else 'indirect'


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    calls = Graph(sys.argv[1]).calls
    todo, way = [], {}
    for name in sys.argv[2:]:
        if name not in calls:
            sys.exit(f'reach.py: {sys.argv[1]} has no function {name}')
        todo.append(name)
        way[name] = [name]
    while todo:
        name = todo.pop(0)
        for callee in sorted(calls[name]):
            if callee not in way:
                way[callee] = way[name] + [callee]
                if callee in calls:
                    todo.append(callee)
    for name in sorted(way):
        if name not in calls:
            print(name, '<-', ' <- '.join(reversed(way[name][:-1])))


main()
