"""``aie.helpers.taplib.tas``: patterns that follow each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from typing import Any

import numpy as np

from memtile.iron.helpers.taplib.tap import TensorAccessPattern
from memtile.iron.helpers.taplib.utils import (
    validate_and_clean_sizes_strides,
    validate_offset,
    validate_tensor_dims,
)


class TensorAccessSequence(MutableSequence[TensorAccessPattern]):
    """Patterns of one tensor, in order.

    Args:
        tensor_dims: dimensions of the tensor.
        num_steps: of patterns.
        offset: of the first, or of all.
        sizes: of the first, or of all.
        strides: of the first, or of all.
        offset_fn: from the step and the last offset to the next.
        sizes_fn: likewise.
        strides_fn: likewise.

    Raises:
        ValueError: something is missing, or given for no step.
    """

    def __init__(
        self,
        tensor_dims: Sequence[int],
        num_steps: int,
        offset: int | None = None,
        sizes: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        offset_fn: Callable[[int, Any], int] | None = None,
        sizes_fn: Callable[[int, Any], Sequence[int]] | None = None,
        strides_fn: Callable[[int, Any], Sequence[int]] | None = None,
    ) -> None:
        self._tensor_dims = validate_tensor_dims(tensor_dims)
        if offset is not None:
            validate_offset(offset, self._tensor_dims)
        first_sizes, first_strides = validate_and_clean_sizes_strides(sizes, strides, allow_none=True)
        given = (offset, first_sizes, first_strides, offset_fn, sizes_fn, strides_fn)
        if num_steps < 0 or (num_steps == 0 and any(each is not None for each in given)):
            raise ValueError(f"{num_steps} steps have no offset, sizes or strides")
        self._taps: list[TensorAccessPattern] = []
        if num_steps == 0:
            return
        now: list[Any] = [offset, first_sizes, first_strides]
        makers = (offset_fn, sizes_fn, strides_fn)
        for name, value, maker in zip(("offset", "sizes", "strides"), now, makers, strict=True):
            if value is None and maker is None:
                raise ValueError(f"{name} or {name}_fn is needed")
        for step in range(num_steps):
            now = [maker(step, value) if maker else value for value, maker in zip(now, makers, strict=True)]
            self._taps.append(TensorAccessPattern(self._tensor_dims, *now))

    @classmethod
    def from_taps(cls, taps: Sequence[TensorAccessPattern]) -> TensorAccessSequence:
        """Of patterns that there are.

        Raises:
            ValueError: none, or of several tensors.
        """
        if not taps:
            raise ValueError("a sequence of no patterns has no tensor")
        made = cls(taps[0].tensor_dims, 0)
        for tap in taps:
            made.append(tap)
        return made

    def _checked(self, tap: TensorAccessPattern) -> TensorAccessPattern:
        if list(tap.tensor_dims) != list(self._tensor_dims):
            raise ValueError(
                f"a pattern of a tensor {tap.tensor_dims} is in a sequence of {self._tensor_dims}"
            )
        return tap

    def accesses(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Order and count over all."""
        return self.access_order(), self.access_count()

    def access_order(self) -> np.ndarray[Any, Any]:
        """When each element is accessed last, from 0; -1 = never."""
        order = np.full(int(np.prod(self._tensor_dims)), -1, np.int32)
        begins = 0
        for tap in self._taps:
            places = tap._places()
            order[places] = np.arange(begins, begins + len(places), dtype=np.int32)
            begins += len(places)
        return order.reshape(self._tensor_dims)

    def access_count(self) -> np.ndarray[Any, Any]:
        """How often each element is accessed."""
        counts = np.zeros(self._tensor_dims, np.int32)
        for tap in self._taps:
            counts += tap.access_count()
        return counts

    def compare_access_orders(self, other: TensorAccessSequence) -> bool:
        """Whether another accesses the same elements in the same order."""
        mine, theirs = ([place for tap in each for place in tap._places()] for each in (self, other))
        return np.array_equal(mine, theirs)

    def visualize(self, **more: Any) -> None:
        """Draw the order over all. Needs matplotlib."""
        from memtile.iron.helpers.taplib.visualization2d import visualize_from_accesses

        count = self.access_count() if more.pop("plot_access_count", False) else None
        title = more.pop("title", None) or "TensorAccessSequence"
        visualize_from_accesses(self.access_order(), count, title, **more)

    def __iter__(self) -> Iterator[TensorAccessPattern]:
        return iter(self._taps)

    def __len__(self) -> int:
        return len(self._taps)

    def __getitem__(self, at: Any) -> Any:
        return self._taps[at]

    def __setitem__(self, at: Any, tap: Any) -> None:
        self._taps[at] = self._checked(tap)

    def __delitem__(self, at: Any) -> None:
        del self._taps[at]

    def insert(self, index: int, value: TensorAccessPattern) -> None:
        """One more pattern at a place."""
        self._taps.insert(index, self._checked(value))

    def extend(self, values: Iterable[TensorAccessPattern]) -> None:
        """More patterns at the end."""
        for value in values:
            self.append(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorAccessSequence) and self._taps == other._taps

    __hash__ = None  # type: ignore[assignment]
