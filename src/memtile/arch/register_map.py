"""The register maps of all modules; how to find a register by name or by address (AM025, driver, AM029)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType

from memtile.arch import (
    compute_registers,
    interface_registers,
    memory_tile_registers,
    registers_2p,
    registers_v2,
)
from memtile.arch.events import EVENT_MODULES, EVENT_UNITS, EventUnitFacts
from memtile.arch.registers import ModuleName, Register, Table
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileName
from memtile.errors import Problem, RegisterError

TILE_MODULES: Mapping[TileName, tuple[ModuleName, ...]] = MappingProxyType(
    {
        "memory": ("memory_tile",),
        "compute": ("memory", "core"),
        "interface": ("noc", "pl"),
        "memory_2p": ("memory_tile_2p",),
        "compute_2p": ("memory_2p", "core_2p"),
        "interface_2p": ("noc", "pl_2p"),
        "memory_v2": ("memory_tile_v2",),
        "compute_v2": ("memory_v2", "core"),  # core and pl: those of AIE-ML (DEV-V2-2)
        "interface_v2": ("noc_v2", "pl"),
    }
)
_TABLES: Mapping[ModuleName, Callable[[], Table]] = MappingProxyType(
    {
        "memory_tile": memory_tile_registers.table,
        "memory": compute_registers.memory_table,
        "core": compute_registers.core_table,
        "noc": interface_registers.noc_table,
        "pl": interface_registers.pl_table,
        "memory_tile_2p": registers_2p.memory_tile_table,
        "memory_2p": registers_2p.memory_table,
        "core_2p": registers_2p.core_table,
        "pl_2p": registers_2p.pl_table,
        "memory_tile_v2": registers_v2.memory_tile_table,
        "memory_v2": registers_v2.memory_table,
        "noc_v2": registers_v2.noc_table,
    }
)

OF_A_DMA: frozenset[ModuleName] = frozenset({"noc"})
"""Modules that a tile without DMA lacks; who lacks ``noc_v2`` is not known (DEV-V2-5)."""

ELSEWHERE: Mapping[TileName, Mapping[int, int]] = MappingProxyType(
    {
        "compute_v2": {
            0x60020: 0x36030,
            0x38000: 0x32000,
            0x38004: 0x32004,
            **{
                0x37500 + n: 0x31500 + n
                for n in (*range(0, 12, 4), *range(0x20, 0x30, 4), *range(0x80, 0x90, 4))
            },
        },
        "interface_v2": {
            **{0x30000 + n: 0x33000 + n for n in range(0, 16, 4)},
            **{0x7FF00 + n: 0xFFF00 + n for n in (0x00, 0x04, 0x10, 0x14, 0x20, 0x28)},
            0x7FF40: 0x36030,
        },
    }
)
"""Places that the driver gives registers of AIE-ML in AIE-ML v2 (AIE2PS) -> ours; both answer (DEV-V2-2)."""


@cache
def register_map(module: ModuleName) -> Mapping[int, Register]:
    """Byte offset in the tile -> register, in address order; windows are listed at their first byte."""
    table = sorted(_TABLES[module](), key=lambda register: register.offset)
    return MappingProxyType({register.offset: register for register in table})


def event_modules(tile: TileName) -> tuple[tuple[ModuleName, EventUnitFacts], ...]:
    """The modules of a tile kind that have an event unit, from west to east: the core module comes first.

    Those of AIE2P have the numbers of AIE-ML (driver); those of AIE-ML v2 are taken for them (DEV-V2-2).
    """
    bases = [(module, EVENT_MODULES[module]) for module in TILE_MODULES[tile] if module in EVENT_MODULES]
    bases.sort(key=lambda pair: pair[1] != "core")
    return tuple((module, EVENT_UNITS[base]) for module, base in bases)


@cache
def _by_name(module: ModuleName) -> Mapping[str, Register]:
    return {register.name: register for register in register_map(module).values()}


def _near(name: str, names: Iterable[str]) -> list[str]:
    """Names that somebody may have meant; upper and lower case are alike."""
    spelled = {known.lower(): known for known in names}
    return [spelled[found] for found in get_close_matches(name.lower(), spelled, 3)]


def register_named(module: ModuleName, name: str) -> Register:
    """The register that AM025 calls ``name``; raises :class:`RegisterError` when there is none."""
    named = _by_name(module)
    if name in named:
        return named[name]
    near = _near(name, named)
    raise RegisterError.of(
        "register",
        repr(name),
        f"one of {len(named)} names",
        f"no register is called {name!r}",
        f"Did you mean {' or '.join(near)}?" if near else "",
        reason="register",
        where=f"module {module}",
        source=f"AM025 module {module}",
    )


def tile_register(tile: TileName, name: str) -> Register:
    """The register of a ``tile`` that AM025 calls ``name``, or ``module.name``.

    Raises:
        RegisterError: there is none, or each module of the tile has one.
    """
    module, _, plain = name.rpartition(".")
    modules = [m for m in TILE_MODULES[tile] if module in ("", m)]
    found = {m: _by_name(m)[plain] for m in modules if plain in _by_name(m)}
    if len(found) == 1:
        return next(iter(found.values()))
    raise RegisterError(_no_register(tile, name, plain, list(found)))


def _no_register(tile: TileName, name: str, plain: str, modules: Sequence[ModuleName]) -> Problem:
    """A name that no register has, or one in each of several modules."""
    names = [n for m in TILE_MODULES[tile] for n in _by_name(m)]
    near = [f"{m}.{plain}" for m in modules] or _near(plain, names)
    return Problem(
        "register",
        repr(name),
        "the name of one register" if modules else f"one of {len(names)} names",
        f"several modules have a register {plain}" if modules else f"no register is called {name!r}",
        f"Did you mean {' or '.join(dict.fromkeys(near))}?" if near else "",
        reason="register",
        where=TILE_KINDS[tile].title,
        source=f"AM025 modules {', '.join(TILE_MODULES[tile])}",
    )


def register_at(tile: TileName, offset: int) -> Register | None:
    """The register or window that answers at byte ``offset`` of a ``tile``; None where nothing does."""
    offset = ELSEWHERE.get(tile, {}).get(offset, offset)
    for module in TILE_MODULES[tile]:
        registers = register_map(module)
        found = registers.get(offset)
        for register in (found,) if found else _windows(module):
            if register.offset <= offset < register.offset + register.span:
                return register
    return None


@cache
def _windows(module: ModuleName) -> tuple[Register, ...]:
    return tuple(r for r in register_map(module).values() if r.span > WORD_BYTES)
