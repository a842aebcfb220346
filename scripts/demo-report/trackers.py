# SPDX-License-Identifier: GPL-2.0-only
"""What is shown of each tracker: TRACKERS, in that order."""
import os
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from rich.markup import escape

from events import (Block, Irq, Late, Network, OffcpuSwitch, OffcpuWakeup, Softirq, Syscall,
                    SyscallStack, Wakeup)
from latency_tracker.stacks import function, reason
from latency_tracker.units import human, size
from latency_tracker.words import PROTOCOLS, WAITING_CALLS, WAITING_FUNCTIONS, operation
from run import Run, worst_first
from screen import Screen


@dataclass(frozen=True)
class Tracker:
    name: str
    about: str
    # Where the ends of its operations are reported.
    kinds: tuple[type[Late], ...]
    show: Callable[[Run, Screen], None]


def never(_event: Late) -> bool:
    """No operation of the kind waits by its nature."""
    return False


def wakeup(run: Run, screen: Screen) -> None:
    late = run.late(Wakeup)
    table = screen.table(">delay", "task", "on CPU", "held by", ">for", "woken by")
    for event in late[:6]:
        known = event.holder_ran > 0
        table.add_row(human(event.delay), escape(f"{event.comm} ({event.pid})"), str(event.cpu),
                      escape(f"{event.holder_comm} ({event.holder_pid})"),
                      human(event.holder_ran) if known else "?",
                      escape(f"{event.waker_comm} ({event.waker_pid})"))
    screen.print(table)
    holders = Counter(event.holder_comm for event in late)
    screen.print("The CPU was held by: " + escape(", ".join(
        f"{name} {count}x" for name, count in holders.most_common(6))))
    # The stack is that of the last one, so show those that were the holder, too.
    seen: set[str] = set()
    for event in late:
        if (event.holder_pid != event.prev_pid or event.prev_pid == 0 or
                event.prev_comm in seen or len(seen) == screen.worst):
            continue
        seen.add(event.prev_comm)
        screen.print()
        screen.stack(escape(f"{event.comm} waited {human(event.delay)} for "
                            f"{event.prev_comm} ({event.prev_pid}), which was in"),
                     event.prev_stack)
    screen.explain("a task that could run had to wait for a CPU. Held by: the task that "
                   "had the CPU for the longest\npart of the wait; its stack is where it gave the "
                   "CPU up. swapper is the idle task: waking the CPU took that long.")


def offcpu(run: Run, screen: Screen) -> None:
    wakers = {(event.wakee_comm, event.start): event for event in run.all(OffcpuWakeup)}
    worst = screen.groups(run.late(OffcpuSwitch), lambda e: (e.comm, e.state, reason(e.stack)),
                          lambda e: e.state == "sleeping", ("task", "state", "in"))
    for event in worst:
        screen.print()
        screen.stack(escape(f"{event.comm} ({event.pid}) was off the CPU "
                            f"for {human(event.delay)}, blocked in"), event.stack)
        waker = wakers.get((f"{event.comm} ({event.pid})", event.start))
        if waker:
            screen.stack(escape(f"and was woken by {waker.waker_comm} after "
                                f"{human(waker.wakee_offcpu_delay)}, from"), waker.waker_stack)
    screen.explain("blocked: on a disk or a lock, so the work is held up; sleeping "
                   "(below, dim):\nasleep, most often waiting for something to do. A wake-up by an "
                   "interrupt has the name of the task that was interrupted.")


def blocked_in(taken: list[SyscallStack], screen: Screen) -> None:
    # Where it was when it became late, and where it was longest from then on.
    shown = taken[:1]
    if len(taken) > 1:
        _, i = max((b.delay - a.delay, i) for i, (a, b) in enumerate(zip(taken, taken[1:]), 1))
        shown.append(taken[i])
    for sample in shown:
        screen.stack(f"{human(sample.delay)} after its begin it had been blocked in",
                     sample.stack)
    if len(taken) > len(shown):
        screen.print(f"    [dim]and {len(taken) - len(shown)} stacks more[/]")
    if not taken:
        screen.print("    [dim]it was not switched out any more once it was late[/]")


