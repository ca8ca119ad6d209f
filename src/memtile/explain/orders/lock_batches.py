"""Locks with several takers that share out one batch after another, each taker its part.

A giver releases a batch of units at once, for ``L``; each of several channels takes its part of it, moves a
block, and gives as much back to a second lock ``E``; the giver takes all of ``E`` before the next batch. This
is how a memory tile splits a buffer over channels, or joins blocks of channels into one.

Suppose that (P) a channel which has given its part back waits for ``L`` again before another channel has come
through ``L`` and round to it a second time. Claim: the n-th time that a channel takes from ``L``, it takes
its part of the n-th batch. Proof by induction. When batch n comes, the giver has taken all of ``E`` before:
each channel has given its part of batch n-1 back, and ``L`` is 0. By (P) all wait at ``L`` then, or come to
it before any of them comes a second time. The parts add up to the batch, so each takes its own, whoever is
first, and the rest never suffices for a second time of anybody. So ``L`` and ``E`` act as a pair of locks for
each channel, of which one channel takes, and one giver: the argument of ``proof`` holds for them. The first
batch may be what ``L`` begins with.

(P) says nothing of how long anything takes, but that a channel alone does not stand still between two BDs
while another one moves a block, the giver one, and the other one comes round. It is stated with the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memtile.explain.orders.lock_use import LockUse
from memtile.model.checking.notes import NoteKind
from memtile.sim.races.order_book import LockAct


def comes_in_batches(number: int, locks: Mapping[int, LockUse], acts: LockAct) -> bool:
    """Whether each taker of a lock gets its part of each batch, if takers come back at once.

    Args:
        number: of the lock.
        locks: all that the run used, by number, but for those that get a value while others use them.
        acts: all of the run.
    """
    lock = locks[number]
    if len(lock.givers) != 1 or lock.givers & lock.takers:
        return False
    (giver,) = lock.givers
    for back, other in locks.items():
        if back != number and other.takers == {giver} and other.givers == lock.takers:
            in_turn = _takes_before_it_gives(giver, back, number, acts)
            return in_turn and _is_pair(lock, other) and _share_out(number, back, lock, acts)
    return False


def _is_pair(lock: LockUse, back: LockUse) -> bool:
    """Whether the giver takes all of one lock and gives as much to the other, and nothing else is done."""
    whole = {lock.last_set(), back.last_set()} - {0}
    if len(whole) != 1 or (lock.last_set() and back.last_set()):
        return False
    (batch,) = whole
    if any(each.exact or each.takes_back for each in (lock, back)):
        return False
    waits = {operand for _, operand in back.waits}
    taken = set(back.acts.operand[back.takes].tolist()) | waits
    given = set(lock.acts.operand[lock.acts.kind == NoteKind.RELEASE].tolist())
    return bool(taken == {-batch} and given <= {batch})


def _takes_before_it_gives(giver: int, taken: int, given: int, acts: LockAct) -> bool:
    """Whether the giver has taken from one lock before each time that it gives to the other."""
    own = acts.agent == giver
    takes = (acts.lock[own] == taken) & (acts.kind[own] == NoteKind.ACQUIRE)
    gives = (acts.lock[own] == given) & (acts.kind[own] == NoteKind.RELEASE)
    return bool((np.cumsum(takes) >= np.cumsum(gives)).all())


def _share_out(number: int, back: int, lock: LockUse, acts: LockAct) -> bool:
    """Whether the parts of all takers add up to a batch, and each takes its part of each batch."""
    batch = max(lock.last_set(), *lock.acts.operand[lock.acts.kind == NoteKind.RELEASE].tolist(), 0)
    batches = (lock.last_set() + lock.given) // batch if batch else 0
    parts = 0
    for taker in lock.takers:
        part = _part(number, back, acts, taker, batches)
        if not part or any(operand != -part for agent, operand in lock.waits if agent == taker):
            return False
        parts += part
    return bool(parts == batch)


def _part(number: int, back: int, acts: LockAct, taker: int, batches: int) -> int:
    """The units that a channel takes and gives back in turn, once a batch; 0 = it does otherwise."""
    own = acts.agent == taker
    at, kind, operand, moved = acts.lock[own], acts.kind[own], acts.operand[own], acts.moved[own]
    takes = np.flatnonzero((at == number) & (kind == NoteKind.ACQUIRE))
    gives = np.flatnonzero((at == back) & (kind == NoteKind.RELEASE))
    if len(takes) != batches or not batches or not len(takes) - 1 <= len(gives) <= len(takes):
        return 0
    part = -int(operand[takes[0]])
    same = (operand[takes] == -part).all() and (operand[gives] == part).all()
    later = takes[1:]
    in_turn = (takes[: len(gives)] < gives).all() and (gives[: len(later)] + 1 == later).all()
    blocks = (moved[takes[: len(gives)]] < moved[gives]).all()
    at_once = (moved[gives[: len(later)]] == moved[later]).all()
    return part if bool(same) and in_turn and blocks and at_once else 0
