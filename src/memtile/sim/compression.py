"""Compressed streams whose format is not public: a run that would need one is refused (DEV-AIE2P-3)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memtile.arch.tiles import DIRECTIONS, TILE_KINDS, TileKind
from memtile.errors import Problem, SimulationError, raise_if
from memtile.jit.structs import at_hand
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.dma.registers import COMPRESSION_LSB
from memtile.model.state.state import State

_KNOWN = np.array([TILE_KINDS[name].compression_known for name in KIND_NAMES])
ENABLED = 1 << COMPRESSION_LSB  # bit of a channel's control register
SOURCE = "the compressed bytes of AIE2P differ from those of AIE-ML: mlir-aie, dma_compression"


def refuse_unknown(state: State) -> None:
    """Raise if a channel and a BD of its tile ask for compression in a format that is not public.

    Raises:
        SimulationError: with every such channel.
    """
    if not _KNOWN[at_hand(state.spec).tiles.kind].all() and (at_hand(state).channels.control & ENABLED).any():
        raise_if(list(_refused(state)), SimulationError)


def _refused(state: State) -> Iterator[Problem]:
    tiles, channels = plain(state.spec.tiles), plain(state.channels)
    for ch in np.flatnonzero(channels.control & ENABLED).tolist():
        tile = int(channels.tile[ch])
        kind = TILE_KINDS[KIND_NAMES[tiles.kind[tile]]]
        if kind.has_compression and not kind.compression_known and _asked_for(state, tile, kind):
            place = f"({tiles.column[tile]},{tiles.row[tile]})"
            direction = DIRECTIONS[channels.direction[ch]]
            does = "decompress" if direction == DIRECTIONS[0] else "compress"
            yield Problem(
                reason="compression",
                where=f"{kind.title} {place}, {direction} {channels.number[ch]}",
                field="compression",
                given="on",
                allowed="off",
                source=SOURCE,
                next_step="Send the data uncompressed, or try it on npu1.",
                says=f"the channel is to {does}, but the format of {kind.generation} is not public",
            )


def _asked_for(state: State, tile: int, kind: TileKind) -> bool:
    """Whether a descriptor of the tile has Enable_Compression."""
    ((word, _, lsb),) = kind.bd_fields["Enable_Compression"].parts
    first = int(plain(state.spec.tiles).register_base[tile])
    bds = int(plain(state.spec.kinds).bd_register[KIND_NAMES.index(kind.name)])
    places = first + bds + np.arange(kind.bds) * kind.bd_words + word
    return bool((np.asarray(state.registers)[places] >> lsb & 1).any())
