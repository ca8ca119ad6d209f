"""The table of attributes on a page: which are lowered, which are ignored and why, which are refused.

``PYTHONPATH=tests python tests/support/pages/attribute_table.py PAGE`` writes it.
"""

from __future__ import annotations

from memtile.importers.mlir.known_operations import KnownOperation, operations
from support.pages.marked_table import MarkedTable


def table() -> str:
    """A row for operations that have the same attributes: which are lowered, ignored, refused."""
    rows = ["| operation | lowered | ignored | refused |", "|---|---|---|---|"]
    blocks: dict[int, list[str]] = {}
    for name, known in operations().items():
        blocks.setdefault(id(known), []).append(name)
    for names in blocks.values():
        known = operations()[names[0]]
        if known.attributes:
            cells = [", ".join(f"`{name}`" for name in names), *(_cell(known, v) for v in _VERDICTS)]
            rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


_VERDICTS = ("lowered", "ignored", "refused")


def _cell(known: KnownOperation, verdict: str) -> str:
    """The attributes of a verdict, those with one reason together."""
    found: dict[str, list[str]] = {}
    for name, each in known.attributes.items():
        if each.verdict == verdict:
            unless = f" but {each.neutral}" if each.neutral else ""
            found.setdefault(each.reason, []).append(f"`{name}`{unless}")
    return "; ".join(", ".join(names) + (f": {why}" if why else "") for why, names in found.items())


TABLE = MarkedTable("attributes", table)


if __name__ == "__main__":
    TABLE.write()
