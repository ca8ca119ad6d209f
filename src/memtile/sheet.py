"""Lines of text around a table: data for whoever computes a result, laid out here for whoever reads it.

All texts are printable (``plain_text``): a name can neither draw nor hide anything on a terminal.

A sheet is printed whole: no number and no name is cut where the terminal, or none, is narrow. Without a
terminal, lines around the table are not broken either, and none ends with blanks: ``grep`` finds them.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

from memtile.plain_text import markup_text, printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.segment import Segment
    from rich.table import Table

_TEXT_WIDTH = 118  # characters of a line of plain text, if its table needs no more


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """The head of a column of a table.

    Attributes:
        head: its text.
        right: cells are set to the right, as numbers are.
        one_line: the head is never broken into several lines.
    """

    head: str
    right: bool = False
    one_line: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a result says, as data; ``str`` and ``rich.print`` lay it out.

    Attributes:
        columns: heads of the table.
        rows: its cells, as many in each row as there are columns.
        title: lines above the heads; none if empty.
        above: lines before the table.
        below: lines after it.
    """

    columns: tuple[SheetColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("above", "below"):
            object.__setattr__(self, name, tuple(printable(line) for line in getattr(self, name)))
        rows = (tuple(printable(cell) for cell in row) for row in self.rows)
        object.__setattr__(self, "rows", tuple(rows))
        object.__setattr__(self, "title", printable(self.title, "\n"))

    def __rich__(self) -> RenderableType:
        """The sheet for a terminal of any width."""
        from rich.console import Group
        from rich.text import Text

        above, below = map(Text, self.above), map(Text, self.below)
        return Group(*above, unclipped(self.table()), *below)

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """The sheet as HTML: a table, and lines above and below it."""
        above, below = (
            "".join(f"<div>{markup_text(line)}</div>" for line in lines) for lines in (self.above, self.below)
        )
        sides = ["right" if column.right else "left" for column in self.columns]
        heads = "".join(
            f"<th style='text-align:{side}'>{markup_text(column.head)}</th>"
            for column, side in zip(self.columns, sides, strict=True)
        )
        rows = "".join(
            "<tr>"
            + "".join(
                f"<td style='text-align:{side}'>{markup_text(cell)}</td>"
                for cell, side in zip(row, sides, strict=True)
            )
            + "</tr>"
            for row in self.rows
        )
        bold = f"<b>{'<br/>'.join(map(markup_text, self.title.splitlines()))}</b>"
        title = f"<caption style='text-align:left'>{bold}</caption>" if self.title else ""
        table = f"<table>{title}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        return f"<div>{above}{table}{below}</div>"

    def __str__(self) -> str:
        """The sheet as plain text, without the blanks at its ends."""
        text = io.StringIO()
        print_whole(_console(text, _TEXT_WIDTH), self)
        return text.getvalue().rstrip("\n")

    def table(self) -> Table:
        """The table alone, with the title."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(
            title=Text(self.title) if self.title else None,
            box=SIMPLE_HEAD,
            padding=(0, 1, 0, 0),
            title_justify="left",
            title_style="bold",
        )
        for column in self.columns:
            table.add_column(
                Text(column.head), justify="right" if column.right else "left", no_wrap=column.one_line
            )
        for row in self.rows:
            table.add_row(*map(Text, row))
        return table


def unclipped(table: Table) -> Table:
    """The finished table: columns never get narrower than their cells, and the words of their heads."""
    from rich.cells import cell_len

    for column in table.columns:
        heads = [column.header] if column.no_wrap else str(column.header).split()
        column.min_width = max(cell_len(str(text)) for text in (*heads, *column.cells))
    return table


class _Trimmed(io.TextIOBase):
    """A text file to which lines go without the blanks at their ends."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._line = file, ""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """What the file can hold decides how tables are drawn."""
        return getattr(self._file, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        self._file.write("".join(f"{line.rstrip()}\n" for line in lines))
        return len(text)

    def flush(self) -> None:
        self._file.flush()


def stdout_console() -> Console:
    """Where commands print what they show: standard output, a terminal or a file."""
    console = _printable_console()
    return console if console.is_terminal else _console(sys.stdout)


def stderr_console() -> Console:
    """Where commands print what happens: standard error."""
    return _printable_console(stderr=True)


def _printable_console(**options: Any) -> Console:
    """A console that shows texts as they are: no markup of Rich in them, no commands to the terminal."""
    from rich.console import Console, ConsoleOptions
    from rich.segment import Segment

    class PrintableConsole(Console):
        @property
        def file(self) -> IO[str]:
            """Behind what a live display puts before the streams of a command: they print escapes as text."""
            found: Any = super().file
            while (behind := getattr(found, "rich_proxied_file", None)) is not None:
                found = behind
            return cast(IO[str], found)

        @file.setter
        def file(self, new_file: IO[str]) -> None:
            self._file = new_file

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else printable(text, "\n"), style, control)

    return PrintableConsole(highlight=False, markup=False, emoji=False, **options)


def print_whole(console: Console, report: RenderableType) -> None:
    """Print a sheet or a table, in longer lines than the console has where a table needs them."""
    sheet = report if isinstance(report, Sheet) else getattr(report, "sheet", lambda: None)()
    if sheet is None or console.is_terminal:
        _print_wide(console, report)
        return
    _print_lines(console, sheet.above)
    _print_wide(console, unclipped(sheet.table()))
    _print_lines(console, sheet.below)


def _console(file: TextIO, width: int | None = None) -> Console:
    """A console for a file: no terminal, nor a notebook, whatever their environments make Rich believe."""
    trimmed = cast(TextIO, _Trimmed(file))
    return _printable_console(
        file=trimmed,
        width=width,
        no_color=True,
        force_terminal=False,
        force_jupyter=False,
    )


def _print_lines(console: Console, lines: tuple[str, ...]) -> None:
    from rich.text import Text

    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _print_wide(console: Console, report: RenderableType) -> None:
    while (needed := _longest_line(console, report)) > console.width:
        console.width = needed
    console.print(report)


def _longest_line(console: Console, report: RenderableType) -> int:
    from rich.segment import Segment
    from rich.table import Table

    lines: Iterable[list[Segment]]
    if isinstance(report, Table):
        bare = copy(report)
        bare.title = bare.caption = None  # laid out within the width of the others, which are alike
        lines = islice(Segment.split_lines(console.render(bare)), 1)
    else:
        lines = Segment.split_lines(console.render(report))
    return max(map(Segment.get_line_length, lines), default=0)
