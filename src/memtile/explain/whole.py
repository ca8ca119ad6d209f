"""Reports are printed whole: no number and no name is cut where the terminal, or none, is narrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table


def uncut(table: Table) -> Table:
    """The finished table: columns never get narrower than their cells, and the words of their heads."""
    for column in table.columns:
        heads = [column.header] if column.no_wrap else str(column.header).split()
        column.min_width = max(len(str(text)) for text in (*heads, *column.cells))
    return table


def print_whole(console: Console, report: RenderableType) -> None:
    """Print the report, in longer lines than the console has where a table needs them."""
    while (needed := _longest_line(console, report)) > console.width:
        console.width = needed
    console.print(report)


def _longest_line(console: Console, report: RenderableType) -> int:
    from rich.segment import Segment

    return max(Segment.get_line_length(line) for line in Segment.split_lines(console.render(report)))
