"""A descriptor that moves another buffer than the others with which it would fill one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memtile.explain.moves import Move
from memtile.explain.oddities import Oddities
from memtile.explain.strayed_moves import strayed_findings

PART = 16


def part(number: int, memory: str = "a", who: str = "memory(0,1) S2MM 0", place: int | None = None) -> Move:
    """Descriptor ``number`` of a channel: that part of a buffer of four, or another one."""
    at = number if place is None else place
    line = f"a.mlir:{number + 1}:1"
    name, offset = f"buffer '{memory}'", PART * at
    return Move(who, number, name, memory, 4 * PART, (1,), offset, (PART,), (1,), "S2MM" in who, line)


def test_one_of_four_parts_in_another_buffer() -> None:
    moves = [part(0), part(1, "b"), part(2), part(3)]
    (found,) = strayed_findings(moves)
    assert (found.code, found.sides[0].place, found.fix) == (
        "MT0126",
        "a.mlir:2:1",
        "Let BD 1 use buffer 'a'.",
    )
    assert found.message == (
        "BD 1 of memory(0,1) S2MM 0 (line 2) writes buffer 'b', and the other 3 BDs of the channel write "
        "buffer 'a' but for elements 16 to 31, which no other one writes."
    )
    assert list(Oddities(moves).findings) == [found]


@pytest.mark.parametrize(
    "moves",
    [
        [part(0), part(1), part(2), part(3)],
        [part(0, "b"), part(1, "b"), part(2), part(3)],  # two halves of two
        [part(0), part(1, "b", place=2), part(2), part(3)],  # not what is left out
        [part(0), part(1, "b"), part(2)],  # nor all of it
        [part(0), part(1, "b"), part(2, "c"), part(3)],
        [part(0), part(1, "b"), part(2), part(3), part(1, who="memory(0,1) S2MM 1")],  # another one fills it
        [replace(part(n, "ab"[n == 1]), loose=True) for n in range(4)],  # of a host
        [replace(part(n, "ab"[n == 1]), number=None) for n in range(4)],
        [part(0), replace(part(1, "b"), elements=2 * PART), part(2), part(3)],
        [replace(part(n, "ab"[n == 1]), elements=1 << 19) for n in range(4)],
    ],
)
def test_parts_that_are_meant(moves: list[Move]) -> None:
    assert not list(strayed_findings(moves))


def test_a_reader_of_the_same_part_leaves_it_unwritten() -> None:
    reader = part(1, who="memory(0,1) MM2S 0")
    assert len(list(strayed_findings([part(0), part(1, "b"), part(2), part(3), reader]))) == 1
