"""IRON of November 2026 and of 2025: what programs of either write, built and run.

Texts that are compared are those of mlir-aie's FileCheck lines (test/python, main of November 2026).
"""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest

from memtile import iron
from memtile.iron.controlflow import if_, range_, yield_
from memtile.iron.device import NPU2Col1, Tile
from memtile.iron.dialects.aie import AIETileType, DMAChannelDir
from memtile.iron.helpers.taplib import TensorAccessPattern
from memtile.iron.ops.printing import text_with_places
from memtile.iron.placers import SequentialPlacer
from memtile.iron.runtime.runtime import IronRuntimeError
from memtile.iron.utils.trace import parse_trace

MM2S, S2MM = DMAChannelDir.MM2S, DMAChannelDir.S2MM
N = 64
LINE = np.ndarray[(N,), np.dtype[np.int32]]
PAIR = np.ndarray[(2 * N,), np.dtype[np.int32]]


def _mem() -> Tile:
    return Tile(0, 1, tile_type=AIETileType.MemTile)


def _sequence_of(body: Any, *buffers: iron.Buffer) -> str:
    runtime = iron.Runtime(body, [LINE])
    for buffer in buffers:
        runtime.add_buffer(buffer)
    return str(iron.Program(NPU2Col1(), runtime).resolve_program())


def _dma(*channels: iron.DmaChannel) -> str:
    runtime = iron.Runtime(lambda _: None, [LINE])
    runtime.add_tile_dma(iron.TileDma(channels[0].bds[0].buffer.tile, channels))
    return str(iron.Program(NPU2Col1(), runtime).resolve_program())


def test_chains_end_or_loop_and_walks_are_patterns() -> None:
    core = Tile(0, 2, tile_type=AIETileType.CoreTile)
    loops, ends = (iron.Buffer(np.ndarray[(256,), np.dtype[np.int32]], tile=core, name=n) for n in ("l", "e"))
    across = iron.Bd(loops, tap=TensorAccessPattern.full((16, 16)).T)
    text = _dma(
        iron.DmaChannel(MM2S, 0, [across]),
        iron.DmaChannel(MM2S, 1, [iron.Bd(ends)], loop=False, repeat_count=3),
    )
    assert "memref<256xi32> len = 256 sizes = [16, 16] strides = [1, 16])\n      aie.next_bd ^bb1" in text
    end = re.search(r"repeat_count = 3\).*%e .*?next_bd (\^bb\d)", text, re.S)
    assert end is not None
    assert re.search(rf"\n *{re.escape(end[1])}:.*\n *aie.end", text)


def test_out_of_order_channels_count_packets() -> None:
    buffer = iron.Buffer(LINE, tile=_mem(), name="b")

    def bds(**more: Any) -> list[iron.Bd]:
        return [iron.Bd(buffer, offset=8 * at, length=8, **({"packet": (0, 0)} | more)) for at in range(2)]

    text = _dma(
        iron.DmaChannel(S2MM, 0, bds(iteration=iron.BdIteration(3, 1)), repeat_count=1, out_of_order=True)
    )
    assert "repeat_count = 11) {out_of_order}" in text
    assert "{bd_id = 1 : i32" in text
    with pytest.raises(ValueError, match="only valid for an S2MM"):
        _dma(iron.DmaChannel(MM2S, 0, bds(), out_of_order=True))
    with pytest.raises(ValueError, match="BD at slot 0 must be packet-enabled"):
        _dma(iron.DmaChannel(S2MM, 0, bds(packet=None), out_of_order=True))
    with pytest.raises(ValueError, match="bd_id 0 is used by more than one BD"):
        _dma(*(iron.DmaChannel(S2MM, at, bds(), out_of_order=True) for at in range(2)))


def test_a_ring_of_descriptors_is_one_task() -> None:
    mem = _mem()
    ring = iron.Buffer(PAIR, tile=mem, name="ring")
    slots = [iron.Bd(ring, offset=at * N, length=N) for at in range(2)]

    def sequence(_: object) -> None:
        iron.tile_dma_chain(mem, S2MM, 0, slots, repeat_count=599).start(repeat_count=3).free()

    text = _sequence_of(sequence, ring)
    assert "} {repeat_count = 599 : i32}\n      aiex.dma_start_task(%0)\n" in text
    assert "aiex.dma_start_task(%0) {repeat_count = 3 : i32}\n      aiex.dma_free_task(%0)" in text
    assert "len = 64)\n        aie.next_bd ^bb1" in text


