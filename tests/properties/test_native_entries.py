"""Does kept machine code do the same as what Numba calls, and is nothing else taken for it?"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from ctypes import c_int64
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from memtile.jit import bitcode, entries, native, parts
from memtile.jit.decorators import ENABLED, jit
from memtile.jit.entries import CompiledEntry
from memtile.jit.structs import Struct, dereference, place_of
from memtile.testing.rig import Rig

pytestmark = pytest.mark.skipif(not ENABLED, reason="MEMTILE_JIT=0: nothing is compiled")
Ints = npt.NDArray[np.int64]


class Numbers(NamedTuple):
    values: Ints


class Shelf(Numbers, Struct):
    pass


class Order(Numbers, Struct):
    """What is further given."""


shelf_at, order_at = dereference(Shelf), dereference(Order)


@jit
def put(shelf: Shelf, at: int, value: int) -> int:
    before = shelf.values[at]
    shelf.values[at] = value
    return int(before)


def exchange(shelf: int, at: int, value: int, order: int) -> int:
    """Put a value where another one was, and count in what is further given."""
    if order != 0:
        order_at(order).values[0] += 1
    return put(shelf_at(shelf), at, value)


@pytest.fixture(autouse=True)
def _directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(entries, "cache_directory", lambda _sources: tmp_path)
    for kind in (Shelf, Order):
        place_of(kind(np.zeros(1, np.int64)))


def entry(by_numba: bool = False) -> CompiledEntry:
    return CompiledEntry(exchange, (), Shelf, Order, by_numba=by_numba)


def done_by(one: CompiledEntry) -> list[int]:
    """Results of some calls, in both ways of calling, and what they left."""
    shelf, order = Shelf(np.arange(4)), Order(np.zeros(1, np.int64))
    found = [one(shelf, 1, -7, 0), one(shelf, 1, 1 << 40, place_of(order).address)]
    place = place_of(shelf)
    found.append(one.held(place.result, place.error, place.given, *map(c_int64, (1, 5, 0))))
    return [*found, place.answer.value, *shelf.values.tolist(), *order.values.tolist()]


EXPECTED = [1, -7, 0, 1 << 40, 0, 5, 2, 3, 1]


@pytest.mark.parametrize("by_numba", [False, True])
def test_both_ways_of_calling_give_the_same(by_numba: bool, tmp_path: Path) -> None:
    assert done_by(entry(by_numba)) == EXPECTED
    assert len(list(tmp_path.glob("*.object"))) == (not by_numba)


def test_a_numba_that_does_not_hand_its_code_over_calls_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(parts, "bitcode_of", lambda *_: None)
    assert done_by(entry()) == EXPECTED
    assert list(tmp_path.glob("*.object")) == []


def test_code_that_needs_numba_to_run_is_not_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    for function, numbers, fits in ((exchange, 4, True), (quotient, 1, False)):
        made = parts.bitcode_of(function, numbers)
        assert made is not None
        if not fits:
            monkeypatch.setattr(bitcode, "_FOREIGN", ("",))  # any name that is not its own
        assert (bitcode.optimised(made[1], bitcode.this_processor()) is not None) == fits


def quotient(number: int) -> int:
    return int(np.exp(number))


def count_compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    compiled, former = [], parts.bitcode_of

    def noted(function: object, numbers: int) -> tuple[str, bytes] | None:
        compiled.append("once")
        return former(function, numbers)  # type: ignore[arg-type]

    monkeypatch.setattr(parts, "bitcode_of", noted)
    return compiled


def test_what_is_kept_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = count_compiled(monkeypatch)
    assert done_by(entry()) == done_by(entry()) == EXPECTED
    assert compiled == ["once"]


@pytest.mark.parametrize("damage", ["cut", "flipped", "no head", "empty", "other code"])
def test_a_damaged_file_is_not_loaded(damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert done_by(entry()) == EXPECTED
    (file,) = tmp_path.glob("*.object")
    whole = file.read_bytes()
    middle = len(whole) // 2
    file.write_bytes(
        {
            "cut": whole[:-1],
            "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            "no head": whole.partition(b"\n")[2],
            "empty": b"",
            "other code": whole.partition(b"\n")[0] + b"\n" + bytes(100),
        }[damage]
    )
    compiled = count_compiled(monkeypatch)
    assert done_by(entry()) == EXPECTED
    assert compiled == ["once"]
    assert done_by(entry()) == EXPECTED
    assert compiled == ["once"]


def test_another_processor_has_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    entry()(Shelf(np.zeros(2, np.int64)), 0, 0, 0)
    former = native.machine()
    monkeypatch.setattr(native, "machine", lambda: former + " with another feature")
    assert entry().kept() is None


def test_other_structs_have_code_of_their_own() -> None:
    assert done_by(entry()) == EXPECTED
    assert entry().kept() is not None
    assert CompiledEntry(exchange, (), Shelf).kept() is None


def test_what_another_process_has_compiled_meanwhile_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, first = entry(), entry()
    assert waiting.kept() is None
    assert done_by(first) == EXPECTED
    compiled = count_compiled(monkeypatch)
    assert done_by(waiting) == EXPECTED
    assert compiled == []


def test_threads_get_their_own_results() -> None:
    one = entry()
    one(Shelf(np.zeros(2, np.int64)), 0, 0, 0)

    def work(seed: int) -> bool:
        shelf = Shelf(np.full(2, seed))
        return all(one(shelf, 0, seed + n + 1, 0) == seed + n for n in range(2000))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(0, 1 << 40, 1 << 37)))


@pytest.mark.slow
def test_a_run_of_a_kept_engine_does_without_numba() -> None:
    Rig()  # now it is compiled
    code = """
import sys
from memtile.testing.rig import Rig
rig = Rig()
rig.engine.wait(10)
print("numba" in sys.modules, rig.engine.now)
"""
    environment = {name: value for name, value in os.environ.items() if name != "MEMTILE_JIT"}
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert (run.stdout, run.stderr) == ("False 10\n", "")
