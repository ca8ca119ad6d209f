"""Lines of Python, and what is known of the values in them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

SITE = "@site"
"""In a line, the number of the operation that it came from."""
_BAD = re.compile(r"[^A-Za-z0-9]")


def variable(value: str) -> str:
    """The Python name of a value: another one for every value, and no word of Python."""
    return "v_" + _BAD.sub(lambda found: f"_{ord(found[0]):x}_", value[1:])


@dataclass(slots=True)
class Lines:
    """Lines of a function.

    Attributes:
        text: the lines so far.
        depth: of the indentation.
        cost: cycles of operations since the last time they were booked.
        site: number of the operation that is written.
    """

    text: list[str] = field(default_factory=list)
    depth: int = 1
    cost: int = 0
    site: int = 0

    def add(self, line: str) -> None:
        """Add a line."""
        text = line.replace(SITE, str(self.site))
        self.text.append(f"{'    ' * self.depth}{text}  # at {self.site}")

    def book(self) -> None:
        """Book the cycles of the operations before."""
        if self.cost:
            self.add(f"cycles += {self.cost}")
            self.cost = 0
