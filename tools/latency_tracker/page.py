# SPDX-License-Identifier: GPL-2.0-only
"""report --html: one page with everything in it: when what was slow, how slow, the worst with their
causes. No script, and nothing from a network."""
from __future__ import annotations

import html
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from latency_tracker.output import cut
from latency_tracker.records import Report
from latency_tracker.show import Summary
from latency_tracker.stacks import in_short, plain
from latency_tracker.units import human
from latency_tracker.words import Words, stacks

Entry = tuple[Report, Words]
WIDTH, LEFT, RIGHT = 1100, 134, 20
COLUMNS = 100
# Rows of the heat map and of the histogram in an octave of delays.
ROWS_PER_OCTAVE = 2
COLOURS = {'wakeup': '#d95f02', 'offcpu': '#7570b3', 'syscalls': '#1b9e77', 'block': '#e7298a',
           'irq': '#66a61e', 'network': '#1f78b4', 'lock': '#a6761d', 'mark': '#e6ab02', 'chain': '#8dd3c7'}
OTHER_COLOUR = '#666666'
STYLE = '''
body { font: 14px/1.45 system-ui, sans-serif; max-width: 1140px; margin: 24px auto; padding: 0 16px; color: #222; background: #fff; }
h1 { font-size: 22px; margin-bottom: 4px; } h2 { font-size: 17px; margin-top: 28px; }
svg { width: 100%; height: auto; background: #fafafa; border: 1px solid #ddd; }
svg text { font: 12px system-ui, sans-serif; fill: #444; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; border-bottom: 1px solid #999; }
td, th { padding: 3px 8px; } td { overflow-wrap: anywhere; } td.n, th.n { text-align: right; white-space: nowrap; } tr.idle { color: #888; }
details { margin: 6px 0; } summary { cursor: pointer; } .why { margin-left: 22px; color: #555; }
code { font: 12px ui-monospace, monospace; color: #555; overflow-wrap: anywhere; }
.key { display: inline-block; width: 11px; height: 11px; margin: 0 4px 0 14px; } p.note { color: #555; }
@media (prefers-color-scheme: dark) {
 body { background: #16181c; color: #ddd; } svg { background: #1d2025; border-color: #333; } svg text { fill: #bbb; }
 .why, code, p.note { color: #aaa; } tr.idle { color: #777; } th { border-color: #555; } }
'''


def esc(text: str) -> str:
    """As text of a page; what is no character that a page may have is written out."""
    return html.escape(''.join(c if c.isprintable() else f'\\x{ord(c):02x}' for c in text))


def rect(x: float, y: float, width: float, height: float, colour: str, title: str, opacity: float = 1) -> str:
    """A box that says what it is when the pointer is on it."""
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}" '
            f'fill-opacity="{opacity:.2f}"><title>{esc(title)}</title></rect>')


def label(x: float, y: float, text: str, anchor: str = 'end') -> str:
    """Text in a picture."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{esc(text)}</text>'


def picture(height: float, parts: Iterable[str], title: str) -> str:
    """An inline SVG."""
    return (f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{esc(title)}">'
            f'{"".join(parts)}</svg>')


class Span:
    """The time of the recording, to its last report. What waits for something to do may have begun long before:
    only the others count for the begin."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        busy = [report.start_ns for report, of in entries if not of.idle]
        self.begin_ns = min([*busy, *(report.at_ns for report, _ in entries)])
        self.end_ns = max(*(report.at_ns for report, _ in entries), self.begin_ns + 1)

    def x(self, at_ns: float) -> float:
        """Where a moment is in a picture."""
        return LEFT + (at_ns - self.begin_ns) / (self.end_ns - self.begin_ns) * (WIDTH - LEFT - RIGHT)

    def axis(self, y: float) -> list[str]:
        """Five times, since the begin."""
        length = self.end_ns - self.begin_ns
        return [label(self.x(self.begin_ns + length * i / 4), y, human(length * i / 4) if i else '0 s', anchor)
                for i, anchor in enumerate(('start', 'middle', 'middle', 'middle', 'end'))]


def colour_of(tracker: str) -> str:
    """The same in all pictures."""
    return COLOURS.get(tracker, OTHER_COLOUR)


def lanes(entries: Sequence[Entry], most: int = 24) -> list[tuple[str, list[Entry]]]:
    """Who was late, those with the most time first; what waits for something to do is left out if there
    is anything else."""
    found: dict[str, list[Entry]] = defaultdict(list)
    busy = [entry for entry in entries if not entry[1].idle]
    for report, of in busy or entries:
        found[of.who].append((report, of))
    return sorted(found.items(), key=lambda lane: -sum(report.delay_ns for report, _ in lane[1]))[:most]


def timeline(entries: Sequence[Entry], span: Span) -> str:
    """A line for each task, disk or device; an operation is a box from its begin to its end."""
    parts = []
    shown = lanes(entries)
    for row, (who, of_lane) in enumerate(shown):
        y = 6 + row * 18
        parts.append(label(LEFT - 6, y + 11, cut(who, 16)))
        for report, of in of_lane:
            x = max(span.x(report.start_ns), LEFT)
            width = max(span.x(report.start_ns + report.delay_ns) - x, 1.5)
            parts.append(rect(x, y, width, 13, colour_of(report.tracker), of.text, 0.65))
    return picture(len(shown) * 18 + 28, [*parts, *span.axis(len(shown) * 18 + 20)], 'timeline')


