"""Does each file of register writes with small mistakes give a result or a named error, never a traceback?

A file may claim sizes, offsets and counts of billions; no memory is taken for what is not there. Of files
below a path ``tests/outside/test_mutated.py`` does as many as one likes (``--programs PATH --mutants 2000``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from support.mutated.mutated_bytes import files, look, mutated, repaired, run
from support.mutated.mutated_runs import BAD, Ended, ended, limited, table

FILES = files()
LOOKS, RUNS = 200, 12  # mutants of each file that are looked at, and that are run
WILD = (0xFFFF_FFFF, 0x7FFF_FFFC)
_MOST = 256 << 20  # bytes of address space that a file of some hundred may take


def tried(
    name: str, make: Callable[[int], bytes], numbers: range, what: Callable[[str, bytes], str]
) -> list[Ended]:
    return [ended(n, lambda n=n: what(name, make(n))) for n in numbers]  # type: ignore[misc]


def check(found: list[Ended]) -> None:
    assert [each.text for each in found if each.kind in BAD] == [], table(found)


@pytest.mark.parametrize("name", FILES)
def test_files_without_mistakes_are_read_and_run(name: str) -> None:
    assert look(name, FILES[name])
    assert repaired(FILES[name]) == FILES[name]
    assert run(name, FILES[name]) == "stuck"  # nobody sends the words that its task waits for


@pytest.mark.parametrize("name", FILES)
def test_mistakes_are_told(name: str) -> None:
    found = tried(name, lambda n: mutated(FILES[name], n), range(LOOKS), look)
    check(found)
    assert {"result", "error"} == {each.kind for each in found}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_what_can_be_read_runs_or_is_refused(name: str) -> None:
    check(tried(name, lambda n: mutated(FILES[name], n), range(RUNS), run))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith((".txt", ".json"))])
def test_sizes_of_billions_take_no_memory(name: str) -> None:
    """Each word of the file in turn says that something has four or two billion bytes, words or parts."""
    data, found = FILES[name], list[Ended]()
    with limited(_MOST):
        for number in WILD:
            word = struct.pack("<I", number)
            made = lambda at, word=word: repaired(data[: 4 * at] + word + data[4 * at + 4 :])  # noqa: E731
            found += tried(name, made, range(len(data) // 4), look)
    check(found)


def test_memory_that_is_not_there_is_a_bad_end() -> None:
    with limited(_MOST):
        found = ended(0, lambda: str(len(bytes(2 * _MOST))))
    assert (found.kind, found.says[:11]) == ("traceback", "MemoryError")


def test_nothing_at_all_is_told() -> None:
    for name in FILES:
        assert ended(0, lambda name=name: look(name, b"")).says == "format"  # type: ignore[misc]


def test_the_same_number_makes_the_same_mistakes() -> None:
    data = FILES["final.xclbin"]
    assert mutated(data, 7) == mutated(data, 7) != mutated(data, 8)
