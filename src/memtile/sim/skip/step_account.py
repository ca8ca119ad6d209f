"""Where the cycles of a run went: skipped, idle, or stepped, and what kept the latter from being skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_NOTHING_REPEATS = "no period found"


@dataclass(slots=True)
class Observed:
    """What there was to see in a piece of a run.

    Attributes:
        jumped: cycles that were skipped as they repeat.
        obstacles: what was against it, where a period was looked for.
        probed: a period was looked for.
    """

    jumped: int = 0
    obstacles: Sequence[str] = ()
    probed: bool = False


@dataclass(slots=True)
class StepAccount:
    """Cycles by what became of them.

    Attributes:
        idle: cycles in which nothing could move and that passed at once.
        stepped: by reason the cycles that were stepped one by one; by an empty one where skipping is off.
    """

    idle: int = 0
    _stepped: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _last: tuple[str, ...] = ()

    @property
    def stepped(self) -> Mapping[str, int]:
        """The cycles of each reason, most first."""
        return {"; ".join(why): cycles for why, cycles in self._stepped.most_common()}

    def as_plain(self) -> list[Any]:
        """All of it, as plain data."""
        return [self.idle, [[list(why), cycles] for why, cycles in self._stepped.items()]]

    def put(self, known: Sequence[Any]) -> None:
        """Have what :meth:`as_plain` found in another account."""
        self.idle, stepped = known
        self._stepped = Counter({tuple(why): cycles for why, cycles in stepped})

    def add(self, cycles: int, idle: int, why: Sequence[str]) -> None:
        """Note a piece of a run in which time could not be skipped.

        Args:
            cycles: of it that were not skipped.
            idle: of these, in which nothing could move.
            why: what kept them from it; nothing = it is off.
        """
        self.idle += idle
        if cycles > idle:
            self._stepped[tuple(why)] += cycles - idle

    def add_probed(self, cycles: int, idle: int, obstacles: Sequence[str], *, probed: bool) -> None:
        """Note a piece of a run in which periods were looked for, now and then.

        Args:
            cycles: of it that were not skipped.
            idle: of these, in which nothing could move.
            obstacles: what there was against it where a period was looked for.
            probed: one was looked for in this piece; else what was found before holds.
        """
        if probed or not self._last:
            self._last = tuple(obstacles) or (_NOTHING_REPEATS,)
        self.add(cycles, idle, self._last)
