"""Do steps of a pipeline overlap as deep as a program says, and do routes know their ends?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from memtile import iron
from memtile.iron.dataflow.flow import PacketDest
from memtile.iron.device import NPU2Col1, Tile
from memtile.iron.dialects.aie import AIETileType, DMAChannelDir
from memtile.iron.helpers.taplib import TensorAccessPattern

N, MOST = 16, 6
LINE: Any = np.ndarray[(N,), np.dtype[np.int32]]  # type: ignore[misc]
ALL: Any = np.ndarray[(MOST * N,), np.dtype[np.int32]]  # type: ignore[misc]
MM2S, S2MM = DMAChannelDir.MM2S, DMAChannelDir.S2MM


@pytest.fixture(autouse=True)
def _device() -> Iterator[None]:
    iron.set_current_device(NPU2Col1())
    yield
    iron.set_current_device(None)


def _design(steps: int, depth: int) -> Any:
    """A line a step goes through the memory tile."""
    fifo = iron.ObjectFifo(LINE, name="in")
    out = fifo.cons().forward(name="out")
    lines = TensorAccessPattern.full((1, MOST * N)).partition(MOST)

    def sequence(a: Any, b: Any, into: Any, back: Any) -> None:
        for step, group in iron.TaskGroup.pipelined(steps, depth):
            back.drain(b, lines[step], wait=True, group=group)
            into.fill(a, lines[step], group=group)

    runtime = iron.Runtime(sequence, [ALL, ALL, fifo.prod(), out.cons()])
    return iron.Program(iron.get_current_device(), runtime).resolve_program()


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_a_step_waits_for_the_one_as_far_back_as_the_pipeline_is_deep(steps: int, depth: int) -> None:
    text = str(_design(steps, depth))
    words = re.findall(r"configure_task_for @out|await_task", text[text.index("aie.runtime_sequence") :])
    found = ["await" if word == "await_task" else "issue" for word in words]
    expected: list[str] = []
    for step in range(steps):
        expected += ["issue", *(["await"] if step + 1 >= depth else [])]
    expected += ["await"] * min(steps, depth - 1)
    assert found == expected
    frees = re.findall(r"dma_free_task", text)
    assert len(frees) == 2 * steps


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("steps", [0, 1, 2, 3, MOST])
def test_as_many_lines_move_as_a_call_says(steps: int, depth: int) -> None:
    """A count that only the call knows: fewer steps than the pipeline is deep, as many, and more."""

    @iron.jit
    def staged(_a: iron.In, _b: iron.Out, *, n: iron.DispatchTime[np.int32]) -> object:  # type: ignore[type-arg]
        fifo = iron.ObjectFifo(LINE, name="in")
        out = fifo.cons().forward(name="out")
        lines = TensorAccessPattern.full((1, MOST * N)).partition(MOST)

        def sequence(a: Any, b: Any, count: Any, into: Any, back: Any) -> None:
            for step, group in iron.TaskGroup.pipelined(count, depth):
                back.drain(b, lines[step], wait=True, group=group)
                into.fill(a, lines[step], group=group)

        runtime = iron.Runtime(sequence, [ALL, ALL, n, fifo.prod(), out.cons()])
        return iron.Program(iron.get_current_device(), runtime).resolve_program()

    data, got = iron.arange(1, MOST * N + 1, dtype=np.int32), iron.zeros(MOST * N, dtype=np.int32)
    staged(data, got, n=steps)
    expected = np.where(np.arange(MOST * N) < steps * N, data.numpy(), 0)
    assert np.array_equal(got.numpy(), expected)


def test_a_pipeline_is_at_least_one_deep() -> None:
    with pytest.raises(ValueError, match=r"TaskGroup.pipelined: the depth is at least 1, not 0"):
        _design(2, 0)


def _tile(kind: AIETileType, *place: int) -> Tile:
    return Tile(*place, tile_type=kind)


def test_a_route_knows_its_ends() -> None:
    shim, mem, core = (
        _tile(AIETileType.ShimNOCTile, 0, 0),
        _tile(AIETileType.MemTile, 0, 1),
        _tile(AIETileType.CoreTile, 0, 2),
    )
    flow = iron.Flow(shim, [mem, core], src_channel=1, dst_channel=0)
    assert (flow.src, flow.dst, flow.all_tiles()) == (shim, mem, [shim, mem, core])
    assert [(port.tile, port.channel, way) for port, way in flow.ports()] == [
        (shim, 1, MM2S),
        (mem, 0, S2MM),
        (core, 0, S2MM),
    ]
    assert (flow.endpoint(core).channel, flow.endpoint(core).direction) == (0, S2MM)
    assert (flow.endpoint(shim).channel, flow.endpoint(shim).direction) == (1, MM2S)
    assert flow.shim_symbol == "shim_0_0_mm2s_1"
    back = iron.Flow(core, shim, dst_channel=0)
    assert back.shim_symbol == "shim_0_0_s2mm_0"
    assert iron.Flow(core, shim, shim_symbol="mine").shim_symbol == "mine"
    with pytest.raises(ValueError, match=r"shim_symbol\(\) on .*: fill and drain require exactly one shim"):
        _ = iron.Flow(core, mem).shim_symbol
    assert (PacketDest(core).channel, PacketDest(core).port.name) == (0, "DMA")


@pytest.mark.parametrize("way", ["fill", "drain"])
def test_a_host_fills_routes_that_begin_at_its_tile_and_drains_those_that_end_there(way: str) -> None:
    shim, mem = _tile(AIETileType.ShimNOCTile, 0, 0), _tile(AIETileType.MemTile, 0, 1)
    into = iron.Flow(shim, mem, src_channel=0, dst_channel=0)
    out = iron.Flow(mem, shim, src_channel=0, dst_channel=0)
    right, wrong = (into, out) if way == "fill" else (out, into)

    def text_of(flow: iron.Flow) -> str:
        runtime = iron.Runtime(lambda a: getattr(flow, way)(a), [LINE])
        runtime.add_flow(flow)
        return str(iron.Program(NPU2Col1(), runtime).resolve_program())

    symbol = "mm2s" if way == "fill" else "s2mm"
    assert f"configure_task_for @shim_0_0_{symbol}_0" in text_of(right)
    with pytest.raises(ValueError, match=rf"{way}\(\) (sends data into|reads results back out of) the array"):
        text_of(wrong)
