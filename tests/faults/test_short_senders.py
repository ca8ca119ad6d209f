"""Is it the channel which sends too little that is named, and not the core that waits for it?"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

from memtile import Array, Lock, MemoryTile, check_design

TURNS, WORDS = 4, 32


def product(*, weights: int = TURNS, tiles: int = TURNS, back: int = TURNS, takes: int = 1) -> Array:
    """A core that multiplies tiles by weights, which a memory tile sends so often.

    Args:
        weights: how often.
        tiles: how many.
        back: products that the memory tile takes.
        takes: weights that the core takes in a turn.
    """
    array = Array("npu1", columns=1)
    store, worker = array.memory_tile(0), array.compute_tile(0, 2)
    store.mm2s[0].start(store.read(store.buffer("weights", WORDS)), repeat=weights)
    store.mm2s[1].start(store.read(store.buffer("tile", WORDS)), repeat=tiles)
    store.s2mm[0].start(store.write(store.buffer("back", (back, WORDS))))
    names = ("w", "x", "y")
    buffers = {name: worker.buffer(name, WORDS) for name in names}
    free = {name: worker.lock(1, f"{name} free") for name in names}
    full = {name: worker.lock(0, f"{name} full") for name in names}
    for channel, name in zip(worker.s2mm, names, strict=False):
        transfer = worker.write(buffers[name]).guarded(free[name].acquire(), full[name].release())
        channel.start(transfer, loop=True)
    gives = worker.read(buffers["y"]).guarded(full["y"].acquire(), free["y"].release())
    worker.mm2s[0].start(gives, loop=True)

    def kernel(core: Any) -> Generator[Any, Any, None]:
        while True:
            for _ in range(takes):
                yield core.acquire(full["w"])
                yield core.release(free["w"])
            yield core.acquire(full["x"])
            yield core.acquire(free["y"])
            yield core.release(free["x"])
            yield core.release(full["y"])

    worker.run_kernel(kernel)
    for sender, receiver in ((store.mm2s[0], worker.s2mm[0]), (store.mm2s[1], worker.s2mm[1])):
        array.connect(sender, receiver)
    array.connect(worker.mm2s[0], store.s2mm[0])
    return array


def first(array: Array) -> tuple[str, str]:
    found = array.run().findings[0]
    return found.code, found.sides[0].who


def test_the_stream_that_ends_before_the_others_is_named() -> None:
    assert product().run().findings == ()
    found = product(weights=TURNS - 1).run().findings[0]
    assert (found.code, found.sides[0].who) == ("MT0304", "memory(0,1) MM2S 0 ('weights')")
    assert "'x full' of tile (0, 2) has what its next turn takes" in found.message
    assert found.message.endswith("waits for what that makes, at word 96 of 128 of BD 1.")
    assert found.fix.startswith("Let memory(0,1) MM2S 0 ('weights') send more, as often as the others")
    (before,) = check_design(lambda: product(weights=TURNS - 1)).findings
    assert (before.code, before.sides[0].who) == ("MT0108", "memory(0,1) MM2S 0")


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": 2 * TURNS - 2, "takes": 2, "tiles": TURNS - 1},  # others end as early
        {"takes": 2},  # the core takes too many: as many came as of the tiles
        {"back": TURNS + 1},  # all are sent as often
    ],
)
def test_a_sender_is_not_blamed_for_a_core_that_takes_more_or_others_that_end_too(
    wrong: dict[str, int],
) -> None:
    code, who = first(product(**wrong))
    assert code in ("MT0304", "MT0323", "MT0324")
    assert "weights" not in who


def test_nobody_sends_too_little_where_all_that_is_wanted_came() -> None:
    """Tiles are left over that no product is wanted of."""
    found = product(weights=TURNS - 1, back=TURNS - 1, tiles=TURNS + 2).run().findings
    assert found
    assert not any("send more, as often as" in each.fix for each in found)


def repeated(runs: int, *, units: int = 4, blocks: int = 1, takes: int = 4) -> Array:
    """A memory tile sends blocks again and again, to one that takes some of them."""
    array = Array("npu1", columns=1)
    store = array.memory_tile(0)
    ready = store.lock(units, "ready")
    chain = [store.read(store.buffer(f"block{n}", WORDS)).guarded(ready.acquire()) for n in range(blocks)]
    store.mm2s[0].start(*chain, repeat=runs)
    store.s2mm[0].start(store.write(store.buffer("back", (takes, WORDS))))
    array.connect(store.mm2s[0], store.s2mm[0])
    return array


def test_what_a_lock_has_left_says_how_often_a_task_should_have_run() -> None:
    (finding,) = repeated(3).run().findings
    assert finding.code == "MT0304"
    assert finding.sides[0].who == "memory(0,1) MM2S 0 ('block0')"
    assert "has run its task 3 times and ended, and lock 0 'ready'" in finding.message
    assert finding.fix.endswith("run its task 4 times (repeat_count = 3).")
    assert repeated(4).run().good
    assert finding.evidence.runs == 4


def test_all_descriptors_of_a_repeated_chain_make_one_run_of_it() -> None:
    (finding,) = repeated(2, units=6, blocks=2, takes=6).run().findings
    assert "has run its task 2 times and ended" in finding.message
    assert finding.message.split("; ")[0].endswith("still holds enough for one more run")
    assert finding.fix.endswith("run its task 3 times (repeat_count = 2).")


def test_half_a_run_of_a_chain_is_no_run() -> None:
    """The lock has a unit for one of two descriptors, and the receiver lacks one block."""
    assert says_nothing_of_runs(repeated(2, units=5, blocks=2, takes=5))


@pytest.mark.parametrize("units", [3, 10, 63])
def test_a_lock_that_holds_more_or_less_than_the_receiver_waits_for_says_nothing(units: int) -> None:
    (finding,) = repeated(3, units=units).run().findings
    assert (finding.evidence.runs, finding.fix) == (0, "Send as many words as are received.")


def test_a_task_of_an_interface_tile_may_run_too_seldom_too() -> None:
    array = Array("npu1", columns=1)
    store, door = array.memory_tile(0), array.interface_tile(0)
    given = array.external("given", np.arange(WORDS, dtype=np.int32))
    door.mm2s[0].start(door.read(given).guarded(door.lock(4, "ready").acquire()), repeat=3)
    store.s2mm[0].start(store.write(store.buffer("back", (4, WORDS))))
    array.connect(door.mm2s[0], store.s2mm[0])
    (finding,) = array.run().findings
    assert (finding.sides[0].who, finding.evidence.runs) == ("interface(0,0) MM2S 0 ('given')", 4)


def sends(*runs: int, units: int = 4) -> tuple[Array, MemoryTile, Lock]:
    """A memory tile that sends a block once for each unit of a lock, in tasks that run so often."""
    array = Array("npu1", columns=1)
    store = array.memory_tile(0)
    ready = store.lock(units, "ready")
    block = store.read(store.buffer("block", WORDS)).guarded(ready.acquire())
    for each in runs:
        store.mm2s[0].start(block, repeat=each)
    array.connect(store.mm2s[0], store.s2mm[0])
    return array, store, ready


def says_nothing_of_runs(array: Array) -> bool:
    """Whether a run that is stuck has findings, none of which says how often a task should run."""
    findings = array.run().findings
    return bool(findings) and all(not each.evidence.runs for each in findings)


@pytest.mark.parametrize(("runs", "blocks"), [((2, 1), 4), ((1,), 2)])
def test_a_sender_of_two_tasks_or_of_one_that_is_not_repeated_is_not_to_run_once_more(
    runs: tuple[int, ...], blocks: int
) -> None:
    """It is not known which of two tasks is short, or that a task which runs once is meant to be repeated."""
    array, store, _ = sends(*runs, units=blocks)
    store.s2mm[0].start(store.write(store.buffer("back", (blocks, WORDS))))
    assert says_nothing_of_runs(array)


def test_a_unit_that_two_channels_lack_does_not_say_which_of_them_runs_too_seldom() -> None:
    array, store, ready = sends(3, units=7)
    other = store.read(store.buffer("other", WORDS)).guarded(ready.acquire())
    store.mm2s[1].start(other, repeat=3)
    array.connect(store.mm2s[1], store.s2mm[1])
    for n in range(2):
        store.s2mm[n].start(store.write(store.buffer(f"back{n}", (4, WORDS))))
    assert says_nothing_of_runs(array)


def test_all_that_a_receiver_lacks_counts_in_its_queue_and_in_its_further_runs_too() -> None:
    """One more run would not be enough for these, and the lock has units for no more."""
    array, store, _ = sends(3)
    four = store.write(store.buffer("back", (4, WORDS)))
    store.s2mm[0].start(four)
    store.s2mm[0].start(four)
    assert says_nothing_of_runs(array)
    array, store, _ = sends(3)
    store.s2mm[0].start(store.write(store.buffer("back", WORDS)), repeat=5)
    assert says_nothing_of_runs(array)


def test_a_lock_that_is_used_up_confirms_nothing_that_is_not_known() -> None:
    array, store, _ = sends(3, units=3)
    four = store.write(store.buffer("back", (4, WORDS)))
    store.s2mm[0].start(four)
    store.s2mm[0].start(four)
    assert says_nothing_of_runs(array)


@pytest.mark.parametrize(("size", "runs"), [(1, 0), (2, 4)])
def test_of_a_ring_only_a_descriptor_that_has_begun_says_what_it_lacks(size: int, runs: int) -> None:
    """A core takes five blocks of which three come, or two pairs of blocks."""
    array = Array("npu1", columns=1)
    store, worker = array.memory_tile(0), array.compute_tile(0, 2)
    block = store.read(store.buffer("block", WORDS)).guarded(store.lock(4, "ready").acquire())
    store.mm2s[0].start(block, repeat=3)
    free, full = worker.lock(1, "free"), worker.lock(0, "full")
    taken = worker.write(worker.buffer("taken", size * WORDS))
    worker.s2mm[0].start(taken.guarded(free.acquire(), full.release()), loop=True)
    array.connect(store.mm2s[0], worker.s2mm[0])

    def kernel(core: Any) -> Generator[Any, Any, None]:
        for _ in range(2 if runs else 5):
            yield core.acquire(full)
            yield core.release(free)

    worker.run_kernel(kernel)
    assert array.run().findings[0].evidence.runs == runs


def test_of_two_senders_to_one_receiver_it_is_not_known_which_sends_too_little() -> None:
    array = Array("npu1", columns=1)
    store = array.memory_tile(0)
    bus = array.packet_bus("bus", *((store.mm2s[n], [store.s2mm[0]]) for n in range(2)))
    for n in range(2):
        block = store.read(store.buffer(f"block{n}", WORDS)).guarded(store.lock(4, f"ready{n}").acquire())
        store.mm2s[n].start(bus.streams[n].packets(block), repeat=3)
    store.s2mm[0].start(store.write(store.buffer("back", (7, WORDS))))
    assert says_nothing_of_runs(array)
