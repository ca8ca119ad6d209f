"""Facts of the protection of data memory, by tile kind: what has ECC, what has parity, who reports."""

from __future__ import annotations

from memtile.arch.events import EVENT_UNITS
from memtile.arch.protection import FIRST_ECC_EVENT, FIRST_PARITY_EVENT, MEMORY_MODULE
from memtile.arch.registers import Register
from memtile.arch.tiles import TILE_KINDS, TileName
from memtile.jit.tables import table
from memtile.model.state.columns import NONE
from memtile.model.state.memory import Protections


def protections(registers: dict[TileName, tuple[Register, ...]]) -> Protections:
    """The facts of the tile kinds; ``registers`` of each in the order of their indices."""
    names = list(registers)
    places = {name: {r.name: index for index, r in enumerate(registers[name])} for name in names}

    def valid(name: TileName, register: str) -> int:
        place = places[name].get(register, NONE)
        return registers[name][place].field("VALID").mask if place != NONE else 0

    return table(
        Protections,
        len(names),
        ecc_words=[TILE_KINDS[name].ecc_words for name in names],
        ecc_event=[_event(name, FIRST_ECC_EVENT) for name in names],
        parity_event=[_event(name, FIRST_PARITY_EVENT) for name in names],
        ecc_failing=[places[name].get("ECC_FAILING_ADDRESS", NONE) for name in names],
        ecc_valid=[valid(name, "ECC_FAILING_ADDRESS") for name in names],
        parity_failing=[places[name].get("PARITY_FAILING_ADDRESS", NONE) for name in names],
        parity_valid=[valid(name, "PARITY_FAILING_ADDRESS") for name in names],
    )


def _event(name: TileName, event: str) -> int:
    module = MEMORY_MODULE.get(TILE_KINDS[name].role)
    return EVENT_UNITS[module].events.get(event, NONE) if module else NONE
