"""What a run did with one lock, and how many units of it went to whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memtile.model.checking.notes import NoteKind
from memtile.model.state.columns import Ints
from memtile.sim.races.order_book import NEVER, LockAct


@dataclass(frozen=True, slots=True)
class LockUse:
    """What a run did with a lock.

    Attributes:
        began: its value then.
        acts: all of them, in order.
        waits: agents and operands of acquires that were not granted.
    """

    began: int
    acts: LockAct
    waits: Sequence[tuple[int, int]]

    def _agents(self, which: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> set[int]:
        return set(self.acts.agent[which].tolist())

    @property
    def takes(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which acts take units."""
        found: np.ndarray[tuple[int], np.dtype[np.bool_]]
        found = (self.acts.kind == NoteKind.ACQUIRE) & (self.acts.operand < 0)
        return found

    @property
    def takers(self) -> set[int]:
        """Who takes units, or waits for some."""
        return self._agents(self.takes) | {agent for agent, operand in self.waits if operand < 0}

    @property
    def givers(self) -> set[int]:
        """Who releases it."""
        return self._agents(self.acts.kind == NoteKind.RELEASE)

    @property
    def agents(self) -> set[int]:
        """Who uses it, but for a host that gives it values."""
        waiting = {agent for agent, _ in self.waits}
        return waiting | self._agents(self.acts.kind != NoteKind.SET)

    @property
    def exact(self) -> set[int]:
        """The values that somebody waits for without taking anything."""
        which = (self.acts.kind == NoteKind.ACQUIRE) & (self.acts.operand >= 0)
        return set(self.acts.operand[which].tolist()) | {value for _, value in self.waits if value >= 0}

    @property
    def sets(self) -> Ints:
        """Numbers of the notes by which the host gave it a value."""
        found: Ints = self.acts.at[self.acts.kind == NoteKind.SET]
        return found

    @property
    def given(self) -> int:
        """Units that were released to it."""
        return int(self.acts.operand[self.acts.kind == NoteKind.RELEASE].sum())

    @property
    def takes_back(self) -> bool:
        """Whether a release of less than 0 makes it smaller."""
        return bool((self.acts.operand[self.acts.kind == NoteKind.RELEASE] < 0).any())

    def first_use(self, agent: int) -> int:
        """Number of the first note by which an agent takes from it, gives to it or waits for it."""
        own = self.acts.at[(self.acts.agent == agent) & (self.acts.kind != NoteKind.SET)]
        return int(own[0]) if len(own) else NEVER

    def last_set(self) -> int:
        """The value that the host gave it last, or that it began with."""
        values = self.acts.operand[self.acts.kind == NoteKind.SET]
        return int(values[-1]) if len(values) else self.began
