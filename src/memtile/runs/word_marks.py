"""Words of a tile that programs are searched for: a bool for each, by kind of the tile."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from memtile.arch.registers import Acts, Register
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileName
from memtile.model.register_tables import registers_of
from memtile.runs.operation_table import TILE_WORDS, Bools
from memtile.sim.kernels.core_control import control_register


@cache
def queues(kind: TileName, _has_dma: bool = True) -> Bools:
    """Those that push a task."""
    return _those(kind, lambda register: any(field.name == "Start_BD_ID" for field in register.fields))


@cache
def clocks(kind: TileName, _has_dma: bool = True) -> Bools:
    """Those that stop clocks or reset columns."""
    return _those(kind, lambda register: register.acts is Acts.COLUMN_CLOCK)


@cache
def core_controls(kind: TileName, _has_dma: bool = True) -> Bools:
    """Those that enable or reset a core."""
    found = np.zeros(TILE_WORDS, np.bool_)
    if TILE_KINDS[kind].role == "compute":
        found[control_register(kind).offset // WORD_BYTES] = True
    return found


@cache
def external_transfers(kind: TileName, _has_dma: bool = True) -> Bools:
    """Those of interface tiles that say what goes to external memory: descriptors, control, queues."""
    found, tile = np.zeros(TILE_WORDS, np.bool_), TILE_KINDS[kind]
    if tile.role == "interface":
        found |= queues(kind)
        found |= _those(kind, lambda register: any(f.name == "Enable_Out_of_Order" for f in register.fields))
        found[tile.bd_base // WORD_BYTES : (tile.bd_base + tile.bds * tile.bd_stride) // WORD_BYTES] = True
    return found


def _those(kind: TileName, wanted: Callable[[Register], bool]) -> Bools:
    found = np.zeros(TILE_WORDS, np.bool_)
    found[[register.offset // WORD_BYTES for register in registers_of(kind) if wanted(register)]] = True
    return found
