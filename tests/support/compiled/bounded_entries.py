"""Small compiled functions over a struct, called with indices inside and outside; prints what became of each.

A process of its own (``MEMTILE_BOUNDS=1``) runs it: whether indices are checked is decided before the first
import.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from memtile.jit import entries
from memtile.jit.addresses import moves
from memtile.jit.decorators import jit
from memtile.jit.entries import CompiledEntry
from memtile.jit.host_words import copy_in, copy_out
from memtile.jit.structs import Struct, dereference, place_of
from memtile.jit.tables import table

Ints = npt.NDArray[np.int64]
_copy, _clear = moves()


class Rows(NamedTuple):
    count: Ints  # type: ignore[assignment]  # also a method of tuples, as in other structs
    pair: Annotated[Ints, (2,)]


class Fields(NamedTuple):
    rows: Rows
    words: npt.NDArray[np.uint32]
    plane: Ints


class Bench(Fields, Struct):
    pass


bench_at = dereference(Bench)


@jit
def shifted(bench: Bench, at: int) -> int:
    """The element behind the one that is asked for: the mistake that the checks are for."""
    return int(bench.rows.count[at + 1])


@jit
def deeper(bench: Bench, at: int) -> int:
    """A caller in between, which has to pass the error on."""
    return shifted(bench, at) + 1


@jit
def work(bench: Bench, kind: int, a: int, b: int) -> int:
    """One access of a kind."""
    if kind == 0:
        return deeper(bench, a)
    if kind == 1:
        bench.rows.pair[a, b] = 7
    elif kind == 2:
        bench.plane[a, b] = 7
    elif kind == 3:
        _copy(bench.plane, a, bench.plane, 0, b)
    elif kind == 7:
        _copy(bench.plane, 0, bench.plane, a, b)
    elif kind == 4:
        _clear(bench.plane, a, b)
    return 0


@jit
def words(bench: Bench, kind: int, a: int, b: int, address: int) -> int:
    """Words of the host to an array, or back."""
    if kind == 5:
        copy_in(bench.words, a, address, b)
    else:
        copy_out(address, bench.words, a, b)
    return 0


def behind_a_pointer(bench: int, kind: int, a: int, b: int, address: int) -> int:
    if kind not in (5, 6):
        return work(bench_at(bench), kind, a, b)
    return words(bench_at(bench), kind, a, b, address)


INSIDE = (
    "the last row",
    "the last of a row",
    "the last of a plane",
    "a block up to the end",
    "an empty block behind the end",
    "words in up to the end",
)
CALLS = {
    "the last row": (0, 2, 0),
    "a shifted index": (0, 3, 0),
    "from the end": (0, -2, 0),
    "far away": (0, (1 << 62), 0),
    "the last of a row": (1, 3, 1),
    "behind a row": (1, 3, 2),
    "before a row": (1, 0, -1),
    "both are outside": (2, -1, 3),
    "the last of a plane": (2, 1, 2),
    "a block up to the end": (4, 4, 2),
    "an empty block behind the end": (4, 6, 0),
    "a block over the end": (4, 4, 3),
    "a block of a negative length": (4, 4, -2),
    "a copy over the end": (3, 5, 2),
    "a copy from over the end": (7, 5, 3),
    "words in up to the end": (5, 2, 2),
    "words in over the end": (5, 2, 3),
    "words out from before": (6, -1, 2),
}


def main() -> None:
    """Print what each call raises as JSON, or an empty text; ``--inside``: those that raise nothing."""
    chosen = INSIDE if "--inside" in sys.argv else tuple(CALLS)
    bench = Bench(table(Rows, 4), np.zeros(4, np.uint32), np.zeros((2, 3), np.int64))
    host = np.zeros(8, np.uint32)
    place_of(bench)
    found: dict[str, str] = {}
    with (
        tempfile.TemporaryDirectory() as place,
        patch.object(entries, "cache_directory", lambda _: Path(place)),
    ):
        entry: Any = CompiledEntry(behind_a_pointer, (), Bench)
        for name in chosen:
            try:
                entry(bench, *CALLS[name], host.ctypes.data)
            except IndexError as error:
                found[name] = str(error)
            else:
                found[name] = ""
    print(json.dumps(found))


if __name__ == "__main__":
    main()
