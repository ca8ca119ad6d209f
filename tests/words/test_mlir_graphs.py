"""Is a graph, whatever it is made of, the same machine as MLIR, and does that give the same words?

Forms and rules are those of mlir-aie (2026-08-14): AIEOps.td for ``aie.shim_dma_allocation`` and
``aie.configure_cascade``; its linker scripts have the stack of a core at the beginning of its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtile.adf.description import Loop, Tiling
from memtile.adf.host_record import Updated
from memtile.adf.kernel_calls import PortMemory, StreamPort
from memtile.adf.lowering import Lowered, lower
from memtile.adf.planning import plan_of
from memtile.adf.plio_ports import plio_ports_of
from memtile.adf.running import GraphRun
from memtile.errors import DesignError
from memtile.importers.design import load_still
from memtile.kernels import cpp
from memtile.mlir_writer.graph_calls import lock_number
from memtile.mlir_writer.graph_functions import function_files, functions_of
from memtile.mlir_writer.graphs import module_of_graph
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core
from support.adf.plans import Blocks, Body, calls, compute, ints
from support.adf.sketch import (
    ROOT,
    Made,
    Sketch,
    buffer,
    cascade,
    packet_stream,
    parameter,
    port,
    stream,
    tile,
)
from support.adf.text_runs import TextRun
from support.mlir.machines import machine

Graph = tuple[Sketch, dict[Made, Body]]
TILES = Tiling((8, 8), (4, 4), (0, 0), (Loop(0, 4, 2), Loop(1, 4, 2)))


def plus(number: int, cycles: int = 20) -> Body:
    """A kernel that adds a number to its block."""

    def body(x: Any, y: Any) -> None:
        ints(y)[:] = ints(x) + number

    return compute(body, cycles)


def through(g: Sketch, kernel: Made, name: str = "") -> None:
    """PLIO -> kernel -> PLIO."""
    g.connect(g.plio(f"in{name}"), kernel.ins[0])
    g.connect(kernel.outs[0], g.plio(f"out{name}", "out"))


def one(**more: Any) -> Graph:
    """A kernel with buffers."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 16, **more)], [buffer("int32", 16)])
    through(g, k)
    return g, {k: plus(5)}


def gmio() -> Graph:
    """A kernel between transfers of the host."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    g.connect(g.gmio("in"), k.ins[0])
    g.connect(k.outs[0], g.gmio("out", "out"))
    return g, {k: plus(5)}


def parameters(**more: Any) -> Graph:
    """A kernel with a number that it gets and an array that it gives, both asynchronous."""
    g = Sketch()
    given: dict[str, Any] = {"is_async": True, "initial": "07000000", **more}
    outs = [buffer("int32", 16), parameter("int32", 4, is_async=True)]
    k = g.kernel("k", [buffer("int32", 16), parameter("int32", **given)], outs)
    through(g, k)
    g.connect(g.graph_port("number", "in"), k.ins[1], "parameter", is_async=bool(given["is_async"]))
    g.connect(k.outs[1], g.graph_port("sums", "out"), "parameter", is_async=True)

    def body(core: Core, x: Any, number: Any, y: Any, sums: Any) -> Generator[Action, Any, None]:
        ints(y)[:] = ints(x) + number.bits
        ints(sums)[:] += int(ints(x).sum())
        yield core.cycles(9)

    return g, {k: body}


def packets(kind: str = "merge") -> Graph:
    """One stream to two kernels, and back into one."""
    g = Sketch()
    split, merge = g.packets("split", "sp", 2), g.packets(kind, "mg", 2)
    k = g.kernel("k", [buffer("int32", 16)], [packet_stream()])
    g.connect(g.plio("in"), k.ins[0])
    g.connect(k.outs[0], split.ins[0], "pktstream")

    def sends(core: Core, x: Any, out: StreamPort) -> Generator[Action, Any, None]:
        for half, number in zip(ints(x).reshape(2, 8), out.packet_ids, strict=True):
            header = number | 31 << 16 | 127 << 21
            header |= (~header.bit_count() & 1) << 31
            words = np.concatenate([np.array([header], np.uint32), half.view(np.uint32)])
            yield core.put_stream(words, last=True)

    bodies: dict[Made, Body] = {k: sends}
    for n in (0, 1):
        j = g.kernel(f"j{n}", [buffer("int32", 8)], [buffer("int32", 8)])
        g.connect(split.outs[n], j.ins[0])
        g.connect(j.outs[0], merge.ins[n])
        bodies[j] = plus(1000 * n, 5 + 300 * n)
    g.connect(merge.outs[0], g.plio("out", "out"))
    return g, bodies


def cascaded() -> Graph:
    """A kernel that passes its sums to the next one, and by a stream to a third."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 16)], [cascade()])
    j = g.kernel("j", [cascade()], [stream()])
    i = g.kernel("i", [stream()], [buffer("int32", 16)])
    g.connect(g.plio("in"), k.ins[0])
    g.connect(k.outs[0], j.ins[0], "cascade")
    g.connect(j.outs[0], i.ins[0], "stream")
    g.connect(i.outs[0], g.plio("out", "out"))

    def first(core: Core, x: Any, _: Any) -> Generator[Action, Any, None]:
        yield core.put_cascade(ints(x).view(np.uint32))

    def second(core: Core, _: Any, __: Any) -> Generator[Action, Any, None]:
        words = yield core.get_cascade()
        yield core.put_stream(words)

    def third(core: Core, _: Any, y: Any) -> Generator[Action, Any, None]:
        words = yield core.get_stream(16)
        ints(y)[:] = np.asarray(words, np.uint32).view(np.int32) * 3

    return g, {k: first, j: second, i: third}


