"""Which cores software has enabled, and which of them nobody gave a kernel."""

from __future__ import annotations

from functools import cache

import numpy as np

from memtile.arch.registers import Register
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileName
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.register_tables import registers_of
from memtile.model.state.columns import Ints
from memtile.sim.loop.engine import Engine


@cache
def control_register(kind: TileName) -> Register:
    """Core_Control of a kind of compute tiles (DEV-REG-9)."""
    return next(register for register in registers_of(kind) if register.name == "Core_Control")


ENABLE = control_register("compute").field("Enable").mask
RESET = control_register("compute").field("Reset").mask


def control_places(engine: Engine) -> Ints:
    """Where in ``State.registers`` the Core_Control of each core is, in model order."""
    if not len(engine.state.cores.tile):
        return np.zeros(0, dtype=np.int64)
    tiles, owners = plain(engine.spec.tiles), np.asarray(engine.state.cores.tile)
    kind = int(tiles.kind[owners[0]])  # all compute tiles of a device are of one kind
    register = control_register(TILE_KINDS[KIND_NAMES[kind]].name)
    index = int(engine.spec.register_index[kind, register.offset // WORD_BYTES])
    found: Ints = tiles.register_base[owners] + index
    return found


def enabled_cores(engine: Engine) -> list[int]:
    """Model indices of the cores that Core_Control enables, in order."""
    words = engine.state.registers[control_places(engine)]
    found: list[int] = np.flatnonzero(words & ENABLE).tolist()
    return found


def held_cores(engine: Engine) -> list[int]:
    """Model indices of the cores that Core_Control holds in reset, in order."""
    words = engine.state.registers[control_places(engine)]
    found: list[int] = np.flatnonzero(words & RESET).tolist()
    return found


def without_program(engine: Engine) -> list[int]:
    """Cores that are enabled and never had a kernel, in model order."""
    return [core for core in enabled_cores(engine) if core not in engine.cores.running]
