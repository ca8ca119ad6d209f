"""A run that meets its limit while only cores without locks, or traces, still move."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from memtile import Array
from memtile.explain.findings import Severity
from memtile.explain.results import Status
from memtile.explain.standstill import Standstill
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core


def with_core(turns: int) -> Array:
    """A core that computes for so many turns before it takes what comes to it."""
    array = Array("npu1", columns=1)
    door, worker = array.interface_tile(0), array.compute_tile(0, 2)
    come = array.object_fifo("come", door, worker, shape=32).consumers[0]

    def spin(core: Core) -> Iterator[Action]:
        for _ in range(turns):
            yield core.cycles(100)
        for number in range(4):
            yield core.acquire(come.full)
            core.read(come.buffer(number))
            yield core.release(come.free)

    worker.run_kernel(spin)
    words = array.external("words", np.arange(128, dtype=np.int32))
    door.mm2s[0].start(door.read(words))
    return array


@pytest.mark.parametrize(
    ("turns", "limit", "expected"), [(10_000, 40_000, 1), (10_000, 4_000, 0), (10, 40_000, 0)]
)
def test_a_core_that_only_computes_is_named_with_what_waits_for_it(
    turns: int, limit: int, expected: int
) -> None:
    result = with_core(turns).run(max_cycles=limit)
    found = [each for each in result.findings if each.code == "MT0327"]
    assert len(found) == expected
    if expected:
        assert result.status is Status.LIMIT
        assert found[0].severity is Severity.WARNING
        assert "only core (0, 2) (kernel 'spin') moves; interface(0,0) MM2S 0" in found[0].message
        assert found[0].fix.startswith("Let the loop of core (0, 2) end, or use a lock in it")


def test_a_trace_that_goes_on_is_named_and_is_no_work() -> None:
    array = with_core(10)
    engine, ends = (
        array.engine,
        [array.interface_tile(0).s2mm[1].index, array.compute_tile(0, 2).s2mm[0].index],
    )
    finding = Standstill(since=1_234, cores=(), traces=ends[:1]).finding(engine, ends, [])
    assert finding is not None
    moves, waits = finding.message.split("; ")
    assert moves == "Since cycle 1,234 only the trace on interface(0,0) S2MM 1 moves"
    assert waits == "compute(0,2) S2MM 0 'come' did nothing."
    assert finding.fix == "Find out what compute(0,2) S2MM 0 'come' waits for: a trace runs on its own."
    assert Standstill(since=1_234, cores=(), traces=ends).finding(engine, ends, []) is None
