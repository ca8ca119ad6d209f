"""``aie.helpers.taplib.tap``: one pattern in which a tensor is read or written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from memtile.iron.helpers.taplib.symbolic import is_sym, moved, sceildiv, show, sint, sprod
from memtile.iron.helpers.taplib.utils import (
    validate_and_clean_sizes_strides,
    validate_offset,
    validate_tensor_dims,
)

if TYPE_CHECKING:
    from memtile.iron.helpers.taplib.grid import TileGrid


class TensorAccessPattern:
    """Offset, sizes and strides within a tensor: a walk, as a buffer descriptor runs it.

    ``full()`` walks all of a tensor; the other methods make new patterns of one. Dimensions of size 1 never
    step, and ``==`` leaves them out. Numbers may be values of the design, as far as no method needs to know
    them. Source: AMD's reference of taplib (mlir-aie 1.4.6).

    Args:
        tensor_dims: dimensions of the tensor.
        offset: in elements.
        sizes: the outermost first.
        strides: in elements.
        padding: elements before and behind, for each dimension; see :meth:`pad`.

    Raises:
        ValueError: sizes below 1, negative strides, an offset outside, numbers that do not match.
    """

    grids: ClassVar[Any]
    """The class of grids of tiles, which is made of this one."""

    def __init__(
        self,
        tensor_dims: Sequence[Any],
        offset: Any,
        sizes: Sequence[Any],
        strides: Sequence[Any],
        padding: Sequence[Sequence[int]] | None = None,
    ) -> None:
        dims = [sint(each) for each in tensor_dims]
        self._tensor_dims = validate_tensor_dims(dims)
        self._offset = validate_offset(sint(offset), dims)
        cleaned_sizes, cleaned_strides = validate_and_clean_sizes_strides(
            [sint(each) for each in sizes], [sint(each) for each in strides]
        )
        assert cleaned_sizes is not None
        assert cleaned_strides is not None
        self._sizes, self._strides = cleaned_sizes, cleaned_strides
        self._padding = _checked_padding(padding, len(self._sizes))

    @classmethod
    def full(cls, tensor_dims: Sequence[Any]) -> TensorAccessPattern:
        """All of a tensor, in order."""
        dims = [sint(each) for each in tensor_dims]
        strides: list[Any] = [1]
        for size in reversed(dims[1:]):
            strides.append(strides[-1] * size)
        return cls(dims, 0, dims, strides[::-1])

    @classmethod
    def from_slice(cls, shape: Sequence[int], key: Any) -> TensorAccessPattern:
        """The older name of ``TensorAccessPattern.full(shape)[key]``."""
        return cls.full(shape)[key]

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

    @property
    def padding(self) -> tuple[tuple[int, int], ...] | None:
        """Elements before and behind, for each dimension; None = without."""
        return self._padding

    @property
    def padded_sizes(self) -> list[Any]:
        """Sizes with the padding: those of the object that receives the stream."""
        if self._padding is None:
            return self.sizes
        return [
            before + size + behind for (before, behind), size in zip(self._padding, self._sizes, strict=True)
        ]

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self._sizes)

    @property
    def numel(self) -> Any:
        """Elements that are accessed, repeats counted, padding not."""
        return sprod(self._sizes)

    @property
    def is_symbolic(self) -> bool:
        """Whether a number is a value of the design."""
        return any(map(is_sym, [*self._tensor_dims, self._offset, *self._sizes, *self._strides]))

    def _changed(self, dims: Sequence[tuple[Any, Any]], offset: Any = None) -> TensorAccessPattern:
        if self._padding is not None:
            raise ValueError("a padded pattern is not changed further: pad() comes last")
        offset = self._offset if offset is None else offset
        sizes, strides = [size for size, _ in dims], [stride for _, stride in dims]
        return TensorAccessPattern(self._tensor_dims, offset, sizes, strides)

    def permute(self, axes: Sequence[int]) -> TensorAccessPattern:
        """Dimensions in another order: dimension ``i`` becomes that which ``axes[i]`` was."""
        dims = self.transformation_dims
        return self._changed([dims[axis] for axis in checked_permutation(axes, self.rank)])

    @property
    def T(self) -> TensorAccessPattern:  # noqa: N802 - NumPy's name
        """Dimensions in reverse order."""
        return self.permute(range(self.rank)[::-1])

    def split(self, dim: int, inner: Any) -> TensorAccessPattern:
        """One dimension as two, the inner one with ``inner`` elements.

        Raises:
            ValueError: ``inner`` does not divide the dimension.
        """
        axis, dims, inner = axis_of(dim, self.rank), self.transformation_dims, sint(inner)
        size, stride = dims[axis]
        if not (is_sym(size) or is_sym(inner)) and (inner < 1 or size % inner):
            raise ValueError(f"dimension {axis} of size {size} is not divisible by {inner}")
        dims[axis : axis + 1] = [(size // inner, stride * inner), (inner, stride)]
        return self._changed(dims)

    def merge(self, dim: int) -> TensorAccessPattern:
        """One dimension and the next as one.

        Raises:
            ValueError: there is no next, or the elements do not follow each other.
            TypeError: a number is a value of the design.
        """
        axis, dims = axis_of(dim, self.rank), self.transformation_dims
        if axis + 1 == self.rank:
            raise ValueError(f"dimension {axis} is the innermost: there is none to merge it with")
        (outer, step), (inner, stride) = dims[axis : axis + 2]
        if any(map(is_sym, (outer, step, inner, stride))):
            raise TypeError("merge() needs numbers, not values of the design")
        if outer != 1 and inner != 1 and step != inner * stride:
            raise ValueError(
                f"dimensions {axis} and {axis + 1} are not contiguous: stride {step}, not {inner} * {stride}"
            )
        dims[axis : axis + 2] = [(outer * inner, step if inner == 1 and outer != 1 else stride)]
        return self._changed(dims)

    def coalesce(self) -> TensorAccessPattern:
        """These accesses in the fewest dimensions.

        Raises:
            TypeError: a number is a value of the design.
        """
        if any(map(is_sym, [*self._sizes, *self._strides])):
            raise TypeError("coalesce() needs numbers, not values of the design")
        kept: list[tuple[int, int]] = []
        for size, stride in self.transformation_dims:
            if size == 1:
                continue
            if kept and kept[-1][1] == size * stride:
                kept[-1] = (kept[-1][0] * size, stride)
            else:
                kept.append((size, stride))
        return self._changed(kept or [self.transformation_dims[-1]])

    def repeat(self, count: Any) -> TensorAccessPattern:
        """The pattern ``count`` times: an outermost dimension with stride 0.

        Raises:
            ValueError: a count below 1.
        """
        if not is_sym(count) and count < 1:
            raise ValueError(f"repeat() takes a count of at least 1, not {count}")
        return self._changed([(sint(count), 0), *self.transformation_dims])

    def pad(self, padding: Sequence[Sequence[int]]) -> TensorAccessPattern:
        """Constant elements before and behind each dimension, which a memory tile sends; the last step of a
        pattern.

        Raises:
            ValueError: another number of dimensions, or padding there is.
        """
        if self._padding is not None:
            raise ValueError("the pattern is padded already")
        return TensorAccessPattern(self._tensor_dims, self._offset, self._sizes, self._strides, padding)

    def tile(self, tile_dims: Sequence[Any]) -> TileGrid:
        """The walk cut into tiles of equal size."""
        grid: TileGrid = self.grids.of_tiles(self, tile_dims)
        return grid

    def partition(self, parts: Any, dim: int = -1) -> TileGrid:
        """The walk cut into ``parts`` of equal size, along a dimension."""
        grid: TileGrid = self.grids.of_parts(self, parts, dim)
        return grid

    def __getitem__(self, key: Any) -> TensorAccessPattern:
        """Part of the walk: ``full(shape)[key]`` accesses the elements of NumPy's ``array[key]``, in order.

        Raises:
            TypeError: an index of NumPy's that is an array.
            IndexError: too many indices, or one outside.
            ValueError: a slice of no elements, or with a step below 1.
        """
        dims, offset = [], self._offset
        old = iter(self.transformation_dims)
        for each in _complete_key(key, self.rank):
            if each is None:
                dims.append((1, 0))
                continue
            size, stride = next(old)
            if isinstance(each, slice):
                first, count, step = _slice_of(each, size)
                dims.append((count, stride * step))
            else:
                first = _place_in(each, size)
            offset = moved(offset, first, stride)
        return self._changed(dims or [(1, 0)], offset)

    def _dma_form(self) -> TensorAccessPattern:
        """The pattern in the four dimensions of an interface tile's task; the outermost is how often it runs.

        Raises:
            ValueError: it has more dimensions.
        """
        missing = 4 - self.rank
        if missing < 0:
            raise ValueError(
                f"an interface tile's task has at most 4 dimensions, not {self.rank}: coalesce() it"
            )
        dims = self.transformation_dims
        again = (
            bool(dims)
            and not is_sym(dims[0][1])
            and dims[0][1] == 0
            and (is_sym(dims[0][0]) or dims[0][0] > 1)
        )
        head = dims[:1] if again else []
        return self._changed([*head, *[(1, 0)] * missing, *dims[len(head) :]])

    def to_stream(self, tensor: Any, pad_value: Any = 0) -> np.ndarray[Any, Any]:
        """What a DMA sends that reads a tensor by the pattern, shape (elements,)."""
        flat = np.asarray(tensor).reshape(-1)
        sent = flat[self._places()].reshape(self._sizes)
        if self._padding is not None:
            sent = np.pad(sent, self._padding, constant_values=pad_value)
        return np.asarray(sent.reshape(-1))

    def from_stream(self, stream: Any) -> np.ndarray[Any, Any]:
        """The tensor that a DMA writes with a stream by the pattern; elements it does not write are 0."""
        values = np.asarray(stream).reshape(-1)
        tensor = np.zeros(int(np.prod(self._tensor_dims)), values.dtype)
        tensor[self._places()] = values
        return tensor.reshape(self._tensor_dims)

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
            ValueError: the tensor has more than two dimensions.
        """
        from memtile.iron.helpers.taplib.visualization2d import visualize_from_accesses

        if len(self._tensor_dims) != 2:
            raise ValueError("a picture needs a tensor of one or two dimensions")
        count = self.access_count() if plot_access_count else None
        visualize_from_accesses(
            self.access_order(), count, title or str(self), show_arrows, file_path, show_plot
        )

    def __str__(self) -> str:
        return (
            f"TensorAccessPattern({self.tensor_dims} offset={self._offset}, sizes={self._sizes}, "
            f"strides={self._strides})"
        )

    __repr__ = __str__

    def _key(self) -> tuple[Any, ...]:
        """What makes two patterns the same: dimensions of size 1 do not."""
        pads = self._padding or ((0, 0),) * self.rank
        steps = zip(self._sizes, self._strides, pads, strict=True)
        kept = tuple(each for each in steps if is_sym(each[0]) or each[0] != 1 or each[2] != (0, 0))
        return (tuple(self._tensor_dims), self._offset, kept)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorAccessPattern):
            return False
        if (self._offset, self._tensor_dims) != (other._offset, other._tensor_dims):
            return False
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def _checked_padding(
    padding: Sequence[Sequence[int]] | None, rank: int
) -> tuple[tuple[int, int], ...] | None:
    if padding is None:
        return None
    pairs = tuple((sint(before), sint(behind)) for before, behind in padding)
    if len(pairs) != rank:
        raise ValueError(f"padding has {len(pairs)} pairs for {rank} dimensions")
    if any(is_sym(each) or each < 0 for pair in pairs for each in pair):
        raise ValueError(
            f"padding is at least 0, and known when the design is built: "
            f"{[list(map(show, p)) for p in pairs]}"
        )
    return pairs if any(map(any, pairs)) else None


