"""Does the build with bounds checks report every index outside of its array, and none inside?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from memtile.jit.cache import cache_directory
from memtile.jit.settings import BOUNDS
from support.compiled import bounded_entries

PROGRAM = Path(bounded_entries.__file__)
ROWS, WORDS, PLANE = "Bench.rows.count: index", "Bench.words:", "Bench.plane:"
CALLS = {
    "the last row": "",
    "a shifted index": f"{ROWS} 4 is outside of 0..3, in __main__.shifted",
    "from the end": f"{ROWS} -1 is outside of 0..3, in __main__.shifted",
    "far away": f"{ROWS} 4611686018427387905 is outside of 0..3, in __main__.shifted",
    "the last of a row": "",
    "behind a row": "Bench.rows.pair: second index 2 is outside of 0..1, in __main__.work",
    "before a row": "Bench.rows.pair: second index -1 is outside of 0..1, in __main__.work",
    "both are outside": f"{PLANE} index -1 is outside of 0..1, in __main__.work",
    "the last of a plane": "",
    "a block up to the end": "",
    "an empty block behind the end": "",
    "a block over the end": f"{PLANE} end of a block 7 is outside of 0..6, in __main__.work",
    "a block of a negative length": f"{PLANE} length of a block -2 is outside of 0..6, in __main__.work",
    "a copy over the end": f"{PLANE} end of a block 7 is outside of 0..6, in __main__.work",
    "a copy from over the end": f"{PLANE} end of a block 8 is outside of 0..6, in __main__.work",
    "words in up to the end": "",
    "words in over the end": f"{WORDS} end of a block 5 is outside of 0..4, in __main__.words",
    "words out from before": f"{WORDS} start of a block -1 is outside of 0..4, in __main__.words",
}


@cache
def outcomes(bounds: str) -> dict[str, str]:
    """What each call raises in a process with or without checks."""
    path = os.pathsep.join(sys.path)
    changes = {"MEMTILE_BOUNDS": bounds, "MEMTILE_JIT": "1", "PYTHONPATH": path}
    run = subprocess.run(
        [sys.executable, PROGRAM, *(["--inside"] if bounds == "0" else [])],
        env=os.environ | changes, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    found: dict[str, str] = json.loads(run.stdout)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_an_index_outside_is_an_error_that_names_it(call: str) -> None:
    assert outcomes("1")[call] == CALLS[call]


@pytest.mark.slow
def test_without_the_variable_the_same_calls_inside_do_the_same() -> None:
    inside = {name: says for name, says in outcomes("1").items() if not says}
    assert outcomes("0") == inside
    assert len(inside) == 6


def test_both_builds_have_caches_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = cache_directory(("errors.py",))
    cache_directory.cache_clear()
    monkeypatch.setattr("memtile.jit.cache.BOUNDS", not BOUNDS)
    assert cache_directory(("errors.py",)) != plain
    cache_directory.cache_clear()
