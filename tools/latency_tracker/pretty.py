# SPDX-License-Identifier: GPL-2.0-only
"""Tables on a terminal by python3-rich, where it is installed. Nothing is loaded before there is one to show."""
from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import TextIO

# Of a frame: beside each column, and at its end.
COLUMN_SPACE, SPACE = 3, 1


def is_there() -> bool:
    """Whether it can be used."""
    return importlib.util.find_spec('rich') is not None


def show(stream: TextIO, columns: int, heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool],
         styles: Sequence[str]) -> None:
    """A table whose cells fit already. right: columns of numbers; styles: of the rows, "" for none."""
    from rich.box import ROUNDED
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text
    table = Table(box=ROUNDED, border_style='dim', header_style='bold')
    for head, is_right in zip(heads, right):
        table.add_column(Text(head), justify='right' if is_right else 'left', no_wrap=True)
    for number, row in enumerate(rows):
        table.add_row(*map(Text, row), style=(styles[number] if styles else '') or None)
    Console(file=stream, width=columns, force_terminal=True, highlight=False).print(table)
    stream.flush()
