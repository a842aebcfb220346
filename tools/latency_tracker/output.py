# SPDX-License-Identifier: GPL-2.0-only
"""What is printed: text for people, or JSON, an object per line. Each line is flushed."""
from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TextIO, Union

from latency_tracker import pretty

# Changes when a program that reads the objects would have to.
SCHEMA = 1
Json = Union[str, int, float, bool, None, 'dict[str, Json]', 'list[Json]']
# Of a column of text.
LEAST_COLUMNS = 8
STYLES = {'bold': '1', 'dim': '2', 'red': '31', 'green': '32', 'yellow': '33', 'cyan': '36'}


def printable(text: str) -> str:
    r"""As a terminal may get it: what is no text, such as what moves the cursor, is written \xNN, and
    what turns the direction of the text, \uNNNN. A process chooses its own name."""
    return ''.join(c if c.isprintable() else
                   f'\\x{ord(c):02x}' if ord(c) < 256 else f'\\u{ord(c):04x}' for c in text)


def width(text: str) -> int:
    """Columns on a terminal."""
    return sum(0 if unicodedata.combining(c) else
               2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in text)


def cut(text: str, columns: int) -> str:
    """To so many columns, with an ellipsis if there were more."""
    if width(text) <= columns:
        return text
    found, used = '', 0
    for c in text:
        used += width(c)
        if used > columns - 1:
            break
        found += c
    return found + '…'


class Output:
    """Where it goes, and how."""

    def __init__(self, as_json: bool = False, stream: TextIO | None = None) -> None:
        self.as_json = as_json
        self.stream = stream or sys.stdout
        self.terminal = self.stream.isatty()
        self.colours = (self.terminal and not os.environ.get('NO_COLOR') and
                        os.environ.get('TERM') != 'dumb')
        # A stream in memory has none.
        self.encoding = (self.stream.encoding or 'utf-8').lower()

    @property
    def columns(self) -> int:
        """Of the terminal; without one there is no limit."""
        if not self.terminal:
            return 10**6
        try:
            return int(os.environ.get('COLUMNS', '')) or 80
        except ValueError:
            # Some serial consoles say 0.
            return os.get_terminal_size(self.stream.fileno()).columns or 80

    def style(self, text: str, style: str) -> str:
        """A name in STYLES, or "" for none."""
        return f'\x1b[{STYLES[style]}m{text}\x1b[0m' if self.colours and style else text

    def raw(self, text: str = '') -> None:
        """A line that is safe already."""
        if not self.encoding.startswith('utf'):
            text = text.replace('µ', 'u').encode(self.encoding, 'replace').decode(self.encoding)
        self.stream.write(text + '\n')
        self.stream.flush()

    def line(self, text: str = '', style: str = '', indent: int = 0) -> None:
        """Text for people, cut to the terminal if it is indented; nothing if JSON is wanted."""
        if self.as_json:
            return
        text = printable(text)
        if indent:
            text = ' ' * indent + cut(text, max(self.columns - indent, 20))
        self.raw(self.style(text, style))

    def object(self, kind: str, **values: Json) -> None:
        """A JSON object; nothing if text is wanted."""
        if self.as_json:
            self.raw(json.dumps({'schema': SCHEMA, 'type': kind, **values}))

    def _widths(self, lines: Sequence[Sequence[str]], right: Sequence[bool], space: int, more: int) -> list[int]:
        """Of the columns, so that they fit with so much space beside each, and more at the end."""
        widths = [max(width(line[i]) for line in lines) for i in range(len(right))]
        over = sum(widths) + space * len(widths) + more - self.columns
        while over > 0:
            most, widest = max((w, i) for i, w in enumerate(widths) if not right[i] or all(right))
            if most <= LEAST_COLUMNS:
                break
            widths[widest] = max(most - over, LEAST_COLUMNS)
            over -= most - widths[widest]
        return widths

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[str]],
              styles: Sequence[str] = ()) -> None:
        """A head that begins with ">" is of a column of numbers. Where the terminal is too narrow, the widest
        columns that hold text are cut, to eight characters at least."""
        if self.as_json:
            return
        right = [head.startswith('>') for head in heads]
        lines = [[head.lstrip('>') for head in heads], *([printable(cell) for cell in row] for row in rows)]
        if self.colours and self.encoding.startswith('utf') and pretty.is_there():
            widths = self._widths(lines, right, pretty.COLUMN_SPACE, pretty.SPACE)
            if sum(widths) + len(widths) * pretty.COLUMN_SPACE + pretty.SPACE <= self.columns:
                fitting = [[cut(cell, columns) for cell, columns in zip(line, widths)] for line in lines]
                pretty.show(self.stream, self.columns, fitting[0], fitting[1:], right, styles)
                return
        widths = self._widths(lines, right, 2, -2)
        for number, line in enumerate(lines):
            cells = []
            for cell, columns, is_right in zip(line, widths, right):
                cell = cut(cell, columns)
                pad = ' ' * (columns - width(cell))
                cells.append(pad + cell if is_right else cell + pad)
            style = 'bold' if not number else styles[number - 1] if styles else ''
            self.raw(self.style('  '.join(cells).rstrip(), style))
