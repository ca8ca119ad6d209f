"""Do compiled functions see the same tables as the interpreter, though they get them by pointer?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
import pytest

from memtile.jit.decorators import ENABLED, inlined, jit
from memtile.jit.structs import Struct, dereference, place_of

Ints = npt.NDArray[np.int64]


class Inner(NamedTuple):
    counts: Ints


class OuterTables(NamedTuple):
    first: Ints
    inner: Inner
    words: npt.NDArray[np.uint32]


class Outer(OuterTables, Struct):
    pass


@inlined
def bump(tables: Outer, at: int, by: int) -> None:
    tables.first[at] += by
    tables.inner.counts[at] += tables.first[at]


@jit
def total(tables: Outer) -> int:
    found = 0
    for at in range(tables.first.shape[0]):
        bump(tables, at, 1)
        bump(tables, at, at)
        found += tables.inner.counts[at] * int(tables.words[at])
    return found


def work_in_the_interpreter(whole: Outer, rounds: int) -> int:
    found = 0
    for _ in range(rounds):
        found += total(whole)
    return found


outer_at = dereference(Outer)


def work_behind_a_pointer(address: int, rounds: int) -> int:
    found = 0
    for _ in range(rounds):
        found += total(outer_at(address))
    return found


if ENABLED:
    from memtile.jit.parts import compiled_entry

    compiled = compiled_entry(work_behind_a_pointer, on_disk=False)


def work(whole: Outer, rounds: int) -> int:
    return compiled(place_of(whole).address, rounds) if ENABLED else work_in_the_interpreter(whole, rounds)


def tables() -> Outer:
    return Outer(np.arange(4), Inner(np.zeros(4, np.int64)), np.full(4, 3, np.uint32))


def by_hand(given: Outer, rounds: int) -> int:
    found = 0
    for _ in range(rounds):
        for at in range(4):
            for by in (1, at):
                given.first[at] += by
                given.inner.counts[at] += given.first[at]
            found += int(given.inner.counts[at]) * 3
    return found


def test_the_tables_behind_a_pointer_are_read_and_written() -> None:
    mine, theirs = tables(), tables()
    assert work(mine, 5) == by_hand(theirs, 5)
    np.testing.assert_array_equal(mine.inner.counts, theirs.inner.counts)


def test_a_struct_with_another_array_has_its_own_pointer() -> None:
    mine = tables()
    work(mine, 1)
    other = mine._replace(first=np.full(4, 7))
    before = mine.first.copy()
    theirs = Outer(other.first.copy(), Inner(other.inner.counts.copy()), other.words)
    assert work(other, 2) == by_hand(theirs, 2)
    assert mine.first.tolist() == before.tolist()
    assert other.first.tolist() == theirs.first.tolist()


@pytest.mark.skipif(not ENABLED, reason="MEMTILE_JIT=0: nothing is compiled")
@pytest.mark.parametrize(
    ("other", "why"),
    [
        (np.zeros(4, np.int32), "Outer: arrays of another type or layout than before"),
        (np.zeros((4, 1), np.int64), "Outer: arrays of another type or layout than before"),
        (np.arange(8)[::2], "first: an array that is not contiguous, not aligned or not writable"),
    ],
)
def test_an_array_of_another_type_is_refused(other: np.ndarray, why: str) -> None:
    work(tables(), 1)
    with pytest.raises(TypeError, match=why):
        place_of(tables()._replace(first=other))
    assert work(tables(), 1) == by_hand(tables(), 1)


@pytest.mark.skipif(not ENABLED, reason="MEMTILE_JIT=0: nothing is compiled")
def test_arrays_that_overlap_are_refused() -> None:
    """Compiled code relies on it that a store to one changes no other."""
    both = np.zeros(12, np.int64)
    beside = tables()._replace(first=both[:4], inner=Inner(both[4:8]))
    place_of(beside)
    for other in (both[:4], both[3:7], both[1:3], both):
        with pytest.raises(TypeError, match="Outer: arrays that overlap"):
            place_of(beside._replace(inner=Inner(other)))


@pytest.mark.slow
@pytest.mark.skipif(not ENABLED, reason="MEMTILE_JIT=0: nothing is compiled")
@pytest.mark.parametrize(
    ("change", "name"),
    [
        (
            "types.Dispatcher.get_call_type = get_call_type",
            "types.Dispatcher.get_call_type(context, args, kws)",
        ),
        ("del untyped_passes.GenericRewrites", "untyped_passes.GenericRewrites"),
    ],
)
def test_where_numba_lacks_a_hook_it_compiles_alone(change: str, name: str, tmp_path: Path) -> None:
    """A Numba of another version: one sentence says why it takes so long, and the results are the same."""
    code = f"""
from numba.core import compiler, types, untyped_passes
former = types.Dispatcher.get_call_type
def get_call_type(self, typing, args, kws):
    return former(self, typing, args, kws)
{change}
import conftest  # no deadlines
from properties import test_compiled_parts as mine, test_compiled_columns as columns
from memtile.jit import decorators
with decorators.compiling(decorators.to_stderr, ()):
    mine.test_the_tables_behind_a_pointer_are_read_and_written()
    columns.test_the_same_elements_as_in_the_interpreter()
"""
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MEMTILE_CACHE": str(tmp_path)},
    )
    assert (run.returncode, run.stderr) == (
        0,
        f"memtile: compiling the engine (once, minutes, as Numba {numba.__version__} lacks "
        f"numba.core.{name}; it is kept for the next time) ...\n",
    )


@pytest.mark.skipif(not ENABLED, reason="MEMTILE_JIT=0: nothing is compiled")
def test_a_part_is_linked_into_its_callers_and_not_compiled_alone() -> None:
    from memtile.jit.decorators import CompiledPart
    from memtile.jit.linking import PartLibrary

    work(tables(), 1)
    assert isinstance(total, CompiledPart)
    results = list(total.compiled.overloads.values())
    assert len(results) == 1
    assert isinstance(results[0].library, PartLibrary)
    assert results[0].library.get_pointer_to_function(results[0].fndesc.llvm_func_name) == 0


@pytest.mark.skipif(not ENABLED, reason="MEMTILE_JIT=0: nothing is compiled")
def test_a_part_stores_nothing_for_calls_before_it_makes_them() -> None:
    from memtile.jit.decorators import CompiledPart

    work(tables(), 1)
    assert isinstance(total, CompiledPart)
    (result,) = total.compiled.overloads.values()
    function = result.library._final_module.get_function(result.fndesc.llvm_func_name)
    first = [str(one) for one in next(iter(function.blocks)).instructions]
    assert any("alloca" in one for one in first)
    assert not [one for one in first if one.lstrip().startswith("store")]


@pytest.mark.skipif(not ENABLED, reason="MEMTILE_JIT=0: nothing is compiled")
def test_a_constant_argument_does_not_compile_a_part_once_more() -> None:
    from memtile.jit.decorators import CompiledPart

    work(tables(), 1)
    assert isinstance(bump, CompiledPart)
    assert len(bump.compiled.overloads) == 1
