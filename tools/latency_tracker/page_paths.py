# SPDX-License-Identifier: GPL-2.0-only
"""The part of the page of "report --html" that is of paths: what late time was made of in all, and each of the slowest as bars
that stand on each other."""
from __future__ import annotations

from collections.abc import Sequence

from latency_tracker.causes import Kind, Late, causes_of
from latency_tracker.output import cut
from latency_tracker.page import OTHER_COLOUR, WIDTH, esc, label, picture, rect
from latency_tracker.paths import Path, Segment, worst_of
from latency_tracker.show_paths import percent
from latency_tracker.stacks import in_short, plain
from latency_tracker.units import human

MARGIN, HEIGHT = 10, 20
# Of a character, in a bar that is wide enough for some.
CHARACTER, LEAST = 7.2, 5
COLOURS = {'running': '#1b9e77', 'cpu': '#d95f02', 'throttled': '#e6ab02', 'rt_throttled': '#e6ab02', 'dl_server': '#e6ab02',
           'steal': '#e6ab02', 'lock': '#a6761d', 'disk': '#e7298a', 'queue': '#e7298a', 'device': '#e7298a', 'memory': '#e7298a',
           'task': '#7570b3', 'work': '#7570b3', 'timer': '#1f78b4', 'packet': '#1f78b4',
           'softirq': '#66a61e', 'hardirq': '#66a61e', 'raised': '#66a61e', 'interrupt': '#66a61e'}


def colour_of(cause: str) -> str:
    """The same in all pictures."""
    return COLOURS.get(cause, OTHER_COLOUR)


def _bar(path: Path, of: Segment) -> list[str]:
    room, whole_ns = WIDTH - 2 * MARGIN, max(path.delay_ns, 1)
    begin = min(max((of.start_ns - path.start_ns) / whole_ns, 0), 1)
    width = min(of.delay_ns / whole_ns, 1 - begin) * room
    x, y, says = MARGIN + begin * room, 4 + max(of.hop, 0) * HEIGHT, path.says(of)
    found = [rect(x, y, max(width - 1, 1), HEIGHT - 2, colour_of(of.cause),
                  f'{says}: {human(of.delay_ns)}, {percent(of.delay_ns, path.delay_ns)}', 0.5)]
    characters = int(width / CHARACTER) - 1
    if characters >= LEAST:
        found.append(label(x + 4, y + 13, cut(says, characters), 'start'))
    return found


def bars(path: Path) -> str:
    """A row for each hop, each segment below the one that it explains, from its begin to its end."""
    rows = max(max(of.hop, 0) for of in path.segments) + 1
    return picture(rows * HEIGHT + 6, [part for of in path.segments for part in _bar(path, of)], f'path of {path.what}')


def _line(path: Path, of: Segment) -> str:
    stack = f' <code>{esc(" <- ".join(plain(frame) for frame in in_short(of.stack)))}</code>' if of.stack else ''
    return (f'<div style="margin-left:{18 * max(of.hop, 0)}px"><span class=key style="background:{colour_of(of.cause)}"></span>'
            f'{human(of.delay_ns)}, {percent(of.delay_ns, path.delay_ns)}: {esc(path.says(of))}{stack}</div>')


def tree(path: Path) -> str:
    """A path: its bars, and its segments in words."""
    missing = f'<div>{esc(path.missing)}</div>' if path.missing else ''
    return (f'<details open><summary>{esc(path.text)}</summary>{bars(path)}<div class=why>{missing}'
            f'{"".join(_line(path, of) for of in path.segments)}</div></details>')


def table(found: Sequence[tuple[Kind, Late]], most: int) -> str:
    """What the late time of alike operations was."""
    rows = []
    for (tracker, what), late in found:
        for (cause, detail), share in sorted(late.shares.items(), key=lambda entry: -entry[1].total_ns):
            part = 100 * min(share.total_ns / max(late.total_ns, 1), 1)
            rows.append(f'<tr><td>{esc(tracker)}<td>{esc(what)}<td>{esc(f"{cause} {detail}")}<td class=n>{percent(share.total_ns, late.total_ns)}'
                        f'<td><div style="width:{part:.1f}%;height:11px;background:{colour_of(cause)}"></div>'
                        f'<td class=n>{human(share.total_ns)}</tr>')
    return ('<table><tr><th>tracker<th>of the late time of<th>was<th class=n>share<th style="width:20%"><th class=n>in all</tr>' +
            ''.join(rows[:most]) + '</table>')


def of_paths(paths: Sequence[Path], most: int) -> str:
    """All of it; nothing if there is none."""
    if not paths:
        return ''
    return (f'<h2>What late time was made of</h2>{table(causes_of(paths), 2 * most)}'
            f'<h2>What the slowest were made of</h2>{"".join(tree(path) for path in worst_of(paths, most))}')