def asynchronous() -> Graph:
    """A kernel that takes one block and gives two, in the order of their turns."""
    g = Sketch()
    each = {"is_async": True}
    k = g.kernel(
        "k",
        [port("async_buffer", "int32", 16, **each)],
        [port("async_buffer", "int32", 16, repetition=2, **each)],
    )
    through(g, k)
    turn = {"in": 0, "out": 0}

    def body(core: Core, x: PortMemory, y: PortMemory) -> Generator[Action, Any, None]:
        assert x.locks is not None
        assert y.locks is not None
        slot = turn["in"] % len(x.buffers)
        take, give = x.locks[slot]
        yield core.acquire(take.lock, take.value)
        for half in (0, 1):
            there = turn["out"] % len(y.buffers)
            before, after = y.locks[there]
            yield core.acquire(before.lock, before.value)
            ints(y.buffers[there])[:] = ints(x.buffers[slot]) + 100 * half
            yield core.release(after.lock, after.value)
            turn["out"] += 1
        yield core.release(give.lock, give.value)
        turn["in"] += 1

    return g, {k: body}


def margins(*, single: bool = False, writer: bool = False) -> Graph:
    """Sums of five elements over the end of the block before; the writer may be a kernel beside."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 16, margin=4, single=single)], [buffer("int32", 16)])

    def sliding(x: Any, y: Any) -> None:
        ints(y)[:] = np.convolve(ints(x), np.ones(5, np.int32), "valid")

    bodies = {k: compute(sliding)}
    if not writer:
        through(g, k)
        return g, bodies
    j = g.kernel("j", [buffer("int32", 16)], [buffer("int32", 16)])
    g.connect(g.plio("in"), j.ins[0])
    g.connect(j.outs[0], k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out"))
    g.place(j, tile(0, 0))
    g.place(k, tile(0, 1))
    return g, bodies | {j: plus(1)}


def rates() -> Graph:
    """Three calls of a kernel for two of the next one, in one core."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 8)], [buffer("int32", 8)], runtime_ratio=0.4)
    j = g.kernel("j", [buffer("int32", 12)], [buffer("int32", 12)], runtime_ratio=0.4)
    through(g, k, "k")
    through(g, j, "j")
    g.repeat(k, 6)
    g.repeat(j, 4)
    g.place(k, tile(0, 0))
    g.place(j, tile(0, 0))
    return g, {k: plus(1), j: plus(2)}


def shared(depth: int = 2) -> Graph:
    """Two writers and two readers of a buffer in a memory tile; the readers take tiles."""
    g = Sketch()
    halves = [[Tiling((8, 8), (8, 4), (0, 4 * n))] for n in (0, 1)]
    m = g.shared("m", "int32", (8, 8), halves, [[TILES], [TILES]], num_buffers=depth)
    bodies = {}
    for n in (0, 1):
        g.connect(g.plio(f"in{n}"), m.ins[n])
        k = g.kernel(f"k{n}", [buffer("int32", 16)], [buffer("int32", 16)])
        g.connect(m.outs[n], k.ins[0])
        g.connect(k.outs[0], g.plio(f"out{n}", "out"))
        bodies[k] = plus(1000 * n, 20 + 200 * n)
    return g, bodies


