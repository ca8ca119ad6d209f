"""Do sweeps find the cycles of variants without words where nobody asks for these?"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import memtile
from left_out import need_package
from memtile.explain.outcome import reasons_at_limit
from memtile.explain.results import Status
from memtile.explore.sweep.log import Log
from memtile.explore.sweep.reruns import replay
from memtile.explore.sweep.row import SweepRow, VariantState
from memtile.explore.sweep.sources import loaded, sources_of
from memtile.explore.sweep.sweep import SweepPlan
from support.commands.sweep_designs import small

EXPECTING = """\
from typing import Literal

import numpy as np
from memtile import Array, MemoryTile

MADE = {}


def design(what: Literal["nothing", "ports", "buffers", "arrays"] = "nothing"):
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    data = np.arange(300, dtype=np.int32)
    buffer = tile.buffer("a", 300, data=data)
    tile.mm2s[0].start(tile.read(buffer))
    tile.mm2s[0].collect(np.int32)
    if what == "ports":
        tile.mm2s[0].expect(data)
    if what == "buffers":
        tile.expect(buffer, data)
    if what == "arrays":
        array.expect_array("outside", data.copy(), data)
    MADE[what] = array
    return array
"""


def test_words_are_moved_where_something_is_expected(tmp_path: Path) -> None:
    (file := tmp_path / "expecting.py").write_text(EXPECTING)
    rows = memtile.sweep(file, SweepPlan(workers=0)).rows
    made = loaded(str(file), sources_of(str(file)).hash).__globals__["MADE"]
    assert {row.state for row in rows} == {VariantState.GOOD}
    assert len({row.figures["cycles"] for row in rows}) == 1
    without = {what: array.engine.wordless for what, array in made.items()}
    assert without == {"nothing": True, "ports": False, "buffers": False, "arrays": False}


def test_a_model_that_runs_again_with_other_constants_leaves_words_out_again(tmp_path: Path) -> None:
    (file := tmp_path / "expecting.py").write_text(EXPECTING)
    vary = {"what": "nothing,buffers", "timing.finished_bd_delay": "1,16"}
    rows = memtile.sweep(file, SweepPlan(workers=0, vary=vary)).rows
    made = loaded(str(file), sources_of(str(file)).hash).__globals__["MADE"]
    assert [made[what].engine.wordless for what in ("nothing", "buffers")] == [True, False]
    cycles = {
        (row.point["what"], row.point["timing.finished_bd_delay"]): row.figures["cycles"] for row in rows
    }
    for delay in (1, 16):
        assert cycles["nothing", delay] == cycles["buffers", delay]


def test_no_data_compares_nothing_and_finds_the_same_cycles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    file, log = small(tmp_path), tmp_path / "log.parquet"
    need_package("pyarrow")
    rows = memtile.sweep(file, SweepPlan(workers=0, data=False), log=log).rows
    compared = memtile.sweep(file, SweepPlan(workers=0)).rows

    def by_place(found: tuple[SweepRow, ...]) -> dict[tuple[object, object], SweepRow]:
        return {(row.point["mode"], row.point["words"]): row for row in found}

    one, other = by_place(rows), by_place(compared)
    assert {row.key for row in rows}.isdisjoint(row.key for row in compared)
    for place, row in one.items():
        if place[0] == "wrong":
            assert (row.state, other[place].state) == (VariantState.GOOD, VariantState.INFEASIBLE)
        else:
            assert (row.state, row.why, row.figures) == (
                other[place].state, other[place].why, other[place].figures,
            )  # fmt: skip
    key = one["wrong", 8].key
    assert replay(log, key).same
    assert Log(log).head["data"] is False
    sys.modules.pop("beside", None)


def test_who_waits_at_a_limit_is_found_out_only_where_it_is_asked_for() -> None:
    tile = memtile.MemoryTile()
    block = tile.buffer("block", 64)
    tile.mm2s[0].start(tile.read(block), repeat=16)
    tile.mm2s[0].collect()
    with reasons_at_limit(False):
        brief = tile.run(20)
    with reasons_at_limit(True):
        whole = tile.run(20)
    assert (brief.status, brief.waiting) == (Status.LIMIT, ())
    assert whole.status is Status.LIMIT
    assert "MM2S 0" in whole.waiting[0]


def test_a_log_without_rows_is_a_log(tmp_path: Path) -> None:
    """As of a sweep that was interrupted before its first variant had ended."""
    file, path = small(tmp_path), tmp_path / "log.parquet"
    memtile.sweep(file, SweepPlan(workers=0), log=path)
    whole = Log(path)
    head, rows = whole.head, whole.rows
    assert rows
    path.unlink()
    with Log(path).open(head):
        pass
    assert Log(path).rows == {}
    assert Log(path).head == head
    memtile.sweep(file, SweepPlan(workers=0), log=path)
    assert Log(path).rows.keys() == rows.keys()
