"""Does packet_port_id send and store packets of its port alone, and is it refused where it means nothing?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from memtile import Array, MemoryTile, MemtileError, TilingParameters, TraversingParameters
from memtile.design.packet_bus import PacketBus

SIZE, BAND = 16, 4
SOURCE = "(UG1603, tiling parameters: packet_port_id)"


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(MemtileError) as caught:
        call()
    return str(caught.value)


def band(port: int, at: int | None = None) -> TilingParameters:
    """Columns of a matrix of SIZE x SIZE, by the default of buffer_dimension."""
    first = BAND * (port if at is None else at)
    return TilingParameters(tiling_dimension=(BAND, SIZE), offset=(first, 0), packet_port_id=port)


def matrix() -> np.ndarray:
    return np.arange(SIZE * SIZE, dtype=np.int32).reshape(SIZE, SIZE)


@pytest.mark.feature("F44")
@pytest.mark.parametrize("ports", [(0, 1, 2), (2, 0, 1), (1, 1, 0)])
def test_a_read_of_a_port_is_for_the_target_of_that_port_alone(ports: tuple[int, ...]) -> None:
    array = Array("npu1", columns=1)
    source, targets = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 3, 4)]
    array.packet_bus("split", *((source.mm2s[0], [target.s2mm[0]]) for target in targets))
    whole = source.buffer("matrix", (SIZE, SIZE), data=matrix())
    source.mm2s[0].start(*(source.read(whole, band(port, at)) for at, port in enumerate(ports)))
    for port, target in enumerate(targets):
        mine = [matrix()[:, BAND * at : BAND * (at + 1)] for at, given in enumerate(ports) if given == port]
        if mine:
            came = target.buffer("came", (len(mine), SIZE, BAND))
            target.s2mm[0].start(target.write(came))
            target.expect(came, np.stack(mine))
    assert array.run().good


def merging() -> tuple[Array, Any, PacketBus, list[Any]]:
    array = Array("npu1", columns=1)
    shared, senders = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 3)]
    routes = ((sender.mm2s[0], [shared.s2mm[0]]) for sender in senders)
    bus = array.packet_bus("merge", *routes, keep_headers=True)
    return array, shared, bus, senders


@pytest.mark.feature("F44")
@pytest.mark.parametrize("ports", [(0, 1, 0, 1), (1, 0, 0, 1), (1, 1, 1, 0)])
def test_a_merge_stores_each_packet_where_the_tiling_of_its_port_says(ports: tuple[int, ...]) -> None:
    """The tilings of a port get the packets of its stream, in their order (DEV-TIL-3)."""
    array, shared, bus, senders = merging()
    into = shared.buffer("into", (SIZE, SIZE))
    places = bus.merge(into, [band(port, at) for at, port in enumerate(ports)])
    wanted = np.zeros((SIZE, SIZE), np.int32)
    for port, sender in enumerate(senders):
        sent = []
        for at, place in enumerate(places):
            if ports[at] == port:
                data = np.arange(SIZE * BAND, dtype=np.int32) + 1000 * (port + 1) + 100 * len(sent)
                block = sender.buffer(f"block {at}", SIZE * BAND, data=data)
                sent.append(place.packets(sender.read(block)))
                wanted[:, BAND * at : BAND * (at + 1)] = data.reshape(SIZE, BAND)
        sender.mm2s[0].start(*sent)
    shared.expect(into, wanted)
    assert array.run().good
    assert [place.stream.id for place in places] == list(ports)


def test_a_packet_for_a_place_is_one_descriptor_of_its_words() -> None:
    _, shared, bus, (sender, _) = merging()
    (place,) = bus.merge(shared.buffer("into", (SIZE, SIZE)), [band(0)])
    where = "compute(0,2) MM2S 0 -> memory(0,1) S2MM 0, BD 0"
    short = sender.read(sender.buffer("short", 8))
    assert refused(lambda: place.packets(short)) == (
        f"{where}: the transfer has 8 words; the packet that is stored here must have 64 words {SOURCE}."
    )
    two = sender.read(sender.buffer("pair", 32))
    two = type(two)(two.descriptors * 2)
    assert "the transfer has 2 BDs; the packet that is stored here must have one BD in one run" in refused(
        lambda: place.packets(two)
    )


def test_a_merge_needs_headers_and_one_channel() -> None:
    array = Array("npu1", columns=1)
    shared, workers = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 3)]
    split = array.packet_bus("split", *((shared.mm2s[0], [worker.s2mm[0]]) for worker in workers))
    into = workers[0].buffer("into", (SIZE, SIZE))
    assert refused(lambda: split.merge(into, [band(0), band(1)])).splitlines() == [
        "packet bus split: the streams of the tilings end in compute(0,2) S2MM 0, compute(0,3) S2MM 0; a "
        f"merge has one channel {SOURCE}.",
        "packet bus split: it drops the headers, by which the channel knows where a packet belongs "
        f"{SOURCE}. Make it with keep_headers=True.",
    ]
    assert "the packet_port_id of tiling 0 is 2, allowed are 0..1" in refused(
        lambda: split.merge(into, [band(2)])
    )


def test_a_port_without_a_packet_bus_is_refused_and_not_dropped() -> None:
    tile = MemoryTile()
    buffer = tile.buffer("b", (SIZE, SIZE))
    assert refused(lambda: tile.mm2s[1].start(tile.read(buffer, band(2)))) == (
        "MM2S 1: the tiling has packet_port_id 2, but the channel is on no packet bus, so nothing receives "
        f"packets of that port {SOURCE}. Join the channel to a packet bus, or leave out packet_port_id."
    )
    merge = (
        "S2MM 0: the tiling has packet_port_id 2, but a channel that receives knows packets by the "
        f"descriptors that they name {SOURCE}. Start it with bus.merge(buffer, tilings)."
    )
    write = tile.write(buffer, band(2))
    assert refused(lambda: tile.s2mm[0].start(write)) == merge
    assert refused(lambda: tile.s2mm[0].start_out_of_order(write, packets=1)) == merge
    lock = tile.lock(1)
    guarded = tile.read(buffer, band(0)).guarded(lock.acquire()).compressed()
    assert "the channel is on no packet bus" in refused(lambda: tile.mm2s[0].start(guarded, loop=True))


def test_a_port_of_another_channel_of_the_bus_is_refused() -> None:
    array = Array("npu1", columns=1)
    shared, workers = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 3)]
    array.packet_bus("both", *((shared.mm2s[n], [w.s2mm[0]]) for n, w in enumerate(workers)))
    buffer = shared.buffer("b", (SIZE, SIZE))
    assert refused(lambda: shared.mm2s[0].start(shared.read(buffer, band(1)))) == (
        "memory(0,1) MM2S 0: the tiling has packet_port_id 1, but the streams of packet bus both that it "
        f"sends are 0 {SOURCE}."
    )


def test_a_tiling_without_buffer_dimension_is_of_the_memory_object() -> None:
    """UG1603: when it is left out, the dimensions of the memory object are used."""
    tile = MemoryTile()
    whole = tile.buffer("matrix", (8, SIZE), data=matrix()[:8])
    tile.mm2s[0].start(tile.read(whole, TilingParameters(tiling_dimension=(2, 8), offset=(3, 0))))
    tile.mm2s[0].expect(np.ascontiguousarray(matrix()[:8, 3:5]))
    assert tile.run().good
    assert "tiling_dimension has 1 dimension; it must have 2" in refused(
        lambda: tile.read(whole, TilingParameters(tiling_dimension=(2,)))
    )
    assert "buffer_dimension is empty; it must have at least 1 dimension" in refused(
        lambda: TilingParameters(tiling_dimension=(2,)).request(32)
    )


def test_a_stride_beyond_everything_still_reads_what_a_tile_meets() -> None:
    """{8} in tiles of 4 from -16 on, 16 apart: the first is padding, the second data (DEV-TIL-2)."""
    tile = MemoryTile()
    row = tile.buffer("row", 8, data=np.arange(1, 9))
    loops = (TraversingParameters(0, 16, 2),)
    tile.mm2s[0].start(tile.read(row, TilingParameters((8,), (4,), (-16,), loops)))
    tile.mm2s[0].expect(np.array([0, 0, 0, 0, 1, 2, 3, 4], np.int32))
    assert tile.run().good
