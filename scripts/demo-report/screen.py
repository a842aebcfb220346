# SPDX-License-Identifier: GPL-2.0-only
"""What the report is shown with: text, tables, stacks."""
import io
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeVar

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from events import Late, Stack
from latency_tracker.stacks import USER_SPACE, function, in_short
from latency_tracker.units import human

AnyLate = TypeVar("AnyLate", bound=Late)


class Screen:
    """Shows the worst of each kind with their stacks."""

    def __init__(self, worst: int) -> None:
        self.worst = worst
        self.console = Console(highlight=False)
        self.plain: io.StringIO | None = None
        if not self.console.is_terminal:
            self.plain = io.StringIO()
            self.console = Console(highlight=False, width=118, file=self.plain)
        self.after_stack = False

    def print(self, text: str | Table = "", style: str | None = None) -> None:
        self.console.print(text, style=style)

    def rule(self, text: str, style: str = "rule.line") -> None:
        self.print()
        self.console.rule(text, align="left", style=style)

    def table(self, *columns: str) -> Table:
        """A column whose name begins with ">" is one of numbers."""
        table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1))
        for column in columns:
            right = column.startswith(">")
            table.add_column(column.lstrip(">"), justify="right" if right else "left",
                             no_wrap=True, overflow="ellipsis")
        return table

    def explain(self, text: str) -> None:
        if self.after_stack:
            self.print()
        self.after_stack = False
        self.print(f"How to read it: {text}", style="italic dim")

    def stack(self, title: str, stack: Stack) -> None:
        """A stack as a list, innermost first."""
        self.print(f"    {title}")
        shown = in_short(stack)
        if not shown:
            self.print("      [dim](no kernel stack)[/]")
        elif USER_SPACE.fullmatch(function(shown[0])):
            self.print("      [bold yellow]user space[/] [dim]the program's own code[/]")
            return
        for number, frame in enumerate(shown[:10]):
            name, _, module = frame.partition(" ")
            style = "bold yellow" if number == 0 else "none"
            self.print(f"      [{style}]{name}[/] [dim]{escape(module)}[/]")
        hidden = len(shown) - 10
        if hidden > 0:
            self.print(f"      [dim]and {hidden} more[/]")
        self.after_stack = True

    def groups(self, events: Iterable[AnyLate], key: Callable[[AnyLate], tuple[str, ...]],
               waiting: Callable[[AnyLate], bool], heads: tuple[str, ...]) -> list[AnyLate]:
        """A table of events by key; what waits by its nature comes last. Returns the worst."""
        groups = defaultdict(list)
        for event in events:
            groups[key(event)].append(event)
        order = sorted(groups, key=lambda k: (waiting(groups[k][0]), -groups[k][0].delay))
        table = self.table(*heads, ">late", ">mean", ">worst")
        for k in order[:12]:
            found = groups[k]
            mean = sum(event.delay for event in found) / len(found)
            table.add_row(*map(escape, k), str(len(found)), human(mean), human(found[0].delay),
                          style="dim" if waiting(found[0]) else "")
        self.print(table)
        rest = sum(len(groups[k]) for k in order[12:])
        if rest:
            self.print(f"[dim]and {rest} more in {len(order) - 12} rows[/]")
        # The worst of different rows tell more than the worst of all.
        return [groups[k][0] for k in order][:self.worst]

    def flush(self) -> None:
        """In a pipe, no line ends in blanks."""
        if self.plain:
            for line in self.plain.getvalue().splitlines():
                print(line.rstrip())
            sys.stdout.flush()
