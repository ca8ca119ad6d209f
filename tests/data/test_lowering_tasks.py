"""Do several runs and tasks move what one long chain would, in the cycle run and word by word?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from memtile import Array, MemoryTile, MemtileError, Transfer, view
from memtile.access import lower
from memtile.access.views import View
from memtile.bd import Iteration

H = W = 64
CHANNELS = 32


def im2col(image: Any) -> Any:
    """3 x 3 windows of NHWC data with stride 2 and padding 1, the rows of the image in order."""
    padded = np.pad(image, ((1, 1), (1, 1), (0, 0)))
    return sliding_window_view(padded, (3, 3), axis=(0, 1))[::2, ::2].transpose(0, 1, 3, 4, 2)


def windows(rows: int) -> View:
    """im2col of an image of 8 columns and 4 bytes per pixel: two descriptors for each row of windows."""
    return im2col(view((rows, 8, 4), np.int8))


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(MemtileError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("untimed", [False, True])
def test_im2col_in_row_order_is_four_descriptors_in_two_tasks(untimed: bool) -> None:
    """The first row sees the border, the others come again 31 times; one chain would have 64 descriptors."""
    data = np.random.default_rng(1).integers(-128, 128, (H, W, CHANNELS), np.int8)
    tile = MemoryTile()
    image = tile.buffer("image", data.shape, np.int8, data=data)
    read = tile.read(image, im2col(view(data.shape, np.int8)))
    assert repr(read) == "Transfer(73728 words, 4 BDs in 2 tasks)"
    assert [(len(task.descriptors), task.runs) for task in read.tasks] == [(2, 1), (2, 31)]
    assert len(tile.mm2s[0].start(read)) == 4
    tile.mm2s[0].expect(im2col(data))
    result = tile.run(untimed=untimed)
    assert result.good
    (channel,) = result.channels
    assert (channel.tasks, channel.bds) == (2, 2 + 2 * 31)


def image_of(rows: int) -> tuple[MemoryTile, Any, np.ndarray]:
    data = np.random.default_rng(2).integers(-128, 128, (rows, 8, 4), np.int8)
    tile = MemoryTile()
    return tile, tile.buffer("image", data.shape, np.int8, data=data), data


def test_a_ring_is_one_chain_of_one_run() -> None:
    tile, image, data = image_of(8)
    read = tile.read(image, windows(8))
    assert [(len(task.descriptors), task.runs) for task in read.tasks] == [(2, 1), (2, 3)]
    assert len(tile.mm2s[0].start(read, loop=True)) == 8
    tile.mm2s[0].collect(np.int8)
    tile.run(max_cycles=4 * read.words)
    got, once = tile.mm2s[0].output(), im2col(data).ravel()
    assert len(got) > 2 * len(once)
    assert np.array_equal(got, np.resize(once, len(got)))


def test_a_guarded_transfer_is_one_chain_of_one_run() -> None:
    tile, image, data = image_of(8)
    gate, done = tile.lock(1, "gate"), tile.lock(0, "done")
    guarded = tile.read(image, windows(8)).guarded(gate.acquire(), done.release())
    assert repr(guarded) == "Transfer(144 words, 8 descriptors)"
    tile.mm2s[0].start(guarded)
    tile.mm2s[0].expect(im2col(data))
    assert tile.run().good
    assert (tile.lock_value(gate), tile.lock_value(done)) == (0, 1)


def test_a_chain_that_one_run_cannot_hold_says_what_can() -> None:
    tile, image, _ = image_of(32)
    read = tile.read(image, windows(32))
    assert repr(read) == "Transfer(576 words, 4 BDs in 2 tasks)"
    text = (
        "memory tile, read (MM2S): the transfer needs 32 descriptors in one run, a channel reaches 24 "
        "(AM020: BDs that one channel of the memory tile reaches). Start it as a task of its own, where it "
        "can run several times. Split the transfer over channels, or use fewer tiles per transfer."
    )
    assert refused(lambda: tile.mm2s[0].start(read, loop=True)) == text
    assert refused(lambda: read.guarded(tile.lock().acquire())) == text
    assert refused(lambda: tile.read(image, windows(32), iteration=False)) == text
    assert tile.bd_pool.free(0) == 24


def test_iteration_that_is_asked_for_never_becomes_one_run() -> None:
    tile, image, _ = image_of(8)
    read = tile.read(image, windows(8), iteration=True)
    assert len(read.tasks) == 2
    assert refused(lambda: read.guarded(tile.lock().acquire())) == (
        "Transfer(144 words, 4 BDs in 2 tasks): the transfer has 4 runs in 2 tasks; a guarded one must have "
        "one (AM025 DMA_BDn_7: a BD takes and gives its locks in every run). Lower it without "
        "iteration=True, or guard transfers of one run."
    )
    assert "the number of runs is 4; it must be 1" in refused(lambda: tile.mm2s[0].start(read, loop=True))


@pytest.mark.parametrize("value", [31, (1, 31), 0, "yes", 1.0])
def test_iteration_is_a_truth_value_or_nothing(value: Any) -> None:
    tile, image, _ = image_of(8)
    assert refused(lambda: tile.read(image, iteration=value)) == (
        f"buffer image: iteration is {value!r}; it must be True, False, or None (wherever it saves "
        "descriptors) (it allows runs and tasks, whose number memtile finds). Leave it out."
    )
    assert tile.read(image, windows(8), iteration=np.bool_(False)).is_one_run  # type: ignore[arg-type]


def test_a_repeat_says_how_many_runs_it_makes() -> None:
    tile = MemoryTile()
    buffer = tile.buffer("b", (31, 4))
    strip = Transfer(tile.read(buffer).descriptors, runs=31)
    assert refused(lambda: tile.mm2s[0].start(strip, repeat=31)) == (
        "memory tile, MM2S 0: repeat 31 of a transfer of 31 runs makes 961 runs, allowed are 1..256 (AM025 "
        "Start_Queue.Repeat_Count). Start several tasks, or a ring (loop=True), which never ends."
    )
    assert "the number of runs is 0, allowed are 1..256" in refused(
        lambda: tile.mm2s[0].start(strip, repeat=0)
    )


def test_several_tasks_are_repeated_with_the_same_descriptors() -> None:
    tile, image, data = image_of(8)
    numbers = tile.mm2s[0].start(tile.read(image, windows(8)), repeat=2, token=True)
    assert len(numbers) == 4
    tile.mm2s[0].expect(np.concatenate([im2col(data)] * 2))
    result = tile.run()
    assert result.good
    assert result.channels[0].tasks == 4


def test_tasks_that_the_queue_has_no_room_for_are_one_chain() -> None:
    tile, image, data = image_of(8)
    plain = tile.read(image)
    for _ in range(4):
        tile.mm2s[0].start(plain)
    assert len(tile.mm2s[0].start(tile.read(image, windows(8)))) == 8
    tile.mm2s[0].expect(np.concatenate([np.tile(data.ravel(), 4), im2col(data).ravel()]))
    assert tile.run().good
    for _ in range(4):
        tile.mm2s[0].start(plain)
    asked = tile.read(image, windows(8), iteration=True)
    assert refused(lambda: tile.mm2s[0].start(asked)) == (
        "memory tile, MM2S 0: the work is 2 tasks, and the task queue has room for 1 (AM020). Run, put more "
        "work into one chain, or have a host sequence start it (array.host)."
    )


def test_work_before_and_behind_is_in_chains_of_its_own() -> None:
    tile, image, data = image_of(8)
    plain = tile.read(image)
    numbers = tile.mm2s[0].start(plain, plain, tile.read(image, windows(8)), plain)
    assert len(numbers) == 2 + 4 + 1
    whole = data.ravel()
    tile.mm2s[0].expect(np.concatenate([whole, whole, im2col(data).ravel(), whole]))
    result = tile.run()
    assert result.good
    assert result.channels[0].tasks == 4


def test_one_token_comes_after_the_last_task() -> None:
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    image = tile.buffer("image", (8, 8, 4), np.int8)
    tile.mm2s[0].start(tile.read(image, windows(8)), token=True)
    tokens = [bool(word >> 31) for word in queue_words(tile, tile.read(image, windows(8)))]
    assert tokens == [False, True]


def queue_words(tile: Any, read: Transfer) -> list[int]:
    """What starting ``read`` writes to the queue of MM2S 1."""
    written: list[int] = []
    channel = tile.mm2s[1]
    channel._push = written.append
    channel.start(read, token=True)
    return written


def test_writes_take_tasks_too() -> None:
    """Five loops, the outermost of a prime number of turns beyond an iteration wrap: 64 runs and 3."""
    turns = 67
    order = view((turns, 2, 3, 2, 3)).transpose(0, 4, 3, 2, 1)
    tile = MemoryTile()
    buffer = tile.buffer("b", (turns, 2, 3, 2, 3))
    write = tile.write(buffer, order)
    assert [(len(task.descriptors), task.runs) for task in write.tasks] == [(1, 64), (1, 3)]
    data = np.arange(turns * 36, dtype=np.int32)
    tile.s2mm[0].start(write)
    tile.s2mm[0].feed(data)
    wanted = np.zeros((turns, 2, 3, 2, 3), np.int32)
    wanted.transpose(0, 4, 3, 2, 1)[...] = data.reshape(turns, 3, 2, 3, 2)
    tile.expect(buffer, wanted)
    assert tile.run().good


def test_a_repeated_walk_begins_again_on_its_iteration() -> None:
    """Two passes over five loops: one descriptor whose iteration is back after 7 of 14 runs."""
    order = view((7, 2, 3, 2, 3)).transpose(0, 4, 3, 2, 1)
    twice = lower(np.broadcast_to(order, (2, *order.shape)).request())
    (task,) = twice.tasks
    assert (len(task.descriptors), task.runs, task.descriptors[0].iteration.wrap) == (1, 14, 7)


def test_more_repetitions_than_a_repeat_count_are_more_tasks() -> None:
    """601 times the same, a prime, of which one task has at most 256 runs: 255, and 173 runs of two."""
    again = lower(np.broadcast_to(view(8), (601, 8)).request())
    assert [(len(task.descriptors), task.runs) for task in again.tasks] == [(1, 255), (2, 173)]


def test_a_repeat_begins_where_the_first_pass_did() -> None:
    """Iteration_Current stays where a task leaves it: 5 runs of a wrap of 3 are no repeat."""
    tile = MemoryTile()
    buffer = tile.buffer("b", 16, data=np.arange(16))
    piece = tile.read(buffer, view(16)[:2]).descriptors[0].but(iteration=Iteration(4, 3))
    uneven = Transfer((piece,), runs=5)
    assert refused(lambda: tile.mm2s[0].start(uneven, repeat=2)) == (
        "memory tile, MM2S 0: one pass of Transfer(10 words, 1 descriptors, 5 runs) ends in the middle of an "
        "iteration (AM025 DMA_BDn_6: Iteration_Current moves at every load). "
        "Start it as often as it shall run."
    )
    assert tile.bd_pool.free(0) == 24
    even = replace(uneven, runs=6)
    tile.mm2s[0].start(even, repeat=2)
    again = replace(uneven, once=lambda: tile.read(buffer, view(16)[:10]))
    tile.mm2s[0].start(again, repeat=2)
    pieces = [base + at for base in (0, 4, 8, 0, 4, 8) for at in range(2)]
    tile.mm2s[0].expect(np.array([*pieces, *pieces, *range(10), *range(10)], np.int32))
    assert tile.run().good
