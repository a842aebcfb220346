# SPDX-License-Identifier: GPL-2.0-only
"""Critical paths: what a late operation of a task was made of. The event critical_path tells them a segment at a
time, in a row; here they are put together, and each segment is said in words."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from latency_tracker.output import Json
from latency_tracker.records import Report
from latency_tracker.stacks import function
from latency_tracker.state import Tracker
from latency_tracker.units import human
from latency_tracker.words import words

EVENT = 'critical_path'
# What is missing of a path does not come any more after that time, or after so many others.
WAIT_NS, HELD = 2 * 10**9, 256
# What is shorter than such a part of an operation is not told by itself, nor are several together.
SHORT_PARTS = 500
# Operations whose path may still come.
REMEMBERED = 1024
# A sector of requests that have none.
NO_SECTOR = 1 << 63
# Of trackers: what an operation is called whose report was not seen, and that has no name.
KINDS = {'syscalls': 'system call', 'offcpu': 'time off the CPU', 'wakeup': 'wait for a CPU', 'lock': 'wait for a lock',
         'mark': 'operation of a program'}
# Causes that need no more words, but for a name that some of them have.
PLAIN = {'short': 'short waits', 'interrupt': 'interrupt handlers', 'rt_throttled': 'real-time tasks had used up their share',
         'dl_server': 'real-time tasks had used up their share', 'steal': 'the hypervisor had given the CPU to others',
         'memory': 'waiting for memory', 'timer': 'until a timer', 'packet': 'until a packet', 'softirq': 'until soft interrupt',
         'hardirq': 'until interrupt', 'stopped': 'stopped by a signal', 'traced': 'stopped by a debugger',
         'yielded': 'off the CPU, which it had yielded', 'lost': 'unknown: its history was overwritten',
         'cut': 'not told apart: short parts, or too many hops'}
# Of these, the name says nothing more.
NAMELESS = ('timer', 'packet')
MODES = {'user': 'running in user space', 'kernel': 'running in the kernel'}
DISK = {'disk': 'disk', 'queue': 'in the queue of', 'device': 'in the device'}
INTS = ('number', 'parent', 'hop', 'delay_ns', 'start_ns', 'pid', 'by_pid', 'dev', 'sector')
TEXTS = ('cause', 'comm', 'by_comm', 'name', 'lock', 'cgroup')


def task(comm: str, pid: int) -> str:
    """"name (pid)"; empty if it is not known which."""
    return f'{comm} ({pid})' if pid >= 0 else ''


@dataclass
class Segment:
    """A part of a path; times in ns of CLOCK_MONOTONIC. parent: the number of the one that it explains, or -1. "-"
    and -1 are what is not there."""
    number: int = 0
    parent: int = -1
    hop: int = 0
    delay_ns: int = 0
    start_ns: int = 0
    cause: str = 'unknown'
    # Whose time it is; and who had the CPU or the lock, or woke that task.
    comm: str = '-'
    pid: int = -1
    by_comm: str = '-'
    by_pid: int = -1
    name: str = '-'
    dev: int = 0
    sector: int = 0
    lock: str = '-'
    # That is throttled.
    cgroup: str = '-'
    stack: list[str] = field(default_factory=list)

    def values(self) -> dict[str, Json]:
        """For JSON."""
        return {**{name: getattr(self, name) for name in (*INTS, *TEXTS)}, 'says': self.says, 'stack': [*self.stack]}

    @property
    def detail(self) -> str:
        """What alike causes have in common besides: a disk, the kind of a lock, a task; may be empty."""
        by = self.by_comm if self.by_pid >= 0 and self.cause in ('cpu', 'lock', 'task') else ''
        # What is behind a comma differs: how often a request was tried.
        return ', '.join(part for part in (self._name.partition(',')[0], by) if part)

    @property
    def _name(self) -> str:
        return '' if self.name == '-' or self.cause in NAMELESS else self.name

    @property
    def says(self) -> str:
        """The cause in words."""
        by, name = task(self.by_comm, self.by_pid), self._name
        if self.cause == 'cpu':
            return 'waiting for a CPU' + (f' that {by} had' if self.by_pid > 0 else ' that was idle' if by else '')
        if self.cause == 'lock':
            # An object of the heap has no name.
            symbol = function(self.lock) if self.lock[:1] not in '-?0' else ''
            return ' '.join(part for part in ('lock', name, symbol) if part) + (f', held by {by}' if by else '')
        if self.cause in DISK:
            return self._disk(name)
        if self.cause == 'running':
            return MODES.get(name, 'running')
        if self.cause == 'throttled':
            return 'throttled (cpu.max' + (f' of {self.cgroup})' if self.cgroup not in ('-', '?', '') else ')')
        if self.cause == 'task':
            return f'woken by {by or "another task"}' + (f', work item {name}' if name else '')
        if self.cause == 'work':
            return ' '.join(part for part in ('work item', name, 'waited for a worker') if part) + (f', queued by {by}' if by else '')
        if self.cause == 'raised':
            return ' '.join(part for part in ('soft interrupt', name, 'waited until it ran') if part) + (f', behind {by}' if by else '')
        return ' '.join(part for part in (PLAIN.get(self.cause, self.cause), name) if part)

    def _disk(self, name: str) -> str:
        disk = name or (f'{self.dev >> 20}:{self.dev & 0xfffff}' if self.dev else 'a disk')
        return f'{DISK[self.cause]} {disk}' + (f', sector {self.sector}' if 0 <= self.sector < NO_SECTOR and self.dev else '')


def segment_of(report: Report, cgroup: Callable[[int], str]) -> Segment:
    """Of an event. cgroup: the path of one with an id."""
    lock = report.values.get('lock', 0)
    ints = {name: report.number(name) for name in INTS if name not in ('number', 'delay_ns', 'start_ns')}
    texts = {name: report.text(name) for name in TEXTS if name not in ('lock', 'cgroup')}
    return Segment(number=report.number('segment'), delay_ns=report.delay_ns, start_ns=report.start_ns,
                   lock=lock if isinstance(lock, str) else f'{lock:#x}' if isinstance(lock, int) and lock else '-',
                   cgroup=cgroup(report.number('cgroup_id')), stack=report.stack('stack'), **ints, **texts)  # type: ignore[arg-type]


@dataclass
class Path:
    """Of an operation, whose name is "-" if it has none. count: how many segments it has. what: as of alike operations;
    text: a sentence."""
    op: int
    tracker: str
    operation: str
    flag: str
    delay_ns: int
    count: int
    at_ns: int
    segments: list[Segment] = field(default_factory=list)
    # When the last one was taken.
    taken_ns: int = field(default=0, compare=False)
    what: str = ''
    text: str = ''
    idle: bool = False
    cgroup: str = '?'
    # Of the operation, if it was seen.
    report: Report | None = None

    @property
    def complete(self) -> bool:
        """All of it was seen."""
        return len(self.segments) >= self.count

    @property
    def missing(self) -> str:
        """What there is to say if not."""
        return '' if self.complete else f'{len(self.segments)} of {self.count} segments seen'

    @property
    def _first(self) -> Segment:
        return next((of for of in self.segments if not of.hop and of.pid >= 0), self.segments[0])

    @property
    def comm(self) -> str:
        """Of the task whose operation it is."""
        return self._first.comm

    @property
    def pid(self) -> int:
        """Likewise."""
        return self._first.pid

    def is_of(self, report: Report) -> bool:
        """Whether it is the path of that operation. When it began is not told to the ns: parts that are too short are added to
        the last one."""
        return (self.tracker, self.pid, self.delay_ns, self.flag) == (
            report.tracker, report.number('pid'), report.delay_ns, report.flag) and \
            abs(self.start_ns - report.start_ns) <= self.delay_ns // SHORT_PARTS

    @property
    def start_ns(self) -> int:
        """When it began. The first segment may begin later: what is too short to be told stands at the end, together."""
        ends = [of.start_ns + of.delay_ns for of in self.segments if not of.hop]
        if ends and (self.complete or self.segments[0].number):
            return max(ends) - self.delay_ns
        # The end may be missing.
        return min(of.start_ns for of in self.segments)

    @property
    def end_ns(self) -> int:
        """When it ended, or was reported."""
        return self.start_ns + self.delay_ns

    @property
    def leaves(self) -> list[Segment]:
        """Those that no other one explains: they add up to the whole."""
        parents = {of.parent for of in self.segments}
        return [of for of in self.segments if of.number not in parents]

    def says(self, of: Segment) -> str:
        """The words of a segment, and whose time it is, if that is another task."""
        return (f'{task(of.comm, of.pid)}: ' if of.pid >= 0 and of.pid != self.pid else '') + of.says

    def as_report(self) -> Report:
        """What filters look at: the report of the operation, or what is known without one."""
        return self.report or Report(self.tracker, EVENT, self.op, self.at_ns, self.start_ns, self.delay_ns, self.flag,
                                     values={'comm': self.comm, 'pid': self.pid, 'tgid': self.pid})

    def values(self) -> dict[str, Json]:
        """For JSON."""
        return {'tracker': self.tracker, 'operation': self.operation, 'op': self.op, 'flag': self.flag,
                'at_ns': self.at_ns, 'start_ns': self.start_ns, 'delay_ns': self.delay_ns, 'comm': self.comm, 'pid': self.pid,
                'what': self.what, 'says': self.text, 'idle': self.idle, 'cgroup': self.cgroup,
                'count': self.count, 'segments': [of.values() for of in self.segments]}


def _what(path: Path) -> str:
    if path.tracker == 'syscalls' and path.operation != '-':
        return f'{path.operation}()'
    if path.tracker == 'mark' and path.operation != '-':
        return path.operation
    return KINDS.get(path.tracker, path.tracker) + (f' ({path.operation})' if path.operation != '-' else '')


def path_of(entry: dict[str, object]) -> Path:
    """Of the JSON of values(). ValueError, KeyError, TypeError: it is none."""
    found = Path(*(kind(str(entry[name])) for name, kind in (
        ('op', int), ('tracker', str), ('operation', str), ('flag', str), ('delay_ns', int), ('count', int), ('at_ns', int))))
    found.what, found.text, found.idle = str(entry['what']), str(entry['says']), bool(entry['idle'])
    found.cgroup = str(entry.get('cgroup', '?'))
    for of in list(entry['segments']):  # type: ignore[call-overload]
        ints = {name: int(of[name]) for name in INTS}
        texts = {name: str(of[name]) for name in TEXTS}
        found.segments.append(Segment(**ints, **texts, stack=[str(frame) for frame in of['stack']]))  # type: ignore[arg-type]
    if not found.segments:
        raise ValueError
    return found


def operations(part: Tracker) -> list[str]:
    """The trackers whose operations get a path, by the module, which is loaded."""
    said = part.get('operations').strip()
    return list(KINDS) if said == 'all' else [name.strip() for name in said.split(',') if name.strip()]


def is_wanted(path: Path, names: Collection[str], passes: Callable[[Report], bool]) -> bool:
    """It is of one of these trackers, passes a filter, and is not what this program does."""
    report = path.as_report()
    return path.tracker in names and not report.own and passes(report)


def outermost(paths: Iterable[Path]) -> list[Path]:
    """Without those that are part of another one of the same task: a wait within a system call, or an operation when it
    was pending. Else the same time would count twice."""
    found: list[Path] = []
    for path in sorted(paths, key=lambda path: (path.pid, path.start_ns, -path.delay_ns)):
        last = found[-1] if found else None
        if not last or path.pid < 0 or path.pid != last.pid or path.end_ns > last.end_ns:
            found.append(path)
    return found


def worst_of(paths: Iterable[Path], most: int) -> list[Path]:
    """The slowest of each kind; what waits for something to do comes last."""
    found: dict[tuple[str, str, str], Path] = {}
    for path in outermost(paths):
        key = path.tracker, path.comm, path.what
        if key not in found or path.delay_ns > found[key].delay_ns:
            found[key] = path
    return sorted(found.values(), key=lambda path: (path.idle, -path.delay_ns))[:most]


class Gatherer:
    """Puts segments together, and finds the report of the operation, which comes before its path. cgroup: the path
    of one with an id. clock: when a segment is taken, which may be seconds behind the event on a busy machine; without one
    it is taken at once."""

    def __init__(self, cgroup: Callable[[int], str], clock: Callable[[], int] | None = None) -> None:
        self.cgroup, self.clock = cgroup, clock
        self.open: OrderedDict[int, Path] = OrderedDict()
        self.operations: OrderedDict[tuple[str, int, int, str], Report] = OrderedDict()

    def remember(self, report: Report) -> None:
        """An operation, whose path may come."""
        self.operations[report.tracker, report.number('pid'), report.delay_ns, report.flag] = report
        while len(self.operations) > REMEMBERED:
            self.operations.popitem(last=False)

    def add(self, report: Report) -> list[Path]:
        """A segment. Returns the paths that nothing comes to any more."""
        now_ns = self.clock() if self.clock else report.at_ns
        op, segment = report.number('op'), segment_of(report, self.cgroup)
        # However long it took to come to this segment: it is here.
        done = self.overdue(now_ns, op if self.clock else None)
        if op in self.open and any(of.number == segment.number for of in self.open[op].segments):
            # The numbers have begun anew.
            done.append(self._end(op))
        path = self.open.get(op)
        if not path:
            path = self.open[op] = Path(op, report.text('tracker'), report.text('operation'), report.flag,
                                        report.number('total'), report.number('segments'), report.at_ns)
        path.segments.append(segment)
        path.at_ns = max(path.at_ns, report.at_ns)
        path.taken_ns = max(path.at_ns, now_ns)
        if path.complete:
            done.append(self._end(op))
        while len(self.open) > HELD:
            done.append(self._end(next(iter(self.open))))
        return done

    def overdue(self, now_ns: int, but: int | None = None) -> list[Path]:
        """Those of which something is missing, and does not come any more."""
        return [self._end(op) for op, path in list(self.open.items()) if now_ns - path.taken_ns > WAIT_NS and op != but]

    def rest(self) -> list[Path]:
        """All that are not complete."""
        return [self._end(op) for op in list(self.open)]

    def _end(self, op: int) -> Path:
        path = self.open.pop(op)
        path.segments.sort(key=lambda of: of.number)
        report = self.operations.get((path.tracker, path.pid, path.delay_ns, path.flag))
        path.report = report if report and path.is_of(report) else None
        if path.report:
            of = words(path.report)
            path.what, path.text, path.idle = of.what, of.text, of.idle
            path.cgroup = self.cgroup(path.report.number('cgroup_id'))
        else:
            path.what = _what(path)
            verb = 'took' if path.flag == 'ended' else 'has taken'
            path.text = f'{path.what} of {task(path.comm, path.pid) or "an unknown task"} {verb} {human(path.delay_ns)}'
        return path
