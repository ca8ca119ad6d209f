"""What Numba has to know about the arrays of a struct and the columns of its tables, see ``structs``.

Numba could take them for arrays. But then each access finds out how long and how far apart the rows are, and
looks for negative indices; and as LLVM has to assume that any two arrays overlap, each store makes it load
again what it knew of the others. For a :class:`ColumnType` the size of a row and the place in it are
constants, so an element is one address computation away, and loads and stores say which column they are
about: LLVM is told (``tbaa``) that different ones never overlap. ``structs`` refuses arrays that do.

As in C, an index is not checked: a negative one does not count from the end. ``MEMTILE_BOUNDS=1`` compiles
code that checks it (``settings``).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global, signature
from numba.extending import (
    infer_getattr,
    lower_builtin,
    lower_getattr,
    lower_getattr_generic,
    models,
    register_model,
)
from numba.np import numpy_support

from memtile.jit.settings import BOUNDS, SYMBOL, install

_ERROR = ir.Constant(ir.IntType(32), -1)
"""What a function returns in the place of its result; its callers pass it on."""


_NUMBERS = ("", "second ", "third ", "fourth ", "fifth ")
_BLOCK = ("start of a block", "length of a block", "end of a block")
Checks = Sequence[tuple[Any, Any]]


def check_indices(context: Any, builder: Any, column: str, checks: Checks, names: Sequence[str] = ()) -> None:
    """Emit checks of indices against lengths; nothing without ``MEMTILE_BOUNDS=1``.

    Args:
        context: of Numba.
        builder: of the function that has the indices.
        column: name of the column or array.
        checks: an index and a length for each dimension.
        names: what the indices are called in messages; ``index``, ``second index`` ... if omitted.
    """
    if not BOUNDS or not checks:
        return
    install()
    outside = [builder.icmp_unsigned(">=", index, length) for index, length in checks]
    some = outside[0]
    for one in outside[1:]:
        some = builder.or_(some, one)
    with builder.if_then(some, likely=False):
        found = [cgutils.intp_t(len(checks) - 1), *checks[-1]]
        for n in reversed(range(len(checks) - 1)):
            here = [cgutils.intp_t(n), *checks[n]]
            found = [builder.select(outside[n], a, b) for a, b in zip(here, found, strict=True)]
        called = names or [f"{number}index" for number in _NUMBERS[: len(checks)]]
        place = "\n".join((column, f"{context.fndesc.modname}.{context.fndesc.qualname}", *called))
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, *[cgutils.intp_t] * 3])
        report: Any = cgutils.get_or_insert_function(builder.module, kind, SYMBOL)
        builder.call(report, [context.insert_const_string(builder.module, place), *found])
        builder.ret(_ERROR)


def check_block(context: Any, builder: Any, column: str, block: tuple[Any, Any], size: Any) -> None:
    """Check a block of elements: where it begins, how many it has, and the size of the array."""
    at, count = block
    room = builder.add(size, cgutils.intp_t(1))  # a block may begin, and ends, behind the last element
    check_indices(context, builder, column, [(n, room) for n in (at, count, builder.add(at, count))], _BLOCK)


_INDICES = (types.Integer, types.IntegerLiteral, types.IntEnumMember)
_ROOT = "columns of structs"


class TableType(types.Type):
    """A table: a contiguous record array of a struct.

    Attributes:
        place: which one, unlike that of all other arrays.
        dtype: its columns, all of one element type.
        ndim: dimensions of the table.
    """

    def __init__(self, place: str, dtype: np.dtype[Any], ndim: int) -> None:
        self.place, self.dtype, self.ndim = place, dtype, ndim
        super().__init__(name=f"Table({place})")


class ColumnType(types.Type):
    """A contiguous array of a struct, or a column of one of its tables.

    Attributes:
        place: which one, unlike that of all others that may be in use at the same time.
        element: Numba type of an element.
        ndim: dimensions of the array or table.
        inner: further dimensions, those of the array that each row of the column holds.
        row: elements from one row to the next.
        first: element of the row that the column begins with.
    """

    def __init__(
        self,
        place: str,
        dtype: np.dtype[Any],
        ndim: int,
        row: int = 1,
        first: int = 0,
    ) -> None:
        self.place, self.ndim, self.row, self.first = place, ndim, row, first
        self.inner, self.element = dtype.shape, numpy_support.from_dtype(dtype.base)
        super().__init__(name=f"Column({place})")


class ArrayModel(models.StructModel):
    """The address of an array and its shape."""

    def __init__(self, manager: Any, kind: Any) -> None:
        members = [("first", types.voidptr), ("shape", types.UniTuple(types.intp, kind.ndim))]
        super().__init__(manager, kind, members)


register_model(TableType)(ArrayModel)
register_model(ColumnType)(ArrayModel)


def load_array(context: Any, builder: Any, kind: Any, place: Any) -> Any:
    """What a struct has of an array; nobody writes to the struct, so it may stay in a register."""
    array = cgutils.create_struct_proxy(kind)(context, builder)
    nothing = builder.module.add_metadata([])
    first = builder.load(builder.bitcast(place, cgutils.voidptr_t.as_pointer()))
    first.set_metadata("invariant.load", nothing)
    lengths = [builder.load(cgutils.gep_inbounds(builder, place, 1 + n)) for n in range(kind.ndim)]
    for length in lengths:
        length.set_metadata("invariant.load", nothing)
    array.first, array.shape = first, cgutils.pack_array(builder, lengths, cgutils.intp_t)
    return array._getvalue()


@infer_getattr
class TableColumns(AttributeTemplate):
    """The columns of a table."""

    key = TableType

    def generic_resolve(self, table: Any, name: str) -> Any:  # type: ignore[override]
        """Type of the column, None if there is no such column."""
        if name not in table.dtype.names:
            return None
        dtype, offset = table.dtype.fields[name][:2]
        size, row = dtype.base.itemsize, table.dtype.itemsize
        return ColumnType(f"{table.place}.{name}", dtype, table.ndim, row // size, offset // size)


@lower_getattr_generic(TableType)
def column(_context: Any, _builder: Any, _table: TableType, value: Any, _name: str) -> Any:
    """A column begins where its table does; its type has all else."""
    return value


@infer_getattr
class ColumnAttributes(AttributeTemplate):
    """``shape``, as NumPy has it."""

    key = ColumnType

    def resolve_shape(self, column: Any) -> Any:
        """Type of the shape."""
        return types.UniTuple(types.intp, column.ndim + len(column.inner))


def _shape(context: Any, builder: Any, column: ColumnType, value: Any) -> list[Any]:
    """Lengths of all dimensions."""
    array = cgutils.create_struct_proxy(column)(context, builder, value)
    return [*cgutils.unpack_tuple(builder, array.shape), *map(cgutils.intp_t, column.inner)]


def size_of(context: Any, builder: Any, column: ColumnType, value: Any) -> Any:
    """Elements of a column, in all dimensions."""
    return reduce(builder.mul, _shape(context, builder, column, value))


@lower_getattr(ColumnType, "shape")
def shape(context: Any, builder: Any, column: ColumnType, value: Any) -> Any:
    """The shape of a column."""
    return cgutils.pack_array(builder, _shape(context, builder, column, value), cgutils.intp_t)


def _of_one_element(column: ColumnType, index: Any) -> bool:
    """Whether ``index`` names one element; slices and whole rows are nothing that compiled code has."""
    indices = _kinds(index)
    whole = len(indices) == column.ndim + len(column.inner)
    return whole and all(isinstance(one, _INDICES) for one in indices)


def _kinds(index: Any) -> tuple[Any, ...]:
    """Types of the indices that an index has."""
    indices: Any = index
    return tuple(indices) if isinstance(index, types.BaseTuple) else (index,)


@infer_global(operator.getitem)
class GetElement(AbstractTemplate):
    """``column[index]``."""

    def generic(self, args: Any, _kws: Any) -> Any:
        """Its signature, None if something else is meant."""
        column, index = args
        if isinstance(column, ColumnType) and _of_one_element(column, index):
            return signature(column.element, column, index)
        return None


@infer_global(operator.setitem)
class SetElement(AbstractTemplate):
    """``column[index] = value``."""

    def generic(self, args: Any, _kws: Any) -> Any:
        """Its signature, None if something else is meant."""
        column, index, value = args
        if not isinstance(column, ColumnType) or not _of_one_element(column, index):
            return None
        if self.context.can_convert(value, column.element) is None:
            return None
        return signature(types.void, column, index, value)


def _linear(builder: Any, indices: list[Any], lengths: list[Any]) -> Any:
    """Position in row-major order."""
    steps = zip(indices, lengths, strict=True)
    zero = cgutils.intp_t(0)
    return reduce(lambda at, step: builder.add(builder.mul(at, step[1]), step[0]), steps, zero)


def address_of(context: Any, builder: Any, column: ColumnType, value: Any, kind: Any, index: Any) -> Any:
    """Address of an element."""
    given = cgutils.unpack_tuple(builder, index) if isinstance(kind, types.BaseTuple) else [index]
    indices = [context.cast(builder, i, k, types.intp) for i, k in zip(given, _kinds(kind), strict=True)]
    lengths = _shape(context, builder, column, value)
    check_indices(context, builder, column.place, list(zip(indices, lengths, strict=True)))
    return _address(context, builder, column, value, (indices, lengths))


def address_of_block(
    context: Any, builder: Any, column: ColumnType, value: Any, block: tuple[Any, Any]
) -> Any:
    """Address of the first element of a block of an array of one dimension: where it begins, how many."""
    lengths = _shape(context, builder, column, value)
    check_block(context, builder, column.place, block, lengths[0])
    return _address(context, builder, column, value, ([block[0]], lengths))


def _address(
    context: Any, builder: Any, column: ColumnType, value: Any, place: tuple[list[Any], list[Any]]
) -> Any:
    """Address of the element with these indices, in an array with these lengths."""
    (indices, lengths), n = place, column.ndim
    outer = _linear(builder, indices[:n], lengths[:n])
    inner = builder.add(_linear(builder, indices[n:], lengths[n:]), cgutils.intp_t(column.first))
    row = ir.ArrayType(context.get_data_type(column.element), column.row)
    first = cgutils.create_struct_proxy(column)(context, builder, value).first
    return builder.gep(builder.bitcast(first, row.as_pointer()), [outer, inner], inbounds=True)


def tagged(builder: Any, place: str, access: Any) -> Any:
    """A load or store that says which column, or other place that overlaps none, it is about."""
    module = builder.module
    root = module.add_metadata([ir.MetaDataString(module, _ROOT)])
    offset = ir.Constant(ir.IntType(64), 0)
    kind = module.add_metadata([ir.MetaDataString(module, place), root, offset])
    access.set_metadata("tbaa", module.add_metadata([kind, kind, offset]))
    return access


@lower_builtin(operator.getitem, ColumnType, types.Any)
def get_element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Load an element."""
    column, index = sig.args
    place = address_of(context, builder, column, args[0], index, args[1])
    loaded = tagged(builder, column.place, builder.load(place))
    return context.data_model_manager[column.element].from_data(builder, loaded)


@lower_builtin(operator.setitem, ColumnType, types.Any, types.Any)
def set_element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Store an element."""
    column, index, value = sig.args
    given = context.cast(builder, args[2], value, column.element)
    stored = context.data_model_manager[column.element].as_data(builder, given)
    place = address_of(context, builder, column, args[0], index, args[1])
    tagged(builder, column.place, builder.store(stored, place))
