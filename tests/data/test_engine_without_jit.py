"""Does the engine behave the same when its functions run in the interpreter?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.compiled("starts one itself")
def test_the_interpreter_passes_the_same_tests() -> None:
    files = ["data/test_engine_moves.py", "timing/test_page.py", "silicon/test_ground_truth.py"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files],
        cwd=TESTS,
        env=os.environ | {"MEMTILE_JIT": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-2000:]
    assert " passed" in run.stdout
