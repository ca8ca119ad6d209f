"""Is a jump over time that repeats exact at each of its guards: at the last period, and one after?

Each case is a rig in which one guard ends the jumps. It is run, jumping, to many cycles around that end, and
compared with a rig that steps there: the whole state, what was caught and what waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from memtile import Array
from memtile.arch.register_map import tile_register
from memtile.arch.tiles import MEMORY
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Iteration, Pad, Release
from memtile.bd.windows import EAST, OWN
from memtile.design.host import Host, HostAction
from memtile.design.memory_tile import MemoryTile
from memtile.explain.results import Result
from memtile.explain.skipped_time import skipped_text
from memtile.kernels import Action, Core, apart
from memtile.model.dma.channel_registers import FOT_MASK
from memtile.model.state.columns import Motion, Owner, Reset
from memtile.model.state.state_differences import columns
from memtile.sim.loop.clock import Stop
from memtile.sim.skip import compared_columns, comparison, fast_forward, repeat_guards
from memtile.sim.skip.compared_columns import arrays
from memtile.sim.skip.records import HELD, MOVED, SpanRule
from memtile.sim.skip.step_account import StepAccount
from memtile.testing.rig import Rig
from support.designs.repeating_designs import EAGER, differences
from support.mlir.mlir_designs import device, host, loaded

BANK = 8192  # words


def one(receives: bool = False, runs: int = 1, words: int = 6000, every: int = 0, **bd: Any) -> Rig:
    """One channel of the tile in the west of two, with a BD of ``bd``."""
    rig = Rig(tiles=2, timing=Timing(neighbour_latency=2))
    rig.engine.forward.on, rig.engine.forward.free = True, EAGER  # also in the interpreter
    given: dict[str, Any] = {"length": 3000, "address": OWN.address(0), **bd}
    ch = rig.s2mm() if receives else rig.mm2s()
    rig.memory_control(interleaved=False)
    rig.fill(0, np.arange(BANK))
    rig.write_bd(0, Descriptor("memory", given.pop("length"), given.pop("address"), **given))
    rig.issue(ch, 0, runs)
    if receives:
        last = np.zeros(words, np.uint8)
        if every:
            last[every - 1 :: every] = 1
        rig.engine.feed(ch, np.arange(words, dtype=np.uint32), last)
    else:
        rig.catch(ch)
    return rig


def beside(rig: Rig, number: int, word: int, length: int = 4000) -> Rig:
    """One more channel of the rig, that reads from ``word`` on again and again."""
    rig.write_bd(2 * number, Descriptor("memory", length, OWN.address(word), next=2 * number))
    rig.issue(rig.mm2s(2 * number), 2 * number)
    rig.catch(rig.mm2s(2 * number))
    return rig


def paced(rig: Rig, *pattern: int) -> Rig:
    rig.engine.pace(rig.mm2s(), np.array(pattern))
    return rig


def lane(buffers: int) -> Rig:
    """A producer and a consumer with locks and ``buffers`` buffers, whose rings are longer than looks."""
    rig, words = Rig(), 252 // buffers
    rig.engine.forward.on, rig.engine.forward.free = True, EAGER
    rig.set_lock(0, buffers)
    for n in range(buffers):
        at, following = OWN.address(n * 512), (n + 1) % buffers
        taken = Acquire(OWN.lock(0), -1, True), Release(OWN.lock(1), 1)
        given = Acquire(OWN.lock(1), -1, True), Release(OWN.lock(0), 1)
        rig.write_bd(n, Descriptor("memory", words, at, acquire=taken[0], release=taken[1], next=following))
        back = Descriptor("memory", words, at, dims=(Dim(2, words // 2), Dim(1, 2)), next=8 + following)
        rig.write_bd(8 + n, back.but(acquire=given[0], release=given[1]))
    rig.issue(rig.s2mm(), 0)
    rig.issue(rig.mm2s(), 8)
    rig.feed(rig.s2mm(), 252 * 70 + 17)
    rig.catch(rig.mm2s())
    return rig


THREE = (Dim(4, 16), Dim(64, 20), Dim(1, 4))
BINDING: dict[str, Callable[[], Rig]] = {
    "the length of a BD that sends": lambda: one(),
    "the length of a BD that receives": lambda: one(receives=True),
    "runs of a task": lambda: one(runs=40, length=100),
    "a wrap of the first dimension": lambda: one(dims=(Dim(2, 700), Dim(1, 0))),
    "a wrap of the second dimension": lambda: one(dims=THREE),
    "padding before the data": lambda: one(
        dims=(Dim(1, 16), Dim(16, 40), Dim(640, 4)), pad=(Pad(), Pad(30, 0)), length=4480
    ),
    "padding behind the data": lambda: one(
        dims=(Dim(1, 16), Dim(16, 40), Dim(640, 4)), pad=(Pad(), Pad(0, 30)), length=4480
    ),
    "padding around the first dimension": lambda: one(
        dims=(Dim(1, 400), Dim(400, 4), Dim(1600, 1)), pad=(Pad(60, 63),), length=2092
    ),
    "the end of a bank": lambda: beside(one(address=OWN.address(BANK - 1503)), 1, BANK),
    "the end of a bank for what receives": lambda: beside(
        one(receives=True, address=OWN.address(BANK - 1503)), 1, BANK
    ),
    "the end of a window": lambda: one(address=OWN.address(MEMORY.memory_words - 1502)),
    "a neighbour": lambda: one(address=EAST.address(BANK - 1502)),
    "the end of a source": lambda: one(receives=True, words=1700),
    "TLAST of a source": lambda: one(receives=True, words=4000, every=1333),
    "TLAST of a source now and then": lambda: one(receives=True, words=4000, every=48),
    "a port that is seldom ready": lambda: paced(one(), 1, 0, 0, 1, 0, 1, 1),
    "iterations": lambda: one(runs=60, length=64, iteration=Iteration(64, 7)),
}
_LAST = 4600  # cycles


def compared(make: Callable[[], Rig], stops: range) -> Rig:
    """Hold runs to each of ``stops`` against stepping; the last rig that jumped."""
    stepping = make()
    stepping.engine.forward.on = False
    for until in stops:
        jumping = make()
        stops_here = [rig.engine.run(until) for rig in (jumping, stepping)]
        assert stops_here[0] == stops_here[1]
        assert not differences(jumping, stepping), until
        if stops_here[0] is Stop.QUIET:  # a further run would begin with cycles in which nothing moves
            break
    return jumping


@pytest.mark.parametrize("name", BINDING)
def test_every_cycle_is_that_of_stepping(name: str) -> None:
    rig = compared(BINDING[name], range(300, _LAST, 397))
    assert rig.engine.forward.jumped > rig.now // 4, "nothing was jumped over"


def controlled(field: int, **more: Any) -> Rig:
    """A channel whose control register has a field that its words are looked at for."""
    rig = one(**more)
    ch = rig.s2mm() if more.get("receives") else rig.mm2s()
    rig.door.write32(rig.kind.control_base + ch * rig.kind.channel_stride, field)
    return rig


@pytest.mark.parametrize(
    "make",
    [
        lambda: controlled(1 << 4, compression=True),
        lambda: controlled(FOT_MASK & -FOT_MASK, receives=True, words=1700, every=1700),
    ],
    ids=["compressed", "finished on TLAST"],
)
def test_words_that_are_not_moved_as_they_are_keep_jumps_away(make: Callable[[], Rig]) -> None:
    rig = compared(make, range(900, 1900, 450))
    assert rig.engine.forward.jumped == 0
    assert rig.now > 1500


@pytest.mark.parametrize("receives", [False, True])
@pytest.mark.parametrize(
    "dims",
    [
        (Dim(1, 2), Dim(5, 900)),
        (Dim(1, 3), Dim(7, 900)),
        (Dim(2, 2), Dim(3, 2), Dim(5, 900)),  # words 2 and 3 are the neighbours
        (Dim(1, 1), Dim(1, 3), Dim(5, 900)),
        (Dim(1, 2), Dim(3, 900)),
        (Dim(3, 1000), Dim(1, 0)),
    ],
    ids=str,
)
def test_rows_that_begin_at_another_word_of_an_access(dims: tuple[Dim, ...], receives: bool) -> None:
    """Without banks that take turns, nothing else sees where in an access of 128 bits a row begins."""
    compared(lambda: one(receives, dims=dims, length=1800, words=1850), range(300, 1900, 97))


@pytest.mark.compiled("fifty runs of each case")
@pytest.mark.slow
@pytest.mark.parametrize("name", BINDING)
def test_so_is_every_cycle_around_the_end_of_a_jump(name: str) -> None:
    """A limit of the run cuts a jump, so every cycle up to where a guard ended it is looked at."""
    free = BINDING[name]()
    free.engine.run(_LAST)
    now = 300 + free.engine.forward.jumped % 7
    compared(BINDING[name], range(now, now + 20))
    compared(BINDING[name], range(1490, 1520))


@pytest.mark.compiled("runs of many rounds")
@pytest.mark.parametrize("buffers", [1, 2, 3])
def test_rings_are_jumped_over_as_a_whole(buffers: int) -> None:
    rig = compared(lambda: lane(buffers), range(6000, 17000, 613))
    assert rig.engine.forward.rings > 0
    assert rig.engine.forward.jumped > rig.now // 2


@pytest.mark.parametrize("bd", [45, 46, 47])
def test_the_last_descriptors_of_a_tile_iterate_as_in_stepping(bd: int) -> None:
    """Beside one without iteration, where nothing else shows how often the other one has begun."""
    rigs = Rig(), Rig()
    for rig, on in zip(rigs, (True, False), strict=True):
        rig.engine.forward.on, rig.engine.forward.free = on, EAGER
        rig.fill(0, np.arange(1024, dtype=np.uint32))
        usual = Descriptor("memory", 40, OWN.address(900), next=bd)
        rig.write_bd(24, usual)
        rig.write_bd(bd, Descriptor("memory", 16, OWN.address(0), iteration=Iteration(64, 5), next=24))
        rig.issue(rig.mm2s(1), 24)
        rig.catch(rig.mm2s(1))
    for until in (2500, 2530, 4001):
        for rig in rigs:
            rig.engine.run(until)
        assert not differences(*rigs)
    assert rigs[0].engine.forward.jumps


def test_a_full_sink_ends_a_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtile.sim.ports.port_buffers.LEAST_BLOCK", 700)
    monkeypatch.setattr("memtile.sim.ports.port_buffers.MOST_BLOCK", 700)
    rig = compared(lambda: one(length=4000), range(600, 4100, 97))
    assert rig.engine.forward.jumps > 4


def test_words_fed_between_two_runs_go_on_with_those_under_way() -> None:
    rigs = [one(receives=True, words=900), one(receives=True, words=900)]
    rigs[1].engine.forward.on = False
    for rig in rigs:
        rig.engine.run(700)
        rig.engine.feed(rig.s2mm(), np.arange(5000, 7000, dtype=np.uint32))
        rig.engine.run(2500)
    assert rigs[0].engine.forward.jumps > 1
    assert not differences(*rigs)


def test_what_the_host_does_between_two_runs_ends_the_period() -> None:
    """A lock that somebody takes away: what was found before says nothing any more."""
    rigs = [lane(2), lane(2)]
    rigs[1].engine.forward.on = False
    for rig in rigs:
        rig.engine.run(1500)
        rig.set_lock(0, 0)
        rig.engine.run(3000)
        rig.set_lock(0, 2)
        rig.engine.run(4500)
    assert not differences(*rigs)


def test_channels_that_race_read_what_stepping_reads() -> None:
    def racing() -> Rig:
        rig = one(receives=True, length=2900, runs=200, words=20000)
        beside(rig, 1, 0, 2900)
        return beside(rig, 2, 17, 3000)

    rig = compared(racing, range(400, 9000, 977))
    assert rig.engine.forward.jumped > rig.now // 4


def test_channels_that_move_differently_meet_later_than_in_the_period() -> None:
    """A reader that overtakes a writer: apart in the period that was stepped, not in those that follow."""

    def overtaking() -> Rig:
        rig = one(receives=True, length=6000, words=9000, address=OWN.address(1500))
        rig.write_bd(2, Descriptor("memory", 1500, OWN.address(0), dims=(Dim(4, 0),)))
        rig.issue(rig.mm2s(2), 2)
        rig.catch(rig.mm2s(2))
        return rig

    rig = compared(overtaking, range(400, 1700, 233))
    assert rig.engine.forward.jumped > rig.now // 4


@pytest.mark.parametrize("apart", [0, 2 * BANK])
def test_words_that_come_again_are_kept_once(apart: int) -> None:
    """A reader, and a writer of what it reads, or of something else; both again and again."""

    def beside_a_writer() -> Rig:
        rig = one(receives=True, length=300, runs=60, words=20000)
        return beside(rig, 1, apart, 300)

    compared(beside_a_writer, range(12000, 12001))
    rig = beside_a_writer()
    rig.engine.run(12000)
    pieces = rig.engine.taken(rig.mm2s(2)).pieces()
    assert rig.engine.forward.rings > 0
    assert any(piece.times > 1 for piece in pieces) == (apart > 0)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_buffer_behind_words_that_come_again_holds_what_stepping_leaves_there(length: int) -> None:
    """Eight words with their TLAST, where two periods are kept and the host has taken what was before."""
    jumping, stepping = one(length=length, next=0), one(length=length, next=0)
    stepping.engine.forward.on = False
    for until in (*range(20, 140, 11), 900):
        for rig in (jumping, stepping):
            rig.engine.run(until)
        assert not differences(jumping, stepping), until
    assert jumping.engine.forward.jumps > 0


def test_two_channels_at_one_bank_repeat_with_their_turns() -> None:
    def crowded() -> Rig:
        rig = one(dims=(Dim(2, 0),))
        beside(rig, 1, 4)
        return beside(rig, 2, 8)

    rig = compared(crowded, range(400, 3000, 211))
    assert rig.engine.forward.jumped > rig.now // 4


@pytest.mark.parametrize("words", [3, 4, 250])
def test_a_value_stays_below_its_limit(words: int) -> None:
    for limit in range(words + 1, words + 40):
        times = repeat_guards.before(limit, words, 3, 1000)
        assert words + 3 * times < limit <= words + 3 * (times + 1)


@pytest.mark.parametrize("limit", [0, 7])
def test_a_value_stays_above_its_limit(limit: int) -> None:
    for value in range(limit + 1, limit + 40):
        times = repeat_guards.above(limit, value, 3, 1000)
        assert value - 3 * times > limit >= value - 3 * (times + 1)


@pytest.mark.parametrize("shift", [4, 28, 32, 96, -4, -32])
def test_a_bank_is_kept_by_whole_turns_and_within_a_block(shift: int) -> None:
    for first in (0, 5, 31, 100, 127):
        times = repeat_guards.block(first, shift, 2, 7, 10)
        banks = {(first + n * shift) >> 2 & 7 for n in range(times + 1)}
        assert len(banks) == 1
        if shift % 32 == 0:
            assert times == 10
        elif times < 10:
            assert (first + (times + 1) * shift) >> 2 != first >> 2


def test_short_runs_and_runs_without_it_step() -> None:
    rig = one()
    with fast_forward.fast_forwarding(False):
        rig.engine.run(2000)
    assert rig.engine.forward.jumps == 0
    rig.engine.run(2100)
    assert rig.engine.forward.jumps == 0
    rig.engine.run(2900)
    assert rig.engine.forward.jumps > 0


@pytest.mark.parametrize(("flags", "times"), [("000000000000", 3), ("001001001001", 3), ("001001001000", 2)])
def test_tlast_comes_again_with_the_same_words(flags: str, times: int) -> None:
    given = np.array([int(flag) for flag in flags], np.uint8)
    state = Rig().engine.state
    ports = state.ports
    ports.source_flags[0], ports.source_position[0], ports.source_end[0] = given.ctypes.data, 3, len(given)
    assert repeat_guards.last_flags(state, 0, 3, 3) == times


@pytest.mark.parametrize(
    ("was", "held", "depth", "taken", "times"),
    [
        (9, 9, 9, 30, 50),  # holds as much as before
        (9, 10, 16, 100, 5),  # 15 words after five periods: it was never full
        (2, 5, 12, 100, 2),
        (2, 5, 11, 100, 1),
        (1, 2, 16, 100, 0),  # may have been empty in between
        (9, 10, 16, 99, 0),  # did not take a word in each cycle
        (10, 9, 16, 100, 0),
        (14, 15, 16, 100, 0),
    ],
)
def test_a_buffer_may_fill_slowly(was: int, held: int, depth: int, taken: int, times: int) -> None:
    assert filling(was, held, depth, taken, at=Rig().s2mm()) == times
    assert filling(was, held, depth, taken, at=Rig().mm2s()) == (50 if was == held else 0)


def filling(was: int, held: int, depth: int, taken: int, at: int, **flags: int) -> int:
    """The guard of a buffer with so many words, 100 cycles after it had ``was``; 50 periods are wanted."""
    state = Rig().engine.state
    work = arrays(state)
    comparison.keep_channel(state, work.kept, 0, at)  # its memory may have been used before
    work.kept[HELD], state.fifos.held[at], state.fifos.depth[at] = was, held, depth
    state.ports.source_position[at] = taken
    for name, value in flags.items():
        getattr(state.ports, name)[at] = value
    return int(repeat_guards.fill(state, work, 0, at, 100, 50))


@pytest.mark.parametrize("flags", ["source_flags", "next_flags", "former_flags"])
def test_a_buffer_whose_words_may_have_tlast_does_not_fill(flags: str) -> None:
    given = np.zeros(200, np.uint8)
    assert filling(9, 10, 16, 100, 0) == 5
    assert filling(9, 10, 16, 100, 0, **{flags: given.ctypes.data}) == 0


def filled_slowly(length: int = 600) -> Rig:
    """A ring of BDs, at whose ends the buffer gets a word more, until it is full."""
    rig = one(receives=True, length=length, words=40 * length, runs=1, next=0)
    rig.engine.pace(rig.s2mm(), np.array([1], np.int64))
    return rig


def held(rig: Rig) -> int:
    return int(rig.engine.state.fifos.held[rig.s2mm()])


@pytest.mark.compiled("runs of many rounds")
def test_rounds_in_which_a_buffer_fills_are_jumped_over() -> None:
    rig = filled_slowly()
    rig.engine.run(6 * 601)
    depth = int(rig.engine.state.fifos.depth[rig.s2mm()])
    assert rig.engine.forward.rings == 1
    assert held(rig) < depth  # 10: four when the first BD began, and one more for each
    full = (depth - 4) * 601
    compared(filled_slowly, range(full - 1210, full + 610, 67))
    compared(filled_slowly, range(full - 8, full + 8))
    rig = compared(filled_slowly, range(full + 4000, full + 6000, 997))
    assert rig.engine.forward.rings == 2
    assert held(rig) == depth


def test_no_jump_follows_a_period_that_began_before_the_first_word_of_a_bd() -> None:
    """Until then a channel that waits for memory is not starved, and from then on it is."""
    rig = one()
    ch, state = rig.mm2s(), rig.engine.state
    work = arrays(state)
    rig.engine.run(100)
    comparison.keep_channel(state, work.kept, 0, ch)
    rig.engine.run(104)
    assert repeat_guards.gone_on(state, work, 0, 0, ch, 50) == 50
    work.kept[MOVED] = 0
    assert repeat_guards.gone_on(state, work, 0, 0, ch, 50) == 0


def test_what_counts_has_a_guard_or_is_an_account() -> None:
    """A count that something may be compared with is not let through."""
    st = Rig().engine.state
    for name, _values, column, owner in columns(st):
        if (
            column.kind is Motion.COUNT
            and name not in compared_columns.GUARDED | compared_columns.OBSERVED.keys()
            and not compared_columns.stays(name, column, owner)
        ):
            account = compared_columns.how(name, column, owner) is SpanRule.ACCOUNT
            assert account == (column.reset is Reset.BOOKS), name


def test_nothing_else_acts_while_time_is_jumped_over() -> None:
    """Each list of what has something to do keeps jumps away, but those that fast-forward knows."""
    lists = {"active_channels", "waiting_channels", "bidding", "releasing", "asked_interfaces"}
    known = lists | {"packet_slaves", "gated", "registers", "regions", "pattern"}
    known |= {"active_ports", "active_cores"}
    known |= {
        "active_units"
    }  # what they do is compared; which of them keep jumps away, test_forward_units says
    known |= {"logic_sources"}  # with streams of the programmable logic no time is jumped over at all
    rig = Rig()
    found = {
        name
        for name, values, column, owner in columns(rig.engine.state)
        if owner is Owner.MODEL and "." not in name and values.ndim == 1 and column.kind is Motion.EQUAL
    }
    assert lists < found
    for name in sorted(found - known):
        st = Rig().engine.state
        assert repeat_guards.quiet_elsewhere(st)
        getattr(st, name)[0] = 1
        assert not repeat_guards.quiet_elsewhere(st), name


def test_sources_are_laid_out_a_window_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that wait behind the window are no end of the source, stepping or jumping."""
    whole = lane(2)
    whole.engine.forward.on = False
    whole.engine.run(9000)
    for words, on in ((300, False), (300, True), (3000, True)):
        monkeypatch.setattr("memtile.sim.ports.port_buffers.WINDOW", words)
        rig = lane(2)
        rig.engine.forward.on = on
        rig.engine.run(9000)
        assert not differences(rig, whole)
    assert rig.engine.forward.jumped > 0


