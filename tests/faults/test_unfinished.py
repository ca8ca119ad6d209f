"""Is a run that leaves work undone told from one that is finished, and what is left where?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memtile import Array, MemoryTile, Result, Status, load
from memtile.design.channels import Channel
from memtile.errors import DesignError
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core


def words(count: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.arange(count, dtype=np.int32)


def stuck(design: MemoryTile | Array, *, untimed: bool = False) -> tuple[str, ...]:
    result: Result = design.run(untimed=untimed)
    assert result.status is Status.STUCK
    assert not result.good
    return result.waiting


def ring(count: int) -> MemoryTile:
    """A ring of two buffers whose first lock should be 2."""
    tile = MemoryTile()
    buffers = [tile.buffer(name, 16) for name in "ab"]
    empty, full = tile.lock(0), tile.lock(0)
    fill = [tile.write(b).guarded(empty.acquire(), full.release()) for b in buffers]
    read = [tile.read(b).guarded(full.acquire(), empty.release()) for b in buffers]
    tile.s2mm[0].start(*fill, loop=True)
    tile.mm2s[0].start(*read, loop=True)
    tile.s2mm[0].feed(words(count))
    tile.mm2s[0].collect(np.int32)
    return tile


@pytest.mark.parametrize("untimed", [False, True])
def test_a_ring_that_cannot_begin_is_stuck_with_one_word_and_with_many(untimed: bool) -> None:
    wait = "S2MM 0, BD 0, word 0 of 16: waits for lock 0 (needs 1, has 0), "
    wait += "released by MM2S 0 (BD 2), MM2S 0 (BD 3)"
    for count, left in (
        (1, "1 word in its ingress buffer"),
        (16, "16 words in its ingress buffer"),
        (40, "16 words in its ingress buffer, 24 words at its port"),
    ):
        assert stuck(ring(count), untimed=untimed)[0] == f"{wait}; {left} are not taken"
    assert ring(0).run(untimed=untimed).status is Status.FINISHED


def test_words_that_no_task_takes_are_counted_where_they_wait() -> None:
    for fed, left in ((20, "4 words in its"), (50, "16 words in its ingress buffer, 18 words at its")):
        tile = MemoryTile()
        tile.s2mm[0].start(tile.write(tile.buffer("a", 16)))
        tile.s2mm[0].feed(words(fed))
        (line,) = stuck(tile)
        assert line.startswith(f"S2MM 0: no task takes {left}")
    tile = MemoryTile()
    tile.s2mm[0].feed(words(3))
    assert stuck(tile) == ("S2MM 0: no task takes 3 words in its ingress buffer",)


def test_words_that_no_task_sends_are_told() -> None:
    tile = MemoryTile()
    tile.mm2s[0].expect(words(8))
    assert stuck(tile) == ("MM2S 0: no task sends the elements that are missing",)


def through_an_array(sent: int, taken: int) -> Array:
    array = Array("npu1", columns=1)
    shared, worker = array.memory_tile(0), array.compute_tile(0, 2)
    shared.mm2s[0].start(shared.read(shared.buffer("source", sent, data=np.arange(sent))))
    if taken:
        worker.s2mm[0].start(worker.write(worker.buffer("target", taken)))
    array.connect(shared.mm2s[0], worker.s2mm[0])
    return array


@pytest.mark.parametrize("untimed", [False, True])
def test_words_in_the_switches_before_a_channel_are_not_forgotten(untimed: bool) -> None:
    assert through_an_array(16, 16).run(untimed=untimed).status is Status.FINISHED
    (line,) = stuck(through_an_array(17, 16), untimed=untimed)
    assert line == "compute(0,2) S2MM 0: no task takes 1 word in its ingress buffer"
    (line,) = stuck(through_an_array(38, 16), untimed=untimed)
    assert line == (
        "compute(0,2) S2MM 0: no task takes 16 words in its ingress buffer, 6 words in the switches before it"
    )
    sender, receiver = stuck(through_an_array(80, 0), untimed=untimed)
    assert sender.endswith("stream blocked; compute(0,2) S2MM 0 does not take it")
    assert receiver.startswith("compute(0,2) S2MM 0: no task takes 16 words in its ingress buffer, ")


def test_an_output_that_nobody_takes_says_so() -> None:
    tile = MemoryTile()
    tile.mm2s[0].start(tile.read(tile.buffer("a", 64)))
    (line,) = stuck(tile)
    assert line.endswith("stream blocked; nothing takes its words; collect or expect them")
    array = Array("npu1", columns=1)
    shared = array.memory_tile(0)
    shared.mm2s[0].start(shared.read(shared.buffer("a", 64)))
    line, port = stuck(array)
    assert line.endswith("stream blocked; nothing takes its words; connect it, or collect or expect them")
    assert port == "slave port DMA0 of tile (0, 1): 4 words wait, and nothing takes them"


def test_words_that_leave_for_where_nothing_is_are_told_with_the_port() -> None:
    array = Array("npu1", columns=1)
    shared = array.memory_tile(0)
    shared.mm2s[0].start(shared.read(shared.buffer("a", 6)))
    array.circuit(0, 1, "DMA0", "SOUTH0")
    array.circuit(0, 0, "NORTH0", "SOUTH0")
    (line,) = stuck(array)
    assert line == "master port SOUTH0 of tile (0, 0): 6 words wait, and nothing takes them"
    array = Array("npu1", columns=1)
    shared = array.memory_tile(0)
    shared.mm2s[0].start(shared.read(shared.buffer("a", 2)))
    assert stuck(array) == ("slave port DMA0 of tile (0, 1): 2 words wait, and nothing takes them",)


def test_a_copy_that_goes_to_two_names_the_one_that_does_not_take_it() -> None:
    array = Array("npu1", columns=1)
    shared, workers = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 3)]
    shared.mm2s[0].start(shared.read(shared.buffer("source", 80)))
    channels: list[Channel] = [worker.s2mm[0] for worker in workers]
    workers[0].s2mm[0].start(workers[0].write(workers[0].buffer("target", 80)))
    array.connect(shared.mm2s[0], *channels)
    sender, first, second = stuck(array)
    assert sender.endswith("stream blocked; compute(0,3) S2MM 0 does not take it")
    assert first.endswith("stream starved")
    assert second.startswith("compute(0,3) S2MM 0: no task takes 16 words in its ingress buffer, ")


def test_a_lock_that_overflows_is_an_error_of_the_run() -> None:
    tile = MemoryTile()
    lock, nameless = tile.lock(60, "credits"), tile.lock(63)
    source = tile.buffer("source", 4)
    moves = [tile.read(source).guarded(None, lock.release(3)) for _ in range(3)]
    tile.mm2s[0].start(*moves, tile.read(source).guarded(None, nameless.release()))
    tile.mm2s[0].expect(np.zeros(16, np.int32))
    result = tile.run()
    assert (result.status, result.exact, result.good) == (Status.FINISHED, True, False)
    assert result.errors == (
        "lock 0 'credits': overflow, a release above 63, where it stayed",
        "lock 1: overflow, a release above 63, where it stayed",
    )
    assert result.as_json()["errors"] == list(result.errors)
    assert "error: lock 0 'credits': overflow" in str(result)


def test_a_task_that_a_full_queue_dropped_is_an_error_of_the_run() -> None:
    tile = MemoryTile()
    (bd,) = tile.mm2s[0].start(tile.read(tile.buffer("source", 4)))
    for _ in range(5):
        tile.door.write32(tile.kind.queue_base + 6 * tile.kind.channel_stride, bd)
    tile.mm2s[0].collect()
    result = tile.run()
    assert (result.status, result.good) == (Status.FINISHED, False)
    assert result.errors == ("MM2S 0: Task_Queue_Overflow",)


def releasers(*before: int, queue: bool = False) -> str:
    """The line of a channel whose own chain or queue has the release that it waits for."""
    tile = MemoryTile()
    lock = tile.lock(0, "full")
    buffer = tile.buffer("b", 8)
    parts = [tile.read(buffer).guarded(lock.acquire(), None), tile.read(buffer).guarded(None, lock.release())]
    parts = [*(tile.read(buffer) for _ in before), *parts]
    for work in [[part] for part in parts] if queue else [parts]:
        tile.mm2s[0].start(*work)
    tile.mm2s[0].collect()
    (line,) = stuck(tile)
    return line.partition(", has 0), ")[2]


def test_a_release_behind_the_wait_itself_is_named() -> None:
    assert releasers() == "released by MM2S 0 itself, after this wait (BD 1)"
    assert releasers(1, 1) == "released by MM2S 0 itself, after this wait (BD 3)"
    assert releasers(queue=True) == "released by MM2S 0 itself, after this wait (BD 1, queued)"


def test_a_release_that_is_over_is_not_named() -> None:
    tile = MemoryTile()
    lock, other = tile.lock(0), tile.lock(0, "other")
    buffer = tile.buffer("b", 8)
    once, more = tile.read(buffer).guarded(None, lock.release()), tile.read(buffer).guarded(other.acquire())
    tile.mm2s[0].start(once, more)
    tile.mm2s[1].start(tile.read(buffer).guarded(lock.acquire(2)))
    for channel in tile.mm2s[:2]:
        channel.collect()
    first, second = stuck(tile)
    assert first.endswith("waits for lock 1 'other' (needs 1, has 0), and no running chain releases it")
    assert second.endswith("waits for lock 0 (needs 2, has 1), and no running chain releases it")


def test_an_untimed_run_names_its_limit_and_does_not_call_a_busy_channel_idle() -> None:
    tile = MemoryTile()
    tile.mm2s[0].start(tile.read(tile.buffer("b", 64)), loop=True)
    tile.mm2s[0].collect()
    result = tile.run(10, untimed=True)
    assert result.waiting == ("MM2S 0, BD 0, word 0 of 64: at work",)
    assert str(result).startswith("status: limit (untimed)")


def test_an_interrupted_kernel_says_where_it_was() -> None:
    def work(_: Core) -> Iterator[Action]:
        raise KeyboardInterrupt
        yield

    array = Array("npu1", columns=1)
    array.compute_tile(0, 2).run_kernel(work)
    result = array.run()
    assert result.status is Status.INTERRUPTED
    assert result.waiting == ("core (0, 2), kernel 'work': between two of its actions",)


@pytest.mark.parametrize("dtype", [object, "V0"])
def test_a_stream_is_not_collected_as_objects(dtype: str) -> None:
    with pytest.raises(DesignError, match=r"MM2S 0: dtype is .*; it must be a NumPy type of numbers"):
        MemoryTile().mm2s[0].collect(dtype)


def test_words_that_stay_behind_when_the_host_has_met_its_waits_are_told(tmp_path: Path) -> None:
    """A host that takes 16 of the 64 words that are sent to it."""
    text = (Path(__file__).parents[1] / "corpus" / "release-missing-fine.mlir").read_text("utf-8")
    file = tmp_path / "design.mlir"
    file.write_text(text.replace("%b[0, 0, 0, 0][1, 1, 1, 64]", "%b[0, 0, 0, 0][1, 1, 1, 16]"))
    result = load(str(file)).run(words(64), None).result
    (finding,) = result.findings
    assert (result.status, finding.code, finding.severity) == ("finished", "MT0323", "warning")
    assert finding.message.startswith("All waits of the host were met, but words are left over: ")
