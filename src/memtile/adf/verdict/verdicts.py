"""AMD's verdict on a graph, as data, JSON and text.

A verdict says what aiecompiler would refuse, with AMD's number where it is public (DEV-ADF-62), how that was
counted, and what memtile does with the same graph. It is never a reason for memtile not to run it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from memtile.plain_text import printable

Grade = Literal[
    "manual",  # AMD's guides and tutorials say so
    "report",  # users published the message of their compiler
    "assumed",  # it depends on a choice of AMD's compiler that is not public
]


@dataclass(frozen=True, slots=True)
class Verdict:
    """An error that AMD's compiler would report.

    Attributes:
        number: of AMD's message, ``77-4352``; empty = none is public.
        where: the user's line and name.
        says: a sentence without its full stop.
        ours: memtile's treatment of it, a sentence without its full stop.
        next_step: how to satisfy AMD's compiler.
        counts: what was counted, by name.
        source: of the rule.
        grade: how well the rule is known.
    """

    number: str
    where: str
    says: str
    ours: str
    next_step: str
    source: str
    grade: Grade
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The verdict in sentences."""
        what = f"aiecompiler {self.number}" if self.number else "aiecompiler"
        sure = "refuses" if self.grade != "assumed" else "may refuse"
        line = f"{self.where}: {what} {sure} this: {self.says} ({self.source}; {self.grade}). "
        return printable(f"{line}memtile {self.ours}. {self.next_step}")

    def as_json(self) -> dict[str, Any]:
        """Plain data, with ``text``."""
        return {**asdict(self), "counts": dict(self.counts), "text": self.text}


def verdicts_text(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts as lines, or that there is none."""
    if not verdicts:
        return "AMD's compiler: no refusal by the rules that are public"
    return "\n".join(verdict.text for verdict in verdicts)
