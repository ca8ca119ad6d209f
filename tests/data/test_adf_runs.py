"""Does a planned graph move and compute what its text says: buffers, streams, cascades, shared memory?"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from memtile import MemoryTile
from memtile.adf.buffer_turns import buffer_turns
from memtile.adf.description import Loop, Tiling
from memtile.adf.planning import plan_of
from memtile.adf.profiling import EVENT_COUNT, RUNNING_TO_IDLE, START_DIFFERENCE, START_TO_BYTES
from memtile.adf.running import GraphRun
from memtile.errors import DesignError
from memtile.explain.results import Status
from memtile.runs.options import RunOptions
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core
from support.adf.plans import Blocks, End, Net, Plan, PlannedKernel, PlannedMemory, calls, compute, ints
from support.adf.sketch import ROOT, Sketch, buffer, cascade, stream

SHIM, MEM, CORE, ABOVE = (0, 0), (0, 1), (0, 2), (0, 3)
DEVICES = ("npu1", "npu2")


def two(tile: tuple[int, int], at: int, nbytes: int) -> Blocks:
    """Ping and pong, side by side."""
    return Blocks(tile, (at, at + nbytes), nbytes)


def one(tile: tuple[int, int], at: int, nbytes: int) -> Blocks:
    return Blocks(tile, (at,), nbytes)


def shared_to_kernel(device: str, num_buffers: int = 2) -> Plan:
    """In -> shared buffer of 8 x 8, read in tiles of 4 x 4 -> kernel on 16 elements -> out."""
    g = Sketch()
    tiles = Tiling((8, 8), (4, 4), (0, 0), (Loop(0, 4, 2), Loop(1, 4, 2)))
    a, z = g.plio("in"), g.plio("out", "out")
    m = g.shared("m", "int32", (8, 8), [[]], [[tiles]], num_buffers=num_buffers)
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    kept = Blocks(MEM, (0, 256)[:num_buffers], 256)
    into, out = two(CORE, 1024, 64), two(CORE, 2048, 64)
    nets = (
        Net("in", "stream", (End(a, SHIM, shim_port=0),), (End(m.ins[0], MEM, 0, elements=64),), 4),
        Net(
            "m",
            "stream",
            (End(m.outs[0], MEM, 0, elements=64, tilings=(tiles,)),),
            (End(k.ins[0], CORE, 0, into, 16, 4),),
            4,
        ),
        Net("k", "stream", (End(k.outs[0], CORE, 0, out, 16, 4),), (End(z, SHIM, shim_port=0),), 4),
    )
    planned = PlannedKernel(k.id, CORE, 4)
    return Plan(g.description(), device, 1, (planned,), (PlannedMemory(m.id, kept, 1),), nets)


def add_one(x: Any, y: Any) -> None:
    ints(y)[:] = ints(x) + 1


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("num_buffers", [1, 2])
def test_tiles_of_a_shared_buffer_pass_a_kernel(device: str, num_buffers: int) -> None:
    plan = shared_to_kernel(device, num_buffers)
    run = GraphRun(plan, calls(**{f"k{plan.kernels[0].kernel}": compute(add_one)}))
    data = np.arange(3 * 64, dtype=np.int32).reshape(3, 8, 8)
    run.feed("in", data)
    run.init(ROOT)
    run.run(ROOT, 3)
    run.wait(ROOT)
    run.end(ROOT)
    found = run.result()
    wanted = data.reshape(3, 2, 4, 2, 4).transpose(0, 1, 3, 2, 4) + 1
    assert found.result.status is Status.FINISHED
    assert (found.outputs["gr.out"].words.view(np.int32) == wanted.ravel()).all()


@pytest.mark.parametrize("iterations", [1, None])
def test_after_the_last_end_what_is_on_its_way_arrives(iterations: int | None) -> None:
    """DEV-ADF-140: a `main` may read the files of its outputs; before `end()` time does not pass for that."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 64)], [buffer("int32", 64)])
    g.connect(g.plio("in", width=128, mhz=312.5), k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out", mhz=100))
    run = GraphRun(plan_of(g.description(), "xcve2802"), calls(**{f"k{k.id}": compute(add_one)}))
    run.feed("in", np.arange(64, dtype=np.int32))
    run.init(ROOT)
    run.run(ROOT, iterations)
    run.wait(ROOT, None if iterations else 200)
    left = len(run.outputs()["gr.out"].words)
    run.come_to_rest()
    assert len(run.outputs()["gr.out"].words) == left < 64
    run.end(ROOT)
    run.come_to_rest()
    found = run.outputs()["gr.out"].words
    assert (found == np.arange(len(found)) + 1).all()
    assert len(found) == (64 if iterations else left)


def pair(device: str, link: str, places: tuple[tuple[int, int], tuple[int, int]]) -> Plan:
    """In -> first -> second -> out; the two are joined by ``link``."""
    first, second = places
    kinds = {"stream": stream("int32"), "cascade": cascade(), "memory": buffer("int32", 16)}
    g = Sketch()
    a, z = g.plio("in"), g.plio("out", "out")
    k = g.kernel("k", [buffer("int32", 16)], [kinds[link]])
    j = g.kernel("j", [kinds[link]], [buffer("int32", 16)])
    into, out = two(first, 1024, 64), two(second, 4096, 64)
    between = two(second, 2048, 64) if first != second else one(second, 2048, 64)
    ends = {
        "stream": (End(k.outs[0], first), End(j.ins[0], second)),
        "cascade": (End(k.outs[0], first), End(j.ins[0], second)),
        "memory": (End(k.outs[0], first, elements=16), End(j.ins[0], second, -1, between, 16)),
    }[link]
    nets = (
        Net("in", "stream", (End(a, SHIM, shim_port=0),), (End(k.ins[0], first, 0, into, 16),), 4),
        Net("k", link, ends[:1], ends[1:], 4),
        Net("j", "stream", (End(j.outs[0], second, 1, out, 16),), (End(z, SHIM, shim_port=1),), 4),
    )
    kernels = PlannedKernel(k.id, first, 1, 0), PlannedKernel(j.id, second, 1, 1)
    return Plan(g.description(), device, 2, kernels, (), nets)


def by_stream(core: Core, x: Any, _: Any) -> Generator[Action, Any, None]:
    yield core.put_stream(ints(x) * 2)


def from_stream(core: Core, _: Any, y: Any) -> Generator[Action, Any, None]:
    ints(y)[:] = (yield core.get_stream(16)) + 5
    yield core.cycles(3)


def by_cascade(core: Core, x: Any, _: Any) -> Generator[Action, Any, None]:
    yield core.put_cascade(ints(x) * 2)


def from_cascade(core: Core, _: Any, y: Any) -> Generator[Action, Any, None]:
    ints(y)[:] = (yield core.get_cascade()) + 5


def double(x: Any, y: Any) -> None:
    ints(y)[:] = ints(x) * 2


def add_five(x: Any, y: Any) -> None:
    ints(y)[:] = ints(x) + 5


LINKS = {
    "stream": (by_stream, from_stream),
    "cascade": (by_cascade, from_cascade),
    "memory": (compute(double), compute(add_five)),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("link", LINKS)
def test_two_kernels_are_joined(device: str, link: str) -> None:
    run = GraphRun(*with_bodies(pair(device, link, (ABOVE, CORE)), *LINKS[link]))
    assert (numbers(run, 5) == np.arange(80) * 2 + 5).all()


def test_kernels_of_one_core_hand_over_without_locks() -> None:
    """One buffer: the second takes each of three blocks before the first gives the next one."""
    plan = pair("npu1", "memory", (CORE, CORE))
    plan = replace(plan, kernels=tuple(replace(each, repetition=3) for each in plan.kernels))
    run = GraphRun(*with_bodies(plan, *LINKS["memory"]))
    assert (numbers(run, 2, 48) == np.arange(96) * 2 + 5).all()
    locks = run.lowered.array.compute_tile(*CORE).locks
    assert not [lock for lock in locks if lock.name.startswith("gr.j.in")]


def with_bodies(plan: Plan, *bodies: Any) -> tuple[Plan, Any]:
    return plan, calls(**{f"k{each.kernel}": body for each, body in zip(plan.kernels, bodies, strict=True)})


def numbers(run: GraphRun, iterations: int, each: int = 16) -> Any:
    """What comes out of a graph that gets 0, 1, 2 and so on."""
    run.feed("in", np.arange(iterations * each, dtype=np.int32))
    run.init(ROOT)
    run.run(ROOT, iterations)
    run.end(ROOT)
    found = run.result()
    assert found.result.status is Status.FINISHED, found.result.waiting
    return found.outputs["gr.out"].words.view(np.int32)


def test_what_is_missing_of_an_input_is_said() -> None:
    plan = shared_to_kernel("npu1")
    run = GraphRun(plan, calls(**{f"k{plan.kernels[0].kernel}": compute(add_one)}))
    run.feed("in", np.arange(100, dtype=np.int32))
    run.init(ROOT)
    run.run(ROOT, 2)
    run.end(ROOT)
    found = run.result()
    assert found.result.status is Status.STUCK
    assert found.unfinished == ("gr.k",)
    assert [each.message for each in found.missing] == [
        "gr.in ran out of data: 100 int32 came, the iterations asked for need 128; 28 are missing"
    ]
    assert len(found.outputs["gr.out"].words) == 64
    (short,) = (each for each in found.result.findings if each.code == "MT0304")
    assert f"and {found.missing[0].message}." in short.message
    assert short.fix == "Let gr.in bring 128 int32, or run the graph for fewer iterations."
    waiting = "\n".join(found.result.waiting)
    assert "gr.k: waits for data in gr.k.in[0]" in waiting


@pytest.mark.parametrize("device", ["npu1", "npu2"])
def test_a_planned_graph_runs(device: str) -> None:
    """In -> shared buffer -> k -> j -> out, placed by the planner; NPUs: DEV-ADF-34."""
    g = Sketch()
    tiles = Tiling((8, 8), (4, 4), (0, 0), (Loop(0, 4, 2), Loop(1, 4, 2)))
    a, z = g.plio("in"), g.plio("out", "out")
    m = g.shared("m", "int32", (8, 8), [[]], [[tiles]], num_buffers=2)
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    j = g.kernel("j", [buffer("int32", 16)], [buffer("int32", 16)])
    for source, target in ((a, m.ins[0]), (m.outs[0], k.ins[0]), (k.outs[0], j.ins[0]), (j.outs[0], z)):
        g.connect(source, target)
    bodies = {f"k{k.id}": compute(double), f"k{j.id}": compute(add_five)}
    found = numbers(GraphRun(plan_of(g.description(), device), calls(**bodies)), 2, 64)
    wanted = np.arange(128).reshape(2, 2, 4, 2, 4).transpose(0, 1, 3, 2, 4) * 2 + 5
    assert (found == wanted.ravel()).all()


def test_runs_follow_each_other_and_keep_which_buffer_is_next() -> None:
    run = GraphRun(*with_bodies(pair("npu1", "memory", (ABOVE, CORE)), *LINKS["memory"]))
    run.init(ROOT)
    run.feed("in", np.arange(16 * 6, dtype=np.int32))
    for iterations in (1, 3, 2):
        run.run(ROOT, iterations)
        run.wait(ROOT)
    run.end(ROOT)
    assert (run.result().outputs["gr.out"].words == np.arange(96) * 2 + 5).all()


def test_a_run_without_end_stops_with_its_input() -> None:
    run = GraphRun(*with_bodies(pair("npu1", "stream", (ABOVE, CORE)), *LINKS["stream"]))
    run.init(ROOT)
    run.feed("in", np.arange(64, dtype=np.int32))
    run.run(ROOT)
    run.end(ROOT, 20)
    assert run.lowered.array.engine.now == 20
    found = run.result()
    assert found.result.status is Status.FINISHED
    assert (found.outputs["gr.out"].words == np.arange(64) * 2 + 5).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda run: run.run(ROOT, 1), r"gr: run\(\) is called before init; allowed is init first"),
        (lambda run: (run.init(ROOT), run.init(ROOT)), "init.. is called a second time"),
        (
            lambda run: (run.init(ROOT), run.run(ROOT, 0)),
            "run.. is called of 0 iterations; allowed is 1 or more",
        ),
        (lambda run: (run.init(ROOT), run.run(ROOT), run.run(ROOT, 1)), "while an earlier run continues"),
        (
            lambda run: (run.init(ROOT), run.run(ROOT), run.wait(ROOT)),
            "wait.. is called for a run without end",
        ),
        (lambda run: (run.init(ROOT), run.end(ROOT), run.run(ROOT, 1)), "run.. is called after end"),
        (
            lambda run: run.feed("nothing", np.zeros(1, np.int32)),
            "PLIO is 'nothing'; it must be gr.in, gr.out",
        ),
    ],
)
def test_calls_out_of_order_are_refused(call: Any, message: str) -> None:
    run = GraphRun(*with_bodies(pair("npu1", "memory", (ABOVE, CORE)), *LINKS["memory"]))
    with pytest.raises(DesignError, match=message):
        call(run)


