"""What firmware does beside register accesses: addresses of arguments, loads of PDIs, sums into registers.

A pointer patch sets Base_Address of an interface tile descriptor to the address of a kernel argument plus an
offset; what the descriptor had there is gone (DEV-TXN-1). For a load of a PDI firmware resets the array, then
does what the PDI says (DEV-PDI-1): a reader that has it puts its operations behind the load and says how many
they are; a load whose PDI is not there cannot be done. An update of a register pair adds a number of the
scratchpad to an address: it changes 48 bits and leaves no byte address within a word (mlir-aie,
``npu.update_from_scratchpad``); words of the scratchpad count as unsigned numbers (DEV-SCRATCH-1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, Protocol

from memtile.arch.devices import HOST_APERTURE, TRANSLATED_ARGUMENTS
from memtile.arch.tiles import INTERFACE, WORD_BYTES, TileKind
from memtile.errors import Problem
from memtile.runs.operations import WORD_MAX, ArrayShape, BlockWrite, Operation, Other, Word, locate
from memtile.runs.register_writes import check

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
            PATCH,
            f"{len(operation.payload)} bytes",
            "a size that is known",
            f"the {PATCH} has {len(operation.payload)} bytes, which is no known size",
            reason="operation_size",
            where=operation.place or "program",
            source=_SOURCE,
        )
        return
    column, row, offset = locate(pointer.register)
    kind = shape.kind(column, row)
    inside = kind is not None and kind.role == "interface" and shape.has_dma(column, row)
    if kind is None or not inside or not _holds_address(kind, offset):
        yield Problem(
            "register",
            f"{pointer.register:#010x}",
            "lower halves of Base_Address in interface tile descriptors",
            f"the patch is for {pointer.register:#010x}; it must be for the lower half of "
            "Base_Address in a descriptor of an interface tile",
            reason="patch",
            where=operation.place or "program",
            source=_SOURCE,
        )
    if pointer.offset % WORD_BYTES:
        yield Problem(
            "argument offset",
            f"{pointer.offset} bytes",
            f"a multiple of {WORD_BYTES}",
            reason="alignment",
            where=operation.place or "program",
            source=_SOURCE,
        )


LOAD = "LOADPDI"
PROGRAM = "program"
"""A detail of a load: the number of the kernels that its cores run then."""
_FOLLOWING = "operations"
_LOAD_SOURCE = "mlir-aie's npu.load_pdi"


def loaded(operation: Other, operations: int) -> Other:
    """A load whose PDI is known: so many operations behind it are the PDI's; 0 = firmware skips it."""
    details = (*operation.details, (_FOLLOWING, operations))
    return replace(operation, details=details, acts=operations > 0)


def is_loaded(operation: Other) -> bool:
    """Whether the operations of the PDI follow."""
    return operation.name == LOAD and _FOLLOWING in dict(operation.details)


def following(operation: Other) -> int:
    """How many operations behind a load are those of its PDI."""
    return dict(operation.details).get(_FOLLOWING, 0)


def with_program(operation: Other, number: int, more: int = 0) -> Other:
    """A load whose cores run the kernels of that number, with so many operations more behind it."""
    known = {name: value for name, value in operation.details if name not in (_FOLLOWING, PROGRAM)}
    details = (*known.items(), (PROGRAM, number), (_FOLLOWING, following(operation) + more))
    return replace(operation, details=details)


def load_problems(operation: Other, _shape: ArrayShape) -> Iterator[Problem]:
    """What keeps a load from being done: nobody gave the PDI."""
    if is_loaded(operation):
        return
    number = dict(operation.details).get("id", 0)
    yield Problem(
        LOAD,
        f"PDI {number}, which is not in the files",
        "a PDI that the file has",
        f"the program loads PDI {number}, which is not in the files",
        "Give the ELF file that has the instructions and the PDIs (aiecc --get-full-elf).",
        reason="pdi",
        where=operation.place or "program",
        source=_LOAD_SOURCE,
    )


CREATE = "CREATE_SCRATCHPAD"
UPDATE = "UPDATE_REG"
FUNCTIONS = ("mul", "incr", "decr")
"""What becomes of a word and the argument, by the number of the function."""
WORD = "word"
"""A detail of an update: the word of the scratchpad, where somebody knows it."""
_WORD_BITS = 8 * WORD_BYTES
_LOW = WORD_MAX & -WORD_BYTES  # no byte within a word
_HIGH = (1 << 16) - 1  # of the 48 bits those in the second word
_UPDATE_SOURCE = "mlir-aie's npu.update_from_scratchpad"


class ReadsAndWrites(Protocol):
    """The door of an array."""

    def read32(self, offset: int) -> int:
        """Read one word."""

    def write32(self, offset: int, value: int) -> None:
        """Write one word."""


def update(door: ReadsAndWrites, operation: Other) -> None:
    """Add what an update says to the pair of words at its address.

    Args:
        door: of the array.
        operation: with the function, its argument, the address and the word of the scratchpad.
    """
    said = dict(operation.details)
    at, word, argument = said["address"], said[WORD], said["argument"]
    change = (word * argument, word + argument, word - argument)[said["function"]]
    low, high = door.read32(at), door.read32(at + WORD_BYTES)
    total = ((high & _HIGH) << _WORD_BITS | low & _LOW) + change
    door.write32(at, total & _LOW)
    door.write32(at + WORD_BYTES, high & ~_HIGH & WORD_MAX | total >> _WORD_BITS & _HIGH)


def update_problems(operation: Other, shape: ArrayShape) -> Iterator[Problem]:
    """What keeps an update from being done: nobody gave the scratchpad, or nothing answers there."""
    said, where = dict(operation.details), operation.place or "program"
    if WORD not in said:
        yield Problem(
            UPDATE,
            f"word {said.get('index', 0)} of the scratchpad, which has no value",
            "a word that the host has written",
            f"the program adds word {said.get('index', 0)} of the scratchpad, which has no value",
            "Run the design from its MLIR text, with the parameters of its scratchpad.",
            reason="scratchpad",
            where=where,
            source=_UPDATE_SOURCE,
        )
    elif said["function"] not in range(len(FUNCTIONS)):
        yield Problem(
            "function",
            str(said["function"]),
            ", ".join(f"{n} = {name}" for n, name in enumerate(FUNCTIONS)),
            reason="scratchpad",
            where=where,
            source=_UPDATE_SOURCE,
        )
    else:
        yield from check([BlockWrite(said["address"], (0, 0), place=where)], shape)
