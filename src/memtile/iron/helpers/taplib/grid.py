"""``TileGrid``: a tensor cut into equal tiles, as a sequence of patterns.

Source: AMD's reference of taplib and its migration page (mlir-aie 1.4.6).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memtile.iron.helpers.taplib.groups import GroupAxis, grouped_axis
from memtile.iron.helpers.taplib.symbolic import is_sym, moved, show, sint
from memtile.iron.helpers.taplib.tap import TensorAccessPattern, axis_of, checked_permutation
from memtile.iron.helpers.taplib.tas import TensorAccessSequence


@dataclass(frozen=True)
class _Cut:
    """How a walk is cut.

    Attributes:
        walk: that is cut.
        grid: tiles along each axis, and the elements from one to the next.
        tile: sizes and strides within a tile.
        tile_axes: which axis each dimension of a tile is of.
        order: axes of the steps, the outermost first.
        groups: tiles of a step along each axis; empty = one.
        group_order: axes of the tiles within a step, the outermost first.
        repeats: how often each tile is walked; 0 = once, without a dimension for it.
    """

    walk: TensorAccessPattern
    grid: tuple[tuple[Any, Any], ...]
    tile: tuple[tuple[Any, Any], ...]
    tile_axes: tuple[int, ...]
    order: tuple[int, ...]
    groups: tuple[GroupAxis, ...] = ()
    group_order: tuple[int, ...] = ()
    repeats: Any = 0


class TileGrid(TensorAccessSequence):
    """Tiles of a walk, in steps: ``grid[i]`` is the tile of step ``i``, ``grid[i, j]`` that at a place.

    Made by :meth:`TensorAccessPattern.tile` and :meth:`TensorAccessPattern.partition`; every method returns
    a new one.
    """

    def __init__(self, cut: _Cut) -> None:
        self._cut = cut
        self._tensor_dims = cut.walk.tensor_dims
        self._made: list[TensorAccessPattern] | None = None

    @classmethod
    def of_tiles(cls, walk: TensorAccessPattern, tile_dims: Sequence[Any]) -> TileGrid:
        """A walk cut into tiles.

        Raises:
            ValueError: another number of dimensions, or a dimension that is no multiple of the tile's.
        """
        if len(tile_dims) != walk.rank:
            raise ValueError(f"a walk of {walk.rank} dimensions has tiles of as many, not {list(tile_dims)}")
        parts = walk
        for axis, part in enumerate(tile_dims):
            parts = parts.split(2 * axis, part)
        dims = parts.transformation_dims
        axes = tuple(range(walk.rank))
        return cls(_Cut(walk, tuple(dims[0::2]), tuple(dims[1::2]), axes, axes))

    @classmethod
    def of_parts(cls, walk: TensorAccessPattern, parts: Any, dim: int) -> TileGrid:
        """A walk with one dimension cut into equal parts."""
        axis = axis_of(dim, walk.rank)
        size = walk.sizes[axis]
        if not (is_sym(size) or is_sym(parts)) and (sint(parts) < 1 or size % parts):
            raise ValueError(f"dimension {axis} of size {size} is not divisible into {parts} parts")
        tile = [*walk.sizes[:axis], size // parts, *walk.sizes[axis + 1 :]]
        return cls.of_tiles(walk, tile)

    @property
    def grid_shape(self) -> list[Any]:
        """Steps along each axis."""
        cut = self._cut
        return [axis.groups for axis in cut.groups] if cut.groups else [count for count, _ in cut.grid]

    @property
    def tile_shape(self) -> list[Any]:
        """Sizes within a step: repeats, tiles of a group, elements of a tile."""
        return [size for size, _ in self._step_dims([0] * len(self._cut.grid))]

    @property
    def tile_strides(self) -> list[Any]:
        """Strides within a step."""
        return [stride for _, stride in self._step_dims([0] * len(self._cut.grid))]

    @property
    def num_steps(self) -> Any:
        """How many steps there are."""
        steps: Any = 1
        for count in self.grid_shape:
            steps = steps * count
        return steps

    @property
    def tap(self) -> TensorAccessPattern:
        """All tiles, one after another, as one walk.

        Raises:
            ValueError: the tiles are grouped.
        """
        cut = self._cut
        if cut.groups:
            raise ValueError("tiles in groups are no single walk: use tap before group()")
        return self._walk(cut.walk.offset, [cut.grid[axis] for axis in cut.order])

    def group(
        self,
        repeats: Sequence[int],
        steps: Sequence[int] | None = None,
        order: Any = "row",
        partial: bool = False,
    ) -> TileGrid:
        """Several tiles in each step.

        Args:
            repeats: tiles of a step along each axis.
            steps: from tile to tile of a step; default = neighbours.
            order: ``"row"``, ``"col"`` or axes: the order of tiles within a step.
            partial: steps at the edges may have fewer.

        Raises:
            ValueError: the tiles are grouped or repeated already, or do not fill the groups.
        """
        cut, rank = self._cut, len(self._cut.grid)
        if cut.groups or cut.repeats:
            raise ValueError("group() comes before repeat(), and once")
        steps = [1] * rank if steps is None else steps
        if len(repeats) != rank or len(steps) != rank:
            raise ValueError(
                f"group() of a grid of {rank} axes takes {rank} repeats and steps: {repeats}, {steps}"
            )
        axes = []
        for axis, (tiles, _) in enumerate(cut.grid):
            if not partial and tiles % (repeats[axis] * steps[axis]):
                raise ValueError(
                    f"axis {axis} has {tiles} tiles, no multiple of {repeats[axis]} * {steps[axis]}: "
                    f"partial=True lets "
                    "steps at the edge have fewer"
                )
            axes.append(grouped_axis(tiles, repeats[axis], steps[axis]))
        return TileGrid(replace(cut, groups=tuple(axes), group_order=_axes(order, rank)))

    def order(self, order: Any) -> TileGrid:
        """Visit tiles in another order: ``"row"``, ``"col"``, or axes with the outermost first."""
        return TileGrid(replace(self._cut, order=_axes(order, len(self._cut.grid))))

    def permute_tile(self, axes: Sequence[int]) -> TileGrid:
        """Walk within each tile in another order of dimensions.

        Raises:
            ValueError: the tiles are grouped or repeated already.
        """
        cut = self._cut
        if cut.groups or cut.repeats:
            raise ValueError("permute_tile() comes before group() and repeat()")
        axes = checked_permutation(axes, len(cut.tile))
        tile, tile_axes = tuple(cut.tile[axis] for axis in axes), tuple(cut.tile_axes[axis] for axis in axes)
        return TileGrid(replace(cut, tile=tile, tile_axes=tile_axes))

    def repeat(self, count: Any) -> TileGrid:
        """Walk each step ``count`` times.

        Raises:
            ValueError: below 1, or the steps are repeated already.
        """
        if self._cut.repeats or (not is_sym(count) and count < 1):
            raise ValueError(f"repeat() takes a count of at least 1, and once, not {show(count)}")
        return TileGrid(replace(self._cut, repeats=sint(count)))

    def inverse(self) -> TensorAccessPattern:
        """The walk that reads a buffer of the tiles, one after another, in the tensor's own order.

        Raises:
            ValueError: tiles are grouped or repeated.
        """
        cut = self._cut
        if cut.groups or cut.repeats:
            raise ValueError("inverse() is of tiles without group() and repeat()")
        places: dict[tuple[str, int], tuple[Any, Any]] = {}
        stride: Any = 1
        for axis, (size, _) in reversed(list(zip(cut.tile_axes, cut.tile, strict=True))):
            places["tile", axis] = (size, stride)
            stride = stride * size
        for axis in reversed(cut.order):
            places["grid", axis] = (cut.grid[axis][0], stride)
            stride = stride * cut.grid[axis][0]
        dims = [places[kind, axis] for axis in range(len(cut.grid)) for kind in ("grid", "tile")]
        return TensorAccessPattern(
            self._tensor_dims, 0, [size for size, _ in dims], [step for _, step in dims]
        )

    def _step_dims(self, place: Sequence[Any]) -> list[tuple[Any, Any]]:
        cut = self._cut
        dims = [(cut.repeats, 0)] if cut.repeats else []
        for axis in cut.group_order:
            tiles, step = cut.groups[axis].left(place[axis])
            dims.append((tiles, cut.grid[axis][1] * step))
        return [*dims, *cut.tile]

    def _walk(self, offset: Any, outer: Iterable[tuple[Any, Any]]) -> TensorAccessPattern:
        dims = [*outer, *self._cut.tile]
        return TensorAccessPattern(
            self._tensor_dims, offset, [size for size, _ in dims], [step for _, step in dims]
        )

    def _at(self, place: Sequence[Any]) -> TensorAccessPattern:
        """The pattern of the step at a place of the grid."""
        cut, offset = self._cut, self._cut.walk.offset
        for axis, at in enumerate(place):
            first = cut.groups[axis].first(at) if cut.groups else at
            offset = moved(offset, first, cut.grid[axis][1])
        dims = self._step_dims(place)
        inner = len(cut.tile)
        outer = [each for each in dims[:-inner] if is_sym(each[0]) or each[0] != 1]
        return self._walk(offset, outer)

    def _place(self, step: Any) -> list[Any]:
        """The place of a step, by the order of the steps."""
        place: list[Any] = [0] * len(self._cut.grid)
        axes = [
            axis for axis in self._cut.order if is_sym(self.grid_shape[axis]) or self.grid_shape[axis] != 1
        ]
        for at, axis in enumerate(reversed(axes)):
            count = self.grid_shape[axis]
            outermost = at == len(axes) - 1
            place[axis], step = (step, 0) if outermost else (step % count, step // count)
        return place

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, tuple):
            if any(isinstance(each, slice) or each is Ellipsis for each in at):
                return self.tap[at]
            if len(at) != len(self._cut.grid):
                raise IndexError(
                    f"a place of a grid {self.grid_shape} has {len(self.grid_shape)} numbers, not {at}"
                )
            return self._at([_index(each, count) for each, count in zip(at, self.grid_shape, strict=True)])
        if isinstance(at, slice):
            return TensorAccessSequence.from_taps(list(self)[at])
        return self._at(self._place(_index(at, self.num_steps)))

    @property
    def _taps(self) -> list[TensorAccessPattern]:  # type: ignore[override]
        if self._made is None:
            self._made = [self._at(self._place(step)) for step in range(len(self))]
        return self._made

    def __len__(self) -> int:
        return int(self.num_steps)

    def _fixed(self, *_: Any) -> Any:
        raise TypeError(
            "a TileGrid is not changed in place: TensorAccessSequence.from_taps(list(grid)) is a list "
            "that can be"
        )

    __setitem__ = __delitem__ = insert = _fixed  # type: ignore[assignment]


def _axes(order: Any, rank: int) -> tuple[int, ...]:
    if order == "row":
        return tuple(range(rank))
    if order == "col":
        return tuple(reversed(range(rank)))
    if isinstance(order, str):
        raise ValueError(f'an order is "row", "col" or a list of axes, not {order!r}')
    return tuple(checked_permutation(order, rank))


def _index(at: Any, count: Any) -> Any:
    """A place along an axis; the twin checks that of a value of the design when the transfer runs."""
    if is_sym(at) or is_sym(count):
        return at
    at = sint(at)
    if not -count <= at < count:
        raise IndexError(f"place {at} of {count} steps")
    return at % count


TensorAccessPattern.grids = TileGrid
