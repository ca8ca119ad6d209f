"""Registers, events and stream ports found by name, by part of a name, by number or by address.

Everything is read from the tables that the model is built from. A name is compared without regard to case
and to what separates its parts, in the spelling of AM025 and in that of the driver's header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

from memtile.arch.core import CORE
from memtile.arch.devices import ARRAY_BASE, DEVICES, PARTITIONS, Device, device
from memtile.arch.events import events_of
from memtile.arch.grades import Grade
from memtile.arch.ports import PORTS
from memtile.arch.register_map import (
    OF_A_DMA,
    TILE_MODULES,
    event_modules,
    register_at,
    register_map,
)
from memtile.arch.registers import Acts, DebugControl, Field, ModuleName, Register
from memtile.arch.tiles import (
    COLUMN_SHIFT,
    DIRECTIONS,
    ROW_SHIFT,
    TILE_BYTES,
    TILE_KINDS,
    WORD_BYTES,
    Role,
    TileKind,
    TileName,
)
from memtile.errors import DesignError, Problem
from memtile.report.register_coverage import driver_registers

T = TypeVar("T")
ROLES: tuple[Role, ...] = ("memory", "compute", "interface")
_MODULE_PREFIX = re.compile(
    r"^(xaie\w*?gbl_)?(memory_tile|memory|core|noc|pl|shim|uc)_module_", re.IGNORECASE
)
_DESCRIPTOR = re.compile(r"DMA_BD(\d+)_(\d+)$")
_COUNTED = re.compile(r"(event|port|master|slave)s? +(0x[0-9a-f]+|\d+)", re.IGNORECASE)
_NUMBER = re.compile(r"0x[0-9a-f_]+|[0-9]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundRegister:
    """A register of a tile kind.

    Attributes:
        kind: of the tile.
        module: of AM025.
        register: its row of the tables.
        offset: first byte that was asked for, or of the register.
        place: column and row; ``None`` unless an address named them.
    """

    kind: TileKind
    module: ModuleName
    register: Register
    offset: int
    place: tuple[int, int] | None = None

    @property
    def address(self) -> int | None:
        """``column << 25 | row << 20 | offset``; ``None`` without a place."""
        if self.place is None:
            return None
        column, row = self.place
        return column << COLUMN_SHIFT | row << ROW_SHIFT | self.offset

    @property
    def is_stored_only(self) -> bool:
        """Whether nothing in the model reads it."""
        return self.register.acts is Acts.KEEPS

    @property
    def does(self) -> str:
        """What an access does in the model, in words."""
        row = self.register
        if row.is_memory or row.name == _PROGRAM:
            return "memory of the tile, read and written by every access"
        if (descriptor := _DESCRIPTOR.match(row.name)) is not None:
            bd, word = descriptor.groups()
            return f"word {word} of descriptor {bd}, which a DMA channel reads to start it"
        count = self.kind.channels
        names = {
            "channel": f"{DIRECTIONS[row.argument // count % 2]} {row.argument % count}" if count else "",
            "debug": _debugs(row),
            "argument": row.argument,
        }
        return row.acts.does.format(**names)

    @property
    def driver_name(self) -> str:
        """The spelling of the driver's header; empty where it does not have the register."""
        return _driver_names(self.module).get(self.register.offset, "")

    @property
    def source(self) -> str:
        """Where the row is from."""
        if self.register.grade is Grade.MANUAL:
            return f"AM025 module {self.module}"
        return f"register header of AMD's driver, module {self.module}"

    def as_json(self) -> dict[str, Any]:
        """The register as ``memtile info NAME --json`` lists it."""
        row = self.register
        column, line = self.place or (None, None)
        return {
            "name": row.name,
            "driver_name": self.driver_name or None,
            "generation": self.kind.generation,
            "tile": self.kind.role,
            "module": self.module,
            "offset": row.offset,
            "address": self.address,
            "column": column,
            "row": line,
            "bits": row.width,
            "bytes": row.span,
            "reset": row.reset,
            "access": row.access.value if row.fields else "ro",
            "grade": row.grade.value,
            "source": self.source,
            "acts": not self.is_stored_only,
            "does": self.does,
            "fields": [_field(row, field) for field in row.fields],
        }


@dataclass(frozen=True, slots=True)
class FoundNumber:
    """An event or a stream port: a name with its number.

    Attributes:
        kind: of the tile.
        what: event of a module, master port or slave port.
        name: as AMD's driver spells it.
        number: in registers.
    """

    kind: TileKind
    what: str
    name: str
    number: int

    def as_json(self) -> dict[str, Any]:
        """The event or port as ``memtile info NAME --json`` lists it."""
        return {
            "name": self.name,
            "number": self.number,
            "what": self.what,
            "tile": self.kind.role,
            "generation": self.kind.generation,
        }


@dataclass(frozen=True, slots=True)
class Found:
    """What a search has found, the nearest first.

    Attributes:
        query: what was asked for.
        device: whose tables were searched.
        registers: registers.
        numbers: events and ports.
        exact: a full name, or an address, and no part of a name.
    """

    query: str
    device: str
    registers: tuple[FoundRegister, ...]
    numbers: tuple[FoundNumber, ...] = ()
    exact: bool = True

    def as_json(self) -> dict[str, Any]:
        """All of it as data."""
        return {
            "query": self.query,
            "device": self.device,
            "exact": self.exact,
            "registers": [each.as_json() for each in self.registers],
            "numbers": [each.as_json() for each in self.numbers],
        }


def look_up(query: str, of: Device | None = None, role: Role | None = None) -> Found:
    """Find registers, events and stream ports.

    Args:
        query: a name or a part of one; ``event 77``, ``master 3`` or ``slave 3``; an address: the offset in a
            tile, or ``column << 25 | row << 20 | offset``, also with the base address of Versal arrays.
        of: whose tables are searched; ``None`` = npu1, then the others for a name that it does not have.
        role: only tiles of this kind.

    Raises:
        DesignError: there is nothing of that name or at that address.
    """
    text = " ".join(query.split())
    devices = [of] if of else list({d.generation: d for d in (DEVICES["npu1"], *DEVICES.values())}.values())
    if _NUMBER.fullmatch(text):
        return _at(text, of or DEVICES["npu1"], role)
    for each in devices:
        if found := _named(text, each, role):
            return found
    raise DesignError(_nothing(text, devices, role))


_PROGRAM = "ProgramMemory"


def _debugs(row: Register) -> str:
    return DebugControl(row.argument).name.lower().replace("_", " ") if row.acts is Acts.DEBUG_CONTROL else ""


def _plain(name: str) -> str:
    """A name without case and separators."""
    return "".join(c for c in name.lower() if c.isalnum())


def names_that_begin(text: str, of: str = "npu1") -> list[str]:
    """Devices, and registers and events of one, that begin so, in any case; in order of the alphabet."""
    kinds = _kinds(device(of), None)
    names = {*DEVICES, *PARTITIONS}
    names |= {row.register.name for kind in kinds for row in rows_of(kind)}
    names |= {row.name for kind in kinds for row in numbers_of(kind) if row.what.startswith("event")}
    return sorted(name for name in names if name.lower().startswith(text.lower()))


def _kinds(of: Device, role: Role | None) -> list[TileKind]:
    return [of.kind(each) for each in ROLES if role in (None, each)]


def rows_of(kind: TileKind) -> Iterator[FoundRegister]:
    """All registers of a tile kind, by module and address."""
    for module in TILE_MODULES[kind.name]:
        for register in register_map(module).values():
            yield FoundRegister(kind, module, register, register.offset)


def numbers_of(kind: TileKind) -> Iterator[FoundNumber]:
    """All events and stream ports of a tile kind."""
    for module, _ in event_modules(kind.name):
        for name, number in events_of(module).items():
            yield FoundNumber(kind, f"event of module {module}", name, number)
    ports = PORTS[kind.name]
    for side, names in (("master port", ports.masters), ("slave port", ports.slaves)):
        for number, name in enumerate(names):
            yield FoundNumber(kind, side, name, number)


