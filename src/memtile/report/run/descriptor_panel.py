"""The descriptors that a run used: what each does in words, and the order in which it goes through memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from memtile.access.walk import PAD, Walk, addresses
from memtile.arch.tiles import TILE_KINDS
from memtile.bd.codec import decode
from memtile.bd.explain import explain
from memtile.explain.timeline import Timeline, Track
from memtile.jit.tables import plain
from memtile.model.checking.history_log import BD_LSB, BD_MASK, Thing
from memtile.model.dma.bd_fields import KIND_NAMES, bd_register
from memtile.model.state.causes import Cause
from memtile.model.state.columns import Ints
from memtile.sim.loop.engine import Engine

MOST_WORDS = 4096  # of an order that are drawn
_CAUSE = (1 << BD_LSB) - 1
_LEAST_PITCH, _MOST_PITCH, _SHAPE = 4, 1024, 2


@dataclass(frozen=True, slots=True)
class UsedDescriptor:
    """A descriptor as it stands after the run.

    Attributes:
        tile: model index of its tile.
        bd: its number.
        users: channels that executed it, by track.
        place: where the design says it; empty if nowhere.
        lines: topic and sentence of what it does.
        length: words of its stream.
        pitch: words of a row of the picture.
        order: int64[words]: word of memory, from the lowest one on, of each word of the stream; -1 = zero.
    """

    tile: int
    bd: int
    users: tuple[Track, ...]
    place: str
    lines: tuple[tuple[str, str], ...]
    length: int
    pitch: int
    order: Ints


def used_descriptors(engine: Engine, timeline: Timeline) -> Iterator[UsedDescriptor]:
    """The descriptors that channels moved words by, in the order of their tiles."""
    used: dict[tuple[int, int], list[Track]] = {}
    for track in timeline.tracks:
        if track.kind is not Thing.CHANNEL:
            continue
        values = np.unique(track.values)
        moved = values[(values & _CAUSE) == Cause.MOVING]
        for bd in np.unique(moved >> BD_LSB & BD_MASK).tolist():
            used.setdefault((track.tile, bd), []).append(track)
    for (tile, bd), users in used.items():
        yield _described(engine, tile, bd, tuple(users))


def _described(engine: Engine, tile: int, bd: int, users: tuple[Track, ...]) -> UsedDescriptor:
    tiles = plain(engine.spec.tiles)
    kind = TILE_KINDS[KIND_NAMES[tiles.kind[tile]]]
    first = bd_register(engine.spec, tile, bd)
    words = engine.state.registers[first : first + kind.bd_words].tolist()
    descriptor = decode(kind.name, words, bd)
    walk = replace(Walk.of(descriptor), length=min(descriptor.length, MOST_WORDS))
    order = addresses(walk)
    inside = order != PAD
    low = int(order[inside].min()) if inside.any() else 0
    order = np.where(inside, order - low, PAD)
    lines = [(line.topic, line.text) for line in explain(descriptor, bd).lines]
    place = engine.bd_places.get((tile, bd), "")
    return UsedDescriptor(tile, bd, users, place, tuple(lines), descriptor.length, _pitch(walk, order), order)


def _pitch(walk: Walk, order: Ints) -> int:
    """Words of a row with which the picture is about twice as wide as high; a step of the walk, if any is."""
    extent = int(order.max(initial=0)) + 1
    stepped = [step for step in walk.steps if _LEAST_PITCH <= step <= min(_MOST_PITCH, extent)]
    choice = stepped or [1 << n for n in range(_MOST_PITCH.bit_length())]
    return min(choice, key=lambda pitch: abs(math.log(pitch / -(-extent // pitch) / _SHAPE)))
