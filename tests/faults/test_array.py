"""Is an array design that contradicts the device refused, with both parties named?"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

from memtile import Array, MemtileError, Status
from memtile.design import circuits


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(MemtileError) as caught:
        call()
    return str(caught.value)


def test_tiles_and_columns_that_are_not_there() -> None:
    array = Array("npu1", columns=2)
    assert refused(lambda: Array("npu1", columns=5)) == (
        "array npu1: columns is 5, allowed are 1..4 (mlir-aie device model)."
    )
    assert refused(lambda: array.tile(2, 0)) == (
        "array npu1: column is 2, allowed are 0..1 (mlir-aie device model)."
    )
    assert (
        refused(lambda: array.tile(0, 6)) == "array npu1: row is 6, allowed are 0..5 (mlir-aie device model)."
    )
    assert refused(lambda: array.compute_tile(0, 1)) == (
        "array npu1, ComputeTile: row 1 has a memory tile, allowed are rows 2..5 (mlir-aie device model)."
    )


def test_addresses_where_no_tile_is() -> None:
    array = Array("npu1", columns=1)
    assert refused(lambda: array.door.read32(1 << 25)) == (
        "array: address 0x2000000 is in column 1, row 0; the array has columns 0..0, rows 0..5 (AM020: "
        "tile address = column << 25 | row << 20 | offset)."
    )
    assert "address 0x600000 is in column 0, row 6; the array has columns 0..0, rows 0..5" in refused(
        lambda: array.door.write32(6 << 20, 1)
    )


def test_a_buffer_of_another_tile_names_its_owner() -> None:
    array = Array("npu1")
    buffer = array.memory_tile(1).buffer("b", 16)
    assert refused(lambda: array.memory_tile(3).read(buffer)) == (
        "memory tile (3,1): buffer b belongs to memory tile (1,1), which this tile does not see; its "
        "windows are west, own, east (AM020 chapter 5: DMA windows)."
    )


def test_a_transfer_of_another_tile_is_not_started() -> None:
    array = Array("npu1")
    west, east = array.memory_tile(0), array.memory_tile(1)
    buffer = west.buffer("b", 16)
    assert refused(lambda: east.mm2s[0].start(west.read(buffer))) == (
        "memory tile (1,1), MM2S 0: the transfer was made for the tile at (0, 1) (AM020 chapter 5: DMA "
        "windows). Make one with read(buffer) of this tile."
    )
    east.mm2s[0].start(east.read(buffer))


def test_a_lock_of_another_tile_is_used_through_its_window() -> None:
    array = Array("npu1")
    west, east = array.memory_tile(0), array.memory_tile(1)
    work, theirs = east.read(east.buffer("b", 16)), west.lock(1, "theirs")
    for guard, field in (
        ({"acquire": theirs.acquire()}, "acquire"),
        ({"acquire": theirs.acquire_equal(1)}, "acquire"),
        ({"release": theirs.release()}, "release"),
    ):
        assert refused(lambda guard=guard: east.mm2s[0].start(work.guarded(**guard))) == (
            f"memory tile (1,1), BD 0: {field} names lock theirs of memory tile (0,1); it must be a "
            "lock of this tile, or a neighbour's as this tile sees it (AM020 chapter 5: DMA windows). "
            "Take tile.seen(lock)."
        )
    east.mm2s[0].start(work.guarded(east.seen(theirs).acquire()))
    far = array.memory_tile(3)
    assert "lock theirs belongs to memory tile (0,1)" in refused(lambda: far.seen(theirs))
    through_east = west.seen(east.lock(0, "eastern"))
    assert "lock eastern belongs to memory tile (1,1)" in refused(
        lambda: far.mm2s[0].start(far.read(far.buffer("c", 4)).guarded(through_east.acquire()))
    )
    assert "Take tile.seen(lock)." in refused(
        lambda: east.mm2s[1].start(east.read(east.buffer("d", 4)).guarded(through_east.acquire()))
    )


def test_the_value_of_another_tiles_lock_is_read_there() -> None:
    array = Array("npu1")
    lock = array.memory_tile(0).lock(5, "theirs")
    assert refused(lambda: array.memory_tile(1).lock_value(lock)) == (
        "memory tile (1,1): lock theirs belongs to memory tile (0,1); lock_value needs a lock of the "
        "same tile (AM020: DMA windows)."
    )
    assert array.memory_tile(0).lock_value(lock) == 5


def test_messages_of_a_tile_say_where_it_is() -> None:
    array = Array("npu1")
    tile = array.compute_tile(2, 3)
    buffer = tile.buffer("b", 16)
    assert refused(lambda: tile.buffer("big", 1 << 14)).startswith(
        "compute tile (2,3), buffer big: the buffer takes "
    )
    assert refused(lambda: tile.lock(id=16)).startswith("compute tile (2,3): the number of the lock is 16, ")
    assert refused(lambda: tile.mm2s[1].start(*[tile.read(buffer)] * 17)).startswith(
        "compute tile (2,3), MM2S 1: the work needs 17 more BDs, but only 16 of BDs 0..15 are free"
    )
    assert repr(tile) == "ComputeTile(npu1 (2,3): 1 buffers, 64 of 65536 bytes, 0 locks, 0 cycles run)"
    assert repr(array) == "Array(npu1: 4 x 6 tiles, 1 in use, 0 cycles run)"


def test_flows_have_a_direction_and_ends_of_their_own() -> None:
    array = Array("npu1")
    memory, compute, other = array.memory_tile(0), array.compute_tile(0, 2), array.compute_tile(1, 2)
    assert refused(lambda: array.connect(memory.s2mm[0], compute.s2mm[0])) == (
        "router: the flow is memory(0,1) S2MM 0 -> compute(0,2) S2MM 0; it must go from one MM2S "
        "channel to at least one S2MM channel (AM020 chapter 2: stream switch)."
    )
    assert "the flow is memory(0,1) MM2S 0 -> nothing; it must go" in refused(
        lambda: array.connect(memory.mm2s[0])
    )
    array.connect(memory.mm2s[0], compute.s2mm[0])
    assert refused(lambda: array.connect(other.mm2s[0], compute.s2mm[0])) == (
        "router: compute(1,2) MM2S 0 -> compute(0,2) S2MM 0 cannot have compute(0,2) master DMA0: it has "
        "memory(0,1) MM2S 0 -> compute(0,2) S2MM 0 (AM020 chapter 2: stream switch)."
    )
    text = refused(lambda: array.connect(memory.mm2s[0], other.s2mm[0]))
    assert text.endswith("(AM020 chapter 2: stream switch). Name all destinations in one call.")


def test_an_interface_tile_without_dma_is_named_with_the_columns_that_have_one() -> None:
    array = Array("xcve2302", columns=4)
    text = refused(lambda: array.connect(array.interface_tile(0).mm2s[0], array.memory_tile(0).s2mm[0]))
    assert (
        "interface(0,0) MM2S 0 -> memory(0,1) S2MM 0 needs the DMA of interface(0,0), which has none; "
        "columns 2, 3, 6, 7, 10, 11 have one"
    ) in text


def test_two_slaves_for_one_master_and_circuits_that_no_switch_has() -> None:
    array = Array("npu1")
    array.circuit(0, 1, "DMA0", "NORTH0")
    array.circuit(0, 1, "DMA0", "NORTH0", "NORTH1")
    assert refused(lambda: array.circuit(0, 1, "SOUTH0", "NORTH0")) == (
        "memory(0,1): master NORTH0 cannot have slave SOUTH0: it has memory(0,1) DMA0 -> NORTH0, "
        "NORTH1 (AM020 chapter 2: stream switch)."
    )
    assert refused(lambda: array.circuit(0, 1, "SOUTH2", "NORTH3")) == (
        "memory(0,1): the switch cannot join slave SOUTH2 to master NORTH3 (AM020 chapter 2: stream switch)."
    )


def test_the_seventh_stream_up_a_column_says_who_has_the_six() -> None:
    array = Array("xcve2802", columns=1)
    for n in range(6):
        tile = array.compute_tile(0, 3 + n % 3)
        array.connect(array.memory_tile(0, 2).mm2s[n], tile.s2mm[n // 3])
    array.connect(array.memory_tile(0, 1).mm2s[0], array.compute_tile(0, 6).s2mm[0])
    text = refused(array.route)
    assert "7 circuits want the NORTH masters of memory(0,2), which has 6" in text
    assert "wanted by memory(0,1) MM2S 0 -> compute(0,6) S2MM 0, memory(0,2) MM2S 0 -> " in text
    assert text.endswith("Use another column, or share a link with packets.")


def test_a_target_behind_links_that_others_have_for_good() -> None:
    array = Array("xcve2802", columns=1)
    for n in range(6):
        array.circuit(0, 2, f"DMA{n}", f"NORTH{n}")
    array.connect(array.memory_tile(0, 1).mm2s[0], array.compute_tile(0, 3).s2mm[0])
    text = refused(array.route)
    assert (
        "memory(0,1) MM2S 0 -> compute(0,3) S2MM 0 finds no free ports on the way to compute(0,3) master DMA0"
    ) in text


def test_without_the_library_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rustworkx", None)
    circuits._routed.cache_clear()  # another test may have routed the same stream
    array = Array("npu1")
    array.connect(array.memory_tile(0).mm2s[0], array.compute_tile(0, 2).s2mm[0])
    assert refused(array.route) == (
        "router: rustworkx is not installed (it searches the graph of ports). Install it with pip "
        'install "rustworkx", or join the ports yourself with Array.circuit.'
    )


def test_a_stuck_array_names_tiles_and_asks_only_the_own_tile_for_its_lock() -> None:
    array = Array("npu1")
    memory, compute = array.memory_tile(0), array.compute_tile(0, 2)
    for tile in (memory, compute):
        buffer, lock = tile.buffer("b", 16), tile.lock(0, "never")
        tile.s2mm[0].start(tile.write(buffer).guarded(lock.acquire()))
    sent = memory.buffer("sent", 16, data=np.arange(16))
    memory.mm2s[0].start(memory.read(sent).guarded(None, memory.lock(0).release()))
    array.connect(memory.mm2s[0], compute.s2mm[0])
    result = array.run()
    assert result.status is Status.STUCK
    why = "waits for lock 0 'never' (needs 1, has 0), and no running chain releases it"
    assert result.waiting == (
        f"memory(0,1) S2MM 0, BD 0, word 0 of 16: {why}",
        f"compute(0,2) S2MM 0, BD 0, word 0 of 16: {why}; 16 words in its ingress buffer are not taken",
    )


def test_memory_that_two_external_buffers_would_write_back() -> None:
    array = Array("npu1", columns=1)
    data = np.zeros(16, np.int32)
    array.external("all", data)
    assert refused(lambda: array.external("half", data[:8])) == (
        "external buffer half: the array shares its memory with the external buffer all (NumPy). Use "
        "the buffer all."
    )
    text = refused(lambda: array.memory_tile(0).read(array.external("other", np.zeros(8, np.int32))))
    assert (
        "buffer other belongs to another tile, which this tile does not see; its windows are west, own, east"
    ) in text


def test_external_memory_is_an_array() -> None:
    assert refused(lambda: Array(columns=1).external("x", [1, 2])) == (  # type: ignore[arg-type]
        "external buffer x: array is [1, 2]; it must be a NumPy array (NumPy). Give one such as "
        "np.zeros(64, np.int32)."
    )
