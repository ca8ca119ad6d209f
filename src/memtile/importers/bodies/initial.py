"""What the ELF files of cores would bring: buffers of compute tiles that are not empty at the start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memtile.arch.tiles import WORD_BYTES
from memtile.importers.mlir.configure import Configured
from memtile.io.program.register_image import is_program_memory
from memtile.runs.operations import ArrayShape, BlockWrite, Operation, address_of, locate, words_written


def contents(
    made: Configured, operations: Iterable[Operation], shape: ArrayShape
) -> tuple[Sequence[Operation], Sequence[str]]:
    """Writes of the initial contents of buffers in those compute tiles whose ELF file the program lacks.

    Args:
        made: the device in an array of its own, to which nothing was done.
        operations: of the program; those that load program memory have the ELF file's data too.
        shape: of the array.

    Returns:
        The writes, and the names of the buffers.
    """
    loaded = _loaded(operations, shape)
    writes, names = list[Operation](), list[str]()
    for name, described in made.device.buffers.items():
        if described.initial is None or not described.tile:
            continue
        buffer = made.buffers[name]
        place = made.tiles[described.tile].place
        if place is None or place in loaded or place[1] not in shape.compute_rows:
            continue
        first = buffer.offset // WORD_BYTES * WORD_BYTES
        last = buffer.offset + buffer.nbytes
        door = made.array.engine.door(made.tiles[described.tile].index)
        words = tuple(door.read32(offset) for offset in range(first, last, WORD_BYTES))
        writes.append(BlockWrite(address_of(*place, first), words))
        names.append(buffer.name)
    return writes, names


def _loaded(operations: Iterable[Operation], shape: ArrayShape) -> set[tuple[int, int]]:
    """Column and row of each tile whose program memory is written."""
    return set(_program_writes(operations, shape))


def _program_writes(operations: Iterable[Operation], shape: ArrayShape) -> Iterator[tuple[int, int]]:
    for operation in operations:
        word = next(iter(words_written(operation)), None)
        if word is None:
            continue
        column, row, offset = locate(word.address)
        kind = shape.tile(column, row)
        if kind is not None and is_program_memory(kind, offset):
            yield column, row
