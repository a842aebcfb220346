#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The profiles of groups, and what they should be by all events of a trace.

Usage: groups.py DIRECTORY                                  print each group in a line
       groups.py DIRECTORY TRACE UNTOLD                     compare

DIRECTORY is TRACKER/profile; its file groups is laid out as Documentation/ABI/sysfs says. A line
has dimension=, name=, id=, other=, count=, minute=, sum=, max=, minute_max=, p50= and p99= (upper bounds of
buckets, ns), and on all lines bytes are escaped as in Python. TRACE has an event of the tracker, with a
field delay, for each operation that ended but for UNTOLD of them. Prints what is wrong, and at last
wrong=, count=, groups= and told=, how many figures were compared.
"""
import collections
import pathlib
import re
import struct
import sys
from collections.abc import Callable

HEADER = struct.Struct('=QIIiiII9QII16s64s')
NAMES = ('magic version dimension schema index nr groups generation id begin_ns minute_ns end_ns sum_ns'
         ' max_ns minute_sum_ns minute_max_ns is_other reserved dimension_name name').split()
BUCKETS = 241
COUNTS = struct.Struct(f'={2 * BUCKETS}Q')
SHORT, LONG = -192, 48
Fields = dict[str, str]
wrong: list[str] = []
told = 0


class Group:
    """A record."""

    def __init__(self, data: bytes) -> None:
        header = dict(zip(NAMES, HEADER.unpack_from(data)))
        self.header = {name: value for name, value in header.items() if isinstance(value, int)}
        self.dimension = header['dimension_name'].split(b'\0')[0].decode()
        self.name = header['name'].split(b'\0')[0].decode(errors='backslashreplace')
        if header['is_other']:
            self.name = 'other'
        counts = COUNTS.unpack_from(data, 240)
        self.count = dict(enumerate(counts[:BUCKETS], SHORT))
        self.minute = dict(enumerate(counts[BUCKETS:], SHORT))

    def quantile(self, share: int) -> int:
        """An upper bound of it, ns."""
        rank = -(-sum(self.count.values()) * share // 100)
        for bucket, count in self.count.items():
            rank -= count
            if rank <= 0:
                return min(int(2**((bucket + 1) / 8) * 10**9), self.header['max_ns'])
        return 0

    def line(self) -> str:
        """See above."""
        header = self.header
        return (f'dimension={self.dimension} name={self.name.replace(" ", "_")} id={header["id"]}'
                f' other={header["is_other"]} count={sum(self.count.values())}'
                f' minute={sum(self.minute.values())} sum={header["sum_ns"]} max={header["max_ns"]}'
                f' minute_max={header["minute_max_ns"]} p50={self.quantile(50)} p99={self.quantile(99)}'
                f' minute_s={(header["end_ns"] - header["minute_ns"]) // 10**9}')


def read_groups(path: pathlib.Path) -> list[Group]:
    """All of one generation."""
    for _ in range(20):
        data = path.read_bytes()
        found = [Group(data[at:at + 4096]) for at in range(0, len(data), 4096)]
        if all(group.header['generation'] == found[0].header['generation'] and
               group.header['groups'] == len(found) for group in found):
            return found
    raise SystemExit('# torn 20 times\nwrong=1')


def same(what: str, is_so: object, told_so: object) -> None:
    """One comparison."""
    global told
    told += 1
    if is_so != told_so:
        wrong.append(f'{what}: {told_so}, and not {is_so}')


def bucket_of(delay_ns: int) -> int:
    """The bucket of OpenTelemetry's scale 3 in seconds; integers only."""
    # 2^(i/8) < d / 10^9 <= 2^((i+1)/8)
    power, base = max(delay_ns, 1)**8, 10**(9 * 8)
    index = power.bit_length() - base.bit_length() - 2
    while power > (base << index + 1 if index >= -1 else base >> -index - 1):
        index += 1
    return min(max(index, SHORT), LONG)


def call_of(event: Fields) -> str:
    """As the group of a system call is called."""
    name = event['call'] if event['call'] != '-' else event['nr']
    return name + (' (32-bit)' if event['compat'] == '1' else '')


def op_of(event: Fields) -> str:
    """The letters of blktrace: F before the operation is a flush in front of it."""
    letters = event['rwbs']
    if letters.startswith('F'):
        return 'flush'
    return {'R': 'read', 'W': 'write', 'D': 'discard'}.get(letters[0], 'other')


