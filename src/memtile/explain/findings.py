"""What is wrong with a design or a run, as data: a code that stays, sides, words, cycles and a repair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtile.documents import Count, Positive, plain
from memtile.explain.finding_codes import CODES
from memtile.explain.finding_codes import Severity as Severity
from memtile.plain_text import printable


@dataclass(frozen=True, slots=True)
class Side:
    """Who takes part in a finding.

    Attributes:
        who: the channel, core, lock, port or host, by the user's name and its place.
        does: what it did or waits for, as the end of a sentence: ``writes words 0 to 15 of 'a'``.
        place: where that is said: a BD, a line of a file, a register; empty if nowhere.
        cycle: when, in cycles of the array clock; None before a run.
    """

    who: str
    does: str
    place: str = ""
    cycle: Count | None = None

    def __str__(self) -> str:
        when = "" if self.cycle is None else f", cycle {self.cycle}"
        where = f" ({self.place}{when})" if self.place else when
        return printable(f"{self.who} {self.does}{where}")


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a memory that a finding is about.

    Attributes:
        memory: the memory or buffer, by the user's name.
        first: the first of them, a word of 32 bits in that memory.
        count: how many lie between the first and the last, both included.
    """

    memory: str
    first: Count
    count: Positive


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, with what it takes to repair it.

    Attributes:
        code: of ``finding_codes``, as ``MT0301``; it never changes its meaning.
        severity: how bad it is.
        message: one sentence: who, what, why.
        sides: who takes part, the root of the matter first.
        words: that it is about.
        cycles: first and last cycle in which it was seen; None before a run.
        fix: what would repair it; empty if nobody can say.
        count: how often it was seen.

    Raises:
        KeyError: no such code.
    """

    code: str
    severity: Severity
    message: str
    sides: Sequence[Side] = ()
    words: Sequence[Words] = ()
    cycles: tuple[int, int] | None = None
    fix: str = ""
    count: int = 1

    def __post_init__(self) -> None:
        _ = CODES[self.code]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Finding:
        """The finding of :meth:`as_json`.

        Raises:
            KeyError: something is missing, or there is no such code.
            ValueError: no such severity.
        """
        return cls(
            data["code"],
            Severity(data["severity"]),
            data["message"],
            tuple(Side(**side) for side in data["sides"]),
            tuple(Words(**words) for words in data["words"]),
            None if data["cycles"] is None else (data["cycles"][0], data["cycles"][1]),
            data["fix"],
            data["count"],
        )

    @property
    def title(self) -> str:
        """What its code stands for."""
        return CODES[self.code].title

    def __str__(self) -> str:
        often = f" ({self.count} times)" if self.count > 1 else ""
        step = f" {self.fix}" if self.fix else ""
        return printable(f"{self.code} {self.severity}: {self.message}{often}{step}")

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "code": self.code,
            "title": self.title,
            "severity": self.severity.value,
            "message": self.message,
            "sides": plain(self.sides),
            "words": plain(self.words),
            "cycles": None if self.cycles is None else list(self.cycles),
            "fix": self.fix,
            "count": self.count,
        }