_BAD: dict[str, tuple[Any, str]] = {
    "next": ({"next": "self"}, r"Bd 0 has next='self'. The chain of a task follows the order of its list"),
    "iteration": (
        {"iteration": iron.BdIteration(2, 8)},
        "Bd 0 has an iteration, which a task's chain cannot",
    ),
    "locks": ({"acquires": [None]}, "Bd 0 has 1 acquires and 0 releases: give one of each, or none"),
}


@pytest.mark.parametrize("bad", _BAD)
def test_what_a_task_of_a_tile_cannot_have(bad: str) -> None:
    more, says = _BAD[bad]
    mem = _mem()
    buffer = iron.Buffer(LINE, tile=mem, name="b")
    with pytest.raises(ValueError, match=says):
        _sequence_of(lambda _: iron.tile_dma_chain(mem, S2MM, 0, [iron.Bd(buffer, **more)]), buffer)


def test_a_task_of_packets_in_any_order_is_for_a_channel_that_receives() -> None:
    mem = _mem()
    buffer = iron.Buffer(LINE, tile=mem, name="b")

    def task(direction: Any) -> str:
        slots = [iron.Bd(buffer, bd_id=0, packet=(0, 0))]
        return _sequence_of(
            lambda _: iron.tile_dma_chain(mem, direction, 0, slots, out_of_order=True), buffer
        )

    assert "out_of_order" in task(S2MM)
    with pytest.raises(ValueError, match=r"out_of_order is for channels that receive \(S2MM\)"):
        task(MM2S)


def test_a_task_reaches_its_own_tile_and_says_its_walk_in_whole_numbers() -> None:
    mem, core = _mem(), Tile(0, 2, tile_type=AIETileType.CoreTile)
    buffer, stray = iron.Buffer(LINE, tile=mem, name="b"), iron.Buffer(LINE, tile=core, name="stray")
    late = iron.Runtime(lambda _: late.add_buffer(buffer), [LINE])
    with pytest.raises(ValueError, match=r"The DMA of a tile moves data of its own memory"):
        _sequence_of(lambda _: iron.tile_dma_task(mem, MM2S, 0, stray), buffer, stray)
    with pytest.raises(TypeError, match=r"sizes\[1\] must be an int or an integer SSA value .* got float"):
        _sequence_of(lambda _: iron.tile_dma_task(mem, MM2S, 0, buffer, sizes=[1, 2.0]), buffer)
    with pytest.raises(ValueError, match=r"sizes\[0\] is 2: the outermost of four sizes"):
        _sequence_of(lambda _: iron.tile_dma_task(mem, MM2S, 0, buffer, sizes=[2, 1, 1, 8]), buffer)
    with pytest.raises(IronRuntimeError, match="Cannot register a Buffer after DMA resolution"):
        iron.Program(NPU2Col1(), late).resolve_program()


@iron.jit
def replayed(_a: iron.In, _c: iron.Out, *, uses: iron.DispatchTime[np.int32] = 2) -> object:
    """A memory tile that sends what it holds several times; nothing says a channel."""
    shim, mem = Tile(tile_type=AIETileType.ShimNOCTile), Tile(tile_type=AIETileType.MemTile)
    held = iron.Buffer(LINE, tile=mem, name="held")
    empty, full = iron.Lock(mem, name="empty"), iron.Lock(mem, name="full")
    into, out = iron.Flow(shim, mem), iron.Flow(mem, shim)
    source, target = into.endpoint(mem), out.endpoint(mem)

    def sequence(a: Any, c: Any, n: Any) -> None:
        empty.set(n)
        into.fill(a)
        source.task(
            iron.Bd(held, acquires=[iron.Acquire(empty, n)], releases=[iron.Release(full, n)])
        ).start()
        target.task(
            iron.Bd(held, acquires=[iron.Acquire(full)], releases=[iron.Release(empty)]), runs=n
        ).start()
        out.drain(c, sizes=[1, 1, n, N], strides=[0, 0, N, 1], wait=True)

    runtime = iron.Runtime(sequence, [LINE, np.ndarray[(4 * N,), np.dtype[np.int32]], uses])
    for flow in (into, out):
        runtime.add_flow(flow)
    return iron.Program(NPU2Col1(), runtime).resolve_program()


