"""Which cores software has enabled, and which of them nobody gave a kernel."""

from __future__ import annotations

from functools import cache

import numpy as np

from memtile.arch.registers import Register
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileName
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.register_tables import registers_of
from memtile.sim.engine import Engine


@cache
def control_register(kind: TileName) -> Register:
    """Core_Control of a kind of compute tiles (DEV-REG-9)."""
    return next(register for register in registers_of(kind) if register.name == "Core_Control")


def enabled_cores(engine: Engine) -> list[int]:
    """Model indices of the cores that Core_Control enables, in order."""
    if not len(engine.state.cores.tile):
        return []
    tiles, owners = plain(engine.spec.tiles), np.asarray(engine.state.cores.tile)
    kind = int(tiles.kind[owners[0]])  # all compute tiles of a device are of one kind
    register = control_register(TILE_KINDS[KIND_NAMES[kind]].name)
    index = int(engine.spec.register_index[kind, register.offset // WORD_BYTES])
    words = engine.state.registers[tiles.register_base[owners] + index]
    found: list[int] = np.flatnonzero(words & register.field("Enable").mask).tolist()
    return found


def without_program(engine: Engine) -> list[int]:
    """Cores that are enabled and never had a kernel, in model order."""
    return [core for core in enabled_cores(engine) if core not in engine.cores.running]
