"""A walk as a few rectangular boxes of data, for everything that need not look at each word.

A walk cut by its length is a full box per counter at most; the pads are what the boxes leave out. Boxes
answer how far a walk reaches, exactly and without enumerating it, and let data move by strides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from memtile.access.walk import Loop, Walk, loops, turn_words
from memtile.arch.tiles import TileKind
from memtile.errors import Problem


class Box(NamedTuple):
    """A rectangle of data words, outermost dimension first; all in words.

    Attributes:
        position: stream slot of the first word.
        address: memory address of the first word.
        counts: words per dimension.
        pitches: distance of neighbours in the stream, per dimension.
        steps: distance of neighbours in memory, per dimension.
    """

    position: int
    address: int
    counts: tuple[int, ...]
    pitches: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def last_address(self) -> int:
        """Address of the far corner, the highest since steps are never negative."""
        return self.address + sum((n - 1) * step for n, step in zip(self.counts, self.steps, strict=True))


@lru_cache(maxsize=1024)  # the BDs of a ring come round again and again
def boxes(walk: Walk) -> tuple[Box, ...]:
    """The data words of ``walk`` as boxes in stream order."""
    return tuple(_boxes(loops(walk), 0, walk.base, walk.length))


def last_address(walk: Walk) -> int | None:
    """Highest word address that ``walk`` touches; None when it is all padding or empty."""
    return max((box.last_address for box in boxes(walk)), default=None)


def check_walk(walk: Walk, kind: TileKind, where: str = "") -> list[Problem]:
    """Whether every access of ``walk`` stays in the DMA address space of ``kind`` (AM020 ch. 5).

    The hardware checks each generated address, not only the base. Returns no or one problem, reason ``walk``.
    """
    return check_range(walk, 0, kind.dma_address_words, where or kind.title, "AM020 ch. 5, DMA address space")


def check_range(walk: Walk, first: int, words: int, where: str, source: str) -> list[Problem]:
    """Whether every access of ``walk`` stays in ``words`` words from address ``first``; reason ``walk``."""
    highest = last_address(walk)
    if highest is None or (walk.base >= first and highest < first + words):
        return []
    return [
        Problem(
            "address walk",
            f"words {walk.base:#x}..{highest:#x}",
            f"words {first:#x}..{first + words - 1:#x}",
            f"the walk covers words {walk.base:#x}..{highest:#x}, "
            f"allowed are {first:#x}..{first + words - 1:#x}",
            "Change the base address, a step, a wrap or the length.",
            reason="walk",
            where=where,
            source=source,
        )
    ]


def _boxes(nest: Sequence[Loop], position: int, address: int, words: int) -> Iterator[Box]:
    """Boxes of the first ``words`` words of one turn of ``nest``."""
    *inner, loop = nest
    unit = turn_words(inner)
    full, rest = divmod(words - loop.before * unit, unit)
    full, rest = (full, rest) if full < loop.wrap else (loop.wrap, 0)
    position += loop.before * unit
    if full > 0:
        yield _whole([*inner, loop._replace(before=0, wrap=full)], position, address)
    if full >= 0 and rest:
        yield from _boxes(inner, position + full * unit, address + full * loop.step, rest)


def _whole(nest: Sequence[Loop], position: int, address: int) -> Box:
    """The box of one uncut turn of ``nest``."""
    pitches = [turn_words(nest[:d]) for d in range(len(nest))]
    return Box(
        position=position + sum(loop.before * pitch for loop, pitch in zip(nest, pitches, strict=True)),
        address=address,
        counts=tuple(loop.wrap for loop in reversed(nest)),
        pitches=tuple(reversed(pitches)),
        steps=tuple(loop.step for loop in reversed(nest)),
    )
