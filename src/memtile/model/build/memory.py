"""Banks, locks and memory control of a model as they are after reset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memtile.arch.tiles import TILE_KINDS, WORD_BYTES
from memtile.model.build.rest import at_rest
from memtile.model.state.columns import NONE
from memtile.model.state.memory import Banks, Locks, Memories
from memtile.model.state.tiles import Placed, Tiles


def memories_at_rest(placed: Sequence[Placed]) -> Memories:
    """Bank mapping of each tile after reset; compute tiles interleave the two banks of a pair (AM020)."""
    kinds = [TILE_KINDS[p.name] for p in placed]
    spread = [k.bank_group or k.banks for k in kinds]
    return at_rest(
        Memories,
        len(placed),
        shift=[k.granule_words.bit_length() - 1 for k in kinds],
        mask=[max(banks, 1) - 1 for banks in spread],
        group_shift=[
            (k.bank_bytes * banks // WORD_BYTES).bit_length() - 1
            for k, banks in zip(kinds, spread, strict=True)
        ],
        group_mask=[k.banks // banks - 1 if banks else 0 for k, banks in zip(kinds, spread, strict=True)],
        group_banks=spread,
        reach=[[NONE, tile, NONE] for tile in range(len(placed))],  # isolated, as after reset
    )


def shared_at_rest(tiles: Tiles) -> dict[str, Any]:
    """What requesters arbitrate for: banks and locks, each with its tile."""
    banked, locked = (np.repeat(np.arange(len(tiles.banks)), count) for count in (tiles.banks, tiles.locks))
    return {
        "banks": at_rest(Banks, len(banked), tile=banked),
        "locks": at_rest(Locks, len(locked), tile=locked),
    }
