"""Do compiled functions see the same tables as the interpreter, though they get them by reference?"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
import pytest

from memtile.model.jit import ENABLED, inlined, jit
from memtile.model.reference import by_reference

Ints = npt.NDArray[np.int64]


class Inner(NamedTuple):
    counts: Ints


class Outer(NamedTuple):
    first: Ints
    inner: Inner
    words: npt.NDArray[np.uint32]


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
    tables = by_reference(whole)
    found = 0
    for _ in range(rounds):
        found += total(tables)
    return found


if ENABLED:
    from memtile.model.jit_parts import EntryCompiler

    work = numba.njit(work_in_the_interpreter, pipeline_class=EntryCompiler)
else:
    work = work_in_the_interpreter


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


def test_the_tables_behind_a_reference_are_read_and_written() -> None:
    mine, theirs = tables(), tables()
    assert work(mine, 5) == by_hand(theirs, 5)
    np.testing.assert_array_equal(mine.inner.counts, theirs.inner.counts)


@pytest.mark.skipif(not ENABLED, reason="MEMTILE_JIT=0: nothing is compiled")
def test_a_part_is_linked_into_its_callers_and_not_compiled_alone() -> None:
    from memtile.model.jit_parts import Part, PartLibrary

    work(tables(), 1)
    assert isinstance(total, Part)
    results = list(total.compiled.overloads.values())
    assert len(results) == 1
    assert isinstance(results[0].library, PartLibrary)
    assert results[0].library.get_pointer_to_function(results[0].fndesc.llvm_func_name) == 0


@pytest.mark.skipif(not ENABLED, reason="MEMTILE_JIT=0: nothing is compiled")
def test_a_constant_argument_does_not_compile_a_part_once_more() -> None:
    from memtile.model.jit_parts import Part

    work(tables(), 1)
    assert isinstance(bump, Part)
    assert len(bump.compiled.overloads) == 1
