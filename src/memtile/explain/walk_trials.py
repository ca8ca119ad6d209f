"""Walks that are tried where words are wrong and no core on their way does the same to each element.

Of a reduction, a product or a stencil nobody can tell which input a wrong word depends on. So each channel is
given the walks that may be meant, one after another, and the design is run with each: the one with which all
expected words come out is what was wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from memtile.arch.tiles import WORD_BYTES
from memtile.bd.descriptor import Descriptor
from memtile.explain.bd_chains import BdChains
from memtile.explain.bd_findings import line_of
from memtile.explain.deadlock.planned_words import PlannedBd, PlannedWords
from memtile.explain.names import called
from memtile.explain.repairs import Candidate
from memtile.explain.walk_changes import likely_walks
from memtile.jit.tables import plain
from memtile.sim.loop.engine import Engine

_MOST = 24  # channels
_FIRST, _NEXT, _INSIDE = 0.3, 0.01, 0.15
"""How unlikely the first walk of a channel is, how much more each later one, and those in a tile."""


def walk_candidates(engine: Engine) -> Iterator[Candidate]:
    """Other walks for the channels of a design that ran.

    Args:
        engine: that it ran on.
    """
    planned = PlannedWords.of(engine, BdChains(engine))
    if len(planned.bds) > _MOST:
        return
    for ch, bds in planned.bds.items():
        first = bds[0]
        size, begin = _memory(planned, first)
        inside = 0.0 if planned.is_external(ch) else _INSIDE
        tile = int(engine.channels.tile[ch])
        line = f" ({line_of(first.said)})" if first.said else ""
        name = called(engine, ch)
        walks = likely_walks(first.descriptor, size, begin, writes=planned.receives(ch))
        made = {_made(each.make, first.descriptor): each for each in reversed([*walks])}
        for n, (does, fix, make) in enumerate(reversed(made.values())):
            said = f"{name}{line} {does}: {fix[:1].lower()}{fix[1:].rstrip('.')}"
            yield Candidate(
                "walk", said, (), _FIRST + _NEXT * n + inside, (name, "walk", fix),
                place=first.said, walks={(tile, bd.number): partial(_made, make) for bd in bds},
            )  # fmt: skip


def _made(make: Callable[[Descriptor], Descriptor], bd: Descriptor) -> Descriptor:
    """Another descriptor, whose last dimension goes on to the end where the registers have no size for it."""
    new = make(bd)
    if len(new.dims) < new.kind.dimensions:
        return new
    return replace(new, dims=(*new.dims[:-1], new.dims[-1]._replace(wrap=0)))


def _memory(planned: PlannedWords, bd: PlannedBd) -> tuple[int, int]:
    """Words of the memory at which a descriptor is, and what its addresses have more than places of it."""
    address = int(bd.descriptor.address)
    if planned.is_external(bd.ch):
        arrays = planned.engine.external.buffers.values()
        near = (each for each in arrays if each.address <= address * WORD_BYTES < each.end)
        return next(((each.words, each.address // WORD_BYTES) for each in near), (0, 0))
    words = int(plain(planned.engine.spec.tiles).memory_words[bd.tile]) if bd.tile >= 0 else 0
    return words, address - int(bd.places.min()) if len(bd.places) else 0