def test_a_buffer_of_a_memory_tile_is_sent_as_often_as_the_call_says() -> None:
    data = iron.arange(N, dtype=np.int32)
    got = iron.zeros(4 * N, dtype=np.int32)
    replayed(data, got, uses=3)
    np.testing.assert_array_equal(got.numpy(), [*np.tile(np.arange(N), 3), *[0] * N])


@iron.jit
def counted(_a: iron.In, *, n: iron.DispatchTime[np.int32] = 4) -> object:
    return iron.Program(NPU2Col1(), iron.Runtime(lambda *_: None, [LINE, n])).resolve_program()


def test_a_text_leaves_open_what_a_call_gives() -> None:
    assert "(%arg0: memref<64xi32>, %arg1: i32)" in counted.as_mlir()
    assert "(%arg0: memref<64xi32>)" in counted.specialize(n=3).as_mlir()


def test_ends_of_a_route() -> None:
    mem, cores = Tile(tile_type=AIETileType.MemTile), [Tile(tile_type=AIETileType.CoreTile) for _ in range(2)]
    flow = iron.Flow(mem, cores)
    with pytest.raises(ValueError, match="is not an end of this Flow"):
        flow.endpoint(_mem())
    with pytest.raises(
        ValueError, match=r"is on .*, not .*; a DMA program can only run its own tile's channels"
    ):
        iron.TileDma(cores[0], [iron.DmaChannel(S2MM, flow.endpoint(cores[1]), [])])
    with pytest.raises(ValueError, match=r"is S2MM \(its Flow decides which way it points\), not MM2S"):
        iron.TileDma(cores[0], [iron.DmaChannel(MM2S, flow.endpoint(cores[0]), [])])
    with pytest.raises(ValueError, match=r"has no number yet: call rt\.add_flow"):
        assert flow.endpoint(mem).channel
    with pytest.raises(ValueError, match=r"Flow must be registered with rt\.add_flow"):
        _sequence_of(flow.fill)


def test_open_channels_are_those_that_nothing_else_has() -> None:
    mem, core = _mem(), Tile(0, 2)
    held = iron.Buffer(LINE, tile=mem, name="held")
    opened, pinned = iron.Flow(core, mem), iron.Flow(core, mem, src_channel=0, dst_channel=0)
    runtime = iron.Runtime(lambda _: None, [LINE])
    runtime.add_flow(opened)
    runtime.add_flow(pinned)
    channels = [iron.DmaChannel(S2MM, flow.endpoint(mem), [iron.Bd(held)]) for flow in (opened, pinned)]
    runtime.add_tile_dma(iron.TileDma(mem, channels))
    text = str(iron.Program(NPU2Col1(), runtime).resolve_program())
    assert "DMA : 1, %logical_mem, DMA : 1)" in text
    assert "aie.dma_start(S2MM, 1, " in text


def _pipeline(body: Any, steps: Any = np.int32) -> str:
    fifo, back = iron.ObjectFifo(LINE, name="in"), iron.ObjectFifo(LINE, name="out")

    def core(source: Any, target: Any) -> None:
        target.acquire(1)[0] = source.acquire(1)[0]
        source.release(1)
        target.release(1)

    def sequence(a: Any, n: Any, into: Any, out: Any) -> None:
        def issue(group: iron.TaskGroup) -> iron.TaskGroup:
            into.fill(a, group=group)
            out.drain(a, wait=True, group=group)
            return group

        body(n, issue)

    worker = iron.Worker(core, [fifo.cons(), back.prod()])
    runtime = iron.Runtime(sequence, [LINE, steps, fifo.prod(), back.cons()])
    text = str(iron.Program(NPU2Col1(), runtime, workers=[worker]).resolve_program())
    return text[text.index("aie.runtime_sequence") :]


