"""The tables of the DMA channels after reset: who they are, their buffers and address generators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memtile.arch.tiles import GRANULE_WORDS, MM2S, S2MM, TILE_KINDS, TileKind, TileName
from memtile.arch.timing import Timing
from memtile.model.build.rest import at_rest
from memtile.model.state.columns import NONE, ring_wrap
from memtile.model.state.dma import ChannelColumns, Fifos, Walks

_STAGED_WORDS = 2 * GRANULE_WORDS  # of the words that wait in an interface channel, those next to its port


def channels(tiles: Sequence[TileName], timing: Timing) -> tuple[ChannelColumns, Fifos, Walks]:
    """The channels of all tiles of the model, S2MM before MM2S within a tile."""
    rows = [
        (tile, direction, number)
        for tile, name in enumerate(tiles)
        for direction in (S2MM, MM2S)
        for number in range(TILE_KINDS[name].channels)
    ]
    tile, direction, number = zip(*rows, strict=True)
    kinds = [TILE_KINDS[tiles[t]] for t in tile]
    outside = np.array([kind.role == "interface" for kind in kinds])
    external = np.where(outside, np.cumsum(outside) - 1, NONE)
    where = {
        "tile": tile,
        "direction": direction,
        "number": number,
        "external": external,
    }
    depths = [_buffer_depth(kind, d, timing) for kind, d in zip(kinds, direction, strict=True)]
    return (
        at_rest(ChannelColumns, len(rows), **where, switch_port=NONE),
        at_rest(Fifos, len(rows), depth=depths, wrap=[ring_wrap(depth) for depth in depths]),
        at_rest(
            Walks,
            len(rows),
            granule_words=[kind.granule_words for kind in kinds],
            stream_words=[kind.stream_words for kind in kinds],
        ),
    )


def _buffer_depth(kind: TileKind, direction: int, timing: Timing) -> int:
    """Words of a channel's stream buffer: as many beats in both generations (DEV-V2-7)."""
    beats = timing.memory_egress_words if kind.role == "memory" else timing.compute_egress_words
    if direction == S2MM:
        beats = timing.ingress_words
    elif kind.role == "interface":
        beats = _STAGED_WORDS
    return kind.stream_words * beats