def external() -> Graph:
    """Tiles of a buffer in external memory."""
    g = Sketch()
    e = g.shared("e", "int32", (8, 8), [], [[TILES]], external=True)
    f = g.shared("f", "int32", (8, 8), [[TILES]], [], external=True)
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    g.connect(e.outs[0], k.ins[0])
    g.connect(k.outs[0], f.ins[0])
    return g, {k: plus(3)}


def filled() -> Graph:
    """A buffer with contents that no port writes."""
    g = Sketch()
    first = np.arange(32, dtype=np.int32)
    m = g.shared("m", "int32", (32,), [], [[]], initial=first.tobytes().hex())
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    g.connect(m.outs[0], k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out"))
    return g, {k: plus(1)}


def optional() -> Graph:
    """What a graph has of its conditional objects: a table for one of two kernels of a core."""
    g = Sketch()
    half: dict[str, Any] = {"runtime_ratio": 0.4}
    tables = (g.table("lut", "int16", 8),)
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)], tables=tables, **half)
    j = g.kernel("j", [buffer("int32", 16)], [buffer("int32", 16)], **half)
    through(g, k, "k")
    through(g, j, "j")
    g.place(k, tile(0, 0))
    g.place(j, tile(0, 0))
    return g, {k: plus(1), j: plus(2)}


GRAPHS: dict[str, Callable[[], Graph]] = {
    "PLIO": one,
    "GMIO": gmio,
    "parameters": parameters,
    "packets": packets,
    "cascade": cascaded,
    "asynchronous buffers": asynchronous,
    "margins": margins,
    "margins of a single buffer": lambda: margins(single=True),
    "margins behind a kernel": lambda: margins(writer=True),
    "conditional objects": optional,
    "multirate": rates,
    "shared buffers": shared,
    "shared buffers, one each": lambda: shared(1),
    "external buffers": external,
    "buffers that no port writes": filled,
}


def lowered(graph: Graph, device: str = "npu1") -> Lowered:
    """A graph in an array."""
    plan = plan_of(graph[0].description(), device)
    made = lower(plan, _calls(graph), plio_ports_of(device))
    made.array.route()
    return made


def _calls(graph: Graph) -> Any:
    return calls(**{f"k{kernel.id}": body for kernel, body in graph[1].items()})


@pytest.mark.parametrize(
    ("name", "device"), [*((name, "npu1") for name in GRAPHS), ("packets", "xcve2802"), ("GMIO", "xcve2802")]
)
def test_a_graph_is_the_same_machine(name: str, device: str, tmp_path: Path) -> None:
    made, path = lowered(GRAPHS[name](), device), tmp_path / "graph.mlir"
    path.write_text(str(module_of_graph(made)))
    wanted = machine(made.array, addresses=False, tokens=False)
    assert machine(load_still(path).array, addresses=False, tokens=False) == wanted


OF_HOSTS = "GMIO", "external buffers"
ALIKE = "PLIO", "conditional objects", "margins of a single buffer", "shared buffers, one each"


@pytest.mark.parametrize("name", [each for each in GRAPHS if each not in (*OF_HOSTS, *ALIKE)])
def test_the_text_gives_the_words_of_the_graph(name: str, tmp_path: Path) -> None:
    graphs = GRAPHS[name](), GRAPHS[name]()
    plan = plan_of(graphs[0][0].description(), "npu1")
    found = []
    for run in (GraphRun(plan, _calls(graphs[0])), TextRun(plan, _calls(graphs[1]), tmp_path)):
        run.init(ROOT)
        for number, plio in enumerate(plan.description.plios):
            if plio.direction == "in":
                run.feed(plio.name, np.arange(240, dtype=np.int32) * (number + 1))
        run.run(ROOT, 5)
        run.wait(ROOT, 3_000 if name == "buffers that no port writes" else None)
        found.append(run.outputs())
    one_, other = found
    for each, had in one_.items():
        got = other[each].words
        for mine, its in zip(_streams(name, had.words), _streams(name, got), strict=True):
            assert len(mine)
            assert np.array_equal(its[: len(mine)], mine)


