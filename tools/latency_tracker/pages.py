# SPDX-License-Identifier: GPL-2.0-only
"""Pages of the kernel's trace buffers, and the events in them, by the format files of tracefs. Nothing here
is asked of the kernel, so a recording can be played again."""
from __future__ import annotations

import re
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from latency_tracker import Error
from latency_tracker.records import Value
from latency_tracker.stacks import Symbols

FIELD = re.compile(r'field:(?P<type>[^;]*?)(?P<name>\w+)(?P<array>\[\w*\])?;\s*offset:(?P<offset>\d+);'
                   r'\s*size:(?P<size>\d+);\s*signed:(?P<signed>[01]);')
SYMBOLIC = re.compile(r'__print_symbolic\(REC->(\w+),((?:\s*\{[^{}]*\}\s*,?)+)\)')
NAMED = re.compile(r'\{\s*(-?(?:0x[0-9a-fA-F]+|\d+))[uUlL]*\s*,\s*"([^"]*)"\s*\}')
# Of a page: its time, how long its data is, and flags; then the data. Of an event: a type or its length, and the
# time since the one before (include/linux/ring_buffer.h).
PAGE = struct.Struct('<QQ')
WORD = struct.Struct('<I')
LENGTH = (1 << 20) - 1
TYPE_LONG, TYPE_PADDING, TYPE_EXTEND, TYPE_TIME = 0, 29, 30, 31
TIME_BITS = 59


@dataclass(frozen=True)
class Place:
    """Where a field is, and what it is: number, text, name, stack, or symbol."""
    name: str
    kind: str
    offset: int
    size: int
    signed: bool = False
    # 1: where the data is stands there, from the begin of the event; 2: from the end of the field.
    dynamic: int = 0
    names: dict[int, str] = field(default_factory=dict)


def _place(found: re.Match[str], names: dict[str, dict[int, str]], fmt: str) -> Place | None:
    kind, name = found['type'], found['name']
    dynamic = 1 if kind.startswith('__data_loc') else 2 if kind.startswith('__rel_loc') else 0
    place = name, int(found['offset']), int(found['size'])
    if name.startswith('common_'):
        return None
    if '*' in kind:
        # A raw address is told to nobody.
        return Place(name, 'symbol', *place[1:]) if re.search(rf'\b{name}=%p[sS]', fmt) else None
    if 'char' in kind and (dynamic or found['array']):
        return Place(name, 'text', *place[1:], dynamic=dynamic)
    if dynamic:
        return Place(name, 'stack', *place[1:], dynamic=dynamic)
    return Place(name, 'name' if name in names else 'number', *place[1:], signed=found['signed'] == '1',
                 names=names.get(name, {}))


class Format:
    """Of an event, by the text of its file."""

    def __init__(self, text: str) -> None:
        head, _, fmt = text.partition('print fmt:')
        ident, name = re.search(r'^ID: (\d+)$', head, re.MULTILINE), re.search(r'^name: (\w+)$', head, re.MULTILINE)
        if not ident or not name:
            raise Error('a format file of the kernel is not understood')
        self.id, self.name = int(ident[1]), name[1]
        names = {found[1]: {int(number, 0): text for number, text in NAMED.findall(found[2])}
                 for found in SYMBOLIC.finditer(fmt)}
        self.places = [place for found in FIELD.finditer(head) if (place := _place(found, names, fmt))]

    def decode(self, data: bytes, symbols: Symbols) -> dict[str, Value]:
        """The fields, as Report has them. Error: the event is shorter than its format says."""
        found: dict[str, Value] = {}
        for place in self.places:
            at, size = place.offset, place.size
            if at + size > len(data):
                raise Error(f'an event {self.name} is cut off')
            if place.dynamic:
                where = int.from_bytes(data[at:at + 4], 'little')
                at, size = (where & 0xffff) + (at + 4 if place.dynamic == 2 else 0), where >> 16
            part = data[at:at + size]
            if place.kind == 'text':
                found[place.name] = part.split(b'\0')[0].decode(errors='backslashreplace')
            elif place.kind == 'stack':
                found[place.name] = [symbols.name(address) for address in struct.unpack_from(f'<{len(part) // 8}Q', part)]
            else:
                number = int.from_bytes(part, 'little', signed=place.signed)
                name = symbols.of_field(place.name, number) if place.kind == 'symbol' else place.names.get(number)
                found[place.name] = number if name is None else name
        return found


def page_size(header: str) -> int:
    """By the file events/header_page. Error: pages look otherwise than is known here."""
    found = {of['name']: (int(of['offset']), int(of['size'])) for of in FIELD.finditer(header)}
    if found.get('timestamp') != (0, 8) or found.get('commit') != (8, 8) or found.get('data', (0, 0))[0] != PAGE.size or \
            sys.byteorder != 'little':
        raise Error('the pages of the trace buffers of this kernel are not understood')
    return sum(found['data'])


def events(page: bytes) -> Iterator[tuple[int, bytes]]:
    """Time, ns, and data of each event of a page. Error: it is garbled."""
    try:
        yield from _events(page)
    except struct.error:
        raise Error('a page of a trace buffer is garbled') from None


def _events(page: bytes) -> Iterator[tuple[int, bytes]]:
    now, length = PAGE.unpack_from(page)
    at, end = PAGE.size, min(PAGE.size + (length & LENGTH), len(page))
    while at < end:
        (word,) = WORD.unpack_from(page, at)
        kind, delta = word & 31, word >> 5
        at += 4
        if kind == TYPE_PADDING:
            if not delta:
                # The rest of the page.
                return
            now += delta
            at += WORD.unpack_from(page, at)[0]
        elif kind in (TYPE_EXTEND, TYPE_TIME):
            delta += WORD.unpack_from(page, at)[0] << 27
            now = now + delta if kind == TYPE_EXTEND else now >> TIME_BITS << TIME_BITS | delta
            at += 4
        else:
            now += delta
            size = kind * 4 if kind != TYPE_LONG else WORD.unpack_from(page, at)[0]
            if at + size > end or not size:
                raise struct.error
            yield now, page[at + (4 if kind == TYPE_LONG else 0):at + size]
            at += size
