"""What all structs of a kind have in common, see ``structs``: the types of their arrays, in order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class StructField(NamedTuple):
    """One array or table of a struct.

    Attributes:
        name: of the field.
        dtype: of the array; that of a table has its columns.
        ndim: dimensions of the array; of a table without those of its columns' elements.
    """

    name: str
    dtype: np.dtype[Any]
    ndim: int

    @property
    def words(self) -> int:
        """Length in 64-bit words: the address and the shape."""
        return 1 + self.ndim


class StructLayout(NamedTuple):
    """What all structs of a kind have in common.

    Attributes:
        kind: name of the NamedTuple.
        name: of the field that it is of another struct, empty if of none.
        fields: in order: arrays, tables and structs.
    """

    kind: str
    name: str
    fields: tuple[StructField | StructLayout, ...]

    @property
    def words(self) -> int:
        """Length in 64-bit words: of an array its address and its shape, of a struct all that is in it."""
        return sum(f.words for f in self.fields)


_layouts: dict[type, StructLayout] = {}


def _layout(name: str, value: Any) -> StructField | StructLayout:
    if isinstance(value, tuple):
        names: tuple[str, ...] = value._fields  # type: ignore[attr-defined]
        fields = tuple(_layout(*field) for field in zip(names, value, strict=True))
        return StructLayout(type(value).__name__, name, fields)
    flags = value.flags
    if not (flags.c_contiguous and flags.aligned and flags.writeable):
        raise TypeError(f"{name}: an array that is not contiguous, not aligned or not writable")
    return StructField(name, value.dtype, value.ndim)


def lay_out(struct: Any) -> None:
    """Note the layout of a kind of structs when the first of them is seen.

    Raises:
        TypeError: an array has another type or number of dimensions than in the other structs of the kind,
            or is not contiguous, aligned and writable.
    """
    kind = type(struct)
    layout = _layout("", struct)
    if layout != _layouts.setdefault(kind, layout):  # type: ignore[arg-type]
        raise TypeError(f"{kind.__name__}: arrays of another type or layout than before")


def layout_of(kind: type) -> StructLayout:
    """The layout of all structs of a kind; :func:`lay_out` has seen the first of them."""
    return _layouts[kind]
