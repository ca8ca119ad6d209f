"""Is what no channel, kernel or packet can reach refused before the run, with both parties named?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from memtile import Array, Descriptor, MemoryTile, MemtileError
from memtile.arch.tiles import MEMORY
from memtile.bd.descriptor import Acquire, Dim, Release
from memtile.bd.windows import EAST, OWN, WEST, DmaAddress
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(MemtileError) as caught:
        call()
    return str(caught.value)


WINDOWS = "(AM020 chapter 5: DMA windows)"


@pytest.mark.feature("F15")
def test_a_buffer_that_spans_across_a_missing_neighbour() -> None:
    array = Array("npu1", columns=2)
    left, right = array.memory_tile(0), array.memory_tile(1)
    across_west = Descriptor("memory", 16, DmaAddress(OWN.address(0) - 8))
    across_east = Descriptor("memory", 16, DmaAddress(EAST.address(0) - 8))
    all_three = Descriptor("memory", 30, WEST.address(0), dims=(Dim(MEMORY.memory_words, 3), Dim(1)))
    assert refused(lambda: left.mm2s[0].start(across_west)) == (
        "memory tile (0,1), BD 0: address walk covers words 0x1fff8..0x20007, in the west and own "
        f"windows, but no memory tile is west of memory tile (0,1) {WINDOWS}. Stay in the windows that "
        "have a tile: own, east."
    )
    assert refused(lambda: right.s2mm[3].start(across_east)) == (
        "memory tile (1,1), BD 24: address walk covers words 0x3fff8..0x40007, in the own and east windows, "
        f"but no memory tile is east of memory tile (1,1) {WINDOWS}. "
        "Stay in the windows that have a tile: west, own."
    )
    assert "address walk covers words 0x0..0x40009, in the west and east windows, but" in refused(
        lambda: left.mm2s[0].start(all_three)
    )
    assert refused(lambda: MemoryTile().mm2s[0].start(across_west)).endswith(
        "in the west and own windows, but no memory tile is west of memory tile "
        f"{WINDOWS}. Stay in the windows that have a tile: own."
    )
    assert left.bd_pool.free(0) == 24
    left.mm2s[0].start(across_east)
    right.s2mm[3].start(across_west)


@pytest.mark.feature("F15")
def test_channels_4_and_5_have_no_neighbours() -> None:
    array = Array("npu1", columns=2)
    left, right = array.memory_tile(0), array.memory_tile(1)
    buffer, lock = right.buffer("b", 16), right.lock(0, "full")
    for n in (4, 5):
        assert refused(lambda n=n: left.mm2s[n].start(left.read(buffer))) == (
            f"memory tile (0,1), BD {24 * (n % 2)}: address walk covers words 0x40000..0x4000f, "
            f"in the east window, but MM2S {n} reaches the own window only {WINDOWS}. "
            "Use channels 0..3, which reach memory tile (1,1)."
        )
    mine = left.write(left.buffer("mine", 16))
    assert refused(lambda: left.s2mm[4].start(mine.guarded(left.seen(lock).acquire()))) == (
        "memory tile (0,1), BD 0: acquire names lock id 128, in the east window, but S2MM 4 reaches the own "
        f"window only {WINDOWS}. Use channels 0..3, which reach memory tile (1,1)."
    )
    left.s2mm[3].start(mine.guarded(left.seen(lock).acquire()))


@pytest.mark.feature("F17")
def test_locks_of_a_missing_neighbour_are_told_with_all_else_that_is_missing() -> None:
    tile = MemoryTile()
    locks = {"acquire": Acquire(WEST.lock(3), -1, True), "release": Release(EAST.lock(1), 1)}
    lonely = Descriptor("memory", 4, EAST.address(5), **locks)
    lines = refused(lambda: tile.mm2s[4].start(lonely)).splitlines()
    assert [line.split(" window, but ")[0].removeprefix("memory tile, BD 0: ") for line in lines] == [
        "address walk covers words 0x40005..0x40008, in the east",
        "address walk covers words 0x40005..0x40008, in the east",
        "acquire names lock id 3, in the west",
        "acquire names lock id 3, in the west",
        "release names lock id 129, in the east",
        "release names lock id 129, in the east",
    ]
    assert lines[1].endswith(
        f"MM2S 4 reaches the own window only {WINDOWS}. Use channels 0..3, which reach neighbours."
    )


@pytest.mark.feature("F28")
def test_a_kernel_names_its_core_and_the_tile_whose_buffer_or_lock_it_cannot_see() -> None:
    for touch in ("buffer", "lock"):
        array = Array("npu1", columns=2)
        far = array.compute_tile(0, 5)
        buffer, lock = far.buffer("theirs", 8), far.lock(1, "theirs")

        def curious(core: Core, touch: str = touch, buffer=buffer, lock=lock) -> Iterator[Action]:
            yield core.cycles(2)
            if touch == "buffer":
                core.read(buffer)
            yield core.acquire(lock)

        array.compute_tile(0, 3).run_kernel(curious)
        what = "buffer 'theirs'" if touch == "buffer" else "lock 0"
        assert refused(array.run) == (
            f"core (0, 3), kernel 'curious': the core does not reach {what} in tile (0, 5); it "
            "reaches south (0, 2), north (0, 4), own (0, 3) (AM020 chapter 4: a core reaches its own, "
            "north, south and west data memory)."
        )


def test_a_kernel_reaches_a_neighbours_buffers_and_locks_by_themselves() -> None:
    array = Array("npu1", columns=1)
    upper, lower = array.compute_tile(0, 3), array.compute_tile(0, 2)
    theirs, given = lower.buffer("theirs", 8), lower.lock(0, "given")
    lower.buffer("a", 8)
    upper.buffer("mine", 8, data=np.arange(8))  # at the same byte of the other tile

    def write(core: Core) -> Iterator[Action]:
        yield core.cycles(3)
        core.write(theirs, np.full(8, 7, np.int32))
        yield core.access(store=core.walk(theirs))
        yield core.release(given)

    def wait(core: Core) -> Iterator[Action]:
        yield core.acquire(given)

    upper.run_kernel(write)
    lower.run_kernel(wait)
    lower.expect(theirs, [7] * 8)
    assert array.run().good
