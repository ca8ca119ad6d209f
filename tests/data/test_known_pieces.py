"""Are buffers and locks that a kernel names again those that it means, whatever else they could be?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from memtile import Array
from memtile.errors import DesignError
from memtile.kernels import Action, Core
from memtile.sim.kernels.kernel_core import PlaceCache


@dataclass
class Sliding:
    """A buffer that the kernel moves."""

    name: str
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    place: tuple[int, int] | None = None


def run(kernel: Any) -> Array:
    array = Array("npu1", 1)
    array.compute_tile(0, 2).run_kernel(kernel)
    assert array.run().good
    return array


def test_a_buffer_that_moves_is_where_it_is() -> None:
    seen: list[list[int]] = []

    def kernel(core: Core) -> Iterator[Action]:
        piece = Sliding("s", 0x100, (4,), np.dtype(np.int32))
        for n in range(3):
            piece.offset = 0x100 + 16 * n
            core.write(piece, np.full(4, n, np.int32))
            yield core.cycles(1)
        piece.offset, piece.shape = 0x100, (12,)
        seen.append(core.read(piece).tolist())
        yield core.cycles(1)

    run(kernel)
    assert seen == [[0] * 4 + [1] * 4 + [2] * 4]


def test_what_is_read_is_a_copy_as_it_is_now() -> None:
    """Through the buffer itself, through one that is equal, and through one with other elements."""
    array = Array("npu1", 1)
    tile = array.compute_tile(0, 2)
    own = tile.buffer("b", 4, dtype=np.int32)
    bytes_ = replace(own, shape=(16,), dtype=np.dtype(np.uint8))
    seen: list[Any] = []

    def kernel(core: Core) -> Iterator[Action]:
        for n in (1, 2):
            core.write(own, np.full(4, n, np.int32))
            seen.append(core.read(own))
            yield core.cycles(1)
        core.view(replace(own))[0] = -1
        seen.append(core.read(own))
        seen.append(core.read(bytes_))
        yield core.cycles(1)

    tile.run_kernel(kernel)
    assert array.run().good
    assert [each.tolist() for each in seen[:3]] == [[1] * 4, [2] * 4, [-1, 2, 2, 2]]
    assert seen[3].tolist() == [255] * 4 + [2, 0, 0, 0] * 3


def test_a_tile_that_is_named_comes_before_that_of_the_buffer() -> None:
    array = Array("npu1", 1)
    low = array.compute_tile(0, 2)
    own = low.buffer("b", 2, dtype=np.int32)
    lock = low.lock(1, "l")
    seen: list[int] = []

    def kernel(core: Core) -> Iterator[Action]:
        core.write(own, [1, 1])
        core.write(own, [2, 2], tile=(0, 3))
        seen.append(int(core.read(own)[0]))
        seen.append(int(core.read(own, tile=(0, 3))[0]))
        here, there = core.acquire(lock), core.acquire(lock, tile=(0, 3))
        seen.append(int(there.lock) - int(here.lock))
        yield here
        yield core.release(lock)
        yield core.release(lock, 1, tile=(0, 3))
        yield there

    low.run_kernel(kernel)
    assert array.run().good
    assert seen[:2] == [1, 2]
    assert seen[2] != 0


def test_a_lock_that_is_known_still_has_a_range() -> None:
    array = Array("npu1", 1)
    tile = array.compute_tile(0, 2)
    lock = tile.lock(1, "l")

    def kernel(core: Core) -> Iterator[Action]:
        yield core.acquire(lock)
        yield core.release(lock, 1000)

    tile.run_kernel(kernel)
    with pytest.raises(DesignError, match="is 1000, allowed are"):
        array.run()


def test_few_things_are_kept_and_only_what_cannot_change() -> None:
    @dataclass(frozen=True)
    class Fixed:
        number: int

    known = PlaceCache[int]()
    moving = Sliding("s", 0, (1,), np.dtype(np.int32))
    assert known.keep(moving, 3) == 3
    assert known.of(moving) is None
    things = [Fixed(n) for n in range(1000)]
    for n, thing in enumerate(things):
        assert known.keep(thing, n) == n
    assert known.of(things[-1]) == 999
    assert known.of(Fixed(999)) is None
    assert sum(known.of(thing) is not None for thing in things) <= 256
