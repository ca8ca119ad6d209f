"""Does a PLIO keep every word, and move it in the cycle of the rules of docs/timing.md?"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile import Array
from memtile.arch.pl_interface import PLIO_WIDTHS
from memtile.arch.timing import ARRAY_CLOCK_MHZ

LATENCY = 4  # cycles from the slave to the master port of a switch, and out of it


class Stream(NamedTuple):
    """What a PLIO carries: TLAST of each word, and the periods before each."""

    width: int
    mhz: float
    tlast: list[int]
    stalls: list[int]

    def cycles(self) -> list[int]:
        """In which each word leaves a sink that holds nothing up; the FIFO has room for all of them."""
        period, found = Fraction(ARRAY_CLOCK_MHZ) / Fraction(self.mhz), list[int]()
        crosses, part = 0, Fraction(0)  # of the PLIO word before: cycle, and what is left over of its due one
        for first, end in self.plio_words():
            due = part + (self.stalls[first] + (first > 0)) * period
            crosses, part = crosses + int(due), due % 1
            begins = max(crosses, found[-1] + 1 if found else 0)
            found += range(begins, begins + end - first)
        return [cycle + LATENCY for cycle in found]

    def plio_words(self) -> Iterator[tuple[int, int]]:
        """First word of each PLIO word, and the one behind its last."""
        first = 0
        for at, last in enumerate(self.tlast, 1):
            if last or at - first == self.width // 32 or at == len(self.tlast):
                yield first, at
                first = at


@st.composite
def carried(draw: st.DrawFn) -> Stream:
    """Anything that a PLIO can carry, of up to 24 words."""
    count = draw(st.integers(1, 24))
    mhz = draw(st.sampled_from([62.5, 100, 200, 300, 312.5, 400, 500, 625, 777, 1250]))
    tlast = draw(st.lists(st.integers(0, 1), min_size=count, max_size=count))
    stalls = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    return Stream(draw(st.sampled_from(PLIO_WIDTHS)), mhz, tlast, stalls)


@given(carried(), st.lists(st.integers(1, 9), max_size=4))
@settings(max_examples=25, deadline=None)
def test_each_word_leaves_in_the_cycle_of_the_rules(stream: Stream, pieces: list[int]) -> None:
    for runs in ([], pieces):
        array = Array("xcve2802", 1)
        tile = array.interface_tile(0)
        into, out = tile.plio_in(0, width=stream.width, mhz=stream.mhz), tile.plio_out(2, width=128, mhz=1250)
        array.connect(into, out)
        into.feed(np.arange(len(stream.tlast)), stream.tlast, stream.stalls)
        for cycles in runs:
            array.run(cycles)
        assert array.run().good
        assert out.output().tolist() == list(range(len(stream.tlast)))
        assert out.tlasts().tolist() == stream.tlast
        assert out.times().tolist() == stream.cycles()
        assert into.blocked == 0
