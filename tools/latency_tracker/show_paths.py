# SPDX-License-Identifier: GPL-2.0-only
"""How a path looks: a tree with bars, or a JSON object."""
from __future__ import annotations

from latency_tracker.cmd_hist import bar
from latency_tracker.machine import Machine
from latency_tracker.output import Output, printable
from latency_tracker.paths import Path, Segment
from latency_tracker.show import in_line, wall_time
from latency_tracker.units import human

# Of a bar, where the terminal is wide enough; a bar begins where its segment does.
COLUMNS, NARROW_COLUMNS, WIDE = 24, 8, 100
INDENT, OF_A_HOP = 2, 2


def percent(part_ns: float, whole_ns: float) -> str:
    """Of the whole; what is not 0 is not said to be 0."""
    share = 100 * part_ns / max(whole_ns, 1)
    return '<1 %' if 0 < share < 0.5 else f'{share:.0f} %'


def bar_of(path: Path, of: Segment, columns: int) -> str:
    """From where the segment begins in its path, as long as it is."""
    whole_ns = max(path.delay_ns, 1)
    begin = min(max((of.start_ns - path.start_ns) / whole_ns, 0), 1 - 1 / columns)
    return ' ' * int(begin * columns) + bar(min(of.delay_ns / whole_ns, 1 - begin), columns)


def line(path: Path, of: Segment, columns: int) -> str:
    """Delay, share, bar, and words that are indented by the hop."""
    return (f'{human(of.delay_ns):>7}  {percent(of.delay_ns, path.delay_ns):>5}  {bar_of(path, of, columns):<{columns}}  '
            f'{" " * OF_A_HOP * of.hop}{path.says(of)}')


class PathShower:
    """Shows paths; frames is how long a stack may get, 0 for none."""

    def __init__(self, machine: Machine, out: Output, frames: int = 6) -> None:
        self.machine, self.out, self.frames = machine, out, frames
        self.host = machine.hostname()

    def show(self, path: Path, with_time: bool = True) -> None:
        """One. Without its time if it is of another boot."""
        when = wall_time(self.machine, path.at_ns)
        if self.out.as_json:
            self._object(path)
            return
        stamp = when.strftime('%H:%M:%S.') + f'{when.microsecond // 1000:03}'
        mark = 'dim' if path.idle else 'yellow' if path.flag == 'pending' else ''
        self.out.raw((self.out.style(stamp, 'bold') + '  ' if with_time else '') +
                     self.out.style(f'{path.tracker:9}', 'cyan') + ' ' + self.out.style(printable(path.text), mark))
        self._segments(path)

    def show_below(self, path: Path) -> None:
        """One, behind the report of its operation."""
        if self.out.as_json:
            self._object(path)
        else:
            self._segments(path)

    def _object(self, path: Path) -> None:
        when = wall_time(self.machine, path.at_ns)
        self.out.object('path', time=when.isoformat(timespec='microseconds'), host=self.host, **path.values())

    def _segments(self, path: Path) -> None:
        if path.missing:
            self.out.line(path.missing, 'yellow', indent=INDENT)
        columns = COLUMNS if self.out.columns >= WIDE else NARROW_COLUMNS
        for of in path.segments:
            self.out.line(line(path, of, columns), indent=INDENT)
            if of.stack and self.frames:
                room = ' ' * (columns + 18 + OF_A_HOP * (of.hop + 1))
                self.out.line(room + in_line(of.stack, self.frames), 'dim', indent=INDENT)
