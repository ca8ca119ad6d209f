"""Are designs that a sweep runs again without making them again the ones that would be made?"""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memtile
from memtile import Array, SweepPlan
from memtile.arch.devices import device
from memtile.arch.timing import chosen_timing, constants
from memtile.design.array import _placed
from memtile.design.run_design import make
from memtile.explore.sweep import prepared
from memtile.explore.sweep.processes import ProcessRunner
from memtile.explore.sweep.row import Variant, VariantState
from memtile.explore.sweep.sweep_attempt import Rivals, attempt
from memtile.importers.design_file import design_function
from memtile.model.build.model import build
from memtile.model.state.state_differences import columns, differences
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.new_state import fresh_state
from memtile.sim.loop.rewind import RUN_ONLY, ModelStart, can_rewind

DESIGN = """
import random
from dataclasses import dataclass
from typing import Literal

import numpy as np
from memtile import Array

CALLS = []
{above}

def design(words: Literal[16, 32] = 16, big: bool = False, log: str = "made.txt") -> Array:
    with open(log, "a") as file:
        file.write("made\\n")
    array = Array("npu1", 1)
    outside, shared, core = array.interface_tile(0), array.memory_tile(0), array.compute_tile(0, 2)
    if big:
        shared.buffer("big", 1 << 20)
    come = array.object_fifo("in", outside, shared, shape=words).forward("on", core).consumers[0]
    data = array.external("data", np.arange(4 * words, dtype=np.int32))
    numbers = np.zeros(words, np.int32)
    results = array.external("results", numbers)
    array.expect_array("results", numbers, np.arange(words))
    go = array.object_fifo("out", core, outside, shape=words)
    {before}

    def kernel(core):
        {first}
        for n in range(4):
            yield core.acquire(come.full)
            yield core.cycles({cycles})
            yield core.release(come.free)
        yield core.acquire(go.producer.free)
        core.write(go.producer.buffer(0), np.arange(words, dtype=np.int32))
        yield core.release(go.producer.full)

    core.run_kernel(kernel)
    outside.mm2s[0].start(outside.read(data))
    outside.s2mm[0].start(outside.write(results))
    return array
"""
PLAIN = {"above": "", "before": "", "first": "", "cycles": "20"}
LATENCIES = "40,90,200"
GEMM = str(Path(__file__).parents[2] / "examples" / "gemm_tiles.py")
SIDES = (16, 32, 64, 128)
GRID = [
    dict(zip(("tall", "wide", "deep", "depth", "cores"), each, strict=True))
    for each in product(SIDES, SIDES, SIDES, (1, 2, 3), (1, 2, 4))
]


def swept(folder: Path, **parts: str) -> tuple[list[Any], int]:
    """The rows of a sweep over latencies, and how often a design was made for them."""
    text = DESIGN
    for name, part in {**PLAIN, **parts}.items():
        text = text.replace("{" + name + "}", part)
    (file := folder / "again.py").write_text(text)
    (log := folder / "made.txt").write_text("")
    vary = {"words": "16,32", "big": "no,yes", "timing.external_latency": LATENCIES}
    found = memtile.sweep(file, SweepPlan(vary=vary, set={"log": str(log)}, workers=0))
    rows = [(row.point, row.state, row.kind, row.why, row.figures) for row in found.rows]
    return rows, len(log.read_text().splitlines())


def test_variants_of_timing_are_one_design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, made = swept(tmp_path)
    assert made == 4
    assert [row[1].value for row in rows] == (["good"] * 3 + ["infeasible"] * 3) * 2
    assert len({row[4]["cycles"] for row in rows if row[4].get("cycles")}) == 6
    monkeypatch.setattr(prepared, "RUN_ONLY", frozenset())
    assert swept(tmp_path) == (rows, 12)


@pytest.mark.chance
@pytest.mark.compiled("200 variants of a GEMM, twice")
def test_variants_by_chance_come_out_as_if_each_were_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(18)
    designs = [chance.randrange(576) for _ in range(20)]
    asked = [
        {**GRID[design], "timing.external_latency": chance.randrange(40, 400)}
        for design in designs
        for _ in range(5)
    ]
    tasks = [Variant("", point) for point in asked]
    one = [attempt(GEMM, task, Rivals(("cycles",))) for task in tasks]
    monkeypatch.setattr(prepared, "RUN_ONLY", frozenset())
    other = [attempt(GEMM, task, Rivals(("cycles",))) for task in tasks]
    for mine, theirs in zip(one, other, strict=True):
        assert replace(mine, seconds=0.0) == replace(theirs, seconds=0.0)
    assert sum(row.state is VariantState.GOOD for row in one) > 50


