"""Hand-written words of README.md and the pages of ``docs/``, per page and in total.

A word is what stands between spaces and has a letter or a digit. Left out are blocks of code and of output,
targets of links, comments, and what ``make docs`` writes: a block behind a comment that says ``made by``,
and the pages in :data:`WHOLE`.

``PYTHONPATH=tests python tests/support/pages/word_count.py`` prints the table.
"""

from __future__ import annotations

import re
from pathlib import Path

from places import ROOT

PAGE_LIMIT = 4_000
WHOLE = {
    "docs/reference.md": "from the docstrings",
    "docs/features.md": "from the tests that ran",
}
"""Pages without a hand-written word, and what they are made from."""

_MADE = re.compile(r"^<!-- [^\n]*made by [^\n]*-->\n(?:[^\n]*\S[^\n]*(?:\n|\Z))+", re.MULTILINE)
_SKILL = re.compile(r"^<!-- the skill, made by .*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TARGET = re.compile(r"\]\([^)]*\)")
_WORD = re.compile(r"\S*\w\S*")


def hand_written(text: str) -> str:
    """The text of a page without code, output, comments and generated blocks."""
    for left_out in (_SKILL, _CODE, _MADE, _COMMENT):
        text = left_out.sub("", text)
    return _TARGET.sub("]", text)


def words(text: str) -> int:
    """How many hand-written words a page's text has."""
    return len(_WORD.findall(hand_written(text)))


def counted() -> dict[str, int]:
    """The hand-written words of each page, by its path in the repository."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    names = [path.relative_to(ROOT).as_posix() for path in found]
    return {name: words(Path(ROOT, name).read_text("utf-8")) for name in names if name not in WHOLE}


def table() -> str:
    """A line for each page, the longest first, and the total."""
    found = counted()
    lines = [f"{count:7,}  {name}" for name, count in sorted(found.items(), key=lambda row: -row[1])]
    return "\n".join([*lines, f"{sum(found.values()):7,}  total"])


if __name__ == "__main__":
    print(table())
