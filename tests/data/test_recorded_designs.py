"""Does a design that was exported and loaded again leave the same model and move the same data?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtile.arch.register_map import register_at, register_named
from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT, TILE_BYTES, TileName
from memtile.design.memory_tile import MemoryTile
from memtile.errors import InputFileError, RegisterError, SimulationError
from memtile.io.program.program_formats import read_program
from memtile.io.program.recorder import AnyDoor, Recording
from memtile.io.program.register_dump import dump_text
from memtile.io.program.transaction import Transaction, read_transaction, transaction_bytes
from memtile.io.program.transaction_format import Header
from memtile.model.state.state_differences import columns
from memtile.model.state.tile_columns import Placed
from memtile.runs.operations import (
    ArrayShape,
    MaskPoll,
    Operation,
    Write,
    address_of,
    locate,
    words_written,
)
from memtile.runs.register_writes import apply
from memtile.sim.loop.engine import Engine

SHAPE = ArrayShape(4, 6, 1)
BASE = address_of(1, 1)
HEADERS = [Header((0, 1), 2, 6, 4, 1), Header((1, 0), 3, 6, 4, 1)]
FOLDER = Path(__file__).parents[1] / "oracle" / "txn"


class Doors:
    """Doors of tiles by column and row, as one address space."""

    def __init__(self, doors: dict[tuple[int, int], AnyDoor]) -> None:
        self._doors = doors

    def _at(self, address: int) -> tuple[AnyDoor, int]:
        place = (address >> COLUMN_SHIFT, (address >> ROW_SHIFT) % (1 << COLUMN_SHIFT - ROW_SHIFT))
        return self._doors[place], address % TILE_BYTES

    def write32(self, address: int, value: int) -> None:
        door, offset = self._at(address)
        door.write32(offset, value)

    def mask_write32(self, address: int, mask: int, value: int) -> None:
        door, offset = self._at(address)
        door.mask_write32(offset, mask, value)

    def block_write32(self, address: int, words: Sequence[int]) -> None:
        door, offset = self._at(address)
        door.block_write32(offset, words)

    def read32(self, address: int) -> int:
        door, offset = self._at(address)
        return door.read32(offset)

    def poll(self, address: int, mask: int, value: int, advance: Callable[[], bool]) -> bool:
        door, offset = self._at(address)
        return door.poll(offset, mask, value, advance)


def state_of(engine: Engine) -> list[tuple[str, bytes]]:
    """Every column of the model's state that means something in another model."""
    return [(name, values.tobytes()) for name, values, *_ in columns(engine.state)]


def recorded_design() -> tuple[MemoryTile, Recording, Any]:
    """A tile with initial data, a lock pair and a chain in each direction, and what was written for it."""
    tile, recording = MemoryTile(), Recording()
    tile.door = recording.before(tile.door, BASE)  # type: ignore[assignment]
    data = np.arange(64, dtype=np.int32).reshape(8, 8)
    kept = tile.buffer("kept", (8, 8), data=data)
    moved = tile.buffer("moved", 32)
    free, full = tile.lock(1), tile.lock(0)
    tile.s2mm[0].start(tile.write(moved).guarded(free.acquire(), full.release()))
    tile.mm2s[0].start(tile.read(moved).guarded(full.acquire(), free.release()))
    tile.mm2s[1].start(tile.read(kept), repeat=2)
    return tile, recording, data


def loaded(operations: tuple[Operation, ...]) -> MemoryTile:
    tile = MemoryTile()
    apply(operations, Doors({(1, 1): tile.door.at_once()}), SHAPE)
    return tile


def test_a_recording_keeps_every_write_and_changes_none() -> None:
    tile, recording, _ = recorded_design()
    assert len(recording.operations) == 3 + 3 * 2
    assert all(
        word.address // TILE_BYTES == BASE // TILE_BYTES
        for op in recording.operations
        for word in words_written(op)
    )
    assert state_of(loaded(recording.operations).engine) == state_of(tile.engine)
    with pytest.raises(
        RegisterError, match="memory tile: nothing is at offset 0x90000, neither data memory nor a register"
    ):
        tile.door.write32(0x90000, 1)
    assert len(recording.operations) == 9


