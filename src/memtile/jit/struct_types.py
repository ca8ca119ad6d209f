"""What Numba has to know about a struct behind a pointer, see ``structs``."""

from __future__ import annotations

from typing import Any
from zlib import crc32

from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

from memtile.jit.column_types import ColumnType, TableType, load_array
from memtile.jit.struct_layout import StructField, StructLayout, layout_of


class StructType(types.Type):
    """Pointer to a struct.

    Attributes:
        members: by name, the first 64-bit word of a field and its type.
    """

    def __init__(self, layout: StructLayout) -> None:
        self.members: dict[str, tuple[int, types.Type]] = {}
        at = 0
        for field in layout.fields:
            if isinstance(field, StructField):
                self.members[field.name] = at, _type_of(field, f"{layout.kind}.{field.name}")
                at += 1 + field.ndim
            else:
                self.members[field.name] = at, StructType(field)
                at += field.words
        super().__init__(name=f"Struct({layout.kind}, {crc32(repr(layout).encode()):x})")


def _type_of(field: StructField, place: str) -> types.Type:
    """Type of an array of a struct; ``place`` is unlike that of all other arrays."""
    if field.dtype.names is None:
        return ColumnType(place, field.dtype, field.ndim)
    return TableType(place, field.dtype, field.ndim)


register_model(StructType)(models.OpaqueModel)


@infer_getattr
class StructFields(AttributeTemplate):
    """The fields of a struct."""

    key = StructType

    def generic_resolve(self, struct: Any, name: str) -> Any:  # type: ignore[override]
        """Type of the field, None if there is no such field."""
        return struct.members[name][1] if name in struct.members else None


@lower_getattr_generic(StructType)
def field(context: Any, builder: Any, struct: StructType, pointer: Any, name: str) -> Any:
    """The field called ``name``: a struct within this one, or what the struct has of an array."""
    at, kind = struct.members[name]
    words = builder.bitcast(pointer, cgutils.intp_t.as_pointer())
    found = cgutils.gep_inbounds(builder, words, at)
    if isinstance(kind, StructType):
        return builder.bitcast(found, cgutils.voidptr_t)
    return load_array(context, builder, kind, found)


def dereferencing(kind: type) -> Any:
    """An intrinsic that finds a struct by its address; see ``structs.dereference``."""

    @intrinsic
    def find(_context: Any, _address: Any) -> Any:
        def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], cgutils.voidptr_t)

        return StructType(layout_of(kind))(types.int64), codegen

    return find
