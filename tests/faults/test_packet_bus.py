"""Is a packet bus that the switches cannot carry refused, with what is full?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile import Array, Descriptor, MemtileError, TilingParameters
from memtile.bd.descriptor import Packet
from memtile.bd.windows import DmaAddress
from memtile.design.buffers import Buffer


def refused(call: object) -> str:
    with pytest.raises(MemtileError) as caught:
        call()  # type: ignore[operator]
    return str(caught.value)


def buffer_at(buffer: Buffer) -> DmaAddress:
    return DmaAddress(buffer.dma_address)


def test_more_streams_than_slots_of_a_slave() -> None:
    array = Array("npu1", columns=2)
    here, beside, above = (array.compute_tile(*place) for place in ((0, 2), (1, 2), (0, 3)))
    targets = [*here.s2mm, beside.s2mm[0], *above.s2mm]
    array.packet_bus("b", *((array.memory_tile(0).mm2s[0], [target]) for target in targets))
    assert refused(array.route) == (
        "packet bus b: compute(0,2) slave SOUTH0 needs 5 slots; it has 4 (AM020 chapter 2: packet-switched "
        "streams). Give streams to one destination ids that one mask matches, or send some another way."
    )


def test_streams_to_one_destination_share_a_slot() -> None:
    """Six streams leave a memory tile by one master, so one slot with a mask is enough there."""
    array = Array("npu1", columns=2)
    targets = [array.compute_tile(column, row).s2mm[0] for row in range(2, 5) for column in (0, 1)]
    array.packet_bus("b", *((array.memory_tile(0).mm2s[0], [target]) for target in targets))
    array.route()


def test_more_streams_than_ids() -> None:
    array = Array("npu1")
    tiles = [array.compute_tile(column, row) for column in range(4) for row in range(2, 6)]
    routes = [(channel, [array.memory_tile(0).s2mm[0]]) for tile in tiles for channel in tile.mm2s]
    routes.append((array.memory_tile(1).mm2s[0], [array.memory_tile(0).s2mm[0]]))
    assert refused(lambda: array.packet_bus("b", *routes)) == (
        "packet bus b: there are 33 streams, but only 32 ids (AM020 chapter 2: packet-switched streams)."
    )


def test_a_port_that_the_bus_does_not_have() -> None:
    array = Array("npu1", columns=1)
    memory = array.memory_tile(0)
    bus = array.packet_bus("b", (memory.mm2s[0], [array.compute_tile(0, 2).s2mm[0]]))
    buffer = memory.buffer("m", 16)
    tilings = [TilingParameters((16,), (8,), packet_port_id=n) for n in (0, 1, -1)]
    assert refused(lambda: bus.split(buffer, tilings)).splitlines() == [
        (
            "packet bus b: the packet_port_id of tiling 1 is 1, allowed are 0..0 (AM020 chapter 2: "
            "packet-switched streams)."
        ),
        (
            "packet bus b: the packet_port_id of tiling 2 is -1, allowed are 0..0 (AM020 chapter 2: "
            "packet-switched streams)."
        ),
    ]


def test_an_end_of_a_bus_is_not_free_for_a_circuit() -> None:
    array = Array("npu1", columns=1)
    memory, worker = array.memory_tile(0), array.compute_tile(0, 2)
    array.packet_bus("b", (memory.mm2s[0], [worker.s2mm[0]]))
    assert ": it has packet bus b (" in refused(lambda: array.connect(memory.mm2s[1], worker.s2mm[0]))


@pytest.mark.feature("F19")
def test_streams_with_different_sets_of_targets_share_an_arbiter_with_msels() -> None:
    array = Array("npu1", columns=1)
    memory, workers = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 3, 4)]
    first, second, third = (worker.s2mm[0] for worker in workers)
    bus = array.packet_bus(
        "b",
        (memory.mm2s[0], [first, second]),
        (memory.mm2s[0], [second, third]),
        (memory.mm2s[1], [first]),
        keep_headers=False,
    )
    data = np.arange(24, dtype=np.int32).reshape(3, 8)
    parts = [memory.buffer(f"part {n}", 8, data=data[n]) for n in range(3)]
    sent = [stream.packets(memory.read(part)) for stream, part in zip(bus.streams, parts, strict=True)]
    memory.mm2s[0].start(*sent[:2])
    for worker, words in zip(workers, (16, 16, 8), strict=True):
        came = worker.buffer("came", words)
        worker.s2mm[0].start(worker.write(came))
    memory.mm2s[1].start(sent[2])
    array.run()
    got = [set(worker.door.block_read32(worker.buffers[0].offset, 16).tolist()) for worker in workers]
    assert got[0] == {*data[0], *data[2]}
    assert got[1] == {*data[0], *data[1]}
    assert got[2] == {*data[1], 0}


def two_streams(*ids: int) -> tuple[Array, list[str]]:
    array = Array("npu1", columns=1)
    memory, workers = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 3)]
    array.packet_bus("b", *((memory.mm2s[n], [w.s2mm[0]]) for n, w in enumerate(workers)), ids=ids or None)
    return array, [f"memory(0,1) MM2S {n} -> compute(0,{2 + n}) S2MM 0" for n in range(2)]


def test_two_streams_with_one_id() -> None:
    rule = "(AM020 chapter 2: packet-switched streams)"
    _, (first, second) = two_streams()
    assert refused(lambda: two_streams(4, 4)) == (
        f"packet bus b: the id of {second} is 4, which is that of {first} {rule}. Give each stream "
        "an id of its own."
    )
    assert refused(lambda: two_streams(32, -1)).splitlines() == [
        f"packet bus b: the id of {first} is 32, allowed are 0..31 {rule}.",
        f"packet bus b: the id of {second} is -1, allowed are 0..31 {rule}.",
    ]
    assert (
        refused(lambda: two_streams(1))
        == f"packet bus b: there are 2 streams, but the number of ids is 1; each stream needs one {rule}."
    )


def test_packets_of_another_stream_are_told_before_they_go_astray() -> None:
    array, (first, _) = two_streams(9, 5)
    memory = array.memory_tile(0)
    buffer = memory.buffer("m", 16)
    stream = array.packet_bus("other", (memory.mm2s[2], [array.compute_tile(0, 4).s2mm[0]])).streams[0]
    memory.mm2s[1].start(memory.read(buffer), Descriptor("memory", 4, buffer_at(buffer), packet=Packet(9)))
    memory.mm2s[0].start(stream.packets(memory.read(buffer)))
    rule = "(AM020 chapter 2: packet-switched streams)"
    assert refused(array.run).splitlines() == [
        f"packet bus b: memory(0,1) MM2S 0 sends packets of id 0; it must send packets of ids 9 {rule}.",
        (
            "packet bus b: memory(0,1) MM2S 1 sends words without a header; it must send packets of "
            f"ids 5 {rule}."
        ),
        (
            "packet bus b: memory(0,1) MM2S 1 sends packets of id 9; it must send packets of ids 5 "
            f"{rule}. Id 9 is that of {first}."
        ),
    ]


def test_ids_that_the_design_chooses_are_those_of_the_headers() -> None:
    array, _ = two_streams(9, 5)
    memory, workers = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 3)]
    (bus,) = array.buses
    for n, worker in enumerate(workers):
        source = memory.buffer(f"m{n}", 8, data=np.arange(8) + 10 * n)
        memory.mm2s[n].start(bus.streams[n].packets(memory.read(source)))
        came = worker.buffer("came", 8)
        worker.s2mm[0].start(worker.write(came))
        worker.expect(came, np.arange(8) + 10 * n)
    assert [stream.id for stream in bus.streams] == [9, 5]
    assert array.run().good
