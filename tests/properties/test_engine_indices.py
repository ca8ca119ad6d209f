"""Does the model find everything by indices that count from 0, as compiled code needs it?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from checked_indices import CheckedArray

TESTS = Path(__file__).parents[1]
DESIGNS = (
    "data/test_column_clock.py",
    "data/test_engine_moves.py",
    "data/test_packets.py",
    "timing/test_core_ports.py",
    "timing/test_external.py",
    "timing/test_neighbours.py",
    "timing/test_switch.py",
)
LONG = (  # half of the time, and nothing that the others do not do
    "data/test_column_clock.py::test_a_memory_tile_is_zero_after_a_column_reset[xcve2802]",
    "timing/test_neighbours.py::test_a_bank_has_one_share_for_each_interface_and_not_for_each_channel_behind_it",
)


@pytest.mark.parametrize("index", [-1, np.int64(-1), (0, -2), (slice(None), -1)])
def test_an_index_from_the_end_is_refused(index: object) -> None:
    array = np.zeros((3, 3)).view(CheckedArray)
    with pytest.raises(IndexError, match="counts from the end"):
        array[index]
    with pytest.raises(IndexError, match="counts from the end"):
        array[index] = 1
    with pytest.raises(IndexError, match="out of bounds"):
        array[0, 3]
    assert array[2, 2] == 0
    assert isinstance(array[0], CheckedArray)


@pytest.mark.interpreter
def test_no_design_has_an_index_from_the_end() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "checked_indices"]
    run = subprocess.run(
        [*command, *(f"--deselect=tests/{test}" for test in LONG), *DESIGNS],
        cwd=TESTS,
        env=os.environ | {"MEMTILE_JIT": "0", "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-2000:]
    assert " passed" in run.stdout
