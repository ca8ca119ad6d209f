"""The table of timing constants on a page.

``PYTHONPATH=tests python tests/support/pages/constants_table.py PAGE`` writes it.
"""

from __future__ import annotations

from dataclasses import fields

from memtile.arch.timing import Timing
from support.pages.marked_table import MarkedTable


def table() -> str:
    """A row for each constant: its default, its range, its grade and its source."""
    rows = ["| constant | default | range | unit | grade | source |", "|---|---|---|---|---|---|"]
    for field in fields(Timing):
        of = field.metadata
        cells = (f"`{field.name}`", field.default, f"{of['low']}..{of['high']}", of["unit"])
        rows.append(f"| {' | '.join(map(str, cells))} | {of['source'].grade} | {of['source'].text} |")
    return "\n".join(rows)


TABLE = MarkedTable("constants", table)


if __name__ == "__main__":
    TABLE.write()
