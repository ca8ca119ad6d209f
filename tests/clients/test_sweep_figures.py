"""Do energies, sensitivities and datasets of sweeps say what the runs moved and what moved them?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memtile
from left_out import need_package
from memtile import DesignError, SweepPlan
from memtile.arch.energy import SOURCES, Energy, energy_table
from memtile.arch.grades import Grade
from memtile.explore.sweep import sweep_picture
from memtile.explore.sweep.row import SweepRow, VariantState
from memtile.explore.sweep.sensitivity import sensitivity
from memtile.explore.sweep.space import Space, SweepAxis
from memtile.explore.sweep.variant_figures import energy_of
from memtile.importers.design_file import design_function
from support.pages.browser import opened

BLOCKS = """
from typing import Literal

import numpy as np
from memtile import Array


def design(words: Literal[16, 32, 64] = 16, gap: Literal[0, 8] = 0) -> Array:
    array = Array("npu1", columns=1)
    outside, tile = array.interface_tile(0), array.memory_tile(0)
    data = np.arange(words, dtype=np.int32)
    tile.buffer("gap", gap + 4)
    come = array.object_fifo("come", outside, tile, shape=words)
    come.forward("on", array.compute_tile(0, 2))
    outside.mm2s[0].start(outside.read(array.external("data", data)))
    return array
"""


@pytest.fixture
def blocks(tmp_path: Path) -> Path:
    (file := tmp_path / "blocks.py").write_text(BLOCKS)
    return file


def test_energy_is_what_the_dmas_moved_at_each_level(blocks: Path) -> None:
    made = design_function(str(blocks))(64)
    result = made.run()
    for level, accesses in (("l1", 1), ("l2", 2), ("l3", 1)):  # written; written and read; read
        table = Energy(**{"l1": 0.0, "l2": 0.0, "l3": 0.0, level: 1.0})
        assert energy_of(made, result, table) == pytest.approx(accesses * 64 * 4 / 1000)
    assert energy_of(made, result, Energy()) == pytest.approx(0.256 * (0.9375 + 2 * 1.75 + 162.5), abs=1e-3)


def kernel_of(core: str) -> str:
    lines = f"""
    tile = array.compute_tile(0, 2)
    end, kept = on.consumers[0], tile.buffer("kept", 16)

    def kernel(core):
        yield core.acquire(end.full)
        {core}
        yield core.release(end.free)

    tile.run_kernel(kernel)