@pytest.mark.compiled("runs of many rounds")
def test_a_jump_that_a_sink_ended_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtile.sim.ports.port_buffers.LEAST_BLOCK", 2048)
    monkeypatch.setattr("memtile.sim.ports.port_buffers.MOST_BLOCK", 2048)
    rig = compared(lambda: lane(2), range(9000, 17000, 997))
    stepped = rig.now - rig.engine.forward.jumped
    assert rig.engine.forward.rings > 3
    assert stepped < rig.now // 2, "each jump looks for its period anew"


def test_a_result_says_how_far_it_jumped_and_what_kept_it_off() -> None:
    def of(design: Callable[[MemoryTile], None], **options: bool) -> Result:
        tile = MemoryTile()
        tile.engine.forward.on = True
        tile.mm2s[0].start(tile.read(tile.buffer("b", 3000, data=np.arange(3000))))
        tile.mm2s[0].collect()
        design(tile)
        return tile.run(**options)

    def scrubbing(tile: MemoryTile) -> None:
        tile.own_door.write32(tile_register("memory", "ECC_SCRUBBING_EVENT").offset, 2)

    plain_run = of(lambda _tile: None)
    assert plain_run.jumped > 2000
    assert plain_run.kept_off == ()
    stepped = of(lambda _tile: None, fast_forward=False)
    assert (stepped.jumped, stepped.cycles) == (0, plain_run.cycles)
    assert stepped.as_json()["fast_forward"] == {
        "jumped": 0,
        "idle": stepped.idle,
        "stepped": [{"cycles": stepped.cycles - stepped.idle, "why": ""}],
        "kept_off": [],
    }
    assert plain_run.stepped == {"no period found": plain_run.cycles - plain_run.jumped - plain_run.idle}
    scrubbed = of(scrubbing)
    assert (scrubbed.jumped, scrubbed.cycles) == (0, plain_run.cycles)
    assert scrubbed.kept_off == (
        "broadcasts of events are on their way, or events act on a core or a scrubber",
    )
    assert scrubbed.stepped == {scrubbed.kept_off[0]: scrubbed.cycles - scrubbed.idle}


