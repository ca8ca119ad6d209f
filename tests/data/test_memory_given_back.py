"""Is the memory of a model given back when nobody has it any more, and how soon?"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import NamedTuple
from weakref import ref

import numpy as np
import numpy.typing as npt
import pytest

from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.design.memory_tile import MemoryTile
from memtile.errors import DesignError
from memtile.jit.decorators import ENABLED
from memtile.jit.structs import Struct, place_like, place_of
from memtile.sim.loop import memory_pool
from memtile.sim.loop.engine import Engine
from memtile.sim.skip.compared_columns import arrays
from memtile.sim.skip.fast_forward import fast_forwarding
from memtile.sim.skip.records import Arrays
from memtile.testing.rig import Rig


@pytest.fixture
def by_hand() -> Iterator[None]:
    """The collector does nothing by itself."""
    ran()  # where this compiles the engine, what compiles keeps the model
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def seldom() -> Iterator[None]:
    """The collector is on, and never due."""
    gc.collect()
    before = gc.get_threshold()
    gc.set_threshold(1 << 30)
    yield
    gc.set_threshold(*before)


def ran() -> Engine:
    """An engine that ran, with a host in no hurry, words that came and some that wait."""
    rig = Rig()
    rig.engine.forward.on = True
    rig.write_bd(0, Descriptor("memory", 100, OWN.address(0), next=0))
    rig.issue(rig.mm2s(), 0)
    rig.catch(rig.mm2s())
    rig.feed(rig.s2mm(), 8)
    with rig.engine.checks.recorded():
        rig.engine.run(300)
    rig.engine.door(0, timed=True).write32(0, 7)
    rig.engine.run(1000)
    assert len(rig.engine.caught(rig.mm2s())) > 800
    return rig.engine


@pytest.mark.usefixtures("by_hand")
def test_an_engine_goes_at_once() -> None:
    engine = ran()
    memory, gone = ref(engine.state.memory), ref(engine)
    del engine
    assert gone() is None
    assert memory() is None


@pytest.mark.usefixtures("by_hand")
def test_what_came_out_stays_without_its_engine() -> None:
    engine = ran()
    words = engine.caught(6)
    before = words.copy()
    del engine
    ran()
    assert 7 in before
    assert np.array_equal(words, before)


@pytest.mark.usefixtures("by_hand")
def test_a_model_in_memory_of_another_begins_with_zeros() -> None:
    engine = ran()
    engine.state.memory[:] = 7
    engine.state.access_log[0] = 5
    place = engine.state.memory.ctypes.data
    del engine
    others = [Rig().engine.state for _ in range(memory_pool.AREAS + 1)]
    assert place in [state.memory.ctypes.data for state in others]
    for state in others:
        assert not state.memory.any()
        assert not state.access_log[0].any()
    for other in (ran(), ran()):  # what fast-forward knew of the first one is nothing to the second
        assert other.caught(6).tolist() == ran().caught(6).tolist()


@pytest.mark.usefixtures("by_hand")
def test_what_fast_forward_works_with_is_that_of_an_engine_that_is_gone() -> None:
    """Of one of the same kind: where its tables were, and how far it had jumped, is forgotten."""
    first, second = sending(), sending()
    first.run(5000)
    assert first.forward.jumps > 0
    work = first.forward._work
    del first
    second.run(5000)
    assert second.forward._work is work
    third = sending()
    third.run(5000)
    assert third.forward._work is not work
    assert second.forward.jumped == third.forward.jumped
    assert second.caught(6).tolist() == third.caught(6).tolist()


def sending() -> Engine:
    """An engine that is about to send a buffer for ever."""
    rig = Rig()
    rig.engine.forward.on = True
    rig.write_bd(0, Descriptor("memory", 100, OWN.address(0), next=0))
    rig.issue(rig.mm2s(), 0)
    rig.catch(rig.mm2s())
    return rig.engine


def small() -> MemoryTile:
    tile = MemoryTile()
    tile.mm2s[0].start(tile.read(tile.buffer("b", 300, data=np.arange(300))))
    tile.mm2s[0].expect(np.arange(300))
    with fast_forwarding(False):
        assert tile.run().good
    return tile


@pytest.mark.usefixtures("seldom")
def test_designs_go_before_others_need_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_pool, "MUCH", 1 << 20)
    monkeypatch.setattr(memory_pool, "resident", lambda: 0)  # as where the system does not say it
    engines = [ref(small().engine) for _ in range(8)]
    alive = sum(engine() is not None for engine in engines)
    assert alive <= 2


@pytest.mark.usefixtures("seldom")
@pytest.mark.skipif(not memory_pool.resident(), reason="this system does not say what memory a process has")
def test_pages_that_are_written_later_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_pool, "MUCH", 1 << 24)
    memory_pool.make_room()
    design = small()
    gone = ref(design.engine)
    pages = memory_pool.lend_pages(1 << 22, np.int64)[0]
    del design
    memory_pool.make_room()
    assert gone() is not None
    pages[:] = 1
    memory_pool.make_room()
    assert gone() is None


def test_what_is_kept_of_descriptors_does_not_keep_their_design() -> None:
    tile = MemoryTile()
    free = tile.lock(1, "free")
    read = tile.read(tile.buffer("b", 24)).guarded(free.acquire(), free.release())
    tile.mm2s[0].start(read, repeat=2)
    tile.mm2s[0].collect()
    assert tile.run().good
    gone = ref(tile.engine)
    del tile, free, read
    gc.collect()
    assert gone() is None


def test_a_door_without_its_model_says_so() -> None:
    door = Rig().engine.door(0, timed=True)
    gc.collect()
    with pytest.raises(DesignError, match="the model of this door is gone"):
        door.write32(0, 7)


def test_of_many_sizes_of_small_pages_few_are_kept() -> None:
    """Each design of a sweep may have a size of its own."""
    for count in range(1, 100):
        memory_pool.lend_pages(5000 + count, np.int64)
    waiting = {size: len(areas) for size, areas in memory_pool._areas.items()}
    assert sum(waiting.values()) == memory_pool.AREAS_IN_ALL
    assert max(waiting) == (5000 + 99) * 8
    assert not memory_pool.lend_pages(5000 + 99, np.int64)[1]
    assert memory_pool.lend_pages(5001, np.int64)[1]


class Two(NamedTuple):
    line: npt.NDArray[np.int64]
    sheet: npt.NDArray[np.uint8]


class Pair(Two, Struct):
    """Two arrays, which may be parts of one."""


def test_the_place_of_arrays_that_are_as_far_apart_as_others() -> None:
    areas = [np.zeros(8, np.int64) for _ in range(3)]
    pairs = [Pair(area[1:4], area[4:8].view(np.uint8).reshape(4, 8)) for area in areas]
    first = place_of(pairs[0])
    for area, pair in zip(areas[1:], pairs[1:], strict=True):
        place = place_like(pair, first, area.ctypes.data - areas[0].ctypes.data)
        assert pair.place is place
        assert place.words[:-2].tolist() == [area.ctypes.data + 8, 3, area.ctypes.data + 32, 4, 8]
        assert place.words[:-2].tolist() == place_of(Pair(*pair)).words[:-2].tolist()


@pytest.mark.skipif(not ENABLED, reason="MEMTILE_JIT=0: no address is handed on")
def test_arrays_of_fast_forward_are_where_compiled_code_looks_for_them() -> None:
    """Those of later engines are not looked at one by one: they are as far apart as the first ones were."""
    states = [Rig().engine.state for _ in range(3)]
    kept = [arrays(state) for state in states]  # all at once: each in memory of its own
    for made in kept:
        assert made.place is not None
        assert made.place.words[:-2].tolist() == place_of(Arrays(*made)).words[:-2].tolist()
        assert made.place.address == made.place.words.ctypes.data
        assert made.place.given.value == made.place.address
        assert made.place.result.value == made.place.address + 8 * (len(made.place.words) - 2)
