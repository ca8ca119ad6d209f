"""What Numba makes of the functions of ``host_words``: a load and a store at an address."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

from memtile.jit.host_words import put_word_at, word_at

_UNALIGNED = 1  # byte: arrays of small elements may begin anywhere


@infer_global(word_at)
class WordAt(AbstractTemplate):
    """``word_at(address)``."""

    def generic(self, args: Any, _kws: Any) -> Any:
        """Its signature."""
        (address,) = args
        return signature(types.uint32, types.int64) if isinstance(address, types.Integer) else None


@infer_global(put_word_at)
class PutWordAt(AbstractTemplate):
    """``put_word_at(address, word)``."""

    def generic(self, args: Any, _kws: Any) -> Any:
        """Its signature."""
        if not all(isinstance(given, types.Integer) for given in args):
            return None
        return signature(types.void, types.int64, types.uint32)


def _place(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, ir.IntType(32).as_pointer())


@lower_builtin(word_at, types.int64)
def load(_context: Any, builder: Any, _sig: Any, args: Any) -> Any:
    """Load the word."""
    return builder.load(_place(builder, args[0]), align=_UNALIGNED)


@lower_builtin(put_word_at, types.int64, types.uint32)
def store(context: Any, builder: Any, _sig: Any, args: Any) -> Any:
    """Store the word."""
    builder.store(args[1], _place(builder, args[0]), align=_UNALIGNED)
    return context.get_dummy_value()