def row_of(delay_ns: int) -> int:
    """Of the heat map and the histogram."""
    return math.floor(math.log2(max(delay_ns, 1)) * ROWS_PER_OCTAVE)


def heat_map(entries: Sequence[Entry], span: Span) -> str:
    """How many there were at what time, by their delay."""
    cells: Counter[tuple[int, int]] = Counter()
    width = (WIDTH - LEFT - RIGHT) / COLUMNS
    for report, _ in entries:
        cells[min(int((span.x(report.at_ns) - LEFT) / width), COLUMNS - 1), row_of(report.delay_ns)] += 1
    low, high = min(row for _, row in cells), max(row for _, row in cells)
    most = max(cells.values())
    parts = [rect(LEFT + column * width, 6 + (high - row) * 12, width, 12, '#b30000',
                  f'{count} of {human(2**(row / ROWS_PER_OCTAVE))} to {human(2**((row + 1) / ROWS_PER_OCTAVE))}',
                  0.2 + 0.8 * count / most) for (column, row), count in sorted(cells.items())]
    parts += [label(LEFT - 6, 16 + (high - row) * 12, human(2**(row / ROWS_PER_OCTAVE)))
              for row in range(low, high + 1, 2)]
    height = (high - low + 1) * 12 + 28
    return picture(height, [*parts, *span.axis(height - 8)], 'delays over time')


def histogram(entries: Sequence[Entry]) -> str:
    """How many there were of each delay, by tracker."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for report, _ in entries:
        counts[row_of(report.delay_ns)][report.tracker] += 1
    rows = range(min(counts), max(counts) + 1)
    most = max(sum(of.values()) for of in counts.values())
    parts = []
    for number, row in enumerate(rows):
        y, x = 6 + number * 16, float(LEFT)
        parts.append(label(LEFT - 6, y + 11, human(2**(row / ROWS_PER_OCTAVE))))
        for tracker, count in sorted(counts.get(row, Counter[str]()).items()):
            width = count / most * (WIDTH - LEFT - RIGHT - 60)
            parts.append(rect(x, y, max(width, 1), 13, colour_of(tracker), f'{tracker}: {count}', 0.8))
            x += width
        parts.append(label(x + 6, y + 11, str(sum(counts[row].values())) if row in counts else '', 'start'))
    return picture(len(rows) * 16 + 12, parts, 'histogram of delays')


def table(summary: Summary, most: int = 20) -> str:
    """Alike operations, the heaviest first."""
    rows = []
    for (tracker, who, what), of in summary.ordered()[:most]:
        rows.append(f'<tr{" class=idle" * of.idle}><td>{esc(tracker)}<td>{esc(who)}<td>{esc(what)}<td class=n>{of.count:,}'
                    f'<td class=n>{human(of.worst_ns)}<td class=n>{human(of.total_ns)}</tr>')
    return ('<table><tr><th>tracker<th>who<th>what<th class=n>late<th class=n>worst<th class=n>in all</tr>' +
            ''.join(rows) + '</table>')


def worst(entries: Sequence[Entry], most: int) -> str:
    """The slowest of each kind, with why."""
    found: dict[tuple[str, str, str], Entry] = {}
    for report, of in entries:
        key = report.tracker, of.who, of.what
        if key not in found or report.delay_ns > found[key][0].delay_ns:
            found[key] = report, of
    parts = []
    for report, of in sorted(found.values(), key=lambda entry: (entry[1].idle, -entry[0].delay_ns))[:most]:
        why = [f'<div>{esc(detail)}</div>' for detail in of.details]
        why += [f'<div>{esc(title)}: <code>{esc(" <- ".join(plain(frame) for frame in in_short(stack)))}</code></div>'
                for title, stack in stacks(report)]
        parts.append(f'<details open><summary><span class=key style="background:{colour_of(report.tracker)}"></span>'
                     f'{esc(of.text)}</summary><div class=why>{"".join(why)}</div></details>')
    return ''.join(parts)


def of_reports(entries: Sequence[Entry], missed: int, most: int, more: str) -> str:
    """What there is to say of reports; more comes behind the table. There must be one."""
    span, summary = Span(entries), Summary()
    for report, of in entries:
        summary.add(report, of)
    keys = ''.join(f'<span class=key style="background:{colour_of(tracker)}"></span>{esc(tracker)}'
                   for tracker in dict.fromkeys(report.tracker for report, _ in entries))
    lost = f' {missed:,} more came too fast, and are missing.' if missed else ''
    return (f'<p class=note>{len(entries):,} reports in {human(span.end_ns - span.begin_ns)}.{lost}</p><p>{keys}</p>'
            f'<h2>Who waited for what</h2>{table(summary)}{more}'
            f'<h2>When</h2>{timeline(entries, span)}'
            f'<h2>Delays over time</h2>{heat_map(entries, span)}'
            f'<h2>How long</h2>{histogram(entries)}'
            f'<h2>The slowest of each kind</h2>{worst(entries, most)}')


def page(entries: Sequence[Entry], first: str, missed: int, most: int, more: str = '') -> str:
    """All of it; there must be a report, or more, which is of paths."""
    return (f'<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>latency-tracker: what was slow</title>'
            f'<meta name=viewport content="width=device-width"><style>{STYLE}</style></head><body>'
            f'<h1>What was slow</h1><p class=note>The first at {esc(first)}.</p>'
            f'{of_reports(entries, missed, most, more) if entries else more}</body></html>\n')
