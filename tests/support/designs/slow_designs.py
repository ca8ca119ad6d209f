"""Designs that one resource makes slow, each with its twin in which only that was removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from memtile import Array, MemoryTile, pad, view
from memtile.bd.descriptor import Descriptor
from memtile.design.host import Host
from memtile.explain.limit import Resource
from memtile.sim.kernels.kernel_core import Core

Made = Array | MemoryTile


class SlowDesign(NamedTuple):
    """A design and what makes it slow.

    Attributes:
        make: makes the design, or its twin if ``slow`` is false.
        resource: that is to be named.
        name: part of the name of the object that is to be named.
        code: of the finding that is to be there; empty = none.
    """

    make: Callable[[bool], Made]
    resource: Resource
    name: str = ""
    code: str = ""


def bank_conflicts(slow: bool) -> Made:
    """Four strided readers, in one bank or each in its own."""
    tile = MemoryTile(interleaved=False)
    for channel in range(4):
        bank = 0 if slow else 2 * channel
        buffer = tile.buffer(f"b{channel}", 256, np.int32, bank=bank, data=np.arange(256, dtype=np.int32))
        tile.mm2s[channel].start(Descriptor("memory", 256, buffer.dma_address, dims=((4, 64), (1, 0))))
        tile.mm2s[channel].expect(np.arange(256, dtype=np.int32).reshape(64, 4).T.copy())
    return tile


def stride_conflicts(slow: bool) -> Made:
    """Readers of a tile that interleaves, whose stride comes back to the same bank or to the next one."""
    tile, rows = MemoryTile(), 64
    for channel in range(4):
        step = 128 if slow else 132
        buffer = tile.buffer(
            f"b{channel}", rows * step, np.int32, data=np.arange(rows * step, dtype=np.int32)
        )
        tile.mm2s[channel].start(
            Descriptor("memory", rows, buffer.dma_address, dims=((step, rows), (1, 0))), repeat=4
        )
        tile.mm2s[channel].expect(np.tile(np.arange(rows, dtype=np.int32) * step, 4))
    return tile


def one_buffer_of_a_core(slow: bool) -> Made:
    """A core's result has one buffer, or two."""
    array = Array("npu1", columns=1)
    shared, worker = array.memory_tile(0), array.compute_tile(0, 2)
    array.connect(worker.mm2s[0], shared.s2mm[0])
    buffers = 1 if slow else 2
    made = [worker.buffer(f"made{n}", 80) for n in range(buffers)]
    empty, full = worker.lock(buffers, "empty"), worker.lock(0, "full")
    reads = (worker.read(each).guarded(full.acquire(), empty.release()) for each in made)
    worker.mm2s[0].start(*reads, loop=True)
    shared.s2mm[0].start(shared.write(shared.buffer("all", 800)))

    def makes(core: Core) -> Iterator[Any]:
        for number in range(10):
            yield core.acquire(empty)
            core.write(made[number % buffers], np.full(80, number))
            yield core.cycles(90)
            yield core.release(full)

    worker.run_kernel(makes)
    return array


def one_buffer_of_a_memory_tile(slow: bool) -> Made:
    """A ring of one buffer between a writer and a reader, or of two."""
    return _ring(1 if slow else 2, 64, 10)


def ping_pong(slow: bool) -> Made:
    """The same with short blocks, so that the lock changes hands all the time."""
    return _ring(1 if slow else 2, 12, 24)