@pytest.mark.parametrize(
    ("managed", "words"), [(True, ["start", "await", "free"]), (False, ["start", "free", "start"])]
)
def test_a_transfer_of_the_programs_own_is_ended_by_it_alone(managed: bool, words: list[str]) -> None:
    fifo = iron.ObjectFifo(LINE, name="in")

    def sequence(a: Any, into: Any) -> None:
        task = into.fill(a, managed=managed, wait=managed)
        if not managed:
            task.free()
            into.fill(a, managed=False)

    def core(source: Any) -> None:
        source.acquire(1)
        source.release(1)

    worker = iron.Worker(core, [fifo.cons()])
    runtime = iron.Runtime(sequence, [LINE, fifo.prod()])
    text = str(iron.Program(NPU2Col1(), runtime, workers=[worker]).resolve_program())
    assert re.findall(r"dma_(start|await|free)_task", text) == words


def _staged(n: Any, issue: Any) -> None:
    for _, group in iron.TaskGroup.pipelined(n):
        issue(group)


def test_steps_of_a_pipeline_overlap() -> None:
    rolled = _pipeline(_staged)  # a count that is an argument of the sequence
    assert re.search(r"scf.if .*scf.for .* iter_args\(%\w+ = %\w+, %\w+ = %\w+\).*scf.yield", rolled, re.S)
    words = re.findall(r"configure_task_for @out|await_task", _pipeline(lambda _, issue: _staged(3, issue)))
    waits = [word == "await_task" for word in words]
    assert waits == [False, False, True, False, True, True]


def _carried(n: Any, issue: Any, *, ends: bool = True) -> None:
    left: Any = None
    for _, (before,), (last,) in range_(1, n, iter_args=[issue(iron.TaskGroup())]):
        group = issue(iron.TaskGroup())
        before.finish()
        left = last
        if ends:
            yield_([group])
    left.finish()


def _out_of_branch(n: Any, issue: Any) -> None:
    with if_(n > 2):
        group = issue(iron.TaskGroup())
    group.finish()


def _in_loop(n: Any, issue: Any) -> None:
    group = issue(iron.TaskGroup())
    for _ in range_(n):
        group.finish()


def test_groups_finish_where_their_transfers_are() -> None:
    assert "scf.yield %" in _pipeline(_carried)
    with pytest.raises(
        ValueError, match=r"must end with yield_\(\[\.\.\.\]\), one entry per iter_arg \(1 here\)"
    ):
        _pipeline(lambda n, issue: _carried(n, issue, ends=False))
    with pytest.raises(RuntimeError, match="issued inside an if_/range_ body that this finish"):
        _pipeline(_out_of_branch)
    with pytest.raises(RuntimeError, match="issued before the range_ this finish"):
        _pipeline(_in_loop)


def test_a_program_of_two_configurations() -> None:
    child = iron.Runtime(lambda _: None, [LINE], name="child")
    config = iron.DeviceConfiguration("dev", NPU2Col1(), runtimes=[child])

    def sequence(pair: Any) -> None:
        with config.configure():
            child.call(pair.window(N, (N,)))
            with pytest.raises(RuntimeError, match="Nested configuration scopes"), config.configure():
                pass

    entry = iron.Runtime(sequence, [PAIR])
    main = iron.DeviceConfiguration("main", NPU2Col1(), runtimes=[entry])
    text = str(iron.Program.compose([main, config], entry=entry).resolve_program())
    assert 'attributes {iron.configuration_count = 2 : i32, iron.entry = "main:sequence"}' in text
    assert "to offset: [64], sizes: [64]" in text
    assert "aiex.run @child (%reinterpret_cast) : (memref<64xi32>)" in text
    with pytest.raises(ValueError, match="Runtime 'child' already belongs to configuration 'dev'"):
        iron.DeviceConfiguration("other", NPU2Col1(), runtimes=[child])
    with pytest.raises(ValueError, match="goes beyond it"):
        iron.RuntimeData(PAIR).window(N + 1, (N,))


