# SPDX-License-Identifier: GPL-2.0-only
"""Does compare find what has changed, and nothing else? Judged by draws from known distributions."""
from __future__ import annotations

import math
import random
from pathlib import Path

import numpy
import pytest

from latency_tracker.compare import Key, chance, changes
from latency_tracker.profile import Histogram

from .conftest import Shell
from .fake import buckets_file, groups_file

STATE = '/sys/kernel/latency_tracker/block/profile'
BUCKETS = range(-400, 100)
KEYS: list[Key] = [('block', 'disk', f'sd{letter}') for letter in 'abcdefgh'] + [('block', '', '')]


def shares(median_ns: float, sigma: float, slow: float = 0.0, factor: float = 1.0) -> list[float]:
    """Of each bucket of schema 5: log-normal, with a share of slow ones ten times as long; the slowest
    part, beyond the 95 % point, is longer by a factor."""
    def below(ns: float) -> float:
        point = math.exp(1.645 * sigma) * median_ns
        if ns > point:
            ns = max(point, ns / factor)
        return sum(weight * 0.5 * math.erfc(-math.log(ns / median) / sigma / math.sqrt(2))
                   for weight, median in ((1 - slow, median_ns), (slow, 10 * median_ns)))
    bounds = [below(2**(bucket / 32) * 1e9) for bucket in (*BUCKETS, BUCKETS[-1] + 1)]
    found = [high - low for low, high in zip(bounds, bounds[1:])]
    return [share / sum(found) for share in found]


def draw(chance_of: numpy.random.Generator, of: list[float], count: int) -> Histogram:
    """So many independent operations."""
    counts = chance_of.multinomial(count, of)
    return Histogram(5, {bucket: int(n) for bucket, n in zip(BUCKETS, counts) if n}, 0, 10**11, 60 * 10**9)


def test_chance_is_that_of_a_permutation() -> None:
    dice = random.Random(5)
    for a, count_a, b, count_b in ((3, 40, 12, 50), (9, 200, 2, 90), (5, 30, 6, 30)):
        marks = [1] * (a + b) + [0] * (count_a + count_b - a - b)
        mean = (a + b) * count_a / (count_a + count_b)
        seen = 0
        for _ in range(20_000):
            dice.shuffle(marks)
            got = sum(marks[:count_a])
            seen += got >= a if a > mean else got <= a
        assert abs(min(2 * seen / 20_000, 1) - chance(a, count_a, b, count_b)) < 0.012


def test_exact_and_normal_meet() -> None:
    exact = chance(199, 10_000, 201 + 0, 10_000), chance(160, 10_000, 239, 10_000)
    normal = chance(200, 10_000, 202, 10_000), chance(161, 10_000, 241, 10_000)
    assert normal[0] == pytest.approx(exact[0], abs=0.05) and 0.3 < normal[1] / exact[1] < 3


def test_windows_without_what_they_share(shell: Shell) -> None:
    shell.machine.tracker('block')
    shell.machine.put(f'{STATE}/buckets', buckets_file([10**6] * 900 + [10**7] * 100))
    shell.machine.put(f'{STATE}/groups', groups_file({('disk', b'sda read device'): [10**6] * 100}))
    # The same in both windows: nothing is left of the longer one.
    told = shell('compare', '1h', '1m')
    assert (told.status, told.out[:9]) == (0, 'no change')
    # The last minute is slow, and a sixth of the hour, which has been fast before.
    minute, hour = buckets_file([10**7] * 1000), buckets_file([10**6] * 5000 + [10**7] * 1000)
    shell.machine.put(f'{STATE}/buckets', minute[:16384] + hour[16384:])
    found = {of['quantile']: of for of in shell('compare', '1h', '1m', '--json').objects}
    assert set(found) == {'p50', 'p90', 'p99', 'p99.9'}
    assert all(9.8 < float(str(of['ratio'])) < 10.2 for of in found.values())
    back = {of['quantile']: of for of in shell('compare', '1m', '1h', '--json').objects}
    assert set(back) == set(found) and all(0.098 < float(str(of['ratio'])) < 0.103 for of in back.values())
    assert shell('compare', '1m', '1m').status == 1
    assert 'neither a file' in shell('compare', '1m', '/nosuch').err


def test_files(shell: Shell, tmp_path: Path) -> None:
    shell.machine.tracker('block')
    shell.machine.put(f'{STATE}/buckets', buckets_file([10**6] * 2000))
    shell.machine.put(f'{STATE}/groups', groups_file({('disk', b'sda read device'): [10**6] * 1000,
                                                      ('disk', b'sdb read device'): [10**6] * 1000}))
    assert shell('save', str(tmp_path / 'a')).status == 0
    shell.machine.put(f'{STATE}/buckets', buckets_file([10**6] * 1000 + [2 * 10**6] * 1000))
    shell.machine.put(f'{STATE}/groups', groups_file({('disk', b'sda read device'): [2 * 10**6] * 1000,
                                                      ('disk', b'sdb read device'): [10**6] * 1000}))
    shell('save', str(tmp_path / 'b'))
    assert shell('compare', str(tmp_path / 'a'), str(tmp_path / 'a')).status == 0
    told = shell('compare', str(tmp_path / 'a'), str(tmp_path / 'b'), '--json')
    assert told.status == 2
    assert {of['group'] for of in told.objects} == {'sda read device', None}
    assert all(1.9 < float(str(of['ratio'])) < 2.1 and of['type'] == 'change' for of in told.objects)
    assert shell('compare', 'total', str(tmp_path / 'b')).status == 0
    (tmp_path / 'c').write_text('{"type": "histogram"}\n')
    assert 'nothing that' in shell('compare', 'total', str(tmp_path / 'c')).err


# The long ones come last: a mutant ends with the first that fails.
@pytest.mark.parametrize('count', [100, 3000, 100_000])
def test_the_same_load_is_no_change(count: int) -> None:
    dice = numpy.random.default_rng(count)
    loads = [shares(10**6 * (1 + i), 0.3 + 0.2 * i, 0.01 * i) for i in range(len(KEYS))]
    alarms = sum(bool(changes({key: draw(dice, of, count) for key, of in zip(KEYS, loads)},
                              {key: draw(dice, of, count // 2 + 50) for key, of in zip(KEYS, loads)}, 0.05))
                 for _ in range(400))
    assert alarms <= 4


@pytest.mark.parametrize('sigma', [0.3, 0.6, 1.0])
def test_a_p99_that_rose_by_a_tenth_is_found(sigma: float) -> None:
    dice = numpy.random.default_rng(1)
    before, after = shares(10**6, sigma), shares(10**6, sigma, factor=1.1)
    for _ in range(30):
        same = {key: draw(dice, before, 100_000) for key in KEYS}
        found = changes(same, {**same, KEYS[3]: draw(dice, after, 100_000)}, 0.05)
        assert {(change.key, change.quantile) for change in found} >= {(KEYS[3], 'p99')}
        assert {change.key for change in found} == {KEYS[3]}
        assert all(1.04 < change.ratio < 1.2 for change in found if change.quantile == 'p99')