def _ring(count: int, words: int, times: int) -> Made:
    tile = MemoryTile()
    free, full = tile.lock(count, "ring.free"), tile.lock(0, "ring.full")
    buffers = [tile.buffer(f"part{number}", words, np.int32) for number in range(count)]
    writes = (tile.write(each).guarded(free.acquire(), full.release()) for each in buffers)
    reads = (tile.read(each).guarded(full.acquire(), free.release()) for each in buffers)
    tile.s2mm[0].start(*writes, repeat=times // count)
    tile.mm2s[0].start(*reads, repeat=times // count)
    tile.s2mm[0].feed(np.arange(words * times, dtype=np.int32))
    tile.mm2s[0].expect(np.arange(words * times, dtype=np.int32))
    return tile


def shallow_fifo(slow: bool) -> Made:
    """An object FIFO of depth one, or two, whose reader computes as long as it takes to send an object."""
    array = Array("npu1", columns=1)
    shared, worker = array.memory_tile(0), array.compute_tile(0, 2)
    fifo = array.object_fifo("blocks", shared, worker, shape=64, depth=1 if slow else 2)
    fifo.producer.channel.start(shared.read(shared.buffer("given", 640, data=np.arange(640))))

    end = fifo.consumers[0]

    def takes(core: Core) -> Iterator[Any]:
        for _ in range(10):
            yield core.acquire(end.full)
            yield core.cycles(60)
            yield core.release(end.free)

    worker.run_kernel(takes)
    return array


def one_stream(slow: bool) -> Made:
    """All words over one channel, or half of them over each of two."""
    array = Array("npu1", columns=1)
    shared, worker = array.memory_tile(0), array.compute_tile(0, 2)
    channels = 1 if slow else 2
    for channel in range(channels):
        words = 1024 // channels
        array.connect(shared.mm2s[channel], worker.s2mm[channel])
        source = shared.buffer(f"source{channel}", words, data=np.arange(words))
        shared.mm2s[channel].start(shared.read(source))
        worker.s2mm[channel].start(worker.write(worker.buffer(f"target{channel}", words)))
    return array


def small_pieces(slow: bool) -> Made:
    """Writes to external memory of 16 words, each of which waits for its answer, or of all at once."""
    array = Array("npu1", columns=1)
    shim, shared = array.interface_tile(0), array.memory_tile(0)
    there = array.external("there", np.zeros(512, np.int32))
    shared.mm2s[0].start(shared.read(shared.buffer("given", 512, data=np.arange(512))))
    array.connect(shared.mm2s[0], shim.s2mm[0])
    if slow:
        shim.s2mm[0].start(Descriptor("interface", 16, there.dma_address, iteration=(16, 32)), repeat=32)
    else:
        shim.s2mm[0].start(Descriptor("interface", 512, there.dma_address))
    return array


def short_rows(slow: bool) -> Made:
    """Single words of external memory, far apart, or all in a row."""
    array = Array("npu1", columns=1)
    shim, shared = array.interface_tile(0), array.memory_tile(0)
    given = array.external("given", np.arange(4096, dtype=np.int32))
    dims = ((64, 64), (1, 0)) if slow else ()
    shim.mm2s[0].start(Descriptor("interface", 4096, given.dma_address, dims=dims))
    shared.s2mm[0].start(shared.write(shared.buffer("block", 4096)))
    array.connect(shim.mm2s[0], shared.s2mm[0])
    return array


def short_descriptors(slow: bool) -> Made:
    """Runs of four words, or one of all."""
    tile = MemoryTile()
    block = tile.buffer("block", 256, np.int32, data=np.arange(256, dtype=np.int32))
    if slow:
        tile.mm2s[0].start(Descriptor("memory", 4, block.dma_address, iteration=(4, 64)), repeat=64)
    else:
        tile.mm2s[0].start(Descriptor("memory", 256, block.dma_address))
    tile.mm2s[0].expect(np.arange(256, dtype=np.int32))
    return tile


def slow_core(slow: bool) -> Made:
    """A core that computes for 400 cycles on each block, or for one."""
    return _cores([400 if slow else 1])


def one_slow_core(slow: bool) -> Made:
    """Two cores of one column, of which the first takes three times as long."""
    return _cores([600 if slow else 200, 200], columns=1)


def uneven_blocks(slow: bool) -> Made:
    """Two cores of one column and one kernel, of which the first gets three times as many blocks."""
    return _cores([300, 300], columns=1, blocks=[12, 4] if slow else [8, 8])


def four_at_once(slow: bool) -> Made:
    """A core that waits for four blocks before it takes up the first, of a FIFO that holds four."""
    array, step = Array("npu1", columns=1), 4 if slow else 1
    door, tile = array.interface_tile(0), array.compute_tile(0, 2)
    come = array.object_fifo("come", door, tile, shape=64, depth=4).consumers[0]

    def takes(core: Core) -> Iterator[Any]:
        for _ in range(0, 24, step):
            yield core.acquire(come.full, -step)
            yield core.cycles(64 * step)
            yield core.release(come.free, step)

    tile.run_kernel(takes)
    door.mm2s[0].start(door.read(array.external("data", np.arange(1536, dtype=np.int32))))
    return array


def host_waits(slow: bool) -> Made:
    """A host that waits for one tile before it starts the other, which has nothing to do with it."""
    return _two_tiles(1500, 1500, slow=slow)


def host_waits_early(slow: bool) -> Made:
    """The same, with all started before half of the run."""
    return _two_tiles(1500, 1900, slow=slow)


def _two_tiles(*sizes: int, slow: bool) -> Made:
    array = Array("npu1", columns=2)
    ends = []
    for column, words in enumerate(sizes):
        tile, door = array.memory_tile(column), array.interface_tile(column)
        data = np.arange(words, dtype=np.int32)
        block = tile.buffer("block", words)
        tile.s2mm[0].start(tile.write(block))
        array.connect(door.mm2s[0], tile.s2mm[0])
        tile.expect(block, data)
        ends.append((door, array.external(f"data{column}", data)))

    def sequence(host: Host) -> Iterator[Any]:
        for door, data in ends:
            yield host.start(door.mm2s[0], door.read(data))
            if slow:
                yield host.wait()
        yield host.wait()

    array.host(sequence)
    return array


def padding(slow: bool) -> Made:
    """Rows of 12 words that are sent with 20 zeros behind each."""
    tile, after = MemoryTile(), 20 if slow else 0
    rows = np.arange(1, 961, dtype=np.int32).reshape(80, 12)
    walk = pad(view((80, 12)), ((0, 0), (0, after)))
    tile.mm2s[0].start(tile.read(tile.buffer("rows", (80, 12), data=rows), walk))
    tile.mm2s[0].expect(np.pad(rows, ((0, 0), (0, after))))
    return tile


def padded_objects(slow: bool) -> Made:
    """Objects of 120 words that a core gets with 280 zeros in each, or without."""
    array, after = Array("npu1", columns=1), 28 if slow else 0
    shared, worker = array.memory_tile(0), array.compute_tile(0, 2)
    rows = shared.buffer("rows", (10, 12), data=np.arange(120, dtype=np.int32).reshape(10, 12))
    array.connect(shared.mm2s[0], worker.s2mm[0])
    walk = pad(view((10, 12)), ((0, 0), (0, after)))
    shared.mm2s[0].start(shared.read(rows, walk), repeat=4)
    worker.s2mm[0].start(worker.write(worker.buffer("wide", (10, 12 + after))), repeat=4)
    return array


def uneven_columns(slow: bool) -> Made:
    """Cores in three columns, one of which has most of the work, or all the same."""
    return _cores([900, 150, 150] if slow else [400, 400, 400])


def _cores(costs: list[int], columns: int = 0, blocks: Sequence[int] = ()) -> Made:
    """Cores with these cycles for each of so many blocks: in a column each, or one above the other."""
    array = Array("npu1", columns=columns or len(costs))
    for column, (cost, many) in enumerate(zip(costs, blocks or [8] * len(costs), strict=True)):
        tile = array.compute_tile(0, 2 + column) if columns else array.compute_tile(column, 2)
        buffers = [tile.buffer(f"a{n}", 16) for n in range(2)]
        empty, full = tile.lock(2, f"x{column}.free"), tile.lock(0, f"x{column}.full")
        tile.s2mm[0].start(
            *(tile.write(b).guarded(empty.acquire(), full.release()) for b in buffers), repeat=many // 2
        )
        tile.s2mm[0].feed(np.arange(16 * many))

        def work(
            core: Core, empty: Any = empty, full: Any = full, cost: int = cost, many: int = many
        ) -> Iterator[Any]:
            for _ in range(many):
                yield core.acquire(full, -1)
                yield core.cycles(cost)
                yield core.release(empty, 1)

        tile.run_kernel(work)
    return array


def shared_link(slow: bool) -> Made:
    """Packets of three channels over one link, or a circuit for each."""
    array = Array("npu1", columns=2)
    shared, workers = array.memory_tile(0), [array.compute_tile(1, row) for row in (2, 3, 4)]
    bus = None
    if slow:
        bus = array.packet_bus("bus", *((shared.mm2s[n], [each.s2mm[1]]) for n, each in enumerate(workers)))
    for n, worker in enumerate(workers):
        worker.s2mm[1].start(worker.write(worker.buffer("target", 300)))
        read = shared.read(shared.buffer(f"source{n}", 300, data=np.arange(300)))
        shared.mm2s[n].start(read if bus is None else bus.streams[n].packets(read))
        if bus is None:
            array.connect(shared.mm2s[n], worker.s2mm[1])
    return array


def host_starts_rows(slow: bool) -> Made:
    """The host starts a task for each row, or one for all."""
    tile, rows, words = MemoryTile(), 32, 16
    block = tile.buffer("block", rows * words, np.int32, data=np.arange(rows * words, dtype=np.int32))

    def sequence(host: Host) -> Iterator[Any]:
        if slow:
            for row in range(rows):
                start = block.dma_address + row * words
                yield host.start(tile.mm2s[0], Descriptor("memory", words, start))
        else:
            yield host.start(tile.mm2s[0], tile.read(block))
        yield host.wait()

    tile.bench.host(sequence)
    tile.mm2s[0].expect(np.arange(rows * words, dtype=np.int32))
    return tile


def neighbour_interface(slow: bool) -> Made:
    """Four strided readers of a neighbour's memory over its one interface, or of their own."""
    array = Array("npu1", columns=2)
    tile, beside = array.memory_tile(0), array.memory_tile(1)
    for channel in range(4):
        home = beside if slow else tile
        data = np.arange(8 * 512, dtype=np.int32)
        buffer = home.buffer(f"b{channel}", 8 * 512, np.int32, data=data)
        read = tile.read(buffer)
        start = read.descriptors[0].address if hasattr(read, "descriptors") else buffer.dma_address
        tile.mm2s[channel].start(Descriptor("memory", 128, start + 4 * channel, dims=((32, 128), (1, 0))))
        array.connect(tile.mm2s[channel], array.compute_tile(0, 2 + channel).s2mm[0])
        taker = array.compute_tile(0, 2 + channel)
        taker.s2mm[0].start(taker.write(taker.buffer("kept", 128)))
    return array


def slow_taker(slow: bool) -> Made:
    """A port outside that takes a word in each third cycle, or in every one."""
    tile = MemoryTile()
    block = tile.buffer("block", 256, np.int32, data=np.arange(256, dtype=np.int32))
    tile.mm2s[0].start(tile.read(block))
    tile.mm2s[0].expect(np.arange(256, dtype=np.int32), [1, 0, 0] if slow else None)
    return tile


SLOW = {
    "bank_conflicts": SlowDesign(bank_conflicts, Resource.BANKS, "MM2S", "MT0501"),
    "stride_conflicts": SlowDesign(stride_conflicts, Resource.BANKS, "MM2S", "MT0501"),
    "one_buffer_of_a_core": SlowDesign(one_buffer_of_a_core, Resource.BUFFERS, "made0", "MT0504"),
    "one_buffer_of_a_memory_tile": SlowDesign(
        one_buffer_of_a_memory_tile, Resource.BUFFERS, "ring", "MT0504"
    ),
    "ping_pong": SlowDesign(ping_pong, Resource.BUFFERS, "ring", "MT0504"),
    "shallow_fifo": SlowDesign(shallow_fifo, Resource.BUFFERS, "blocks", "MT0504"),
    "one_stream": SlowDesign(one_stream, Resource.STREAM, "MM2S 0"),
    "small_pieces": SlowDesign(small_pieces, Resource.PIECES, "interface(0,0) S2MM 0", "MT0506"),
    "short_rows": SlowDesign(short_rows, Resource.ROWS, "interface(0,0) MM2S 0", "MT0506"),
    "short_descriptors": SlowDesign(short_descriptors, Resource.DESCRIPTORS, "MM2S 0", "MT0502"),
    "slow_core": SlowDesign(slow_core, Resource.CORES, "core (0, 2)"),
    "one_slow_core": SlowDesign(one_slow_core, Resource.SLOWEST, "core (0, 2)", "MT0507"),
    "uneven_blocks": SlowDesign(uneven_blocks, Resource.SLOWEST, "core (0, 2)", "MT0507"),
    "four_at_once": SlowDesign(four_at_once, Resource.BUFFERS, "come", "MT0504"),
    "host_waits": SlowDesign(host_waits, Resource.WAITS, "the host", "MT0505"),
    "host_waits_early": SlowDesign(host_waits_early, Resource.WAITS, "the host", "MT0505"),
    "padding": SlowDesign(padding, Resource.CHANNELS, "zeros of its padding"),
    "padded_objects": SlowDesign(padded_objects, Resource.PADDING, "280 of 400 words of memory(0,1) MM2S 0"),
    "uneven_columns": SlowDesign(uneven_columns, Resource.COLUMNS, "column 0", "MT0507"),
    "shared_link": SlowDesign(shared_link, Resource.LINKS, "tile", "MT0508"),
    "host_starts_rows": SlowDesign(host_starts_rows, Resource.HOST, "the host", "MT0503"),
    "neighbour_interface": SlowDesign(neighbour_interface, Resource.NEIGHBOURS, "memory(0,1) MM2S", "MT0509"),
    "slow_taker": SlowDesign(slow_taker, Resource.OUTSIDE, "MM2S 0"),
}
