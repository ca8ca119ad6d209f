"""``aie.helpers.taplib.utils``: what sizes, strides and offsets may be."""

from __future__ import annotations

import math
from collections.abc import Sequence

from memtile.iron.helpers.taplib.symbolic import below, is_sym


def validate_and_clean_sizes_strides(
    sizes: Sequence[int] | None,
    strides: Sequence[int] | None,
    allow_none: bool = False,
    expected_dims: int | None = None,
) -> tuple[list[int] | None, list[int] | None]:
    """Sizes and strides; outer dimensions of size 1 get stride 0.

    Raises:
        ValueError: they are absent, below 1 or negative, or of other numbers.
    """
    for name, given, least in (("sizes", sizes, 1), ("strides", strides, 0)):
        _check_dimensions(name, given, least, allow_none, expected_dims)
    if sizes is not None and strides is not None and len(sizes) != len(strides):
        raise ValueError(
            f"sizes {list(sizes)} and strides {list(strides)} have different numbers of dimensions"
        )
    if sizes is None or strides is None:
        return (None if sizes is None else list(sizes)), (None if strides is None else list(strides))
    cleaned = list(strides)
    for at, size in enumerate(list(sizes)[:-1]):
        if is_sym(size) or size != 1:
            break
        cleaned[at] = 0
    return list(sizes), cleaned


def _check_dimensions(
    name: str, given: Sequence[int] | None, least: int, allow_none: bool, expected_dims: int | None
) -> None:
    if given is None:
        if not allow_none:
            raise ValueError(f"{name} are missing")
        return
    if len(given) == 0:
        raise ValueError(f"{name} are empty")
    if expected_dims is not None and len(given) != expected_dims:
        raise ValueError(f"{name} {list(given)} have {len(given)} dimensions, not {expected_dims}")
    if below(given, least):
        raise ValueError(f"{name} are at least {least}: {list(given)}")


def validate_tensor_dims(tensor_dims: Sequence[int], expected_dims: int | None = None) -> list[int]:
    """Dimensions of a tensor; one alone becomes a row.

    Raises:
        ValueError: there are none, one is below 1, or another number is expected.
    """
    dims = list(tensor_dims)
    if not dims or below(dims, 1):
        raise ValueError(f"dimensions of a tensor are at least 1: {dims}")
    dims = [1, *dims] if len(dims) == 1 else dims
    if expected_dims is not None and len(dims) != expected_dims:
        raise ValueError(f"{dims} are {len(dims)} dimensions, not {expected_dims}")
    return dims


def validate_offset(offset: int, tensor_dims: Sequence[int] | None) -> int:
    """An offset within a tensor.

    Raises:
        ValueError: it is outside.
    """
    if is_sym(offset) or any(is_sym(each) for each in tensor_dims or ()):
        return offset
    if offset < 0 or (tensor_dims and offset >= math.prod(tensor_dims)):
        raise ValueError(f"offset {offset} is outside of a tensor of {list(tensor_dims or [])}")
    return offset
