"""The Python blocks of pages as modules, for type checkers.

``PYTHONPATH=tests python tests/support/pages/page_code.py FOLDER PAGE...`` writes them.

Each page becomes one module such as ``docs_array.py`` in the folder, its blocks in order, as the pages run.
Every line keeps its number, so that a checker's message names the place in the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

from support.pages import pages


def code_of(page: str) -> str:
    """The Python blocks of a page, every line at its number; empty if there are none."""
    lines: list[str] = []
    for block in pages.blocks(page):
        if block.language == "python":
            lines += [""] * (block.line - 1 - len(lines)) + block.code.splitlines()
    return "\n".join([*lines, ""]) if lines else ""


def name_of(page: Path) -> str:
    """The file for a page: ``docs/array.md`` -> ``docs_array.py``."""
    return "_".join(page.with_suffix(".py").parts)


def main() -> None:
    """Write the modules of the pages named on the command line; modules of other pages go."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.py"):
        old.unlink()
    for page in map(Path, sys.argv[2:]):
        if code := code_of(page.read_text(encoding="utf-8")):
            (folder / name_of(page)).write_text(code, encoding="utf-8")


if __name__ == "__main__":
    main()
