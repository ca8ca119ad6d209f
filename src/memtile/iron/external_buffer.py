"""``aie.iron.external_buffer``: memory outside of the array whose address the design says."""

from __future__ import annotations

import itertools
from typing import Any

from memtile.iron.dialects.aie import external_buffer
from memtile.iron.helpers.taplib import TensorAccessPattern
from memtile.iron.helpers.util import (
    np_ndarray_type_get_dtype,
    np_ndarray_type_get_shape,
    np_ndarray_type_to_memref_type,
)
from memtile.iron.resolvable import NotResolvedError, Resolvable


class ExternalBuffer(Resolvable):
    """Memory outside of the array.

    Args:
        type: NumPy's type, ``np.ndarray[(16,), np.dtype[np.int32]]``.
        address: in bytes.
        name: default = one of its own.
    """

    _numbers = itertools.count()
    tile = None

    def __init__(self, type: Any, address: int | None = None, name: str | None = None) -> None:
        self._arr_type, self.address = type, address
        self.name = name or f"external_{next(ExternalBuffer._numbers)}"
        self._op: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Its dimensions."""
        return np_ndarray_type_get_shape(self._arr_type)

    @property
    def dtype(self) -> Any:
        """The type of its elements."""
        return np_ndarray_type_get_dtype(self._arr_type)

    @property
    def tap(self) -> TensorAccessPattern:
        """The pattern of all of it."""
        return TensorAccessPattern.full(self.shape)

    def __getitem__(self, key: Any) -> ExternalBufferSlice:
        return ExternalBufferSlice(self, self.tap[key])

    @property
    def op(self) -> Any:
        """Its value.

        Raises:
            NotResolvedError: it is not built yet.
        """
        if self._op is None:
            raise NotResolvedError(f"{self.name} is not resolved: give it to rt.add_external_buffer")
        return self._op

    def resolve(self, loc: object = None, ip: Any = None) -> None:
        """Build it, once."""
        if self._op is None:
            made = np_ndarray_type_to_memref_type(self._arr_type)
            self._op = external_buffer(made, name=self.name, address=self.address)


class ExternalBufferSlice:
    """A part of an :class:`ExternalBuffer`.

    Args:
        buffer: of which.
        tap: the pattern of the part.
    """

    def __init__(self, buffer: ExternalBuffer, tap: TensorAccessPattern) -> None:
        self.buffer, self.tap = buffer, tap
