# SPDX-License-Identifier: GPL-2.0-only
"""Kernel stacks: addresses, names, and what in them says why a task waits."""
from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterable, Sequence

# "function+0x12/0x34 [module]" or shorter, innermost first.
Stack = Sequence[str]

USER_SPACE = re.compile(r'(irqentry_)?exit_to_user_mode\w*|syscall_exit_to_user_mode\w*')
# Frames that every stack of their kind has at its ends.
INNER = re.compile(r'(__)?schedule|preempt_schedule(_common|_irq|_notrace)?|io_schedule')
OUTER = re.compile(r'do_syscall_64|x64_sys_call|entry_SYSCALL_64_after_hwframe|el0t?_\w+|do_el0_svc|'
                   r'invoke_syscall|ret_from_fork(_asm)?|kthread|asm_\w+')
INTERRUPT = re.compile(r'asm_(sysvec|common_interrupt|exc_nmi)\w*')
# Frames that only say that a task waits; what it waits for is further out.
HOW = re.compile(r'\w*schedule\w*|bit_wait\w*|__wait_on_bit\w*|out_of_line_wait_on_bit\w*|'
                 r'__wait_for_common|wait_for_completion\w*|prepare_to_wait\w*|'
                 r'futex_wait_queue|do_wait_intr\w*|\w*_mutex_lock\w*|mutex_lock\w*|'
                 r'rwsem_down\w*|down_(read|write)\w*|__down\w*|folio_wait_bit\w*')


# No function and no variable with a lock in it is larger.
MOST_BYTES = 1 << 20
# Fields with the address of a lock.
LOCKS = {'lock', 'holder_lock'}


class Symbols:
    """The names of the kernel's addresses; read when the first one is asked for."""

    def __init__(self, read: Callable[[], Iterable[str]]) -> None:
        self.read = read
        self.starts: list[int] = []
        self.names: list[str] = []
        # Without CONFIG_KALLSYMS_ALL the kernel tells of functions only.
        self.has_variables = False

    def _load(self) -> None:
        found = []
        for line in self.read():
            address, kind, name, *module = line.split()
            self.has_variables |= kind in 'bd'
            if kind in 'tTwWbBdDrR':
                found.append((int(address, 16), name + (f' {module[0]}' if module else '')))
        # Of several names for one address the first, as the kernel has it.
        found.sort(key=lambda symbol: symbol[0])
        self.starts = [start for start, _ in found]
        self.names = [name for _, name in found]

    def name(self, address: int) -> str:
        """"function+0x12 [module]", of a variable likewise; "?" where /proc/kallsyms tells no addresses,
        or none fits: an object of the heap is in no symbol, however near."""
        if not self.starts:
            self._load()
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0 or not self.starts[at]:
            return '?'
        if address - self.starts[at] >= MOST_BYTES:
            return '?'
        at = bisect.bisect_left(self.starts, self.starts[at])
        name, _, module = self.names[at].partition(' ')
        return f'{name}+{address - self.starts[at]:#x}' + (f' {module}' if module else '')

    def of_field(self, field: str, address: int) -> str:
        """The same, of the field of an event, "-" for none: that of a lock is no function."""
        name = self.name(address) if address else '-'
        return name if self.has_variables or field not in LOCKS else '?' if address else '-'


def kallsyms() -> Iterable[str]:
    """The lines of the kernel's own table; only root sees addresses there."""
    with open('/proc/kallsyms', encoding='ascii', errors='replace') as file:
        yield from file


def function(frame: str) -> str:
    """Its name alone."""
    return re.split(r'[+ ]', frame, maxsplit=1)[0]


def plain(frame: str) -> str:
    """Without the offset, and with the module."""
    return re.sub(r'\+0x[0-9a-f]+(/0x[0-9a-f]+)?', '', frame)


def call_of(stack: Stack) -> str:
    """The system call that it is in; empty if it is in none, or that is not known."""
    for frame in reversed(stack):
        found = re.fullmatch(r'__(?:x64|ia32|arm64|se|do)_sys_(\w+)', function(frame))
        if found:
            return found[1]
    return ''


def in_short(stack: Stack) -> Stack:
    """Without what all of them have."""
    first, last = 0, len(stack)
    while first < last - 1 and INNER.fullmatch(function(stack[first])):
        first += 1
    while last > first + 1 and OUTER.fullmatch(function(stack[last - 1])):
        last -= 1
    shown = stack[first:last]
    # What was interrupted has nothing to do with it.
    interrupt = next((i for i, frame in enumerate(shown) if INTERRUPT.match(frame)), None)
    return shown[:interrupt + 1] if interrupt else shown


def reason(stack: Stack) -> str:
    """The innermost function that says what a task was waiting for; "-": there is no stack."""
    names = [function(frame) for frame in stack]
    for name in names:
        if not HOW.fullmatch(name):
            return name
    return names[0] if names else '-'
