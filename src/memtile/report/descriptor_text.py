"""An explained descriptor for people (sentences and pictures on a terminal) and for programs (JSON)."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memtile.access.describe import describe
from memtile.access.picture import Grid, memory_grid, stream_grid
from memtile.bd.descriptor_cases import WordCase, case_of, hex_words
from memtile.bd.explain import Explanation, Line, explain_words
from memtile.sheet import stdout_console


def explained_json(case: WordCase) -> dict[str, Any]:
    """What register words do, as plain data.

    Raises:
        DescriptorError: the words are not those of a BD.
    """
    explanation, grids = _explained(case)
    return {
        "descriptor": case_of(explanation.descriptor, case.bd),
        "words": hex_words(case.words),
        "lines": [line._asdict() for line in explanation.lines],
        "pictures": [asdict(grid) for grid in grids],
        "problems": [problem.as_json() for problem in explanation.problems],
    }


def print_explained(case: WordCase, console: Console | None = None) -> None:
    """Print what register words do, pictures of the access order, and why they are not legal, if so.

    Raises:
        DescriptorError: the words are not those of a BD.
    """
    explanation, grids = _explained(case)
    console = console or stdout_console()
    console.print(Text(f"{explanation.descriptor.kind.title}, BD {case.bd}", style="bold"))
    table = Table.grid(padding=(0, 2))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for topic, text in explanation.lines:
        table.add_row(topic, Text(text))
    console.print(table)
    for grid in grids:
        console.print(Text(f"\n{grid.title}", style="bold"))
        console.print(Text("\n".join(grid.lines())), soft_wrap=True)
    for problem in explanation.problems:
        console.print(Text(f"\nnot legal: {problem.message}", style="red"), soft_wrap=True)


def _explained(case: WordCase) -> tuple[Explanation, tuple[Grid, Grid]]:
    explanation = explain_words(case.tile, case.words, case.bd)
    if order := describe(explanation.descriptor):
        explanation = replace(explanation, lines=(*explanation.lines, Line("einops", f"as {order}")))
    return explanation, (stream_grid(explanation.descriptor), memory_grid(explanation.descriptor))
