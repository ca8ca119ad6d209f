"""The text that agents get, on a page.

``PYTHONPATH=tests python tests/support/pages/skill_page.py PAGE`` writes it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from memtile.cli.agents.server import skill_text

MARK = "<!-- the skill, made by `make docs` -->"


def skill_part() -> str:
    """The text with its headings two levels lower, as a part of a page."""
    return re.sub(r"^(#+ )(?![^\n]*\bimport\b)", r"##\1", skill_text(), flags=re.MULTILINE)


def with_skill(page: str) -> str:
    """The page with the present text behind its mark, up to its end."""
    return f"{page.partition(MARK)[0]}{MARK}\n\n{skill_part()}"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_skill(path.read_text(encoding="utf-8")), encoding="utf-8")