def test_variants_of_a_design_go_to_the_process_that_has_it() -> None:
    runner = ProcessRunner("again.py", 2, 1.0)
    ahead = [(design, None) for design in "aabbc"]
    given: list[str] = []
    for worker in (0, 1, 1, 0, 1):
        runner._designs[worker], _ = ahead.pop(runner._next(worker, ahead))
        given.append(runner._designs[worker])
    runner.close()
    assert given == ["a", "b", "b", "a", "c"]
    assert runner._next(0, [("c", None)]) == 0  # rather than none


COUNTER = """
class Counter:
    n = 0

    def next(self):
        self.n += 1
        return self.n
"""
COST = """
@dataclass(frozen=True)
class Cost:
    base: int

    def of(self, n):
        return self.base + n
"""
CHANGES = [
    {"cycles": "20 + CALLS.append(n) if CALLS.append(n) else 20 + len(CALLS)"},
    {"before": "count = 0", "first": "nonlocal count", "cycles": "(count := count + 1)"},
    {"above": "COUNT = 0", "first": "global COUNT", "cycles": "(COUNT := COUNT + 1)"},
    {"before": "seen = np.zeros(1, np.int64)", "first": "seen[0] += 1", "cycles": "int(seen[0])"},
    {"before": "known = {'n': 1}", "first": "known['n'] += 1", "cycles": "known['n']"},
    {
        "above": COUNTER,
        "before": "counter = Counter()",
        "cycles": "counter.next()",
    },
    {
        "above": COUNTER.replace("self.n", "Counter.n"),
        "before": "counter = Counter()",
        "cycles": "counter.next()",
    },
    {"above": "from itertools import count\nNEXT = count(1)", "cycles": "next(NEXT)"},
    {"cycles": "random.randint(5, 5)"},
    {"before": "wanted = array.engine.timing.external_latency", "cycles": "wanted"},
    {"before": "array.host(lambda host: iter(()))"},
]


@pytest.mark.parametrize("parts", CHANGES, ids=lambda parts: str(next(iter(parts.values())))[:30])
def test_a_design_that_may_do_something_else_is_made_again(tmp_path: Path, parts: dict[str, str]) -> None:
    rows, made = swept(tmp_path, **parts)
    assert made >= 2 * 3 + 2, rows
    assert sum(row[1].value == "good" for row in rows) == 6, rows[0]


STEADY = [
    {"before": "known, table = {'n': 7}, np.arange(9)", "cycles": "known['n'] + int(table[3])"},
    {"above": "def cost(n):\n    return abs(n) + len(CALLS) + 5\n", "cycles": "cost(n)"},
    {
        "above": COST,
        "before": "cost = Cost(7)",
        "cycles": "cost.of(n)",
    },
]


@pytest.mark.parametrize("parts", STEADY, ids=lambda parts: str(next(iter(parts.values())))[:30])
def test_kernels_that_do_the_same_again_need_no_second_design(tmp_path: Path, parts: dict[str, str]) -> None:
    _, made = swept(tmp_path, **parts)
    assert made == 4


def made_with(name: str, value: Any, function: Any) -> Array:
    with chosen_timing({name: value}):
        found = make(function, {}, "design")
        assert isinstance(found, Array)
        found.route()
    return found


@pytest.mark.parametrize("name", sorted(RUN_ONLY))
def test_what_is_set_up_does_not_hang_on_the_constants_of_runs(name: str) -> None:
    (constant,) = (each for each in constants() if each["name"] == name)
    for example in ("gemm_tiles", "packets"):
        function = design_function(str(Path(__file__).parents[2] / "examples" / f"{example}.py"))
        low, high = (made_with(name, value, function) for value in (constant["lowest"], constant["highest"]))
        assert [each.name for each in differences(low.engine.state, high.engine.state)] == []
        if can_rewind(low.engine):
            start = ModelStart(low.engine)
            with chosen_timing({name: int(str(constant["highest"]))}):
                assert start.rewind()
            assert [each.name for each in differences(low.engine.state, high.engine.state)] == []
            assert low.engine.timing == high.engine.timing
            assert int(getattr(low.engine.spec.timing, name)[0]) == constant["highest"]
        with chosen_timing({"task_start": 9}):
            assert not ModelStart(low.engine).rewind()


def test_models_of_a_kind_have_nothing_in_common_that_changes() -> None:
    engine, placed = Array("npu1", 2).engine, _placed(device("npu1"), 2)
    one, other = (fresh_state(placed, engine.timing, switched=True, booted=True) for _ in range(2))
    for mine, theirs in zip(columns(one), columns(other), strict=True):
        assert not np.shares_memory(mine.values, theirs.values), mine.name
        assert np.array_equal(mine.values, theirs.values), mine.name
    assert not np.shares_memory(np.asarray(one.spec.timing), np.asarray(other.spec.timing))
    anew = build(placed, engine.timing, switched=True)
    opened = {each.name for each in differences(one, anew)}
    assert {"registers"} <= opened <= {"registers", "memories.reach", "clock.locks_changed"}
    after_reset = Engine(placed, booted=False)
    assert after_reset.state.gates.off.any()
