"""Structs: NamedTuples of arrays that compiled functions get by pointer.

Numba passes a NamedTuple of arrays by value, and unpacks all of its arrays at each call from Python, which
takes longer than most of what is asked of the model. :func:`pointer_to` lays addresses and shapes of the
arrays out once; compiled functions hand the pointer on. ``st.channels.phase[ch]`` stays the same expression,
in the interpreter (where the tuple itself is handed on) and compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from memtile.jit.decorators import ENABLED

Pointer = npt.NDArray[np.uint64]
T = TypeVar("T")


class Struct:
    """Base of a NamedTuple of arrays, tables and structs.

    One with other fields (``_replace``) has a pointer of its own.

    Attributes:
        pointer: where compiled code finds its arrays, None until it needs them; valid as long as the tuple.
    """

    pointer: Pointer | None = None


class Field(NamedTuple):
    """One array or table of a struct.

    Attributes:
        name: of the field.
        dtype: of the array; that of a table has its columns.
        ndim: dimensions of the array; of a table without those of its columns' elements.
    """

    name: str
    dtype: np.dtype[Any]
    ndim: int


class Layout(NamedTuple):
    """What all structs of a kind have in common.

    Attributes:
        kind: name of the NamedTuple.
        name: of the field that it is of another struct, empty if of none.
        fields: in order: arrays, tables and structs.
    """

    kind: str
    name: str
    fields: tuple[Field | Layout, ...]

    @property
    def words(self) -> int:
        """Length in 64-bit words: of an array its address and its shape, of a struct all that is in it."""
        return sum(1 + f.ndim if isinstance(f, Field) else f.words for f in self.fields)


_layouts: dict[type, Layout] = {}


def _layout(name: str, value: Any) -> Field | Layout:
    if isinstance(value, tuple):
        names: tuple[str, ...] = value._fields  # type: ignore[attr-defined]
        fields = tuple(_layout(*field) for field in zip(names, value, strict=True))
        return Layout(type(value).__name__, name, fields)
    flags = value.flags
    if not (flags.c_contiguous and flags.aligned and flags.writeable):
        raise TypeError(f"{name}: an array that is not contiguous, not aligned or not writable")
    return Field(name, value.dtype, value.ndim)


class Place(NamedTuple):
    """Where an array is.

    Attributes:
        first: address of its first byte.
        behind: address behind its last byte.
        shape: its shape.
    """

    first: int
    behind: int
    shape: tuple[int, ...]


def _places(fields: tuple[Any, ...]) -> Iterator[Place]:
    """Those of all arrays, in order."""
    for value in fields:
        if isinstance(value, tuple):
            yield from _places(value)
        else:
            first = value.__array_interface__["data"][0]
            yield Place(first, first + value.nbytes, value.shape)


def _overlap(places: list[Place]) -> bool:
    """Whether two arrays have a byte in common; compiled code relies on it that none do."""
    taken = sorted(place for place in places if place.first < place.behind)
    return any(one.behind > next_.first for one, next_ in pairwise(taken))


def layout_of(kind: type) -> Layout:
    """The layout of all structs of a kind; :func:`pointer_to` has seen the first of them."""
    return _layouts[kind]


def pointer_to(struct: Any) -> Pointer:
    """Where compiled functions find the arrays of a :class:`Struct`.

    Raises:
        TypeError: an array has another type or number of dimensions than in the other structs of the kind,
            is not contiguous, aligned and writable, or overlaps another one.
    """
    pointer: Pointer | None = struct.pointer
    if pointer is None:
        kind = type(struct)
        layout = _layout("", struct)
        if layout != _layouts.setdefault(kind, layout):  # type: ignore[arg-type]
            raise TypeError(f"{kind.__name__}: arrays of another type or layout than before")
        places = list(_places(struct))
        if _overlap(places):
            raise TypeError(f"{kind.__name__}: arrays that overlap")
        words = [word for place in places for word in (place.first, *place.shape)]
        pointer = struct.pointer = np.array(words, np.uint64)
    return pointer


def dereference(kind: type[T]) -> Callable[[Pointer], T]:
    """A function for compiled code: the struct of a ``kind`` behind a pointer."""
    if not ENABLED:
        return _no_pointers
    from memtile.jit.struct_types import dereferencing

    found: Callable[[Any], T] = dereferencing(kind)
    return found


def _no_pointers(_pointer: Pointer) -> Any:
    raise AssertionError("the interpreter hands the struct itself on")
