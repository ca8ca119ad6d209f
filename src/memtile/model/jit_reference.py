"""What Numba has to know about a reference to a NamedTuple: its type, its fields, how it is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    overload,
    register_model,
)


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


def _behind_a_wall(builder: Any, address: Any) -> Any:
    """``address``, so that no load through it moves up to before this place, where the tuple is stored."""
    wall = ir.FunctionType(cgutils.voidptr_t, [cgutils.voidptr_t])
    return builder.asm(wall, "", "=r,0,~{memory}", [address], side_effect=True)


@intrinsic
def address_of(_context: Any, fields: Any) -> Any:
    """Store the tuple on the stack of the function that this is inlined into, and take the address."""

    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        kept = cgutils.alloca_once_value(builder, arguments[0])
        return _behind_a_wall(builder, builder.bitcast(kept, cgutils.voidptr_t))

    return Reference(fields)(fields), codegen


def refer_by(function: Callable[[Any], Any]) -> None:
    """Compile calls of ``function`` as taking a reference to its argument."""

    take: Any = address_of  # compiled, it takes the tuple alone

    @overload(function, strict=False, inline="always")  # else the tuple dies with the call
    def refer(fields: Any) -> Any:  # noqa: ARG001 # Numba asks for the names of ``function``
        return lambda fields: take(fields)
