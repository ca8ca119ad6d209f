"""Is all that can change kept and compared by fast-forward, and does looking for periods cost but a share?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from memtile.arch.packets import control_header
from memtile.arch.tiles import MM2S
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Iteration, Release
from memtile.bd.windows import EAST, OWN, WEST
from memtile.jit.decorators import ENABLED
from memtile.jit.tables import plain
from memtile.model.dma import access_log
from memtile.model.dma.access_log import FIRST_ROWS, LIMIT, listen
from memtile.model.events.asserted import raise_event
from memtile.model.state.causes import CorePhase, Phase
from memtile.model.state.streams import PORT_SLOTS
from memtile.model.streams.switch_config import CIRCUIT
from memtile.sim.loop.engine import Engine
from memtile.sim.skip import live_parts, probe_budget
from memtile.sim.skip.bd_rings import choose_anchor, cycles_between
from memtile.sim.skip.compared_columns import OBSERVED, RAISED, RINGS
from memtile.testing.rig import Rig
from support.designs.control_packet_bench import WRITE, reachable, send
from support.designs.flowing_designs import Design, build, differences
from support.designs.interface_bench import Column
from support.designs.repeating_designs import differences as rig_differences
from support.engine.planned_words import addresses, changed_outside, compared_columns, planned

KERNEL = Design(Timing(), 64, 2, (), (), (), 16384, 1, (50,), 0, 0, ())


def neighbours() -> Rig:
    """The tile in the middle of three writes to its eastern neighbour and reads from its western one."""
    rig = Rig(tiles=3, at=1)
    taken, given = Acquire(WEST.lock(5), 0, True), Release(EAST.lock(3), 1)
    rig.write_bd(0, Descriptor("memory", 300, EAST.address(8), release=given))
    rig.write_bd(1, Descriptor("memory", 300, WEST.address(8), acquire=taken))
    rig.issue(rig.s2mm(), 0)
    rig.issue(rig.mm2s(), 1)
    rig.feed(rig.s2mm(), 300)
    rig.catch(rig.mm2s())
    return rig


def iterating(wrap: int, current: int) -> Engine:
    """A channel whose BD has another place each time, or the first time only."""
    rig = Rig()
    iteration = Iteration(16, wrap, current)
    rig.write_bd(0, Descriptor("memory", 30, OWN.address(8), next=0, iteration=iteration))
    rig.issue(rig.mm2s(), 0)
    rig.catch(rig.mm2s())
    return rig.engine


def dead_end() -> Engine:
    """A memory tile sends to a compute tile that passes nothing on."""
    column = Column()
    column.circuit(1, "DMA0", "NORTH0")
    column.start(1, MM2S, 0, 0, 300, OWN.address(8))
    return column.engine


CHANGING: dict[str, Callable[[], Engine]] = {
    "neighbours": lambda: neighbours().engine,
    "a BD that iterates": lambda: iterating(3, 0),
    "a BD that iterates once": lambda: iterating(1, 5),
    "a port that is off": dead_end,
    "a column with a kernel": lambda: build(KERNEL, forward=False),
    "a column without": lambda: build(KERNEL._replace(waits=()), forward=False),
}


@pytest.mark.parametrize("name", CHANGING)
def test_nothing_changes_but_what_is_compared(name: str) -> None:
    assert not changed_outside(CHANGING[name](), 2000)


def test_a_tile_at_rest_is_not_compared() -> None:
    rig = Rig(tiles=9, at=4)
    rig.write_bd(0, Descriptor("memory", 300, OWN.address(8)))
    rig.issue(rig.mm2s(), 0)
    rig.catch(rig.mm2s())
    inside = addresses(planned(rig.engine.state))[0]
    locks = next(places for name, *_, places in compared_columns(rig.engine.state) if name == "locks.value")
    tiles = plain(rig.engine.state.locks).tile[np.isin(locks, inside)]
    assert set(tiles.tolist()) == {3, 4, 5}


def everything() -> Engine:
    """A column in which all is live."""
    engine = build(KERNEL, forward=False)
    for table, column, value in (
        (engine.state.switch, "mode", CIRCUIT),
        (engine.state.channels, "phase", Phase.RUN),
        (engine.state.cores, "phase", CorePhase.WAIT),
    ):
        getattr(plain(table), column)[:] = value
    return engine


@pytest.mark.parametrize("raised", [0, 1])
def test_every_word_of_the_state_is_compared_as_its_column_says(raised: int) -> None:
    """The spans of the plan have each word of the columns that are compared once, and no other.

    What changes only where events are raised, or event units are at work, they have then, and of rings the
    slots in use.
    """
    engine = everything()
    engine.state.clock.raised[0] = raised
    slots = np.arange(PORT_SLOTS) <= plain(engine.state.switch).wrap[:, None]
    places, compared = addresses(planned(engine.state))
    found = dict(zip(places.tolist(), compared.tolist(), strict=True))
    assert len(found) == len(places)
    declared: dict[int, int] = {}
    for name, _, _, how, words in compared_columns(engine.state):
        if raised or name not in RAISED | OBSERVED.keys():
            words = words[slots] if name in RINGS else words
            declared |= dict.fromkeys(words.ravel().tolist(), int(how))
    assert found == declared


def test_words_that_control_packets_write_make_a_plan_outdated() -> None:
    bench = reachable()
    work = planned(bench.engine.state)
    assert not live_parts.outdated(bench.engine.state, work)
    send(bench, [control_header(WRITE, 0x400, 2), 7, 8])
    assert live_parts.outdated(bench.engine.state, work)


def test_the_first_event_that_is_raised_makes_a_plan_outdated() -> None:
    """As a kernel raises one, or an access that is watched: then it may be part of a period."""
    engine = everything()
    work = planned(engine.state)
    assert not live_parts.outdated(engine.state, work)
    raise_event(engine.state, 0, 1, engine.now)
    assert live_parts.outdated(engine.state, work)
    assert not live_parts.outdated(engine.state, planned(engine.state))


def test_what_acts_and_is_not_planned_keeps_jumps_away() -> None:
    rig = Rig()
    st = rig.engine.state
    work = planned(st)
    assert live_parts.all_that_acts(st, work)
    st.active_channels[:2] = 1, 3
    assert not live_parts.all_that_acts(st, work)


def irregular() -> Rig:
    """A channel whose port is ready at random."""
    rig = Rig()
    rig.engine.forward.on = True
    rig.write_bd(0, Descriptor("memory", 37, OWN.address(8), next=0))
    rig.issue(rig.mm2s(), 0)
    rig.catch(rig.mm2s())
    rig.engine.pace(rig.mm2s(), np.random.default_rng(1).integers(0, 2, 100_003))
    return rig


@pytest.mark.compiled("40,000 cycles")
def test_looking_costs_a_share_of_stepping() -> None:
    rig = irregular()
    for until in range(1000, 41_000, 1000):
        rig.engine.run(until)
    assert rig.engine.forward._work is not None
    search = rig.engine.forward._work.search
    assert rig.engine.forward.jumps == 0
    assert search.probing_cost[0] > 0
    assert (
        search.probing_cost[0] * probe_budget.SHARE
        < search.stepped_cost[0] + probe_budget.SHARE * 3 * search.slot_words[0]
    )


def test_what_looking_lacks_is_stepped_first() -> None:
    rig = irregular()
    work = planned(rig.engine.state)
    search = work.search
    search.stepped_cost[0], search.probing_cost[0] = 1000 * probe_budget.SHARE, 900
    assert probe_budget.lacking(work, 100) == 0
    assert probe_budget.lacking(work, 101) == probe_budget.SHARE
    rig.engine.state.active_channels[0] = 10
    cost = probe_budget.of_cycle(rig.engine.state, work)
    assert probe_budget.cycles_until(rig.engine.state, work, 100 + cost) == probe_budget.SHARE + 1


def test_half_of_what_looking_may_cost_is_for_rings() -> None:
    rig = irregular()
    work = planned(rig.engine.state)
    search = work.search
    search.stepped_cost[0], search.probe_cost[0] = 2_000_000 * probe_budget.SHARE, 999_900
    assert probe_budget.cycles_to_look(rig.engine.state, work, 100) == 1
    assert probe_budget.cycles_to_look(rig.engine.state, work, 101) > 1
    search.probing_cost[0], search.probe_cost[0] = 1_990_000, 0
    assert probe_budget.cycles_to_look(rig.engine.state, work, 100) > 1


def test_the_log_grows_as_far_as_that_may_cost() -> None:
    rig = irregular()
    st = rig.engine.state
    work = planned(st)
    search = work.search
    listen(st)
    assert st.access_log[0, LIMIT] == FIRST_ROWS
    assert not probe_budget.longer_log(st, work)
    search.stepped_cost[0] = 1 << 50
    assert probe_budget.longer_log(st, work)
    assert st.access_log[0, LIMIT] == 2 * FIRST_ROWS
    assert search.probing_cost[0] > FIRST_ROWS
    st.access_log[0, LIMIT] = len(st.access_log)
    assert not probe_budget.longer_log(st, work)


def test_states_are_stored_sooner_where_a_cycle_costs_more() -> None:
    st = iterating(3, 0).state
    work = planned(st)
    cheap = work.policy.cheap_cycle[0]
    work.search.ring_gap[0] = 3000
    assert cycles_between(st, work) == 3000
    st.active_channels[0] = 400
    assert cycles_between(st, work) == 3000 * cheap // probe_budget.of_cycle(st, work) < 1000


def test_states_are_stored_where_the_ring_with_most_ended_bds_ends_one() -> None:
    rig = Rig()
    for number in (0, 2, 4):
        following = None if number == 4 else number
        rig.write_bd(number, Descriptor("memory", 4000, OWN.address(0), next=following))
        rig.issue(rig.mm2s(number), number, runs=9)
    rig.step(50)
    st = rig.engine.state
    work = planned(st)
    ended = {rig.mm2s(0): 2, rig.mm2s(2): 5, rig.mm2s(4): 7}  # the last one has no ring
    for ch, many in ended.items():
        st.channels.bds_done[ch] = many
    choose_anchor(st, work)
    assert work.search.anchor[0] == rig.mm2s(2)
    assert work.search.anchor_bds[0] == 5
    work.search.anchor_since[0] = st.clock.now[0] - work.policy.stale_anchor[0] - 1
    choose_anchor(st, work)
    assert work.search.anchor[0] == rig.mm2s(0)
    st.channels.next_bd[[rig.mm2s(0), rig.mm2s(2)]] = -1
    choose_anchor(st, work)
    assert work.search.anchor[0] == rig.mm2s(4)


@pytest.mark.compiled("150,000 cycles")
def test_words_of_a_jump_are_more_than_a_stream_has_room_for() -> None:
    design = KERNEL._replace(waits=(), runs=16)
    jumping, stepping = (build(design, forward=on) for on in (True, False))
    for engine in (jumping, stepping):
        engine.run(150_000)
    assert jumping.forward.jumped > 100_000
    assert not differences(jumping, stepping)


ROWS = Dim(2, 21), Dim(67, 0)  # of which no period within a BD comes again


def rounds(words: int, *, forward: bool) -> Rig:
    """A producer and a consumer with two buffers."""
    rig = Rig()
    rig.engine.forward.on, rig.engine.forward.free = forward, 40_000 * probe_budget.SHARE
    rig.set_lock(0, 2)
    for n in range(4):
        receives, lock = n < 2, n // 2
        bd = Descriptor("memory", words, OWN.address(n % 2 * 8000), dims=ROWS)
        locks = Acquire(OWN.lock(lock), -1, True), Release(OWN.lock(1 - lock), 1)
        rig.write_bd(n, bd.but(acquire=locks[0], release=locks[1], next=n ^ 1))
        if n % 2 == 0:
            rig.issue(rig.s2mm() if receives else rig.mm2s(), n)
    rig.feed(rig.s2mm(), words * 200)
    rig.catch(rig.mm2s())
    return rig


def test_a_round_longer_than_the_log_is_noted_when_it_came_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the interpreter the log is short, and so are the rounds."""
    monkeypatch.setattr(access_log, "FIRST_ROWS", 128)
    monkeypatch.setattr(probe_budget, "longer_log", lambda _st, _work: False)
    words = 2100 if ENABLED else 105
    jumping, stepping = (rounds(words, forward=forward) for forward in (True, False))
    for until in (words * 20, words * 80 + 1):
        for rig in (jumping, stepping):
            rig.engine.run(until)
        assert not rig_differences(jumping, stepping)
    assert jumping.engine.forward.rings > 0
    assert jumping.engine.forward._work is not None
    log = jumping.engine.state.access_log
    assert jumping.engine.forward._work.search.logless[0] == 1
    assert log[0, LIMIT] == len(log)
    assert jumping.engine.forward.jumped > words * 50
