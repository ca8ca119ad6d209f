"""Copies and zeros of blocks of arrays in compiled code, see ``block_copies``."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

from memtile.jit.bound_checks import check_block
from memtile.jit.column_types import size_of


def _place(context: Any, builder: Any, kind: Any, array: Any, block: tuple[Any, Any]) -> tuple[Any, int]:
    """Address of a block of an array that is no table's column, where it begins and how many elements it has;
    and the bytes of one."""
    at, count = block
    check_block(context, builder, kind.place, (at, count), size_of(context, builder, kind, array))
    first = cgutils.create_struct_proxy(kind)(context, builder, array).first
    size = context.get_abi_sizeof(context.get_data_type(kind.element))
    return builder.gep(first, [builder.mul(at, cgutils.intp_t(size))]), size


@intrinsic
def copy_block(_context: Any, to: Any, _at: Any, source: Any, _first: Any, _count: Any) -> Any:
    """Copy so many elements of ``source`` from one on to ``to`` from another one on."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        there, size = _place(context, builder, signature.args[0], arguments[0], (arguments[1], arguments[4]))
        here, _ = _place(context, builder, signature.args[2], arguments[2], (arguments[3], arguments[4]))
        cgutils.raw_memmove(builder, there, here, arguments[4], size)
        return context.get_dummy_value()

    return types.void(to, types.int64, source, types.int64, types.int64), codegen


@intrinsic
def clear_block(_context: Any, to: Any, _at: Any, _count: Any) -> Any:
    """Make so many elements of ``to`` from one on zero."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        there, size = _place(context, builder, signature.args[0], arguments[0], (arguments[1], arguments[2]))
        cgutils.memset(builder, there, builder.mul(arguments[2], cgutils.intp_t(size)), 0)
        return context.get_dummy_value()

    return types.void(to, types.int64, types.int64), codegen
