"""Programs of register accesses on a model: what it cannot do is refused before the first word is written."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol

import numpy as np

from memtile.arch.devices import ARRAY_BASE
from memtile.arch.tiles import TILE_BYTES, TILE_KINDS, WORD_BYTES, TileName
from memtile.errors import InputFileError, Problem, RegisterError, SimulationError, raise_if
from memtile.model.register_tables import answering
from memtile.runs.operation_table import Code, OperationTable, marked, table_of
from memtile.runs.operations import (
    WORD_MAX,
    ArrayShape,
    BlockWrite,
    MaskPoll,
    MaskWrite,
    Operation,
    Other,
    Write,
    locate,
    words_written,
)

_BY_YOURSELF = "Run what this operation asks for yourself."
_FROM_TEXT = "Run the design from its MLIR text, with the parameters of its scratchpad."
_ASKS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "LOAD_PM_START": (
            "loads programs of cores from a buffer of the runtime, whose layout is not public",
            "Run the design from its MLIR text, whose cores bring their bodies.",
        ),
        "CREATE_SCRATCHPAD": ("has firmware use memory that the host fills", _FROM_TEXT),
        "UPDATE_STATE_TABLE": ("has firmware compute with words of the host", _FROM_TEXT),
        "UPDATE_SCRATCH": ("has firmware compute with words of the host", _FROM_TEXT),
    }
)
"""What operations ask for that are no register accesses, and what to do instead."""
_MAP = "AM025 memory map"
Advance = Callable[[], bool]
Handler = Callable[[Other], None]
Missed = Callable[[Problem], None]
_NO_HANDLERS: Mapping[str, Handler] = MappingProxyType({})
_WRITES = (Write, MaskWrite, BlockWrite)
_HOLES = ("unmapped", "no_dma")


def warn(problem: Problem) -> None:
    """Tell a write that nothing answers as a warning of Python."""
    warnings.warn(problem.message, stacklevel=3)


class Target(Protocol):
    """What takes register accesses at absolute byte addresses."""

    def write32(self, address: int, value: int, /) -> None:
        """Write one word."""

    def mask_write32(self, address: int, mask: int, value: int, /) -> None:
        """Replace the bits of ``mask``."""

    def block_write32(self, address: int, words: Sequence[int], /) -> None:
        """Write consecutive words."""

    def poll(self, address: int, mask: int, value: int, advance: Advance, /) -> bool:
        """Read until ``word & mask == value``, or until ``advance`` says that it will never come."""


def apply(
    operations: Sequence[Operation],
    target: Target,
    shape: ArrayShape,
    *,
    advance: Advance = lambda: False,
    handlers: Mapping[str, Handler] = _NO_HANDLERS,
    before: Callable[[Operation], None] = lambda _: None,
    together: Callable[[OperationTable, int], int] = lambda _, __: 0,
    checked: bool = False,
    missed: Missed = warn,
) -> None:
    """Do all operations in order on ``target``.

    A write to an unmapped address is dropped, as the array does it with an error (DEV-TXN-3), and reported.

    Args:
        operations: the program.
        target: the door of an array.
        shape: of that array.
        advance: lets time pass between the reads of a poll; False = nothing will change any more.
        handlers: functions for operations other than register accesses, by name; any other operation with an
            effect is an error.
        before: called before each operation.
        together: executes operations from a given one on and returns their number; 0 = that one is executed
            alone.
        checked: :func:`check` has found nothing.
        missed: called with each write to an unmapped address; the default issues a Python warning.

    Raises:
        InputFileError: something cannot be done on this array; all problems at once, nothing was written.
            Only an access to a column whose clock is off, or that is in reset, is found during execution:
            earlier operations have been done.
        SimulationError: a poll never read its value; earlier operations have been done.
    """
    operations = table_of(operations)
    if not checked:
        raise_if(check(operations, shape, handlers.keys()), InputFileError)
    done = 0
    while done < len(operations):
        if count := together(operations, done):
            done += count
            continue
        operation = operations[done]
        done += 1
        before(operation)
        try:
            _do(operation, target, advance, handlers)
        except RegisterError as error:
            if not _is_unmapped(error) or not isinstance(operation, _WRITES):
                raise InputFileError(_placed(operation, error)) from error
            _write_rest(operation, target)
            for problem in _holes(operation, shape):
                missed(problem)


def _is_unmapped(error: RegisterError) -> bool:
    return [problem.reason in _HOLES for problem in error.problems] == [True]


def _placed(operation: Operation, error: RegisterError) -> list[Problem]:
    where = operation.place or "program"
    return [replace(problem, where=f"{where}, {problem.where}") for problem in error.problems]


def _write_rest(operation: Operation, target: Target) -> None:
    """Write the words of a block that something answers: the door has taken none of them."""
    if not isinstance(operation, BlockWrite):
        return
    for n, word in enumerate(operation.words):
        try:
            target.write32(operation.address + n * WORD_BYTES, word)
        except RegisterError as error:
            if not _is_unmapped(error):
                raise InputFileError(_placed(operation, error)) from error


def _do(operation: Operation, target: Target, advance: Advance, handlers: Mapping[str, Handler]) -> None:
    match operation:
        case Write(address, value):
            target.write32(address, value)
        case MaskWrite(address, mask, value):
            target.mask_write32(address, mask, value)
        case BlockWrite(address, words):
            target.block_write32(address, words)
        case MaskPoll(address, mask, value):
            if not target.poll(address, mask, value, advance):
                raise SimulationError(_timed_out(operation))
        case Other(name, acts=True) if name in handlers:
            handlers[name](operation)


def unanswered(operations: Sequence[Operation], shape: ArrayShape) -> list[Problem]:
    """Return every write of a program to an address that no part of such an array answers."""
    table = table_of(operations)
    writes = (table[n] for n in _doubtful(table, shape))
    return [problem for operation in writes for problem in _holes(operation, shape)]


def _holes(operation: Operation, shape: ArrayShape) -> Iterator[Problem]:
    """The first word of a write that nothing in its tile answers, if there is one."""
    if isinstance(operation, _WRITES):
        words = len(operation.words) if isinstance(operation, BlockWrite) else 1
        found = _address_problems(operation.address, words, shape, operation.place or "program")
        yield from (problem for problem in found if problem.reason in _HOLES)


def check(operations: Sequence[Operation], shape: ArrayShape, handled: Collection[str] = ()) -> list[Problem]:
    """Return all operations that an array of this shape cannot do; ``handled`` names allowed ones.

    Writes that nothing answers are no such thing, see :func:`unanswered`.
    """
    table = table_of(operations)
    return [problem for n in _doubtful(table, shape) for problem in _problems(table[n], shape, handled)]


def _doubtful(table: OperationTable, shape: ArrayShape) -> list[int]:
    """Numbers of the operations that are not known to be good: accesses are looked at all at once."""
    code, address, value, _, _, words = table.columns
    lengths = table.lengths
    good = (code != Code.OTHER) & (address >= 0) & (address % WORD_BYTES == 0)
    good &= (lengths > 0) & (address % TILE_BYTES + lengths * WORD_BYTES <= TILE_BYTES)
    good &= marked(table, shape, answering) == lengths
    good &= (code == Code.BLOCK_WRITE) | ((value >= 0) & (value <= WORD_MAX))
    if len(words) and words.dtype != np.uint32 and not 0 <= words.min() <= words.max() <= WORD_MAX:
        good &= code != Code.BLOCK_WRITE
    return np.flatnonzero(~good).tolist()


def _problems(operation: Operation, shape: ArrayShape, handled: Collection[str]) -> Iterator[Problem]:
    where = operation.place or "program"
    if isinstance(operation, Other):
        if operation.acts and operation.name not in handled:
            asks, step = _ASKS.get(operation.name, ("is no register access", _BY_YOURSELF))
            yield Problem(
                "operation",
                operation.name,
                "register accesses",
                f"the operation {operation.name} {asks}",
                step,
                reason="operation",
                where=where,
                source="the model takes register accesses",
            )
        return
    yield from _value_problems(operation, where)
    if isinstance(operation, MaskPoll):
        yield from _address_problems(operation.address, 1, shape, where)
    elif isinstance(operation, _WRITES):
        words = len(operation.words) if isinstance(operation, BlockWrite) else 1
        found = _address_problems(operation.address, words, shape, where)
        yield from (problem for problem in found if problem.reason not in _HOLES)


def _value_problems(operation: Operation, where: str) -> Iterator[Problem]:
    if isinstance(operation, BlockWrite) and operation.words and _are_words(operation.words):
        return
    for address, value, _ in words_written(operation):
        if not 0 <= value <= WORD_MAX:
            yield Problem(
                f"{address:#010x}",
                hex(value),
                f"0x0..{WORD_MAX:#x}",
                f"the value for {address:#010x} is {value:#x}, allowed are 0x0..{WORD_MAX:#x}",
                reason="register_value",
                where=where,
                source=_MAP,
            )


def _are_words(values: Sequence[int]) -> bool:
    return min(values) >= 0 and max(values) <= WORD_MAX


def _address_problems(address: int, words: int, shape: ArrayShape, where: str) -> Iterator[Problem]:
    column, row, offset = locate(address)
    given = f"{address:#010x}"
    kind = shape.tile(column, row)
    if kind is None:
        allowed = f"columns 0..{shape.columns - 1}, rows 0..{shape.rows - 1}"
        yield Problem(
            "address",
            f"{given} (column {column}, row {row})",
            allowed,
            f"address {given} is in column {column}, row {row}; the array has {allowed}",
            _other_base(address, shape),
            reason="tile",
            where=where,
            source=_MAP,
        )
    elif offset % WORD_BYTES:
        yield Problem(
            "address", given, f"a multiple of {WORD_BYTES:#x}", reason="alignment", where=where, source=_MAP
        )
    elif offset + words * WORD_BYTES > TILE_BYTES:
        yield Problem(
            "size",
            f"{words} words from {given} on",
            "words of one tile",
            f"{words} words from {given} on are more than one tile has",
            reason="block",
            where=where,
            source=_MAP,
        )
    else:
        yield from _hole(column, row, kind, range(offset, offset + words * WORD_BYTES), shape, where)


def _hole(
    column: int, row: int, kind: TileName, offsets: range, shape: ArrayShape, where: str
) -> Iterator[Problem]:
    """The first word of ``offsets`` of a tile at which nothing answers, if there is one."""
    words = slice(offsets.start // WORD_BYTES, offsets.stop // WORD_BYTES)
    answered = answering(kind, shape.has_dma(column, row))[words]
    if answered.all():
        return
    hole = offsets.start + int(answered.argmin()) * WORD_BYTES
    given = f"offset {hole:#07x} of the {TILE_KINDS[kind].title} at column {column}, row {row}"
    lacks_dma = bool(answering(kind, has_dma=True)[hole // WORD_BYTES])
    reason = "which has no DMA" if lacks_dma else "where there is neither data memory nor a register"
    yield Problem(
        "address",
        given,
        "interface tiles that have a DMA" if lacks_dma else "data memory and registers of the map",
        f"nothing answers at {given}, {reason}",
        reason="no_dma" if lacks_dma else "unmapped",
        where=where,
        source="device table" if lacks_dma else _MAP,
    )


def _other_base(address: int, shape: ArrayShape) -> str:
    """What to do about an address that counts from the array's usual place in the system."""
    column, row, _ = locate(address - ARRAY_BASE)
    inside = address >= ARRAY_BASE and shape.tile(column, row) is not None
    return f"If addresses count from {ARRAY_BASE:#x}, say so with --base." if inside else ""


def _timed_out(poll: MaskPoll) -> Problem:
    return Problem(
        "mask poll",
        f"a word at {poll.address:#010x} that never had it",
        f"{poll.value:#x} in the bits of {poll.mask:#x}",
        f"the mask poll waits for {poll.value:#x} in the bits {poll.mask:#x} of the word at "
        f"{poll.address:#010x}, which never came",
        reason="poll",
        where=poll.place or "program",
        source="the program itself",
    )
