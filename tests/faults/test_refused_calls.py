"""Does a call of the Python API that is refused say why, and leave the tile as it was?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile import Descriptor, MemoryTile
from memtile.arch.register_map import register_named
from memtile.bd.windows import OWN
from memtile.errors import DescriptorError, DesignError

TOO_WIDE = Descriptor("memory", 8, OWN.address(0), dims=((1, 2000),))


def test_a_refused_chain_tells_all_its_problems_takes_no_bd_and_writes_no_register() -> None:
    tile = MemoryTile()
    good = tile.read(tile.buffer("b", 8))
    with pytest.raises(DescriptorError) as caught:
        tile.mm2s[0].start(good, TOO_WIDE, TOO_WIDE.but(length=1 << 17))
    assert [p.message.partition(": ")[0] for p in caught.value.problems] == [
        "memory tile, BD 1",
        "memory tile, BD 2",
        "memory tile, BD 2",
    ]
    assert tile.door.read32(register_named("memory_tile", "DMA_BD0_0").offset) == 0
    assert tile.mm2s[0].start(good) == (0,)


@pytest.mark.parametrize("method", ["write_bd", "start"])
def test_a_descriptor_of_another_tile_kind_is_refused(method: str) -> None:
    tile = MemoryTile()
    other = Descriptor("compute", 8, OWN.address(0))
    with pytest.raises(DescriptorError) as caught:
        tile.write_bd(0, other) if method == "write_bd" else tile.mm2s[0].start(other)
    assert str(caught.value) == (
        "memory tile, BD 0: the descriptor is for kind compute, the tile is of kind memory "
        "(AM025: BDs differ by tile kind)."
    )


@pytest.mark.parametrize("data", [[1, 300], [0.5, 1.0], [float("nan"), 1.0]])
def test_values_that_the_buffer_cannot_hold_are_refused_and_nothing_is_stored(data: list[float]) -> None:
    tile = MemoryTile()
    buffer = tile.buffer("b", 4, np.int8, data=np.full(4, 7, np.int8))
    given = np.array([*data, 0, 0])
    with pytest.raises(DesignError) as caught:
        tile.store(buffer, given)
    assert str(caught.value) == (
        f"memory tile, buffer b: the data is {given.dtype} with values that int8 does not hold exactly "
        "(NumPy). Convert them yourself."
    )
    assert (tile.load(buffer) == 7).all()


@pytest.mark.parametrize(
    ("data", "dtype"), [([1.0, -2.0], np.int32), ([1, -2], np.float32), ([float("nan"), 1.5], np.float32)]
)
def test_values_that_it_can_hold_are_stored_whatever_their_type(data: list[float], dtype: type) -> None:
    tile = MemoryTile()
    buffer = tile.buffer("b", 2, dtype)
    tile.store(buffer, np.array(data))
    np.testing.assert_array_equal(tile.load(buffer), data)