def _streams(name: str, words: Any) -> list[Any]:
    """The words of an output; of packets those of each identifier, as their order depends on time."""
    if name != "packets":
        return [words]
    rows = words[: len(words) // 9 * 9].reshape(-1, 9)
    return [rows[rows[:, 0] & 31 == number] for number in np.unique(rows[:, 0] & 31)]


def test_what_the_host_moves_has_a_symbol() -> None:
    text = str(module_of_graph(lowered(gmio())))
    assert "aie.shim_dma_allocation @gr_in (%shim_noc_tile_0_0, MM2S, 0)" in text
    assert "aie.shim_dma_allocation @gr_out (%shim_noc_tile_0_0, S2MM, 0)" in text


def test_no_lock_or_buffer_has_the_name_of_a_function() -> None:
    g = Sketch()
    k = g.kernel("gr_ping", [buffer("int32", 16)], [buffer("int32", 16)])
    through(g, k)
    g._parts["kernels"][0] = replace(g._parts["kernels"][0], function="gr_gr_ping_in_0_ping")
    text = str(module_of_graph(lowered((g, {k: plus(1)}))))
    assert "func.func private @gr_gr_ping_in_0_ping(" in text
    assert 'sym_name = "gr_gr_ping_in_0_ping_1"' in text


def test_calls_that_come_again_are_a_loop() -> None:
    """Six calls of one kernel and four of another: a loop over a pair of buffers, and the four calls."""
    body = str(module_of_graph(lowered(rates()))).partition("aie.core(")[2]
    assert (body.count("func.call @k_function"), body.count("func.call @j_function")) == (2, 4)
    assert "%c3 = arith.constant 3 : index" in body


KERNEL = """
#include <adf.h>
void k_function(adf::input_buffer<int32, adf::extents<16>, adf::margin<4>>& in,
                adf::output_async_buffer<int32>& out, int32 number) {
    out.acquire();
    for (int n = 0; n < 16; ++n) out.data()[n] = in.data()[n] + in.data()[n + 4] + number;
    out.release();
}
"""


def test_functions_of_cpp_are_those_that_the_text_calls(tmp_path: Path) -> None:
    g = Sketch()
    given = parameter("int32", is_async=True, initial="07000000", argument=2)
    ins = [buffer("int32", 16, margin=4, argument=0), given]
    out = port("async_buffer", "int32", 16, is_async=True, argument=1)
    k = g.kernel("k", [ins[0]], [out])
    number = g._port(k.id, "gr.k", "in", 1, ins[1])  # the function's last parameter
    g._parts["kernels"][0] = replace(g._parts["kernels"][0], ports=(*k.ins, *k.outs, number))
    through(g, k)
    g.connect(g.graph_port("number", "in"), number, "parameter", is_async=True)
    (tmp_path / "k.cc").write_text(KERNEL)
    (tmp_path / "made").mkdir()

    def functions(made: Lowered) -> dict[str, Any]:
        for name, text in function_files(made, tmp_path, []).items():
            (tmp_path / "made" / name).write_text(text)
        return dict.fromkeys(functions_of(made).values(), cpp(tmp_path / "made" / "k.cc"))

    run = TextRun(plan_of(g.description(), "xcve2802"), calls(), tmp_path, functions)
    run.init(ROOT)
    data = np.arange(64, dtype=np.int32)
    run.feed("in", data)
    run.wait(ROOT)
    before = np.concatenate([np.zeros(4, np.int32), data])[:64]
    assert np.array_equal(run.collected("out").words.view(np.int32), data + before + 7)


def test_what_main_gives_before_the_first_run_is_there(tmp_path: Path) -> None:
    graph = parameters(initial="")
    made, (port,) = (
        lowered(graph),
        [each.id for each in graph[0]._parts["ports"] if each.name == "gr.k.in[1]"],
    )
    values = [Updated(port, bytes([n, 0, 0, 0]), 0) for n in (3, 9)] + [Updated(port, bytes([9, 0, 0, 0]), 1)]
    path = tmp_path / "graph.mlir"
    path.write_text(str(module_of_graph(made, values)))
    tile_ = load_still(path).array.compute_tile(0, 2)
    (lock,) = [each for each in tile_.locks if each.name == "gr_k_in_1_updated"]
    assert tile_.lock_value(lock) == 1
    assert [int(tile_.load(each)[0]) for each in tile_.buffers if each.name == "gr_k_in_1_ping"] == [9]
    with pytest.raises(
        DesignError, match=r"main updates gr\.k\.in\[1\] after run\(\), and the text has no main"
    ):
        module_of_graph(lowered(graph), [values[0], Updated(port, bytes(4), 1)])


def test_the_locks_of_a_core_have_the_numbers_of_its_instructions() -> None:
    """aie-rt: locks of the south from 0, of the west from 16, of the north from 32, its own from 48."""
    array = lowered(one()).array
    tile_ = array.compute_tile(0, 3)
    lock = tile_.lock(0, "here", id=5)
    places = ((0, 4), (1, 3), (0, 2), (0, 3))
    assert [lock_number(place, lock) for place in places] == [5, 21, 37, 53]


def late(what: str) -> Graph:
    """A graph that no text says."""
    if what == "synchronous":
        return parameters(is_async=False, initial="")
    if what == "no value":
        return parameters(initial="")
    if what == "order":
        return packets("ordered_merge")
    g = Sketch()
    if what == "padding":  # permute_i of the Vitis tutorials
        tiling = Tiling(
            (8, 16, 16), (1, 1, 1), (0, 0, 0), (Loop(0, 144, 7), Loop(1, 112, 9), Loop(2, 63, 16))
        )
        m = g.shared("m", "int32", (8, 16, 16), 1, [[tiling]], num_buffers=1)
        g.connect(g.plio("in"), m.ins[0])
        g.connect(m.outs[0], g.plio("out", "out"))
    elif what == "descriptors":
        loops = (Loop(0, 2, 2), Loop(1, 2, 2))
        tiling = Tiling((4, 4), (4, 4), (-1, -1), loops, boundary_dimension=(4, 4), packet_port_id=0)
        split = g.packets("split", "sp", 2)
        m = g.shared("m", "int32", (4, 4), 1, [[tiling]], num_buffers=1)
        g.connect(g.plio("in"), m.ins[0])
        g.connect(m.outs[0], split.ins[0])
        for n in (0, 1):
            g.connect(split.outs[n], g.plio(f"out{n}", "out"))
    elif what == "stack":
        through(g, g.kernel("k", [buffer("int32", 0x1FF0)], [buffer("int32", 16)]))
    return g, {}


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("synchronous", "gr.k.in[1] is a synchronous parameter: main updates it before each call"),
        (
            "no value",
            "gr.k.in[1] is a parameter without a value: its kernel waits until main updates it",
        ),
        ("order", "the packets of gr.mg merge in an order that switches keep"),
        ("descriptors", "packets of gr.m.out[0] have several descriptors each"),
        ("padding", "a descriptor of gr.m.out[0] ends after 1008 words, within its padding"),
        ("stack", "the buffers of the compute tile (0,3) (gr.k.in[0] ping, gr.k.in[0] pong"),
    ],
)
def test_what_no_operation_says_is_refused_in_the_graphs_words(what: str, says: str) -> None:
    with pytest.raises(DesignError) as error:
        module_of_graph(lowered(late(what), "xcve2802"))
    assert says in str(error.value)


