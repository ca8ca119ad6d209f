"""Does the explanation of a stuck design name everybody who could release the lock?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from memtile import Array, Status
from memtile.design.object_fifo import End
from memtile.model.dma import bd_fields
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core, Kernel


def hands_on(end: End, times: int, last: str) -> Kernel:
    def take(core: Core) -> Iterator[Action]:
        for _ in range(times):
            yield core.acquire(end.full)
            yield core.release(end.free)
        if last == "waits":
            yield core.acquire(end.free, -9)

    return take


LEFT = "; 16 words in its ingress buffer, 14 words in the switches before it are not taken"


def receiving(kernel_times: int, last: str) -> tuple[str, ...]:
    """A compute tile receives eight objects into two buffers; its kernel gives back only some of them."""
    array = Array("npu1", columns=1)
    shared, worker = array.memory_tile(0), array.compute_tile(0, 2)
    free, full = worker.lock(2, "free"), worker.lock(0, "full")
    buffers = tuple(worker.buffer(f"b{n}", 8) for n in range(2))
    moves = (worker.write(b).guarded(free.acquire(), full.release()) for b in buffers)
    worker.s2mm[0].start(*moves, loop=True)
    source = shared.buffer("source", 64, data=np.arange(64))
    shared.mm2s[0].start(shared.read(source))
    array.connect(shared.mm2s[0], worker.s2mm[0])
    worker.run_kernel(hands_on(End(worker, worker.s2mm[0], buffers, (free, full)), kernel_times, last))
    result = array.run()
    assert result.status is Status.STUCK
    return tuple(line.split(": ", 1)[1] for line in result.waiting if "waits for lock" in line)


def test_a_kernel_that_released_the_lock_before_is_named() -> None:
    channel, core = receiving(2, "waits")
    wait = "waits for lock 0 'free' (needs 1, has 0), "
    assert channel == f"{wait}released by core (0, 2) (kernel 'take'){LEFT}"
    assert core == "waits for lock 0 'free' (needs 9, has 0), and no running chain releases it"


def test_one_that_has_ended_is_named_as_ended() -> None:
    (channel,) = receiving(2, "ends")
    wait = "waits for lock 0 'free' (needs 1, has 0), "
    assert channel == f"{wait}released by core (0, 2) (kernel 'take', which has ended){LEFT}"


def test_one_that_could_is_named_as_one_that_may() -> None:
    channel, core = receiving(0, "waits")
    wait = "waits for lock 0 'free' (needs 1, has 0), "
    assert channel == f"{wait}and no running chain releases it; core (0, 2) (kernel 'take') may{LEFT}"
    assert core == "waits for lock 0 'free' (needs 9, has 0), and no running chain releases it"


def test_a_core_is_told_which_channel_releases_its_lock() -> None:
    array = Array("npu1", columns=1)
    fifo = array.object_fifo("f", array.compute_tile(0, 2), array.compute_tile(0, 3), shape=8)
    (end,) = fifo.consumers
    end.tile.run_kernel(hands_on(end, 1, "ends"))
    assert array.run().waiting[-1] == (
        "core (0, 3), kernel 'take': waits for lock 1 'f.full' (needs 1, has 0), "
        "released by compute(0,3) S2MM 0 'f' (BD 0), compute(0,3) S2MM 0 'f' (BD 1)"
    )


def test_a_neighbours_lock_is_told_with_its_tile_its_value_and_who_releases_it() -> None:
    array = Array("npu1", columns=2)
    left, right = array.memory_tile(0), array.memory_tile(1)
    buffer, never, full = right.buffer("b", 16), right.lock(0, "never"), right.lock(0, "full")
    right.s2mm[0].start(right.write(buffer).guarded(never.acquire(), full.release()))
    left.mm2s[0].start(left.read(buffer).guarded(left.seen(full).acquire(), left.seen(never).release()))
    array.run()
    waiting = array.run().waiting
    assert waiting == (
        "memory(0,1) MM2S 0, BD 0, word 0 of 16: waits for lock 1 'full' of tile (1, 1) (needs 1, has 0), "
        "released by memory(1,1) S2MM 0 (BD 0)",
        "memory(1,1) S2MM 0, BD 0, word 0 of 16: waits for lock 0 'never' (needs 1, has 0), "
        "released by memory(0,1) MM2S 0 (BD 0)",
    )


def fields_read(monkeypatch: pytest.MonkeyPatch, columns: int) -> int:
    """How often the report of a design in which all channels wait reads a field of a BD."""
    array = Array("npu1", columns)
    for column in range(columns):
        tile = array.memory_tile(column)
        for number in range(6):
            lock = tile.lock(0, f"never{number}")
            for side, move in ((tile.s2mm, tile.write), (tile.mm2s, tile.read)):
                buffer = tile.buffer(f"{side[number].name}", 8)
                side[number].start(move(buffer).guarded(lock.acquire(), lock.release()))
    reads, read_field = [], bd_fields.read_field

    def counted(*place: object) -> int:
        reads.append(place)
        return int(read_field(*place))

    monkeypatch.setattr(bd_fields, "read_field", counted)
    result = array.run()
    monkeypatch.undo()
    assert len(result.waiting) == 12 * columns
    return len(reads)


def test_the_report_grows_with_the_channels_and_no_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    one = fields_read(monkeypatch, 1)
    assert 0 < one < fields_read(monkeypatch, 4) <= 4 * one
