"""Walks that are tried where words are wrong and no core on their way does the same to each element.

Of a reduction, a product or a stencil nobody can tell which input a wrong word depends on. So each channel is
given the walks that may be meant, one after another, and the design is run with each: the one with which all
expected words come out is what was wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from memtile.access.walk import PAD
from memtile.arch.tiles import WORD_BYTES
from memtile.bd.descriptor import Descriptor
from memtile.explain.bd_chains import BdChains
from memtile.explain.bd_findings import line_of
from memtile.explain.deadlock.planned_words import PlannedBd, PlannedWords, areas_on
from memtile.explain.names import called
from memtile.explain.race_findings import NamedArea
from memtile.explain.repairs import Candidate
from memtile.explain.walk_changes import likely_walks, walked
from memtile.jit.tables import plain
from memtile.sim.loop.engine import Engine

_MOST = 24  # channels
_FIRST, _NEXT, _INSIDE, _LEAVES = 0.3, 0.01, 0.15, 0.2
"""How unlikely the first walk of a channel is, how much more each later one, those in a tile, and those
that leave their buffer."""


def walk_candidates(engine: Engine, areas: Sequence[NamedArea] = ()) -> Iterator[Candidate]:
    """Other walks for the channels of a design that ran.

    Args:
        engine: that it ran on.
        areas: the buffers of the design, as far as they are known. A walk that leaves its buffer is less
            likely meant, and one that no longer does is likelier.
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
        for n, (does, fix, make, _) in enumerate(reversed(made.values())):
            said = f"{name}{line} {does}: {fix[:1].lower()}{fix[1:].rstrip('.')}"
            old, new = (
                _touched(planned, first, bd, areas)
                for bd in (first.descriptor, _made(make, first.descriptor))
            )
            beyond = _LEAVES * ((new > old) - (new < old))
            yield Candidate(
                "walk", said, (), _FIRST + _NEXT * n + inside + beyond, (name, "walk", fix),
                place=first.said, walks={(tile, bd.number): partial(_made, make) for bd in bds},
            )  # fmt: skip


def _made(make: Callable[[Descriptor], Descriptor], bd: Descriptor) -> Descriptor:
    """Another descriptor, whose last dimension goes on to the end where the registers have no size for it."""
    new = make(bd)
    if len(new.dims) < new.kind.dimensions:
        return new
    return replace(new, dims=(*new.dims[:-1], new.dims[-1]._replace(wrap=0)))


def _touched(planned: PlannedWords, bd: PlannedBd, walk: Descriptor, areas: Sequence[NamedArea]) -> int:
    """Buffers of its tile that a walk of a descriptor moves words of, and 1 more for words of none."""
    at = walked(walk, 0, writes=planned.receives(bd.ch))
    places = at[at != PAD] - _memory(planned, bd)[1]
    inside = [(places >= low) & (places < end) for _, low, end in areas_on(bd.tile, areas)]
    if not inside:
        return 0
    return sum(bool(each.any()) for each in inside) + (not np.logical_or.reduce(inside).all())


def _memory(planned: PlannedWords, bd: PlannedBd) -> tuple[int, int]:
    """Words of the memory at which a descriptor is, and what its addresses have more than places of it."""
    address = int(bd.descriptor.address)
    if planned.is_external(bd.ch):
        arrays = planned.engine.external.buffers.values()
        near = (each for each in arrays if each.address <= address * WORD_BYTES < each.end)
        return next(((each.words, each.address // WORD_BYTES) for each in near), (0, 0))
    words = int(plain(planned.engine.spec.tiles).memory_words[bd.tile]) if bd.tile >= 0 else 0
    return words, address - int(bd.places.min()) if len(bd.places) else 0
