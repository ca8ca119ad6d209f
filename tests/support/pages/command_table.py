"""The table of commands on a page, from the help of each.

``PYTHONPATH=tests python tests/support/pages/command_table.py PAGE`` writes it.
"""

from __future__ import annotations

from typer.main import get_command

from memtile.cli.main import app
from support.pages.marked_table import MarkedTable


def table() -> str:
    """A row for each command: the first sentence of its help."""
    rows = ["| command | does |", "|---|---|"]
    for name, command in vars(get_command(app))["commands"].items():
        rows.append(f"| `memtile {name}` | {command.get_short_help_str(200)} |")
    return "\n".join(rows)


TABLE = MarkedTable("commands", table)


if __name__ == "__main__":
    TABLE.write()
