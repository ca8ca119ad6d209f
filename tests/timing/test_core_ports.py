"""Do the address generators of a core run together when their banks differ, and what does a conflict cost?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from memtile.arch.core import CORE
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Acquire, Descriptor, Dim
from memtile.bd.windows import DmaAddress, DmaLock
from memtile.errors import DesignError
from memtile.explain.outcome import outcome
from memtile.model.state.causes import Cause, CoreCause
from memtile.model.state.tile_columns import Placed
from memtile.sim.kernels.actions import Action, Pattern
from memtile.sim.kernels.kernel_core import Core
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from memtile.testing.rig import Rig
from support.designs.core_designs import COLUMN, CROSS, NORTH, OWN, SOUTH, WEST, Piece, set_lock, timelines

BASE = CORE.memory_windows["own"]
PAIR = 0x4000  # bytes of a pair of banks: a logical bank of 16 KB
GRANULE = 16


def pattern(first: int, bits: int = 256, steps: int = 1, stride: int = 0) -> Pattern:
    return Pattern(BASE + first + stride * np.arange(steps), bits)


def ran(*loads: Pattern, store: Pattern | None = None) -> str:
    """What a core alone does for one access pattern."""
    engine = Engine([Placed("compute")])

    def kernel(core: Core) -> Iterator[Action]:
        yield core.access(*loads, store=store)

    engine.attach_kernel(0, kernel)
    return timelines(engine, 12)[0].rstrip("d")


@pytest.mark.feature("F31", "F27")
def test_three_vector_ports_run_together_when_their_banks_differ() -> None:
    ports = [pattern(n * PAIR, steps=4, stride=32) for n in range(3)]
    assert ran(*ports[:2], store=ports[2]) == "####"


@pytest.mark.feature("F31", "F27")
@pytest.mark.parametrize(
    ("loads", "store", "seen"),
    [
        ((0, 64), 2 * PAIR, "B#"),
        ((0, PAIR), PAIR + 512, "B#"),
        ((0, 64), 128, "BB#"),
    ],
    ids=["two loads", "load and store", "all three"],
)
def test_each_further_vector_access_to_a_pair_costs_a_cycle(
    loads: tuple[int, int], store: int, seen: str
) -> None:
    assert ran(*(pattern(first) for first in loads), store=pattern(store)) == seen


@pytest.mark.feature("F27", "F31")
@pytest.mark.parametrize(("second", "seen"), [(GRANULE, "#"), (2 * GRANULE, "B#"), (PAIR, "#")])
def test_even_and_odd_granules_are_in_different_banks_of_a_pair(second: int, seen: str) -> None:
    assert ran(pattern(0, 32), pattern(second, 32)) == seen


@pytest.mark.feature("F31")
def test_a_vector_takes_both_banks_of_a_pair() -> None:
    assert [ran(pattern(0), pattern(GRANULE * n, 32)) for n in (4, 5)] == ["B#", "B#"]


@pytest.mark.feature("F31")
@pytest.mark.parametrize(("bits", "cycles"), [(256, 3), (32, 3), (16, 6), (8, 6)])
def test_stores_below_32_bit_read_then_write(bits: int, cycles: int) -> None:
    """DEV-CORE-2: two cycles of the bank, so of the step; loads of any width take one."""
    assert ran(store=pattern(0, bits, steps=3, stride=32)) == "#" * cycles
    assert ran(pattern(0, bits, steps=3, stride=32)) == "###"


def test_what_is_granted_is_kept_and_the_step_waits_for_the_rest() -> None:
    """DEV-CORE-1: the load of the free pair is not repeated while the store waits for its bank."""
    other = pattern(PAIR, steps=2)
    assert ran(pattern(0, steps=2), other, store=pattern(64, 8, steps=2)) == "B##B##"


def dma_against(core_first: int, timing: Timing | None = None) -> tuple[str, str]:
    """A strided MM2S of 8 words in bank 0 against a core's scalar loads: both timelines from cycle 6 on."""
    rig = Rig("compute", timing=timing)
    ch = rig.mm2s()
    rig.write_bd(0, Descriptor("compute", 8, DmaAddress(0), dims=(Dim(8, 0),)))
    rig.catch(ch)
    rig.issue(ch, 0)

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(5)
        yield core.access(pattern(core_first, 32, steps=8, stride=32))

    rig.engine.attach_kernel(0, kernel)
    text = ""
    for _ in range(25):
        rig.step()
        text += CoreCause(int(rig.engine.state.cores.why[0])).letter
    return rig.timeline(ch)[6:], text[5:]