@iron.jit(is_placed=False)
def of_2025(_source: Any, _target: Any) -> object:
    """A program as mlir-aie 1.0 to 1.3 had them."""
    fifo, back = iron.ObjectFifo(LINE, 2, name="in"), iron.ObjectFifo(LINE, default_depth=2, name="out")
    factor = iron.GlobalBuffer(initial_value=np.array([3], np.int32), name="factor", use_write_rtp=True)
    barrier = iron.WorkerRuntimeBarrier()

    def core(of_in: Any, of_out: Any, factor: Any, barrier: Any) -> None:
        more = iron.LocalBuffer(initial_value=np.array([1], np.int32), name="more")
        barrier.wait_for_value(1)
        given, made = of_in.acquire(1), of_out.acquire(1)
        for at in range_(N):
            made[at] = given[at] * factor[0] + more[0]
        of_in.release(1)
        of_out.release(1)

    worker = iron.Worker(
        core, [fifo.cons(), back.prod(), factor, barrier], placement=Tile(0, 3), while_true=False
    )
    rt = iron.Runtime()
    with rt.sequence(LINE, LINE) as (a, c):
        rt.start(worker)
        rt.inline_ops(lambda buffer: buffer.__setitem__(0, 5), [factor])
        rt.set_barrier(barrier, 1)
        group = rt.task_group()
        rt.fill(fifo.prod(), a, task_group=group, placement=Tile(0, 0))
        rt.drain(back.cons(), c, task_group=group, wait=True)
        rt.finish_task_group(group)
    return iron.Program(NPU2Col1(), rt).resolve_program(SequentialPlacer())


def test_a_program_of_2025_runs() -> None:
    data, got = iron.arange(N, dtype=np.int32), iron.zeros(N, dtype=np.int32)
    of_2025(data, got)
    np.testing.assert_array_equal(got.numpy(), np.arange(N) * 5 + 1)


def test_what_programs_of_2025_cannot_do() -> None:
    workers = [iron.Worker(None) for _ in range(2)]
    SequentialPlacer(cores_per_col=2).make_placement(NPU2Col1(), workers)
    assert [(worker.tile.col, worker.tile.row) for worker in workers] == [(0, 2), (0, 3)]
    with pytest.raises(ValueError, match=r"cores_per_col=1\): 2 workers, and 1 places in 1 columns"):
        SequentialPlacer(1).make_placement(NPU2Col1(), [iron.Worker(None) for _ in range(2)])
    with pytest.raises(ValueError, match=r"rt.start\(\) belongs into `with rt.sequence"):
        iron.Runtime().start(*workers)
    with pytest.raises(IronRuntimeError, match="the Runtime has no sequence"):
        iron.Program(NPU2Col1(), iron.Runtime()).resolve_program()
    with pytest.raises(ValueError, match="a LocalBuffer is made in the function of a Worker"):
        iron.LocalBuffer(LINE)
    with pytest.raises(ValueError, match="tile= and placement= are one"):
        iron.Worker(None, tile=Tile(0, 2), placement=Tile(0, 3))


_SETUP = """aie.device(npu1) {{
  %a = arith.constant {} : i32
  %v = arith.constant {} : i32
  aiex.npu.write32(%a, %v) {{column = 1 : i32, row = 2 : i32}} : i32, i32
  aiex.npu.write32({{address = 82144 : ui32, column = 1 : i32, row = 2 : i32, value = 370415965 : ui32}})
  aiex.npu.write32 {{address = 82148 : ui32, column = 1 : i32, row = 2 : i32, value = 808266042 : ui32}}
"""


def test_a_recorded_trace_is_read_by_the_text_of_its_design() -> None:
    words = ["80221002", "f0000000", "0003ed9e", "b81850fe", "908b9974", "908b9974", "908b9974", "908bfefe"]
    events = parse_trace(words, _SETUP.format(0x140D4, 0x1002))
    begins = [each["ts"] for each in events if each["ph"] == "B" and each["name"] == "LOCK_3_REL"]
    assert (len(begins), begins[0]) == (4, 6365)
    with pytest.raises(ValueError, match="the design's text writes no trace register"):
        parse_trace(words, "aie.device(npu1) {}")


def test_recorded_transfers_have_the_lines_that_ask_for_them() -> None:
    fifo = iron.ObjectFifo(LINE, name="there")
    back = fifo.cons().forward(name="back")
    rt = iron.Runtime()
    with rt.sequence(LINE, LINE) as (a, c):
        here = sys._getframe().f_lineno
        rt.fill(fifo.prod(), a)
        rt.drain(back.cons(), c, wait=True)
    module = iron.Program(NPU2Col1(), rt).resolve_program()
    text, places = text_with_places(module.operation)
    lines = [
        int(place.rpartition(":")[2])
        for line, place in zip(text.splitlines(), places, strict=True)
        if "dma_configure_task_for" in line
    ]
    assert lines == [here + 1, here + 2]
