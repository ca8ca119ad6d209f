"""Structs: NamedTuples of arrays that compiled functions get by pointer.

Numba passes a NamedTuple of arrays by value, and unpacks all of its arrays at each call from Python, which
takes longer than most of what is asked of the model. :func:`pointer_to` lays addresses and shapes of the
arrays out once; compiled functions hand the pointer on. ``st.channels.phase[ch]`` stays the same expression,
in the interpreter (where the tuple itself is handed on) and compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from memtile.jit.decorators import ENABLED
from memtile.jit.struct_layout import lay_out
from memtile.jit.tables import plain

Pointer = npt.NDArray[np.uint64]
T = TypeVar("T")


class Struct:
    """Base of a NamedTuple of arrays, tables and structs.

    One with other fields (``_replace``) has a pointer of its own.

    Attributes:
        pointer: where compiled code finds its arrays, None until it needs them; valid as long as the tuple.
        at_hand: the same with plain tables, None until the interpreter needs them.
    """

    pointer: Pointer | None = None
    at_hand: Any = None


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


def pointer_to(struct: Any) -> Pointer:
    """Where compiled functions find the arrays of a :class:`Struct`.

    Raises:
        TypeError: an array has another type or number of dimensions than in the other structs of the kind,
            is not contiguous, aligned and writable, or overlaps another one.
    """
    pointer: Pointer | None = struct.pointer
    if pointer is None:
        lay_out(struct)
        places = list(_places(struct))
        if _overlap(places):
            raise TypeError(f"{type(struct).__name__}: arrays that overlap")
        words = [word for place in places for word in (place.first, *place.shape)]
        pointer = struct.pointer = np.array(words, np.uint64)
    return pointer


def at_hand(struct: T) -> T:
    """The same :class:`Struct` with plain tables, for what the interpreter does often; the arrays are shared.

    Attribute access of a record array is slow there, and the parts of compiled functions read many columns.
    """
    if not ENABLED:
        return struct
    found: Any = struct
    if found.at_hand is None:
        fields = {name: getattr(found, name) for name in found._fields}
        plains = {name: at_hand(v) if isinstance(v, Struct) else _plain(v) for name, v in fields.items()}
        found.at_hand = SimpleNamespace(**plains)
    return cast(T, found.at_hand)


def _plain(value: Any) -> Any:
    """A table with plain columns; an array as it is."""
    return plain(value) if isinstance(value, np.recarray) else value


def dereference(kind: type[T]) -> Callable[[Pointer], T]:
    """A function for compiled code: the struct of a ``kind`` behind a pointer."""
    if not ENABLED:
        return _no_pointers
    from memtile.jit.struct_types import dereferencing

    found: Callable[[Any], T] = dereferencing(kind)
    return found


def _no_pointers(_pointer: Pointer) -> Any:
    raise AssertionError("the interpreter hands the struct itself on")
