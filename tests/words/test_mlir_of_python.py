"""Is a design with kernels and hosts in Python the same machine when its text is read again?

Forms are those of mlir-aie's tests (2026-08-14): test/dialect/AIEX/dma_tasks, test/npu-xrt.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memtile
from memtile import Array, End, MemoryTile, Transfer
from memtile.design.host import Host, HostAction
from memtile.errors import DesignError
from memtile.kernels import Action, Core
from memtile.mlir_writer.rolled import Loop, rolled
from support.mlir.round_trip import differences

EXAMPLES = int(os.environ.get("MEMTILE_WRITTEN", "1"))
"""Random designs; 500 in a deep run."""
WORDS, BLOCKS, STARTS = 16, 6, 9


def scaled(*, choose: bool = False) -> Array:
    """Blocks from external memory to a core, which doubles them, and back."""
    array = Array("npu1", columns=1)
    outside, tile = array.interface_tile(0), array.compute_tile(0, 2)
    come = array.object_fifo("come", outside, tile, shape=WORDS)
    go = array.object_fifo("go", tile, outside, shape=WORDS)
    source, sink = come.consumers[0], go.producer

    def double(core: Core) -> Iterator[Action]:
        for n in range(BLOCKS):
            yield core.acquire(source.full)
            yield core.acquire(sink.free)
            data = core.read(source.buffer(n))
            if choose and data[0] > 0:
                yield core.acquire(source.full)
            yield core.cycles(8)
            core.write(sink.buffer(n), 2 * data)
            yield core.release(source.free)
            yield core.release(sink.full)

    tile.run_kernel(double)
    values = np.arange(BLOCKS * WORDS, dtype=np.int32)
    result = np.zeros_like(values)
    come.producer.channel.start(outside.read(array.external("in", values)))
    go.consumers[0].channel.start(outside.write(array.external("out", result)))
    array.expect_array("out", result, 2 * values)
    return array


def hosted(
    steps: Callable[[Host, Array, Callable[[int], Transfer]], Iterator[HostAction]] | None = None,
) -> Array:
    """A host that starts more tasks than a queue holds, whose words a memory tile takes."""
    array = Array("npu1", columns=1)
    outside, shared = array.interface_tile(0), array.memory_tile(0)
    array.connect(outside.mm2s[0], shared.s2mm[0])
    shared.s2mm[0].start(shared.write(shared.buffer("block", WORDS)), repeat=STARTS)
    data = array.external("data", np.arange(STARTS * WORDS, dtype=np.int32).reshape(STARTS, WORDS))

    def part(n: int) -> Transfer:
        return outside.read(data, memtile.view((STARTS, WORDS), np.int32)[n : n + 1])

    def host(host: Host) -> Iterator[HostAction]:
        if steps is not None:
            yield from steps(host, array, part)
            return
        for n in range(STARTS):
            yield host.start(outside.mm2s[0], part(n))
        yield host.wait()

    array.host(host)
    return array


def test_a_kernel_becomes_loops_of_locks_and_calls(tmp_path: Path) -> None:
    text = memtile.to_mlir(scaled())
    assert differences(scaled(), text, tmp_path / "a.mlir") == []
    body = [line.strip() for line in text.partition("aie.core(")[2].partition("aie.end")[0].split("\n")]
    assert sum(line.startswith("scf.for") for line in body) == 1
    calls = [line for line in body if line.startswith("func.call @double(")]
    assert [call.partition(":")[0] for call in calls] == [
        f"func.call @double(%come_{n}, %go_{n}) " for n in range(2)
    ]
    assert 'link_with = "double.o"' in text
    assert "func.func private @double(memref<16xi32>, memref<16xi32>)" in text


def test_external_memory_is_what_the_host_passes() -> None:
    lines = [line.strip() for line in memtile.to_mlir(scaled()).split("\n")]
    for wanted in (
        "aie.runtime_sequence(%arg0: memref<96xi32>, %arg1: memref<96xi32>) {",
        "%0 = aiex.dma_configure_task(%shim_noc_tile_0_0, S2MM, 0) {",
        "aiex.dma_start_task(%0)",
        "aiex.dma_await_task(%0)",
    ):
        assert wanted in lines, wanted
    assert "aie.shim_dma" not in " ".join(lines)


def test_the_functions_of_a_kernel_give_the_same_data_again(tmp_path: Path) -> None:
    (path := tmp_path / "a.mlir").write_text(memtile.to_mlir(scaled()))
    functions = memtile.kernel_functions(scaled())
    values = np.arange(BLOCKS * WORDS, dtype=np.int32)
    done = memtile.load(path, functions=functions).run(values)
    assert np.array_equal(done.arrays["1"], 2 * values)


def test_a_host_awaits_the_oldest_task_where_the_queue_is_full(tmp_path: Path) -> None:
    text = memtile.to_mlir(hosted())
    steps = [line.strip().split("(")[0] for line in text.split("\n") if "aiex.dma_" in line]
    words = [each.rpartition("dma_")[2].partition("_")[0] for each in steps]
    assert words[:10] == ["configure", "start"] * 4 + ["await", "configure"]
    assert words.count("await") == words.count("start") == STARTS
    assert differences(hosted(), text, tmp_path / "a.mlir", hosts=True) == []


def test_several_tasks_of_a_channel_are_started_by_the_host(tmp_path: Path) -> None:
    def made() -> Array:
        array = Array("npu1", columns=1)
        shared = array.memory_tile(0)
        here, there = shared.buffer("here", 64), shared.buffer("there", 64)
        array.connect(shared.mm2s[0], shared.s2mm[0])
        for part in (slice(0, 32), slice(32, 64)):
            shared.mm2s[0].start(shared.read(here, memtile.view(64, np.int32)[part]))
        shared.s2mm[0].start(shared.write(there))
        return array

    text = memtile.to_mlir(made())
    assert text.count("aiex.dma_start_task") == 2
    assert text.count("aie.dma_start(") == 1
    assert differences(made(), text, tmp_path / "a.mlir") == []


def test_a_test_bench_can_be_left_out(tmp_path: Path) -> None:
    def made() -> Array:
        array = scaled()
        shared = array.memory_tile(0)
        shared.s2mm[0].start(shared.write(shared.buffer("fed", WORDS)))
        shared.s2mm[0].feed(np.zeros(WORDS, np.int32))
        return array

    text = memtile.to_mlir(made(), without_bench=True)
    assert differences(made(), text, tmp_path / "a.mlir") == []
    assert "aie.memtile_dma" in text


def waits(host: Host, array: Array, part: Callable[[int], Transfer]) -> Iterator[HostAction]:
    """A host that lets time pass."""
    yield host.start(array.interface_tile(0).mm2s[0], part(0))
    yield host.pause(8)


def decides(host: Host, array: Array, part: Callable[[int], Transfer]) -> Iterator[HostAction]:
    """A host that looks at external memory."""
    data = next(iter(array.engine.external.buffers.values())).array
    yield host.start(array.interface_tile(0).mm2s[0], part(int(data[0, 0] != 0)))


def one_lock() -> Array:
    """Two tasks of a channel that only release a lock."""
    array = Array("npu1", columns=1)
    shared = array.memory_tile(0)
    full = shared.lock(0, "full")
    array.connect(shared.mm2s[0], shared.s2mm[0])
    for name in "ab":
        shared.mm2s[0].start(shared.read(shared.buffer(name, 8)).guarded(None, full.release()))
    return array


FAULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "kernel": (
        lambda: scaled(choose=True),
        "core (0, 2) runs the Python kernel 'double', whose actions depend on data",
    ),
    "pause": (
        lambda: hosted(waits),
        "host sequence 'host' waits for a number of cycles, which no operation of a runtime sequence says",
    ),
    "choosing host": (
        lambda: hosted(decides),
        "host sequence 'host' does other steps with other data in external memory",
    ),
    "lock": (one_lock, "BD 0 of memory(0,1) MM2S 0 has a release alone"),
    "tile": (lambda: MemoryTile("npu1"), "the design is a memory tile alone"),
    "device": (lambda: Array("xc2ve3858", columns=1), "mlir-aie has no device xc2ve3858"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_what_a_sequence_cannot_say_is_refused_by_name(what: str) -> None:
    make, says = FAULTS[what]
    with pytest.raises(DesignError) as error:
        memtile.to_mlir(make())
    assert says in str(error.value)


def test_repeated_steps_are_loops() -> None:
    assert rolled("abcab") == tuple("abcab")
    assert rolled("CabdabdabdZ" * 2) == (Loop(2, ("C", Loop(3, tuple("abd")), "Z")),)


def random_design(random: np.random.Generator) -> Array:
    """A design of any kind: columns, FIFOs with splits and gathers, kernels, packets or a host."""
    array = Array(str(random.choice(["npu1", "npu2"])), columns=int(random.integers(1, 3)))
    for column in range(array.columns):
        _column(array, column, random)
    return array


def _column(array: Array, column: int, random: np.random.Generator) -> None:
    """External memory through a memory tile to some cores, which pass it on, and back."""
    dtype = np.dtype(random.choice(["int8", "int16", "int32", "float32"]))
    count, rounds, inner = (int(random.integers(1, high)) for high in (5, 7, 4))
    outside, shared = array.interface_tile(column), array.memory_tile(column)
    cores = [array.compute_tile(column, row) for row in array.device.compute_rows[:count]]
    shape = count * int(random.choice([2, 4])), int(random.choice([4, 16, 32]))
    depth = int(random.integers(1, 3))
    come = array.object_fifo(f"in{column}", outside, shared, shape=shape, dtype=dtype, depth=depth)
    go = array.object_fifo(f"out{column}", shared, outside, shape=shape, dtype=dtype)
    parts = come.split(f"part{column}", cores, depth=int(random.integers(1, 4)))
    made = go.gather(f"made{column}", cores, depth=int(random.integers(1, 3)))
    endless = bool(random.integers(2))
    for tile, source, sink in zip(cores, parts, made, strict=True):
        tile.run_kernel(passing(source.consumers[0], sink.producer, rounds * inner, endless=endless))
    _transfers(array, (come, go), (rounds * inner, *shape), dtype, random)


def passing(source: End, sink: End, rounds: int, *, endless: bool) -> Any:
    """A kernel that passes blocks on."""

    def block(core: Core, n: int) -> Iterator[Action]:
        yield core.acquire(source.full)
        yield core.acquire(sink.free)
        yield core.cycles(3)
        core.write(sink.buffer(n), core.read(source.buffer(n)))
        yield core.release(source.free)
        yield core.release(sink.full)

    def passes(core: Core) -> Iterator[Action]:
        for n in range(rounds):
            yield from block(core, n)

    def serves(core: Core) -> Iterator[Action]:
        n = 0
        while True:
            yield from block(core, n)
            n += 1

    return serves if endless else passes


def _transfers(
    array: Array, fifos: Any, shape: tuple[int, ...], dtype: Any, random: np.random.Generator
) -> None:
    """Start what moves external memory: at once, or by a host block for block."""
    come, go = fifos
    outside, back = come.producer.channel.tile, go.consumers[0].channel
    name = come.producer.channel.name
    source = array.external(f"source {name}", random.integers(0, 9, shape).astype(dtype))
    goal = array.external(f"goal {name}", np.zeros(shape, dtype))
    send = come.producer.channel
    if random.integers(2) or array.hosts:
        send.start(outside.read(source))
        back.start(outside.write(goal))
        return
    rounds, block = shape[0], memtile.view(shape, dtype)

    def host(host: Host) -> Iterator[HostAction]:
        for n in range(rounds):
            yield host.start(back, outside.write(goal, block[n : n + 1]))
            yield host.start(send, outside.read(source, block[n : n + 1]))
            if n % 3 == 2:
                yield host.wait(send)
        yield host.wait()

    array.host(host)


def test_random_designs_are_the_same_machine(tmp_path: Path) -> None:
    for seed in range(2, 2 + EXAMPLES):
        text = memtile.to_mlir(random_design(np.random.default_rng(seed)))
        made = random_design(np.random.default_rng(seed))
        assert differences(made, text, tmp_path / "a.mlir", hosts=bool(made.hosts)) == [], seed
