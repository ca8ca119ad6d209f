"""What differs between the words that two runs left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.documents import Count, Scalar

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
