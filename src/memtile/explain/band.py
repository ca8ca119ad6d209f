"""How far cycles hang on constants that nobody has measured, and what lifting a limit would save."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtile.documents import Count


@dataclass(frozen=True, slots=True)
class Ends:
    """A run at both ends of the range in which a constant is likely to be.

    Attributes:
        name: of the constant.
        value: that the run itself had.
        low: lower end.
        high: upper end.
        cycles_low: of the run with the lower end; None = it did not end as the run did.
        cycles_high: of the run with the upper end; None likewise.
    """

    name: str
    value: Count
    low: Count
    high: Count
    cycles_low: Count | None
    cycles_high: Count | None

    @property
    def width(self) -> int:
        """How far the cycles of both ends are apart; 0 if one of them is not known."""
        if self.cycles_low is None or self.cycles_high is None:
            return 0
        return abs(self.cycles_high - self.cycles_low)


@dataclass(frozen=True, slots=True)
class Band:
    """Cycles as a band.

    Attributes:
        cycles: of the run itself.
        low: fewest of all runs.
        high: most of all runs.
        constants: each that the run depends on, the one with the widest band first.
    """

    cycles: Count
    low: Count
    high: Count
    constants: Sequence[Ends] = ()

    @property
    def lines(self) -> list[str]:
        """For people: the band, and a line for each constant."""
        if not self.constants:
            return [f"{self.cycles} cycles hang on no assumed constant"]
        first = self.constants[0]
        made = f"; {first.name} makes most of it" if first.width else ""
        return [f"{self.low} to {self.high} cycles{made}", *map(_line, self.constants)]


@dataclass(frozen=True, slots=True)
class Lifted:
    """A run without one of its limits.

    Attributes:
        what: is lifted, ``external memory answers at once``.
        cycles: of the run then; None = it did not end as the run did.
    """

    what: str
    cycles: Count | None


def lifted_line(lifted: Lifted, elapsed: int) -> str:
    """For people."""
    if lifted.cycles is None:
        return f"if {lifted.what}: the run does not end as it did"
    saved = elapsed - lifted.cycles
    return f"if {lifted.what}: {lifted.cycles} cycles ({-saved / max(elapsed, 1):+.0%})"


def _line(ends: Ends) -> str:
    cycles = [
        "another end of the run" if count is None else f"{count} cycles"
        for count in (ends.cycles_low, ends.cycles_high)
    ]
    values = f"{ends.name} = {ends.value} ({ends.low} to {ends.high})"
    return f"{values}: {cycles[0]} to {cycles[1]}"
