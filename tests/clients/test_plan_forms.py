"""Is a planned design in MLIR the same machine, and does its program of IRON make the right data?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import memtile
from memtile import DesignError, Gemm
from memtile.cli.main import app
from memtile.explore.plan.iron_program import iron_source
from memtile.explore.plan.plan_result import PlanResult
from support.mlir.round_trip import differences


@pytest.fixture(scope="module")
def found() -> PlanResult:
    """A design of a small product, of int32: its kernel is plain C++, which compiles quickly."""
    return memtile.plan(Gemm(16, 16, 16, "int32"), columns=1, tried=1, proved=0)


def test_a_planned_design_is_the_same_machine_in_mlir(found: PlanResult, tmp_path: Path) -> None:
    found.save(path := tmp_path / "kept.mlir")
    made = found.design()
    assert differences(made, path.read_text(), tmp_path / "again.mlir", hosts=bool(made.hosts)) == []


def test_a_planned_product_in_iron_is_right(found: PlanResult, tmp_path: Path) -> None:
    found.save(path := tmp_path / "kept.iron.py")
    text = path.read_text()
    assert "memtile" not in text.partition('"""\n')[2]
    random = np.random.default_rng(seed=3)
    a, b = random.integers(-9, 9, (2, 16, 16), dtype=np.int32)
    done = memtile.load_iron(path).run(a.reshape(-1), b.reshape(-1))
    assert np.array_equal(done.arrays["2"].reshape(16, 16), a @ b)


def test_what_object_fifos_cannot_have_is_refused_and_names_another_design(found: PlanResult) -> None:
    (first, *_) = found.ranked
    kept = replace(first, point={**first.point, "keep": "a"})
    with pytest.raises(DesignError) as error:
        replace(found, ranked=(kept, first)).iron()
    assert "the plan keeps A in memory tiles and sends it again" in str(error.value)
    assert "Take a design without it: --pick 1 is the best one." in str(error.value)
    with pytest.raises(DesignError, match="a plan of attention has no form as a program of IRON"):
        replace(found, layer="attention").iron()


def test_the_program_of_a_reduction_has_its_kernel() -> None:
    sizes = {"rows": 64, "width": 16, "columns": 1, "cores": 2, "tall": 4, "depth": 2}
    values = {**sizes, "dtype": "int32", "device": "npu1", "what": "max"}
    text = iron_source("rows", "largest of each row", values, "head")
    assert "ROWS, WIDTH = 64, 16" in text
    assert "most = at[n] > most ? at[n] : most;" in text


def test_the_name_of_the_file_says_the_form(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["plan", "gemm", "--out", str(tmp_path / "kept.txt")])
    assert done.exit_code == 2
    assert "must end in .py, .iron.py or .mlir" in " ".join(done.output.replace("│", " ").split())
