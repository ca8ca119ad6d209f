"""Locks of the game: what was given to each, and what each party has taken of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from memtile.explain.deadlock.streams import Party


@dataclass(slots=True)
class Locks:
    """The locks of a design while it is played.

    Where several take from one lock, who is first hangs on time; each then has all that was given less what
    it took itself. So nobody waits here who would not wait in every run.

    Attributes:
        given: by lock what it began with and what was released to it.
        open: locks that somebody may give any number of units.
    """

    given: list[int]
    open: set[int] = field(default_factory=set)
    _taken: dict[tuple[int, Party], int] = field(default_factory=dict)
    _waiting: dict[int, set[Party]] = field(default_factory=dict)

    def value(self, lock: int, party: Party) -> int:
        """What a lock can be at most, as a party finds it."""
        return self.given[lock] - self._taken.get((lock, party), 0)

    def take(self, lock: int, wanted: int, party: Party) -> bool:
        """Take units if they are there; else the party waits for them."""
        if lock in self.open:
            return True
        if self.value(lock, party) < wanted:
            self._waiting.setdefault(lock, set()).add(party)
            return False
        self._taken[lock, party] = self._taken.get((lock, party), 0) + wanted
        return True

    def give(self, lock: int, units: int) -> set[Party]:
        """Release units; who has waited for them."""
        self.given[lock] += units
        return self._waiting.pop(lock, set())

    def let_open(self, locks: Iterable[int]) -> set[Party]:
        """Have locks be open from now on; who has waited for them."""
        found: set[Party] = set()
        for lock in locks:
            self.open.add(lock)
            found |= self._waiting.pop(lock, set())
        return found
