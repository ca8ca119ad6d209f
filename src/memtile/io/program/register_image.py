"""The registers of an array as a program leaves them, without a model: reset values and what was written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memtile.arch.core import CORE
from memtile.arch.register_map import register_at
from memtile.arch.tiles import TILE_KINDS, TileName
from memtile.runs.firmware import pointer_of, pointer_words
from memtile.runs.operations import ArrayShape, Operation, locate, words_written

Place = tuple[int, int]


def is_program_memory(kind: TileName, offset: int) -> bool:
    """Whether byte ``offset`` of a tile is in the program memory of a core."""
    inside = CORE.program_base <= offset < CORE.program_base + CORE.program_bytes
    return inside and TILE_KINDS[kind].role == "compute"


class RegisterImage:
    """Registers by tile and offset, and how many words went into memories.

    Args:
        shape: of the array.

    Attributes:
        shape: of the array.
        memory_words: words written to data memory, by tile.
        program_words: words written to program memory, by tile.
    """

    def __init__(self, shape: ArrayShape) -> None:
        self.shape = shape
        self.memory_words: dict[Place, int] = {}
        self.program_words: dict[Place, int] = {}
        self._written: dict[Place, dict[int, int]] = {}

    @property
    def places(self) -> list[Place]:
        """Tiles of which anything was written, by column and row."""
        return sorted({*self._written, *self.memory_words, *self.program_words})

    def kind(self, place: Place) -> TileName:
        """Kind of a tile of :attr:`places`."""
        kind = self.shape.tile(*place)
        assert kind is not None  # others are not entered
        return kind

    def take(self, operation: Operation) -> Iterator[tuple[Place, int, int]]:
        """Do an operation; the place, offset and value of each register that it writes."""
        pointer = pointer_of(operation)
        words = pointer_words(pointer.register, pointer.offset) if pointer else words_written(operation)
        for word in words:
            column, row, offset = locate(word.address)
            kind, place = self.shape.tile(column, row), (column, row)
            if kind is None:
                continue
            if offset < TILE_KINDS[kind].memory_bytes:
                self.memory_words[place] = self.memory_words.get(place, 0) + 1
            elif is_program_memory(kind, offset):
                self.program_words[place] = self.program_words.get(place, 0) + 1
            elif register_at(kind, offset) is not None:
                value = self.read(place, offset) & ~word.mask | word.value & word.mask
                self._written.setdefault(place, {})[offset] = value
                yield place, offset, value

    def read(self, place: Place, offset: int) -> int:
        """The value of a register; that after reset if nothing was written."""
        written = self._written.get(place, {})
        if offset in written:
            return written[offset]
        register = register_at(self.kind(place), offset)
        return register.reset if register else 0

    def written(self, place: Place) -> dict[int, int]:
        """Value by offset of the registers that were written."""
        return self._written.get(place, {})

    def after(self, operations: Iterable[Operation]) -> RegisterImage:
        """The image itself, after all operations."""
        for operation in operations:
            for _ in self.take(operation):
                pass
        return self
