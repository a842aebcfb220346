# SPDX-License-Identifier: GPL-2.0-only
"""The trackers' events, and how to read them in a trace.

Each is a dataclass with fields as the event prints them, in that order; unknown fields between
these are skipped.
"""
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, get_type_hints

# Function names with their module, innermost first.
Stack = list[str]


class Event:
    """A line of the trace."""


class Late(Protocol):
    """What the events of all late operations have; times in ns."""

    comm: str
    pid: int
    delay: int
    flag: str
    start: int


@dataclass
class Wakeup(Event):
    comm: str
    pid: int
    cpu: int
    delay: int
    flag: str
    start: int
    waker_comm: str
    waker_pid: int
    prev_comm: str
    prev_pid: int
    holder_comm: str
    holder_pid: int
    holder_ran: int
    prev_stack: Stack


@dataclass
class OffcpuSwitch(Event):
    comm: str
    pid: int
    delay: int
    flag: str
    start: int
    state: str
    stack: Stack


@dataclass
class OffcpuWakeup(Event):
    waker_comm: str
    wakee_comm: str
    wakee_offcpu_delay: int
    flag: str
    start: int
    waker_stack: Stack


@dataclass
class Syscall(Event):
    comm: str
    pid: int
    nr: int
    compat: int
    ret: str
    delay: int
    flag: str
    start: int


@dataclass
class SyscallStack(Event):
    comm: str
    pid: int
    nr: int
    delay: int
    flag: str
    start: int
    stack: Stack


@dataclass
class Block(Event):
    dev: str
    sector: int
    nr_bytes: int
    rwbs: str
    stage: str
    error: int
    comm: str
    pid: int
    delay: int
    flag: str
    start: int


@dataclass
class Irq(Event):
    irq: str
    name: str
    handler: str
    cpu: int
    ret: str
    comm: str
    pid: int
    delay: int
    flag: str
    start: int
    stack: Stack


@dataclass
class Softirq(Event):
    vec: str
    name: str
    stage: str
    cpu: int
    comm: str
    pid: int
    delay: int
    flag: str
    start: int
    stack: Stack


@dataclass
class Network(Event):
    dev: str
    l4: int
    len: int
    end: str
    reason: str
    comm: str
    pid: int
    delay: int
    flag: str
    start: int


KINDS: dict[str, type[Event]] = {
    "wakeup_latency": Wakeup,
    "offcpu_sched_switch": OffcpuSwitch,
    "offcpu_sched_wakeup": OffcpuWakeup,
    "syscall_latency": Syscall,
    "syscall_latency_stack": SyscallStack,
    "block_latency": Block,
    "irq_latency": Irq,
    "softirq_latency": Softirq,
    "network_latency": Network,
}
EVENT_LINE = re.compile(r"\[\d+\] \S+ +\d+\.\d+: (\w+): (.*)")


def frames(text: str) -> Stack:
    if text == "-":
        return []
    return [re.sub(r"\+0x[0-9a-f]+/0x[0-9a-f]+", "", frame) for frame in text.split(" <- ")]


# For the type of a field, how its value looks, and what makes the value of it.
VALUES: dict[object, tuple[str, Callable[[str], int | str | Stack]]] = {
    int: (r"-?\d+", int),
    str: (".*?", str),
    Stack: (r"\S+(?: \[\S+\])?(?: <- .*)?", frames),
}


class Reader:
    """Of one kind of event."""

    def __init__(self, kind: type[Event]) -> None:
        # The fields are those of the pattern, so no checker needs to know them.
        self.make: Callable[..., Event] = kind
        self.types = get_type_hints(kind)
        self.pattern = re.compile(r", (?:\w+=[^,]*, )*?".join(
            f"{name}=(?P<{name}>{VALUES[of][0]})" for name, of in self.types.items()) + "(?:,|$)")

    def read(self, text: str) -> Event | None:
        """None: it was not understood."""
        match = self.pattern.match(text)
        if not match:
            return None
        return self.make(**{name: VALUES[of][1](match[name]) for name, of in self.types.items()})


def read_trace(lines: Iterable[str]) -> tuple[list[Event], int]:
    """The events, and the number of those that were not understood."""
    readers = {name: Reader(kind) for name, kind in KINDS.items()}
    read = [readers[match[1]].read(match[2]) for match in map(EVENT_LINE.search, lines)
            if match and match[1] in readers]
    events = [event for event in read if event]
    return events, len(read) - len(events)
