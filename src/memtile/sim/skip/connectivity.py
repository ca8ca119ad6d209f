"""What hangs together beside what registers say: by words of external memory, and by kernels.

Users of external memory hang together where one of them writes a word that another one comes to. A kernel
that says what it reaches (``sim.kernels.isolation``) hangs together with that; all others with each other,
with all that they could reach, and with whatever is written outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from memtile.arch.tiles import WORD_BYTES
from memtile.jit.tables import plain
from memtile.model.cores import cascade
from memtile.model.state.causes import CorePhase
from memtile.model.state.columns import Ints
from memtile.model.state.state import State
from memtile.sim.skip import reached_tiles
from memtile.sim.skip.reached_tiles import Groups

_MOST_PIECES = 1 << 18  # of walks, that are compared word for word


class KernelTies(NamedTuple):
    """What the kernels that have not ended hang together with.

    Attributes:
        tiles: of each of them, those that it reaches, its own first.
        unknown: tiles of those of which that is not known.
    """

    tiles: list[list[int]]
    unknown: list[int]


def ties_of_kernels(st: State, reached: Mapping[int, frozenset[int] | None], *, together: bool) -> KernelTies:
    """What hangs together by kernels, and by values in cascades.

    Args:
        st: state.
        reached: by core with a kernel, the tiles that it says to reach; None = it does not say.
        together: take none of them to say it.
    """
    cores, every = plain(st.cores), plain(st.spec.tiles)
    alive = (cores.phase != CorePhase.IDLE) & (cores.phase != CorePhase.DONE)
    found: list[list[int]] = []
    unknown: list[int] = []
    for core in np.flatnonzero(alive | (plain(st.cascades).out_held > 0)).tolist():
        tile, known = int(cores.tile[core]), reached.get(core)
        tied = [tile]
        to = cascade.receiver(st, core)
        if to >= 0 and cascade.sender(st, to) == core:
            tied.append(int(cores.tile[to]))
        if alive[core] and (known is None or together):
            unknown.append(tile)
            tied += [side for side in every.core_reach[tile].tolist() if side >= 0]
        elif alive[core] and known is not None:
            tied += sorted(known)
        found.append(tied)
    return KernelTies(found, unknown)


def labels(groups: Groups, kernels: KernelTies, *, words: bool) -> Ints:
    """Of each tile, the one that stands for all that hang together with it; ``words`` are moved."""
    parent, users = groups.parent, groups.users[1 : 1 + groups.users[0, 0]]
    for tiles in (*kernels.tiles, kernels.unknown):
        _tie(parent, tiles)
    if words and len(users):
        if groups.users[0, reached_tiles.TOO_MANY]:
            _tie(parent, users[:, reached_tiles.TILE].tolist())
        if kernels.unknown:  # which arrays they look at, nobody knows
            writers = users[users[:, reached_tiles.WRITES] == 1, reached_tiles.TILE]
            _tie(parent, [kernels.unknown[0], *writers.tolist()])
        _tie_users(parent, users)
    while not np.array_equal(above := parent[parent], parent):
        parent[:] = above
    return parent.copy()


def _tie_users(parent: Ints, users: Ints) -> None:
    """Tie the tiles of users of external memory, some of which write words that others come to."""
    shared = users[_in_reach(users)]
    if not len(shared):
        return
    pieces = _pieces(shared)
    if pieces is None:
        pieces = shared
    pieces = pieces[np.argsort(pieces[:, reached_tiles.FIRST], kind="stable")]
    number, written = _heaps(pieces)
    beside = (number[1:] == number[:-1]) & written[1:]
    tiles = pieces[:, reached_tiles.TILE]
    pairs = np.stack((tiles[:-1], tiles[1:]), axis=1)[beside & (tiles[1:] != tiles[:-1])]
    for one, other in np.unique(pairs, axis=0).tolist():
        reached_tiles.tie(parent, one, other)


def _in_reach(users: Ints) -> Ints:
    """Those whose bytes are not apart from those of others, where some of them write, by their numbers."""
    order = np.argsort(users[:, reached_tiles.FIRST], kind="stable")
    ordered = users[order]
    number, written = _heaps(ordered)
    several = np.zeros(len(users), bool)
    same = (number[1:] == number[:-1]) & (ordered[1:, reached_tiles.TILE] != ordered[:-1, reached_tiles.TILE])
    several[number[1:][same]] = True
    found: Ints = order[several[number] & written]
    return found


def _heaps(ordered: Ints) -> tuple[Ints, Ints]:
    """Of pieces in the order of their first bytes, which heap each is in, and whether that is written to.

    Heaps are those that overlap, one with another.
    """
    before = np.maximum.accumulate(ordered[:, reached_tiles.END])[:-1]
    number = np.concatenate(([0], np.cumsum(ordered[1:, reached_tiles.FIRST] >= before)))
    begins = np.flatnonzero(np.diff(number, prepend=-1))
    return number, np.maximum.reduceat(ordered[:, reached_tiles.WRITES], begins)[number] == 1


def _pieces(users: Ints) -> Ints | None:
    """The walks of users as pieces without a gap, in rows like theirs; None = there are too many."""
    found, left = [], _MOST_PIECES
    for user in users:
        starts, nbytes = _walk(user, left)
        left -= len(starts)
        if left < 0:
            return None
        rows = np.repeat(user[None, : reached_tiles.WRITES + 1], len(starts), axis=0)
        rows[:, reached_tiles.FIRST] = np.maximum(starts, user[reached_tiles.FIRST])
        rows[:, reached_tiles.END] = np.minimum(starts + nbytes, user[reached_tiles.END])
        found.append(rows[rows[:, reached_tiles.FIRST] < rows[:, reached_tiles.END]])
    return np.concatenate(found)


def _walk(user: Ints, most: int) -> tuple[Ints, int]:
    """First bytes of the pieces of a walk, and how many bytes each has; of more than ``most`` some.

    Each dimension takes what those inside of it have left over; what the last one would take behind the
    length is taken to be in the walk too.
    """
    length = int(user[reached_tiles.LENGTH])
    left, size = max(length, 1), 1
    loops: list[tuple[int, int]] = []  # count, step
    wraps = [*user[reached_tiles.WRAPS : reached_tiles.OF_USER].tolist(), 0]
    for step, wrap in zip(user[reached_tiles.STEPS : reached_tiles.WRAPS].tolist(), wraps, strict=True):
        count = max(min(wrap, left) if wrap > 0 else left, 1)
        left = -(-left // count)
        if step == size and not loops:
            size *= count
        elif count > 1:
            loops.append((count, step))
    loops.append((int(user[reached_tiles.TURNS]) + 1, int(user[reached_tiles.TURN_STEP])))
    starts = np.zeros(1, np.int64)
    for count, step in loops:
        if len(starts) * count > most:
            return np.zeros(most + 1, np.int64), size
        starts = (starts[None, :] + step * np.arange(count)[:, None]).ravel()
    return user[reached_tiles.AT] + starts * WORD_BYTES, size * WORD_BYTES


def _tie(parent: Ints, tiles: Iterable[int]) -> None:
    """Let tiles hang together."""
    first, *others = (*tiles, -1)
    for tile in others:
        reached_tiles.tie(parent, tile, first)
