"""Does main see the end of a graph in the cycle of the same poll, however many polls are left out?"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from memtile.adf.running import GraphRun
from memtile.sim.doors.polling import POLL_CYCLES
from memtile.sim.loop.engine import Engine
from support.adf.plans import compute, ints, started
from support.adf.sketch import ROOT, Sketch, buffer


def doubling(cycles: int) -> GraphRun:
    """Two kernels of 16 elements one after the other, of which the second takes so many cycles."""
    g = Sketch()
    a, b = (g.kernel(name, [buffer("int32", 16)], [buffer("int32", 16)]) for name in "ab")
    g.connect(g.plio("in"), a.ins[0])
    g.connect(a.outs[0], b.ins[0])
    g.connect(b.outs[0], g.plio("out", "out"))
    run = started(g, {a: compute(_double, 30), b: compute(_double, cycles)})
    run.feed("gr.in", np.arange(64, dtype=np.uint32))
    return run


def _double(source: npt.NDArray[Any], target: npt.NDArray[Any]) -> None:
    ints(target)[:] = 2 * ints(source)


def seen(run: GraphRun) -> list[int]:
    """The cycles in which main goes on behind wait(), twice, and that of the end."""
    found = []
    for _ in range(2):
        run.run(ROOT, 2)
        run.wait(ROOT)
        found.append(run.engine.now)
    run.end(ROOT)
    return [*found, run.result().cycles]


@pytest.mark.parametrize("cycles", [99, 250, 4321])
def test_polls_that_cannot_see_the_end_change_nothing(monkeypatch: pytest.MonkeyPatch, cycles: int) -> None:
    resumed = list[int]()
    resume = Engine.resume

    def counted(engine: Engine, until: int, *more: object) -> object:
        resumed.append(until)
        return resume(engine, until, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(Engine, "resume", counted)
    found, polls = seen(doubling(cycles)), len(resumed)
    resumed.clear()
    monkeypatch.setattr("memtile.adf.running.computing", lambda *_: 0)
    assert found == seen(doubling(cycles))
    assert polls < len(resumed) / 5 if cycles > 10 * POLL_CYCLES else polls <= len(resumed)
