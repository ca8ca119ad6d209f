"""Is what must leave a graph compared with what does, and the walk named that makes it other words?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memtile.adf.description import Loop, Tiling
from memtile.adf.expected import compared
from memtile.adf.planning import plan_of
from memtile.adf.program_run import ProgramResult
from memtile.adf.running import GraphRun
from memtile.errors import DesignError
from support.adf.plans import calls
from support.adf.sketch import ROOT, Sketch

DATA = np.random.default_rng(34).integers(-(10**6), 10**6, (2, 8, 8)).astype(np.int32)


def left(first: int, rows: Tiling | None = None) -> ProgramResult:
    """What leaves a buffer of 8 x 8 of which a port reads three rows from one on, and one all of them."""
    g = Sketch()
    rows = rows or Tiling((8, 8), (8, 3), (0, first), (Loop(0, 8, 1),))
    whole = Tiling((8, 8), (8, 8), (0, 0), (Loop(0, 8, 1),))
    a, z, y = g.plio("in"), g.plio("rows", "out"), g.plio("all", "out")
    m = g.shared("m", "int32", (8, 8), [[whole]], [[rows], [whole]], num_buffers=2)
    g.connect(a, m.ins[0])
    g.connect(m.outs[0], z)
    g.connect(m.outs[1], y)
    plan = plan_of(g.description(), "xcve2802")
    run = GraphRun(plan, calls())
    run.feed("in", DATA)
    run.init(ROOT)
    run.run(ROOT, 2)
    run.end(ROOT)
    return ProgramResult(0, plan, run.result())


def test_the_walk_that_makes_other_words_is_named() -> None:
    done = compared(left(5), {"rows": DATA[:, 4:7], "gr.all": DATA})
    result = done.result
    assert not done.good
    assert result is not None
    assert [each.exact for each in result.checks] == [False, True]
    (finding,) = result.findings
    assert "gr.m.out[0] (line" in finding.message
    assert "reads 8 words too far on" in finding.message
    assert finding.fix == "Give it an offset 8 words smaller in its buffer."


def test_a_stride_that_registers_leave_out_is_named() -> None:
    """Pairs of columns: the outermost dimension moves on by one word instead of two."""
    pairs = [Tiling((8, 8), (2, 8), (0, 0), (Loop(0, step, 4),)) for step in (1, 2)]
    right = DATA.reshape(2, 8, 4, 2).swapaxes(1, 2)
    assert compared(left(0, pairs[1]), {"rows": right}).good
    result = compared(left(0, pairs[0]), {"rows": right}).result
    assert result is not None
    assert result.findings[0].fix == "Give it the stride 2 instead of 1 (words)."


def test_the_halves_of_a_buffer_that_two_ports_exchange_are_named() -> None:
    g = Sketch()
    halves = [Tiling((8, 8), (8, 4), (0, first), (Loop(0, 8, 1),)) for first in (4, 0)]
    whole = Tiling((8, 8), (8, 8), (0, 0), (Loop(0, 8, 1),))
    top, bottom, y = g.plio("top"), g.plio("bottom"), g.plio("all", "out")
    m = g.shared("m", "int32", (8, 8), [[each] for each in halves], [[whole]], num_buffers=2)
    g.connect(top, m.ins[0])
    g.connect(bottom, m.ins[1])
    g.connect(m.outs[0], y)
    plan = plan_of(g.description(), "xcve2802")
    run = GraphRun(plan, calls())
    run.feed("top", DATA[:, :4])
    run.feed("bottom", DATA[:, 4:])
    run.init(ROOT)
    run.run(ROOT, 2)
    run.end(ROOT)
    result = compared(ProgramResult(0, plan, run.result()), {"all": DATA}).result
    assert result is not None
    (found,) = result.findings
    assert "writes where gr.m.in[1] should, and vice versa" in found.message
    assert found.fix == "Exchange their offsets."


def test_a_file_of_a_plio_says_what_must_come(tmp_path: Path) -> None:
    golden = tmp_path / "golden.txt"
    golden.write_text("".join(f"T {n} ns\n{value}\n" for n, value in enumerate(DATA[:, 4:7].reshape(-1))))
    assert compared(left(4), {"rows": golden}).good


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("columns", DATA, r"expected output 'columns' is 'columns'; it must be one of gr\.rows, gr\.all"),
        ("all", DATA.astype(np.int16), "expected output 'all' is an array of int16; it must be one of int32"),
    ],
)
def test_what_cannot_be_compared_is_refused(name: str, data: np.ndarray, says: str) -> None:
    with pytest.raises(DesignError, match=says):
        compared(left(4), {name: data})
