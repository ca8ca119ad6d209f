"""Two designs, records or sets of registers held against each other.

It also says what differs between the words that two runs left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.documents import Count, Scalar, plain
from memtile.errors import InputFileError, Problem
from memtile.explain.compare.cycles import RunChanges, run_changes
from memtile.explain.compare.register_changes import RegisterChanges, Tiles, register_changes

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class ArrayChange:
    """An array that differs.

    Attributes:
        name: of the array, the channel or the argument.
        count: elements that differ; None where type or shape differ, or only one of the runs has it.
        of: elements.
        index: of the first one that differs.
        first: its value there; what the array is there, where they cannot be compared.
        second: likewise here.
    """

    name: str
    count: Count | None
    of: Count
    index: tuple[Count, ...] = ()
    first: Scalar = None
    second: Scalar = None

    @property
    def text(self) -> str:
        """``MM2S 0: 3 of 64 elements differ, the first at [5]: 7 -> 9``."""
        if self.count is None:
            return f"{self.name}: {self.first} -> {self.second}"
        where = ", ".join(map(str, self.index))
        many = "element differs" if self.of == 1 else f"elements {'differs' if self.count == 1 else 'differ'}"
        first = f"the first at [{where}]: {self.first} -> {self.second}"
        return f"{self.name}: {self.count} of {self.of} {many}, {first}"


def array_changes(first: Mapping[str, Array], second: Mapping[str, Array]) -> Iterator[ArrayChange]:
    """The arrays that differ, in order; floats are compared bit by bit."""
    for name in dict.fromkeys((*first, *second)):
        one, two = first.get(name), second.get(name)
        if one is None or two is None or (one.shape, one.dtype) != (two.shape, two.dtype):
            size = max(0 if each is None else each.size for each in (one, two))
            yield ArrayChange(name, None, size, (), _described(one), _described(two))
            continue
        wrong = _bytes(one) != _bytes(two)
        places = np.argwhere(wrong.any(axis=-1))
        if len(places):
            at = tuple(int(n) for n in places[0])
            yield ArrayChange(name, len(places), one.size, at, _value(one, at), _value(two, at))


def _bytes(array: Array) -> npt.NDArray[np.uint8]:
    """The bytes of each element, along an axis more."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.uint8).reshape(*array.shape, array.itemsize)


def _value(array: Array, at: tuple[int, ...]) -> Any:
    value = array[at]
    found = value.item() if hasattr(value, "item") else value
    return found if isinstance(found, int | float | str) else str(found)


def _described(array: Array | None) -> str:
    return "none" if array is None else f"{array.dtype} {' x '.join(map(str, array.shape))}"


DESIGN, DUMP = "design", "dump"


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One side of a comparison; what it does not have is None.

    Attributes:
        name: as the user gave it.
        kind: what it is, in a word.
        record: of its run.
        outputs: words that its run left, by name.
        tiles: its registers and memories as they were set up.
        notes: what is to be said about it.
    """

    name: str
    kind: str
    record: Mapping[str, Any] | None = None
    outputs: Mapping[str, Array] | None = None
    tiles: Tiles | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class RunComparison:
    """What two of them have in common and where they differ.

    Attributes:
        first: the one.
        second: the other one.
        run: cycles and how the runs ended; None where one of them has no run.
        words: arrays that differ; None likewise.
        registers: that differ; None where one of them has none.
    """

    first: ComparedSide
    second: ComparedSide
    run: RunChanges | None = None
    words: Sequence[ArrayChange] | None = None
    registers: RegisterChanges | None = None
    left_out: Sequence[str] = field(default_factory=tuple)

    @property
    def same(self) -> bool:
        """Whether nothing differs of what both have."""
        return not (self.run or self.words or self.registers)

    def is_within(self, tolerance: float) -> bool:
        """Whether the same words came out, and the runs ended alike in about the same cycles.

        Args:
            tolerance: part of the first's cycles by which the second's may differ.

        Raises:
            InputFileError: one of the two has no run.
        """
        if self.run is None:
            raise InputFileError(
                f"{self.first.name} and {self.second.name}: "
                "--tolerance is for cycles, and one of them has no run."
            )
        return self.run.is_within(tolerance) and not self.words

    def lines(self) -> Iterator[str]:
        """Text: a heading for each part that differs."""
        for side in (self.first, self.second):
            yield from (f"note: {side.name}: {note}" for note in side.notes)
        if self.left_out:
            yield f"not compared: {', '.join(self.left_out)}; only one of the two has them"
        if self.same:
            parts = {"cycles": self.run, "words": self.words, "registers": self.registers}
            yield f"{self.first.name} and {self.second.name} are the same in {_listed(parts)}"
        if self.run:
            yield from _part("cycles", self.run.lines())
        if self.words:
            yield from _part("words", [change.text for change in self.words])
        if self.registers:
            yield from _part("registers", self.registers.lines())

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "first": {"name": self.first.name, "kind": self.first.kind},
            "second": {"name": self.second.name, "kind": self.second.kind},
            "same": self.same,
            "cycles": plain(self.run),
            "words": plain(self.words),
            "registers": None if self.registers is None else self.registers.as_json(),
            "not_compared": list(self.left_out),
            "notes": [f"{side.name}: {note}" for side in (self.first, self.second) for note in side.notes],
        }


def compared(first: ComparedSide, second: ComparedSide) -> RunComparison:
    """Hold two against each other in all that both have.

    Raises:
        InputFileError: they have nothing in common, such as a record and a file of registers.
    """
    parts = {
        "cycles": (first.record, second.record),
        "words": (first.outputs, second.outputs),
        "registers": (first.tiles, second.tiles),
    }
    both = [name for name, pair in parts.items() if None not in [_none(each) for each in pair]]
    if not both:
        raise InputFileError(_nothing(first, second))
    run = words = registers = None
    if first.record is not None and second.record is not None:
        run = run_changes(first.record, second.record)
    if first.outputs is not None and second.outputs is not None:
        words = tuple(array_changes(first.outputs, second.outputs))
    if first.tiles is not None and second.tiles is not None:
        run_before = DESIGN in (first.kind, second.kind)  # whose memory a run has changed
        dumps = first.kind == second.kind == DUMP
        registers = register_changes(first.tiles, second.tiles, memory=not run_before, progress=dumps)
    one_only = [n for n, pair in parts.items() if n not in both and any(p is not None for p in pair)]
    return RunComparison(first, second, run, words, registers, tuple(one_only))


def _none(value: object) -> object:
    """None, or anything else that is not."""
    return None if value is None else True


def _part(heading: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"{heading}:"
    yield from (f"  {line}" for line in lines)


def _listed(parts: Mapping[str, object]) -> str:
    return ", ".join(name for name, part in parts.items() if part is not None)


def _nothing(first: ComparedSide, second: ComparedSide) -> Problem:
    return Problem(
        "kinds",
        f"a {first.kind} and a {second.kind}",
        "two that both have cycles, words or registers",
        f"a {first.kind} and a {second.kind} have nothing in common that could be compared",
        "Compare designs or records with each other, and designs or files of registers.",
        reason="diff",
        where=f"{first.name} and {second.name}",
        source="memtile diff",
    )
