"""``aie.helpers.taplib.tap``: one pattern in which a tensor is read or written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from memtile.iron.helpers.taplib.utils import (
    validate_and_clean_sizes_strides,
    validate_offset,
    validate_tensor_dims,
)


class TensorAccessPattern:
    """Offset, sizes and strides within a tensor.

    Args:
        tensor_dims: dimensions of the tensor.
        offset: in elements.
        sizes: the outermost first.
        strides: in elements.

    Raises:
        ValueError: sizes below 1, negative strides, an offset outside, numbers that do not match.
    """

    def __init__(self, tensor_dims: Sequence[int], offset: int, sizes: Sequence[int], strides: Sequence[int]) -> None:
        self._tensor_dims = validate_tensor_dims(tensor_dims)
        self._offset = validate_offset(offset, tensor_dims)
        cleaned_sizes, cleaned_strides = validate_and_clean_sizes_strides(sizes, strides)
        assert cleaned_sizes is not None and cleaned_strides is not None
        self._sizes, self._strides = cleaned_sizes, cleaned_strides

    @property
    def tensor_dims(self) -> list[int]:
        """Dimensions of the tensor."""
        return list(self._tensor_dims)

    @property
    def offset(self) -> int:
        """In elements."""
        return self._offset

    @property
    def sizes(self) -> list[int]:
        """The outermost first."""
        return list(self._sizes)

    @property
    def strides(self) -> list[int]:
        """In elements."""
        return list(self._strides)

    @property
    def transformation_dims(self) -> list[tuple[int, int]]:
        """Pairs of size and stride."""
        return list(zip(self._sizes, self._strides, strict=True))

    def _places(self) -> np.ndarray[Any, Any]:
        """Indices in the flat tensor, in order, shape (accesses,), int64."""
        places = np.full((1,), self._offset, np.int64)
        for size, stride in zip(self._sizes, self._strides, strict=True):
            places = (places[:, None] + np.arange(size, dtype=np.int64) * stride).reshape(-1)
        return places % int(np.prod(self._tensor_dims))

    def access_generator(self) -> Iterator[int]:
        """Indices in the flat tensor, in order."""
        yield from (int(place) for place in self._places())

    def access_order(self) -> np.ndarray[Any, Any]:
        """When each element is accessed last, from 0; -1 = never."""
        places = self._places()
        order = np.full(int(np.prod(self._tensor_dims)), -1, np.int32)
        order[places] = np.arange(len(places), dtype=np.int32)
        return order.reshape(self._tensor_dims)

    def access_count(self) -> np.ndarray[Any, Any]:
        """How often each element is accessed."""
        count = np.bincount(self._places(), minlength=int(np.prod(self._tensor_dims)))
        return count.astype(np.int32).reshape(self._tensor_dims)

    def accesses(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Order and count."""
        return self.access_order(), self.access_count()

    def compare_access_orders(self, other: TensorAccessPattern) -> bool:
        """Whether another accesses the same elements in the same order.

        Raises:
            ValueError: it is no pattern.
        """
        if not isinstance(other, TensorAccessPattern):
            raise ValueError(f"{other!r} is no TensorAccessPattern")
        return np.array_equal(self._places(), other._places())

    def visualize(
        self,
        show_arrows: bool | None = None,
        title: str | None = None,
        file_path: str | None = None,
        show_plot: bool = True,
        plot_access_count: bool = False,
    ) -> None:
        """Draw the order; ``file_path`` is written if it is given. Needs matplotlib.

        Raises:
            NotImplementedError: the tensor has more than two dimensions.
        """
        from memtile.iron.helpers.taplib.visualization2d import visualize_from_accesses  # noqa: PLC0415

        if len(self._tensor_dims) != 2:
            raise NotImplementedError("a picture needs a tensor of one or two dimensions")
        count = self.access_count() if plot_access_count else None
        visualize_from_accesses(self.access_order(), count, title or str(self), show_arrows, file_path, show_plot)

    def __str__(self) -> str:
        return (
            f"TensorAccessPattern({self.tensor_dims} offset={self._offset}, sizes={self._sizes}, "
            f"strides={self._strides})"
        )

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorAccessPattern):
            return False
        return (list(self._tensor_dims), self._offset, list(self._sizes), list(self._strides)) == (
            list(other._tensor_dims),
            other._offset,
            list(other._sizes),
            list(other._strides),
        )

    def __hash__(self) -> int:
        return hash((tuple(self._tensor_dims), self._offset, tuple(self._sizes), tuple(self._strides)))
