"""``aie.helpers.taplib.tensortiler2d``: patterns of tiles of a tensor of two dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from memtile.iron.helpers.taplib.groups import GroupAxis, grouped_axis
from memtile.iron.helpers.taplib.tas import TensorAccessSequence
from memtile.iron.helpers.taplib.utils import validate_and_clean_sizes_strides, validate_tensor_dims


class TensorTiler2D:
    """Makes sequences of patterns."""

    def __init__(self) -> None:
        raise TypeError("TensorTiler2D makes sequences: simple_tiler, group_tiler or step_tiler")

    @classmethod
    def simple_tiler(
        cls,
        tensor_dims: Sequence[int],
        tile_dims: Sequence[int] | None = None,
        tile_col_major: bool = False,
        iter_col_major: bool = False,
        pattern_repeat: int = 1,
        prune_step: bool = True,
    ) -> TensorAccessSequence:
        """One pattern for each tile; a tile is the whole tensor unless it is given."""
        return cls.step_tiler(
            tensor_dims,
            tensor_dims if tile_dims is None else tile_dims,
            (1, 1),
            tile_col_major=tile_col_major,
            iter_col_major=iter_col_major,
            pattern_repeat=pattern_repeat,
            prune_step=prune_step,
        )

    @classmethod
    def group_tiler(
        cls,
        tensor_dims: Sequence[int],
        tile_dims: Sequence[int],
        tile_group_dims: Sequence[int] | None = None,
        tile_col_major: bool = False,
        tile_group_col_major: bool = False,
        iter_col_major: bool = False,
        pattern_repeat: int = 1,
        allow_partial: bool = False,
        prune_step: bool = True,
    ) -> TensorAccessSequence:
        """One pattern for each group of neighbouring tiles."""
        return cls.step_tiler(
            tensor_dims,
            tile_dims,
            (1, 1) if tile_group_dims is None else tile_group_dims,
            tile_col_major=tile_col_major,
            tile_group_col_major=tile_group_col_major,
            iter_col_major=iter_col_major,
            allow_partial=allow_partial,
            pattern_repeat=pattern_repeat,
            prune_step=prune_step,
        )

    @classmethod
    def step_tiler(
        cls,
        tensor_dims: Sequence[int],
        tile_dims: Sequence[int],
        tile_group_repeats: Sequence[int],
        tile_group_steps: Sequence[int] | None = None,
        tile_col_major: bool = False,
        tile_group_col_major: bool = False,
        iter_col_major: bool = False,
        allow_partial: bool = False,
        pattern_repeat: int = 1,
        prune_step: bool = True,
    ) -> TensorAccessSequence:
        """One pattern for each group of tiles that are ``tile_group_steps`` tiles apart.

        Args:
            tensor_dims: of the tensor.
            tile_dims: of a tile, in elements.
            tile_group_repeats: tiles of a group, in both dimensions.
            tile_group_steps: from tile to tile of a group.
            tile_col_major: down the columns within a tile.
            tile_group_col_major: down the columns of tiles within a group.
            iter_col_major: down the columns from group to group.
            allow_partial: groups at the edges may be smaller.
            pattern_repeat: how often each pattern is run.
            prune_step: tiles that touch become one.

        Raises:
            ValueError: tiles or groups do not fit, or four dimensions are too few.
        """
        dims, tile, repeats, steps = (
            validate_tensor_dims(each, expected_dims=2)
            for each in (tensor_dims, tile_dims, tile_group_repeats, tile_group_steps or (1, 1))
        )
        groups = [part * often * step for part, often, step in zip(tile, repeats, steps, strict=True)]
        _check_sizes(dims, tile, dims if allow_partial else groups)
        if not isinstance(pattern_repeat, int) or pattern_repeat < 1:
            raise ValueError(f"pattern_repeat is at least 1, not {pattern_repeat}")
        axes = [
            grouped_axis(whole // part, often, step)
            for whole, part, often, step in zip(dims, tile, repeats, steps, strict=True)
        ]
        rows, cols = (axis.groups for axis in axes)

        order = [divmod(n, rows)[::-1] if iter_col_major else divmod(n, cols) for n in range(rows * cols)]
        how = (dims[1], tile_col_major, tile_group_col_major, pattern_repeat, prune_step)
        shapes = [_shape(axes, tile, group, *how) for group in order]
        starts = [axes[0].first(y) * tile[0] * dims[1] + axes[1].first(x) * tile[1] for y, x in order]
        return TensorAccessSequence(
            dims,
            len(order),
            offset_fn=lambda step, _: starts[step],
            sizes_fn=lambda step, _: shapes[step][0],
            strides_fn=lambda step, _: shapes[step][1],
        )


def _check_sizes(dims: Sequence[int], tile: Sequence[int], groups: Sequence[int]) -> None:
    """Refuse tiles and groups that do not fill a tensor.

    Raises:
        ValueError: which dimension, and what it is no multiple of.
    """
    for at, (whole, part, group) in enumerate(zip(dims, tile, groups, strict=True)):
        if whole % part:
            raise ValueError(f"dimension {at} of the tensor, {whole}, is no multiple of the tile's {part}")
        if whole % group:
            raise ValueError(
                f"dimension {at} of the tensor, {whole}, is no multiple of the group's {group}: "
                f"allow_partial=True lets groups at the edge be smaller"
            )


def _shape(
    axes: list[GroupAxis],
    tile: Sequence[int],
    group: tuple[int, int],
    width: int,
    col_major: bool,
    group_col_major: bool,
    often: int,
    prune: bool,
) -> tuple[list[int], list[int]]:
    """Four sizes and strides of a group."""
    (high, high_step), (wide, wide_step) = (axis.left(at) for axis, at in zip(axes, group, strict=True))
    tile_high, tile_wide = tile
    if prune and group_col_major and not col_major and high_step == 1 and high > 1:
        tile_high, high = tile_high * high, 1  # tiles below each other are one tall tile
    elif prune and not group_col_major and col_major and wide_step == 1 and wide > 1:
        tile_wide, wide = tile_wide * wide, 1
    inner = [(tile_high, width), (tile_wide, 1)]
    down, across = (high, width * tile_high * high_step), (wide, tile_wide * wide_step)
    outer = [(1, 0), (1, 0)]
    if high > 1 and wide > 1:
        outer = [across, down] if group_col_major else [down, across]
    elif high > 1 or wide > 1:
        outer = [(1, 0), down if high > 1 else across]
    pairs = outer + (inner[::-1] if col_major else inner)
    sizes, strides = validate_and_clean_sizes_strides([a for a, _ in pairs], [b for _, b in pairs])
    assert sizes is not None
    assert strides is not None
    if often != 1:
        if (sizes[0], strides[0]) != (1, 0):
            raise ValueError(f"no dimension is left for pattern_repeat: sizes {sizes}, strides {strides}")
        sizes[0] = often
    sizes, strides = validate_and_clean_sizes_strides(sizes, strides)
    assert sizes is not None
    assert strides is not None
    return sizes, strides
