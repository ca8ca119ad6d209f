"""What AMD's compiler refuses by published rules: each graph is ours, its number and limit AMD's.

Beside each: does memtile refuse the same graph, as the verdict says?
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memtile.adf.planning import plan_of
from memtile.adf.verdict.judge import amd_verdicts
from memtile.adf.verdict.verdicts import Verdict
from memtile.errors import MemtileError
from support.adf.sketch import (
    Made,
    Sketch,
    address,
    area,
    bank,
    beside,
    buffer,
    cascade,
    offset,
    packet_stream,
    shim,
    stream,
    tile,
)

DEVICE = "xcve2802"  # 38 columns, 8 rows of cores, 2 of memory tiles
WORDS = buffer("int32", 8)


def chained(*kernels: Made, g: Sketch) -> Sketch:
    """PLIO, kernels one behind the other, PLIO."""
    last = g.plio("first")
    for kernel in kernels:
        g.connect(last, kernel.ins[0])
        last = kernel.outs[0]
    g.connect(last, g.plio("last", "out"))
    return g


def one(**more: Any) -> tuple[Sketch, Made]:
    """A kernel between PLIO."""
    g = Sketch()
    kernel = g.kernel("k", [WORDS], [WORDS], **more)
    return chained(kernel, g=g), kernel


def area_of(*places: Any) -> Sketch:
    g, _ = one()
    g.place(0, *places, what="graph")
    return g


def two_areas(second: int) -> Sketch:
    """A graph in columns 0 to 5, and one within it in six columns from another one on (UG1076's example)."""
    g = Sketch()
    inner = g.graph("inner")
    chained(g.kernel("k", [WORDS], [WORDS], graph=inner), g=g)
    g.place(0, area(0, 0, 5, 5), what="graph")
    g.place(inner, area(second, 0, second + 5, 5), what="graph")
    return g


def kernel_and_area(column: int) -> Sketch:
    g, kernel = one()
    g.place(0, area(2, 0, 4, 3), what="graph")
    g.place(kernel, tile(column, 3))
    return g


def at(place: Any, what: str = "buffer") -> Sketch:
    """A kernel whose input buffer, or stack, has a place."""
    g, kernel = one()
    g.place(kernel if what == "stack" else kernel.ins[0], place, what=what)
    return g


def interface_at(what: str, column: int) -> Sketch:
    g = Sketch()
    port = g.plio("in") if what == "PLIO" else g.gmio("in")
    kernel = g.kernel("k", [WORDS], [WORDS])
    g.connect(port, kernel.ins[0])
    g.connect(kernel.outs[0], g.plio("out", "out"))
    g.place(g.owner(port), shim(column), what=what)
    return g


def gmios(count: int) -> Sketch:
    g = Sketch()
    for n in range(count):
        kernel = g.kernel(f"k{n}", [WORDS], [WORDS])
        g.connect(g.gmio(f"in{n}"), kernel.ins[0])
        g.connect(kernel.outs[0], g.plio(f"out{n}", "out"))
    return g


def plios(inputs: int, outputs: int, width: int = 32) -> Sketch:
    """PLIO alone, without kernels: some of each direction."""
    g = Sketch()
    for n in range(inputs):
        g.plio(f"in{n}", width=width)
    for n in range(outputs):
        g.plio(f"out{n}", "out", width=width)
    return g


def ports_of_column(first: int, second: int, width: int = 32) -> Sketch:
    """Two PLIO of column 24, as in CHARM's issue 23."""
    g = Sketch()
    for n, channel in enumerate((first, second)):
        port = g.plio(f"in{n}", width=width)
        kernel = g.kernel(f"k{n}", [WORDS], [WORDS])
        g.connect(port, kernel.ins[0])
        g.connect(kernel.outs[0], g.plio(f"out{n}", "out"))
        g.place(g.owner(port), shim(24, channel), what="PLIO")
    return g


def same_bank(words: int, second: int = 0) -> Sketch:
    """Input and output of a kernel in two banks of one core, each of them single."""
    g = Sketch()
    kernel = g.kernel("k", [buffer("int32", words, single=True)], [buffer("int32", words, single=True)])
    chained(kernel, g=g)
    g.place(kernel, tile(3, 1))
    g.place(kernel.ins[0], bank(3, 1, 0), what="buffer")
    g.place(kernel.outs[0], bank(3, 1, second), what="buffer")
    return g


def between_two(words: int) -> Sketch:
    """A buffer between two kernels of a core; both ends name the same two banks."""
    g = Sketch()
    a = g.kernel("a", [WORDS], [buffer("int32", words)], runtime_ratio=0.4)
    b = g.kernel("b", [buffer("int32", words)], [WORDS], runtime_ratio=0.4)
    chained(a, b, g=g)
    for port in (a.outs[0], b.ins[0]):
        g.place(port, bank(3, 1, 0), bank(3, 1, 1), what="buffer")
    return g


def cascade_to(column: int, row: int) -> Sketch:
    """A cascade from core (3, 3)."""
    g = Sketch()
    a, b = g.kernel("a", [WORDS], [cascade()]), g.kernel("b", [cascade()], [WORDS])
    chained(a, b, g=g)
    g.place(a, tile(3, 3))
    g.place(b, tile(column, row))
    return g


def in_core(words: int, *, by_kernel: bool = False) -> Sketch:
    """A kernel with both double buffers in its own core."""
    g = Sketch()
    kernel = g.kernel("k", [buffer("int32", words)], [buffer("int32", words)])
    chained(kernel, g=g)
    g.place(kernel, tile(3, 1))
    for n, port in enumerate((*kernel.ins, *kernel.outs)):
        places = [beside(kernel)] * 2 if by_kernel else [address(3, 1, 8192 * (2 * n + i)) for i in range(2)]
        g.place(port, *places, what="buffer")
    return g


def inputs_in_core(count: int) -> Sketch:
    """A kernel with so many inputs from PLIO, whose buffers are all in its core."""
    g = Sketch()
    kernel = g.kernel("k", [WORDS] * count, [WORDS])
    for n, port in enumerate(kernel.ins):
        g.connect(g.plio(f"in{n}"), port)
        g.place(port, *(address(3, 1, 128 * (2 * n + i)) for i in range(2)), what="buffer")
    g.connect(kernel.outs[0], g.plio("out", "out"))
    g.place(kernel, tile(3, 1))
    return g


def many(count: int, ratio: float) -> Sketch:
    g = Sketch()
    for n in range(count):
        g.kernel(f"k{n}", runtime_ratio=ratio)
    return g


def westward(count: int) -> Sketch:
    """Streams from column 7 to kernels of columns 6 and less, as many as there are."""
    g = Sketch()
    for n in range(count):
        port = g.plio(f"in{n}")
        kernel = g.kernel(f"k{n}", [stream()], [WORDS])
        g.connect(port, kernel.ins[0])
        g.place(g.owner(port), shim(7), what="PLIO")
        g.place(kernel, tile(6 - n // 8, n % 8))
    return g


def split(ways: int) -> Sketch:
    g = Sketch()
    made = g.packets("split", "sp", ways)
    g.connect(g.plio("in"), made.ins[0])
    for n in range(ways):
        kernel = g.kernel(f"k{n}", [packet_stream()], [WORDS])
        g.connect(made.outs[n], kernel.ins[0])
    return g


def shared(reads: list[Any]) -> Sketch:
    """A shared buffer with a tiling for its write alone, and what is given for its read."""
    from memtile.adf.description import Tiling

    g = Sketch()
    whole = Tiling((64,), (64,), (0,))
    made = g.shared("m", "int32", (64,), [[whole]], [[whole] if reads else []])
    g.connect(g.plio("in"), made.ins[0])
    g.connect(made.outs[0], g.plio("out", "out"))
    return g


Case = tuple[str, str, Callable[[], Sketch], Callable[[], Sketch]]
"""AMD's number; "refuses", "runs" or "" (not asked) of memtile; a graph just over, one just within."""

CASES: dict[str, Case] = {
    "area out of the device": (
        "AIE-PRE-MAPPER-1", "refuses", lambda: area_of(area(0, 0, 38, 3)), lambda: area_of(area(0, 0, 37, 3)),
    ),
    "area of memory tiles out of the device": (
        "AIE-PRE-MAPPER-1", "refuses",
        lambda: area_of(area(0, 0, 5, 2, "memory_tile")), lambda: area_of(area(0, 0, 5, 1, "memory_tile")),
    ),
    "areas without a common core": ("47-772", "refuses", lambda: two_areas(20), lambda: two_areas(5)),
    "kernel outside of its area": (
        "AIE-PRE-MAPPER-3", "refuses", lambda: kernel_and_area(5), lambda: kernel_and_area(4),
    ),
    "buffer out of the device": (
        "AIE-PRE-MAPPER-13", "refuses", lambda: at(address(3, 8, 0)), lambda: at(address(3, 7, 0)),
    ),
    "stack out of the device": (
        "AIE-PRE-MAPPER-13", "refuses", lambda: at(bank(38, 0, 0), "stack"), lambda: at(offset(0), "stack"),
    ),
    "PLIO out of the device": (
        "AIE-PRE-MAPPER-14", "refuses",
        lambda: interface_at("PLIO", 38), lambda: interface_at("PLIO", 37),
    ),
    "GMIO in a column without": (
        "AIE-PRE-MAPPER-16", "refuses",
        lambda: interface_at("GMIO", 4), lambda: interface_at("GMIO", 6),
    ),
    "more GMIO than channels": ("AIE-PRE-MAPPER-7", "refuses", lambda: gmios(25), lambda: gmios(24)),
    "128 streams out, 112 can be routed": (
        "AIE-PRE-MAPPER-6", "", lambda: plios(0, 128), lambda: plios(168, 112),
    ),
    "more streams in than can be routed": (
        "AIE-PRE-MAPPER-6", "", lambda: plios(169, 0), lambda: plios(112, 84, 128),
    ),
    "wide PLIO with two ports each": (
        "AIE-PRE-MAPPER-6", "", lambda: plios(0, 85, 128), lambda: plios(0, 84, 128),
    ),
    "two PLIO on one port": (
        "AIE-ROUTER-3", "refuses", lambda: ports_of_column(0, 0), lambda: ports_of_column(0, 1),
    ),
    "wide PLIO beside another": (
        "AIE-ROUTER-3", "refuses", lambda: ports_of_column(0, 1, 128), lambda: ports_of_column(0, 2, 128),
    ),
    "two buffers in one bank": (
        "AIE-PRE-MAPPER-4", "refuses", lambda: same_bank(2056), lambda: same_bank(2048),
    ),
    "two buffers in two banks": (
        "AIE-PRE-MAPPER-4", "refuses", lambda: same_bank(4096), lambda: same_bank(4096, 1),
    ),
    "cascade to the north": ("47-51", "refuses", lambda: cascade_to(3, 4), lambda: cascade_to(3, 2)),
    "cascade to the west": ("47-51", "refuses", lambda: cascade_to(2, 3), lambda: cascade_to(4, 3)),
    "buffers larger than a core's memory": ("47-51", "refuses", lambda: in_core(4104), lambda: in_core(2048)),
    "buffers with a kernel larger than its core's memory": (
        "47-51", "refuses", lambda: in_core(4104, by_kernel=True), lambda: in_core(2048, by_kernel=True),
    ),
    "more inputs than a core has channels": (
        "47-51", "refuses", lambda: inputs_in_core(3), lambda: inputs_in_core(2),
    ),
    "more kernels than cores": ("", "refuses", lambda: many(305, 0.6), lambda: many(304, 0.6)),
    "37 nets to the west": ("35-3253", "refuses", lambda: westward(37), lambda: westward(36)),
    "more than 32 ways of packets": ("", "", lambda: split(33), lambda: split(32)),
    "shared buffer without an access pattern": ("77-5379", "runs", lambda: shared([]), lambda: shared([1])),
}  # fmt: skip


def judged(g: Sketch) -> list[Verdict]:
    return amd_verdicts(g.description(), DEVICE)


@pytest.mark.parametrize("name", CASES)
def test_a_graph_just_over_is_refused_and_one_just_within_is_not(name: str) -> None:
    """128 streams out against 112: DEV-ADF-170."""
    number, _, over, within = CASES[name]
    assert [each.number for each in judged(over())] == [number]
    assert judged(within()) == []


def test_a_kernel_stays_in_its_area() -> None:
    with pytest.raises(MemtileError, match=r"outside the area of its graph or inside that of another"):
        plan_of(kernel_and_area(5).description(), DEVICE)


def test_a_buffer_between_kernels_counts_once() -> None:
    assert judged(between_two(4096)) == []


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[1]])
def test_memtile_does_what_the_verdict_says(name: str) -> None:
    _, does, over, _ = CASES[name]
    (verdict,) = judged(over())
    if does == "refuses":
        assert verdict.ours.startswith("refuses it too")
        with pytest.raises(MemtileError):
            plan_of(over().description(), DEVICE)
    else:
        assert not verdict.ours.startswith("refuses")
        plan_of(over().description(), DEVICE)
