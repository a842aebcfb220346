# SPDX-License-Identifier: GPL-2.0-only
"""A trace instance of one's own, whose buffers are read by the page. The user's buffers are not touched."""
from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from latency_tracker import Error
from latency_tracker.borrow import start_of
from latency_tracker.machine import Machine
from latency_tracker.pages import Format, page_size
from latency_tracker.state import Tracker

TRACING = '/sys/kernel/tracing'
NAME = 'latency-tracker'
# Which events are of which tracker; one that is not there has an event of its name.
EVENTS = {'wakeup': ['wakeup_latency'], 'offcpu': ['offcpu_sched_switch', 'offcpu_sched_wakeup'],
          'syscalls': ['syscall_latency', 'syscall_latency_stack'], 'block': ['block_latency'],
          'irq': ['irq_latency', 'softirq_latency'], 'network': ['network_latency'], 'lock': ['lock_latency'],
          'mark': ['mark_latency'], 'chain': ['chain_latency'], 'critical_path': ['critical_path']}
# Those that are no reports: where an operation was blocked.
SAMPLES = ('offcpu_sched_wakeup', 'syscall_latency_stack')
TRACKER_OF = {event: tracker for tracker, events in EVENTS.items() for event in events}
# Pages that are read of a CPU before the next one has its turn, so that none starves.
TURN = 256
# Of a CPU, unless the user says so: a large machine has much memory, but not for this.
ALL_KIB, LEAST_KIB, MOST_KIB = 256 * 1024, 512, 4096
# A reader is woken when so much of a buffer is full, and looks every now and then anyway.
WAKE_PERCENT = 20


class Instance:
    """From its making to close(). Error: there can be none; then nothing is left. buffer_kib: of a CPU; 0: as
    many as there may be; samples: with those of stacks."""

    def __init__(self, machine: Machine, trackers: Sequence[Tracker], buffer_kib: int, samples: bool = True) -> None:
        self.machine, self.samples = machine, samples
        self.name = f'{TRACING}/instances/{NAME}.{os.getpid()}.{start_of(machine, os.getpid())}'
        self.fds: list[int] = []
        self.formats: dict[int, Format] = {}
        try:
            self._remove_left()
            machine.make_instance(self.name)
        except OSError as error:
            raise Error(f'no trace instance can be made in {TRACING}: {error.strerror}') from None
        try:
            self.page = page_size(machine.read(f'{TRACING}/events/header_page'))
            machine.write(f'{self.name}/trace_clock', 'mono')
            cpus = len(list(machine.path(f'{self.name}/per_cpu').glob('cpu*'))) or 1
            buffer_kib = buffer_kib or min(max(ALL_KIB // cpus, LEAST_KIB), MOST_KIB)
            machine.write(f'{self.name}/buffer_size_kb', str(buffer_kib))
            machine.write(f'{self.name}/buffer_percent', str(WAKE_PERCENT))
            self._open()
            self._enable(trackers)
        except (Error, OSError) as error:
            self.close()
            raise Error(f'the trace events cannot be recorded: {error}') from None

    def _remove_left(self) -> None:
        """By those that were killed."""
        for path in self.machine.path(f'{TRACING}/instances').glob(f'{NAME}.*.*'):
            _, pid, start = path.name.split('.', 2)
            if not pid.isdigit() or start_of(self.machine, int(pid)) != start:
                with contextlib.suppress(OSError):
                    # Somebody looks at it; the next one has another try.
                    self.machine.remove_instance(f'{TRACING}/instances/{path.name}')

    def _open(self) -> None:
        for path in sorted(self.machine.path(f'{self.name}/per_cpu').glob('cpu*')):
            self.fds.append(os.open(path / 'trace_pipe_raw', os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))

    def _enable(self, trackers: Sequence[Tracker]) -> None:
        for tracker in trackers:
            for event in EVENTS.get(tracker.name, [f'{tracker.name}_latency']):
                if event in SAMPLES and not self.samples:
                    continue
                directory = f'{self.name}/events/latency_tracker/{event}'
                text = self.machine.read(f'{directory}/format')
                made = Format(text)
                self.formats[made.id] = made
                self.machine.write(f'{directory}/enable', '1')

    def drain(self) -> list[bytes]:
        """The pages that there are now, of each CPU in their order."""
        found = []
        for fd in self.fds:
            for _ in range(TURN):
                try:
                    page = os.read(fd, self.page)
                except (BlockingIOError, InterruptedError):
                    break
                if not page:
                    break
                found.append(page)
        return found

    def stop(self) -> None:
        """No more events come."""
        self.machine.write(f'{self.name}/events/enable', '0')

    def lost(self) -> int:
        """Events that found no room."""
        total = 0
        for path in self.machine.path(f'{self.name}/per_cpu').glob('cpu*/stats'):
            for line in path.read_text(encoding='ascii').splitlines():
                name, _, value = line.partition(':')
                if name in ('overrun', 'commit overrun', 'dropped events'):
                    total += int(value)
        return total

    def close(self) -> None:
        """It is removed; what it had is gone."""
        for fd in self.fds:
            os.close(fd)
        self.fds = []
        self.machine.remove_instance(self.name)
