"""Which numbers does a host sequence take where it declares a number?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.errors import InputFileError
from memtile.importers.host_numbers import host_number
from memtile.importers.mlir.types import Shaped


def kind(element: str) -> Shaped:
    return Shaped((), element)


@pytest.mark.parametrize(
    ("element", "low", "high"),
    [("i0", 0, 0), ("i1", -1, 1), ("i8", -128, 255), ("index", -(1 << 63), (1 << 64) - 1)],
)
def test_whole_numbers_that_the_type_holds(element: str, low: int, high: int) -> None:
    assert [host_number(0, kind(element), each) for each in (low, high)] == [low, high]
    for wrong in (low - 1, high + 1):
        with pytest.raises(
            InputFileError, match=rf"argument 2: .*whole number, {low}\.\.{high} \({element}\)"
        ):
            host_number(2, kind(element), wrong)


@pytest.mark.parametrize("given", [1.5, np.nan, np.inf, "7", np.zeros(2), None])
def test_what_is_no_whole_number(given: object) -> None:
    with pytest.raises(InputFileError, match="a whole number"):
        host_number(0, kind("i32"), given)  # type: ignore[arg-type]


def test_arrays_of_one_element_and_fractions_of_zero() -> None:
    assert host_number(0, kind("i32"), np.array([[5]], np.uint8)) == 5
    assert host_number(0, kind("i32"), 7.0) == 7
