"""Do copies that are cut into strips move every word as the walk says, and are no others cut?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.access import move
from memtile.access.move import LINE_BYTES, Strips, copy, gather, lines_side_by_side, scatter, strips
from memtile.access.walk import PAD, Walk, addresses
from memtile.bd.descriptor import Descriptor, Dim
from memtile.bd.windows import OWN
from memtile.sim.loop.untimed import run_untimed
from memtile.testing.rig import Rig

HELD = np.random.default_rng(16).integers(0, 1 << 32, 1 << 18, np.uint32)
TRANSPOSES = {
    "square of a power of two": Walk(0, 256 * 256, (256, 1), (256,)),
    "rows of the last strip are fewer": Walk(5, 131 * 509, (512, 1), (131,)),
    "the length cuts a row": Walk(3, 131 * 509 - 77, (512, 1), (131,)),
    "prime numbers": Walk(0, 997 * 131, (131, 1), (997,)),
    "one place for all lines": Walk(7, 33 * 127, (1024, 1), (33,)),
    "a stream at a power of two": Walk(0, 256 * 100, (100, 1), (256,)),
    "planes": Walk(0, 63 * 7 * 5, (1024, 1, 7), (63, 7)),
    "runs of four": Walk(0, 4 * 77 * 31, (1, 1024, 4), (4, 77)),
    "columns that come again": Walk(0, 3 * 100 * 50, (1024, 0, 1), (100, 3)),
    "columns over each other": Walk(3, 64 * 1000, (128, 1), (64,)),
    "planes over each other": Walk(0, 32 * 16 * 70, (256, 1, 4), (32, 16)),
    "padded": Walk(0, 131 * 40, (512, 1), (129, 38), (1, 1), (1, 1)),
}
NOT_CUT = ("a stream at a power of two", "columns over each other", "planes over each other")
SCATTERED = {
    "square of a power of two": Strips(0, 32),
    "a stream at a power of two": Strips(0, 32),
    "one place for all lines": Strips(0, 0),
}


@pytest.fixture
def cuts(monkeypatch: pytest.MonkeyPatch) -> list[Strips]:
    """How copies are cut."""
    made: list[Strips] = []

    def noted(to: move.Words, source: move.Words, cut: Strips) -> None:
        made.append(cut)
        copy(to, source, cut)

    monkeypatch.setattr(move, "copy", noted)
    return made


@pytest.mark.parametrize("name", TRANSPOSES)
def test_gather_takes_the_words_of_the_walk(name: str, cuts: list[Strips]) -> None:
    walk = TRANSPOSES[name]
    order = addresses(walk)
    expected = np.where(order == PAD, np.uint32(9), HELD[np.maximum(order, 0)])
    assert np.array_equal(gather(HELD, walk, pad=9), expected)
    assert any(cut.width for cut in cuts) or name in NOT_CUT


@pytest.mark.parametrize("name", [name for name in TRANSPOSES if "again" not in name])
def test_scatter_puts_the_words_where_the_walk_goes(name: str, cuts: list[Strips]) -> None:
    walk = TRANSPOSES[name]
    order = addresses(walk)
    data, found = HELD[: walk.length][::-1].copy(), np.arange(len(HELD), dtype=np.uint32)
    expected = found.copy()
    expected[order[order != PAD]] = data[order != PAD]
    scatter(found, walk, data)
    assert np.array_equal(found, expected)
    if name in SCATTERED:
        assert cuts == [SCATTERED[name]]


def test_words_over_each_other_are_written_in_parts_that_are_not(cuts: list[Strips]) -> None:
    walk = TRANSPOSES["columns over each other"]
    scatter(HELD.copy(), walk, HELD[: walk.length])
    assert len(cuts) == 8  # of 125 columns: the next words after 128 come to the first ones' place
    cuts.clear()
    scatter(HELD.copy(), Walk(0, 8192, (1, 1, 64), (64, 32)), HELD[:8192])  # within a plane already
    scatter(HELD.copy(), Walk(0, 8192, (64, 1), (8,)), HELD[:8192])  # parts of 512 words
    assert cuts == []


def test_words_of_the_memory_itself_are_copied_before_they_change() -> None:
    walk = TRANSPOSES["square of a power of two"]
    memory = HELD.copy()
    scatter(memory, walk, memory[: walk.length])
    assert np.array_equal(memory[addresses(walk)], HELD[: walk.length])


@pytest.mark.parametrize(
    ("counts", "step", "expected"),
    [
        ((512, 256), 2048, Strips(1, 16)),
        ((512, 25), 2048, Strips(1, 16)),
        ((512, 24), 2048, Strips(0, 0)),  # of a strip and a half, all lines stay near
        ((1024, 128), 4096, Strips(1, 16)),  # there is room for 8 lines: too short for a row
        ((1024, 128), 1 << 20, Strips(1, 16)),
        ((360, 360), 1440, Strips(0, 0)),
        ((131, 769), 131 * 4, Strips(1, 512)),
        ((131, 768), 131 * 4, Strips(0, 0)),
        ((1, 997), 131 * 4, Strips(0, 0)),  # no row comes after
        ((512, 256), 4, Strips(0, 0)),  # lines are read as a whole
    ],
)
def test_a_copy_is_cut_where_its_lines_have_no_room(
    counts: tuple[int, int], step: int, expected: Strips
) -> None:
    assert strips(counts, (counts[1] * 4, 4), (4, step)) == expected


def test_lines_that_are_used_once_or_twice_need_no_room() -> None:
    for beside in (LINE_BYTES, LINE_BYTES // 2, LINE_BYTES // 4 + 4):
        assert strips((512, 256), (1024, 4), (beside, 2048)) == Strips(0, 0)
    assert strips((512, 256), (1024, 4), (LINE_BYTES // 4, 2048)) == Strips(1, 16)


@pytest.mark.parametrize(
    ("step", "lines"), [(64, 512), (128, 256), (4096, 8), (8192, 8), (68, 512), (192, 512)]
)
def test_lines_at_a_power_of_two_share_their_place(step: int, lines: int) -> None:
    assert lines_side_by_side(step) == lines


def test_an_untimed_run_transposes_as_the_clock_does() -> None:
    """Words come in by columns and go out by columns again, of another shape."""
    rows, columns = 61, 41
    data = HELD[: rows * columns]
    held = np.zeros((columns, 1024), np.uint32)
    held[:, :rows] = data.reshape(rows, columns).T
    out = held[:37, :47].T.reshape(-1)

    def moved(untimed: bool) -> list[int]:
        rig = Rig()
        into = Descriptor("memory", len(data), OWN.address(0), dims=(Dim(1024, columns), Dim(1, 0)))
        rig.write_bd(0, into)
        rig.write_bd(1, Descriptor("memory", len(out), OWN.address(0), dims=(Dim(1024, 37), Dim(1, 0))))
        rig.feed(rig.s2mm(0), data)
        rig.catch(rig.mm2s(0))
        for ch, bd in ((rig.s2mm(0), 0), (rig.mm2s(0), 1)):
            rig.issue(ch, bd)
            run_untimed(rig.engine) if untimed else rig.engine.run(rig.now + 4 * len(data))
        assert np.array_equal(rig.memory(0, 1024 * columns), held.reshape(-1))
        return rig.sent(rig.mm2s(0))

    assert moved(untimed=True) == moved(untimed=False) == out.tolist()
