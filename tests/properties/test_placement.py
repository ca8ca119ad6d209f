"""Is every placement legal, CP-SAT never worse than greedy, and as good as trying everything?"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile import MemoryTile, MemtileError
from memtile.arch.tiles import MEMORY, TileKind
from memtile.design import placement_cpsat
from memtile.design.demands import Demand, Plan, Spot
from memtile.design.placement import Solver, place_buffers
from memtile.model.state.causes import Cause

BANK, GRANULE, SIZE = 32 * 1024, 16, 512 * 1024
ALL_WINDOWS = ("west", "own", "east")
SOLVERS: tuple[Solver, ...] = ("greedy", "cp-sat")


def small_tile(banks: int, granules: int) -> TileKind:
    """A memory tile of a few granules, small enough to try every placement."""
    bank = granules * GRANULE
    size = banks * bank
    windows = MappingProxyType({"west": 0, "own": size, "east": 2 * size})
    return replace(MEMORY, memory_bytes=size, banks=banks, bank_bytes=bank, memory_windows=windows)


def touched(demand: Demand, plan: Plan, kind: TileKind = MEMORY) -> tuple[str, set[int]]:
    spot = plan.places[demand.name]
    last = spot.offset + demand.nbytes - 1
    return spot.window, set(range(spot.offset // kind.bank_bytes, last // kind.bank_bytes + 1))


def counted(demands: list[Demand], plan: Plan, kind: TileKind = MEMORY) -> int:
    """The cost, counted bank by bank from the places alone; all channels run together."""
    met = set()
    for one, other in product(demands, repeat=2):
        if one is other:
            continue
        (window, banks), (window2, banks2) = touched(one, plan, kind), touched(other, plan, kind)
        for bank in banks & banks2 if window == window2 else ():
            met |= {(window, bank, *sorted(p)) for p in product(one.channels, other.channels) if p[0] != p[1]}
    return len(met)


def assert_legal(demands: list[Demand], plan: Plan, kind: TileKind = MEMORY) -> None:
    assert plan.places.keys() == {d.name for d in demands}
    for demand in demands:
        spot = plan.places[demand.name]
        assert spot.offset % GRANULE == 0
        assert 0 <= spot.offset <= kind.memory_bytes - demand.nbytes
        assert (spot.window, set(spot.banks)) == touched(demand, plan, kind)
        if spot.window != "own":
            assert all(int(channel[-1]) < 4 for channel in demand.channels)
        if demand.at is not None:
            assert spot[:2] == (demand.window or "own", demand.at)
        if demand.bank is not None:
            assert spot.banks.start == demand.bank
    for one, other in product(demands, repeat=2):
        a, b = plan.places[one.name], plan.places[other.name]
        if one is not other and a.window == b.window:
            assert a.offset + one.nbytes <= b.offset or b.offset + other.nbytes <= a.offset


channels = st.lists(
    st.sampled_from([f"{d} {n}" for d in ("S2MM", "MM2S") for n in (0, 3, 5)]), max_size=3, unique=True
)
sizes = st.integers(1, 12_000).map(lambda words: 4 * words)


def test_greedy_leaves_room_for_a_buffer_that_reaches_into_a_wished_bank() -> None:
    demands = [
        Demand("wide", BANK + 16, bank=0),
        Demand("next", BANK + 32, bank=1),
        Demand("small", 64, bank=0),
    ]
    assert_legal(demands, place_buffers(demands, solver="greedy"))


@st.composite
def demand_lists(draw: st.DrawFn) -> list[Demand]:
    demands = []
    for n in range(draw(st.integers(1, 8))):
        nbytes, users = draw(sizes), tuple(draw(channels))
        bank = draw(st.none() | st.just(n))
        demands.append(Demand(f"b{n}", nbytes, users, bank=bank))
    at = draw(st.none() | st.integers(10 * BANK // GRANULE, 14 * BANK // GRANULE).map(lambda g: g * GRANULE))
    return [*demands, Demand("fixed", 4 * BANK // 2, ("MM2S 1",), at=at)]


@settings(max_examples=25, deadline=None)
@given(demands=demand_lists(), windows=st.sampled_from([("own",), ALL_WINDOWS]))
def test_both_solvers_place_legally_and_cpsat_is_never_worse(
    demands: list[Demand], windows: tuple[str, ...]
) -> None:
    greedy, best = (place_buffers(demands, windows=windows, solver=s, effort=0.2) for s in SOLVERS)
    for plan in (greedy, best):
        assert_legal(demands, plan)
        assert plan.cost == counted(demands, plan)
    assert best.cost <= greedy.cost


@settings(max_examples=80, deadline=None)
@given(
    spec=st.lists(st.tuples(st.integers(1, 4), channels), min_size=3, max_size=4),
    shape=st.sampled_from([(2, 4), (3, 3), (4, 2)]),
)
def test_cpsat_is_as_good_as_trying_everything(
    spec: list[tuple[int, list[str]]], shape: tuple[int, int]
) -> None:
    kind = small_tile(*shape)
    demands = [Demand(f"b{n}", GRANULE * size, tuple(users)) for n, (size, users) in enumerate(spec)]
    best = None
    starts = [range(0, kind.memory_bytes - d.nbytes + 1, GRANULE) for d in demands]
    for offsets in product(*starts):
        ends = sorted((o, o + d.nbytes) for o, d in zip(offsets, demands, strict=True))
        if all(a[1] <= b[0] for a, b in pairwise(ends)):
            fixed = [replace(d, at=o) for o, d in zip(offsets, demands, strict=True)]
            cost = counted(fixed, spots(fixed), kind)
            best = cost if best is None else min(best, cost)
            if best == 0:
                break
    if best is None:
        with pytest.raises(MemtileError, match="bytes are missing"):
            place_buffers(demands, kind=kind, solver="cp-sat")
        return
    plan = place_buffers(demands, kind=kind, solver="cp-sat", effort=20)
    assert_legal(demands, plan, kind)
    assert (plan.cost, plan.optimal) == (best, True)


def spots(fixed: list[Demand]) -> Plan:
    return Plan({d.name: Spot("own", d.at or 0, range(0)) for d in fixed}, (), False, "", False)


def ping_pong(words: int = 4096) -> list[Demand]:
    return [Demand(name, 4 * words, ("S2MM 0", "MM2S 0")) for name in ("ping", "pong")]


def test_ping_and_pong_go_to_different_banks_and_cost_nothing() -> None:
    plan = place_buffers(ping_pong())
    assert (plan.cost, plan.optimal, plan.solver) == (0, True, "greedy")
    assert plan.places["ping"].banks != plan.places["pong"].banks


def test_side_by_side_they_meet_once() -> None:
    ping, pong = ping_pong()
    plan = place_buffers([replace(ping, at=0), replace(pong, at=ping.nbytes)])
    assert [tuple(c) for c in plan.collisions] == [("own", 0, ("MM2S 0", "S2MM 0"))]
    assert str(plan).splitlines()[-2:] == [
        "own bank 0: MM2S 0 meets S2MM 0",
        "collisions: 1, the fewest possible (cp-sat)",
    ]


def test_channels_that_do_not_run_together_do_not_meet() -> None:
    ping, pong = ping_pong()
    fixed = [replace(ping, at=0), replace(pong, at=ping.nbytes)]
    assert place_buffers(fixed, [{"S2MM 0"}, {"MM2S 0", "MM2S 1"}]).cost == 0


def test_in_interleaved_mode_the_place_does_not_matter_and_the_plan_says_so() -> None:
    plan = place_buffers(ping_pong(), interleaved=True)
    assert (plan.cost, plan.collisions, plan.optimal) == (0, (), True)
    assert str(plan).endswith("interleaved: every buffer touches all banks, placement does not matter")


@pytest.mark.feature("F15")
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_megabyte_and_a_half_fits_when_the_neighbours_help(solver: Solver) -> None:
    own = Demand("own", SIZE, ("S2MM 4", "MM2S 5"))
    others = [Demand(f"far{n}", SIZE // 2, ("S2MM 0", "MM2S 3")) for n in range(4)]
    plan = place_buffers([*others, own], windows=ALL_WINDOWS, solver=solver)
    assert_legal([*others, own], plan)
    assert plan.places["own"].window == "own"


def test_cpsat_finds_room_where_greedy_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten granules in three buffers around a fixed one: only one arrangement fits."""
    kind = small_tile(2, 6)
    demands = [Demand(f"b{n}", GRANULE * size) for n, size in enumerate((4, 3, 3))]
    demands.append(Demand("fixed", GRANULE, at=GRANULE * 6))
    with monkeypatch.context() as patched:
        patched.setattr("memtile.design.placement.installed", lambda: False)
        with pytest.raises(MemtileError, match="bytes are missing"):
            place_buffers(demands, kind=kind)
    plan = place_buffers(demands, kind=kind)
    assert_legal(demands, plan, kind)
    assert plan.solver == "cp-sat"


