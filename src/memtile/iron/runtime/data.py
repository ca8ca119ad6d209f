"""``aie.iron.runtime.data``: a buffer of the host."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, get_origin

import numpy as np

from memtile.iron.helpers.taplib import TensorAccessPattern
from memtile.iron.helpers.util import np_ndarray_type_get_dtype, np_ndarray_type_get_shape
from memtile.iron.ops.numpy_types import np_dtype_to_mlir_type
from memtile.iron.ops.operation_classes import operation_class
from memtile.iron.ops.types import MemRefType


class RuntimeData:
    """A buffer of the host, or a number.

    Args:
        arr_type: NumPy's type.
    """

    def __init__(self, arr_type: Any) -> None:
        self._arr_type = arr_type
        self._op: Any = None

    @property
    def shape(self) -> Sequence[int]:
        """Its dimensions."""
        return np_ndarray_type_get_shape(self._arr_type)

    @property
    def dtype(self) -> Any:
        """The type of its elements."""
        return np_ndarray_type_get_dtype(self._arr_type)

    @property
    def arr_type(self) -> Any:
        """NumPy's type."""
        return self._arr_type

    @property
    def is_scalar(self) -> bool:
        """Whether it is a number."""
        return get_origin(self._arr_type) is not np.ndarray or not self.shape

    def default_tap(self) -> TensorAccessPattern:
        """All of it, in order."""
        return TensorAccessPattern.full(self.shape)

    def __getitem__(self, key: Any) -> TensorAccessPattern:
        """The pattern of a part, by NumPy's indices: for ``tap=``."""
        return TensorAccessPattern.full(self.shape)[key]

    def window(self, offset: int, shape: Sequence[int]) -> Any:
        """A part of it as a buffer of its own, for ``Runtime.call``.

        Args:
            offset: in elements.
            shape: of the part.

        Raises:
            ValueError: the part goes beyond the buffer.
        """
        dims, size = list(shape), prod(shape)
        if not 0 <= offset <= prod(self.shape) - size:
            raise ValueError(
                f"window({offset}, {tuple(shape)}) of a buffer of {prod(self.shape)} elements goes beyond it"
            )
        element = np_dtype_to_mlir_type(self.dtype)
        source = self.op
        if offset:  # mlir-aie's compiler of August 2026 takes the first byte from the subview alone
            if len(self.shape) != 1:
                raise ValueError(
                    f"window({offset}, ...) of a buffer of {len(self.shape)} dimensions begins at 0"
                )
            layout = f"strided<[1], offset: {offset}>"
            part = MemRefType([size], element, layout)
            source = _part("memref.subview", part, source, [offset], [size], [1])
        strides = [prod(dims[at + 1 :]) for at in range(len(dims))]
        return _part("memref.reinterpret_cast", MemRefType(dims, element), source, [offset], dims, strides)

    @property
    def op(self) -> Any:
        """Its value in the runtime sequence.

        Raises:
            ValueError: the sequence is not built.
        """
        if self._op is None:
            raise ValueError("a buffer of the host has a value within the runtime sequence alone")
        return self._op

    @op.setter
    def op(self, op: Any) -> None:
        self._op = op


def _part(
    name: str, made: MemRefType, source: Any, offsets: list[int], sizes: list[int], strides: list[int]
) -> Any:
    """A part of a buffer by one of MLIR's operations on memrefs."""
    static: dict[str, Any] = {
        "static_offsets": offsets,
        "static_sizes": sizes,
        "static_strides": strides,
    }
    return operation_class(name)(made, source, [], [], [], **static).result
