"""Are the arrays that a run leaves compared with those that were expected, and others refused by name?"""

from __future__ import annotations

import numpy as np
import pytest

import memtile
from memtile.errors import DesignError
from memtile.explain.finding_places import FilePlace, file_place
from support.mlir.mlir_texts import PASSTHROUGH


@pytest.fixture
def done(tmp_path: object) -> memtile.Run:
    path = f"{tmp_path}/copy.mlir"
    with open(path, "w") as file:
        file.write(PASSTHROUGH)
    design = memtile.load(path)
    return design.run(*(np.arange(each.elements, dtype=each.dtype) for each in design.arguments))


def test_a_run_is_good_only_with_the_words_that_were_expected(done: memtile.Run) -> None:
    (name,) = [name for name in done.arrays if name != "0"][-1:]
    right = done.arrays[name].copy()
    assert done.against({name: right}).result.good
    wrong = right.copy()
    wrong.reshape(-1)[1] += 1
    found = done.against({name: wrong}).result
    assert not found.good
    assert [each.code for each in found.findings] == ["MT0405"]
    assert found.findings[0].sides[0].who == f"argument {name}"


def test_another_name_and_another_type_are_refused(done: memtile.Run) -> None:
    with pytest.raises(DesignError, match="expected array 'c'"):
        done.against({"c": np.zeros(4, np.int32)})
    with pytest.raises(DesignError, match="an array of float64"):
        done.against({"0": np.zeros(4)})


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("BD 26, bad.mlir:145:7", FilePlace("bad.mlir", 145, 7)),
        ("design.py, line 3", FilePlace("design.py", 3)),
        ("BD 26", FilePlace("the design")),
    ],
)
def test_the_line_of_a_descriptor_is_found(text: str, place: FilePlace) -> None:
    assert file_place(text, "the design") == place
