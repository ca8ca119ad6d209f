"""The table of core functions on a page.

``PYTHONPATH=tests python tests/support/pages/library_table.py PAGE`` writes it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from memtile.kernels import aie

MARK = "<!-- table of functions, made by `make docs` -->"
_TABLE = re.compile(rf"(?<={re.escape(MARK)}\n).*?(?=\n(?!\|)|\Z)", re.DOTALL)


def table() -> str:
    """A row for each function: its names, its arguments, what it does."""
    rows = ["| names | arguments | what it does |", "|---|---|---|"]
    for each in aie.described():
        names = ", ".join(f"`{name}`" for name in each.names)
        text = each.text.replace("``", "`").replace("|", "\\|")
        rows.append(f"| {names} | `{each.arguments}` | {text} |")
    return "\n".join(rows)


def with_table(page: str) -> str:
    """The page with the present table behind its mark."""
    return _TABLE.sub(lambda _: table(), page)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_table(path.read_text(encoding="utf-8")), encoding="utf-8")
