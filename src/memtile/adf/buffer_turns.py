"""Locks of buffers with several writers and readers, such that no fast one takes the turn of a slow one.

AMD does not publish the protocol of a ``shared_buffer`` (DEV-ADF-30). Here each writer and each reader waits
for locks that it alone takes. A reader's lock gets one token of each writer when that has filled its part; a
writer's gets one token of each reader when that has read. Where one only gives, one lock counts for all
buffers, as both go through them in the same order. Where several give, each buffer has a lock of its own:
one that is fast could else give twice before a slow one has given once. It cannot give twice for the same
buffer, because its own lock of that buffer needs a token of the agent that is still waiting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtile.design.locks import Lock
from memtile.design.tile import Tile
from memtile.errors import DesignError

_SOURCE = "DEV-ADF-30: locks of buffers with several writers and readers"


@dataclass(frozen=True, slots=True)
class Turn:
    """What one writer or reader does with locks when it uses one buffer once.

    Attributes:
        acquire: the lock that it takes ``count`` from before; None = nothing to wait for.
        count: tokens.
        releases: locks that get one token each after.
    """

    acquire: Lock | None
    count: int
    releases: tuple[Lock, ...]


@dataclass(frozen=True, slots=True)
class Turns:
    """The lock operations of buffers.

    Attributes:
        writers: per writer a turn for each buffer.
        readers: per reader the same.
    """

    writers: tuple[tuple[Turn, ...], ...]
    readers: tuple[tuple[Turn, ...], ...]


def locks_needed(writers: int, readers: int, depth: int) -> int:
    """Locks that buffers take.

    Args:
        writers: how many fill parts of each buffer.
        readers: how many read each.
        depth: buffers.
    """
    return writers * _locks_each(readers, depth) + readers * _locks_each(writers, depth)


def buffer_turns(tile: Tile, name: str, writers: Sequence[str], readers: Sequence[str], depth: int) -> Turns:
    """Make the locks of buffers, which are all empty at first.

    Args:
        tile: that has the locks.
        name: of what the buffers belong to, for messages.
        writers: names of those that fill parts of each buffer, once a turn.
        readers: names of those that read each buffer, once a turn.
        depth: buffers.

    Raises:
        DesignError: the tile has too few free locks.
    """
    needed, free = locks_needed(len(writers), len(readers), depth), tile.kind.locks - len(tile.locks)
    if needed > free:
        raise DesignError.of(
            "locks",
            f"{needed} locks",
            f"{free} free of {tile.kind.locks}",
            f"{len(writers)} writers and {len(readers)} readers of {depth} buffers need {needed} locks, "
            f"of which {free} are free in the {tile.title}",
            "Give it fewer ports or one buffer (num_buffers = 1), or place it in another tile.",
            reason="adf_locks",
            where=name,
            source=_SOURCE,
        )
    free_locks = [_own_locks(tile, f"{each}.free", len(readers), depth, is_free=True) for each in writers]
    full_locks = [_own_locks(tile, f"{each}.full", len(writers), depth, is_free=False) for each in readers]
    return Turns(
        tuple(_turns(own, full_locks, len(readers), depth) for own in free_locks),
        tuple(_turns(own, free_locks, len(writers), depth) for own in full_locks),
    )


def _locks_each(givers: int, depth: int) -> int:
    """Locks of one that waits for so many others."""
    return min(givers, 1) * (depth if givers > 1 else 1)


def _own_locks(tile: Tile, name: str, givers: int, depth: int, *, is_free: bool) -> list[Lock]:
    """The locks that one waits for: one for each buffer if several give, else one for all."""
    count = _locks_each(givers, depth)
    initial = (depth if givers == 1 else givers) if is_free else 0
    names = [name] if count == 1 else [f"{name}[{n}]" for n in range(count)]
    return [tile.lock(initial, each) for each in names[:count]]


def _turns(
    own: Sequence[Lock], others: Sequence[Sequence[Lock]], givers: int, depth: int
) -> tuple[Turn, ...]:
    """The turn of each buffer: take from the own lock, give to those of the others."""
    count = givers if len(own) > 1 or depth == 1 else 1
    return tuple(
        Turn(
            own[slot % len(own)] if own else None,
            count,
            tuple(locks[slot % len(locks)] for locks in others if locks),
        )
        for slot in range(depth)
    )