@pytest.mark.feature("F31", "F27")
def test_core_and_dma_take_turns_at_a_bank() -> None:
    """DEV-ARB-1: channels come before cores in the first turn."""
    dma, core = dma_against(64)
    assert dma.startswith("#B" * 7 + "#")
    assert core.startswith("B#" * 8)


def test_core_and_dma_do_not_meet_in_different_banks() -> None:
    dma, core = dma_against(GRANULE)
    assert dma.startswith("#" * 8)
    assert core.startswith("#" * 8)


@pytest.mark.feature("F28")
@pytest.mark.parametrize(("side", "tile"), [("own", OWN), ("south", SOUTH), ("west", WEST), ("north", NORTH)])
def test_a_neighbour_competes_for_the_banks_of_the_tile_it_reaches(side: str, tile: int) -> None:
    """Two cores at the same bank of the tile on that side share it; the tile's own core is the other."""
    engine = Engine(CROSS)

    def kernel(core: Core) -> Iterator[Action]:
        yield core.access(Pattern(CORE.memory_windows[side] + np.zeros(4, dtype=np.int64), 256))

    def other(core: Core) -> Iterator[Action]:
        yield core.access(Pattern(BASE + np.zeros(4, dtype=np.int64), 256))

    engine.attach_kernel(OWN, kernel)
    if tile != OWN:
        engine.attach_kernel(tile, other)
    seen = timelines(engine, 10, cores=(OWN, tile))
    if tile == OWN:
        assert seen[0] == "####" + "d" * 6
    else:
        assert [text[:7] for text in seen] == ["#B#B#B#", "B#B#B#B"]


@pytest.mark.feature("F28")
@pytest.mark.parametrize("side", ["south", "west", "north"])
def test_an_address_of_a_missing_neighbour_is_refused(side: str) -> None:
    engine = Engine([Placed("compute", column=3, row=2), Placed("memory", column=3, row=1)])

    def kernel(core: Core) -> Iterator[Action]:
        yield core.access(Pattern(np.array([CORE.memory_windows[side]]), 32))

    engine.attach_kernel(0, kernel)
    with pytest.raises(DesignError, match=rf"address {CORE.memory_windows[side]:#x}; .*own 0x70000"):
        engine.run(10)


# locks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("delay", "seen"), [(0, "##"), (1, "#L#L"), (3, "#LLL#LLL")])
def test_a_lock_operation_costs_its_arbitration_even_uncontended(delay: int, seen: str) -> None:
    engine = Engine([Placed("compute")], Timing(core_lock=delay))

    def kernel(core: Core) -> Iterator[Action]:
        yield core.acquire(3)
        yield core.release(4)

    set_lock(engine, 0, 3, 1)
    engine.attach_kernel(0, kernel)
    assert timelines(engine, 12)[0].rstrip("d") == seen


def test_a_core_waits_for_its_lock_and_sees_a_release_one_cycle_later() -> None:
    """The release is made in cycle 5 + 1, the acquire granted in 7, the next action begins in 8."""
    engine = Engine(COLUMN)

    def giver(core: Core) -> Iterator[Action]:
        yield core.cycles(5)
        yield core.release(0)

    def taker(core: Core) -> Iterator[Action]:
        yield core.acquire(0, tile=0)
        yield core.cycles(2)

    engine.attach_kernel(0, giver)
    engine.attach_kernel(1, taker)
    assert timelines(engine, 12, cores=(0, 1)) == ["######Lddddd", "#LLLLLLL##dd"]


