"""Is the party that owes something named, and nobody who has done its part?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.design.locks import Lock
from memtile.design.object_fifo import ObjectFifo
from memtile.explain.findings import Finding
from memtile.kernels import Action, Core, Kernel

WORDS = 16


def only(array: Array) -> Finding:
    """The one finding of a run."""
    (finding,) = array.run(50_000).findings
    return finding


def made(fifo: ObjectFifo, times: int) -> Kernel:
    """A core makes so many objects."""

    def kernel(core: Core) -> Iterator[Action]:
        for n in range(times):
            yield core.acquire(fifo.producer.free)
            core.write(fifo.producer.buffer(n), np.full(fifo.shape, n))
            yield core.release(fifo.producer.full)

    return kernel


def test_of_a_join_the_core_that_made_less_is_the_one() -> None:
    array = Array("npu1", columns=1)
    door, shared = array.interface_tile(0), array.memory_tile(0)
    cores = [array.compute_tile(0, row) for row in (2, 3, 4)]
    whole = array.object_fifo("whole", shared, door, shape=(3, WORDS))
    for number, (core, part) in enumerate(zip(cores, whole.gather("part", cores), strict=True)):
        core.run_kernel(made(part, 1 if number == 2 else 2))
    door.s2mm[0].start(door.write(array.external("all", np.zeros(6 * WORDS, np.int32))))
    finding = only(array)
    assert finding.code == "MT0309"
    assert "compute(0,4) MM2S 0 'part[2]' waits" in finding.message
    assert "core (0, 2)" not in finding.message
    assert finding.fix == (
        "Let it run as many rounds as the others, or let interface(0,0) S2MM 0 'whole' ask for less: "
        "it has 48 of its 96 words."
    )


def test_a_core_that_takes_one_word_too_many_has_no_descriptor() -> None:
    array = Array("npu1", columns=1)
    tile, core = array.memory_tile(0), array.compute_tile(0, 2)
    array.connect(tile.mm2s[0], core.stream_in)
    tile.mm2s[0].start(tile.read(tile.buffer("a", 4, data=np.arange(4))))

    def kernel(core: Core) -> Iterator[Action]:
        for _ in range(5):
            yield core.get_stream()

    core.run_kernel(kernel)
    says = "core (0, 2) (kernel 'kernel') waits for one more word of its stream; "
    assert only(array).message.startswith(f"{says}memory(0,1) MM2S 0 ('a') has sent all")


def test_who_takes_packets_in_any_order_and_more_than_come() -> None:
    array = Array("npu1", columns=1)
    tile, cores = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 3)]
    bus = array.packet_bus("home", *((core.mm2s[0], [tile.s2mm[0]]) for core in cores), keep_headers=True)
    parts = [tile.write(tile.buffer(name, WORDS)) for name in "ab"]
    places = tile.s2mm[0].start_out_of_order(*parts, packets=3)
    for stream, core, place in zip(bus.streams, cores, places, strict=True):
        read = core.read(core.buffer("part", WORDS, data=np.arange(WORDS)))
        core.mm2s[0].start(stream.packets(read, bd=place))
    finding = only(array)
    assert finding.message == (
        "memory(0,1) S2MM 0 ('a', 'b') waits for more packets than are sent to it: 2 came."
    )
    assert finding.fix == "Let it take 2 packets, or send the others."


def test_two_object_fifos_of_which_neither_has_a_first_object() -> None:
    array = Array("npu1", columns=1)
    low, high = array.compute_tile(0, 2), array.compute_tile(0, 3)
    up, down = array.object_fifo("up", low, high, shape=8), array.object_fifo("down", high, low, shape=8)

    def kernel(takes: ObjectFifo, gives: ObjectFifo) -> Kernel:
        def run(core: Core) -> Iterator[Action]:
            yield core.acquire(takes.consumers[0].full)
            yield core.acquire(gives.producer.free)
            yield core.release(gives.producer.full)

        return run

    low.run_kernel(kernel(down, up))
    high.run_kernel(kernel(up, down))
    finding = only(array)
    first = "core (0, 2) (kernel 'run') one into @up before it takes from @down"
    assert f"put an object before its first take: {first}, or core (0, 3)" in finding.fix
    assert finding.fix.endswith("; or give @down or @up a first object.")


def test_a_ring_of_cores_without_a_first_one_is_told_where_to_begin() -> None:
    array = Array("npu1", columns=1)
    cores = [array.compute_tile(0, row) for row in (2, 3, 4)]
    locks = [cores[1].lock(0, "a"), cores[2].lock(0, "b"), cores[1].lock(0, "c")]

    def kernel(take: Lock, give: Lock) -> Kernel:
        def run(core: Core) -> Iterator[Action]:
            yield core.acquire(take)
            yield core.release(give)

        return run

    for number, core in enumerate(cores):
        core.run_kernel(kernel(locks[number - 1], locks[number]))
    finding = only(array)
    assert finding.code == "MT0303"
    assert finding.fix.startswith("Initialise one of them to a value above 0: lock 1 'c' of tile (0, 3), ")
