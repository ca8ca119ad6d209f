"""Do kernels and buffers of a graph run as often as published and hand-computed balances say?"""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.adf.description import Loop, Tiling
from memtile.adf.nets import wirings
from memtile.adf.objects import Objects
from memtile.adf.rates import Rates, rates, tiling_elements
from memtile.errors import Problem
from support.adf.sketch import Made, Sketch, buffer, stream


def balanced(sketch: Sketch) -> Rates:
    """The rates of a sketch that has no problem."""
    found = problems_and_rates(sketch)
    assert found[0] == []
    return found[1]


def problems_and_rates(sketch: Sketch) -> tuple[list[Problem], Rates]:
    objects, problems = Objects(sketch.description()), list[Problem]()
    return problems, rates(objects, wirings(objects, problems), problems)


def chain(*sizes: tuple[int, int]) -> tuple[Sketch, list[Made]]:
    """Kernels one after the other between two PLIO, each with an input's and an output's size."""
    g = Sketch()
    kernels = [
        g.kernel(f"k{n}", [buffer("int32", i)], [buffer("int32", o)]) for n, (i, o) in enumerate(sizes)
    ]
    source = g.plio("in")
    for kernel in kernels:
        g.connect(source, kernel.ins[0])
        source = kernel.outs[0]
    g.connect(source, g.plio("out", "out"))
    return g, kernels


def turns(sketch: Sketch, kernels: list[Made]) -> list[int]:
    found = balanced(sketch)
    return [found.turns[kernel.id] for kernel in kernels]


def test_a_size_of_128_feeds_one_of_192() -> None:
    """UG1079, Buffer Port Connection for Multirate Processing: 3 and 2."""
    assert turns(*chain((128, 128), (192, 192))) == [3, 2]


def test_a_multicast_is_balanced_with_all_its_targets() -> None:
    """The same page: 128 to 64 and to 192."""
    g = Sketch()
    k0 = g.kernel("kernel0", [buffer("int32", 128)], [buffer("int32", 128)])
    k1 = g.kernel("kernel1", [buffer("int32", 64)], [buffer("int32", 64)])
    k2 = g.kernel("kernel2", [buffer("int32", 192)], [buffer("int32", 192)])
    g.connect(g.plio("in"), k0.ins[0])
    for kernel in (k1, k2):
        g.connect(k0.outs[0], kernel.ins[0])
        g.connect(kernel.outs[0], g.plio(f"out{kernel.id}", "out"))
    assert turns(g, [k0, k1, k2]) == [3, 6, 2]


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [(((560, 784), (560, 400)), [5, 7]), (((560, 400), (560, 784)), [7, 5])],
    ids=["up then down", "down then up"],
)
def test_converters_of_the_multirate_tutorial(
    sizes: tuple[tuple[int, int], ...], expected: list[int]
) -> None:
    """XD100, Multirate Examples: frames of 2 x 8 x 35 samples through 7/5 and 5/7."""
    assert turns(*chain(*sizes)) == expected


def test_streams_bind_nothing() -> None:
    """XD100, No Repetition Count Indicated: both kernels run once (77-5917; DEV-ADF-20)."""
    g = Sketch()
    k1, k2 = (g.kernel(name, [stream()], [stream()]) for name in ("k1", "k2"))
    g.connect(g.plio("in"), k1.ins[0])
    g.connect(k1.outs[0], k2.ins[0])
    g.connect(k2.outs[0], g.plio("out", "out"))
    assert turns(g, [k1, k2]) == [1, 1]


def test_streams_bind_what_their_kernels_say() -> None:
    """The same tutorial: 1,600 samples for 2,240, which its graphs with counts balance by 7 and 5."""
    g = Sketch()
    k1 = g.kernel("k1", [stream()], [stream(samples=1600)])
    k2 = g.kernel("k2", [stream(samples=2240)], [stream()])
    g.connect(g.plio("in"), k1.ins[0])
    g.connect(k1.outs[0], k2.ins[0])
    g.connect(k2.outs[0], g.plio("out", "out"))
    assert turns(g, [k1, k2]) == [7, 5]


