"""Does a design of an array, exported and loaded again, leave the same registers and move the same data?"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memtile
from memtile import Array, Timing
from memtile.arch.register_map import TILE_MODULES, register_map
from memtile.arch.registers import Access
from memtile.io.program.recorder import Recording, record
from memtile.io.program.transaction import Transaction, read_transaction, transaction_bytes
from memtile.io.program.transaction_format import Header
from memtile.runs.array_names import Given, Wanted
from memtile.runs.operations import ArrayShape
from memtile.runs.register_writes import apply
from memtile.runs.session import run_program
from support.formats import transaction_reader

EXAMPLES = Path(__file__).parents[2] / "examples"
SHAPE = ArrayShape(4, 6, 1)
HEADERS = [Header((0, 1), 2, 6, 4, 1), Header((1, 0), 3, 6, 4, 1)]


def recorded(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Array, Recording]:
    """The array of an example as its design leaves it, and what was written for it."""
    made: list[tuple[Array, Recording]] = []

    def array(*args: Any, **options: Any) -> Array:
        created = Array(*args, **options)
        made.append((created, record(created)))
        return created

    monkeypatch.setattr(memtile, "Array", array)
    runpy.run_path(str(EXAMPLES / name))["design"]()
    ((created, recording),) = made
    created.route()
    return created, recording


def registers(array: Array) -> dict[int, int]:
    """Every register that a read does not change, and all data memory, by address."""
    found = {}
    for column in range(array.columns):
        for row in range(array.rows):
            kind = array.device.tile(column, row)
            door, base = array.door.at_once(), array.door.address(column, row)
            for module in TILE_MODULES[kind]:
                for offset, register in register_map(module).items():
                    acts = any(field.access is Access.READ_ACTS for field in register.fields)
                    if register.width == 32 and not acts:
                        found[base + offset] = door.read32(base + offset)
    return found


@pytest.mark.parametrize("header", HEADERS, ids=["0.1", "1.0"])
@pytest.mark.parametrize("name", ["distribute_join.py", "transpose.py", "packets.py", "gemm.py"])
def test_an_example_exported_and_loaded_gives_the_same_registers(
    name: str, header: Header, monkeypatch: pytest.MonkeyPatch
) -> None:
    array, recording = recorded(name, monkeypatch)
    data = transaction_bytes(Transaction(header, recording.operations))
    assert len(transaction_reader.steps(data)) == len(recording.operations) > 50
    again = Array(array.device.name, array.columns)
    apply(read_transaction(data).operations, again.door.at_once(), SHAPE)
    assert registers(again) == registers(array)
    np.testing.assert_array_equal(again.engine.state.memory, array.engine.state.memory)
    np.testing.assert_array_equal(again.engine.state.locks.value, array.engine.state.locks.value)
    np.testing.assert_array_equal(
        again.engine.state.channels.queue_count, array.engine.state.channels.queue_count
    )


def test_all_forms_of_access_reach_the_tiles_of_a_recorded_array() -> None:
    array = Array("npu1")
    recording, window = record(array), array.door.address(1, 1, 0xD0000)
    array.door.write_bytes(array.door.address(1, 1, 0x41), b"\7")
    array.door.read32(window + 4)
    assert array.door.requests_lock(window)
    assert "0x90000" in str(array.door.refusal(array.door.address(1, 1, 0x90000)))
    again = Array("npu1")
    apply(recording.operations, again.door, SHAPE)
    assert again.door.read32(array.door.address(1, 1, 0x40)) == 0x700
    assert again.door.read32(array.door.address(1, 1, 0xC0000)) == 1


@pytest.mark.parametrize("header", HEADERS, ids=["0.1", "1.0"])
@pytest.mark.parametrize("push", [0, 2750])
def test_a_design_with_external_memory_runs_as_a_file(header: Header, push: int) -> None:
    """The frame that the design has in external memory is an input of the file, by its address.

    Carried out at once it takes the cycles of the design; else those of its four pushes and of the last task.
    """
    array = Array("npu1")
    recording = record(array)
    frame, result = np.arange(64, dtype=np.int32).reshape(8, 8), np.zeros((8, 8), np.int32)
    source, target = array.external("frame", frame), array.external("result", result)
    shim, tile = array.interface_tile(1), array.memory_tile(1)
    buffer, full = tile.buffer("b", (8, 8)), tile.lock(0)
    array.connect(shim.mm2s[0], tile.s2mm[2])
    array.connect(tile.mm2s[3], shim.s2mm[0])
    tile.s2mm[2].start(tile.write(buffer).guarded(None, full.release()))
    tile.mm2s[3].start(tile.read(buffer).guarded(full.acquire(), None))
    shim.mm2s[0].start(shim.read(source))
    shim.s2mm[0].start(shim.write(target))
    assert array.run().good
    np.testing.assert_array_equal(result, frame)
    data = transaction_bytes(Transaction(header, recording.operations))
    given = [Given("frame", frame[::-1].copy())]
    pace = Timing(access_cycles=0, firmware_access=0, firmware_word=0, firmware_push=push)
    again = Array("npu1", timing=pace)
    done = run_program(read_transaction(data).operations, again, given, [Wanted("result")])
    assert done.result.good
    assert done.result.cycles == array.engine.now if push == 0 else 0 < done.result.cycles - 3 * push < 500
    np.testing.assert_array_equal(done.arrays["result"].reshape(8, 8), frame[::-1])
