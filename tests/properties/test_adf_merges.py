"""Do packets keep the order of their merge, and find their tiling and way, whatever is slow?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memtile.adf.description import Tiling
from memtile.adf.planning import plan_of
from memtile.adf.running import GraphRun
from memtile.explain.results import Status
from support.adf.plans import calls, compute, ints
from support.adf.sketch import ROOT, Sketch, buffer

ROUNDS = 3
BLOCK = 4
CYCLES = st.sampled_from((5, 60, 400))


def copy(x: Any, y: Any) -> None:
    """A kernel that passes its block on."""
    ints(y)[:] = ints(x)


def starts(counts: Sequence[int], order: Sequence[int]) -> list[int]:
    """The first element of each input's piece where the pieces lie in an order of inputs."""
    sizes = [BLOCK * counts[n] for n in order]
    at = dict(zip(order, np.cumsum([0, *sizes]).tolist(), strict=False))
    return [at[n] for n in range(len(counts))]


@example(
    cycles=[400, 5, 5], counts=[1, 2, 1, 1], order=[0, 1, 2, 3], places=[2, 0, 1, 3], ordered=True, depth=2
)
@example(
    cycles=[5, 400], counts=[2, 1, 1, 1], order=[1, 0, 2, 3], places=[0, 1, 2, 3], ordered=False, depth=1
)
@settings(max_examples=25, deadline=None)
@given(
    cycles=st.lists(CYCLES, min_size=2, max_size=4),
    counts=st.lists(st.integers(1, 3), min_size=4, max_size=4),
    order=st.permutations(range(4)),
    places=st.permutations(range(4)),
    ordered=st.booleans(),
    depth=st.integers(1, 2),
)
def test_each_packet_lies_where_the_tiling_of_its_input_says(
    cycles: list[int],
    counts: list[int],
    order: list[int],
    places: list[int],
    ordered: bool,
    depth: int,
) -> None:
    ways = len(cycles)
    counts, order, places = counts[:ways], *([n for n in each if n < ways] for each in (order, places))
    size, at = BLOCK * sum(counts), starts(counts, places)
    g, bodies = Sketch(), {}
    merge = g.packets("ordered_merge" if ordered else "merge", "mg", ways, packets=tuple(counts))
    for n, each in enumerate(cycles):
        k = g.kernel(f"k{n}", [buffer("int32", BLOCK)], [buffer("int32", BLOCK)])
        g.connect(g.plio(f"in{n}"), k.ins[0])
        g.connect(k.outs[0], merge.ins[n])
        bodies[f"k{k.id}"] = compute(copy, each)
    tilings = [Tiling((size,), (BLOCK * counts[n],), (at[n],), packet_port_id=n) for n in order]
    m = g.shared("m", "int32", (size,), [tilings], 1, num_buffers=depth)
    g.connect(merge.outs[0], m.ins[0])
    g.connect(m.outs[0], g.plio("out", "out"))
    run = GraphRun(plan_of(g.description(), "xcve2302"), calls(**bodies))
    run.init(ROOT)
    frames = np.arange(ROUNDS * size, dtype=np.int32).reshape(ROUNDS, size)
    for n, count in enumerate(counts):
        run.feed(f"in{n}", frames[:, at[n] : at[n] + BLOCK * count])
    run.run(ROOT, ROUNDS)
    run.end(ROOT)
    found = run.result()
    assert found.result.status is Status.FINISHED, found.result.waiting
    assert (found.outputs["gr.out"].words == frames.ravel()).all()
