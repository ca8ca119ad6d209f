"""The page of deviations from its one data file, ``docs/deviations.json``.

``PYTHONPATH=tests python tests/support/pages/deviation_table.py`` writes ``docs/deviations.md``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from places import ROOT

DATA = ROOT / "docs" / "deviations.json"
PAGE = ROOT / "docs" / "deviations.md"
MARK = "<!-- table of rows, made by `make docs` from deviations.json -->"
HEAD = """# Deviations

Each row is a place where sources disagree, where they are silent, or where the twin and a measurement
differ. The code names the id where it makes the choice; the test in the last column fails when the row is
no longer true. Search the page for an id, a register or a unit.

A grade says what a choice rests on: `manual` (AMD documentation), `driver` (AMD's open driver or compiler),
`silicon` (a published measurement) or `assumed` (our choice).
"""


def parts() -> list[dict[str, Any]]:
    """The parts of the page, each with its rows."""
    found: list[dict[str, Any]] = json.loads(DATA.read_text("utf-8"))
    return found


def rows() -> dict[str, dict[str, str]]:
    """Each deviation by its id: ``what``, ``choice``, ``grade``, ``source`` and ``test``."""
    return {row["id"]: row for part in parts() for row in part["rows"] if "choice" in row}


def measurements() -> list[str]:
    """The ids of the measurements that rows, constants and tests refer to."""
    return [row["id"] for part in parts() for row in part["rows"] if "measured" in row]


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(line for part in parts() for line in _part(part))])


def _part(part: dict[str, Any]) -> Iterator[str]:
    yield f"{'#' * part['level']} {part['title']}\n"
    if part["text"]:
        yield f"{part['text']}\n"
    if not part["rows"]:
        return
    names = list(part["rows"][0])
    yield MARK
    yield f"| {' | '.join(names)} |"
    yield "|---" * len(names) + "|"
    for row in part["rows"]:
        cells = {**row, "test": f"`{row['test']}`"} if "test" in row else row
        yield f"| {' | '.join(cells[name] for name in names)} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
