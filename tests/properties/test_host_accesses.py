"""Do accesses that are carried out together give what they give one by one: words, cycles, states?"""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from memtile import Array, Timing
from memtile.arch.devices import ARRAY_BASE, NPI_BASE
from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT, TILE_BYTES, TILE_KINDS, WORD_BYTES
from memtile.errors import RegisterError
from memtile.hosts.address_space import AddressSpace, Answer
from memtile.jit.tables import plain
from memtile.model.axi import SLAVE_ERROR
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.sim.loop import compiled_model
from support.engine.states import arrays
from support.streams.accesses import Access, accesses

OF_THE_CLOCK = {"clock.quiet", "clock.locks_changed"}


class OneByOne:
    """A host in Python: it waits, comes to the tile, and reads or writes what the door of the tile does."""

    def __init__(self, array: Array, cycles: int) -> None:
        self._engine, self._cycles = array.engine, cycles
        tiles = plain(array.engine.spec.tiles)
        places = zip(tiles.column.tolist(), tiles.row.tolist(), strict=True)
        self._tiles = {place: tile for tile, place in enumerate(places)}

    def access(self, address: int, value: int | None) -> int | None:
        """The word read, 0 for a write, None where nothing answers."""
        engine, host = self._engine, self._engine.host
        if value is None:
            engine.wait(self._cycles)
        column, rest = divmod(address - ARRAY_BASE, 1 << COLUMN_SHIFT)
        tile, offset = self._tiles.get((column, rest >> ROW_SHIFT)), rest % TILE_BYTES
        if tile is None or (value is not None and offset % WORD_BYTES):
            if value is not None:
                host.spend(engine.timing.access_cycles)
            return None
        host.begin(tile, 1)
        if not engine.has_clock(tile) or offset % WORD_BYTES:
            return None
        word = compiled_model.access_at_once(engine.present, tile, offset, -1 if value is None else value)
        if word == SLAVE_ERROR:
            return None
        if offset < TILE_KINDS[KIND_NAMES[engine.spec.tiles.kind[tile]]].memory_bytes:
            host.uses_memory(tile, offset // WORD_BYTES, 1)
        return word


def word_of(answer: Answer) -> int | None:
    return None if isinstance(answer, RegisterError) else answer


@pytest.mark.parametrize("device", ["npu1", "npu2", "xcve2802"])
@pytest.mark.parametrize(("access_cycles", "cycles"), [(20, 200), (0, 0), (1, 3), (3, 1500)])
def test_accesses_together_are_those_one_by_one(device: str, access_cycles: int, cycles: int) -> None:
    """DEV-AXI-1, DEV-HOST-1: on all modules, with whatever random writes set going."""
    one, many = (Array(device, 3, Timing(access_cycles=access_cycles)) for _ in range(2))
    rng, host, space = random.Random(cycles), OneByOne(one, cycles), AddressSpace(many, cycles)
    for size in (1, 2, 3, 300, 1, 40, 1100):
        made: Sequence[Access] = list(accesses(one, rng, size))
        given = [word_of(answer) for piece in space.carry_out(made) for answer in piece]
        assert given == [host.access(*access) for access in made]
        assert one.engine.now == many.engine.now
    states = [arrays(array.engine.state) for array in (one, many)]
    assert {name for name in states[0] if states[0][name] != states[1][name]} <= OF_THE_CLOCK


def test_what_a_packet_waits_for_is_seen_at_its_place() -> None:
    """A word is equal 25 times in a row: the piece ends there, and once, whatever comes behind."""
    space, place = AddressSpace(Array("npu1", 1)), ARRAY_BASE + (1 << ROW_SHIFT)
    pieces = list(space.carry_out([(place, None)] * 70 + [(place, 5)] + [(place, None)] * 30))
    assert [len(piece) for piece in pieces] == [25, 71, 5]
    assert space.polled == 2


def test_npi_registers_and_external_memory_count_as_polled_too() -> None:
    space = AddressSpace(Array("npu1", 1))
    for _ in range(2):
        assert [answer for piece in space.carry_out([(NPI_BASE, None)] * 24) for answer in piece] == [0] * 24
    assert space.polled == 1