@pytest.mark.parametrize("header", HEADERS)
def test_an_exported_transaction_gives_the_same_state_and_the_same_run(header: Header) -> None:
    tile, recording, data = recorded_design()
    again = loaded(read_transaction(transaction_bytes(Transaction(header, recording.operations))).operations)
    assert state_of(again.engine) == state_of(tile.engine)
    words = np.arange(100, 132, dtype=np.uint32)
    streams = []
    for engine in (tile.engine, again.engine):
        outputs = (6, 7)  # MM2S channels follow the S2MM channels
        for channel in outputs:
            engine.catch(channel)
        engine.feed(0, words)
        engine.run(5000)
        streams.append([engine.caught(channel).tolist() for channel in outputs])
    assert streams[0] == streams[1] == [words.tolist(), [*data.reshape(-1).tolist()] * 2]


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("offset", [0x100, 0x101, 0x103])
@pytest.mark.parametrize("data", [b"", b"\x01", b"\x01\x02\x03", bytes(range(1, 14))])
def test_bytes_are_recorded(header: Header, offset: int, data: bytes) -> None:
    tile, recording = MemoryTile(), Recording()
    tile.door = recording.before(tile.door.at_once(), BASE)  # type: ignore[assignment]
    tile.door.block_write32(0x100, [0xA5A5A5A5] * 5)
    tile.door.write_bytes(offset, data)
    assert len(recording.operations) == 1 or data
    again = loaded(read_transaction(transaction_bytes(Transaction(header, recording.operations))).operations)
    assert state_of(again.engine) == state_of(tile.engine)


def test_locks_that_the_host_gets_are_recorded() -> None:
    """Through the request window, read alone or as a block; a request that is refused changes nothing."""
    tile, recording = MemoryTile(), Recording()
    tile.door = recording.before(tile.door.at_once(), BASE)  # type: ignore[assignment]
    lock, window = 0xC0000, 0xD0000
    acquire, release = window + 0x200 + (-3 & 0x7F) * 4, window + 2 * 4
    tile.door.write32(lock, 3)
    assert tile.door.read32(acquire) == 1
    assert tile.door.read32(acquire) == 0
    assert loaded(recording.operations).door.read32(lock) == 0
    assert tile.door.read32(release) == 1
    assert tile.door.block_read32(window + 0x400 + 2 * 4, 2).tolist() == [1, 1]
    tile.door.block_read32(0x100, 4)
    assert [type(operation) for operation in recording.operations] == [Write, *[MaskPoll] * 4]
    again = loaded(recording.operations)
    assert [again.door.at_once().read32(lock + 16 * n) for n in range(2)] == [2, 5]
    assert state_of(again.engine) == state_of(tile.engine)


def test_a_dump_of_a_design_gives_the_same_state() -> None:
    tile, recording, _ = recorded_design()
    program = read_program(dump_text(recording.operations).encode(), "dump.txt")
    assert state_of(loaded(program.operations).engine) == state_of(tile.engine)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.bin")), ids=lambda path: path.stem)
def test_a_file_of_the_driver_configures_the_tiles_that_it_names(path: Path) -> None:
    operations = read_program(path.read_bytes(), path.name).operations
    writes = [operation for operation in operations if not isinstance(operation, MaskPoll)]
    names: list[TileName] = ["interface", "memory", "compute"]
    places = [(column, row) for column in range(SHAPE.columns) for row in range(3)]
    engine = Engine([Placed(names[row], column=column, row=row) for column, row in places])
    target = Doors({place: engine.door(n) for n, place in enumerate(places)})
    apply(writes, target, SHAPE)
    words = [word for operation in writes for word in words_written(operation)]
    kept = {word.address: word for word in words if not _is_queue(word.address)}
    assert len(kept) >= 6
    for address, word in kept.items():
        assert target.read32(address) & word.mask == word.value & word.mask, hex(address)


def _is_queue(address: int) -> bool:
    column, row, offset = locate(address)
    tile = SHAPE.tile(column, row)
    assert tile is not None
    register = register_at(tile, offset)
    assert register is not None
    return "Queue" in register.name


def test_a_refused_program_leaves_the_model_as_it_was() -> None:
    tile = MemoryTile()
    before = state_of(tile.engine)
    _, recording, _ = recorded_design()
    bad = (*recording.operations, MaskPoll(address_of(1, 1, 0x90000), 1, 1))
    with pytest.raises(InputFileError):
        apply(bad, Doors({(1, 1): tile.door}), SHAPE)
    assert state_of(tile.engine) == before


def test_a_poll_waits_for_the_model() -> None:
    _, recording, _ = recorded_design()
    again = loaded(recording.operations)
    again.engine.catch(7)
    status = register_named("memory_tile", "DMA_MM2S_Status_1")
    busy = status.field("Channel_Running").mask | status.field("Task_Queue_Size").mask
    finished = MaskPoll(address_of(1, 1, status.offset), busy, 0)
    doors = Doors({(1, 1): again.door})
    with pytest.raises(SimulationError):
        apply([finished], doors, SHAPE)

    def advance() -> bool:
        again.engine.run(again.engine.now + 10)
        return again.engine.now < 2000

    apply([finished], doors, SHAPE, advance=advance)
    assert 100 < again.engine.now < 2000
