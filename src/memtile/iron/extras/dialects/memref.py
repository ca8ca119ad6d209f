"""``aie.extras.dialects.memref``: buffers of a design."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtile.iron.ops.operation_classes import builder, operation_class
from memtile.iron.ops.operations import Operation
from memtile.iron.ops.scalars import MemRefValue, build, constant, indices, load, store
from memtile.iron.ops.types import MemRefType, Type


def alloc(shape: Sequence[int], element_type: Type, *, loc: object = None, ip: Any = None) -> Any:
    """``memref.alloc``."""
    return build("memref.alloc", MemRefType(shape, element_type), ip=ip)


def alloca(shape: Sequence[int], element_type: Type, *, loc: object = None, ip: Any = None) -> Any:
    """``memref.alloca``."""
    return build("memref.alloca", MemRefType(shape, element_type), ip=ip)


def view(
    source: Any, shape: Sequence[int], dtype: Type | None = None, shift: Any = 0, memory_space: object = None
) -> Any:
    """``memref.view``: bytes from ``shift`` as a buffer of another shape and type."""
    source = source.result if isinstance(source, Operation) else source
    type = MemRefType(shape, dtype if dtype is not None else source.type.element_type, None, memory_space)
    (byte,) = indices(shift) if not isinstance(shift, int) else (constant(shift, index=True),)
    return build("memref.view", type, source, byte, [])


global_, get_global, copy, dim, cast = (
    builder(f"memref.{name}") for name in ("global", "get_global", "copy", "dim", "cast")
)
collapse_shape, expand_shape, reinterpret_cast, subview = (
    operation_class(f"memref.{name}")
    for name in ("collapse_shape", "expand_shape", "reinterpret_cast", "subview")
)

__all__ = ["MemRefValue", "alloc", "alloca", "global_", "load", "store", "view"]
