"""Are the words that left a port those of its blocks, whenever somebody looks, and as often as they came?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.sim.ports import port_buffers
from memtile.sim.ports.collected import Caught, Filled
from memtile.testing.rig import Rig

BLOCK = np.arange(20, dtype=np.uint32)
NONE = np.zeros(0, np.int64)


def test_words_that_came_again_stand_where_they_came() -> None:
    """Words 2, 3 and 4 came three times in all, and so did 7; TLAST is on 4 and on 8."""
    caught = Caught()
    caught.fill(Filled(BLOCK, 9, np.array([4, 8]), [(5, 3, 2), (8, 1, 2)]))
    assert len(caught) == 9 + 6 + 2
    expected = [0, 1, 2, 3, 4, 2, 3, 4, 2, 3, 4, 5, 6, 7, 7, 7, 8]
    assert caught.so_far().words().tolist() == expected
    ends = [int(word in (4, 8)) for word in expected]
    assert caught.so_far().tlasts().tolist() == ends


def test_what_comes_later_follows_whoever_has_looked() -> None:
    caught = Caught()
    caught.fill(Filled(BLOCK, 3, NONE, ()))
    before = caught.so_far()
    caught.fill(Filled(BLOCK[3:], 2, NONE, ()))
    caught.append(np.array([90], np.uint32), NONE)
    assert before.words().tolist() == [0, 1, 2]
    assert caught.so_far().words().tolist() == [0, 1, 2, 3, 4, 90]
    assert len(caught) == 6


def test_a_block_that_nobody_looked_at_is_one_piece() -> None:
    caught = Caught()
    for first in range(0, 20, 5):
        caught.fill(Filled(BLOCK[first:], 5, NONE, ()))
    (piece,) = caught.so_far().pieces()
    assert np.shares_memory(piece.words, BLOCK)
    assert piece.words.tolist() == BLOCK.tolist()


def test_blocks_that_are_parts_of_one_do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last word of a block and the first of the next one belong to two channels."""
    monkeypatch.setattr(port_buffers, "LEAST_BLOCK", 8)
    for longest in (1 << 25, 4):
        monkeypatch.setattr(port_buffers, "LONGEST", longest)
        rig = Rig()
        for ch in (6, 7):
            rig.catch(ch)
        rig.engine.run(300)
        at, room = rig.engine._ports.sink_words, rig.engine._ports.sink_room
        assert room[6] == room[7] == 8
        assert abs(int(at[7] - at[6])) >= 32
        ends = rig.engine._ports.sink_ends
        assert abs(int(ends[7] - ends[6])) >= 8 * port_buffers.ENDS
