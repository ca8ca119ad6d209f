"""Do core bodies do the same interpreted with checked indices and compiled, and what MLIR says?

A sample of every operation; as many as one likes by
``PYTHONPATH=tests python tests/support/bodies/body_runs.py --cases 10000``.
"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.importers.kernels import control_flow, host_calls
from memtile.importers.kernels.table import HANDLERS
from memtile.jit.decorators import ENABLED
from support.bodies.body_runs import MAKERS, Body, campaign, written
from support.bodies.checked_indices import CheckedArray

ALWAYS = {"math.fma", "math.erf", "math.erfc", "vector.fma", "arith.mulf"}
"""Whose results depend on when the numbers between them are rounded."""
OUTSIDE_AT_TIMES = {"vector.shuffle", "vector.extract_strided_slice", "vector.insert_strided_slice"}
"""Whose numbers stand in the text: pieces with some that are outside are refused when they are read."""


def test_every_operation_of_the_importer_has_a_maker() -> None:
    assert set(MAKERS) == {*HANDLERS, *host_calls.HANDLERS, *control_flow.NAMES}


def test_indices_of_the_interpreter_are_checked() -> None:
    array = np.zeros((3, 3)).view(CheckedArray)
    for index in (-1, np.int64(-1), (0, -2), (slice(None), -1)):
        with pytest.raises(IndexError, match="counts from the end"):
            array[index]
        with pytest.raises(IndexError, match="counts from the end"):
            array[index] = 1
    with pytest.raises(IndexError, match="out of bounds"):
        array[0, 3]
    assert array[2, 2] == 0
    assert isinstance(array[0], CheckedArray)


@pytest.mark.parametrize("name", ["scf.forall", "scf.parallel", "affine.parallel"])
def test_counters_of_loops_over_several_dimensions_are_values(name: str) -> None:
    assert Body([written(name, 1, generic=False)]).pieces[0].covers >= {name}


@pytest.mark.slow
def test_every_operation_does_what_mlir_says_in_both_forms() -> None:
    done = campaign(list(MAKERS), 3400, seed=1, memories=3, compiled=False)
    assert done.found == []
    both = {(name, generic) for name in MAKERS for generic in (False, True)}
    assert {name for name, _ in both - done.read} <= OUTSIDE_AT_TIMES, done.refused


@pytest.mark.slow
@pytest.mark.skipif(not ENABLED, reason="MEMTILE_JIT=0: nothing is compiled")
def test_compiled_code_does_what_the_interpreter_does() -> None:
    sample = sorted({*ALWAYS, *(name for n, name in enumerate(sorted(MAKERS)) if n % 5 == 2)})
    done = campaign(sample, 200, seed=2, memories=4)
    assert done.found == []
    assert done.counts["same"] >= 165
