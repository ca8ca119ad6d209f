"""Does the memory tile beside a partition of Phoenix lend what the chip lends, and nothing more?

DEV-NBR-1. The designs are those of a hardware test of mlir-aie in small: BDs of the memory tile of column 0
whose addresses or locks lie in the western window.
"""

from __future__ import annotations

import numpy as np
import pytest

from memtile import MemtileError, Status
from memtile.arch.register_map import register_named, tile_register
from memtile.design.array import Array
from memtile.hosts.address_space import ArrayAccesses
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text
from memtile.model.axi import SLAVE_ERROR
from memtile.sim.loop.partition import restart

NUMBERS = np.arange(1, 65, dtype=np.int32)
LAST, EAST = 0x20000 - 64, 0x40000  # words as the DMA of a memory tile counts them
DESIGN = """
aie.device({chip}) {{
  %s = aie.tile(0, 0)
  %m = aie.tile(0, 1)
  aie.flow(%s, DMA : 0, %m, DMA : 0)
  aie.flow(%m, DMA : 0, %s, DMA : 0)
  aie.shim_dma_allocation @in(%s, MM2S, 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)
  aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {{
    aiex.npu.writebd {{bd_id = 0 : i32, buffer_length = 64 : i32, buffer_offset = {at} : i32,
      column = 0 : i32, row = 1 : i32,
      valid_bd = 1 : i32, lock_rel_id = {lock} : i32, lock_rel_val = 1 : i32}}
    aiex.npu.writebd {{bd_id = 1 : i32, buffer_length = 64 : i32, buffer_offset = {at} : i32,
      column = 0 : i32, row = 1 : i32,
      valid_bd = 1 : i32, lock_acq_enable = 1 : i32, lock_acq_id = {lock} : i32,
      lock_acq_val = 127 : i32}}
    aiex.npu.push_queue(0, 1, S2MM:0) bd_id 0 repeat 0 {{issue_token = false}}
    aiex.npu.push_queue(0, 1, MM2S:0) bd_id 1 repeat 0 {{issue_token = false}}
    aiex.npu.dma_memcpy_nd(%b[0,0,0,0][1,1,1,64][0,0,0,1]) {{id = 1 : i64, metadata = @out}} : memref<64xi32>
    aiex.npu.dma_memcpy_nd(%a[0,0,0,0][1,1,1,64][0,0,0,1]) {{id = 0 : i64, metadata = @in}} : memref<64xi32>
    aiex.npu.dma_wait {{symbol = @out}}
  }}
}}
"""


def run(chip: str, at: int = 0, lock: int = 0, *, untimed: bool = False) -> tuple[Status, list[int]]:
    """How the design ends with its memory and its lock at a place, and what it gives."""
    design = load(Text("d.mlir", DESIGN.format(chip=chip, at=at, lock=lock)))
    done = design.run(NUMBERS, max_cycles=20_000, untimed=untimed)
    return done.result.status, np.asarray(done.arrays["1"]).tolist()


@pytest.mark.parametrize("untimed", [False, True])
@pytest.mark.parametrize("lock", [0, 63, 64])
@pytest.mark.parametrize("chip", ["npu1_1col", "npu1"])
def test_memory_and_locks_west_of_a_partition_of_phoenix_are_there(
    chip: str, lock: int, untimed: bool
) -> None:
    assert run(chip, 0, lock, untimed=untimed) == (Status.FINISHED, NUMBERS.tolist())
    assert run(chip, LAST, lock, untimed=untimed) == (Status.FINISHED, NUMBERS.tolist())


@pytest.mark.parametrize("chip", ["npu2", "npu2_1col"])
def test_the_first_column_of_a_die_has_no_western_neighbour(chip: str) -> None:
    status, _ = run(chip)
    assert status is Status.HALTED


def test_nothing_is_known_of_the_column_east_of_a_partition() -> None:
    status, _ = run("npu1_1col", EAST)
    assert status is Status.HALTED


def test_the_tile_beyond_the_edge_has_no_address_and_no_wires() -> None:
    array = Array("npu1", 1)
    tiles, nodes = array.engine.spec.tiles, array.engine.spec.nodes
    (beyond,) = np.flatnonzero(np.asarray(tiles.column) < 0).tolist()
    assert (tiles.column[beyond], tiles.row[beyond]) == (-1, 1)
    ports = array.engine.state.switch
    assert not np.isin(
        ports.tile[ports.link[(ports.tile == beyond) & (ports.link >= 0)]], range(beyond)
    ).any()
    assert not (ports.tile[ports.link[(ports.tile != beyond) & (ports.link >= 0)]] == beyond).any()
    own = np.asarray(nodes.tile) == beyond
    links = np.asarray(nodes.link)
    assert not own[links[~own][links[~own] >= 0]].any()
    assert repr(array).startswith("Array(npu1: 1 x 6 tiles")
    with pytest.raises(MemtileError):
        array.tile(-1, 1)


def west_is_closed(array: Array) -> bool:
    """Whether the memory tile of column 0 isolates itself from the west."""
    control = tile_register("memory", "Tile_Control")
    return bool(array.tile(0, 1).own_door.read32(control.offset) & control.field("Isolate_From_West").mask)


def test_the_partition_stays_closed_towards_the_west() -> None:
    """Its own bits say so, at the start and after a load (DEV-ISO-1)."""
    array = Array("npu1", 2)
    assert west_is_closed(array)


def test_a_reset_of_the_partition_leaves_what_is_beside_it() -> None:
    array = Array("npu1", 1)
    (beyond,) = np.flatnonzero(np.asarray(array.engine.spec.tiles.column) < 0).tolist()
    array.engine.door(beyond).write32(16, 7)
    restart(array.engine.state, array.engine.door)
    assert array.engine.door(beyond).read32(16) == 7
    assert west_is_closed(array)


def test_stopped_clocks_of_a_partition_do_not_stop_its_neighbour() -> None:
    array = Array("npu1", 4)
    (beyond,) = np.flatnonzero(np.asarray(array.engine.spec.tiles.column) < 0).tolist()
    clock = register_named("pl", "Column_Clock_Control")
    array.tile(3, 0).own_door.write32(clock.offset, 0)
    array.tile(0, 0).own_door.write32(clock.offset, 0)
    assert not array.engine.has_clock(1)
    assert array.engine.has_clock(beyond)


def test_many_writes_at_once_do_not_go_to_it() -> None:
    """Column -1 is no place that an address can name, whatever an index of -1 means elsewhere."""
    array = Array("npu1", 4)
    accesses = ArrayAccesses(array.engine, 0, -1)
    places = np.array([(3 << 25) | (1 << 20), 127 << 25 | 1 << 20], np.uint64)
    assert list(accesses.perform(places, np.array([5, 6]))) == [[0, SLAVE_ERROR]]
    assert array.tile(3, 1).own_door.read32(0) == 5