def vector_of(event: Fields) -> str:
    """A soft interrupt and its stage."""
    return f'softirq {event["name"]} {event["stage"]}'


# Of a tracker: its events, and the group of each in each dimension.
EVENTS: dict[str, dict[str, dict[str, Callable[[Fields], str]]]] = {
    'syscalls': {'syscall_latency': {'call': call_of}},
    'block': {'block_latency': {'disk': lambda e: f'{e["disk"]} {op_of(e)} {e["stage"]}'}},
    'network': {'network_latency': {'device': lambda e: f'{e["dev"]} {e["end"]}'}},
    'irq': {'irq_latency': {'interrupt': lambda e: f'irq {e["irq"]}'},
            'softirq_latency': {'interrupt': vector_of}},
    'wakeup': {'wakeup_latency': {}},
    'offcpu': {'offcpu_sched_switch': {}},
}
EVENT = re.compile(r' (\w+_latency|offcpu_sched_switch): (.*)')
FIELD = re.compile(r'(\w+)=([^,]*)')


def expected(trace: pathlib.Path, tracker: str) -> dict[tuple[str, str], list[int]]:
    """The delays of each group, and of all, by dimension and name; cgroups by id."""
    delays: dict[tuple[str, str], list[int]] = collections.defaultdict(list)
    with trace.open(encoding='utf-8', errors='replace') as lines:
        for hit in filter(None, map(EVENT.search, lines)):
            dimensions = EVENTS[tracker].get(hit[1])
            if dimensions is None:
                continue
            event = dict(FIELD.findall(hit[2]))
            delay = int(event['delay'])
            delays['', ''].append(delay)
            for dimension, name in dimensions.items():
                delays[dimension, name(event)].append(delay)
            if tracker != 'irq':
                delays['cgroup', event['cgroup_id']].append(delay)
    return delays


def check_group(what: str, group: Group, delays: list[int]) -> None:
    """All that is known of it."""
    header = group.header
    same(f'{what}: count', len(delays), sum(group.count.values()))
    same(f'{what}: sum', sum(delays), header['sum_ns'])
    same(f'{what}: max', max(delays, default=0), header['max_ns'])
    buckets = collections.Counter(map(bucket_of, delays))
    same(f'{what}: buckets', buckets, {at: count for at, count in group.count.items() if count})
    if header['begin_ns'] == header['minute_ns']:
        same(f'{what}: minute', (group.count, header['sum_ns'], header['max_ns']),
             (group.minute, header['minute_sum_ns'], header['minute_max_ns']))


def compare(found: list[Group], trace: pathlib.Path, tracker: str, untold: int) -> None:
    """The groups against the events."""
    delays = expected(trace, tracker)
    all_of = delays.pop(('', ''), [])
    for group in found:
        header = group.header
        same('magic', b'LTGRUP', header['magic'].to_bytes(8, 'little').strip(b'\0'))
        same('version, schema, buckets', (1, 3, BUCKETS),
             (header['version'], header['schema'], header['nr']))
        name = str(header['id']) if group.dimension == 'cgroup' else group.name
        # What there is no event of may be of any group; of the class, an event does not tell.
        if not untold and not header['is_other'] and group.dimension != 'class':
            events = delays.pop((group.dimension, name), [])
            check_group(f'{group.dimension} {name}', group, events)
    for (dimension, name), events in delays.items():
        if not untold:
            wrong.append(f'{dimension} {name}: {len(events)} events, and no group')
    for dimension in {group.dimension for group in found}:
        same(f'{dimension}: all', len(all_of) + untold,
             sum(sum(group.count.values()) for group in found if group.dimension == dimension))
        if not untold:
            same(f'{dimension}: sum of all', sum(all_of),
                 sum(group.header['sum_ns'] for group in found if group.dimension == dimension))


def main() -> None:
    """See above."""
    directory = pathlib.Path(sys.argv[1])
    found = read_groups(directory / 'groups')
    if len(sys.argv) == 2:
        for group in found:
            print(group.line())
        return
    compare(found, pathlib.Path(sys.argv[2]), directory.parent.name, int(sys.argv[3]))
    for text in wrong[:20]:
        print('#', text)
    count = sum(sum(group.count.values()) for group in found if not group.header['dimension'])
    print(f'wrong={len(wrong)} count={count} groups={len(found)} told={told}')


main()
