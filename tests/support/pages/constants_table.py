"""The table of timing constants on a page.

``PYTHONPATH=tests python tests/support/pages/constants_table.py PAGE`` writes it.
"""

from __future__ import annotations

import re
import sys
from dataclasses import fields
from pathlib import Path

from memtile.arch.timing import Timing

MARK = "<!-- table of constants, made by `make docs` -->"
_TABLE = re.compile(rf"(?<={re.escape(MARK)}\n).*?(?=\n(?!\|)|\Z)", re.DOTALL)


def table() -> str:
    """A row for each constant: its default, its range, its grade and its source."""
    rows = ["| constant | default | range | unit | grade | source |", "|---|---|---|---|---|---|"]
    for field in fields(Timing):
        of = field.metadata
        cells = (f"`{field.name}`", field.default, f"{of['low']}..{of['high']}", of["unit"])
        rows.append(f"| {' | '.join(map(str, cells))} | {of['source'].grade} | {of['source'].text} |")
    return "\n".join(rows)


def with_table(page: str) -> str:
    """The page with the present table behind its mark."""
    return _TABLE.sub(lambda _: table(), page)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_table(path.read_text(encoding="utf-8")), encoding="utf-8")