def test_two_runs_of_either_solver_give_the_same_plan() -> None:
    demands = [Demand(f"b{n}", 40 * 1024, (f"S2MM {n % 6}", f"MM2S {n % 5}")) for n in range(12)]
    for solver in SOLVERS:
        plans = [place_buffers(demands, solver=solver, effort=0.3) for _ in range(2)]
        assert plans[0] == plans[1]


def bank_conflicts(demands: list[Demand]) -> int:
    """Cycles that channels lose to bank arbitration when all run at once in linear mode."""
    tile, plan = MemoryTile(interleaved=False), place_buffers(demands)
    for demand in demands:
        place = tile.buffer(demand.name, demand.nbytes // 4, at=plan.places[demand.name].offset)
        for name in demand.channels:
            channel = (tile.s2mm if name.startswith("S2MM") else tile.mm2s)[int(name[-1])]
            if name.startswith("S2MM"):
                channel.start(tile.write(place))
                channel.feed(np.zeros(place.words, np.int32))
            else:
                channel.start(tile.read(place))
                channel.collect()
    return sum(use.spent.get(Cause.BANK_CONFLICT, 0) for use in tile.run().channels)


def test_a_plan_without_collisions_runs_without_bank_conflicts() -> None:
    free = [Demand(f"{d} {n}", 2048, (f"{d} {n}",)) for d in ("S2MM", "MM2S") for n in range(6)]
    packed = [replace(demand, at=n * demand.nbytes) for n, demand in enumerate(free)]
    assert (place_buffers(free).cost, place_buffers(packed).cost) == (0, 12 * 11 // 2)
    assert bank_conflicts(free) == 0
    assert bank_conflicts(packed) > 1000


def test_ortools_is_found_where_it_is_installed() -> None:
    assert placement_cpsat.installed()
