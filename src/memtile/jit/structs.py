"""Structs: NamedTuples of arrays that compiled functions get by pointer.

Numba passes a NamedTuple of arrays by value, and unpacks all of its arrays at each call from Python, which
takes longer than most of what is asked of the model. :func:`place_of` lays addresses and shapes of the arrays
out once; compiled functions hand the address on. ``st.channels.phase[ch]`` stays the same expression, in the
interpreter (where the tuple itself is handed on) and compiled. What only the compiler needs is made when it
asks: an engine that is kept on disk runs without Numba.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ctypes import c_int64, c_void_p
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from memtile.jit.settings import ENABLED
from memtile.jit.struct_layout import StructField, StructLayout, lay_out, layout_of
from memtile.jit.tables import plain


class Deferred:
    """Something that compiled code calls, made when the compiler asks for it.

    Args:
        make: makes what Numba knows, an intrinsic.
        plain: the same in the interpreter.
        of: its name in ``jit``, or the kind of struct that it finds.

    Attributes:
        of: what compiled code depends on, of all that is made here.
    """

    def __init__(self, make: Callable[[], Any], plain: Callable[..., Any], of: str | type) -> None:
        self._make, self._plain, self.of = make, plain, of

    def __call__(self, *args: Any) -> Any:
        """The function in the interpreter."""
        return self._plain(*args)

    @cached_property
    def _numba_type_(self) -> Any:
        """What Numba takes it for."""
        from numba.core.registry import cpu_target

        made, typing = self._make(), cpu_target.typing_context
        typing.refresh()
        return typing.resolve_value_type(made)


T = TypeVar("T")
_ADDRESSES = 1 << 64
_of_memory: Callable[[npt.NDArray[Any]], Any] = np.ndarray.ctypes.__get__


class StructPlace(NamedTuple):
    """Where compiled code finds the arrays of a struct, and where it leaves what it has to say.

    Attributes:
        address: of the struct.
        given: the same, as a call takes it quickest, and so are the next two.
        result: address of the result of a call.
        error: address of what went wrong in it.
        answer: the result.
        words: all of that; valid as long as they are.
    """

    address: int
    given: c_int64
    result: c_void_p
    error: c_void_p
    answer: c_int64
    words: npt.NDArray[np.uint64]


class Struct:
    """Base of a NamedTuple of arrays, tables and structs.

    One with other fields (``_replace``) has a place of its own.

    Attributes:
        place: where compiled code finds its arrays, None until it needs them; valid as long as the tuple.
        at_hand: the same with plain tables, None until the interpreter needs them.
        desk: what a caller of compiled code has prepared for it, None until it has.
    """

    place: StructPlace | None = None
    at_hand: Any = None
    desk: Any = None


class ArrayExtent(NamedTuple):
    """Where an array is.

    Attributes:
        first: address of its first byte.
        behind: address behind its last byte.
        shape: its shape.
    """

    first: int
    behind: int
    shape: tuple[int, ...]


def _places(fields: tuple[Any, ...]) -> Iterator[ArrayExtent]:
    """Those of all arrays, in order."""
    for value in fields:
        if isinstance(value, tuple):
            yield from _places(value)
        else:
            first = _of_memory(value).data  # the array interface describes columns, which takes long
            yield ArrayExtent(first, first + value.nbytes, value.shape)


def _overlap(places: list[ArrayExtent]) -> bool:
    """Whether two arrays have a byte in common; compiled code relies on it that none do."""
    taken = sorted(place for place in places if place.first < place.behind)
    return any(one.behind > next_.first for one, next_ in pairwise(taken))


def place_of(struct: Any) -> StructPlace:
    """Where compiled functions find the arrays of a :class:`Struct`.

    Raises:
        TypeError: an array has another type or number of dimensions than in the other structs of the kind,
            is not contiguous, aligned and writable, or overlaps another one.
    """
    place: StructPlace | None = struct.place
    if place is None:
        lay_out(struct)
        extents = list(_places(struct))
        if _overlap(extents):
            raise TypeError(f"{type(struct).__name__}: arrays that overlap")
        found = [word for extent in extents for word in (extent.first, *extent.shape)]
        place = struct.place = _place(np.array([*found, 0, 0], np.uint64))
    return place


def place_like(struct: Any, like: StructPlace, by: int) -> StructPlace:
    """:func:`place_of` where another struct of the kind is known to have the same arrays.

    Args:
        struct: whose place it becomes.
        like: the place of the other one.
        by: bytes by which each array comes later than there.
    """
    kind: Any = type(struct)
    place = struct.place = _place(like.words + np.uint64(by % _ADDRESSES) * _are_addresses(kind))
    return place


@cache
def _are_addresses(kind: Any) -> npt.NDArray[np.uint64]:
    """Of each word of a place, 1 if it is an address."""
    layout = layout_of(kind)
    found, at = np.zeros(layout.words + 2, np.uint64), 0
    waiting: list[StructField | StructLayout] = [layout]
    while waiting:
        field = waiting.pop()
        if isinstance(field, StructLayout):
            waiting += reversed(field.fields)
        else:
            found[at] = 1
            at += field.words
    return found


def _place(words: npt.NDArray[np.uint64]) -> StructPlace:
    """The place whose last two words are for the result and for an error."""
    first = int(_of_memory(words).data)
    result = first + words.itemsize * (len(words) - 2)
    answer, error = c_int64.from_address(result), c_void_p(result + words.itemsize)
    return StructPlace(first, c_int64(first), c_void_p(result), error, answer, words)


def addresses_at(struct: Any) -> dict[str, int]:
    """Where :func:`place_of` has the address of each array or table of a :class:`Struct`, among its words.

    It is the same for all structs of a kind; those in the struct are left out.
    """
    found, at = {}, 0
    for name, value in zip(struct._fields, struct, strict=True):
        if isinstance(value, tuple):
            at += sum(1 + len(extent.shape) for extent in _places(value))
        else:
            found[name] = at
            at += 1 + value.ndim
    return found


def at_hand(struct: T) -> T:
    """The :class:`Struct` with plain tables, for what the interpreter does often; the arrays are shared.

    Attribute access of a record array is slow there, and the parts of compiled functions read many columns.
    """
    if not ENABLED:
        return struct
    found: Any = struct
    if found.at_hand is None:
        found.at_hand = _AtHand(found)
    seen: T = found.at_hand
    return seen


class _AtHand:
    """The fields of a struct with plain tables, each made when it is first asked for."""

    def __init__(self, struct: Any) -> None:
        self._struct = tuple(struct), struct._fields.index

    def __getattr__(self, name: str) -> Any:
        values, index = self._struct
        value = values[index(name)]
        if isinstance(value, Struct):
            value = at_hand(value)
        elif isinstance(value, np.recarray):
            value = plain(value)
        setattr(self, name, value)
        return value


def dereference(kind: type[T]) -> Callable[[int], T]:
    """A function for compiled code: the struct of a ``kind`` at an address.

    The interpreter hands the struct itself on, and takes what it gets for that.
    """
    if not ENABLED:
        return _itself

    def make() -> Any:
        from memtile.jit.struct_types import dereferencing

        return dereferencing(kind)

    return cast(Callable[[int], T], Deferred(make, _itself, kind))


def _itself(struct: Any) -> Any:
    return struct
