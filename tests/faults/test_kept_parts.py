"""Does what is kept from one design to the next give every design its own?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile import Array, Descriptor, DescriptorError, MemoryTile, TransferError, view
from memtile.access.lowering.certificate import proofs
from memtile.access.lowering.lower import lower
from memtile.access.tiling import TilingParameters


def _moved(count: int, first: int) -> Array:
    array = Array("npu1", columns=2)
    data = np.arange(first, first + 64, dtype=np.int32)
    tile, other = array.memory_tile(0), array.memory_tile(1)
    for _ in range(count):
        tile.buffer(f"before {_}", 64)  # so that the buffer lies elsewhere
    kept = tile.buffer("kept", (8, 8), data=data.reshape(8, 8))
    tile.mm2s[0].start(tile.read(kept, view((8, 8)).T))
    came = other.buffer("came", (8, 8))
    other.s2mm[0].start(other.write(came))
    other.expect(came, data.reshape(8, 8).T)
    array.connect(tile.mm2s[0], other.s2mm[0])
    return array


def test_designs_that_are_alike_move_their_own_data_from_their_own_places() -> None:
    for count, first in ((0, 0), (3, 1000), (0, 2000), (3, 3000)):
        assert _moved(count, first).run().exact


def test_a_lowering_lies_where_its_buffer_does() -> None:
    request = TilingParameters((8, 8), (4, 8)).over((8, 8)).request(32)
    with proofs() as found:
        places = [[d.address for d in lower(request, address=at).descriptors] for at in (0, 640, 0, 64)]
    assert places == [[0], [640], [0], [64]]
    assert [each.words for each in found] == [32] * 4  # each has its proof, the known ones too
    with pytest.raises(TransferError):
        lower(request, address=(1 << 19) - 4)  # beyond the last window
    assert lower(request, address=640).descriptors[0].address == 640


@pytest.mark.parametrize("length", [True, 16.0, np.float32(16)])
def test_a_number_of_another_type_is_refused_after_its_equal_was_taken(length: object) -> None:
    tile = MemoryTile()
    kept = tile.buffer("kept", 64)
    for known in (16, 1):
        tile.write_bd(3, Descriptor("memory", known, kept.dma_address))
    with pytest.raises(DescriptorError, match="Buffer_Length"):
        tile.write_bd(3, Descriptor("memory", length, kept.dma_address))  # type: ignore[arg-type]


def test_an_array_of_zeros_is_one_that_nobody_has_written() -> None:
    first = Array("npu1", columns=1)
    first.engine.state.memory[:] = 7
    del first
    assert not Array("npu1", columns=1).engine.state.memory.any()
