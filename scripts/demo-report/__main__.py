# SPDX-License-Identifier: GPL-2.0-only
"""Show what a run of scripts/demo has left in a directory.

Everything comes from the trace events and from the counters in sysfs.
Usage: demo-report [--worst N] DIRECTORY
"""
import argparse
import sys
from pathlib import Path

try:
    from screen import Screen
    from trackers import TRACKERS, Tracker
except ModuleNotFoundError:
    sys.exit("demo-report: install the package python3-rich: run scripts/setup")
from run import Counters, Run
from latency_tracker.units import human, spread


class Report:
    """The screen."""

    def __init__(self, run: Run, screen: Screen) -> None:
        self.run, self.screen = run, screen
        self.problems: list[str] = []
        self.notes: list[str] = []

    def overview(self) -> None:
        about = self.run.about
        self.screen.rule("[bold]latency-tracker: what was late[/]")
        self.screen.print(f"Linux {about.kernel}, {about.cpus} emulated CPUs, "
                          f"{about.seconds:.0f} s of work, on a disk that takes up to "
                          f"{about.disk_ms} ms for a request")
        for line in self.run.workload():
            self.screen.print(f"  {line}")
        for line in self.run.profile():
            self.screen.print(f"  {line}")
        table = self.screen.table("tracker", ">threshold", ">tracked", ">in time", ">late",
                                  ">pending", ">cleared", ">skipped", "delays of the late")
        for tracker in TRACKERS:
            c = self.run.counters.get(tracker.name)
            if not c:
                self.problems.append(f"the tracker {tracker.name} has left no counters")
                continue
            late = [event for kind in tracker.kinds for event in self.run.late(kind)]
            pending = min(self.run.pending.get(tracker.name, 0), c.cleared)
            cleared = c.cleared + c.collected - pending
            table.add_row(tracker.name, human(c.threshold_ns), f"{c.started:,}",
                          f"{c.finished - c.late:,}", f"[bold]{c.late:,}[/]",
                          f"{pending:,}", f"{cleared:,}", f"{c.skipped:,}",
                          spread([event.delay for event in late]))
            self.account(tracker.name, c, len(late))
        self.screen.print(table)
        self.screen.explain("pending: when the trackers were switched off; cleared: forgotten, "
                            "such as the call of a\ntask that died; skipped: not tracked, for "
                            "want of a free event. A bar is twice the delay of the one before.")

    def account(self, name: str, c: Counters, recorded: int) -> None:
        rest = c.started - c.finished - c.collected - c.cleared - c.pending
        if rest:
            self.problems.append(f"the counters of {name} do not add up: {rest} of "
                                 f"{c.started} operations are unaccounted for")
        if not c.late or not recorded:
            self.problems.append(f"the tracker {name} saw no late operation: give it a lower "
                                 f"--threshold than {human(c.threshold_ns)}, or more --seconds")
        if c.skipped:
            self.notes.append(f"{name}: {c.skipped} operations were skipped, for want of a "
                              "free event: raise max_events")
        if c.late != recorded:
            self.notes.append(f"{name}: {c.late} were counted as late, {recorded} left an "
                              "event in the trace")

    def section(self, tracker: Tracker, counters: Counters) -> None:
        self.screen.rule(f"[bold cyan]{tracker.name}[/]: {tracker.about}", style="cyan")
        self.screen.print(f"{counters.late:,} of {counters.started:,} took "
                          f"{human(counters.threshold_ns)} or longer.")
        tracker.show(self.run, self.screen)

    def end(self) -> int:
        """The exit status."""
        self.screen.print()
        if self.run.lost:
            self.notes.append(f"the trace buffer was too small: {self.run.lost} events are "
                              "missing above")
        if self.run.unread:
            self.notes.append(f"{self.run.unread} lines of the trace were not understood")
        for note in self.notes:
            self.screen.print(f"Note: {note}.", style="yellow")
        lost = sum(c.skipped for c in self.run.counters.values()) + self.run.lost
        if not lost and not self.problems:
            self.screen.print("All accounted for: started = in time + late + pending + cleared for "
                              "each tracker; nothing was skipped\nand no event was lost.",
                              style="green")
        self.screen.flush()
        for problem in self.problems:
            print(f"demo: {problem}", file=sys.stderr)
        return 1 if self.problems else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Show what scripts/demo has caught.",
                                     prog="demo-report")
    parser.add_argument("--worst", type=int, default=2, help="stacks of so many (2)")
    parser.add_argument("directory", type=Path)
    args = parser.parse_args()
    try:
        run = Run(args.directory)
        report = Report(run, Screen(args.worst))
        report.overview()
        for tracker in TRACKERS:
            if tracker.name in run.counters:
                report.section(tracker, run.counters[tracker.name])
        return report.end()
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"demo-report: {args.directory} does not hold a complete run: {error!r}")


if __name__ == "__main__":
    sys.exit(main())
