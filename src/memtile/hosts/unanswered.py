"""Accesses that nothing answers, in words for whoever sent them: which access, where, why, and what helps."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from memtile.arch.devices import ARRAY_BASE, ARRAY_BYTES, NPI_BASE, NPI_BYTES
from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT, TILE_BYTES, TILE_KINDS, WORD_BYTES, TileName, kind_of
from memtile.errors import Problem, RegisterError
from memtile.hosts.notices import ServerNotice
from memtile.model.register_tables import registers_of

_ROW_MASK = (1 << COLUMN_SHIFT - ROW_SHIFT) - 1


class HostAccess(NamedTuple):
    """A read or a write.

    Attributes:
        address: absolute, as the client gave it.
        value: what was to be written; None for a read.
    """

    address: int
    value: int | None

    @property
    def what(self) -> str:
        """``read`` or ``write of 0x...``."""
        return "read" if self.value is None else f"write of {self.value:#010x}"


def register_at(kind: TileName, offset: int) -> str:
    """AM025 name of the register at byte ``offset`` of a tile; empty where the map has none."""
    return _names(kind).get(offset, "")


@cache
def _names(kind: TileName) -> dict[int, str]:
    return {register.offset: register.name for register in registers_of(kind)}


def tile_of(address: int) -> tuple[int, int]:
    """Column and row of an absolute address."""
    column, rest = divmod(address - ARRAY_BASE, 1 << COLUMN_SHIFT)
    return column, rest >> ROW_SHIFT & _ROW_MASK


def place_of(address: int, kinds: dict[tuple[int, int], TileName]) -> tuple[str, str]:
    """The tile of an absolute address, and the place in it; both empty where the array has no tile.

    Args:
        address: absolute byte address.
        kinds: by column and row, those of the array.
    """
    column, row = tile_of(address)
    offset = (address - ARRAY_BASE) % TILE_BYTES
    kind = kinds.get((column, row))
    if kind is None:
        return "", ""
    return f"{kind}({column},{row})", f"{register_at(kind, offset)} {offset:#07x}".strip()


def refusal(access: HostAccess, kinds: dict[tuple[int, int], TileName], error: RegisterError) -> ServerNotice:
    """The notice about an access that was refused.

    Args:
        access: the read or write.
        kinds: of the tiles, by column and row.
        error: why it was refused.
    """
    problem = error.problems[0]
    tile, place = place_of(access.address, kinds)
    where = f"{tile} {place} at {access.address:#x}" if tile else f"{access.address:#x}"
    way = "read" if access.value is None else "write"
    return ServerNotice(
        group=f"refused accesses to {tile or 'places without a tile'}",
        key=f"{way} {access.address:#x} {problem.reason}",
        text=f"{access.what} {'of' if access.value is None else 'to'} {where} refused: "
        f"{_reason(problem, access.address, kinds)}{_step(problem)}",
    )


def _reason(problem: Problem, address: int, kinds: dict[tuple[int, int], TileName]) -> str:
    if problem.reason == "no_dma":
        return "this interface tile has no DMA"
    if problem.reason == "unmapped":
        return f"neither data memory nor a register of the map is there{_of_aie_ml(address, kinds)}"
    if problem.reason == "address" and address % WORD_BYTES:
        return "it is not the address of a 32-bit word"
    return problem.says or f"{problem.field} is {problem.given}, allowed are {problem.allowed}"


def _of_aie_ml(address: int, kinds: dict[tuple[int, int], TileName]) -> str:
    """The register that AIE-ML has where the tile's own generation has none; empty if it has none either."""
    kind = TILE_KINDS[kinds[tile_of(address)]]
    offset = (address - ARRAY_BASE) % TILE_BYTES
    name = register_at(kind_of("AIE-ML", kind.role).name, offset)
    if not name or kind.generation == "AIE-ML":
        return ""
    own = [place for place, other in _names(kind.name).items() if other == name]
    where = f"has it at {own[0]:#07x}" if own else "lacks it"
    return f"; AIE-ML has {name} there, {kind.generation} {where}"


def _step(problem: Problem) -> str:
    """What helps a client: it can write registers, not change a design."""
    return f". {problem.next_step.removesuffix('.')}" if problem.reason == "clock_off" else ""


def nowhere(address: int, memories: str) -> str:
    """Why nothing answers at an address outside of the array."""
    ranges = [
        f"the array {ARRAY_BASE:#x}..{ARRAY_BASE + ARRAY_BYTES - 1:#x}",
        f"its NPI registers {NPI_BASE:#x}..{NPI_BASE + NPI_BYTES - 1:#x}",
        f"external memory {memories}" if memories else "no external memory (serve --memory gives some)",
    ]
    return f"nothing answers at {address:#x}; there are {', '.join(ranges[:-1])} and {ranges[-1]}"
