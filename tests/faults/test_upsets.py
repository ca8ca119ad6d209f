"""Does every upset that cannot happen get its clear error, with nothing scheduled?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile import MemoryTile
from memtile.design.array import Array
from memtile.errors import DesignError
from memtile.explore.campaign import campaign
from memtile.sim.loop.upsets import Upset, raining, scattered
from memtile.testing.rig import Rig


def messages(upsets: list[Upset], rig: Rig | None = None) -> list[str]:
    engine = (rig or Rig()).engine
    with pytest.raises(DesignError) as caught:
        engine.upsets.add(upsets)
    assert engine.upsets.next_cycle > 1 << 60
    return [problem.message for problem in caught.value.problems]


def test_all_problems_of_all_upsets_are_told_at_once() -> None:
    rig = Rig()
    rig.step(3)
    assert messages([Upset(2, 0, 1, (0,)), Upset(5, 0, 0x20000, (0,)), Upset(5, 0, 4, (39, -1))], rig) == [
        "upset of tile 0, word 0x1, cycle 2: cycle is 2; it must be 3 or later (the run is at that cycle).",
        "upset of tile 0, word 0x20000, cycle 5: word is 0x20000, allowed are 0x0..0x1ffff (AM020: ECC "
        "and parity of data memory).",
        "upset of tile 0, word 0x4, cycle 5: the wrong bits are 39, -1, allowed are one or more of "
        "0..38 (AM020: ECC and parity of data memory).",
    ]


def test_cells_that_a_word_does_not_have() -> None:
    parity, plain = Rig("compute"), Rig()
    plain.engine.without_protection()
    assert (
        "the wrong bits are 33, allowed are one or more of 0..32"
        in messages([Upset(0, 0, 0x1000, (33,))], parity)[0]
    )
    assert ("the wrong bits are 32, allowed are one or more of 0..31") in messages(
        [Upset(0, 0, 0, (32,))], plain
    )[0]
    assert "no bits are named" in messages([Upset(0, 0, 0, ())])[0]


def test_a_tile_that_is_not_there_or_has_no_memory() -> None:
    assert "tile is 1, allowed are 0..0" in messages([Upset(0, 1, 0, (1,))])[0]
    assert "the tile has no data memory" in messages([Upset(0, 0, 0, (1,))], Rig("interface"))[0]


def test_a_buffers_upset_names_buffer_and_word() -> None:
    tile = MemoryTile()
    buffer = tile.buffer("b", 4)
    with pytest.raises(DesignError, match=r"memory tile, buffer b: word is 4, allowed are 0\.\.3"):
        tile.upset(buffer, 0, 1, word=4)
    other = Array("npu1", columns=1).memory_tile(0)
    with pytest.raises(DesignError, match=r"buffer of the same tile"):
        other.upset(buffer, 0, 1)


def test_protection_is_taken_away_before_the_first_upset_or_not_at_all() -> None:
    rig = Rig()
    rig.engine.upsets.add([Upset(0, 0, 0, (1,))])
    rig.step()
    with pytest.raises(
        DesignError, match="protection cannot be taken away after 1 upsets, only before the first one"
    ):
        rig.engine.without_protection()


def test_random_upsets_that_do_not_fit_their_words_or_time() -> None:
    targets = Rig().engine.upsets.targets(0, 0, 10)
    with pytest.raises(DesignError) as caught:
        scattered(targets, range(5, 5), 11, bits=40, seed=0)
    assert [problem.reason for problem in caught.value.problems] == [
        "upset_number",
        "upset_cycles",
        "upset_bits",
    ]
    with pytest.raises(DesignError, match="rate is 0; it must be above 0"):
        raining(targets, range(9), 0, bits=1, seed=0)


def test_a_campaign_needs_words_to_hit() -> None:
    def one_word() -> MemoryTile:
        tile = MemoryTile()
        tile.mm2s[0].start(tile.read(tile.buffer("b", 1)))
        tile.mm2s[0].collect()
        return tile

    with pytest.raises(
        DesignError, match=r"number is 2, allowed are 1\.\.1, one for each word to choose from"
    ):
        campaign(one_word, 2)
    with pytest.raises(
        DesignError, match=("the design is of type ndarray; it must be a MemoryTile or an Array")
    ):
        campaign(lambda: np.zeros(3), 1)  # type: ignore[arg-type, return-value]
