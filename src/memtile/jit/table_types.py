"""What Numba has to know about a table, see ``tables``: its type, and how a column is taken from it.

Numba could take them for record arrays. But it describes a column of one by some sixty instructions, most of
which find lengths and strides that are known, and columns are most of what the engine's code is about.
"""

from __future__ import annotations

from functools import reduce
from typing import Any
from zlib import crc32

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_getattr_generic, models, register_model, typeof_impl
from numba.np import numpy_support

from memtile.jit.records import Records


class Table(types.Array):
    """A contiguous record array."""

    def __init__(self, dtype: Any, ndim: int) -> None:
        columns = crc32(str(dtype).encode())  # names of functions have those of their arguments in them
        super().__init__(dtype, ndim, "C", name=f"Table({columns:x}, {ndim})")


register_model(Table)(models.ArrayModel)


@typeof_impl.register(Records)
def type_of_records(records: Records, _context: Any) -> Table:
    """What compiled code takes a table for."""
    return Table(numpy_support.from_dtype(records.dtype), records.ndim)


def _field(context: Any, array: types.Array, name: str) -> int:
    """Place of a field in Numba's description of an array."""
    return int(context.data_model_manager[array].get_field_position(name))


def _strides(builder: Any, shape: list[Any], size: int) -> list[Any]:
    """Byte strides of a contiguous array of elements of ``size`` bytes."""
    strides = [cgutils.intp_t(size)]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    return strides


@lower_getattr_generic(Table)
def column(context: Any, builder: Any, table: Table, value: Any, name: str) -> Any:
    """The column called ``name``: a view of the table; its elements may be arrays themselves."""
    record: Any = table.dtype
    element = record.typeof(name)
    shape = [builder.extract_value(value, [_field(context, table, "shape"), n]) for n in range(table.ndim)]
    strides = _strides(builder, shape, record.size)
    if isinstance(element, types.NestedArray):
        shape += map(cgutils.intp_t, element.shape)
        strides += map(cgutils.intp_t, element.strides)
        element = element.dtype
    view = table.copy(dtype=element, ndim=len(shape), layout="A")
    first = builder.extract_value(value, _field(context, table, "data"))
    described = {
        "data": cgutils.pointer_add(
            builder, first, record.offset(name), context.get_value_type(types.CPointer(element))
        ),
        "itemsize": cgutils.intp_t(context.get_abi_sizeof(context.get_data_type(element))),
        "nitems": reduce(builder.mul, shape),
        "shape": cgutils.pack_array(builder, shape),
        "strides": cgutils.pack_array(builder, strides),
    }
    array = ir.Constant(context.get_value_type(view), None)
    for field, content in described.items():
        array = builder.insert_value(array, content, _field(context, view, field))
    return array
