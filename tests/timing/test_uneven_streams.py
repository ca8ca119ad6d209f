"""Is a stream only said to have most of the work where an even split would really help?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from memtile import Array, Host, HostAction, bottleneck
from memtile.explain.limit import Resource
from memtile.explain.results import ChannelUse, CoreUse, Result
from memtile.explain.uneven import Takers, uneven_work
from memtile.kernels import Action, Core, Kernel
from memtile.model.state.causes import Cause, CoreCause

_TENTH = 0.1
PARTS = (512, 6656, 512, 512)


def computes(cycles: int) -> Kernel:
    def body(core: Core) -> Iterator[Action]:
        yield core.cycles(cycles)

    return body


def four_takers(
    *parts: int, busy: int = 0, lengths: tuple[int, ...] = (256,) * 4, shared: bool = False
) -> Array:
    """Streams of so many words go to a tile each or to one in a column; a core apart from them computes."""
    array, begun = Array("npu1", columns=2), []
    for number, words in enumerate(parts):
        column, channel = divmod(number, 2)
        door, core = array.interface_tile(column), array.compute_tile(column, 2 if shared else 2 + channel)
        takes = core.s2mm[channel if shared else 0]
        read = door.read(array.external(f"part{number}", np.zeros(words, np.int32)))
        array.connect(door.mm2s[channel], takes)
        length = lengths[number]
        takes.start(core.write(core.buffer(f"kept {channel}", length)), repeat=words // length)
        begun.append((door.mm2s[channel], read))
    if busy:
        array.compute_tile(0, 5).run_kernel(computes(busy))

    def sequence(host: Host) -> Iterator[HostAction]:
        for channel, read in begun:
            yield host.start(channel, read)
        yield host.wait()

    array.host(sequence)
    return array


def operands(names: tuple[str, ...], device: str = "npu1", work: int = 200) -> Array:
    """A core adds a scale to blocks of its data and sends them back; another one gets two small operands."""
    array, words, block, small = Array(device, columns=2), 16384, 256, 512
    doors = [array.interface_tile(column) for column in range(2)]
    core, side = array.compute_tile(0, 2), array.compute_tile(1, 2)
    ends = []
    for number, (name, size) in enumerate(zip(names, (block, small, small, small), strict=True)):
        door, taker = doors[number // 2], (core, side)[number // 2]
        fifo = array.object_fifo(name, door, taker, shape=size, depth=1 + (not number))
        source = array.external(f"outside {number}", np.zeros(small if number else words, np.int32))
        fifo.producer.channel.start(door.read(source))
        ends.append(fifo.consumers[0])
    back = array.object_fifo("back", core, doors[0], shape=block, depth=2)
    gone = array.external("gone", np.zeros(words, np.int32))
    back.consumers[0].channel.start(doors[0].write(gone))
    data, scale, *others = ends

    def adds(core: Core) -> Iterator[Action]:
        yield core.acquire(scale.full)
        for _ in range(words // block):
            yield core.acquire(data.full)
            yield core.acquire(back.producer.free)
            yield core.cycles(work)
            yield core.release(data.free)
            yield core.release(back.producer.full)

    def other(core: Core) -> Iterator[Action]:
        for end in others:
            yield core.acquire(end.full)
        yield core.cycles(work * words // block)

    core.run_kernel(adds)
    side.run_kernel(other)
    return array


def joined(*parts: int, device: str = "npu1") -> Array:
    """Streams of external memory meet in a memory tile, which sends all their words over one channel."""
    array, block, begun = Array(device, columns=2), 128, []
    tile, core, reads = array.memory_tile(0), array.compute_tile(0, 2), []
    for number, words in enumerate(parts):
        door, channel = array.interface_tile(number // 2), number % 2
        array.connect(door.mm2s[channel], tile.s2mm[number])
        buffers = [tile.buffer(f"block {number} {each}", block) for each in range(2)]
        free, full = tile.lock(2, f"free {number}"), tile.lock(0, f"full {number}")
        writes = (tile.write(each).guarded(free.acquire(), full.release()) for each in buffers)
        tile.s2mm[number].start(*writes, repeat=words // block // 2)
        reads.append([tile.read(each).guarded(full.acquire(), free.release()) for each in buffers])
        read = door.read(array.external(f"in{number}", np.arange(words, dtype=np.int32)))
        begun.append((door.mm2s[channel], read))
    array.connect(tile.mm2s[0], core.s2mm[0])
    for words, each in zip(parts, reads, strict=True):
        tile.mm2s[0].start(*each, repeat=words // block // 2)
    core.s2mm[0].start(core.write(core.buffer("kept", block)), repeat=sum(parts) // block)
    for sender, read in begun:
        sender.start(read)
    return array


def is_told(result: Result) -> bool:
    """Whether a run blames one of several streams, in its limit or in a finding."""
    assert result.limit is not None
    codes = [finding.code for finding in result.findings]
    return result.limit.resource == Resource.STREAMS or "MT0507" in codes


def test_a_stream_that_is_longer_than_those_of_other_takers_is_told() -> None:
    result = bottleneck(lambda: four_takers(*PARTS).run())
    even = four_takers(*[sum(PARTS) // 4] * 4).run().cycles
    assert is_told(result)
    assert result.limit is not None
    assert result.limit.cycles is not None
    assert abs(result.limit.cycles - even) < _TENTH * (result.cycles - even)


@pytest.mark.parametrize("device", ["npu1", "npu2"])
@pytest.mark.parametrize("names", [("in1", "in2", "in3", "in4"), ("data", "scale", "weights", "bias")])
def test_operands_of_one_core_are_not_alike_whatever_they_are_called(
    names: tuple[str, ...], device: str
) -> None:
    assert not is_told(bottleneck(lambda: operands(names, device).run()))


def test_cores_that_compute_for_most_of_a_run_come_before_a_stream() -> None:
    names = ("in1", "in2", "in3", "in4")
    result = bottleneck(lambda: operands(names, work=295).run())
    assert not is_told(result)
    assert result.limit is not None
    assert result.limit.resource == Resource.CORES


@pytest.mark.parametrize("device", ["npu1", "npu2"])
def test_streams_that_meet_in_one_tile_are_no_uneven_split(device: str) -> None:
    parts = 6656, 512, 512
    assert not is_told(bottleneck(lambda: joined(*parts, device=device).run()))
    cycles = [joined(*each, device=device).run().cycles for each in (parts, (2560,) * 3)]
    assert cycles[1] > (1 - _TENTH) * cycles[0]


def test_streams_for_descriptors_of_other_lengths_are_not_alike() -> None:
    lengths = 256, 512, 128, 256
    limit = bottleneck(lambda: four_takers(*PARTS, lengths=lengths).run()).limit
    assert limit is not None
    assert limit.resource != Resource.STREAMS


def test_operands_of_one_tile_are_not_alike_if_their_descriptors_are() -> None:
    limit = bottleneck(lambda: four_takers(*PARTS, shared=True).run()).limit
    assert limit is not None
    assert limit.resource != Resource.STREAMS


def test_an_even_split_of_streams_is_as_long_as_a_core_that_stays() -> None:
    first, even = (four_takers(*parts, busy=5000).run().cycles for parts in (PARTS, [sum(PARTS) // 4] * 4))
    found = bottleneck(lambda: four_takers(*PARTS, busy=5000).run()).limit
    assert found is not None
    assert found.cycles is not None
    assert found.resource == Resource.STREAMS
    assert abs(found.cycles - even) < _TENTH * (first - even)


def test_a_core_that_computes_longer_than_a_stream_moves_comes_first() -> None:
    moved = {Cause.MOVING: 800}, {Cause.MOVING: 100}, {Cause.MOVING: 100}
    uses = [
        ChannelUse(f"interface({n // 2},0) MM2S {n % 2}", "MM2S", each, 1, 1) for n, each in enumerate(moved)
    ]
    takers = {use.name: Takers(frozenset({f"(0, {n})"}), (("", (8,)),)) for n, use in enumerate(uses)}
    result = bottleneck(lambda: four_takers(*PARTS).run())
    for computing, is_stream in ((790, True), (810, False)):
        core = CoreUse("core (1, 2)", "work", {CoreCause.RUNNING: computing})
        run = replace(result, cycles=1000, channels=tuple(uses), cores=(core,))
        found = uneven_work(run, {}, takers)
        assert (found is not None and found.others == "streams") == is_stream