def test_a_device_that_mlir_aie_does_not_have_is_refused() -> None:
    with pytest.raises(DesignError, match="the graph is for xc2ve3858, which is no device of mlir-aie"):
        module_of_graph(lowered(one(), "xc2ve3858"))


def test_a_buffer_in_two_memory_tiles_is_refused() -> None:
    g = Sketch()
    m = g.shared("m", "int32", (64,), [[]], [[]])
    g.connect(g.plio("in"), m.ins[0])
    g.connect(m.outs[0], g.plio("out", "out"))
    plan = plan_of(g.description(), "npu1")
    kept = replace(plan.memories[0], blocks=Blocks((0, 1), (0x80000 - 128,), 256))
    made = lower(replace(plan, columns=2, memories=(kept,)), calls(), plio_ports_of("npu1"))
    made.array.route()
    with pytest.raises(
        DesignError, match=r"a buffer of gr\.m lies in two memory tiles, and aie\.buffer in one"
    ):
        module_of_graph(made)


def test_a_margin_that_several_cores_read_is_refused() -> None:
    """Their plan puts one buffer between two cores: the early one would write the margin of the late one."""
    made = lowered(margins())
    pool = next(each for each in made.pools if each.margin)
    pool.readers.append(pool.readers[0])
    with pytest.raises(
        DesignError, match=r"gr\.k\.in\[0\] has a margin of 16 bytes in buffers that 2 ports read"
    ):
        module_of_graph(made)