def test_a_core_that_waited_for_its_lock_hears_of_it_later() -> None:
    """DEV-LOCK-6: the lock is taken in cycle 7 as before; the second one is there, and costs one cycle."""
    engine = Engine(COLUMN, Timing(core_lock_wait=4))

    def giver(core: Core) -> Iterator[Action]:
        yield core.cycles(5)
        yield core.release(0, 2)

    def taker(core: Core) -> Iterator[Action]:
        yield core.acquire(0, tile=0)
        yield core.acquire(0, tile=0)
        yield core.cycles(2)

    engine.attach_kernel(0, giver)
    engine.attach_kernel(1, taker)
    assert timelines(engine, 17, cores=(0, 1)) == ["######L" + 10 * "d", "#LLLLLLLLLLL#L##d"]


def test_cores_and_channels_rotate_at_a_lock() -> None:
    """DEV-LOCK-2: one acquire per lock and cycle; channels before cores in the first turn."""
    rig = Rig("compute", timing=Timing(task_start=1))

    def kernel(core: Core) -> Iterator[Action]:
        for _ in range(2):
            yield core.acquire(0)

    take = Acquire(DmaLock(0), -1, True)
    rig.write_bd(0, Descriptor("compute", 1, DmaAddress(0), acquire=take))
    rig.engine.attach_kernel(0, kernel)
    rig.issue(rig.mm2s(), 0)
    rig.step(4)
    rig.set_lock(0, 3)
    assert timelines(rig.engine, 8)[0] == "LL#Ldddd"
    assert rig.spent(rig.mm2s())[Cause.LOCK_ACQUIRE] == 3


def test_locks_of_neighbours_are_those_of_the_core_numbering() -> None:
    engine = Engine(CROSS)
    for tile in (OWN, SOUTH, WEST, NORTH):
        set_lock(engine, tile, 5, 1)

    def kernel(core: Core) -> Iterator[Action]:
        for tile, first in ((SOUTH, 0), (WEST, 16), (NORTH, 32), (OWN, 48)):
            action = core.acquire(5, tile=tile)
            assert action.lock == first + 5
            yield action

    engine.attach_kernel(OWN, kernel)
    engine.run(20)
    values = engine.state.locks.value.reshape(len(CROSS), -1)[:, 5]
    assert values.tolist() == [0, 0, 0, 0, 0]


# accounting and skipping -----------------------------------------------------------------------------------


def test_causes_add_up_and_zeroisation_is_one_of_them() -> None:
    engine = Engine([Placed("compute")], Timing(zeroisation=9))

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(3)
        yield core.access(pattern(0))
        yield core.acquire(0)

    engine.run(2)
    engine.attach_kernel(0, kernel)
    engine.door(0).write32(0x16010, 1)
    engine.run(40)
    spent = dict(zip(CoreCause, engine.state.core_spent[0].tolist(), strict=True))
    assert spent[CoreCause.MEMORY_BUSY] == 9 - 3
    assert spent[CoreCause.IDLE] == 2  # nothing to do: the first run stops after two cycles
    assert spent[CoreCause.RUNNING] == 3 + 1 + 1
    assert sum(spent.values()) == engine.now
    assert "zeroisation = 9" in outcome(engine, Stop.QUIET, {}, []).assumed


def test_a_long_computation_is_skipped_to_its_very_end() -> None:
    """Both ways to run end in the same books; the loop that skips needs few steps for a million cycles."""

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(1_000_000)
        yield core.release(1)

    engine = Engine([Placed("compute")])
    engine.attach_kernel(0, kernel)
    engine.run(1_000_001)
    assert engine.state.locks.value[1] == 0
    engine.run(1_000_002)
    assert engine.state.locks.value[1] == 1
    assert engine.state.core_spent[0, CoreCause.RUNNING] == 1_000_001


def test_a_pattern_longer_than_the_core_holds_is_seamless() -> None:
    steps = 2040  # of the 2048 vectors of a memory
    engine = Engine([Placed("compute")])

    def kernel(core: Core) -> Iterator[Action]:
        piece = Piece("x", 0, (steps * 8,))
        yield core.access(core.walk(piece))

    engine.attach_kernel(0, kernel)
    engine.run(5000)
    assert engine.state.core_spent[0, CoreCause.RUNNING] == steps
