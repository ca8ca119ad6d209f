"""What Numba makes of ``addresses`` and ``host_words``: loads, stores, copies and zeros at an address.

LLVM is told that words of the host are in no column of a struct. Of all others it is told nothing, so it
keeps their order with all accesses to columns.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin

from memtile.jit.column_types import ColumnType, address_of_block, check_block, size_of, tagged
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


def _block(context: Any, builder: Any, kind: Any, array: Any, block: tuple[Any, Any]) -> tuple[Any, int]:
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
        there, size = _block(context, builder, signature.args[0], arguments[0], (arguments[1], arguments[4]))
        here, _ = _block(context, builder, signature.args[2], arguments[2], (arguments[3], arguments[4]))
        cgutils.raw_memmove(builder, there, here, arguments[4], size)
        return context.get_dummy_value()

    return types.void(to, types.int64, source, types.int64, types.int64), codegen


@intrinsic
def clear_block(_context: Any, to: Any, _at: Any, _count: Any) -> Any:
    """Make so many elements of ``to`` from one on zero."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        there, size = _block(context, builder, signature.args[0], arguments[0], (arguments[1], arguments[2]))
        cgutils.memset(builder, there, builder.mul(arguments[2], cgutils.intp_t(size)), 0)
        return context.get_dummy_value()

    return types.void(to, types.int64, types.int64), codegen