@pytest.mark.parametrize(("words", "times"), [(3000, 1), (150, 20)])
def test_a_result_says_that_a_host_looks_too_often_for_jumps(words: int, times: int) -> None:
    """While one of its tasks is long, it looks when that can have ended."""
    array = Array("npu1", columns=1)
    array.engine.forward.on = True
    tile = array.memory_tile(0)
    sent, taken = tile.buffer("sent", words), tile.buffer("taken", words)
    array.connect(tile.mm2s[0], tile.s2mm[0])

    def sequence(steps: Host) -> Iterator[HostAction]:
        for _ in range(times):
            yield steps.start(tile.mm2s[0], tile.read(sent))
            yield steps.start(tile.s2mm[0], tile.write(taken))
            yield steps.wait()

    array.host(sequence)
    result = array.run()
    assert (result.jumped > 2000) if times == 1 else (result.jumped == 0)
    why = "the array runs in pieces of fewer than 256 cycles, as between two looks of a host"
    assert result.kept_off == (why,)


@pytest.mark.parametrize(
    ("jumped", "idle", "stepped", "said"),
    [
        (600_000, 0, {"no period found": 400_000}, "skipped 60% of the cycles"),
        (0, 990_000, {"a": 10_000}, "skipped 99% of the cycles, most of them as nothing could move"),
        (
            100_000,
            20_000,
            {"no period found": 700_000, "a; b": 150_000, "": 20_000, "c": 10_000},
            "skipped 12% of the cycles; 70%: no period found, 15%: a; b",
        ),
        (0, 0, {"": 1_000_000}, ""),
    ],
)
def test_a_long_run_says_what_was_skipped_and_why_not_more(
    jumped: int, idle: int, stepped: dict[str, int], said: str
) -> None:
    """Cycles in which only a host was busy are among the skipped ones."""
    assert skipped_text(1_000_000, jumped, idle, stepped) == said
    assert skipped_text(99_999, jumped // 11, idle // 11, stepped) == ""


@pytest.mark.parametrize("device", ["npu1", "npu2"])
@pytest.mark.parametrize("alone", [False, True])
def test_time_in_which_nothing_can_move_passes_at_once(device: str, alone: bool) -> None:
    """With kernels that keep to themselves, too."""

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(10**9)

    array = Array(device, columns=2)
    for column in range(2):
        array.compute_tile(column, 2).run_kernel(apart(kernel) if alone else kernel)
    result = array.run(1 << 40, fast_forward=device == "npu1")
    assert result.jumped + result.idle > 10**9 - 20_000
    assert sum(result.stepped.values()) == result.cycles - result.jumped - result.idle


def test_what_was_against_it_holds_until_a_period_is_looked_for_again() -> None:
    account = StepAccount()
    account.add_probed(100, 10, ["packets"], probed=True)
    account.add_probed(50, 0, [], probed=False)
    account.add_probed(30, 0, [], probed=True)
    account.add(7, 7, ["host"])
    assert (account.idle, account.stepped) == (17, {"packets": 140, "no period found": 30})


def test_a_short_run_after_a_long_one_is_no_reason() -> None:
    """Pieces are named once they took as long together as one run that looks for periods."""
    array = Array("npu1", columns=1)
    array.engine.forward.on = True
    tile = array.memory_tile(0)
    sent, taken = tile.buffer("sent", 1024), tile.buffer("taken", 1024)
    array.connect(tile.mm2s[0], tile.s2mm[0])
    tile.mm2s[0].start(tile.read(sent), loop=True)
    tile.s2mm[0].start(tile.write(taken), loop=True)
    assert array.run(30_000).jumped > 20_000
    assert array.run(7).kept_off == ()
    for _ in range(36):
        result = array.run(7)
    assert result.kept_off == (
        "the array runs in pieces of fewer than 256 cycles, as between two looks of a host",
    )


@pytest.mark.parametrize("driven_by", [host(), "%e = aie.external_buffer : memref<64xi32>"])
def test_a_design_in_mlir_is_stepped_if_asked(driven_by: str) -> None:
    ring = """
      %from = aie.buffer(%m) : memref<64xi32>
      %to = aie.buffer(%m) : memref<64xi32>
      aie.flow(%m, DMA : 0, %m, DMA : 0)
      aie.memtile_dma(%m) {
        %0 = aie.dma(MM2S, 0) [{ aie.dma_bd(%from : memref<64xi32>) }]
        %1 = aie.dma(S2MM, 0) [{ aie.dma_bd(%to : memref<64xi32>) }]
        aie.end
      }"""
    jumped = []
    for fast in (True, False):
        design = loaded(device(ring, driven_by))
        design.array.engine.forward.on = True
        jumped.append(design.run(max_cycles=3000, fast_forward=fast).result.jumped)
    assert jumped[0] > 1000
    assert jumped[1] == 0
