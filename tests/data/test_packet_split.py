"""Does a packet split give each tiling to the stream that its packet_port_id names?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile import Array, TilingParameters

SIZE, BAND = 16, 8


@pytest.mark.feature("F44")
@pytest.mark.parametrize("ports", [(0, 1), (1, 0)])
def test_a_tiling_goes_to_the_target_of_its_port(ports: tuple[int, int]) -> None:
    """The bands of a matrix over one link, whichever of them is sent first."""
    array = Array("npu1", columns=1)
    source, targets = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 4)]
    matrix = np.arange(SIZE * SIZE, dtype=np.int32).reshape(SIZE, SIZE)
    whole = source.buffer("matrix", (SIZE, SIZE), data=matrix)
    bus = array.packet_bus("split", *((source.mm2s[0], [target.s2mm[0]]) for target in targets))
    tilings = [
        TilingParameters((SIZE, SIZE), (BAND, SIZE), offset=(BAND * n, 0), packet_port_id=port)
        for n, port in enumerate(ports)
    ]
    source.mm2s[0].start(*bus.split(whole, tilings))
    for n, port in enumerate(ports):
        band = targets[port].buffer("band", (SIZE, BAND))
        targets[port].s2mm[0].start(targets[port].write(band))
        targets[port].expect(band, matrix[:, BAND * n : BAND * (n + 1)])
    assert array.run().good


def test_packets_from_an_interface_tile_keep_their_headers_until_they_arrive() -> None:
    """The header chooses at each switch; the one that leaves the interface tile upwards is not the last."""
    array = Array("npu1", columns=1)
    outside, targets = array.interface_tile(0), [array.compute_tile(0, row) for row in (2, 4)]
    data = [np.arange(8, dtype=np.int32) + 100 * n for n in range(2)]
    bus = array.packet_bus("up", *((outside.mm2s[0], [target.s2mm[0]]) for target in targets))
    for n, (stream, target) in enumerate(zip(bus.streams, targets, strict=True)):
        outside.mm2s[0].start(stream.packets(outside.read(array.external(f"d{n}", data[n]))))
        buffer = target.buffer("got", 8)
        target.s2mm[0].start(target.write(buffer))
        target.expect(buffer, data[n])
    assert array.run().good
