# SPDX-License-Identifier: GPL-2.0-only
"""What a run of scripts/demo has left in a directory."""
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypedDict, TypeVar

from events import Late, Syscall, read_trace
from latency_tracker.units import human

AnyEvent = TypeVar("AnyEvent")
AnyLate = TypeVar("AnyLate", bound=Late)


@dataclass
class About:
    kernel: str
    cpus: str
    seconds: float
    disk_ms: str


@dataclass
class Counters:
    """Those of a tracker that the report needs, when it is switched off."""

    threshold_ns: int
    started: int
    finished: int
    late: int
    pending: int
    cleared: int
    collected: int
    skipped: int


class Direction(TypedDict):
    """What fio says of its reads, or of its writes."""

    total_ios: int
    clat_ns: dict[str, float]


class Run:
    """What a run has left."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        about = dict(line.split(" ", 1) for line in self.lines("about"))
        self.about = About(about["kernel"], about["cpus"], float(about["seconds"]),
                           about["disk_ms"])
        self.counters = {
            tracker: Counters(**{field.name: values[field.name] for field in fields(Counters)})
            for tracker, values in self.sysfs("counters").items()}
        self.pending = {tracker: values["pending"]
                        for tracker, values in self.sysfs("counters-running").items()}
        self.lost = sum(int(line.split(":")[1]) for line in self.lines("buffers")
                        if re.match("(commit )?overrun|dropped", line))
        self.calls = {int(match[2]): match[1] for match in (
            re.match(r"#define __NR_(\w+)\s+(\d+)", line) for line in self.lines("unistd_64.h"))
            if match}
        self.events, self.unread = read_trace(self.lines("trace"))

    def lines(self, name: str) -> list[str]:
        text = (self.directory / name).read_text(encoding="utf-8", errors="replace")
        return text.splitlines()

    def sysfs(self, name: str) -> dict[str, dict[str, int]]:
        """The values of each tracker."""
        found: dict[str, dict[str, int]] = defaultdict(dict)
        for line in self.lines(name):
            path, value = line.split(" ")
            tracker, counter = path.split("/")
            found[tracker][counter] = int(value)
        return found

    def all(self, kind: type[AnyEvent]) -> list[AnyEvent]:
        return [event for event in self.events if isinstance(event, kind)]

    def late(self, kind: type[AnyLate]) -> list[AnyLate]:
        """The events of an operation that ended, the worst first."""
        return worst_first(event for event in self.all(kind) if event.flag == "ended")

    def call(self, event: Syscall) -> str:
        if event.compat:
            return f"32-bit call {event.nr}"
        return self.calls.get(event.nr, f"call {event.nr}")

    def workload(self) -> Iterator[str]:
        text = "\n".join(self.lines("sysbench.log"))
        found = re.search(r"transactions: +(\d+) +\((\S+) per sec", text)
        tail = re.search(r"95th percentile: +(\S+)", text)
        if found and tail:
            yield (f"sysbench oltp_read_write: {found[1]} transactions, {found[2]}/s, "
                   f"95 % within {human(float(tail[1]) * 1e6)}")
        with open(self.directory / "fio.json", encoding="utf-8") as file:
            jobs: list[dict[str, Direction]] = json.load(file)["jobs"]
        for kind in ("read", "write"):
            ios = sum(job[kind]["total_ios"] for job in jobs)
            if ios:
                mean = sum(job[kind]["total_ios"] * job[kind]["clat_ns"]["mean"]
                           for job in jobs) / ios
                yield f"fio random {kind}s: {ios}, {human(mean)} each on average"

    def profile(self) -> Iterator[str]:
        """What fio has measured when it was alone, and what the profile of the block tracker says of that."""
        with open(self.directory / "fio-alone.json", encoding="utf-8") as file:
            reads = json.load(file)["jobs"][0]["read"]
        fio = {f"p{float(share):.0f}_ns": int(ns) for share, ns in reads["clat_ns"]["percentile"].items()}
        told = {name: int(value) for name, value in (line.split() for line in self.lines("profile-1m"))}
        yield (f"fio alone, by itself: {reads['total_ios']:,} reads, " +
               ", ".join(f"{name[:-3]} {human(ns)}" for name, ns in fio.items()))
        yield (f"block/profile/1m of that: {told['count']:,} reads, " + ", ".join(
            f"{name[:-3]} {human(told[name])} ({(told[name] / ns - 1) * 100:+.1f} %)" for name, ns in fio.items()))


def worst_first(events: Iterable[AnyLate]) -> list[AnyLate]:
    return sorted(events, key=lambda event: -event.delay)
