"""Lines of Python, and what is known of the values in them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_BAD = re.compile(r"\W")


def variable(value: str) -> str:
    """The Python name of a value."""
    return f"v_{_BAD.sub('_', value[1:])}"


@dataclass(slots=True)
class Lines:
    """Lines of a function.

    Attributes:
        text: the lines so far.
        depth: of the indentation.
        cost: cycles of operations since the last time they were booked.
    """

    text: list[str] = field(default_factory=list)
    depth: int = 1
    cost: int = 0

    def add(self, line: str) -> None:
        """Add a line."""
        self.text.append("    " * self.depth + line)

    def book(self) -> None:
        """Book the cycles of the operations before."""
        if self.cost:
            self.add(f"cycles += {self.cost}")
            self.cost = 0