def test_a_buffer_passes_all_of_its_elements() -> None:
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 64, samples=64)], [buffer("int32", 64, samples=32)])
    g.connect(g.plio("in"), k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out"))
    (problem,) = problems_and_rates(g)[0]
    assert problem.reason == "samples_per_iteration"
    assert "samples_per_iteration(gr.k.out[0]) is 32, and its buffer has 64 elements" in problem.says


def test_counts_of_the_user_win() -> None:
    """XD100, Radio-ML: once in the memory tile, NSPLIT times in the kernel."""
    g = Sketch()
    m = g.shared("m", "bfloat16", (64, 512), 1, 1, num_buffers=2, repetition=1)
    k = g.kernel("k", [buffer("bfloat16", 64 * 64)], [buffer("bfloat16", 64 * 64)])
    g.connect(g.plio("in"), m.ins[0])
    g.connect(m.outs[0], k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out"))
    found = balanced(g)
    assert (found.turns[m.id], found.turns[k.id]) == (1, 8)


def test_a_feedback_loop_is_balanced() -> None:
    g = Sketch()
    k1 = g.kernel("k1", [buffer("int32", 96), buffer("int32", 32)], [buffer("int32", 64)])
    k2 = g.kernel("k2", [buffer("int32", 128)], [buffer("int32", 128), buffer("int32", 64)])
    g.connect(g.plio("in"), k1.ins[0])
    g.connect(k1.outs[0], k2.ins[0])
    g.connect(k2.outs[0], g.plio("out", "out"))
    g.connect(k2.outs[1], k1.ins[1])
    assert turns(g, [k1, k2]) == [2, 1]


def test_an_asynchronous_buffer_has_a_rate_of_its_own() -> None:
    """UG1603, Other Constraints: async_repetition(port) counts in an iteration, not in a call."""
    g = Sketch()
    weights = buffer("int32", 64, repetition=2) | {"kind": "async_buffer", "is_async": True}
    k = g.kernel("k", [buffer("int32", 16), weights], [buffer("int32", 16)], repetition=10)
    feeder = g.kernel("feeder", [buffer("int32", 32)], [buffer("int32", 32)])
    g.connect(g.plio("in"), k.ins[0])
    g.connect(g.plio("w"), feeder.ins[0])
    g.connect(feeder.outs[0], k.ins[1])
    g.connect(k.outs[0], g.plio("out", "out"))
    assert turns(g, [k, feeder]) == [10, 4]


def test_ports_of_a_graph_pass_on() -> None:
    g = Sketch()
    inner = g.graph("inner")
    entry, exit_ = g.graph_port("inner.entry", "in", inner), g.graph_port("inner.exit", "out", inner)
    k = g.kernel("k", [buffer("int32", 8)], [buffer("int32", 8)], graph=inner)
    last = g.kernel("last", [buffer("int32", 24)], [buffer("int32", 24)])
    g.connect(entry, k.ins[0])
    g.connect(k.outs[0], exit_)
    g.connect(g.plio("in"), entry)
    g.connect(exit_, last.ins[0])
    g.connect(last.outs[0], g.plio("out", "out"))
    assert turns(g, [k, last]) == [3, 1]


def test_tilings_say_what_passes() -> None:
    """Two tilings of one port are one turn of the buffer (XD100 tutorial 07, 2D shuffle)."""
    half = Tiling((8, 8), (4, 2), (0, 0), (Loop(1, 2, 4),))
    g = Sketch()
    m = g.shared("m", "int32", (8, 8), 1, [[half, half]])
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    g.connect(g.plio("in"), m.ins[0])
    g.connect(m.outs[0], k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out"))
    assert turns(g, [m, k]) == [1, 4]


@pytest.mark.parametrize(
    ("tiling", "elements"),
    [
        (Tiling(), 96),
        (Tiling(tiling_dimension=(4, 3)), 12),
        (Tiling((12, 8), (4, 3), (0, 0), (Loop(1, 3, 2), Loop(0, 4, 3))), 72),
        (Tiling((12, 8), (7, 2), (0, 0), (Loop(0, 5, 2), Loop(1, 2, 3))), 84),
        (Tiling(tiling_dimension=(2,), repetition=5), 10),
        (Tiling(steps=((1, 4), (8, 3))), 12),
        (Tiling(steps=((1, 4),), length=64), 64),
        (Tiling(length=7), 7),
    ],
)
def test_elements_of_a_tiling(tiling: Tiling, elements: int) -> None:
    """The third and the fourth: UG1079, Tiling Parameters Specification, six tiles each."""
    assert tiling_elements(tiling, (12, 8)) == elements


@pytest.mark.parametrize(("element_bytes", "elements"), [(1, 48), (2, 24), (8, 6)])
def test_an_older_descriptor_counts_words(element_bytes: int, elements: int) -> None:
    """AMD's vision library divides sizes of uint8 by 4 (transpose, resize_bicubic)."""
    assert tiling_elements(Tiling(steps=((1, 4), (8, 3))), (12, 8), element_bytes) == elements


def test_packets_are_balanced_by_their_ways() -> None:
    """A port with packet_port_id sends each way its own tilings."""
    ways = [
        Tiling(tiling_dimension=(32,), packet_port_id=0),
        Tiling(tiling_dimension=(64,), packet_port_id=1),
    ]
    g = Sketch()
    m, split = g.shared("m", "int32", (96,), 1, [ways]), g.packets("split", "sp", 2)
    k0, k1 = (g.kernel(f"k{n}", [buffer("int32", 16)], [buffer("int32", 16)]) for n in range(2))
    g.connect(g.plio("in"), m.ins[0])
    g.connect(m.outs[0], split.ins[0])
    for n, kernel in enumerate((k0, k1)):
        g.connect(split.outs[n], kernel.ins[0])
        g.connect(kernel.outs[0], g.plio(f"out{n}", "out"))
    assert turns(g, [m, k0, k1]) == [1, 2, 4]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=2, max_size=3))
def test_counts_are_the_smallest(sizes: list[tuple[int, int]]) -> None:
    """Against trying all counts in order of their sum."""
    found = turns(*chain(*sizes))
    fits = (
        counts
        for counts in product(range(1, max(found) + 1), repeat=len(sizes))
        if all(counts[n] * sizes[n][1] == counts[n + 1] * sizes[n + 1][0] for n in range(len(sizes) - 1))
    )
    assert tuple(found) == min(fits, key=sum)


@pytest.mark.parametrize(
    ("steps", "length", "allowed"),
    [(((1, 4), (8, 0)), 18, "a multiple of 4"), (((1, 0), (8, 0)), 16, "wraps of at least 1")],
)
def test_a_descriptor_of_no_whole_steps_is_refused(
    steps: tuple[tuple[int, int], ...], length: int, allowed: str
) -> None:
    """Rounded up to whole steps it would pass more words than its length says."""
    g = Sketch()
    m = g.shared("m", "int32", (length,), [[]], [[Tiling(offset=(0,), steps=steps, length=length)]])
    g.connect(g.plio("in"), m.ins[0])
    g.connect(m.outs[0], g.plio("out", "out"))
    problems, _ = problems_and_rates(g)
    found = [(each.field, each.allowed) for each in problems if each.reason == "descriptor_length"]
    assert found == [("length", allowed)]
