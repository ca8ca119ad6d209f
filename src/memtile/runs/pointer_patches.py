"""Pointer patches of NPU programs: where the host tells a descriptor the address of a kernel argument.

A patch sets Base_Address of an interface tile descriptor to the argument's address plus an offset; what the
descriptor had there is gone (DEV-TXN-1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from memtile.arch.address_map import HOST_APERTURE, TRANSLATED_ARGUMENTS
from memtile.arch.tiles import INTERFACE, WORD_BYTES, TileKind
from memtile.errors import Problem
from memtile.runs.operations import ArrayShape, Operation, Other, Word, locate

PATCH = "DDR_PATCH"
_BASE = INTERFACE.bd_fields["Base_Address"]
_FIRST_WORD = _BASE.parts[0][0]
_SOURCE = "mlir-aie pointer patches"


class Pointer(NamedTuple):
    """A patch: the register with the lower half of the address, the argument and the byte offset in it."""

    register: int
    argument: int
    offset: int


def pointer_of(operation: Operation) -> Pointer | None:
    """What a pointer patch says; None for any other operation."""
    if not isinstance(operation, Other) or operation.name != PATCH or not operation.details:
        return None
    said = dict(operation.details)
    argument, offset = said["argument"], said["offset"]
    if argument >= TRANSLATED_ARGUMENTS and offset >= HOST_APERTURE:
        offset -= HOST_APERTURE  # added by the compiler, for firmware does not (DEV-TXN-2)
    return Pointer(said["address"], argument, offset)


def pointer_words(register: int, address: int) -> Iterator[Word]:
    """The masked writes that put a byte address into the descriptor whose lower half is at ``register``."""
    value = address // WORD_BYTES
    for word, msb, lsb in _BASE.parts:
        mask = (1 << msb - lsb + 1) - 1
        yield Word(register + (word - _FIRST_WORD) * WORD_BYTES, (value & mask) << lsb, mask << lsb)
        value >>= msb - lsb + 1


def _holds_address(kind: TileKind, offset: int) -> bool:
    """Whether the register at ``offset`` of an interface tile is the lower half of a Base_Address."""
    bd, rest = divmod(offset - kind.bd_base, kind.bd_stride)
    return 0 <= bd < kind.bds and rest == _FIRST_WORD * WORD_BYTES


def pointer_problems(operation: Other, shape: ArrayShape) -> Iterator[Problem]:
    """What keeps a pointer patch from being done on an array of ``shape``."""
    pointer = pointer_of(operation)
    if pointer is None:
        yield Problem(
            reason="operation_size",
            where=operation.place or "program",
            field=PATCH,
            given=f"{len(operation.payload)} bytes",
            allowed="a size that is known",
            source=_SOURCE,
            says=f"the {PATCH} has {len(operation.payload)} bytes, which is no known size",
        )
        return
    column, row, offset = locate(pointer.register)
    kind = shape.kind(column, row)
    inside = kind is not None and kind.role == "interface" and shape.has_dma(column, row)
    if kind is None or not inside or not _holds_address(kind, offset):
        yield Problem(
            reason="patch",
            where=operation.place or "program",
            field="register",
            given=f"{pointer.register:#010x}",
            allowed="lower halves of Base_Address in interface tile descriptors",
            source=_SOURCE,
            says=f"the patch is for {pointer.register:#010x}; it must be for the lower half of "
            "Base_Address in a descriptor of an interface tile",
        )
    if pointer.offset % WORD_BYTES:
        yield Problem(
            reason="alignment",
            where=operation.place or "program",
            field="argument offset",
            given=f"{pointer.offset} bytes",
            allowed=f"a multiple of {WORD_BYTES}",
            source=_SOURCE,
        )
