"""Tables that are made from code, each behind its mark on a page; ``make docs`` writes them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class MarkedTable(NamedTuple):
    """A table of a page.

    Attributes:
        what: its rows are.
        rows: makes it.
    """

    what: str
    rows: Callable[[], str]

    @property
    def mark(self) -> str:
        """The line above it."""
        return f"<!-- table of {self.what}, made by `make docs` -->"

    def in_page(self, page: str) -> str:
        """The page with the present table behind its mark."""
        table = rf"(?<={re.escape(self.mark)}\n).*?(?=\n(?!\|)|\Z)"
        return re.sub(table, lambda _: self.rows(), page, flags=re.DOTALL)

    def write(self) -> None:
        """Write it into the page that the command line names."""
        path = Path(sys.argv[1])
        path.write_text(self.in_page(path.read_text(encoding="utf-8")), encoding="utf-8")
