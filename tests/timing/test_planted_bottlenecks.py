"""Does what a run says that it would save agree with the design in which only that is repaired?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from memtile import Array, End, Host, HostAction, bottleneck, view
from memtile.explain.limit import Resource
from memtile.explain.uneven import uneven_work
from memtile.explore import more_buffers
from memtile.kernels import Action, Core, Kernel

WORDS = 1024
_TENTH = 0.1


def pieces(words: int, *, device: str, out: bool, by_host: bool) -> Array:
    """External memory is read or written in pieces of so many words, in a chain or in tasks."""
    array = Array(device, columns=1)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    outside = array.external("outside", np.zeros(WORDS, np.int32))
    block = tile.buffer("block", WORDS, data=np.arange(WORDS))
    channel = door.s2mm[0] if out else door.mm2s[0]
    if out:
        array.connect(tile.mm2s[0], channel)
        tile.mm2s[0].start(tile.read(block))
    else:
        array.connect(channel, tile.s2mm[0])
        tile.s2mm[0].start(tile.write(block))
    moves = door.write if out else door.read
    parts = [moves(outside, view(WORDS)[at : at + words]) for at in range(0, WORDS, words)]

    def sequence(host: Host) -> Iterator[HostAction]:
        for part in parts:
            yield host.start(channel, part)
        yield host.wait()

    if by_host:
        array.host(sequence)
    else:
        channel.start(*parts)
    return array


@pytest.mark.parametrize(
    ("words", "device", "out", "by_host"),
    [
        (128, "npu1", False, False),
        (64, "npu2", True, False),
        (64, "npu1", False, True),
        (16, "npu2", True, True),
    ],
)
def test_small_pieces_of_external_memory_cost_what_one_piece_does_not(
    words: int, device: str, *, out: bool, by_host: bool
) -> None:
    made = [pieces(size, device=device, out=out, by_host=by_host) for size in (words, WORDS)]
    again = bottleneck(lambda: pieces(words, device=device, out=out, by_host=by_host).run())
    assert again.limit is not None
    assert again.limit.cycles is not None
    assert again.limit.resource == Resource.PIECES
    assert f"if its {'tasks' if by_host else 'pieces'} were one transfer" in again.limit.text
    cycles, other = (design.run().cycles for design in made)
    assert abs(again.limit.cycles - other) < _TENTH * (cycles - other)
    (finding,) = [each for each in again.findings if each.code == "MT0506"]
    assert f"Ask for more at a time: a BD moves {words} words" in finding.fix


def streams(count: int, beside: int = 0) -> Array:
    """Words go from external memory of an npu2 to a memory tile, over this many channels; others over one."""
    array = Array("npu2", columns=1)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    for number, size in enumerate([(1 << 15) // count] * count + [beside] * bool(beside)):
        fifo = array.object_fifo(f"in {number}", door, tile, shape=1024)
        go = fifo.forward(f"on {number}", array.compute_tile(0, 2 + number), depth=2)
        end = go.consumers[0]
        array.compute_tile(0, 2 + number).run_kernel(takes(end, size // 1024))
        source = array.external(f"data {number}", np.zeros(size, np.int32))
        fifo.producer.channel.start(door.read(source))
    return array


def through_logic(width: int) -> Array:
    """A memory tile sends words to the programmable logic, over a PLIO of so many bits."""
    array = Array("xcve2802", columns=1)
    tile, below = array.memory_tile(0), array.interface_tile(0)
    block = tile.buffer("block", 1024, data=np.zeros(1024, np.int32))
    array.connect(tile.mm2s[0], below.plio_out(0, width=width).named("results"))
    tile.mm2s[0].start(tile.read(block), repeat=4)
    return array


def test_a_plio_that_is_always_busy_is_compared_with_a_wider_one() -> None:
    result, other = bottleneck(lambda: through_logic(32).run()), through_logic(64).run().cycles
    assert result.limit is not None
    assert result.limit.cycles is not None
    assert result.limit.text.startswith(
        "Limited by streams outside of the design: results, which moves 32 bits every 4 cycles. "
        "Estimated with twice the width"
    )
    assert abs(result.limit.cycles - other) < _TENTH * (result.cycles - other)
    wide = bottleneck(lambda: through_logic(128).run()).limit
    assert wide is not None
    assert "results" not in wide.text


def takes(end: End, turns: int) -> Kernel:
    def body(core: Core) -> Iterator[Action]:
        for _ in range(turns):
            yield core.acquire(end.full)
            yield core.release(end.free)

    return body


def test_one_channel_of_two_words_a_beat_is_compared_with_two() -> None:
    result = bottleneck(lambda: streams(1).run())
    limit, other = result.limit, streams(2).run().cycles
    assert limit is not None
    assert limit.cycles is not None
    assert limit.text.startswith(
        "Limited by channels: interface_2p(0,0) MM2S 0 'in 0'. Estimated with two channels for each stream"
    )
    assert abs(limit.cycles - other) < _TENTH * (result.cycles - other)


def there_and_back(count: int, words: int = 1 << 15) -> Array:
    """Words go through the memory tile of an npu2 and back to external memory, over this many channels."""
    array = Array("npu2", columns=1)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    for number in range(count):
        size = words // count
        come = array.external(f"come {number}", np.zeros(size, np.int32))
        gone = array.external(f"gone {number}", np.zeros(size, np.int32))
        fifo = array.object_fifo(f"in {number}", door, tile, shape=1024)
        back = fifo.forward(f"out {number}", door)
        fifo.producer.channel.start(door.read(come))
        back.consumers[0].channel.start(door.write(gone))
    return array


@pytest.mark.parametrize("made", [streams, there_and_back])
def test_two_channels_are_no_faster_than_the_master_that_they_share(
    made: Callable[[int], Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMTILE_TIMING")
    result = bottleneck(lambda: made(1).run())
    limit, other = result.limit, made(2).run().cycles
    assert limit is not None
    assert limit.cycles is not None
    assert abs(limit.cycles - other) < _TENTH * result.cycles


def test_no_second_channel_is_counted_on_where_a_tile_has_none() -> None:
    limit = bottleneck(lambda: streams(1, beside=1024).run()).limit
    assert limit is not None
    assert "two channels for each stream" not in limit.text


def to_cores(*sizes: int, packets: bool) -> Array:
    """Cores get a part each, over one channel or over several."""
    array = Array("npu1", columns=1)
    tile, cores = array.memory_tile(0), [array.compute_tile(0, 2 + row) for row in range(len(sizes))]
    block = tile.buffer("block", (len(sizes), max(sizes)), data=np.zeros((len(sizes), max(sizes))))
    whole = view((len(sizes), max(sizes)))
    reads = [tile.read(block, whole[number, :words]) for number, words in enumerate(sizes)]
    if packets:
        bus = array.packet_bus("bus", *((tile.mm2s[0], [core.s2mm[0]]) for core in cores))
        tile.mm2s[0].start(*(stream.packets(read) for stream, read in zip(bus.streams, reads, strict=True)))
    for number, core in enumerate(cores):
        core.s2mm[0].start(core.write(core.buffer("part", sizes[number])))
        if not packets:
            array.connect(tile.mm2s[number], core.s2mm[0])
            tile.mm2s[number].start(reads[number])
    return array


@pytest.mark.parametrize("sizes", [(512, 512, 512, 512), (900, 500)])
def test_one_channel_for_receivers_is_compared_with_one_for_each(sizes: tuple[int, ...]) -> None:
    result = bottleneck(lambda: to_cores(*sizes, packets=True).run())
    limit, other = result.limit, to_cores(*sizes, packets=False).run().cycles
    assert limit is not None
    assert limit.cycles is not None
    assert limit.text.startswith(
        f"Limited by channels: memory(0,1) MM2S 0 'block' sends to {len(sizes)} others. Estimated"
    )
    assert abs(limit.cycles - other) < _TENTH * (result.cycles - other)


def small_objects(words: int) -> Array:
    """Words go through the memory tile of an npu1 and back to external memory, in objects of so many."""
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    come = array.external("come", np.zeros(1 << 16, np.int32))
    gone = array.external("gone", np.zeros(1 << 16, np.int32))
    fifo = array.object_fifo("come", door, tile, shape=words, depth=4)
    back = fifo.forward("gone", door)
    fifo.producer.channel.start(door.read(come))
    back.consumers[0].channel.start(door.write(gone))
    return array


def test_what_locks_and_ports_cost_at_each_descriptor_goes_with_its_switch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MEMTILE_TIMING")
    result, other = bottleneck(lambda: small_objects(8).run()), small_objects(256).run().cycles
    assert result.limit is not None
    assert result.limit.cycles is not None
    assert result.limit.resource == Resource.DESCRIPTORS
    assert abs(result.limit.cycles - other) < _TENTH * (result.cycles - other)
    assert "MT0502" in [finding.code for finding in result.findings]


def test_descriptors_that_save_far_less_than_channels_are_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMTILE_TIMING")
    result, other = bottleneck(lambda: small_objects(16).run()), small_objects(256).run().cycles
    assert other > (1 - _TENTH) * result.cycles
    assert result.limit is not None
    assert result.limit.resource == Resource.CHANNELS


def four_streams(*parts: int, columns: int = 2) -> Array:
    """Streams of so many words go to a core each, two or one from a column; a host starts all."""
    array, begun = Array("npu1", columns=columns), []
    for number, words in enumerate(parts):
        column, channel = number * columns // len(parts), number % (len(parts) // columns)
        door, core = array.interface_tile(column), array.compute_tile(column, 2 + channel)
        read = door.read(array.external(f"part{number}", np.zeros(words, np.int32)))
        takes = core.s2mm[0]
        array.connect(door.mm2s[channel], takes)
        takes.start(core.write(core.buffer("kept", 256)), repeat=words // 256)
        begun.append((door.mm2s[channel], read))

    def sequence(host: Host) -> Iterator[HostAction]:
        for channel, read in begun:
            yield host.start(channel, read)
            yield host.pause(1500)
        yield host.wait()

    array.host(sequence)
    return array


@pytest.mark.parametrize(
    ("parts", "columns", "resource", "name"),
    [
        (
            (512, 6656, 512, 512),
            2,
            Resource.STREAMS,
            "interface(0,0) MM2S 1 'part1' has 81% of the work of 4",
        ),
        ((512, 6656, 512, 512), 4, Resource.COLUMNS, "column 1 has 81% of the work of 4 columns"),
    ],
)
def test_words_that_are_split_unevenly_are_those_of_a_stream_or_of_a_column(
    parts: tuple[int, ...], columns: int, resource: Resource, name: str
) -> None:
    result = bottleneck(lambda: four_streams(*parts, columns=columns).run())
    even = four_streams(*[sum(parts) // 4] * 4, columns=columns).run().cycles
    assert result.limit is not None
    assert result.limit.cycles is not None
    assert result.limit.resource == resource
    assert result.limit.name.startswith(name)
    assert abs(result.limit.cycles - even) < _TENTH * (result.cycles - even)
    (finding,) = [each for each in result.findings if each.code == "MT0507"]
    assert f"{name[1:]}" in finding.message


def test_one_stream_for_the_cores_of_two_columns_is_no_uneven_split() -> None:
    array = Array("npu1", columns=2)
    tile, block = array.memory_tile(0), array.memory_tile(0).buffer("block", 2048)
    for number in range(4):
        core = array.compute_tile(number // 2, 2 + number % 2)
        array.connect(tile.mm2s[number], core.s2mm[0])
        core.s2mm[0].start(core.write(core.buffer("kept", 512)))
        tile.mm2s[number].start(tile.read(block, view(2048)[512 * number : 512 * number + 512]))
    tile.s2mm[0].start(tile.write(block))
    tile.s2mm[0].feed(np.arange(2048))
    assert uneven_work(array.run()) is None


def two_inputs(depth: int) -> Array:
    """A core computes from blocks of two object FIFOs, and sends a few words for each over a third one."""
    array = Array("npu1", columns=1)
    tile, core = array.memory_tile(0), array.compute_tile(0, 2)
    ends, shapes = [], {"left": 64, "right": 64}
    for name, shape in shapes.items():
        fifo = array.object_fifo(name, tile, core, shape=shape, depth=depth)
        fifo.producer.channel.start(tile.read(tile.buffer(name, 640, data=np.arange(640))))
        ends.append(fifo.consumers[0])
    done = array.object_fifo("done", core, tile, shape=4, depth=1)
    done.consumers[0].channel.start(tile.write(tile.buffer("all", 40)))

    def body(core: Core) -> Iterator[Action]:
        for _ in range(10):
            for end in ends:
                yield core.acquire(end.full)
            yield core.acquire(done.producer.free)
            yield core.cycles(60)
            yield core.release(done.producer.full)
            for end in ends:
                yield core.release(end.free)

    core.run_kernel(body)
    return array


def test_object_fifos_that_help_only_together_are_named_without_others() -> None:
    result, other = bottleneck(lambda: two_inputs(1).run()), two_inputs(2).run().cycles
    assert result.limit is not None
    assert (result.limit.resource, result.limit.name) == (Resource.BUFFERS, "'right' and 'left'")
    assert result.limit.cycles == other
    (finding,) = [each for each in result.findings if each.code == "MT0504"]
    assert finding.message.startswith("'right' and 'left' have too few buffers")
    assert finding.fix.startswith("Give 'right' and 'left' a second buffer each")


def test_single_object_fifos_are_tried_for_some_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(more_buffers, "SECONDS", -1.0)
    result = bottleneck(lambda: two_inputs(1).run())
    buffers = [each.what for each in result.lifted if each.resource == Resource.BUFFERS]
    every = "there was a second buffer for each of 'done', 'right' and 'left'"
    assert buffers == [f"{every}; not all were tried alone"]


def one_of_two(depth: int) -> Array:
    """Blocks come over two object FIFOs, the second of which has so many buffers; the core needs both."""
    array = Array("npu2", columns=1)
    tile, core = array.memory_tile(0), array.compute_tile(0, 2)
    ends = []
    for name, many in (("wide", 2), ("narrow", depth)):
        fifo = array.object_fifo(name, tile, core, shape=64, depth=many)
        fifo.producer.channel.start(tile.read(tile.buffer(name, 640, data=np.arange(640))))
        ends.append(fifo.consumers[0])

    def body(core: Core) -> Iterator[Action]:
        for _ in range(10):
            for end in ends:
                yield core.acquire(end.full)
            yield core.cycles(60)
            for end in ends:
                yield core.release(end.free)

    core.run_kernel(body)
    return array


def test_object_fifos_that_were_tried_in_time_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = iter([0.0] * 2)  # the clock is read as it starts, and before the first one that is tried alone
    monkeypatch.setattr(more_buffers, "spent", lambda: next(ends, more_buffers.SECONDS + 1))
    result, other = bottleneck(lambda: one_of_two(1).run()), one_of_two(2).run().cycles
    assert result.limit is not None
    assert (result.limit.resource, result.limit.name) == (Resource.BUFFERS, "'narrow'")
    assert result.limit.cycles == other
    assert any("not all were tried alone" in each.what for each in result.lifted)
