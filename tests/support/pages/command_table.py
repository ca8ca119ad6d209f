"""The table of commands on a page, from the help of each.

``PYTHONPATH=tests python tests/support/pages/command_table.py PAGE`` writes it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from typer.main import get_command

from memtile.cli.main import app

MARK = "<!-- table of commands, made by `make docs` -->"
_TABLE = re.compile(rf"(?<={re.escape(MARK)}\n).*?(?=\n(?!\|)|\Z)", re.DOTALL)


def table() -> str:
    """A row for each command: the first sentence of its help."""
    rows = ["| command | does |", "|---|---|"]
    for name, command in vars(get_command(app))["commands"].items():
        rows.append(f"| `memtile {name}` | {command.get_short_help_str(200)} |")
    return "\n".join(rows)


def with_table(page: str) -> str:
    """The page with the present table behind its mark."""
    return _TABLE.sub(lambda _: table(), page)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_table(path.read_text(encoding="utf-8")), encoding="utf-8")