def axis_of(dim: Any, rank: int) -> int:
    """A dimension, counted from the outermost.

    Raises:
        IndexError: there is no such dimension.
    """
    dim = sint(dim)
    if not -rank <= dim < rank:
        raise IndexError(f"dimension {dim} of {rank}")
    return int(dim % rank)


def checked_permutation(axes: Sequence[int], rank: int) -> list[int]:
    """Axes, each once.

    Raises:
        ValueError: one is missing, twice or too many.
    """
    found = [sint(axis) for axis in axes]
    if sorted(found) != list(range(rank)):
        raise ValueError(f"axes {found} are no order of {rank} dimensions")
    return found


def _complete_key(key: Any, rank: int) -> list[Any]:
    """An index for each dimension; None = a new one."""
    entries = list(key) if isinstance(key, tuple) else [key]
    wrong = [each for each in entries if isinstance(each, (bool, list, np.ndarray))]
    if wrong:
        raise TypeError(f"a pattern takes numbers, slices, ... and None, not {wrong[0]!r}")
    dots = [at for at, each in enumerate(entries) if each is Ellipsis]
    given = sum(each is not None and each is not Ellipsis for each in entries)
    if len(dots) > 1 or given > rank:
        raise IndexError(f"{given} indices, with {len(dots)} times '...', for {rank} dimensions")
    at = dots[0] if dots else len(entries)
    return [*entries[:at], *[slice(None)] * (rank - given), *entries[at + 1 :]]


def _slice_of(part: slice, size: Any) -> tuple[Any, Any, int]:
    """First element, number and step of a slice.

    Raises:
        ValueError: no elements, or a step below 1.
    """
    step = 1 if part.step is None else sint(part.step)
    if is_sym(step) or step < 1:
        raise ValueError(f"a slice of a pattern has a step of at least 1, not {show(step)}")
    if any(map(is_sym, (part.start, part.stop, size))):
        return _staged_slice(part, size, step)
    places = range(size)[part.start : part.stop : step]
    if not places:
        raise ValueError(f"slice {part} of {size} elements has none")
    return places[0], len(places), step


def _staged_slice(part: slice, size: Any, step: int) -> tuple[Any, Any, int]:
    """A slice whose ends are values of the design."""
    first = 0 if part.start is None else sint(part.start)
    last = size if part.stop is None else sint(part.stop)
    return first, sceildiv(last - first, step), step


def _place_in(at: Any, size: Any) -> Any:
    """A place along a dimension; the twin checks that of a value of the design when the transfer runs."""
    at = sint(at)
    if is_sym(at) or is_sym(size):
        return at
    if not -size <= at < size:
        raise IndexError(f"place {at} of a dimension of {size}")
    return at % size
