# SPDX-License-Identifier: GPL-2.0-only
"""Numbers as a person would write them."""
from collections import Counter


def human(ns: float) -> str:
    """A duration in the unit that a person would use."""
    for unit, size_ns in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= size_ns:
            value = ns / size_ns
            return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}"
    return f"{ns} ns"


def size(nbytes: int) -> str:
    if nbytes >= 1 << 20:
        return f"{nbytes / (1 << 20):.1f} MiB"
    return f"{nbytes / 1024:g} KiB" if nbytes >= 1024 else f"{nbytes} B"


def spread(delays: list[int]) -> str:
    """A tiny histogram, each bar twice as long a delay as the one before."""
    if not delays:
        return ""
    low = min(delays)
    bars = Counter((delay // max(low, 1)).bit_length() - 1 for delay in delays)
    top = max(bars.values())
    line = "".join(" ▁▂▃▄▅▆▇█"[-(-8 * bars.get(i, 0) // top)] for i in range(max(bars) + 1))
    return f"{human(low)} {line} {human(max(delays))}"
