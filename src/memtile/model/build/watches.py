"""Facts of the watchpoints, by tile kind: where their registers are, and what each field selects."""

from __future__ import annotations

from memtile.arch.events import EVENT_UNITS
from memtile.arch.protection import MEMORY_MODULE
from memtile.arch.registers import Field, Register
from memtile.arch.tiles import TILE_KINDS, TileName
from memtile.jit.tables import table
from memtile.model.state.columns import NONE
from memtile.model.state.memory import Origin, Watches


def watches(registers: dict[TileName, tuple[Register, ...]]) -> Watches:
    """The facts of the tile kinds; ``registers`` of each in the order of their indices."""
    rows = [_facts(name, own) for name, own in registers.items()]
    return table(Watches, len(rows), **{column: [row[column] for row in rows] for column in Watches._fields})


def _facts(name: TileName, registers: tuple[Register, ...]) -> dict[str, int | list[int]]:
    found = [index for index, r in enumerate(registers) if r.name.startswith("WatchPoint")]
    if not found:
        return {**dict.fromkeys(Watches._fields, 0), "register": NONE, "origin": [0] * len(Origin)}
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