"""
    text = BLOCKS.replace("    come.forward", "    on = come.forward")
    return text.replace("    outside.mm2s[0]", f"{lines}    outside.mm2s[0]")


@pytest.mark.parametrize(
    ("core", "nbytes"),
    [
        ("yield core.cycles(7)", 256),  # what came is read once
        ("core.write(kept, np.zeros(16, np.int32))\n        yield core.cycles(7)", 256),  # data says nothing
        ("yield core.access(core.walk(kept))", 64),  # vectors of 32 bytes
        ("yield core.access(core.walk(kept, 32), core.walk(kept, 32), store=core.walk(kept, 8))", 640),
    ],
)
def test_energy_of_cores_is_what_they_say_or_what_came_and_went(
    core: str, nbytes: int, tmp_path: Path
) -> None:
    """DEV-ENERGY-2: a store of a byte reads and writes a word."""
    (file := tmp_path / "kernel.py").write_text(kernel_of(core))
    made = design_function(str(file))(64)
    result = made.run()
    assert result.good
    assert energy_of(made, result, Energy(1.0, 0.0, 0.0)) == pytest.approx((256 + nbytes) / 1000)
    assert energy_of(made, result, Energy(0.0, 1.0, 0.0)) == pytest.approx(2 * 256 / 1000)


def test_the_published_table_is_assumed_here_and_says_where_it_is_from() -> None:
    """DEV-ENERGY-1."""
    assert {source.grade for source in SOURCES.values()} == {Grade.ASSUMED}
    assert all("ISCA 2021" in source.text for source in SOURCES.values())
    assert all("not at hand" in source.text for source in SOURCES.values())
    older = {
        "l1": 10,
        "l2": 100,
        "l3": 1300,
    }  # Horowitz, ISSCC 2014: picojoules for 64 bits in 45 nm, at least
    assert all(8 * getattr(Energy(), level) <= most for level, most in older.items())
    assert energy_table("published") == Energy()
    assert energy_table("l3=40, l1=2") == Energy(l1=2.0, l3=40.0)
    for wrong in ("l4=1", "l1", "l1=-1", "l1=nan", "l1=1,l1=2", ""):
        with pytest.raises(DesignError, match="the energy table is"):
            energy_table(wrong)


def test_energy_is_off_by_default_and_an_objective_turns_it_on(blocks: Path) -> None:
    plain = memtile.sweep(blocks, SweepPlan(workers=0))
    assert not any("energy" in row.figures for row in plain.rows)
    assert "energy" not in str(plain)
    with pytest.raises(DesignError, match=r"no figure energy.*--energy"):
        plain.sensitivity("energy")
    counted = memtile.sweep(blocks, SweepPlan(workers=0, objectives="energy,cycles", prune=True))
    assert [row.point["words"] for row in counted.ranked][:2] == [16, 16]
    assert "energy" in str(counted)
    dear = memtile.sweep(blocks, SweepPlan(workers=0, energy="l1=0,l2=0,l3=1"))
    assert [row.figures["energy"] for row in dear.rows] == [0.064, 0.064, 0.128, 0.128, 0.256, 0.256]
    assert {row.key for row in dear.rows}.isdisjoint(row.key for row in plain.rows)


def rows_of(space: Space, figure: Any) -> list[SweepRow]:
    points = enumerate(space.grid())
    return [
        SweepRow(str(n), "", point, VariantState.GOOD, figures={"cycles": figure(**point)})
        for n, point in points
    ]


def test_sensitivity_is_the_variance_that_an_axis_explains_alone() -> None:
    space = Space((SweepAxis("a", (0, 1)), SweepAxis("b", (0, 1, 2)), SweepAxis("c", (5, 6))))
    found = sensitivity(space, rows_of(space, lambda a, b, c: 2 * a + b + 0 * c), "cycles")
    total = 4 / 4 + 2 / 3
    assert list(found) == ["a", "b", "c"]
    assert found == pytest.approx({"a": 1 / total, "b": (2 / 3) / total, "c": 0.0})
    two = Space((SweepAxis("a", (0, 1)), SweepAxis("b", (0, 1))))
    assert sensitivity(two, rows_of(two, lambda a, b: a ^ b), "cycles") == {"a": 0.0, "b": 0.0}
    free = Space((SweepAxis("x", (), (0.0, 8.0)),))
    points = [
        SweepRow(str(n), "", {"x": n + 0.5}, VariantState.GOOD, figures={"cycles": n}) for n in range(8)
    ]
    assert sensitivity(free, points, "cycles") == {"x": 1.0}
    assert sensitivity(free, [], "cycles") == {"x": 0.0}


def test_a_grid_is_tried_everywhere_early_and_once() -> None:
    """Constants of timing of one design follow each other: it is made once for them."""
    axes = (SweepAxis("a", (1, 2, 3, 4)), SweepAxis("timing.x", (7, 8)), SweepAxis("b", (0, 1, 2, 3)))
    space = Space(axes)
    found = list(space.spread())
    assert sorted(number for number, _ in found) == list(range(32))
    assert [point for _, point in sorted(found, key=lambda each: each[0])] == list(space.grid())
    assert found[0][1] == {"a": 3, "timing.x": 7, "b": 2}
    assert {point["a"] for _, point in found[:14]} == {1, 2, 3, 4}
    assert [point["timing.x"] for _, point in found[:4]] == [7, 8, 7, 8]
    assert found[0][1]["b"] == found[1][1]["b"]


def test_an_axis_of_figures_has_round_ticks_between_its_ends() -> None:
    scale = sweep_picture._Scale("cycles", low=9137, high=21480)
    assert [label for _, label in scale.ticks()] == ["9,137", "21,480", "10,000", "15,000", "20,000"]
    assert [label for _, label in sweep_picture._Scale("cycles", low=7, high=7).ticks()] == ["7"]


def test_a_page_and_a_table_say_what_moves_the_objectives(blocks: Path, tmp_path: Path) -> None:
    found = memtile.sweep(blocks, SweepPlan(workers=0, objectives="cycles,l2"))
    assert found.sensitivity() == pytest.approx({"words": 1.0, "gap": 0.0}, abs=0.02)
    assert next(iter(found.sensitivity("l2"))) == "words"
    assert "what moves cycles among the good ones: words" in str(found)
    found.page(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "what moves cycles: part of its variance" in page
    assert "what moves l2: part of its variance" in page
    with opened(tmp_path / "page.html", tmp_path / "profile", width=1100, height=1500) as seen:
        circle = "document.querySelector('circle').getBoundingClientRect()"
        seen.mouse("mouseMoved", *seen.evaluate(f"[{circle}.x + 3, {circle}.y + 3]"))
        assert seen.evaluate("document.querySelectorAll('.hot').length") == 3
        assert seen.evaluate("document.getElementById('told').textContent").startswith("words ")
        ticks = seen.evaluate("[...document.querySelectorAll('svg text')].map(each => each.textContent)")
        assert "200" in ticks
        assert seen.said == []


def test_a_grid_as_an_xarray_dataset(blocks: Path) -> None:
    need_package("xarray")
    found = memtile.sweep(blocks, SweepPlan(workers=0))
    data = found.xarray()
    assert dict(data.sizes) == {"words": 3, "gap": 2}
    assert list(data.words.values) == [16, 32, 64]
    best = found.best
    assert best is not None
    assert float(data.cycles.sel(words=16, gap=0)) == best.figures["cycles"]
    assert "energy" not in data
    some = memtile.sweep(blocks, SweepPlan("random", 2, workers=0)).xarray()
    assert int(np.isnan(some.l2.values).sum()) == some.l2.size - 2
    (file := blocks.parent / "free.py").write_text(
        BLOCKS.replace("Literal[0, 8]", "float").replace("gap + 4", "4")
    )
    free = memtile.sweep(file, SweepPlan("random", 2, vary={"gap": "0.0..1.0"}, workers=0))
    with pytest.raises(DesignError, match="gap"):
        free.xarray()


@pytest.mark.parametrize(("energies", "is_shown"), [((17129.0, 17145.0), False), ((17129.0, 19000.0), True)])
def test_energy_that_tells_no_variant_from_another_is_a_line(
    blocks: Path, energies: tuple[float, float], is_shown: bool
) -> None:
    found = memtile.sweep(blocks, SweepPlan(workers=0, vary={"words": "16,32"}))
    rows = [
        replace(row, state=VariantState.GOOD, figures={**found.ranked[0].figures, "energy": energy})
        for row, energy in zip(found.rows, energies, strict=False)
    ]
    text = str(replace(found, rows=rows))
    assert ("energy: 17,129 to 17,145, the same for all variants" in text) is not is_shown
    assert (" energy " in text.partition("variants:")[0]) is is_shown
