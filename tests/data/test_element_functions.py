"""Is it seen what a core does to each element, and nothing where it does more?"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from memtile.explain.element_functions import element_function

Array = np.ndarray[Any, np.dtype[Any]]
CAME = np.random.default_rng(2).permutation(np.arange(-20, 44)).astype(np.int32)
FUNCTIONS: list[Callable[[Array], Array]] = [
    lambda x: 5 * x - 3,
    np.square,
    lambda x: np.maximum(x, 0),
    lambda x: x >> 2,
    lambda x: np.clip(x, -5, 5).astype(np.float32),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_of_each_element_is_known_for_elements_that_it_had(
    function: Callable[[Array], Array],
) -> None:
    got = function(CAME)
    found = element_function(CAME.astype(got.dtype), got)
    assert found is not None
    mapped = found(np.array([7, -20, 43, 7], got.dtype))
    assert mapped.known.all()
    assert np.array_equal(mapped.elements, function(np.array([7, -20, 43, 7], np.int32)))


def test_what_it_makes_of_others_is_known_of_a_factor_and_a_constant_alone() -> None:
    line, curve = (element_function(CAME, made) for made in (3 * CAME + 1, CAME**2))
    assert line is not None
    assert curve is not None
    assert line(np.array([100])).elements.tolist() == [301]
    assert curve(np.array([100, 9])).known.tolist() == [False, True]


@pytest.mark.parametrize(
    "made",
    [
        CAME[::-1].copy() ** 2,
        CAME.reshape(8, 8).T.ravel(),
        np.cumsum(CAME, dtype=np.int32),
        np.zeros(64, np.int32),
    ],
)
def test_a_core_that_does_more_or_nothing_has_no_function(made: Array) -> None:
    assert element_function(CAME, made) is None


def test_equal_elements_that_become_different_ones_have_no_function() -> None:
    assert element_function(np.repeat(CAME, 2), np.arange(128, dtype=np.int32)) is None
