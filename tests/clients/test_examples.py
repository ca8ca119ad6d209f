"""Do the examples do what their first lines say?"""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from memtile import MemoryTile, Status
from memtile.arch.tiles import MEMORY
from memtile.model.state.causes import Cause
from memtile.testing import feature_map

EXAMPLES = Path(__file__).parents[2] / "examples"


def made(name: str) -> MemoryTile:
    tile = runpy.run_path(str(EXAMPLES / name))["design"]()
    assert isinstance(tile, MemoryTile)
    return tile


@pytest.mark.feature("F05", "F07", "F14", "F26")
def test_halo_tiling_is_bit_exact_through_all_twelve_channels_and_all_descriptors() -> None:
    tile = made("halo_tiling.py")
    assert [tile.bd_pool.free(channel) for channel in (0, 1)] == [0, 0]
    result = tile.run()
    assert result.status is Status.FINISHED
    assert result.exact
    assert [c.elements for c in result.checks] == [4 * 7 * 18 * 21 * 8] * 6
    assert [use.name for use in result.channels] == [c.name for c in (*tile.s2mm, *tile.mm2s)]
    assert all(sum(use.spent.values()) == result.cycles for use in result.channels)
    assert all(use.spent[Cause.LOCK_ACQUIRE] for use in result.channels)


def test_halo_tiling_without_a_clock_gives_the_same_bytes() -> None:
    moved: list[int] = []
    timed = made("halo_tiling.py").run()
    untimed = made("halo_tiling.py").run(untimed=True, progress=moved.append)
    assert moved == sorted(moved)
    assert moved[-1] >= sum(use.words for use in timed.channels)  # short BDs count as longer ones
    assert untimed.exact
    assert untimed.cycles == 0
    for port, words in timed.outputs.items():
        np.testing.assert_array_equal(untimed.outputs[port], words)


@pytest.mark.feature("F02", "F05")
def test_the_headline_of_the_manual_is_reached() -> None:
    result = made("headline.py").run()
    assert result.exact
    peak = MEMORY.channels * 4.0
    for direction in ("S2MM", "MM2S"):
        assert result.bytes_per_cycle(direction) >= 0.995 * peak
        assert result.gigabytes_per_second(direction) == pytest.approx(30, rel=0.005)


@pytest.mark.feature("F35")
def test_v2_frames_an_image_with_a_constant_at_two_words_per_cycle(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runpy.run_path(str(EXAMPLES / "v2_padding.py"), run_name="__main__")  # it checks itself against NumPy
    assert capsys.readouterr().out.splitlines()[-1] == "128 words in 64 beats, 8 bytes per cycle"


def test_the_feature_map_is_nowhere_zero_so_that_padding_stands_out() -> None:
    picture = feature_map(112, 8)
    assert picture.shape == (112, 112, 8)
    assert picture.dtype == np.int8
    assert (picture != 0).all()
    assert len(np.unique(picture)) > 50
    assert (feature_map(112, 8, 1) != picture).any()
