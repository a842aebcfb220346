# SPDX-License-Identifier: GPL-2.0-only
"""Profiles against an exact sort of what they were made of."""
from __future__ import annotations

import random

import pytest

from latency_tracker import Error
from latency_tracker.profile import groups, windows
from latency_tracker.state import Tracker

from .conftest import Shell
from .fake import Fake, buckets_file, groups_file

STATE = '/sys/kernel/latency_tracker/block/profile'


def delays(seed: int, count: int = 5000) -> list[int]:
    """Over all octaves that have buckets, and below."""
    chance = random.Random(seed)
    return [int(2**chance.uniform(3, 35.9)) for _ in range(count)]


@pytest.mark.parametrize('seed', range(5))
def test_quantiles_are_those_of_a_sort(machine: Fake, seed: int) -> None:
    machine.tracker('block')
    exact = sorted(delays(seed))
    machine.put(f'{STATE}/buckets', buckets_file(exact))
    for of in windows(Tracker(machine, 'block')).values():
        figures = of.figures()
        assert (figures['count'], figures['sum_ns'], figures['max_ns']) == (5000, sum(exact), exact[-1])
        for name, rank in (('p50_ns', 2500), ('p90_ns', 4500), ('p99_ns', 4950), ('p999_ns', 4995)):
            low = exact[rank - 1]
            assert low <= max(figures[name], 63) and (figures[name] <= low * 1.0220 + 1 or low < 64)


def test_a_quantile_of_few(machine: Fake) -> None:
    machine.tracker('block')
    machine.put(f'{STATE}/buckets', buckets_file([10**6, 8 * 10**6, 64 * 10**6]))
    of = windows(Tracker(machine, 'block'))['1m']
    assert 8 * 10**6 <= of.quantile_ns(0.5) < 9 * 10**6 and of.quantile_ns(0.99) == 64 * 10**6
    assert of.quantile_ns(1 / 3) < 2 * 10**6


def test_groups_likewise(machine: Fake) -> None:
    machine.tracker('block')
    exact = {('disk', b'sda read device'): sorted(delays(9, 400)), ('disk', b'other'): [5 * 10**6],
             ('cgroup', b'/a\xff'): [10**6]}
    machine.put(f'{STATE}/groups', groups_file(exact))
    found = {(group.dimension, group.name): group for group in groups(Tracker(machine, 'block'))}
    assert set(found) == {('disk', 'sda read device'), ('disk', 'other'), ('cgroup', '/a\\xff')}
    of = found['disk', 'sda read device'].total
    low = exact['disk', b'sda read device'][199]
    assert low <= max(of.quantile_ns(0.5), 65) <= max(low * 1.0906 + 1, 65)
    assert found['disk', 'other'].other and of.count == 400


def test_a_torn_profile_is_an_error(machine: Fake) -> None:
    machine.tracker('block')
    machine.put(f'{STATE}/buckets', buckets_file([1], (7,) * 7 + (8,)))
    with pytest.raises(Error, match='changed during each'):
        windows(Tracker(machine, 'block'))


@pytest.mark.parametrize('data', [b'x' * 4096, b'LTPROF\0\0' + b'\2' * 4088, b'LTPROF'])
def test_another_layout_is_an_error(machine: Fake, data: bytes) -> None:
    machine.tracker('block')
    machine.put(f'{STATE}/buckets', data)
    with pytest.raises(Error):
        windows(Tracker(machine, 'block'))


def test_hist(shell: Shell) -> None:
    shell.machine.tracker('block')
    shell.machine.put(f'{STATE}/buckets', buckets_file([10**6] * 50 + [8 * 10**6] * 50))
    told = shell('hist', 'block', '--window', '1m')
    lines = told.out.splitlines()
    assert told.status == 0 and lines[2].split() == [
        '1m', '100', '1.7/s', '1.02', 'ms', '8.00', 'ms', '8.00', 'ms', '8.00', 'ms', '8.00', 'ms']
    rows = [line for line in lines if '█' in line]
    assert [row.split()[-1] for row in rows] == ['50', '50'] and len({row.count('█') for row in rows}) == 1
    json = shell('hist', 'block', '--json').objects
    assert [of['window'] for of in json] == ['1m', '5m', '1h', 'total']
    buckets = json[0]['buckets_ns']
    assert isinstance(buckets, dict) and sorted(buckets.values()) == [50, 50]


def test_hist_by_groups(shell: Shell) -> None:
    shell.machine.tracker('block')
    assert 'groups=on' in shell('hist', 'block', '--by', 'disk').err
    shell.machine.put(f'{STATE}/groups', groups_file({
        ('disk', b'sda read device'): [10**7] * 9, ('disk', b'sdb read device'): [10**5] * 99}))
    lines = shell('hist', 'block', '--by', 'disk').out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ['sda', 'sdb'] and lines[2].split()[3] == '9'
    assert 'by nothing; it has: disk' in shell('hist', 'block', '--by', 'nothing').err
    assert len(shell('hist', 'block', '--group', 'sdb*').out.splitlines()) == 3
    assert shell('hist', 'block', '--window', '2m').status == 1
    assert '1m and total, not 5m' in shell('hist', 'block', '--by', 'disk', '--window', '5m').err


def test_top_switches_the_groups_back(shell: Shell) -> None:
    shell.machine.tracker('block')
    shell.machine.put(f'{STATE}/groups', groups_file({('disk', b'sda read device'): [10**7] * 9}))
    told = shell('top', '--turns', '1', '--every', '10ms', '--json')
    assert [of['group'] for of in told.objects] == ['sda read device'] and told.objects[0]['count'] == 9
    assert shell.machine.read(f'{STATE}/groups_on').strip() == '0'
