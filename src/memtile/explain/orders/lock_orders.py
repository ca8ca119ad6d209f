"""Locks whose units may go to one or to another, by who is first; and those that may come to another value.

A lock is a counter: releases add, and an acquire of at least so many takes. Where one part alone takes, what
is there for it only grows until it takes, so its turn comes in every order. Other acts are fine where they
cannot meet: an exact value that is the last one a lock ever has; a value that the host gives a lock before
any of its users begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, partial

import numpy as np

from memtile.access.distinct import distinct
from memtile.arch.tiles import MEMORY
from memtile.explain.lock_waits import lock_name
from memtile.explain.names import called, core_name
from memtile.explain.orders.exact_values import ExactValues, stands
from memtile.explain.orders.lock_batches import comes_in_batches
from memtile.explain.orders.lock_use import LockUse
from memtile.jit.tables import plain
from memtile.model.checking.notes import FIRST_CHANNEL, HOST, NoteKind
from memtile.model.state.causes import CorePhase, Phase
from memtile.model.state.columns import Ints
from memtile.sim.loop.engine import Engine
from memtile.sim.races.order_book import LockAct, OrderBook

_NAMES = 3  # of parts that are named in a reason


def agent_name(engine: Engine, agent: int) -> str:
    """The channel, the core or the host that an agent of notes is."""
    channels = len(engine.channels.tile)
    if agent == HOST:
        return "the host"
    if agent < FIRST_CHANNEL + channels:
        return called(engine, agent - FIRST_CHANNEL)
    return core_name(engine, agent - FIRST_CHANNEL - channels)


def waiting(engine: Engine) -> Iterator[tuple[int, int, int]]:
    """Agent, lock and operand of each acquire that was not granted when the run came to rest."""
    c, cores = engine.channels, plain(engine.state.cores)
    for ch in np.flatnonzero(c.phase == Phase.ACQUIRE).tolist():
        if c.lock[ch] >= 0:
            yield FIRST_CHANNEL + ch, int(c.lock[ch]), int(c.acquire_value[ch])
    for core in np.flatnonzero(cores.phase == CorePhase.ACQUIRE).tolist():
        yield FIRST_CHANNEL + len(c.tile) + core, int(cores.target[core]), int(cores.value[core])


class LockOrders:
    """Looks at the locks of a run that came to rest.

    Args:
        engine: the model.
        book: what the run did.
        began: by lock the value that it began with.
    """

    def __init__(self, engine: Engine, book: OrderBook, began: Ints) -> None:
        self._engine, self._book, self._acts = engine, book, book.acts
        waits = list(waiting(engine))
        used = {*distinct(self._acts.lock).tolist(), *(lock for _, lock, _ in waits)}
        self._locks: Mapping[int, LockUse] = {
            lock: LockUse(
                int(began[lock]),
                LockAct(*(column[self._acts.lock == lock] for column in self._acts)),
                [(agent, operand) for agent, at, operand in waits if at == lock],
            )
            for lock in sorted(used)
        }

    def reasons(self) -> Iterator[str]:
        """What another order could do with a lock otherwise, so that the run may end otherwise."""
        for number, lock in self._locks.items():
            name = lock_name(self._engine, number)
            if len(lock.takers) > 1 and number not in self._batches:
                yield f"{self._takers(lock)} take from {name}"
            if lock.takes_back:
                yield f"a release decreases {name}, and timing decides from which value"
            if lock.exact and not (self._is_last_value(lock) or self._are_seen(number, lock)):
                yield f"a channel or core waits until {name} is exactly one value, which may pass unseen"
            elif not lock.exact and self._is_set_late(lock) and not self._only_host_gives(lock):
                of_host = self._book.packets.sets.isdisjoint(lock.sets.tolist())
                who = "the host" if of_host else "a control packet"
                yield f"{who} sets {name} while others use it"
            if number in self._book.looked_at:
                yield f"the host reads {name}"
            if self._may_overflow(number, lock):
                yield f"{name} may exceed {MEMORY.lock_value_max} if its consumer is late"

    @cached_property
    def _batches(self) -> set[int]:
        """Locks with several takers that each get their part of a batch."""
        moved = self._acts.at[self._acts.moved > 0]
        first_core = FIRST_CHANNEL + len(self._engine.channels.tile)
        prompt = set[int]()  # the others could get their tasks late
        for agent in range(FIRST_CHANNEL, first_core):
            begun = self._book.started.get(agent, ())
            if not begun or (len(begun) == 1 and len(moved) and begun[0] < moved[0]):
                prompt.add(agent)
        ready = {number: lock for number, lock in self._locks.items() if not self._is_set_late(lock)}
        return {
            number
            for number, lock in ready.items()
            if len(lock.takers) > 1 and lock.takers <= prompt and comes_in_batches(number, ready, self._acts)
        }

    def _takers(self, lock: LockUse) -> str:
        names = [agent_name(self._engine, agent) for agent in sorted(lock.takers)]
        return f"{', '.join(names[:_NAMES])}{', ...' if len(names) > _NAMES else ''}"

    def assumed(self) -> Iterator[str]:
        """What has to hold beside the order of acts, so that :meth:`reasons` are all."""
        for number in sorted(self._batches):
            name = lock_name(self._engine, number)
            yield f"{self._takers(self._locks[number])} wait for {name} again before another one comes twice"

    def is_ready(self, ch: int) -> bool:
        """Whether a channel takes all words of the run in every order, as nobody has to let it.

        Its tasks were there, or pushed before the host waited for anything, and what it takes from locks
        before its last word they have from the start.
        """
        agent = FIRST_CHANNEL + ch
        for lock in self._locks.values():
            own = (lock.acts.agent == agent) & (lock.acts.kind == NoteKind.ACQUIRE)
            needed = lock.acts.operand[own & (lock.acts.moved < self._book.accesses(agent))]
            if not len(needed):
                continue
            shared = len(lock.takers) > 1 or lock.takes_back or self._is_set_late(lock)
            if shared or (needed >= 0).any() or -int(needed.sum()) > lock.last_set():
                return False
        begun = self._book.started.get(agent, [])
        last = begun[-1] if begun else -1
        pushed = (sum(at <= last for at in each) for each in self._book.started.values())
        return last < self._book.first_look and all(many <= MEMORY.queue_depth for many in pushed)

    def of_words(self) -> Iterator[str]:
        """Locks of which one cannot tell in every order whose release an acquire has waited for."""
        for number, lock in self._locks.items():
            if len(lock.givers) > 1 and lock.takers and not self._takes_all(number, lock):
                who = ", ".join(agent_name(self._engine, agent) for agent in sorted(lock.givers)[:_NAMES])
                yield f"{who} release {lock_name(self._engine, number)}, and timing decides their order"

    def _is_last_value(self, lock: LockUse) -> bool:
        """Whether those who wait for an exact value wait for the last one that the lock ever has.

        It only grows then, or the host sets it once after a user has begun.
        """
        if lock.takers or lock.takes_back:
            return False
        if not len(lock.sets):
            return lock.exact == {lock.began + lock.given}
        late = lock.sets[[self._is_late(lock, int(at)) for at in lock.sets]]
        return not lock.givers and len(late) <= 1 and lock.exact == {lock.last_set()}

    def _are_seen(self, number: int, lock: LockUse) -> bool:
        """Whether each of those who wait for an exact value sees it in every order."""
        if lock.takes_back or self._is_set_late(lock):
            return False
        outside = self._engine.channels.external >= 0  # they read ahead
        if any(0 <= ch < len(outside) and outside[ch] for ch in (who - FIRST_CHANNEL for who in lock.agents)):
            return False
        seen = ExactValues(self._locks, self._acts, self._book.accesses, partial(stands, self._engine))
        return seen.are_seen(number)

    def _is_channel(self, agent: int) -> bool:
        return FIRST_CHANNEL <= agent < FIRST_CHANNEL + len(self._engine.channels.tile)

    def _only_host_gives(self, lock: LockUse) -> bool:
        """Whether a lock that is 0 in every order until then gets its only units by a value of the host.

        Nobody else gives to it, and nobody can have taken of 0: the value is as good as a release.
        """
        if lock.givers or lock.takes_back or any(self._is_late(lock, int(at)) for at in lock.sets[:-1]):
            return False
        values = lock.acts.operand[lock.acts.kind == NoteKind.SET]
        return int(values[-2] if len(values) > 1 else lock.began) == 0

    def _is_set_late(self, lock: LockUse) -> bool:
        return any(self._is_late(lock, int(at)) for at in lock.sets)

    def _is_late(self, lock: LockUse, at: int) -> bool:
        """Whether a user of the lock may have begun when the host, or a control packet, gives it a value."""
        if at in self._book.packets.sets:
            return True
        users = {*lock.givers, *lock.takers, *(agent for agent, _ in lock.waits)}
        users |= set(lock.acts.agent[lock.acts.kind == NoteKind.ACQUIRE].tolist())
        for agent in users:
            first = lock.first_use(agent)
            begun = [start for start in self._book.started.get(agent, ()) if start < first]
            if first < at or not begun or begun[-1] < at:
                return True
        return False

    def _may_overflow(self, number: int, lock: LockUse) -> bool:
        """Whether in some order more units could be there than the lock can have."""
        highest = max(lock.began, *lock.acts.operand[lock.acts.kind == NoteKind.SET].tolist(), 0)
        if highest + lock.given <= MEMORY.lock_value_max or number >= len(self._engine.state.locks.value):
            return False
        return self._capacity(number, lock) is None

    def _takes_all(self, number: int, lock: LockUse) -> bool:
        """Whether every acquire takes all units that there are for the lock and the one beside it."""
        capacity = self._capacity(number, lock)
        wanted = {*lock.acts.operand[lock.takes].tolist(), *(value for _, value in lock.waits)}
        return capacity is not None and wanted == {-capacity}

    def _capacity(self, number: int, lock: LockUse) -> int | None:
        """Units that a lock and another one have together and never more, whoever is late.

        Everybody who gives to one of the two has taken as much from them before.
        """
        beside = [set(self._taken_by(giver)) for giver in lock.givers]
        for other in sorted(set.intersection(*beside)) if beside else ():
            pair = self._locks[other]
            if other != number and not len(pair.sets) and not len(lock.sets) and self._is_kept(number, other):
                capacity = lock.began + pair.began
                if capacity <= MEMORY.lock_value_max:
                    return capacity
        return None

    def _taken_by(self, agent: int) -> Iterator[int]:
        return (number for number, lock in self._locks.items() if agent in lock.takers)

    def _is_kept(self, one: int, other: int) -> bool:
        """Whether nobody ever gives to two locks more than he has taken from them."""
        acts = self._acts
        here = (acts.lock == one) | (acts.lock == other)
        change = np.where(acts.kind == NoteKind.RELEASE, acts.operand, np.minimum(acts.operand, 0))
        for agent in distinct(acts.agent[here]).tolist():
            own = np.flatnonzero(here & (acts.agent == agent))
            if self._is_channel(agent):  # the release of a descriptor may come before the next acquire
                own = own[np.lexsort((acts.kind[own] == NoteKind.ACQUIRE, acts.moved[own]))]
            if np.cumsum(change[own]).max() > 0:
                return False
        return True
