"""Loads and stores by address in compiled code, see ``words``.

They say nothing of what they may overlap, so LLVM keeps their order with all accesses to columns.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic
def load_word(_context: Any, _address: Any) -> Any:
    """The signed word at an address."""

    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], cgutils.intp_t.as_pointer()))

    return types.int64(types.int64), codegen


@intrinsic
def store_word(_context: Any, _address: Any, _word: Any) -> Any:
    """Put a signed word at an address."""

    def codegen(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], builder.inttoptr(arguments[0], cgutils.intp_t.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen
