"""Tables of the watchpoints: where their registers are, and what each field of them selects."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, NamedTuple

from memtile.arch.events import EVENT_UNITS
from memtile.arch.protection import MEMORY_MODULE
from memtile.arch.registers import Field, Register
from memtile.arch.tiles import TILE_KINDS, TileName
from memtile.jit.tables import table
from memtile.model.state.columns import Ints

_NONE = -1


class Origin(IntEnum):
    """Where an access to data memory comes from, as its tile sees it: columns of ``Watches.origin``.

    At the sides of a memory tile are the DMAs of its neighbours. At those of the memory of a compute tile are
    cores, its own one in the west (DEV-WATCH-2).
    """

    AXI = 0
    DMA = 1
    EAST = 2
    WEST = 3
    NORTH = 4
    SOUTH = 5


PerOrigin = Annotated[Ints, (len(Origin),)]


class Watches(NamedTuple):
    """Fixed facts of each tile kind."""

    register: Ints  # register index of the first watchpoint
    points: Ints  # watchpoints of a tile
    event: Ints  # number of the event of the first one
    read: Ints  # mask of the field that lets it look at reads
    write: Ints
    origin: PerOrigin  # and at accesses from there, 0 = there is no such field
    lsb: Ints  # of the address
    granules: Ints  # mask of the address, moved to bit 0: granules of the memory, less 1
    shift: Ints  # log2 of the words of a granule
    lane_lsb: Ints  # of the mask of written words
    lanes: Ints  # mask of it, moved to bit 0; 0 = every write counts


def watches(registers: dict[TileName, tuple[Register, ...]]) -> Watches:
    """The facts of the tile kinds; ``registers`` of each in the order of their indices."""
    rows = [_facts(name, own) for name, own in registers.items()]
    return table(Watches, len(rows), **{column: [row[column] for row in rows] for column in Watches._fields})


def _facts(name: TileName, registers: tuple[Register, ...]) -> dict[str, int | list[int]]:
    found = [index for index, r in enumerate(registers) if r.name.startswith("WatchPoint")]
    if not found:
        return {**dict.fromkeys(Watches._fields, 0), "register": _NONE, "origin": [0] * len(Origin)}
    kind, own = TILE_KINDS[name], {field.name: field for field in registers[found[0]].fields}
    address, lanes = own["Address"], own.get("WriteStrobeMask")  # WriteStrobes of AIE-ML are always set
    return {
        "register": found[0],
        "points": len(found),
        "event": EVENT_UNITS[MEMORY_MODULE[kind.role]].events["WATCHPOINT_0"],
        "read": own["Read_Access"].mask,
        "write": own["Write_Access"].mask,
        "origin": [_mask(own.get(_field(origin))) for origin in Origin],
        "lsb": address.lsb,
        "granules": address.maximum,
        "shift": (kind.memory_words // (address.maximum + 1)).bit_length() - 1,
        "lane_lsb": lanes.lsb if lanes else 0,
        "lanes": lanes.maximum if lanes else 0,
    }


def _field(origin: Origin) -> str:
    name = origin.name
    return f"{name if origin in (Origin.AXI, Origin.DMA) else name.capitalize()}_Access"


def _mask(field: Field | None) -> int:
    return field.mask if field else 0
