"""Operations of a program in columns: what many of them have in common is done by NumPy at once.

A table is a sequence of operations; one that was read from a file makes an object of an operation only when
somebody looks at it. What is searched for, words of a tile, is a bool for each word, by kind of the tile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from functools import cache, lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from memtile.arch.registers import Acts, Register
from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT, TILE_BYTES, TILE_KINDS, WORD_BYTES, TileName
from memtile.model.register_tables import registers_of
from memtile.runs import operations as ops
from memtile.sim.kernels.core_control import control_register

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
WordsOf = Callable[[TileName, bool], Bools]

TILE_WORDS = TILE_BYTES // WORD_BYTES


class Code(IntEnum):
    """What an operation is, as far as the columns say it."""

    OTHER = 0  # none of these, or with numbers that no column can have
    WRITE = 1
    MASK_WRITE = 2
    BLOCK_WRITE = 3
    MASK_POLL = 4


class Columns(NamedTuple):
    """Columns of a table, an element for each operation.

    Attributes:
        code: a :class:`Code`.
        address: byte address in the array.
        value: of a write or poll; of a block the number of its first word in ``words``.
        mask: bits that count; of a block how many words it has.
        firmware: whether firmware carries it out.
        words: of all blocks, and maybe others between them.
    """

    code: Ints
    address: Ints
    value: Ints
    mask: Ints
    firmware: Bools
    words: npt.NDArray[Any]


class OperationTable(Sequence[ops.Operation]):
    """Operations as a sequence, and in columns.

    Args:
        columns: the numbers of all.
        make: makes the operation of a number.
        first: the number of the first one.
    """

    def __init__(self, columns: Columns, make: Callable[[int], ops.Operation], first: int = 0) -> None:
        self.columns, self._make, self._first = columns, make, first
        self._begins: tuple[ops.ArrayShape, Ints] | None = None

    def __len__(self) -> int:
        return len(self.columns.code)

    @overload
    def __getitem__(self, which: int) -> ops.Operation: ...

    @overload
    def __getitem__(self, which: slice) -> Sequence[ops.Operation]: ...

    def __getitem__(self, which: int | slice) -> ops.Operation | Sequence[ops.Operation]:
        numbers = range(len(self))[which]
        if isinstance(numbers, int):
            return self._make(self._first + numbers)
        if numbers.step != 1:
            return tuple(map(self.__getitem__, numbers))
        here, all_of_them = slice(numbers.start, numbers.stop), self.columns
        columns = all_of_them._replace(
            code=all_of_them.code[here],
            address=all_of_them.address[here],
            value=all_of_them.value[here],
            mask=all_of_them.mask[here],
            firmware=all_of_them.firmware[here],
        )
        return OperationTable(columns, self._make, self._first + numbers.start)

    def __iter__(self) -> Iterator[ops.Operation]:
        return map(self._make, range(self._first, self._first + len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OperationTable | tuple) or len(self) != len(other):
            return False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __add__(self, more: Iterable[ops.Operation]) -> tuple[ops.Operation, ...]:
        return (*self, *more)

    def __radd__(self, before: Iterable[ops.Operation]) -> tuple[ops.Operation, ...]:
        return (*before, *self)

    def __repr__(self) -> str:
        return f"OperationTable({len(self)} operations)"

    def of_code(self, *codes: Code) -> Iterator[ops.Operation]:
        """Those that are one of ``codes``, in order."""
        return map(self.__getitem__, np.flatnonzero(np.isin(self.columns.code, codes)).tolist())

    def writing(self, shape: ops.ArrayShape, words_of: WordsOf) -> Bools:
        """Which operations write a word of the array that has a mark.

        Args:
            shape: of the array.
            words_of: marks of the words of a tile, by its kind and whether it has a DMA.
        """
        code = self.columns.code
        writes = (code == Code.WRITE) | (code == Code.MASK_WRITE) | (code == Code.BLOCK_WRITE)
        found: Bools = writes & (marked(self, shape, words_of) > 0)
        return found

    def begins(self, shape: ops.ArrayShape) -> Ints:
        """The word that each operation begins at: in its tile, behind those of all kinds of tiles before.

        Kinds are numbered as in the array; where there is no tile it is one of a kind behind the last one.
        """
        if self._begins is None or self._begins[0] != shape:  # asked for by several checks of one array
            kinds, kind_of_tile = _kinds(shape)
            tiles = self.columns.address >> ROW_SHIFT
            there = (tiles >= 0) & (tiles < len(kind_of_tile) - 1)
            kind = np.where(there, kind_of_tile[np.where(there, tiles, 0)], -1) % (len(kinds) + 1)
            words = self.columns.address % TILE_BYTES // WORD_BYTES
            self._begins = shape, kind * TILE_WORDS + words
        return self._begins[1]

    @property
    def lengths(self) -> Ints:
        """How many words from its address on each operation reads or writes."""
        lengths: Ints = np.where(self.columns.code == Code.BLOCK_WRITE, self.columns.mask, 1)
        return lengths


def marked(table: OperationTable, shape: ops.ArrayShape, words_of: WordsOf) -> Ints:
    """How many words with a mark each operation reads or writes; 0 where there is no tile."""
    kinds, _ = _kinds(shape)
    begins = table.begins(shape)
    marks = np.zeros((len(kinds) + 1, TILE_WORDS), np.bool_)
    for row, known in enumerate(kinds):
        marks[row] = words_of(*known)
    found = marks.reshape(-1)[begins].astype(np.int64)
    longer = np.flatnonzero((table.columns.code == Code.BLOCK_WRITE) & (table.columns.mask != 1))
    if len(longer):
        counts = np.zeros((len(marks), TILE_WORDS + 1), np.int64)
        np.cumsum(marks, axis=1, out=counts[:, 1:])
        kind, words = begins[longer] // TILE_WORDS, begins[longer] % TILE_WORDS
        ends = np.minimum(words + table.columns.mask[longer], TILE_WORDS)
        found[longer] = counts[kind, ends] - counts[kind, words]
    return found


@lru_cache(maxsize=8)
def _kinds(shape: ops.ArrayShape) -> tuple[list[tuple[TileName, bool]], Ints]:
    """Kinds of tiles, each with and without DMA, and their numbers by ``address >> ROW_SHIFT``."""
    rows = 1 << COLUMN_SHIFT - ROW_SHIFT
    kinds: dict[tuple[TileName, bool], int] = {}
    found = np.full(shape.columns * rows + 1, -1)
    for column in range(shape.columns):
        for row in range(min(shape.rows, rows)):
            kind = shape.tile(column, row)
            if kind is not None:
                known = kind, shape.has_dma(column, row)
                found[column * rows + row] = kinds.setdefault(known, len(kinds))
    return list(kinds), found


_CODES: dict[type, int] = {
    ops.Write: int(Code.WRITE),
    ops.MaskWrite: int(Code.MASK_WRITE),
    ops.BlockWrite: int(Code.BLOCK_WRITE),
    ops.MaskPoll: int(Code.MASK_POLL),
}  # members of an enum are slow to make numbers of


def table_of(operations: Sequence[ops.Operation]) -> OperationTable:
    """The table of any operations; one that is a table already stays as it is."""
    if isinstance(operations, OperationTable):
        return operations
    given: Sequence[Any] = tuple(operations)
    codes = np.array([_CODES.get(kind, 0) for kind in map(type, given)], np.int64)
    blocks = [given[n] for n in np.flatnonzero(codes == Code.BLOCK_WRITE).tolist()]
    words = _whole(list(chain.from_iterable(block.words for block in blocks)))
    if words is None:  # those of some block are none, or too large
        odd = [
            n for n, each in enumerate(given) if codes[n] == Code.BLOCK_WRITE and _whole(each.words) is None
        ]
        codes[odd] = Code.OTHER
        blocks = [given[n] for n in np.flatnonzero(codes == Code.BLOCK_WRITE).tolist()]
        words = np.array(list(chain.from_iterable(block.words for block in blocks)), np.int64)
    numbers = {name: np.zeros(len(given), np.int64) for name in ("address", "value", "mask")}
    _put_blocks(codes, numbers, blocks)
    single = (codes != Code.OTHER) & (codes != Code.BLOCK_WRITE)
    numbers["mask"][codes == Code.WRITE] = ops.WORD_MAX
    for name, some in (
        ("address", codes != Code.OTHER),
        ("value", single & (codes != Code.OTHER)),
        ("mask", (codes == Code.MASK_WRITE) | (codes == Code.MASK_POLL)),
    ):
        which = np.flatnonzero(some)
        those = given if len(which) == len(given) else [given[n] for n in which.tolist()]
        values = list(map(attrgetter(name), those))
        found = _whole(values)
        if found is None:  # some number is none, or too large
            fits = np.array([_whole([value]) is not None for value in values])
            codes[which[~fits]] = Code.OTHER
            which = which[fits]
            found = np.array([value for value in values if _whole([value]) is not None], np.int64)
        numbers[name][which] = found
    firmware = np.array(list(map(attrgetter("firmware"), given)), np.bool_)
    columns = Columns(codes, **numbers, firmware=firmware, words=words)
    return OperationTable(columns, given.__getitem__)


def _put_blocks(codes: Ints, numbers: dict[str, Ints], blocks: Sequence[ops.BlockWrite]) -> None:
    """Where the words of each block are, and how many."""
    lengths = np.array([len(block.words) for block in blocks], np.int64)
    here = codes == Code.BLOCK_WRITE
    numbers["mask"][here] = lengths
    numbers["value"][here] = np.cumsum(lengths) - lengths


def _whole(values: Sequence[Any]) -> Ints | None:
    """Whole numbers as a column; None if they are none, or one has more than 63 bits."""
    if not values:
        return np.zeros(0, np.int64)
    try:
        found = np.array(values)
    except (OverflowError, ValueError):
        return None
    whole = found.dtype.kind == "i" or (found.dtype.kind == "u" and found.itemsize < WORD_BYTES * 2)
    return found.astype(np.int64) if whole else None


def joined(parts: Sequence[Sequence[ops.Operation]]) -> OperationTable:
    """The operations of all parts in one table, in order."""
    tables = [table_of(part) for part in parts]
    if len(tables) == 1:
        return tables[0]
    ends = np.cumsum([len(table) for table in tables])
    first_word, columns = 0, []
    for table in tables:
        shifted = table.columns.value + first_word * (table.columns.code == Code.BLOCK_WRITE)
        columns.append(table.columns._replace(value=shifted))
        first_word += len(table.columns.words)
    found = [np.concatenate(column) for column in zip(*columns, strict=True)] if columns else None

    def make(number: int) -> ops.Operation:
        which = int(np.searchsorted(ends, number, side="right"))
        return tables[which][number - (int(ends[which - 1]) if which else 0)]

    return table_of(()) if found is None else OperationTable(Columns(*found), make)


@cache
def queues(kind: TileName, _has_dma: bool = True) -> Bools:
    """Those that push a task."""
    return _those(kind, lambda register: any(field.name == "Start_BD_ID" for field in register.fields))


@cache
def clocks(kind: TileName, _has_dma: bool = True) -> Bools:
    """Those that stop clocks or reset columns."""
    return _those(kind, lambda register: register.acts is Acts.COLUMN_CLOCK)


@cache
def core_controls(kind: TileName, _has_dma: bool = True) -> Bools:
    """Those that enable or reset a core."""
    found = np.zeros(TILE_WORDS, np.bool_)
    if TILE_KINDS[kind].role == "compute":
        found[control_register(kind).offset // WORD_BYTES] = True
    return found


_REBUILDING = re.compile(r"Core_Control|Stream_Switch|.*Reset|.*_Clock_Control|Tile_Control")


@cache
def rebuilds(kind: TileName, _has_dma: bool = True) -> Bools:
    """Those that change who works, or where words go, or that reset something."""
    resets, control = TILE_KINDS[kind].has_channel_reset, "Controller_ID"
    return _those(
        kind,
        lambda register: (
            bool(_REBUILDING.match(register.name))
            or (resets and any(field.name == control for field in register.fields))
        ),
    )


@cache
def external_transfers(kind: TileName, _has_dma: bool = True) -> Bools:
    """Those of interface tiles that say what goes to external memory: descriptors, control, queues."""
    found, tile = np.zeros(TILE_WORDS, np.bool_), TILE_KINDS[kind]
    if tile.role == "interface":
        found |= queues(kind)
        found |= _those(kind, lambda register: any(f.name == "Enable_Out_of_Order" for f in register.fields))
        found[tile.bd_base // WORD_BYTES : (tile.bd_base + tile.bds * tile.bd_stride) // WORD_BYTES] = True
    return found


def _those(kind: TileName, wanted: Callable[[Register], bool]) -> Bools:
    found = np.zeros(TILE_WORDS, np.bool_)
    found[[register.offset // WORD_BYTES for register in registers_of(kind) if wanted(register)]] = True
    return found
