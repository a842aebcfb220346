#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The files of a profile against each other, and against all delays of a trace.

Usage: judge.py DIRECTORY [EVENT TRACE UNTOLD]

DIRECTORY is profile/ of a tracker; its file buckets is laid out as Documentation/ABI/sysfs says.
With EVENT, TRACE has one such event, with a field delay, for each operation that ended but for UNTOLD of
them. Prints what is wrong, and at last wrong=, count= and told=, how many figures were compared.
"""
import pathlib
import re
import struct
import sys

HEADER = struct.Struct('=QIIiiIIIIQQQQQ')
NAMES = ('magic version window schema index first nr buckets reserved generation begin_ns end_ns'
         ' sum_ns max_ns').split()
WINDOWS = ('1m', '5m', '1h', 'total')
SHARES = {'p50_ns': 5000, 'p90_ns': 9000, 'p99_ns': 9900, 'p999_ns': 9990, 'p9999_ns': 9999}
SHORT, LONG = -766, 195
wrong: list[str] = []
told = 0


def same(what: str, is_so: object, told_so: object) -> None:
    """One comparison."""
    global told
    told += 1
    if is_so != told_so:
        wrong.append(f'{what}: {told_so}, and not {is_so}')


def bucket_of(delay_ns: int) -> int:
    """The bucket of OpenTelemetry's scale 5 in seconds; integers only."""
    if delay_ns < 64:
        return SHORT
    # 2^(i/32) < d / 10^9 <= 2^((i+1)/32)
    power, base = delay_ns**32, 10**(9 * 32)
    index = power.bit_length() - base.bit_length() - 2
    while power > (base << index + 1 if index >= -1 else base >> -index - 1):
        index += 1
    return min(index, LONG)


def records(path: pathlib.Path) -> list[tuple[dict[str, int], list[int]]]:
    """All records of one generation: header by name, counts."""
    for _ in range(20):
        data = path.read_bytes()
        found = []
        for at in range(0, len(data), 4096):
            header = dict(zip(NAMES, HEADER.unpack_from(data, at)))
            found.append((header, list(struct.unpack_from(f'={header["nr"]}Q', data, at + 248))))
        if len({header['generation'] for header, _ in found}) == 1:
            return found
    raise SystemExit('# torn 20 times\nwrong=1')


def text(path: pathlib.Path) -> dict[str, int]:
    """The lines of a window."""
    return {name: int(value) for name, value in map(str.split, path.read_text().splitlines())}


def quantile(counts: dict[int, int], share: int) -> int:
    """In which bucket it is."""
    rank = -(-sum(counts.values()) * share // 10000)
    for bucket, count in sorted(counts.items()):
        rank -= count
        if rank <= 0:
            return bucket
    raise AssertionError


def check_window(name: str, lines: dict[str, int], header: dict[str, int],
                 counts: dict[int, int]) -> None:
    """The text says what the records say."""
    same(f'{name} magic', b'LTPROF', header['magic'].to_bytes(8, 'little').strip(b'\0'))
    same(f'{name} version, schema, buckets', (1, 5, 962),
         (header['version'], header['schema'], header['buckets']))
    same(f'{name} count', sum(counts.values()), lines['count'])
    for value in ('sum_ns', 'max_ns'):
        same(f'{name} {value}', header[value], lines[value])
    same(f'{name} span_ns', header['end_ns'] - header['begin_ns'], lines['span_ns'])
    for value, share in SHARES.items():
        if lines['count'] and lines[value] < lines['max_ns']:
            same(f'{name} {value}', quantile(counts, share), bucket_of(lines[value]))


def check_delays(delays: list[int], untold: int, lines: dict[str, int],
                 counts: dict[int, int]) -> None:
    """All operations are in the profile, each in its bucket."""
    delays.sort()
    same('count', len(delays) + untold, lines['count'])
    if untold:
        # What there is no event of is in some bucket, too.
        counts = {bucket: count for bucket, count in counts.items() if count}
        over = sum(counts.values()) - len(delays)
        for delay in delays:
            counts[bucket_of(delay)] = counts.get(bucket_of(delay), 0) - 1
        same('the rest', (untold, True), (over, min(counts.values()) >= 0))
        return
    same('sum', sum(delays), lines['sum_ns'])
    same('max', delays[-1] if delays else 0, lines['max_ns'])
    expected: dict[int, int] = {}
    for delay in delays:
        bucket = bucket_of(delay)
        expected[bucket] = expected.get(bucket, 0) + 1
    for bucket in sorted(expected.keys() | counts.keys()):
        same(f'bucket {bucket}', expected.get(bucket, 0), counts.get(bucket, 0))
    for value, share in SHARES.items():
        exact = delays[-(-len(delays) * share // 10000) - 1] if delays else 0
        if not exact <= max(lines[value], 63) <= max(exact * 2**(1 / 32), 63):
            wrong.append(f'{value} is {lines[value]}, and exact {exact}')


def main() -> None:
    """See above."""
    directory = pathlib.Path(sys.argv[1])
    # A sum between two reads: again.
    for _ in range(20):
        lines = {name: text(directory / name) for name in WINDOWS}
        found = records(directory / 'buckets')
        if lines == {name: text(directory / name) for name in WINDOWS}:
            break
    same('records', len(found), 2 * len(WINDOWS))
    for window, name in enumerate(WINDOWS):
        counts: dict[int, int] = {}
        for header, of in found[2 * window:2 * window + 2]:
            same('window', window, header['window'])
            same('place', header['first'] + SHORT, header['index'])
            counts.update({header['index'] + i: count for i, count in enumerate(of) if count})
        check_window(name, lines[name], header, counts)
    if len(sys.argv) > 2:
        line = re.compile(rf' {sys.argv[2]}: .*\bdelay=(\d+)')
        with open(sys.argv[3], encoding='utf-8', errors='replace') as trace:
            delays = [int(hit[1]) for hit in map(line.search, trace) if hit]
        check_delays(delays, int(sys.argv[4]), lines['total'], counts)
    for text_of in wrong[:20]:
        print('#', text_of)
    print(f'wrong={len(wrong)} count={lines["total"]["count"]} told={told}')


main()
