"""Is an element of a column the same in compiled code as in the interpreter, whatever its type and place?"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as some

from memtile.jit.decorators import ENABLED, jit
from memtile.jit.structs import Struct, dereference, place_of
from memtile.jit.tables import table

Ints = npt.NDArray[np.int64]
pytestmark = pytest.mark.skipif(not ENABLED, reason="MEMTILE_JIT=0: nothing is compiled")


class Side(IntEnum):
    LEFT = 0
    RIGHT = 1


class Rows(NamedTuple):
    count: Ints
    pair: Annotated[Ints, (2,)]
    block: Annotated[Ints, (2, 3)]
    last: Ints


class ManyTables(NamedTuple):
    rows: Rows
    grid: Rows  # a table of two dimensions
    plane: Ints
    cube: Ints
    words: npt.NDArray[np.uint32]
    shorts: npt.NDArray[np.int16]
    bits: npt.NDArray[np.bool_]


class Many(ManyTables, Struct):
    pass


@jit
def work(m: Many, a: int, b: int, value: int) -> int:
    """Write to everything and read it again, in an order that overlapping columns would disturb."""
    m.rows.count[a] = value
    m.rows.pair[a, Side.RIGHT] += value
    m.rows.block[a, 1, b] = m.rows.count[a] + m.rows.pair[a, 1]
    m.rows.last[a] -= m.rows.block[a, 1, b]
    m.grid.count[a, b] += value
    m.grid.block[a, b, Side.LEFT, 2] = m.grid.count[a, b]
    m.grid.last[a, b] = m.grid.block[a, b, 0, 2] + m.rows.last[a]
    m.plane[a, b] += m.grid.last[a, b]
    m.cube[a, b, Side.RIGHT] = m.plane[a, b] * 3
    m.words[a] = value
    m.shorts[a, b] = value & 255
    m.bits[a] = value > 0
    shapes = m.rows.count.shape[0] + 10 * m.rows.block.shape[2] + 100 * m.grid.last.shape[1]
    shapes += 1000 * m.cube.shape[2] + 10000 * m.words.shape[0]
    return shapes + int(m.words[a]) + int(m.shorts[a, b]) + (1 if m.bits[a] else 0)


if ENABLED:
    from memtile.jit.parts import compiled_entry

    many_at = dereference(Many)

    def work_behind_a_pointer(address: int, a: int, b: int, value: int) -> int:
        return work(many_at(address), a, b, value)

    def row_behind_a_pointer(address: int) -> int:
        return many_at(address).plane[0].shape[0]

    compiled = compiled_entry(work_behind_a_pointer, on_disk=False)
    a_whole_row = compiled_entry(row_behind_a_pointer, on_disk=False)


def many() -> Many:
    return Many(
        table(Rows, 4, count=1),
        table(Rows, 4, 3, last=2),
        np.arange(12).reshape(4, 3),
        np.zeros((4, 3, 2), np.int64),
        np.zeros(4, np.uint32),
        np.zeros((4, 3), np.int16),
        np.zeros(4, np.bool_),
    )


BYTES = some.integers(-(1 << 30), 1 << 30)


@given(some.lists(some.tuples(some.integers(0, 3), some.integers(0, 2), BYTES), max_size=8))
def test_the_same_elements_as_in_the_interpreter(steps: list[tuple[int, int, int]]) -> None:
    mine, theirs = many(), many()
    for a, b, value in steps:
        assert compiled(place_of(mine).address, a, b, abs(value)) == work(theirs, a, b, abs(value))
    for one, other in zip(mine, theirs, strict=True):
        assert one.tobytes() == other.tobytes()


def test_a_whole_row_is_refused() -> None:
    """Columns give single elements; anything else would be slow, and is an error when it is compiled."""
    with pytest.raises(numba.TypingError, match=r"getitem\(Column\(Many.plane\)"):
        a_whole_row(place_of(many()).address)


def test_loads_and_stores_say_which_column_they_are_about() -> None:
    """What lets LLVM keep in registers what a store to another column cannot have changed."""
    compiled(place_of(many()).address, 0, 0, 1)
    code = next(iter(work.compiled.overloads.values())).library.get_llvm_str()  # type: ignore[attr-defined]
    stores = [line for line in code.splitlines() if "store i64" in line and "retptr" not in line]
    loads = [line for line in code.splitlines() if "load i64" in line]
    assert min(len(stores), len(loads)) > 5
    assert [line for line in stores if "!tbaa" not in line] == []
    assert [line for line in loads if "!tbaa" not in line and "!invariant.load" not in line] == []
    assert "Many.rows.count" in code
