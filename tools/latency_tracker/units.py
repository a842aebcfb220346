# SPDX-License-Identifier: GPL-2.0-only
"""Numbers as a person would write them, and back."""
from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal

from latency_tracker import Error

UNITS_NS = {'ns': 1, 'us': 10**3, 'µs': 10**3, 'ms': 10**6, 's': 10**9, 'm': 60 * 10**9,
            'h': 3600 * 10**9}
# Of the causes in late operations: how many minutes, and what they are called.
WINDOWS_OF_CAUSES = {'1m': (1, 'the last minute'), '10m': (10, 'the last 10 minutes'), '1h': (60, 'the last hour')}
# What a threshold is that nothing reaches.
NEVER_NS = 2**64 - 1


def human(ns: float) -> str:
    """A duration of so many ns in the unit that a person would use."""
    if ns >= NEVER_NS - 1000:
        return 'never'
    hours = ns / UNITS_NS['h']
    if hours >= 1:
        return f'{hours:,.0f} h' if hours >= 100 else f'{hours:.1f} h'
    for unit, size_ns in (('s', 10**9), ('ms', 10**6), ('µs', 10**3)):
        if ns >= size_ns:
            value = ns / size_ns
            return f'{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}'
    return f'{ns:.0f} ns'


def exact(ns: int) -> str:
    """Like human(), but without rounding: parse_time() reads it back."""
    if ns >= NEVER_NS - 1000:
        return 'never'
    for unit in ('s', 'ms', 'us'):
        if ns and ns % UNITS_NS[unit] == 0:
            return f'{ns // UNITS_NS[unit]}{unit}'
    return f'{ns}ns'


def size(nbytes: int) -> str:
    """So many bytes."""
    if nbytes >= 1 << 20:
        return f'{nbytes / (1 << 20):.1f} MiB'
    return f'{nbytes / 1024:g} KiB' if nbytes >= 1024 else f'{nbytes} B'


def parse_time(text: str) -> int:
    """A duration in ns, of "50ms", "1.5s", "never"; it must have a unit, unless it is 0."""
    if text == 'never':
        return NEVER_NS
    found = re.fullmatch(r'(\d{1,20}(?:\.\d{1,9})?) ?([a-zµ]*)', text, re.ASCII)
    if not found or found[2] not in UNITS_NS and not (found[2] == '' and float(found[1]) == 0):
        raise Error(f'"{text}" is no time: a number with the unit ns, us, ms, s, m or h, such as 50ms')
    ns = Decimal(found[1]) * UNITS_NS[found[2] or 'ns']
    if ns != int(ns) or ns >= NEVER_NS:
        raise Error(f'"{text}" is too exact, or too long, for a time')
    return int(ns)


def spread(delays: list[int]) -> str:
    """A tiny histogram, each bar twice as long a delay as the one before."""
    if not delays:
        return ''
    low = min(delays)
    bars = Counter((delay // max(low, 1)).bit_length() - 1 for delay in delays)
    top = max(bars.values())
    line = ''.join(' ▁▂▃▄▅▆▇█'[-(-8 * bars.get(i, 0) // top)] for i in range(max(bars) + 1))
    return f'{human(low)} {line} {human(max(delays))}'