@pytest.mark.parametrize(
    "blocks",
    [
        Blocks((0, 1), (0x80000 - 128,), 256),
        Blocks((0, 1), (0x80000 - 64, 0x100), 256),
        Blocks((0, 1), (0, 0), 256, ((0, 1), (1, 1))),
    ],
    ids=["goes on in the east", "ping goes on in the east", "pong in the east"],
)
def test_a_shared_buffer_lies_in_two_tiles(blocks: Blocks) -> None:
    plan = shared_to_kernel("npu1")
    kept = replace(plan.memories[0], blocks=blocks)
    plan = replace(plan, columns=2, memories=(kept,))
    run = GraphRun(plan, calls(**{f"k{plan.kernels[0].kernel}": compute(add_one)}))
    wanted = np.arange(192).reshape(3, 2, 4, 2, 4).transpose(0, 1, 3, 2, 4) + 1
    assert (numbers(run, 3, 64) == wanted.ravel()).all()


@pytest.mark.parametrize("num_buffers", [1, 2])
@pytest.mark.parametrize("device", ["npu1", "npu2"])
def test_several_writers_and_readers_share_a_buffer(device: str, num_buffers: int) -> None:
    """Two inputs write a half each, three kernels read all of it at their own speeds (DEV-ADF-30)."""
    g = Sketch()
    halves = [[Tiling((32,), (16,), (16 * n,))] for n in (0, 1)]
    m = g.shared("m", "int32", (32,), halves, 3, num_buffers=num_buffers)
    bodies = {}
    for n in (0, 1):
        g.connect(g.plio(f"in{n}"), m.ins[n])
    for n, cycles in enumerate((5, 300, 60)):
        k = g.kernel(f"k{n}", [buffer("int32", 16)], [buffer("int32", 16)])
        g.connect(m.outs[n], k.ins[0])
        g.connect(k.outs[0], g.plio(f"out{n}", "out"))
        bodies[f"k{k.id}"] = compute(double, cycles)
    run = GraphRun(plan_of(g.description(), device), calls(**bodies), RunOptions(check=True))
    data = np.arange(6 * 32, dtype=np.int32).reshape(6, 2, 16)
    for n in (0, 1):
        run.feed(f"in{n}", data[:, n])
    run.init(ROOT)
    run.run(ROOT, 6)
    run.end(ROOT)
    found = run.result()
    assert found.result.status is Status.FINISHED
    assert not found.result.findings
    for n in range(3):
        assert (found.outputs[f"gr.out{n}"].words == data.ravel() * 2).all()


