"""Does a run under flips that the code corrects differ in nothing that anybody can read?"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.arch.protection import CELLS
from memtile.arch.tiles import MEMORY
from memtile.model.memory.ecc import Fate
from memtile.sim.loop.untimed import run_untimed
from memtile.sim.loop.upsets import Upset
from memtile.testing.rig import Rig
from support.designs.random_designs import Design, build, designs

CYCLES = 300
USED = 1200  # words that the designs touch
WORDS = st.integers(0, USED - 1)
FLIPS = st.lists(
    st.builds(lambda c, w, b: Upset(c, 0, w, (b,)), st.integers(0, CYCLES), WORDS, st.integers(0, CELLS - 1)),
    max_size=40,
    unique_by=lambda upset: upset.word,
)


def seen(rig: Rig) -> list[object]:
    """What a run leaves for software and the streams."""
    channels = range(2 * MEMORY.channels)
    return [
        rig.now,
        rig.memory(0, USED).tolist(),
        [rig.sent(ch) for ch in channels],
        [rig.status(ch) for ch in channels],
        rig.engine.state.spent.tolist(),
    ]


@pytest.mark.slow
@given(designs(), FLIPS)
@settings(max_examples=60, deadline=None)
def test_single_flips_change_no_word_and_no_cycle(design: Design, upsets: list[Upset]) -> None:
    alone, hurt = build(design), build(design)
    hurt.engine.upsets.add(upsets)
    for rig in (alone, hurt):
        rig.engine.run(CYCLES)
    assert seen(hurt) == seen(alone)
    fates = [hurt.engine.upsets.fate(upset) for upset in hurt.engine.upsets.struck]
    assert all(fate & ~(Fate.CORRECTED | Fate.OVERWRITTEN) == 0 and fate for fate in fates)


@pytest.mark.slow
@given(designs(), FLIPS)
@settings(max_examples=60, deadline=None)
def test_the_untimed_run_corrects_as_the_engine_does(design: Design, upsets: list[Upset]) -> None:
    alone, hurt = build(design), build(design)
    hurt.engine.upsets.add([upset._replace(cycle=0) for upset in upsets])
    for rig in (alone, hurt):
        run_untimed(rig.engine, limit=5000)
    assert seen(hurt) == seen(alone)


@given(st.lists(st.tuples(WORDS, st.integers(0, 5), st.integers(0, CELLS - 1)), max_size=60))
@settings(max_examples=60, deadline=None)
def test_the_count_of_unclean_words_is_right_after_any_accesses(steps: list[tuple[int, int, int]]) -> None:
    """An unclean word that is not counted would be read as it is; a clean one that is costs time for ever."""
    rig = Rig()
    for word, what, cell in steps:
        rig.engine.upsets.add([Upset(rig.now, 0, word, (cell,))])
        rig.engine.upsets.strike()
        if what == 0:
            rig.door.write32(4 * word, cell)
        elif what == 1:
            rig.door.write_bytes(4 * word + 1, bytes(5))
        elif what == 2:
            rig.fill(word // 2, range(cell))
        elif what == 3:
            rig.memory(word, 3)
        counted = int(rig.engine.state.guards.inspected[0])
        assert counted == int((rig.engine.state.flips != 0).sum())
