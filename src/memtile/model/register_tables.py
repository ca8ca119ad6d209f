"""The register tables of ``arch`` as flat arrays that the AXI port looks things up in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from memtile.arch.core import CORE
from memtile.arch.register_map import ELSEWHERE, OF_A_DMA, TILE_MODULES, event_modules, register_map
from memtile.arch.registers import WORD_BITS, ModuleName, Register
from memtile.arch.tiles import TILE_BYTES, TILE_KINDS, WORD_BYTES, TileName
from memtile.jit.tables import table
from memtile.model.state.columns import Ints, Shorts
from memtile.model.state.tile_columns import RegisterMap

_UNMAPPED = -1

Bools = npt.NDArray[np.bool_]


@cache
def registers_of(name: TileName) -> tuple[Register, ...]:
    """Every 32-bit register of a tile kind in address order, the words of wider ones among them.

    Windows are included, data memory is not.
    """
    found = [r for module in TILE_MODULES[name] for r in register_map(module).values() if not r.is_memory]
    return tuple(sorted((word for r in found for word in r.words()), key=lambda word: word.offset))


@cache
def reset_values(name: TileName) -> Ints:
    """Value of each register after reset; int64, in the order of :func:`registers_of`."""
    return np.array([r.reset for r in registers_of(name)], dtype=np.int64)


def index_map(name: TileName) -> Shorts:
    """Register index of every 32-bit word of the tile's address space; -1 where nothing answers."""
    found = np.full(TILE_BYTES // WORD_BYTES, _UNMAPPED, dtype=np.int16)
    for index, register in enumerate(registers_of(name)):
        first = register.offset // WORD_BYTES
        found[first : first + register.span // WORD_BYTES] = index
    for place, own in ELSEWHERE.get(name, {}).items():
        found[place // WORD_BYTES] = found[own // WORD_BYTES]
    return found


@cache
def _module_at(name: TileName) -> dict[int, ModuleName]:
    """Byte offset -> the module that describes the register there."""
    return {
        offset: module
        for module in TILE_MODULES[name]
        for r in register_map(module).values()
        for offset in (r.offset + WORD_BYTES * n for n in range(1 if r.is_memory else r.width // WORD_BITS))
    }


def _needs_dma(name: TileName, register: Register) -> bool:
    """Whether only tiles with a DMA have the register."""
    return _module_at(name).get(register.offset) in OF_A_DMA


def _unit(name: TileName, register: Register) -> int:
    """Which event unit of its tile the register is about: its module's own, or else the tile's first."""
    units = [module for module, _ in event_modules(name)]
    module = _module_at(name).get(register.offset)
    return units.index(module) if module in units else 0


def records(names: Sequence[TileName]) -> RegisterMap:
    """The facts of every register of the tile kinds; a row for each of ``names``."""
    found = table(RegisterMap, len(names), max(len(registers_of(name)) for name in names))
    for row, name in enumerate(names):
        own = registers_of(name)
        here = row, slice(len(own))
        found.write_mask[here] = [r.writable for r in own]
        found.clear_mask[here] = [r.clearable for r in own]
        found.read_mask[here] = [r.readable for r in own]
        found.acts[here] = [r.acts for r in own]
        found.argument[here] = [r.argument for r in own]
        found.unit[here] = [_unit(name, r) for r in own]
        found.needs_dma[here] = [_needs_dma(name, r) for r in own]
    return found


@cache
def answering(name: TileName, has_dma: bool) -> Bools:
    """Where an access is answered, by data memory, a register or program memory.

    Args:
        name: the tile kind.
        has_dma: whether the tile has a DMA; all but some interface tiles do.

    Returns:
        A bool for each 32-bit word of the tile's address space.
    """
    found, kind = index_map(name), TILE_KINDS[name]
    lacking = [not has_dma and _needs_dma(name, register) for register in registers_of(name)]
    answered: Bools = (found != _UNMAPPED) & ~np.array(lacking)[found]
    answered[: kind.memory_words] = True
    if kind.role == "compute":
        first = CORE.program_base // WORD_BYTES
        answered[first : first + CORE.program_words] = True
    return answered