def test_too_many_ports_for_the_locks_or_descriptors_are_refused_by_name() -> None:
    g = Sketch()
    strips = [Tiling((32, 8), (2, 8), (2 * n, 0)) for n in range(13)]
    m = g.shared("m", "int32", (32, 8), 1, [strips], num_buffers=2)
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    for source, target in (
        (g.plio("in"), m.ins[0]),
        (m.outs[0], k.ins[0]),
        (k.outs[0], g.plio("out", "out")),
    ):
        g.connect(source, target)
    wanted = (
        "gr.m.out[0]: its 2 buffers need 26 descriptors of memory(0,1) MM2S 0, of which 22 are free "
        "(AM020: 24 descriptors for this channel). Use another DMA channel, of the other parity, or fewer "
        "tilings."
    )
    with pytest.raises(DesignError, match=re.escape(wanted)):
        GraphRun(plan_of(g.description(), "npu1"), calls())
    tile = MemoryTile("npu1")
    names = [f"gr.m.in[{n}]" for n in range(6)]
    with pytest.raises(
        DesignError,
        match=r"^gr\.m: 6 writers and 6 readers of 6 buffers need 72 locks, of which 64 are free in the",
    ):
        buffer_turns(tile, "gr.m", names, names, 6)


@pytest.mark.parametrize("device", ["xcve2802", "xcve2302", "xc2ve3858"])
def test_versal_devices_run_graphs_with_the_streams_of_their_logic(device: str) -> None:
    g = Sketch()
    m = g.shared("m", "int32", (32,), 1, 1, num_buffers=2)
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    a, z = g.plio("in", width=128, mhz=312.5), g.plio("out", "out", width=64)
    for source, target in ((a, m.ins[0]), (m.outs[0], k.ins[0]), (k.outs[0], z)):
        g.connect(source, target)
    run = GraphRun(plan_of(g.description(), device), calls(**{f"k{k.id}": compute(double)}))
    begins, ends = g.owner(a), g.owner(z)
    profiles = [
        run.start_profiling(begins, ends, START_DIFFERENCE),
        run.start_profiling(ends, -1, START_TO_BYTES, 256),
        run.start_profiling(ends, -1, RUNNING_TO_IDLE),
        run.start_profiling(begins, -1, EVENT_COUNT),
    ]
    assert [run.read_profiling(each) for each in profiles] == [0, 0, 0, 0]
    run.feed("in", np.arange(128, dtype=np.int32))
    run.init(ROOT)
    run.run(ROOT, 4)
    run.end(ROOT)
    found = run.result()
    assert found.result.status is Status.FINISHED
    cycles = found.outputs["gr.out"].cycles
    assert cycles is not None
    wanted = [cycles[0], cycles[63] - cycles[0], cycles[-1] - cycles[0], 128]
    assert [run.read_profiling(each) for each in profiles] == wanted
    with pytest.raises(
        DesignError, match=r"gr\.in: start_profiling is io_total_stream_running_to_idle_cycles"
    ):
        run.start_profiling(begins, -1, RUNNING_TO_IDLE)
    with pytest.raises(DesignError, match=r"gr\.k: start_profiling is .*; it must be a PLIO"):
        run.start_profiling(k.id, -1, EVENT_COUNT)
    run.stop_profiling(profiles[0])
    with pytest.raises(DesignError, match="profile is 1; it must be one that start_profiling gave"):
        run.read_profiling(profiles[0])
    out = found.outputs["gr.out"]
    assert (out.words == np.arange(128) * 2).all()
    assert out.cycles is not None
    assert (np.diff(out.cycles) >= 0).all()
    (times,) = found.times
    assert (times.name, times.nbytes) == ("gr.out", 512)
    assert (times.first, times.last) == (out.cycles[0], out.cycles[-1])
    assert 2450 < times.throughput < 2550  # 64 bits at 312.5 MHz


