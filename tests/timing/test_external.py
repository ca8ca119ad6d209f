"""Is external memory as late, as wide and as bursty as the constants say, to the cycle?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.arch.tiles import MM2S, S2MM
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Axi, Dim, Release
from memtile.bd.windows import DmaLock
from memtile.explain.outcome import outcome
from memtile.model.column_clock import reset_tile
from memtile.model.state.causes import Cause
from memtile.sim.loop import compiled_model
from memtile.sim.loop.clock import Stop
from support.designs.interface_bench import Column, caught, fed, side_by_side

FIRST_REQUEST = Timing().task_start + 1  # the lock is granted one cycle earlier
LIMIT = 100_000


def source(column: Column, words: int = 1 << 14) -> int:
    return column.engine.external.add("source", np.arange(words, dtype=np.uint32)).at()


def timeline(column: Column, ch: int, cycles: int) -> str:
    row = []
    for _ in range(cycles):
        column.engine.run(column.engine.now + 1)
        row.append(Cause(int(column.engine.state.channels.why[ch])).letter)
    return "".join(row)


def sent_after(column: Column, ch: int, cycles: int) -> int:
    """Words sent by the end of cycle ``cycles``."""
    column.engine.run(cycles + 1)
    return len(column.engine.caught(ch))


@pytest.mark.parametrize("latency", [1, 2, 30, 100])
def test_the_first_word_leaves_the_latency_after_its_request(latency: int) -> None:
    """DEV-EXT-1."""
    column, ch = caught(timing=Timing(external_latency=latency))
    column.start(0, MM2S, 0, 0, 8, source(column))
    assert sent_after(column, ch, FIRST_REQUEST + latency - 1) == 0
    assert sent_after(column, ch, FIRST_REQUEST + latency) == 1


@pytest.mark.parametrize("latency", [1, 2, 30, 100])
def test_a_written_bd_is_done_when_its_last_write_is_answered(latency: int) -> None:
    """DEV-EXT-5: the last of eight words is collected in cycle 12 and written in cycle 13."""
    column, ch = fed(8, timing=Timing(external_write_latency=latency))
    memory = np.zeros(8, np.uint32)
    target = column.engine.external.add("target", memory)
    column.start(0, S2MM, 0, 0, 8, target.at(), release=Release(DmaLock(0), 1))
    written = FIRST_REQUEST + 8
    column.engine.run(written)
    assert memory.tolist() == [1, 2, 3, 4, 0, 0, 0, 0]
    column.engine.run(written + 1)
    assert memory.tolist() == list(range(1, 9))
    column.engine.run(written + latency)
    assert column.engine.state.channels.bds_done[ch] == 0
    assert column.engine.state.locks.value[0] == 0
    column.engine.run(written + latency + 1)
    assert column.engine.state.channels.bds_done[ch] == 1
    assert column.engine.state.locks.value[0] == 1


def test_a_read_bd_releases_its_lock_when_its_last_words_come() -> None:
    """DEV-EXT-5: also when nobody takes them."""
    column, ch = caught(timing=Timing(external_latency=50, external_burst_overhead=0))
    column.engine.pace(ch, np.zeros(1, np.int64))
    column.start(0, MM2S, 0, 0, 8, source(column), release=Release(DmaLock(0), 1))
    column.engine.run(FIRST_REQUEST + 1 + 50)
    assert column.engine.state.locks.value[0] == 0
    column.engine.run(FIRST_REQUEST + 1 + 50 + 1)
    assert column.engine.state.locks.value[0] == 1


def test_a_channel_sends_a_word_a_cycle_once_the_latency_is_covered() -> None:
    column, ch = caught()
    column.start(0, MM2S, 0, 0, 5000, source(column))
    latency = column.engine.timing.external_latency
    assert sent_after(column, ch, FIRST_REQUEST + latency + 4999) == 5000


def test_reads_run_ahead_only_as_far_as_the_buffer_holds() -> None:
    """Sixteen words are asked for in four beats and one burst; the next when the first word has left."""
    timing = Timing(external_latency=100, external_egress_words=16, external_burst_overhead=0)
    column, ch = caught(timing=timing)
    column.start(0, MM2S, 0, 0, 400, source(column))
    rounds = 4
    assert sent_after(column, ch, FIRST_REQUEST + rounds * 120) < rounds * 20
    row = int(column.engine.state.channels.external[ch])
    most = 0
    for _ in range(300):
        column.engine.run(column.engine.now + 1)
        held = column.engine.state.externals.buffered[row] + column.engine.state.fifos.held[ch]
        most = max(most, int(held))
    assert most == 16


def beats(column: Column, ch: int) -> int:
    """Beats that the channel has been granted."""
    x, row = column.engine.state.externals, int(column.engine.state.channels.external[ch])
    return int(x.head[row] + x.held[row])


def granted_in(column: Column, ch: int, cycles: int) -> list[int]:
    """Cycles in which the channel got a beat."""
    found, before = [], 0
    for cycle in range(cycles):
        column.engine.run(cycle + 1)
        if beats(column, ch) > before:
            found.append(cycle)
        before = beats(column, ch)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("burst", "length"), [(64, 4), (128, 8), (256, 16)])
@pytest.mark.parametrize("overhead", [0, 1, 3])
def test_a_burst_costs_its_overhead_once(burst: int, length: int, overhead: int) -> None:
    """DEV-EXT-2."""
    column, ch = caught(timing=Timing(external_burst_overhead=overhead, external_egress_words=256))
    column.start(0, MM2S, 0, 0, 128, source(column), axi=Axi(burst=burst))
    period = length + overhead
    expected = [
        FIRST_REQUEST + n // length * period + n % length + overhead * (n % length > 0) for n in range(32)
    ]
    assert granted_in(column, ch, 200) == expected


def test_a_break_of_contiguity_begins_a_burst() -> None:
    column, ch = caught(timing=Timing(external_burst_overhead=2, external_egress_words=256))
    column.start(0, MM2S, 0, 0, 10, source(column), dims=(Dim(3),))
    assert granted_in(column, ch, 60) == [FIRST_REQUEST + 3 * n for n in range(10)]


def test_both_channels_of_a_direction_share_four_words_a_cycle() -> None:
    """Strided walks have one word a beat: alone a channel gets one a cycle, two get half each."""
    timing = Timing(external_burst_overhead=0, external_egress_words=256)
    column, ch = caught(timing=timing)
    other = column.channel(0, MM2S, 1)
    column.engine.catch(other)
    address = source(column)
    column.start(0, MM2S, 0, 0, 1000, address, dims=(Dim(2),))
    assert sent_after(column, ch, FIRST_REQUEST + timing.external_latency + 999) == 1000
    began = column.engine.now
    column.start(0, MM2S, 0, 0, 1000, address, dims=(Dim(2),))
    column.start(0, MM2S, 1, 1, 1000, address, dims=(Dim(2),))
    column.engine.run(LIMIT)
    first = began + FIRST_REQUEST + timing.external_latency
    assert column.engine.now in range(first + 1999, first + 2010)
    assert len(column.engine.caught(other)) == 1000


def test_reads_and_writes_have_a_master_each() -> None:
    timing = Timing(external_burst_overhead=0, external_egress_words=256)
    column, ch = caught(timing=timing)
    writer = column.channel(0, S2MM)
    column.engine.feed(writer, np.ones(1000, np.uint32))
    address = source(column)
    column.start(0, MM2S, 0, 0, 1000, address, dims=(Dim(2),))
    column.start(0, S2MM, 0, 1, 1000, address + 4000, dims=(Dim(2),))
    assert sent_after(column, ch, FIRST_REQUEST + timing.external_latency + 999) == 1000
    assert column.engine.state.channels.moved[writer] == 1000


def test_waiting_for_external_memory_is_a_cause_of_its_own() -> None:
    column, ch = caught(timing=Timing(external_latency=5))
    column.start(0, MM2S, 0, 0, 6, source(column))
    assert timeline(column, ch, 18) == "tttt--EEEE######.."
    column, ch = fed(6, timing=Timing(external_write_latency=5))
    column.start(0, S2MM, 0, 0, 6, source(column))
    assert timeline(column, ch, 20) == "tttt-######EEEEE-..."


def test_a_run_names_the_assumed_constants_it_waited_for() -> None:
    column, _ = caught()
    column.start(0, MM2S, 0, 0, 6, source(column))
    stop = column.engine.run(LIMIT)
    assumed = outcome(column.engine, stop, {}, []).assumed
    assert "external_latency = 100" in assumed
    assert not any(text.startswith("zeroisation") for text in assumed)


def fingerprint(column: Column) -> list[bytes]:
    state = column.engine.state
    tables = (
        state.channels,
        state.walks,
        state.granules,
        state.externals,
        state.fifos,
        state.banks,
        state.locks,
    )
    columns = [
        np.asarray(getattr(t, n))
        for t in tables
        for n in (t._fields if isinstance(t, tuple) else t.dtype.names)
    ]
    memory = [buffer.array for buffer in column.engine.external.buffers.values()]
    return [array.tobytes() for array in (*columns, *memory, state.spent, state.clock.now)]


def test_skipped_cycles_are_like_stepped_ones() -> None:
    """Waiting for external memory is skipped over, and nothing differs from doing every cycle."""

    def design() -> Column:
        column = Column(Timing(external_latency=700, external_write_latency=900), rows=2)
        column.up()
        column.down()
        address = source(column)
        column.start(0, MM2S, 0, 0, 40, address, dims=(Dim(5),))
        column.start(1, S2MM, 0, 0, 40, 0x80000 // 4)
        column.start(1, MM2S, 0, 1, 40, 0x80000 // 4 + 64)
        column.start(0, S2MM, 0, 1, 40, address + 8000)
        return column

    skipping, stepping = design(), design()
    assert skipping.engine.run(LIMIT) is Stop.QUIET
    end = skipping.engine.now
    stepping.engine.run(1)
    for _ in range(1, end):
        compiled_model.cycle(stepping.engine.state)
    assert fingerprint(skipping) == fingerprint(stepping)
    assert end > 900


@pytest.mark.parametrize("first", [0, 1, 1255])
def test_the_first_read_of_a_channel_alone_takes_longer(first: int) -> None:
    """DEV-EXT-1: the words of the second task come ``external_latency`` after its request."""
    column, ch = caught(timing=Timing(external_latency=50, external_first_read=first))
    column.start(0, MM2S, 0, 0, 8, source(column))
    assert sent_after(column, ch, FIRST_REQUEST + 50 + first - 1) == 0
    assert sent_after(column, ch, FIRST_REQUEST + 50 + first) == 1
    column.engine.run(column.engine.now + 50)
    began = column.engine.now
    column.issue(0, MM2S, 0, 0)
    assert sent_after(column, ch, began + FIRST_REQUEST + 50 - 1) == 8
    assert sent_after(column, ch, began + FIRST_REQUEST + 50) == 9


@pytest.mark.parametrize(("tile", "channel", "more"), [(0, 1, 0), (1, 0, 14), (1, 1, 14)])
def test_a_read_takes_longer_for_each_other_tile_that_waits_for_words(
    tile: int, channel: int, more: int
) -> None:
    """DEV-EXT-7: for its own tile's other channel it does not, nor when the words of the others are there."""
    engine = side_by_side(2, Timing(external_latency=50, external_beside=14), rows=1)
    columns = [Column(rows=1, attached=False, beside=engine, number=n) for n in range(2)]
    own, other = columns[0].channel(0, MM2S), 4 * tile + columns[0].channel(0, MM2S, channel)
    engine.catch(own)
    engine.catch(other)
    at = source(columns[0])
    columns[tile].start(0, MM2S, channel, 0, 1000, at)
    engine.run(200)
    columns[0].start(0, MM2S, 0, 1, 8, at)
    assert sent_after(columns[0], own, 200 + FIRST_REQUEST + 50 + more - 1) == 0
    assert sent_after(columns[0], own, 200 + FIRST_REQUEST + 50 + more) == 1
    engine.run(3000)
    assert len(engine.caught(other)) == 1000
    began = engine.now
    columns[0].issue(0, MM2S, 0, 1)
    assert sent_after(columns[0], own, began + FIRST_REQUEST + 50 - 1) == 8
    assert sent_after(columns[0], own, began + FIRST_REQUEST + 50) == 9