@cache
def _driver_names(module: ModuleName) -> Mapping[int, str]:
    """Offset -> name in the driver's header."""
    return MappingProxyType({each.offset: each.name for each in driver_registers(module)})


def _named(text: str, of: Device, role: Role | None) -> Found | None:
    asked = _MODULE_PREFIX.sub("", text)
    module, _, plain = asked.rpartition(".")
    wanted = _plain(plain)
    kinds = _kinds(of, role)
    registers = [row for kind in kinds for row in rows_of(kind) if module in ("", row.module)]
    numbers = [] if module else [row for kind in kinds for row in numbers_of(kind)]
    counted = _COUNTED.fullmatch(plain)
    if counted is not None:
        number = int(counted[2], 0)
        some = [row for row in numbers if row.number == number and counted[1].lower() in row.what]
        return Found(text, of.name, (), tuple(some)) if some else None
    if not wanted:
        return None
    exact = [row for row in registers if wanted in _spellings(row)]
    same = [row for row in numbers if _plain(row.name) == wanted]
    if exact or same:
        return Found(text, of.name, tuple(exact), tuple(same))
    return _near(text, plain, of, registers, numbers)


def _near(
    text: str, plain: str, of: Device, registers: list[FoundRegister], numbers: list[FoundNumber]
) -> Found | None:
    """What a part of a name, or the name of a field, may mean; ``None`` = nothing."""
    wanted = _plain(plain)
    parts = [_plain(part) for part in re.split(r"[\s_]+", plain) if _plain(part)]
    near = _sorted((_rank(wanted, parts, _spellings(row)), row) for row in registers)
    ranked = _sorted((_rank(wanted, parts, (_plain(row.name),)), row) for row in numbers)
    by_field = [] if near else [row for row in registers if _has_field(row.register, wanted)]
    if not (near or ranked or by_field):
        return None
    return Found(
        text,
        of.name,
        tuple(near or by_field),
        tuple(ranked),
        exact=False,
    )


def _sorted(pairs: Iterable[tuple[int | None, T]]) -> list[T]:
    """Those that have a rank, the lowest first."""
    kept = [(rank, row) for rank, row in pairs if rank is not None]
    return [row for _, row in sorted(kept, key=lambda pair: pair[0])]


def _spellings(row: FoundRegister) -> tuple[str, ...]:
    return _plain(row.register.name), _plain(row.driver_name)


def _rank(wanted: str, parts: Sequence[str], names: Iterable[str]) -> int | None:
    """How near the nearest of some names is; ``None`` = it is another one."""
    found = [rank for name in names if name and (rank := _rank_of(wanted, parts, name)) is not None]
    return min(found, default=None)


def _rank_of(wanted: str, parts: Sequence[str], name: str) -> int | None:
    at = name.find(wanted)
    if at >= 0:
        # lock1 is less likely to mean Lock10 than Lock1_value
        cut = wanted[-1].isdigit() and name[at + len(wanted) : at + len(wanted) + 1].isdigit()
        return (0 if at == 0 else 1) + 2 * cut
    return 4 if all(part in name for part in parts) else None


def _has_field(row: Register, wanted: str) -> bool:
    return any(_plain(field.name) == wanted for field in row.fields)


def _at(text: str, of: Device, role: Role | None) -> Found:
    """What answers at an address.

    Raises:
        DesignError: nothing does.
    """
    address = int(text.replace("_", ""), 0)
    inside = address - ARRAY_BASE if address >= ARRAY_BASE else address
    column, line, offset = inside >> COLUMN_SHIFT, inside >> ROW_SHIFT & 0x1F, inside % TILE_BYTES
    if inside < TILE_BYTES and inside == address:
        found = [row for kind in _kinds(of, role) if (row := _answering(kind.name, offset, of)) is not None]
    else:
        kind = of.kind(_role_at(of, column, line, text))
        if role not in (None, kind.role):
            raise DesignError(_elsewhere(text, of, kind, (column, line)))
        one = _answering(kind.name, offset, of, (column, line))
        found = [] if one is None else [one]
    if not found:
        raise DesignError(_unanswered(text, of, role, (column, line, offset)))
    found.sort(key=lambda each: each.register.span > WORD_BYTES)  # registers before memories
    return Found(text, of.name, tuple(found))


