"""What Numba has to know about a tuple that is kept in a room, see ``reference``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import typeof
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
)

from memtile.jit.decorators import entry

if TYPE_CHECKING:
    from memtile.jit.reference import Room


class Reference(types.Type):
    """Address of a NamedTuple."""

    def __init__(self, fields: Any) -> None:
        self.fields = fields
        super().__init__(name=f"Reference({fields.instance_class.__name__}, {hash(fields.name):x})")


register_model(Reference)(models.OpaqueModel)


@infer_getattr
class Fields(AttributeTemplate):
    """The fields of the tuple; those that are tuples are referred to in turn."""

    key = Reference

    def generic_resolve(self, reference: Any, name: str) -> Any:  # type: ignore[override]
        """Type of the field, None if there is no such field."""
        if name not in reference.fields.fields:
            return None
        found = reference.fields[reference.fields.fields.index(name)]
        return Reference(found) if isinstance(found, types.BaseNamedTuple) else found


@lower_getattr_generic(Reference)
def load(context: Any, builder: Any, reference: Reference, value: Any, name: str) -> Any:
    """Load a field; nobody writes to the tuple, so once loaded it may stay in a register."""
    position = reference.fields.fields.index(name)
    whole = builder.bitcast(value, context.get_value_type(reference.fields).as_pointer())
    field = cgutils.gep_inbounds(builder, whole, 0, position)
    if isinstance(reference.fields[position], types.BaseNamedTuple):
        return builder.bitcast(field, cgutils.voidptr_t)
    loaded = builder.load(field)
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Address of the first element of an array."""
    return builder.extract_value(array, context.data_model_manager[kind].get_field_position("data"))


@intrinsic
def size_of(_context: Any, fields: Any) -> Any:
    """Bytes that an unpacked tuple takes."""

    def codegen(context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return context.get_constant(types.intp, context.get_abi_sizeof(context.get_value_type(fields)))

    return types.intp(fields), codegen


@intrinsic
def put(_context: Any, fields: Any, room: Any) -> Any:
    """Store an unpacked tuple in an array that is large enough."""

    def codegen(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        where = context.get_value_type(fields).as_pointer()
        builder.store(arguments[0], builder.bitcast(_data(context, builder, room, arguments[1]), where))

    return types.void(fields, room), codegen


_size_of: Any = size_of  # compiled, they take no context
_put: Any = put


def store(fields: Any, room: Any) -> int:
    """Unpack a tuple into ``room`` if it is large enough; the bytes that it takes."""
    size: int = _size_of(fields)
    if size <= room.size * room.itemsize:
        _put(fields, room)
    return size


_store, _store_of_others = entry(store), entry(store, on_disk=False)


def _store_for(kind: type) -> Any:
    """``store`` compiled; what is kept on disk knows no module but those of this package."""
    return _store if kind.__module__.startswith("memtile.") else _store_of_others


def _types(kind: type) -> list[Any]:
    """Numba's types of the tuples of a kind that were unpacked."""
    return [types_[0] for types_ in _store_for(kind).overloads if types_[0].instance_class is kind]


def unpacked(fields: Any) -> Room:
    """The fields of a NamedTuple as compiled code has them; they borrow its arrays.

    Raises:
        TypeError: an array has another type or layout than in the other tuples of the kind.
    """
    put_into = _store_for(type(fields))
    room = np.zeros(1, dtype=np.uint64)
    room = np.zeros(put_into(fields, room), dtype=np.uint64)
    put_into(fields, room)
    first, *others = _types(type(fields))
    if others and typeof(fields) != first:
        raise TypeError(f"{type(fields).__name__}: arrays of another type or layout than before")
    return room


def finder(kind: type) -> Any:
    """An intrinsic that takes the room of a tuple for the tuple; see ``reference.found_in``."""

    @intrinsic
    def find(_context: Any, room: Any) -> Any:
        def codegen(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.bitcast(_data(context, builder, room, arguments[0]), cgutils.voidptr_t)

        fields = _types(kind)[0]
        return Reference(fields)(room), codegen

    return find