def test_blocks_of_other_sizes_are_balanced() -> None:
    """Three calls of 16 elements for two of 24 (UG1079, Multirate)."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    j = g.kernel("j", [buffer("int32", 24)], [buffer("int32", 24)])
    g.connect(g.plio("in"), k.ins[0])
    g.connect(k.outs[0], j.ins[0])
    g.connect(j.outs[0], g.plio("out", "out"))
    plan = plan_of(g.description(), "npu1")
    assert [each.repetition for each in plan.kernels] == [3, 2]
    run = GraphRun(*with_bodies(plan, compute(double), compute(add_five)))
    assert (numbers(run, 2, 48) == np.arange(96) * 2 + 5).all()


def stream_beside_buffer(words: int) -> GraphRun:
    """The first writes a stream and a buffer; the second begins when it has the buffer, and reads both."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 16)], [stream("int32"), buffer("int32", 16)])
    j = g.kernel("j", [stream("int32"), buffer("int32", 16)], [buffer("int32", 16)])
    g.connect(g.plio("in"), k.ins[0])
    for source, target in zip(k.outs, j.ins, strict=True):
        g.connect(source, target)
    g.connect(j.outs[0], g.plio("out", "out"))

    def first(core: Core, x: Any, _: Any, y: Any) -> Generator[Action, Any, None]:
        yield core.put_stream(np.arange(words, dtype=np.int32))
        ints(y)[:] = ints(x)

    def second(core: Core, _: Any, x: Any, y: Any) -> Generator[Action, Any, None]:
        ints(y)[:] = ints(x) + (yield core.get_stream(words)).sum()

    run = GraphRun(plan_of(g.description(), "npu1"), calls(**{f"k{k.id}": first, f"k{j.id}": second}))
    run.init(ROOT)
    run.feed("in", np.arange(64, dtype=np.int32))
    run.run(ROOT, 4)
    run.end(ROOT)
    return run


