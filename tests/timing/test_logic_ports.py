"""Do streams of the programmable logic move by the width and the clock of their PLIO, to the cycle?"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtile import Array, one_writer
from memtile.arch.pl_interface import CLOCK_DIVISOR, DEFAULT_WIDTH, PLIO_WIDTHS
from memtile.arch.timing import ARRAY_CLOCK_MHZ
from memtile.design.logic_ports import PlioIn, PlioOut
from memtile.sim.skip.fast_forward import fast_forwarding

LATENCY = 4  # cycles from the slave to the master port of a switch, and out of it
AT_ONCE = {"width": 128, "mhz": ARRAY_CLOCK_MHZ}  # a sink that holds nothing up
Straight = tuple[Array, PlioIn, PlioOut]


def straight(
    count: int, tlast: Sequence[int] | None = None, out: dict[str, Any] | None = None, **of: Any
) -> Straight:
    """A PLIO whose words leave by another one beside it."""
    array = Array("xcve2802", 1)
    tile = array.interface_tile(0)
    into, from_it = tile.plio_in(0, **of), tile.plio_out(2, **(of if out is None else out))
    array.connect(into, from_it)
    into.feed(np.arange(count, dtype=np.uint32), tlast)
    return array, into, from_it


def expected(count: int, words: int, period: Fraction) -> list[int]:
    """Cycle of each word where nothing holds it up: a PLIO word is due a period after the one before."""
    begins, found = Fraction(0), []
    for first in range(0, count, words):
        cycle = begins // 1
        found += [int(cycle) + n + LATENCY for n in range(min(words, count - first))]
        begins += period
    return found


@pytest.mark.parametrize("width", PLIO_WIDTHS)
@pytest.mark.parametrize("mhz", [None, 625, 400, 200, 62.5])
def test_a_plio_word_crosses_in_each_period_of_its_clock(width: int, mhz: float | None) -> None:
    """128 bits at 312.5 MHz are four words every four cycles, which is all that a stream has (DEV-ADF-54)."""
    period = Fraction(ARRAY_CLOCK_MHZ) / Fraction(mhz or Fraction(ARRAY_CLOCK_MHZ, CLOCK_DIVISOR))
    array, into, from_it = straight(12, out=AT_ONCE, width=width, mhz=mhz)
    assert array.run().good
    if period >= width // 32:
        assert from_it.times().tolist() == expected(12, width // 32, period)
    else:  # the stream is slower: a word a cycle
        assert from_it.times().tolist() == list(range(LATENCY, LATENCY + 12))
    assert from_it.output().tolist() == list(range(12))
    assert (into.words, into.pending, from_it.words) == (12, 0, 12)


def test_words_at_250_mhz_come_every_four_nanoseconds_as_in_a_published_output() -> None:
    """2688, 2692, 2696 ns: Xilinx/xup_aie_training, fir_lowpass/aie/data/output_aie.txt, of 32 bits."""
    array, _, from_it = straight(8, mhz=250)
    array.run()
    assert set(np.diff(from_it.times_ps()).tolist()) == {4000}


def test_the_default_is_32_bits_at_a_quarter_of_the_clock() -> None:
    """UG1079 and UG1702."""
    _, into, _ = straight(1)
    assert (into.width, into.mhz) == (32, ARRAY_CLOCK_MHZ / 4) == (DEFAULT_WIDTH, 312.5)


def test_a_word_is_not_there_in_the_cycle_before() -> None:
    """At clk-1 a word has not left, at clk it has: the first one leaves in cycle 4, the second in cycle 8."""
    for cycles, words in ((4, 0), (5, 1), (8, 1), (9, 2)):
        array, _, from_it = straight(8, out=AT_ONCE)
        array.run(cycles)
        assert len(from_it.times()) == words, cycles


def test_tlast_ends_a_word_of_the_plio_early() -> None:
    """Words 0 and 1 are one of 128 bits (TKEEP 0x00FF of AM009); the next one comes a period later."""
    array, _, from_it = straight(6, [0, 1, 0, 0, 0, 1], out=AT_ONCE, width=128)
    array.run()
    assert from_it.times().tolist() == [4, 5, 8, 9, 10, 11]
    assert from_it.tlasts().tolist() == [0, 1, 0, 0, 0, 1]
    assert from_it.incomplete == 0


def test_stalls_are_cycles_of_the_clock_of_the_plio() -> None:
    """STALL:n of a CSV file (UG1076): 64 bits at 250 MHz come every 5 cycles, and n times 5 later."""
    array = Array("xcve2802", 1)
    tile = array.interface_tile(0)
    into, from_it = tile.plio_in(0, width=64, mhz=250), tile.plio_out(2, width=64, mhz=1250)
    array.connect(into, from_it)
    into.feed(np.arange(8, dtype=np.uint32), stalls=[2, 9, 0, 0, 3, 0, 0, 0])
    into.feed(np.arange(8, 10, dtype=np.uint32), stalls=[1, 0])
    array.run()
    begins = [10, 15, 35, 40, 50]
    assert from_it.times().tolist() == [LATENCY + begin + n for begin in begins for n in (0, 1)]
    assert from_it.times_ps()[:2].tolist() == [14 * 800, 15 * 800]
    assert into.blocked == 0


def test_words_that_fill_no_plio_word_are_counted() -> None:
    """DEV-ADF-56: they are out all the same."""
    array, _, from_it = straight(6, width=128)
    array.run()
    assert (from_it.incomplete, len(from_it.output())) == (2, 6)


def test_tlast_completes_a_word_of_the_sink_early() -> None:
    """Words come one a cycle; the sink completes a word of 128 bits every 20 cycles, by TLAST or by four."""
    array, _, from_it = straight(10, [0, 1] + [0] * 8, out={"width": 128, "mhz": 62.5}, width=32, mhz=1250)
    array.run()
    assert from_it.times().tolist() == [4, 5, 6, 7, 8, 25, 26, 27, 28, 45]


def test_a_slow_sink_holds_the_source_back() -> None:
    """The sink takes a word every ten cycles; what the ports hold comes at the pace of the source."""
    array, into, from_it = straight(120, width=128, out={"width": 32, "mhz": 125})
    assert array.run().good
    assert np.diff(from_it.times()).tolist() == [10] * 119
    assert into.blocked > 0
    free = straight(120, width=128)
    free[0].run()
    assert free[1].blocked == 0


def test_a_source_is_late_by_the_cycles_in_which_it_was_blocked() -> None:
    """128 bits at 312.5 MHz: 30 PLIO words begin in cycles 0, 4 to 116 if the FIFO always has room."""
    array, into, _ = straight(120, width=128, out={"width": 32, "mhz": 125})
    array.run()
    assert into.blocked > 100
    assert into.latest == 116 + into.blocked


@pytest.mark.parametrize("width", PLIO_WIDTHS)
def test_twelve_words_of_a_plio_wait_between_the_clocks(width: int) -> None:
    """AM020 1.5, Stream Switch Buffering and Latency; behind the FIFO, four words a port (DEV-ADF-54)."""
    words = width // 32
    array, into, _ = straight(200, width=width, out={"width": 32, "mhz": 0.1})
    array.run(1000)
    stored = int(array.engine.state.logic.stored[into.index])
    assert into.words == 1 + 4 + 4  # the sink has taken one
    assert stored == 12 * words - into.words % words  # what is left of a PLIO word takes a place
    free, unhindered, _ = straight(200, width=width, out=AT_ONCE)
    free.run(30)
    assert free.engine.state.logic.stored[unhindered.index] < words


def through_memory(count: int, fed: int, **of: Any) -> Straight:
    """PLIO to a memory tile and back, a block of so many words."""
    array = Array("xcve2802", 1)
    tile, shared = array.interface_tile(0), array.memory_tile(0)
    into, from_it = tile.plio_in(0, **of).named("input_0"), tile.plio_out(2, **of).named("output_0")
    block = shared.buffer("block", count)
    locks = one_writer(shared, "block", [shared.write(block)], [[shared.read(block)]])
    locks.start([shared.s2mm[0]], [shared.mm2s[0]])
    array.connect(into, shared.s2mm[0])
    array.connect(shared.mm2s[0], from_it)
    into.feed(np.arange(fed, dtype=np.uint32), stalls=np.arange(fed) % 3)
    return array, into, from_it


def test_stepping_equals_fast_forward() -> None:
    found = []
    for on in (True, False):
        array, _, from_it = through_memory(64, 64 * 40, width=64)
        with fast_forwarding(on):
            result = array.run()
        found.append((result.cycles, from_it.times().tolist(), result.channels))
    assert found[0] == found[1]
    assert len(found[0][1]) == 64 * 40


def test_what_keeps_time_from_being_skipped_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    array, _, _ = through_memory(64, 64 * 40, width=64)
    monkeypatch.setattr(array.engine.forward, "on", True)
    result = array.run()
    assert (result.jumped, result.kept_off) == (0, ("the programmable logic sends or takes words",))


def test_a_run_in_pieces_is_one_run() -> None:
    whole, _, at_once = through_memory(16, 64, width=128, mhz=400)
    whole.run()
    array, _, in_pieces = through_memory(16, 64, width=128, mhz=400)
    for _ in range(60):
        array.run(7)
    assert in_pieces.times().tolist() == at_once.times().tolist()


def test_a_saved_array_goes_on_as_if_it_had_not_been_saved(tmp_path: Path) -> None:
    whole, _, at_once = through_memory(16, 64, width=128, mhz=400)
    whole.run()
    array, _, _ = through_memory(16, 64, width=128, mhz=400)
    array.run(50)
    array.save(tmp_path / "array")
    again = Array.load(tmp_path / "array")
    from_it = again.interface_tile(0).plio_out(2, width=128, mhz=400)
    again.run()
    assert from_it.times().tolist() == at_once.times().tolist()
    assert from_it.output().tolist() == at_once.output().tolist()


def test_an_untimed_run_moves_the_same_words() -> None:
    array, into, from_it = through_memory(16, 64, width=128)
    result = array.run(untimed=True)
    assert result.good
    assert (from_it.output().tolist(), into.pending) == (list(range(64)), 0)


def test_words_are_moved_in_a_run_without_data() -> None:
    array, _, from_it = through_memory(16, 64)
    result = array.run(data=False)
    assert result.words_needed_by == ("streams of the programmable logic",)
    assert len(from_it.output()) == 64


def test_a_plio_word_of_aie_ml_v2_takes_a_cycle_for_each_32_bits() -> None:
    """DEV-ADF-55."""
    array = Array("xc2ve3858", 1)
    tile = array.interface_tile(0)
    into, from_it = tile.plio_in(0, width=128), tile.plio_out(2, width=128)
    array.connect(into, from_it)
    into.feed(np.arange(8, dtype=np.uint32), [0, 0, 0, 0, 0, 0, 0, 1])
    assert array.run().good
    assert np.diff(from_it.times()).tolist() == [1] * 7
    assert (from_it.output().tolist(), from_it.tlasts().tolist()) == (list(range(8)), [0] * 7 + [1])