def test_each_channel_has_a_first_access_of_its_own() -> None:
    """DEV-EXT-1: and again after its column was reset."""
    timing = Timing(external_latency=50, external_first_read=400)
    column, _ = caught(timing=timing)
    other = column.channel(0, MM2S, 1)
    column.engine.catch(other)
    at = source(column)
    column.start(0, MM2S, 0, 0, 8, at)
    column.engine.run(600)
    began = column.engine.now
    column.start(0, MM2S, 1, 1, 8, at)
    assert sent_after(column, other, began + FIRST_REQUEST + 50 + 400 - 1) == 0
    assert sent_after(column, other, began + FIRST_REQUEST + 50 + 400) == 1
    assert [int(n) for n in column.engine.state.externals.warm] == [0, 0, 1, 1]
    reset_tile(column.engine.state, 0)
    assert not column.engine.state.externals.warm.any()


@pytest.mark.parametrize(("words", "later"), [(8, 396), (16, 388), (512, 0)])
def test_writes_do_not_wait_for_the_first_answer_and_the_bd_does(words: int, later: int) -> None:
    """DEV-EXT-1: the more words, the less of it is left at the end."""
    cycles = []
    for first in (0, 400):
        column, ch = fed(words, timing=Timing(external_write_latency=30, external_first_write=first))
        memory = np.zeros(words, np.uint32)
        column.start(0, S2MM, 0, 0, words, column.engine.external.add("target", memory).at())
        column.engine.run(LIMIT)
        assert memory[-1] == words
        cycles.append(int(column.engine.state.channels.finished_bd[ch]))
    assert cycles[1] - cycles[0] == later