def _role_at(of: Device, column: int, row: int, text: str) -> Role:
    if column < of.columns and row < of.rows:
        return TILE_KINDS[of.tile(column, row)].role
    others = [each.name for each in DEVICES.values() if column < each.columns and row < each.rows]
    raise DesignError.of(
        "address",
        text,
        f"columns 0..{of.columns - 1} and rows 0..{of.rows - 1}",
        f"the address is in column {column}, row {row}, which {of.name} does not have",
        f"Name a device that has it: memtile info {others[0]} {text}." if others else "",
        reason="address",
        where=of.name,
        source="AM020: column << 25 | row << 20 | offset",
    )


def _answering(
    tile: TileName, offset: int, of: Device, place: tuple[int, int] | None = None
) -> FoundRegister | None:
    kind = next(each for each in _kinds(of, None) if each.name == tile)
    if kind.role == "compute" and CORE.program_base <= offset < CORE.program_base + CORE.program_bytes:
        memory = Register(_PROGRAM, CORE.program_base, (), width=128, span=CORE.program_bytes)
        return FoundRegister(kind, TILE_MODULES[tile][-1], memory, offset, place)
    register = register_at(tile, offset)
    if register is None:
        return None
    modules = [m for m in TILE_MODULES[tile] if register_map(m).get(register.offset) is register]
    if place and modules[0] in OF_A_DMA and not of.has_interface_dma(place[0]):
        return None
    return FoundRegister(kind, modules[0], register, offset, place)


def _field(row: Register, field: Field) -> dict[str, Any]:
    return {
        "name": field.name,
        "msb": field.msb,
        "lsb": field.lsb,
        "access": field.access.value,
        "reset": field.get(row.reset),
    }


def _elsewhere(text: str, of: Device, kind: TileKind, place: tuple[int, int]) -> Problem:
    column, row = place
    return Problem(
        "address",
        text,
        f"an address of a {kind.role} tile",
        f"the address is in the {kind.title} of column {column}, row {row}",
        f"Leave out --tile, or give {kind.role}.",
        reason="address",
        where=of.name,
        source="AM020: column << 25 | row << 20 | offset",
    )


def _unanswered(text: str, of: Device, role: Role | None, place: tuple[int, int, int]) -> Problem:
    column, row, offset = place
    where = f"column {column}, row {row}" if column or row else f"a {role} tile" if role else "any tile"
    others = [each for kind in _kinds(of, None) if (each := _answering(kind.name, offset, of))]
    hint = " ".join(f"In the {each.kind.title} it is {each.register.name}." for each in others)
    return Problem(
        "address",
        text,
        "the address of a register",
        f"nothing answers at offset 0x{offset:X} of {where}; an access is a slave error",
        hint,
        reason="address",
        where=of.name,
        source="AM025; register header of AMD's driver",
    )


def _nothing(text: str, devices: Sequence[Device], role: Role | None) -> Problem:
    kinds = [kind for of in devices for kind in _kinds(of, role)]
    known = [*DEVICES, *PARTITIONS]
    known += [row.register.name for kind in kinds for row in rows_of(kind)]
    known += [row.name for kind in kinds for row in numbers_of(kind)]
    names = {_plain(name): name for name in known}
    near = [names[found] for found in get_close_matches(_plain(text), names, 3, 0.7)]
    where = devices[0].name if len(devices) == 1 else "tables"
    return Problem(
        "name",
        repr(text),
        "a device, or a register, event or stream port",
        f"no device, register, event or stream port is called {text!r}",
        f"Did you mean {' or '.join(near)}?" if near else "A part of a name is enough, such as lock0.",
        reason="name",
        where=f"{role} tile of {where}" if role else where,
        source="AM025; register and event headers of AMD's driver",
    )
