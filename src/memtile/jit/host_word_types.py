"""What Numba makes of the functions of ``host_words``: loads, stores and copies at an address.

Words of the host are in no column of a struct, and LLVM is told so.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

from memtile.jit.column_types import ColumnType, address_of_block, tagged
from memtile.jit.host_words import byte_at, copy_in, copy_out, put_word_at, word_at

_UNALIGNED = 1  # byte: arrays of small elements may begin anywhere
_PLACE = "words of the host"


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


@infer_global(byte_at)
class ByteAt(AbstractTemplate):
    """``byte_at(address)``."""

    def generic(self, args: Any, _kws: Any) -> Any:
        """Its signature."""
        (address,) = args
        return signature(types.uint8, types.int64) if isinstance(address, types.Integer) else None


@infer_global(copy_in)
class CopyIn(AbstractTemplate):
    """``copy_in(array, at, address, words)``."""

    def generic(self, args: Any, _kws: Any) -> Any:
        """Its signature."""
        if not isinstance(args[0], ColumnType):
            return None
        return signature(types.void, args[0], types.int64, types.int64, types.int64)


@infer_global(copy_out)
class CopyOut(AbstractTemplate):
    """``copy_out(address, array, at, words)``."""

    def generic(self, args: Any, _kws: Any) -> Any:
        """Its signature."""
        if not isinstance(args[1], ColumnType):
            return None
        return signature(types.void, types.int64, args[1], types.int64, types.int64)


def _place(builder: Any, address: Any, bits: int = 32) -> Any:
    return builder.inttoptr(address, ir.IntType(bits).as_pointer())


@lower_builtin(word_at, types.int64)
def load(_context: Any, builder: Any, _sig: Any, args: Any) -> Any:
    """Load the word."""
    return tagged(builder, _PLACE, builder.load(_place(builder, args[0]), align=_UNALIGNED))


@lower_builtin(put_word_at, types.int64, types.uint32)
def store(context: Any, builder: Any, _sig: Any, args: Any) -> Any:
    """Store the word."""
    tagged(builder, _PLACE, builder.store(args[1], _place(builder, args[0]), align=_UNALIGNED))
    return context.get_dummy_value()


@lower_builtin(byte_at, types.int64)
def load_byte(_context: Any, builder: Any, _sig: Any, args: Any) -> Any:
    """Load the byte."""
    return tagged(builder, _PLACE, builder.load(_place(builder, args[0], 8)))


def _copied(context: Any, builder: Any, to: Any, source: Any, words: Any) -> Any:
    cgutils.raw_memcpy(builder, to, source, words, 4, align=_UNALIGNED)
    return context.get_dummy_value()


@lower_builtin(copy_in, ColumnType, types.int64, types.int64, types.int64)
def block_in(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Copy the words; the two places have none in common."""
    array = address_of_block(context, builder, sig.args[0], args[0], (args[1], args[3]))
    return _copied(context, builder, array, _place(builder, args[2]), args[3])


@lower_builtin(copy_out, types.int64, ColumnType, types.int64, types.int64)
def block_out(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Copy the words; the two places have none in common."""
    array = address_of_block(context, builder, sig.args[1], args[1], (args[2], args[3]))
    return _copied(context, builder, _place(builder, args[0]), array, args[3])
