"""Locks of which somebody waits for an exact value and takes nothing: does each wait see it in every order?

Let one part alone release the lock, so that its values rise in one order. A wait for one of them is decided
in two cases:

- The next release comes after the wait in every order: whoever releases needs units of another lock before,
  which only he who waits gives, and he has not given as many before his wait. So no value has passed when he
  comes, and he waits for his own.
- Nothing hangs on it: it is the last thing that a receiving channel does, and no word is on its way to it.
  With the value or without it, it stands still.

A value that the lock never has is waited for for ever, in every order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import S2MM
from memtile.explain.bd_chains import BdChains
from memtile.explain.orders.lock_use import LockUse
from memtile.explain.switch_ways import configured_ways, reached
from memtile.jit.tables import plain
from memtile.model.checking.notes import FIRST_CHANNEL, NoteKind
from memtile.model.state.causes import Phase
from memtile.sim.loop.engine import Engine
from memtile.sim.races.order_book import LockAct

Mask = npt.NDArray[np.bool_]


def stands(engine: Engine, agent: int, *, passed: bool) -> bool:
    """Whether an agent is a receiving channel that has taken no word since its last acquire, or waits in it.

    Then it stands still in either case, if no word is on its way to it.

    Args:
        engine: the model, at rest.
        agent: as notes have it.
        passed: whether it has passed the acquire.
    """
    c, ch = engine.channels, agent - FIRST_CHANNEL
    if not 0 <= ch < len(c.tile) or c.direction[ch] != S2MM or plain(engine.state.fifos).held[ch]:
        return False
    if c.phase[ch] != (Phase.RUN if passed else Phase.ACQUIRE) or (passed and c.moved[ch]):
        return False
    if BdChains(engine).length(ch, int(c.bd[ch])) == 0:
        return False
    switch = plain(engine.state.switch)
    own = set(np.flatnonzero((switch.channel == ch) & (switch.is_master != 0)).tolist())
    held = np.flatnonzero(switch.held > 0).tolist()
    return own.isdisjoint(reached(held, partial(configured_ways, engine)))


class ExactValues:
    """Looks at the exact values that a run waited for.

    Args:
        locks: all that the run used, by number.
        acts: all of the run.
        accesses: how many accesses to memory an agent has made.
        stands: see :func:`stands`.
    """

    def __init__(
        self,
        locks: Mapping[int, LockUse],
        acts: LockAct,
        accesses: Callable[[int], int],
        stands: Callable[..., bool],
    ) -> None:
        self._locks, self._acts, self._accesses, self._stands = locks, acts, accesses, stands

    def are_seen(self, number: int) -> bool:
        """Whether every wait for a value of a lock ends the same way in every order, or nothing hangs on it.

        Its values from the host come before any of its users, and no release makes it smaller.
        """
        lock, acts = self._locks[number], self._locks[number].acts
        gives = acts.kind == NoteKind.RELEASE
        if lock.takers or len(lock.givers) > 1 or (acts.operand[gives] <= 0).any():
            return False
        values = lock.last_set() + np.concatenate([[0], np.cumsum(acts.operand[gives])])
        releases = acts.at[gives]
        for agent, value in lock.waits:
            if value in values and not self._stands(agent, passed=False):
                return False
        exact = (acts.kind == NoteKind.ACQUIRE) & (acts.operand >= 0)
        for at, agent, value in zip(acts.at[exact], acts.agent[exact], acts.operand[exact], strict=True):
            if value not in values:
                return False  # somebody let it go on
            after = int(np.searchsorted(values, value))  # so many releases made the value
            if self._is_last(int(agent), int(at)) and self._stands(int(agent), passed=True):
                continue
            if after < len(releases) and not self._comes_before(int(agent), int(at), int(releases[after])):
                return False
        return True

    def _is_last(self, agent: int, at: int) -> bool:
        """Whether an acquire is the last one of an agent, and it used no word of memory since then."""
        own = (self._acts.agent == agent) & (self._acts.kind == NoteKind.ACQUIRE)
        moved = int(self._acts.moved[own][-1])
        return int(self._acts.at[own][-1]) == at and moved == self._accesses(agent)

    def _comes_before(self, agent: int, at: int, release: int) -> bool:
        """Whether an acquire of one agent comes before a release of another one in every order.

        A channel may be granted the lock of a descriptor before it has done the release of the one before:
        acts stand so that this release comes first (``race_watch.releases_first``).
        """
        acts = self._acts
        giver = int(acts.agent[acts.at == release][0])
        if giver == agent:
            return release > at
        needs = (acts.agent == giver) & (acts.at < release) & (acts.kind == NoteKind.ACQUIRE)
        given = (acts.agent == agent) & (acts.at < at) & (acts.kind == NoteKind.RELEASE)
        return any(
            self._had_to_wait(
                number, giver, agent, (acts.lock == number) & needs, (acts.lock == number) & given
            )
            for number in set(acts.lock[needs].tolist())
        )

    def _had_to_wait(self, number: int, giver: int, agent: int, needs: Mask, given: Mask) -> bool:
        """Whether a giver had to wait at a lock for more than what an agent may have given by then.

        Args:
            number: of the lock.
            giver: agent that waits there.
            agent: who may have given.
            needs: acquires of the giver, of all acts.
            given: releases of the agent that may come before.
        """
        lock, operand = self._locks[number], self._acts.operand
        if lock.givers != {agent} or lock.takes_back or lock.takers - {giver}:
            return False
        there = lock.last_set() + int(operand[given].sum())
        own = operand[needs]
        return -int(own[own < 0].sum()) > there or int(own.max(initial=0)) > there
