"""Buffers that one descriptor of a ring guards with the locks of another ring.

Both locks of the pair are exchanged, so that every ring still gives as much as it takes; only the buffer
says that the descriptor works with others than those it takes turns with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.imbalance import FOREIGN_PAIR, Imbalance
from memtile.importers.kernels.lock_names import line_of, lock_name, number_of, place_of
from memtile.importers.kernels.lock_users import LockUser
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import BdDescription


class _Guarded(NamedTuple):
    """A descriptor with its locks."""

    user: LockUser
    bd: BdDescription
    takes: str
    gives: str

    @property
    def pair(self) -> tuple[str, str]:
        return self.takes, self.gives


def foreign_pairs(made: Configured, users: Sequence[LockUser], unknown: set[str]) -> Iterator[Imbalance]:
    """The descriptors that guard their buffer with locks that none of its other users takes or gives.

    Args:
        made: the device in its array.
        users: all chains and cores.
        unknown: locks with other users than these.
    """
    every = [each for user in users if user.direction for each in _guarded(user)]
    rings = {user.name: [each for each in every if each.user is user] for user in users}
    for one in every:
        others = [
            each for each in every if each.user.direction != one.user.direction and _meet(each.bd, one.bd)
        ]
        pairs = {each.pair[::-1] for each in others}
        if len(pairs) != 1 or unknown & {*one.pair, *(pair := next(iter(pairs)))}:
            continue
        if set(pair).isdisjoint(one.pair) and _is_odd(one, pair, rings) and not _any_odd(others, rings):
            yield _imbalance(made, one, pair, others[0].user)


def _guarded(user: LockUser) -> Iterator[_Guarded]:
    for turn in user.turns:
        for bd in turn.bds:
            if bd.acquire is not None and bd.release is not None:
                yield _Guarded(user, bd, bd.acquire.lock, bd.release.lock)


def _meet(one: BdDescription, other: BdDescription) -> bool:
    return (one.buffer, one.offset) == (other.buffer, other.offset)


def _is_odd(one: _Guarded, pair: tuple[str, str], rings: dict[str, list[_Guarded]]) -> bool:
    """Whether all other descriptors of a ring have a pair, and this one another."""
    rest = {each.pair for each in rings[one.user.name] if each is not one}
    return rest == {pair}


def _any_odd(ones: Sequence[_Guarded], rings: dict[str, list[_Guarded]]) -> bool:
    return any(each.pair != one.pair for one in ones for each in rings[one.user.name])


def _imbalance(made: Configured, one: _Guarded, pair: tuple[str, str], other: LockUser) -> Imbalance:
    takes, gives, meant_takes, meant_gives = (lock_name(made, lock) for lock in (*one.pair, *pair))
    name, where = one.user.name, line_of(one.bd.operation)
    buffer = f"buffer {made.device.buffers[one.bd.buffer].name or one.bd.buffer!r}"
    says = f"{buffer} is guarded by {takes} and {gives}, which {other.name} never uses for it"
    side = Side(name, f"acquires {takes} for {buffer}", place_of(one.bd.operation))
    others = Side(other.name, f"takes turns by {meant_takes} and {meant_gives}")
    fix = f"Let {name} acquire {meant_takes} and release {meant_gives} there."
    found = Finding(FOREIGN_PAIR, Severity.ERROR, f"{name}, {where}: {says}.", (side, others), fix=fix)
    return Imbalance(found, number_of(made, pair[1]))
