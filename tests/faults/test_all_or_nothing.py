"""Does a step of a design that is refused in its middle keep nothing and write nothing?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from memtile import Array, MemtileError, view
from memtile.design.tile import Tile


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(MemtileError) as caught:
        call()
    return str(caught.value)


def claimed(tile: Tile) -> list[object]:
    """Everything that can be claimed of a tile, and the registers that would be written."""
    kind, door = tile.kind, tile.own_door
    locks = [door.read32(kind.lock_value_base + n * kind.lock_value_stride) for n in range(kind.locks)]
    firsts = [kind.bd_base + n * kind.bd_stride for n in range(4)]
    bds = [door.block_read32(first, kind.bd_words).tolist() for first in firsts]
    channels = [(c.claimed, c.started, c.status()) for c in (*tile.s2mm, *tile.mm2s)]
    return [repr(tile), [tile.bd_pool.free(n) for n in range(kind.channels)], locks, bds, channels]


@pytest.fixture
def array() -> Array:
    return Array("npu1", columns=1)


def test_an_object_fifo_whose_last_end_has_no_room(array: Array) -> None:
    source, near, full = (array.compute_tile(0, row) for row in (2, 3, 4))
    full.buffer("all of it", 62 << 8)
    before = [claimed(tile) for tile in (source, near, full)]
    text = refused(lambda: array.object_fifo("f", source, [near, full], shape=16))
    assert text.startswith(
        "compute tile (0,4), buffer f.0: the buffer takes bytes 0x10000..0x1003f, allowed are 0x0..0xffff"
    )
    assert [claimed(tile) for tile in (source, near, full)] == before
    again = array.object_fifo("f", source, near, shape=16)
    assert again.producer.buffers[0].offset == again.consumers[0].buffers[0].offset == 2048
    assert [lock.id for lock in (again.producer.free, again.producer.full) if lock] == [0, 1]
    assert [str(flow) for flow in array.route()] == ["compute(0,2) MM2S 0 -> compute(0,3) S2MM 0"]


def test_an_object_fifo_without_locks_or_channels(array: Array) -> None:
    source, sink = array.compute_tile(0, 2), array.compute_tile(0, 3)
    for n in range(15):
        sink.lock(n)
    before = [claimed(tile) for tile in (source, sink)]
    assert (
        "all 16 locks are taken: lock0, lock1, lock2, lock3, lock4, lock5, lock6, lock7 and 8 more"
        in refused(lambda: array.object_fifo("f", source, sink, shape=4))
    )
    assert [claimed(tile) for tile in (source, sink)] == before
    other = array.compute_tile(0, 4)
    for _ in range(2):
        other.free_channel(receives=True)
    before = [claimed(tile) for tile in (source, other)]
    assert refused(lambda: array.object_fifo("f", source, other, shape=4)) == (
        "compute tile (0,4): all 2 S2MM channels are in use (AM020)."
    )
    assert [claimed(tile) for tile in (source, other)] == before


def test_a_split_whose_second_consumer_has_no_room(array: Array) -> None:
    outside, shared = array.interface_tile(0), array.memory_tile(0)
    good, full = array.compute_tile(0, 2), array.compute_tile(0, 3)
    full.buffer("all of it", 62 << 8)
    fifo = array.object_fifo("f", outside, shared, shape=(4, 8))
    before = [claimed(tile) for tile in (shared, good, full)]
    assert "compute tile (0,3), buffer half[1].0" in refused(lambda: fifo.split("half", [good, full]))
    assert [claimed(tile) for tile in (shared, good, full)] == before
    assert fifo.open_ends
    fifo.split("half", [good, array.compute_tile(0, 4)])
    assert len(array.route()) == 3


def test_parts_that_are_not_the_objects(array: Array) -> None:
    outside, shared = array.interface_tile(0), array.memory_tile(0)
    fifo = array.object_fifo("f", outside, shared, shape=(4, 8))
    cores = [array.compute_tile(0, row) for row in (2, 3)]
    before = claimed(shared)
    assert refused(lambda: fifo.split("half", cores, parts=[view((4, 8))])) == (
        "object FIFO f: the number of parts to split is 1; it must be 2, one for each tile "
        "(object FIFO: buffers and two counting locks per end)."
    )
    text = refused(lambda: fifo.split("half", cores, parts=[view((4, 8)), view((2, 8))]))
    assert "buffer f.0: the pattern to read is View(shape=(2, 8)" in text
    assert claimed(shared) == before


def test_a_packet_bus_with_an_end_that_another_has(array: Array) -> None:
    shared, worker, other = array.memory_tile(0), array.compute_tile(0, 2), array.compute_tile(0, 3)
    array.connect(shared.mm2s[1], other.s2mm[0])
    routes = [(shared.mm2s[0], [worker.s2mm[0]]), (shared.mm2s[0], [other.s2mm[0]])]
    text = refused(lambda: array.packet_bus("b", *routes))
    assert ": it has memory(0,1) MM2S 1 -> compute(0,3) S2MM 0 (" in text
    array.connect(shared.mm2s[0], worker.s2mm[0])
    assert len(array.route()) == 2


def test_the_step_itself_still_writes_everything_at_its_end(array: Array) -> None:
    source, sink = array.compute_tile(0, 2), array.compute_tile(0, 3)
    fifo = array.object_fifo("f", source, sink, shape=16)
    assert fifo.producer.free is not None
    assert source.lock_value(fifo.producer.free) == 2
    assert np.count_nonzero(source.door.block_read32(source.kind.bd_base, source.kind.bd_words))
    assert sink.s2mm[0].status()["Channel_Running"] == 1


def test_a_step_puts_back_what_it_changed_several_times_and_keeps_what_was_before_it(array: Array) -> None:
    worker = array.compute_tile(0, 2)
    worker.lock(3, "before")

    def step(*channels: bool) -> None:
        with array.all_or_nothing():
            for receives in channels:
                name = f"b{len(worker.buffers)}"
                worker.buffer(name, 16)
                worker.lock(1, name)
                worker.free_channel(receives=receives)

    before = claimed(worker)
    assert "all 2 MM2S channels are in use" in refused(lambda: step(True, False, False, False))
    assert claimed(worker) == before
    step(True, False, False)
    assert [lock.name for lock in worker.locks] == ["before", "b0", "b1", "b2"]
    assert len(worker.buffers) == len([c for c in (*worker.s2mm, *worker.mm2s) if c.claimed]) == 3


def test_a_tile_that_a_refused_step_asked_for_has_nothing(array: Array) -> None:
    def step() -> None:
        with array.all_or_nothing():
            array.compute_tile(0, 3).buffer("b", 16)
            array.compute_tile(0, 3).mm2s[5]

    refused(step)
    assert array.compute_tile(0, 3).buffers == ()