def test_a_stream_that_its_reader_takes_too_late_hangs() -> None:
    """The deadlock of XD100's first performance tutorial: no FIFO holds what comes before the buffer."""
    assert stream_beside_buffer(2).result().result.status is Status.FINISHED
    found = stream_beside_buffer(64).result()
    assert found.result.status is Status.STUCK
    assert found.unfinished == ("gr.k", "gr.j")
    waiting = "\n".join(found.waits)
    assert "gr.k waits" in waiting
    assert "data in gr.j.in[1]" in waiting


def test_kernels_that_wait_for_each_other_are_named() -> None:
    """The first needs a block of the second before it gives one."""
    g = Sketch()
    a, z = g.plio("in"), g.plio("out", "out")
    k = g.kernel("k", [buffer("int32", 16), buffer("int32", 16)], [buffer("int32", 16)])
    j = g.kernel("j", [buffer("int32", 16)], [buffer("int32", 16), buffer("int32", 16)])
    g.connect(a, k.ins[0])
    g.connect(k.outs[0], j.ins[0])
    g.connect(j.outs[0], k.ins[1])
    g.connect(j.outs[1], z)
    bodies = {f"k{each.id}": compute(lambda *_: None) for each in (k, j)}
    run = GraphRun(plan_of(g.description(), "npu1"), calls(**bodies))
    run.init(ROOT)
    run.feed("in", np.arange(64, dtype=np.int32))
    run.run(ROOT, 4)
    run.end(ROOT)
    found = run.result()
    assert found.result.status is Status.STUCK
    assert found.unfinished == ("gr.k", "gr.j")
    assert found.iterations == {"gr": 0}
    assert not found.missing
    (finding,) = found.result.findings
    circle = "gr.k waits for data in gr.k.in[1]; gr.j waits for data in gr.j.in[0]"
    assert finding.message == f"Deadlock, each waits for the next: {circle}."


def test_buffers_lie_at_the_beginning_of_a_tile_without_kernels() -> None:
    """The tile of the buffers between two kernels has no program, and so neither stack nor heap."""
    plan = pair("npu1", "memory", ((0, 4), CORE))
    memory, other = plan.nets[1], two(ABOVE, 0, 64)
    nets = (plan.nets[0], replace(memory, targets=(replace(memory.targets[0], blocks=other),)), plan.nets[2])
    run = GraphRun(*with_bodies(replace(plan, nets=nets), *LINKS["memory"]))
    assert (numbers(run, 5) == np.arange(80) * 2 + 5).all()
