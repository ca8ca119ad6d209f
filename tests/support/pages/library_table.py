"""The table of core functions on a page.

``PYTHONPATH=tests python tests/support/pages/library_table.py PAGE`` writes it.
"""

from __future__ import annotations

from memtile.kernels import aie
from support.pages.marked_table import MarkedTable


def table() -> str:
    """A row for each function: its names, its arguments, what it does."""
    rows = ["| names | arguments | what it does |", "|---|---|---|"]
    for each in aie.described():
        names = ", ".join(f"`{name}`" for name in each.names)
        text = each.text.replace("``", "`").replace("|", "\\|")
        rows.append(f"| {names} | `{each.arguments}` | {text} |")
    return "\n".join(rows)


TABLE = MarkedTable("functions", table)


if __name__ == "__main__":
    TABLE.write()
