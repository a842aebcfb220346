# SPDX-License-Identifier: GPL-2.0-only
"""The files profile/1m to total, profile/buckets and profile/groups of a tracker, as
Documentation/ABI/sysfs lays them out. Counts are operations, times ns."""
from __future__ import annotations

import math
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from latency_tracker import Error
from latency_tracker.state import Tracker

RECORD = 4096
WINDOWS = ('1m', '5m', '1h', 'total')
SHARES = {'p50_ns': 0.5, 'p90_ns': 0.9, 'p99_ns': 0.99, 'p999_ns': 0.999, 'p9999_ns': 0.9999}
BUCKETS = struct.Struct('=QIIiiIIIIQQQQQ')
GROUPS = struct.Struct('=QIIiiIIQQQQQQQQQII16s64s')
# Of a schema: the bucket of all that is shorter, and its bound; the one of all that is longer.
ENDS = {5: (-766, 63, 195), 3: (-192, 65, 48)}
# A sum comes every two seconds, and a read takes milliseconds.
TRIES = 50


class Histogram:
    """Counts by bucket: bucket i is above 2^(i / 2^schema) s, up to 2^((i+1) / 2^schema) s. stored: the first bucket,
    and a count for each from there on; of thousands of groups, most are never looked at."""

    def __init__(self, schema: int, counts: dict[int, int] | None = None, sum_ns: int = 0, max_ns: int = 0,
                 span_ns: int = 0, stored: tuple[int, tuple[int, ...]] | None = None) -> None:
        self.schema, self.sum_ns, self.max_ns, self.span_ns = schema, sum_ns, max_ns, span_ns
        self._counts, self._stored = counts or {}, stored

    @property
    def counts(self) -> dict[int, int]:
        """Of the buckets that have any."""
        if self._stored:
            first, counts = self._stored
            self._counts, self._stored = {first + i: count for i, count in enumerate(counts) if count}, None
        return self._counts

    @property
    def count(self) -> int:
        """Operations."""
        return sum(self._stored[1] if self._stored else self._counts.values())

    def upper_ns(self, bucket: int) -> int:
        """The longest delay that is in a bucket."""
        first, bound_ns, last = ENDS[self.schema]
        if bucket in (first, last):
            return bound_ns if bucket == first else self.max_ns
        return math.floor(math.pow(2, (bucket + 1) / 2**self.schema) * 10**9)

    def beyond(self, at: int) -> int:
        """Operations in buckets behind one."""
        return sum(count for bucket, count in self.counts.items() if bucket > at)

    def bucket_of_quantile(self, share: float) -> int:
        """Where it is; there must be an operation."""
        rank = max(math.ceil(round(self.count * share, 6)), 1)
        for bucket, count in sorted(self.counts.items()):
            rank -= count
            if rank <= 0:
                return bucket
        raise ValueError('an empty histogram has no quantile')

    def quantile_ns(self, share: float) -> int:
        """An upper bound, as the tracker's own files have it; 0 if there is no operation."""
        return min(self.upper_ns(self.bucket_of_quantile(share)), self.max_ns) if self.count else 0

    def figures(self) -> dict[str, int]:
        """What the file of a window has, by name."""
        return {'count': self.count, 'sum_ns': self.sum_ns, 'max_ns': self.max_ns,
                **{name: self.quantile_ns(share) for name, share in SHARES.items()},
                'span_ns': self.span_ns}

    def merged(self, width: int) -> dict[int, int]:
        """With so many neighbours in one; the key is the last of them."""
        found: dict[int, int] = {}
        for bucket, count in self.counts.items():
            last = bucket // width * width + width - 1
            found[last] = found.get(last, 0) + count
        return found


@dataclass
class Group:
    """Of one dimension; other: what is in no other group of it."""
    dimension: str
    name: str
    id: int
    other: bool
    total: Histogram
    minute: Histogram


def _text(data: bytes) -> str:
    return data.split(b'\0')[0].decode(errors='backslashreplace')


def _read(tracker: Tracker, name: str) -> bytes:
    try:
        data = tracker.machine.path(f'{tracker.state}/profile/{name}').read_bytes()
    except FileNotFoundError:
        tracker.number('started')
        raise Error(f'{tracker.name} has no profile/{name}: its module is an older one') from None
    except PermissionError:
        raise Error(f'profile/{name} may be read by root only: use sudo') from None
    except OSError:
        raise Error(f'the tracker {tracker.name} was unloaded') from None
    if len(data) % RECORD:
        raise Error(f'profile/{name} of {tracker.name} ends in the middle of a record')
    return data


def _records(tracker: Tracker, name: str, magic: bytes) -> Iterator[bytes]:
    data = _read(tracker, name)
    for at in range(0, len(data), RECORD):
        record = data[at:at + RECORD]
        if record[:8] != magic or record[8:12] != struct.pack('=I', 1):
            raise Error(f'profile/{name} of {tracker.name} has a layout that is not known here: '
                        'is the command older than the modules?')
        yield record


def windows(tracker: Tracker, wanted: Collection[str] = WINDOWS) -> dict[str, Histogram]:
    """All windows, of one sum; only those that are wanted have counts."""
    for _ in range(TRIES):
        found = {name: Histogram(5) for name in WINDOWS}
        generations = set()
        for record in _records(tracker, 'buckets', b'LTPROF\0\0'):
            (_, _, window, _, index, _, nr, _, _, generation, begin_ns, end_ns, sum_ns,
             max_ns) = BUCKETS.unpack_from(record)
            of = found[WINDOWS[window]]
            of.sum_ns, of.max_ns, of.span_ns = sum_ns, max_ns, end_ns - begin_ns
            if WINDOWS[window] in wanted:
                counts = struct.unpack_from(f'={nr}Q', record, 248)
                of.counts.update({index + i: count for i, count in enumerate(counts) if count})
            generations.add(generation)
        if len(generations) == 1:
            return found
    raise Error(f'the profile of {tracker.name} changed during each of {TRIES} reads')


def groups(tracker: Tracker) -> list[Group]:
    """All groups, of one moment; none if they are off and always were."""
    for _ in range(TRIES):
        found, generations, expected = [], set(), 0
        for record in _records(tracker, 'groups', b'LTGRUP\0\0'):
            (_, _, _, schema, index, nr, expected, generation, ident, begin_ns, minute_ns, end_ns,
             sum_ns, max_ns, minute_sum_ns, minute_max_ns, other, _, dimension,
             name) = GROUPS.unpack_from(record)
            counts = struct.unpack_from(f'={2 * nr}Q', record, 240)
            total = Histogram(schema, None, sum_ns, max_ns, end_ns - begin_ns, (index, counts[:nr]))
            minute = Histogram(schema, None, minute_sum_ns, minute_max_ns, end_ns - minute_ns, (index, counts[nr:]))
            found.append(Group(_text(dimension), 'other' if other else _text(name), ident,
                               bool(other), total, minute))
            generations.add(generation)
        if len(generations) <= 1 and (not found or expected == len(found)):
            return found
    raise Error(f'the groups of {tracker.name} changed during each of {TRIES} reads')
