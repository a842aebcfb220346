# SPDX-License-Identifier: GPL-2.0-only
"""report --svg: a flame graph of folded stacks, as Brendan Gregg describes them: a box for each
function, above the one that called it, as wide as the delays behind it; of chains of causes likewise."""
from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from latency_tracker.page import esc
from latency_tracker.units import human

WIDTH, HEIGHT = 1200, 17
# Narrower boxes are left out, in pixels.
LEAST = 0.3


@dataclass
class Node:
    """A function in its place, with the us of all stacks through it."""
    usec: int = 0
    below: dict[str, Node] = field(default_factory=dict)


def tree(sums: Mapping[tuple[str, ...], int]) -> Node:
    """Of stacks, outermost first."""
    root = Node()
    for stack, usec in sums.items():
        node = root
        node.usec += usec
        for frame in stack:
            node = node.below.setdefault(frame, Node())
            node.usec += usec
    return root


def depth(node: Node) -> int:
    """Of the highest stack."""
    return 1 + max((depth(child) for child in node.below.values()), default=0)


def colour(name: str) -> str:
    """Always the same for a name; warm."""
    number = hashlib.sha256(name.encode(errors='replace')).digest()
    return f'rgb({205 + number[0] % 50},{80 + number[1] % 120},{number[2] % 55})'


def boxes(name: str, node: Node, x: float, level: int, levels: int, scale: float) -> list[str]:
    """Of a function and of all that it has called."""
    width = node.usec * scale
    if width < LEAST:
        return []
    y = (levels - level - 1) * HEIGHT + 30
    room = int(width / 7)
    shown = name if len(name) <= room else name[:room - 1] + '…' if room > 3 else ''
    share = 100 * width / (WIDTH - 20)
    parts = [f'<g><title>{esc(name)}: {human(node.usec * 1000)}, {share:.1f} %</title>'
             f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{HEIGHT - 1}" fill="{colour(name)}" rx="2"/>'
             f'<text x="{x + 3:.1f}" y="{y + 12}">{esc(shown)}</text></g>']
    for child in sorted(node.below):
        parts += boxes(child, node.below[child], x, level + 1, levels, scale)
        x += node.below[child].usec * scale
    return parts


def svg(sums: Mapping[tuple[str, ...], int], title: str) -> str:
    """A picture of its own; there must be a stack."""
    root = tree(sums)
    levels = depth(root)
    height = levels * HEIGHT + 46
    scale = (WIDTH - 20) / max(root.usec, 1)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
            '<style>text { font: 12px ui-monospace, monospace; fill: #111; } '
            'g:hover rect { stroke: #000; }</style>'
            f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
            f'<text x="10" y="18">{esc(title)}, {human(root.usec * 1000)} in all</text>'
            f'{"".join(boxes("all", root, 10, 0, levels, scale))}</svg>\n')