def syscalls(run: Run, screen: Screen) -> None:
    stacks = defaultdict(list)
    for sample in run.all(SyscallStack):
        stacks[sample.pid, sample.start].append(sample)

    def waiting(event: Syscall) -> bool:
        return run.call(event) in WAITING_CALLS or any(
            function(frame) in WAITING_FUNCTIONS
            for sample in stacks[event.pid, event.start] for frame in sample.stack)

    worst = screen.groups(run.late(Syscall), lambda e: (e.comm, run.call(e)), waiting,
                          ("task", "system call"))
    for event in worst:
        screen.print()
        screen.print("  " + escape(f"{event.comm} ({event.pid}): {run.call(event)}() = "
                                   f"{event.ret} took {human(event.delay)}"))
        blocked_in(stacks[event.pid, event.start], screen)
    screen.explain("each time a late call got the CPU back, its stack was recorded: there it had "
                   "been blocked.\nCalls whose purpose is to wait (poll, futex, ...) come last, "
                   "dim.")


def block(run: Run, screen: Screen) -> None:
    late = run.late(Block)
    screen.groups(late, lambda e: (e.comm, operation(e.rwbs), e.stage), never,
                  ("task", "operation", "stage"))
    table = screen.table(">delay", "stage", "disk", ">sector", ">size", "operation", "task",
                         "result")
    for event in late[:5]:
        table.add_row(human(event.delay), event.stage, event.dev.replace(",", ":"),
                      str(event.sector) if event.nr_bytes else "-",
                      size(event.nr_bytes) if event.nr_bytes else "-", operation(event.rwbs),
                      escape(f"{event.comm} ({event.pid})"),
                      "ok" if not event.error else os.strerror(-event.error))
    screen.print(table)
    screen.explain("stage queue: in the queue of the scheduler; stage device: in the disk; stage request: "
                   "all tries of one that was requeued. A sector has 512 bytes.\nTask: the one that inserted or issued the request, for a write "
                   "often not the one that wrote the data.")


def what_of(event: Irq | Softirq) -> tuple[str, str]:
    if isinstance(event, Irq):
        return f"{event.name}, line {event.irq}", "run of the handler"
    return event.name, "from raise to run" if event.stage == "raise" else "run"


def irq(run: Run, screen: Screen) -> None:
    late: list[Irq | Softirq] = [*run.late(Irq), *run.late(Softirq)]
    for event in screen.groups(worst_first(late), what_of, never, ("interrupt", "what took long")):
        name, what = what_of(event)
        screen.print()
        screen.stack(escape(f"{name} on CPU {event.cpu}, {what}: {human(event.delay)}, in the "
                            f"name of {event.comm} ({event.pid})"), event.stack)
    screen.explain("the threshold applies to runs and to the time from raise to run. The stack is "
                   "of the code that\nwas interrupted, or from which a soft interrupt runs, which "
                   "is often ksoftirqd.")


def path_of(event: Network) -> tuple[str, ...]:
    return (event.dev, PROTOCOLS.get(event.l4, f"protocol {event.l4}"),
            f"dropped: {event.reason}" if event.end == "dropped" else event.end, event.comm)


def network(run: Run, screen: Screen) -> None:
    screen.groups(run.late(Network), path_of, never, ("device", "protocol", "ended in", "read by"))
    screen.explain("a packet waited in the receive path or in the queue of its socket until a task "
                   "read it:\nmost often that task had no CPU, or was busy with something else.")


TRACKERS = (
    Tracker("wakeup", "from the wake-up of a task until it runs", (Wakeup,), wakeup),
    Tracker("offcpu", "from the switch away from a task until it runs again", (OffcpuSwitch,),
            offcpu),
    Tracker("syscalls", "from the entry of a system call to its exit", (Syscall,), syscalls),
    Tracker("block", "block requests, in the queue and in the device", (Block,), block),
    Tracker("irq", "run time of interrupt handlers, and soft interrupts from their raise to their"
            " run", (Irq, Softirq), irq),
    Tracker("network", "packets, from the driver to their socket", (Network,), network),
)
