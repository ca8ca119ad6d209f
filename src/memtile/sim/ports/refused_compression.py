"""Compressed streams whose format is not public: a run that came to one is refused (DEV-AIE2P-3)."""

from __future__ import annotations

import numpy as np

from memtile.arch.tiles import DIRECTIONS, TILE_KINDS
from memtile.errors import Problem, SimulationError
from memtile.jit.structs import at_hand
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.dma.channel_registers import COMPRESSION_LSB, ERROR_UNKNOWN_FORMAT
from memtile.model.state.state import State

ENABLED = 1 << COMPRESSION_LSB  # bit of a channel's control register
SOURCE = "the compressed bytes of AIE2P differ from those of AIE-ML: mlir-aie, dma_compression"
_HALTED = 1 << ERROR_UNKNOWN_FORMAT


def refuse_unknown(state: State) -> None:
    """Raise if a channel was to compress in a format that is not public, which has halted it.

    Raises:
        SimulationError: with every such channel.
    """
    found = np.flatnonzero(at_hand(state).channels.errors & _HALTED)
    if len(found):
        raise SimulationError([_problem(state, ch) for ch in found.tolist()])


def _problem(state: State, ch: int) -> Problem:
    """Why channel ``ch`` is halted by that."""
    tiles, channels = plain(state.spec.tiles), plain(state.channels)
    tile, direction = int(channels.tile[ch]), DIRECTIONS[channels.direction[ch]]
    kind = TILE_KINDS[KIND_NAMES[tiles.kind[tile]]]
    place = f"({tiles.column[tile]},{tiles.row[tile]})"
    does = "decompress" if direction == DIRECTIONS[0] else "compress"
    return Problem(
        "compression",
        "on",
        "off",
        f"the channel is to {does}, but the format of {kind.generation} is not public",
        "Send the data uncompressed, or try it on npu1.",
        reason="compression",
        where=f"{kind.title} {place}, {direction} {channels.number[ch]}",
        source=SOURCE,
    )
