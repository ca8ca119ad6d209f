"""Are the registers of an interface tile those that the open driver writes for streams of the logic?"""

from __future__ import annotations

import pytest

from memtile import Array
from memtile.design.tile import Tile

UPSIZER, DOWNSIZER, ENABLE = 0x33000, 0x33004, 0x33008  # aie-rt, xaie2ipugbl_params.h
AFTER_RESET = {UPSIZER: 0xDB, DOWNSIZER: 0x6DB, ENABLE: 0}


def read(tile: Tile) -> dict[int, int]:
    return {offset: tile.door.at_once().read32(offset) for offset in AFTER_RESET}


@pytest.mark.parametrize("device", ["xcve2802", "xc2ve3858"])
def test_widths_and_ports_are_those_of_the_driver(device: str) -> None:
    """aie-rt, xaie_plif.c: 1 = 64 bits, 0 = 32, a bit of a pair = 128; ports that come in are enabled."""
    array = Array(device, 1)
    tile = array.interface_tile(0)
    assert read(tile) == AFTER_RESET
    tile.plio_in(0)
    tile.plio_in(1, width=64)
    tile.plio_in(6, width=128)
    tile.plio_out(0)
    tile.plio_out(4, width=128)
    assert read(tile) == {
        UPSIZER: 0xDB & ~1 | 1 << 8,
        DOWNSIZER: 0x6DB & ~1 | 1 << 11,
        ENABLE: 0b11000011,
    }
