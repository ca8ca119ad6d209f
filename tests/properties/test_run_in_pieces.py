"""Does a run that is cut into pieces end in the very state, and the very cycle, of one that is not?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st

from memtile import Array
from memtile.arch.tiles import MEMORY
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.errors import DesignError
from memtile.explain.results import Status
from memtile.sim.loop.clock import Stop
from memtile.testing.rig import Rig
from support.designs.host_looks import Built, Hosted, Step, hosted_designs
from support.designs.makers import MAKERS, cut, differences
from support.designs.repeating_designs import EAGER

END = 40_000  # cycles
CUTS = st.lists(st.one_of(st.integers(1, 40), st.integers(1, 2000)), min_size=1, max_size=8)


@pytest.mark.slow
@pytest.mark.parametrize("what", MAKERS)
def test_pieces_are_the_whole(what: str) -> None:
    maker = MAKERS[what]

    @given(maker.designs, CUTS, st.booleans())
    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    def held(design: Any, cuts: list[int], skips: bool) -> None:
        cut(maker, design, cuts, skips)

    held()


@pytest.mark.slow
@given(hosted_designs(), CUTS)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_hosts_poll_in_the_same_cycles(design: Hosted, cuts: list[int]) -> None:
    whole, pieces = Built(design), Built(design)
    for built in (whole, pieces):
        built.array.engine.forward.free = EAGER
    try:
        for cycles in cuts:
            pieces.array.run(cycles)
        last, result = pieces.array.run(END), whole.array.run(END + sum(cuts))
    except DesignError as error:
        if {each.reason for each in error.problems} != {"bd_count"}:
            raise
        reject()  # hosts that start more at a time than the tile has descriptors for
    assume(result.status is not Status.LIMIT)  # an access that is under way at the limit may end behind it
    assert (last.status, last.cycles) == (result.status, result.cycles)
    assert pieces.did == whole.did
    assert not differences(whole.array.engine, pieces.array.engine)


@pytest.mark.parametrize("steps", ["wait", "pause"])
@pytest.mark.parametrize("cuts", [(130,), (100, 1, 98), (37, 63, 250)])
def test_a_cut_between_two_polls_moves_none(cuts: tuple[int, ...], steps: str) -> None:
    """A host that waits for tasks, and one that pauses while another one polls in vain."""
    loop, wait = Step("loop", 0, 300, 1), Step("wait", 3, 0, 1)
    hosts: dict[str, tuple[tuple[Step, ...], ...]] = {
        "wait": ((loop, wait, loop, wait),),
        "pause": ((Step("pause", 0, 700, 1), loop), (loop, wait, Step("lost", 3, 16, 1), wait)),
    }
    design = Hosted(20, 100, 2, "apart", 0, hosts[steps], ())  # a kernel keeps the array from being quiet
    whole, pieces = Built(design), Built(design)
    for cycles in cuts:
        pieces.array.run(cycles)
    assert pieces.array.run(END).cycles == whole.array.run(END + sum(cuts)).cycles
    assert pieces.did == whole.did
    assert not differences(whole.array.engine, pieces.array.engine)


@pytest.mark.parametrize("compares", [360, 420, 5000])
def test_a_cut_behind_the_last_word_moves_no_poll(compares: int) -> None:
    """A timer that is compared later lets a host look on, which it does in the same cycles."""
    steps = Step("loop", 0, 300, 1), Step("wait", 3, 0, 1), Step("lost", 3, 16, 1), Step("wait", 3, 0, 1)
    design = Hosted(20, 100, 2, "", compares, (steps,), ())
    whole = Built(design)
    ended = whole.array.run(END)
    assert ended.cycles > compares
    for at in range(310, 480, 13):
        pieces = Built(design)
        pieces.array.run(at)
        last = pieces.array.run(END - at)
        assert (last.status, last.cycles, pieces.did) == (ended.status, ended.cycles, whole.did), at


def copy_of_64_words() -> Array:
    array = Array("npu1", 1)
    tile = array.memory_tile(0)
    source, target = tile.buffer("x", 64, data=np.arange(64)), tile.buffer("y", 64)
    tile.mm2s[0].start(tile.read(source))
    tile.s2mm[0].start(tile.write(target))
    array.connect(tile.mm2s[0], tile.s2mm[0])
    return array


@pytest.mark.parametrize("cut", range(70, 84))
def test_a_cut_at_any_cycle_adds_none(cut: int) -> None:
    """Cuts before, in and behind the two cycles that show that nothing moves any more."""
    whole, array = copy_of_64_words(), copy_of_64_words()
    cycles = whole.run().cycles
    assert 72 < cycles < 82
    array.run(cut)
    assert array.run().cycles == cycles
    assert not differences(whole.engine, array.engine)


def _push(array: Array) -> None:
    tile = array.memory_tile(0)
    tile.mm2s[0].start(tile.read(tile.buffer("z", 8)))
    tile.s2mm[0].start(tile.write(tile.buffer("w", 8)))


def _set_lock(array: Array) -> None:
    array.memory_tile(0).own_door.write32(MEMORY.lock_value_base, 1)


def _request_lock(array: Array) -> None:
    """A release of lock 0 by 1, which is a read."""
    array.memory_tile(0).own_door.read32(MEMORY.lock_request_base + (1 << MEMORY.lock_request_value_lsb))


def _attach(array: Array) -> None:
    """A kernel whose first action takes no known time."""
    array.compute_tile(0, 2).run_kernel(lambda core: iter([core.put_stream([1])]))


@pytest.mark.parametrize("deed", [_push, _set_lock, _request_lock, _attach])
def test_a_run_behind_the_end_sees_what_was_done_since(deed: Callable[[Array], None]) -> None:
    """A lock that comes by a register, by a request, work by a queue, a kernel by Python."""
    array = copy_of_64_words()
    tile = array.memory_tile(0)
    tile.mm2s[1].start(tile.read(tile.buffer("a", 8)).guarded(tile.lock(0).acquire(), tile.lock(1).release()))
    tile.s2mm[1].start(tile.write(tile.buffer("b", 8)))
    array.connect(tile.mm2s[1], tile.s2mm[1])
    before = array.run().cycles
    assert array.run().cycles == before
    deed(array)
    assert array.run().cycles > before + 2


@pytest.mark.parametrize("deed", ["feed", "catch"])
def test_words_at_a_port_move_behind_the_end_too(deed: str) -> None:
    rig = Rig()
    ch = rig.s2mm(0) if deed == "feed" else rig.mm2s(0)
    rig.write_bd(0, Descriptor("memory", 8, OWN.address(0)))
    rig.issue(ch, 0, 1)
    engine = rig.engine
    assert engine.resume(END) is Stop.QUIET
    before = engine.now
    if deed == "feed":
        engine.feed(ch, np.arange(8, dtype=np.uint32))
    else:
        engine.catch(ch)
    assert engine.resume(END) is Stop.QUIET
    assert engine.now > before + 8
