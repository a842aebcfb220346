# SPDX-License-Identifier: GPL-2.0-only
"""Jobs that run side by side."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from .suite import Place

# A suite, or a machine with its tests.
Job = Callable[[Place], None]

# What a command that only computes begins with: behind the guests it gives way at once.
LOWEST = ("chrt", "--idle", "0")


def run_beside(place: Place, jobs: Iterable[tuple[str, Job]], width: int) -> None:
    """Jobs, each with a tag for its logs; width: so many at a time."""
    with ThreadPoolExecutor(width) as pool:
        parts = [(place.part(tag), job) for tag, job in jobs]
        futures = [pool.submit(job, part) for part, job in parts]
    for (part, _), future in zip(parts, futures):
        place.tally.add(part.tally)
        future.result()
