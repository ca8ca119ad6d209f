"""``aie.iron.runtime.data``: a buffer of the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_origin

import numpy as np

from memtile.iron.helpers.taplib import TensorAccessPattern
from memtile.iron.helpers.util import np_ndarray_type_get_dtype, np_ndarray_type_get_shape


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
