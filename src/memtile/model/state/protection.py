"""State and tables of the protection of data memory: flipped cells, and the scrubber of each tile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memtile.arch.events import EVENT_UNITS
from memtile.arch.protection import FIRST_ECC_EVENT, FIRST_PARITY_EVENT, MEMORY_MODULE
from memtile.arch.registers import Register
from memtile.arch.tiles import TILE_KINDS, TileName
from memtile.jit.tables import table
from memtile.model.state.columns import Ints

NONE = -1


class Protections(NamedTuple):
    """Fixed facts of each tile kind."""

    ecc_words: Ints  # words from 0 on with ECC; the others have parity
    ecc_event: Ints  # number of the first of four events, see arch.protection
    parity_event: Ints  # number of the event of the first bank with parity
    ecc_failing: Ints  # register index of the failing address, -1 = none
    ecc_valid: Ints  # its bit VALID
    parity_failing: Ints
    parity_valid: Ints


class Guards(NamedTuple):
    """Protection of each tile's data memory, and its scrubber."""

    enabled: Ints  # 0 = as if the memory had no check bits
    unclean: Ints  # words with flipped cells, one more while ``lanes`` is not 0, one for each watchpoint set
    lanes: Ints  # Checkbit_Error_Generation: lanes whose words are written with a wrong check bit
    active: Ints  # 1 = in State.guarding
    at: Ints  # scrubber: first tile-local word of the next granule
    steps: Ints  # so far
    left: Ints  # granules of the running step that are still to be scrubbed
    always: Ints  # 1 = the event that starts a step is always there
    repairs: Ints  # 1 = the granule was read and is to be written back
    bank: Ints  # bank asked in this cycle, -1 = none
    again_at: Ints  # cycle in which they are
    again: Ints  # events to be raised once more, from the first ECC event on, one bit each


def guards(placed: Sequence[TileName]) -> Guards:
    """Protection as after reset."""
    return table(Guards, len(placed), enabled=1, bank=NONE)


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
