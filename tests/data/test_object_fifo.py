"""Do object FIFOs carry their objects, in order, whole or in parts, and can everything they made be read?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from memtile import Array, MemtileError, Status, view
from memtile.arch.ports import PORTS
from memtile.bd.codec import decode
from memtile.design.object_fifo import End
from memtile.design.tile import Tile
from memtile.kernels import Action, Core, Kernel
from memtile.model.state.causes import Cause


def column(workers: int = 4) -> tuple[Array, Tile, list[Tile]]:
    array = Array("npu1", columns=1)
    rows = list(array.device.compute_rows)[:workers]
    return array, array.memory_tile(0), [array.tile(0, row) for row in rows]


def fill(end: End, objects: np.ndarray) -> None:
    """What a core would do: write the objects, then say that they are there."""
    assert end.free is not None
    assert end.full is not None
    for number, data in enumerate(objects):
        end.tile.store(end.buffer(number), data)
    kind = end.tile.kind
    for lock, value in ((end.free, len(end.buffers) - len(objects)), (end.full, len(objects))):
        end.tile.door.write32(kind.lock_value_base + lock.id * kind.lock_value_stride, value)


def held(end: End) -> np.ndarray:
    return np.array([end.tile.load(buffer) for buffer in end.buffers])


def test_a_broadcast_brings_every_object_to_every_consumer_and_counts_it() -> None:
    array, _, (source, *others) = column()
    fifo = array.object_fifo("x", source, others, depth=3, shape=(5, 4), dtype=np.int16)
    objects = np.arange(60, dtype=np.int16).reshape(3, 5, 4)
    fill(fifo.producer, objects)
    assert array.run().status is Status.FINISHED
    for end in fifo.consumers:
        np.testing.assert_array_equal(held(end), objects)
        assert end.full is not None
        assert end.tile.lock_value(end.full) == 3
    assert fifo.producer.full is not None
    assert source.lock_value(fifo.producer.full) == 0


@pytest.mark.feature("F36")
def test_a_split_gives_each_consumer_its_part_and_a_gather_puts_them_together() -> None:
    array, memory, workers = column()
    into = array.object_fifo("in", workers[0], memory, shape=(16, 8))
    parts = into.split("part", workers[1:3])
    out = array.object_fifo("out", memory, workers[3], shape=(16, 8))
    back = out.gather("back", [workers[1], workers[2]])
    objects = np.arange(256, dtype=np.int32).reshape(2, 16, 8)
    fill(into.producer, objects)
    assert array.run().status is Status.FINISHED
    for number, fifo in enumerate(parts):
        np.testing.assert_array_equal(held(fifo.consumers[0]), objects[:, 8 * number : 8 * number + 8])
        fill(back[number].producer, -held(fifo.consumers[0]))
    assert array.run().status is Status.FINISHED
    np.testing.assert_array_equal(held(out.consumers[0]), -objects)


def test_a_part_may_go_to_several_and_the_whole_may_only_pass() -> None:
    array, memory, workers = column()
    (passed,) = array.object_fifo("in", workers[0], memory, shape=12).split("on", [workers[1:]])
    assert repr(passed) == (
        "ObjectFifo(on: 2 x (12) int32, memory(0,1) MM2S 0 -> compute(0,3) S2MM 0, compute(0,4) S2MM 0, "
        "compute(0,5) S2MM 0)"
    )
    into = passed.producer
    assert into.buffers == ()
    objects = np.arange(24, dtype=np.int32).reshape(2, 12)
    fill(array._fifos[0].producer, objects)
    array.run()
    for end in passed.consumers:
        np.testing.assert_array_equal(held(end), objects)


def test_everything_is_there_to_be_read_as_descriptors_and_registers() -> None:
    array, _, (source, target, *_) = column()
    fifo = array.object_fifo("x", source, target, shape=8)
    end = fifo.consumers[0]
    words = target.door.block_read32(target.kind.bd_base, target.kind.bd_words)
    first = decode("compute", [int(word) for word in words])
    assert (first.length, first.address, first.next) == (8, end.buffers[0].dma_address, 1)
    assert end.free is not None
    assert end.full is not None
    assert (first.acquire.id, first.release.id) == (end.free.dma_id, end.full.dma_id)
    assert [buffer.name for buffer in end.buffers] == ["x.0", "x.1"]
    array.route()
    ports = PORTS["compute"]
    master = target.door.read32(ports.base + ports.master("DMA0") * 4)
    assert master == (1 << 31) + ports.slave("SOUTH0")


def refused(call: object) -> str:
    with pytest.raises(MemtileError) as caught:
        call()  # type: ignore[operator]
    return str(caught.value)


def test_object_fifos_that_make_no_sense() -> None:
    array, memory, workers = column()
    rule = "(object FIFO: buffers and two counting locks per end)"
    assert refused(lambda: array.object_fifo("x", memory, [], depth=0, shape=())).splitlines() == [
        f"object FIFO x: depth is 0; it must be 1 or more {rule}.",
        (
            "object FIFO x: shape is (); it must be whole numbers of 1 or more (NumPy shapes). Give "
            "one such as (8, 8)."
        ),
        f"object FIFO x: there are no consumers; there must be at least one tile {rule}.",
    ]
    fifo = array.object_fifo("in", workers[0], memory, shape=(6, 4))
    assert refused(array.route) == (
        "object FIFO in: memory(0,1) S2MM 0 has nothing on the other side; split or gather must "
        f"join it {rule}."
    )
    assert refused(lambda: fifo.split("p", workers)) == (
        "object FIFO in: the number of parts to split is 4; it must be a divisor of the first "
        f"axis, 6 {rule}."
    )
    fifo.split("p", workers[:3])
    assert refused(lambda: fifo.split("q", workers[:3])).startswith("object FIFO in: split cannot take ")
    assert refused(lambda: fifo.gather("q", workers[:3])).startswith("object FIFO in: gather cannot take ")


def test_a_tile_without_a_free_channel_says_so() -> None:
    array, _, workers = column()
    for number in range(2):
        array.object_fifo(f"x{number}", workers[0], workers[1], shape=4)
    assert refused(lambda: array.object_fifo("y", workers[2], workers[1], shape=4)) == (
        "compute tile (0,3): all 2 S2MM channels are in use (AM020)."
    )


@pytest.mark.feature("F35")
def test_a_design_of_aie_ml_v2_uses_both_words_of_a_beat() -> None:
    array = Array("xc2ve3858", columns=2)
    source, shared, sink = array.compute_tile(0, 3), array.memory_tile(1, 2), array.compute_tile(1, 6)
    whole = array.object_fifo("whole", source, shared, shape=(8, 8))
    (part,) = whole.split("part", [sink], parts=[np.pad(view((8, 8)), 1)])
    seen = []

    def fill(core):
        yield core.acquire(whole.producer.free)
        core.write(whole.producer.buffer(0), np.arange(64, dtype=np.int32).reshape(8, 8))
        yield core.release(whole.producer.full)

    def look(core):
        yield core.acquire(part.consumers[0].full)
        seen.append(core.read(part.consumers[0].buffer(0)))

    source.run_kernel(fill)
    sink.run_kernel(look)
    result = array.run()
    assert result.good
    np.testing.assert_array_equal(seen[0], np.pad(np.arange(64).reshape(8, 8), 1))
    (sent,) = (use for use in result.channels if use.name == "memory_v2(1,2) MM2S 0")
    assert (sent.words, sent.spent[Cause.MOVING]) == (100, 50)
    assert "up to S2MM " in str(result)


def test_the_ends_of_an_object_fifo_are_tiles_of_its_array() -> None:
    array, memory, workers = column()
    _, other, _ = column()
    text = refused(lambda: array.object_fifo("x", memory, other, shape=8))
    assert (
        "an end is MemoryTile(npu1 (0,1): 0 buffers, 0 of 524288 bytes, 0 locks, 0 cycles run); it "
        "must be a tile of the same array"
    ) in text
    given = workers[0].s2mm[0]
    assert repr(given) in refused(lambda: array.object_fifo("x", memory, given, shape=8))  # type: ignore[arg-type]


def test_a_deep_fifo_takes_channels_of_the_parity_that_has_descriptors() -> None:
    array, memory, workers = column()
    outside = array.interface_tile(0)
    whole = array.object_fifo("whole", outside, memory, depth=12, shape=(8, 8))
    parts = whole.split("part", workers[:2], depth=2)
    assert [part.producer.channel.port for part in parts] == ["MM2S 1", "MM2S 0"]
    deep = array.object_fifo("deep", outside, memory, depth=13, shape=(8, 8))
    assert refused(lambda: deep.split("bit", workers[:2], depth=2)) == (
        "object FIFO deep: depth 13 needs 13 BDs for S2MM 1 of the memory tile (0,1), of which 0 are free "
        "(AM020: 24 BDs for channels of its parity). MM2S 1 has 24. Give less depth, or fewer parts."
    )


def words_of(end: End, sums: list[int], objects: int) -> Kernel:
    """A kernel that adds up each object that comes."""

    def add(core: Core) -> Iterator[Action]:
        for number in range(objects):
            yield core.acquire(end.full)
            sums.append(int(core.read(end.buffer(number)).sum()))
            yield core.release(end.free)

    return add


@pytest.mark.parametrize(("depth", "repeat"), [(1, 1), (1, 63), (2, 5), (3, 3)])
def test_what_a_memory_tile_holds_is_sent_as_often_as_asked(depth: int, repeat: int) -> None:
    """Loaded once, used often: three objects, each ``repeat`` times, in order."""
    array, memory, (_, sink, *_) = column()
    data = np.arange(12, dtype=np.int32).reshape(3, 4)
    into = array.object_fifo("in", array.interface_tile(0), memory, depth=depth, shape=4)
    again = into.forward("again", sink, repeat=repeat, depth=2)
    into.producer.channel.start(array.interface_tile(0).read(array.external("data", data)))
    sums: list[int] = []
    sink.run_kernel(words_of(again.consumers[0], sums, 3 * repeat))
    result = array.run()
    assert result.status is Status.FINISHED, result
    assert sums == [int(row.sum()) for row in data for _ in range(repeat)]
    assert again.repeat == repeat


def test_a_lock_counts_no_more_than_63_repeats() -> None:
    array, memory, (_, sink, *_) = column()
    into = array.object_fifo("in", array.interface_tile(0), memory, depth=1, shape=4)
    with pytest.raises(
        MemtileError, match=r"^object FIFO again: repeat is 64, allowed are 1\.\.63, what a lock "
    ):
        into.forward("again", sink, repeat=64)
    into.forward("again", sink, repeat=63)


def test_two_readers_get_their_parts_as_often_as_asked() -> None:
    array, memory, (_, left, right, *_) = column()
    data = np.arange(16, dtype=np.int32).reshape(2, 8)
    into = array.object_fifo("in", array.interface_tile(0), memory, shape=8)
    halves = into.split("half", [left, right], repeat=3)
    into.producer.channel.start(array.interface_tile(0).read(array.external("data", data)))
    sums: list[list[int]] = [[], []]
    for tile, fifo, seen in zip((left, right), halves, sums, strict=True):
        tile.run_kernel(words_of(fifo.consumers[0], seen, 6))
    assert array.run().status is Status.FINISHED
    for number, seen in enumerate(sums):
        wanted = data[:, 4 * number : 4 * number + 4].sum(axis=1)
        assert seen == [int(total) for total in wanted for _ in range(3)]


def test_a_core_and_a_gathered_object_may_send_theirs_again() -> None:
    array, memory, (source, worker, sink, _) = column()
    fifo = array.object_fifo("x", source, worker, shape=4, repeat=2)
    out = array.object_fifo("out", memory, sink, shape=4, repeat=3)
    (back,) = out.gather("back", [worker])
    sums: list[int] = []

    def make(core: Core) -> Iterator[Action]:
        for number in range(3):
            yield core.acquire(fifo.producer.free)
            core.write(fifo.producer.buffer(number), np.full(4, number, np.int32))
            yield core.release(fifo.producer.full)

    def pass_on(core: Core) -> Iterator[Action]:
        here, there = fifo.consumers[0], back.producer
        for number in range(6):
            yield core.acquire(here.full)
            yield core.acquire(there.free)
            core.write(there.buffer(number), 10 * core.read(here.buffer(number)) + number)
            yield core.release(there.full)
            yield core.release(here.free)

    source.run_kernel(make)
    worker.run_kernel(pass_on)
    sink.run_kernel(words_of(out.consumers[0], sums, 18))
    assert array.run().status is Status.FINISHED
    assert sums == [4 * (10 * (n // 2) + n) for n in range(6) for _ in range(3)]


def test_each_end_has_its_own_depth_and_its_buffers_their_places() -> None:
    array, memory, (source, one, two, _) = column()
    fifo = array.object_fifo(
        "x", source, [one, two], shape=8, depth=(1, 2, 3), bank={one: 2}, at={two: (0x4000, 0x800, 0x6000)}
    )
    assert [len(end.buffers) for end in (fifo.producer, *fifo.consumers)] == [1, 2, 3]
    bank = one.kind.bank_bytes
    assert [buffer.offset for buffer in fifo.consumers[0].buffers] == [2 * bank, 2 * bank + 32]
    assert [buffer.offset for buffer in fifo.consumers[1].buffers] == [0x4000, 0x800, 0x6000]
    assert repr(fifo).startswith("ObjectFifo(x: 1/2/3 x (8) int32, ")
    for given, message in (
        (
            {"depth": (1, 2)},
            "2 numbers; it must be one number, or 3: the producer's and one for each consumer",
        ),
        ({"depth": (1, 0, 2)}, "depth is 0; it must be 1 or more"),
        ({"at": {one: (0,)}}, r"at has 1 places in the compute tile \(0,3\); its end has 2 buffers"),
        ({"repeat": 0}, "repeat is 0; it must be 1 or more"),
    ):
        with pytest.raises(MemtileError, match=message):
            array.object_fifo("y", source, [one, two], shape=8, **given)  # type: ignore[arg-type]
    with pytest.raises(MemtileError, match=r"no buffer that could be sent 2 times.*start\(\.\.\., repeat=\)"):
        array.object_fifo("z", array.interface_tile(0), memory, shape=8, repeat=2)


def test_what_is_passed_on_has_a_name_of_its_own_and_may_be_a_view() -> None:
    array, memory, (source, sink, *_) = column()
    whole = array.object_fifo("in", source, memory, shape=(2, 6), depth=1)
    turned = whole.forward("turned", sink, part=view((2, 6)).transpose(), depth=(3,))
    assert (turned.name, turned.shape, turned.depths) == ("turned", (6, 2), (1, 3))
    objects = np.arange(12, dtype=np.int32).reshape(1, 2, 6)
    fill(whole.producer, objects)
    assert array.run().status is Status.FINISHED
    np.testing.assert_array_equal(held(turned.consumers[0])[0], objects[0].T)


def test_only_whole_unguarded_transfers_are_repeated() -> None:
    _, memory, _ = column()
    buffer, lock = memory.buffer("b", 8), memory.lock(1)
    plain = memory.read(buffer)
    assert plain.repeated(3).descriptors == plain.descriptors * 3
    for transfer, times, message in (
        (plain, 0, "times is 0; it must be 1 or more"),
        (plain.guarded(lock.acquire()), 2, "lock operations already.*Repeat it first and guard it then"),
    ):
        with pytest.raises(MemtileError, match=message):
            transfer.repeated(times)
