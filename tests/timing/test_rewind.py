"""Does a model that is put back to its beginning do in each cycle what one that is made anew does?"""
# ruff: noqa: ARG001

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from memtile import Array
from memtile.arch.timing import chosen_timing
from memtile.explain.results import Result
from memtile.kernels import Core
from memtile.model.state.state_differences import differences
from memtile.sim.loop.rewind import ModelStart

Body = Callable[[Core, Any, Any, int], Iterator[Any]]
WORDS, BLOCKS = 16, 6


def plain(core: Core, come: Any, go: Any, number: int) -> Iterator[Any]:
    for n in range(BLOCKS):
        yield core.acquire(come.full)
        yield core.acquire(go.free)
        yield core.cycles(9 + number + n)
        yield core.release(come.free)
        yield core.release(go.full)


def endless(core: Core, come: Any, go: Any, number: int) -> Iterator[Any]:
    while True:
        yield core.acquire(come.full)
        yield core.acquire(go.free)
        yield core.cycles(11)
        yield core.release(come.free)
        yield core.release(go.full)


def greedy(core: Core, come: Any, go: Any, number: int) -> Iterator[Any]:
    """Never gives back what it takes."""
    for _ in range(BLOCKS):
        yield core.acquire(come.full)
        yield core.cycles(3)


def looking(core: Core, come: Any, go: Any, number: int) -> Iterator[Any]:
    """Computes for as long as its data say."""
    for n in range(BLOCKS):
        yield core.acquire(come.full)
        yield core.acquire(go.free)
        yield core.cycles(1 + int(core.read(come.buffer(n))[0]))
        yield core.release(come.free)
        yield core.release(go.full)


def timed(core: Core, come: Any, go: Any, number: int) -> Iterator[Any]:
    """Computes for as long as its own timer says, which is at a register."""
    for _ in range(BLOCKS):
        yield core.acquire(come.full)
        yield core.acquire(go.free)
        yield core.cycles(1 + core.bus.read(0x340F8) % 64)
        yield core.release(come.free)
        yield core.release(go.full)


def made(body: Body, cores: int = 2) -> Array:
    """Blocks of words go through cores, each of which has ``body`` for a kernel."""
    array = Array("npu1", 1)
    outside, shared = array.interface_tile(0), array.memory_tile(0)
    tiles = [array.compute_tile(0, 2 + n) for n in range(cores)]
    into = array.object_fifo("in", outside, shared, shape=WORDS, depth=2)
    come = [fifo.consumers[0] for fifo in into.split("part", tiles)]
    out = array.object_fifo("out", shared, outside, shape=WORDS, depth=2)
    go = [fifo.producer for fifo in out.gather("made", tiles)]
    data = array.external("data", np.arange(WORDS * BLOCKS, dtype=np.int32))
    results = array.external("results", np.zeros(WORDS * BLOCKS, np.int32))
    for n, tile in enumerate(tiles):
        tile.run_kernel(kernel_of(body, come[n], go[n], n), endless=True if body is endless else None)
        if body is timed:
            tile.engine.door(tile.index).write32(0x32038, 1)
    outside.mm2s[0].start(outside.read(data))
    outside.s2mm[0].start(outside.write(results))
    array.route()
    return array


def kernel_of(body: Body, come: Any, go: Any, number: int) -> Callable[[Core], Iterator[Any]]:
    def kernel(core: Core) -> Iterator[Any]:
        return body(core, come, go, number)

    return kernel


def again(array: Array, start: ModelStart, latency: int, most: int) -> Result:
    with chosen_timing({"external_latency": latency}):
        assert start.rewind()
        return array.run(most, data=False)


def anew(body: Body, latency: int, most: int) -> tuple[Array, Result]:
    with chosen_timing({"external_latency": latency}):
        array = made(body)
        return array, array.run(most, data=False)


LOCKS = ("taken", "released", "asked")


@pytest.mark.parametrize("body", [plain, endless, greedy, looking, timed], ids=lambda body: body.__name__)
def test_a_run_put_back_is_the_run_of_a_new_model(body: Body) -> None:
    array = made(body)
    start = ModelStart(array.engine)
    array.run(400, data=False)  # ends in the middle of what the kernels do
    for latency, most in ((150, 700), (40, 5000), (90, 333), (60, 5000)):
        result = again(array, start, latency, most)
        other, wanted = anew(body, latency, most)
        assert [each.name for each in differences(array.engine.state, other.engine.state)] == []
        assert (result.status, result.cycles, result.waiting) == (
            wanted.status,
            wanted.cycles,
            wanted.waiting,
        )
        assert [f.code for f in result.findings] == [f.code for f in wanted.findings]
        for core, running in other.engine.cores.running.items():
            mine = array.engine.cores.running[core]
            assert [getattr(mine, n) for n in LOCKS] == [getattr(running, n) for n in LOCKS]
