"""Names and places of locks, cores and lines of a text, as findings have them."""

from __future__ import annotations

from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import CoreDescription
from memtile.importers.mlir.tree import Operation
from memtile.jit.tables import plain


def lock_name(made: Configured, value: str) -> str:
    """``lock 1 'x_full' of tile (0, 2)``."""
    lock = made.locks.get(value)
    if lock is None:
        return f"lock {value}"  # a number that the body gives it, which only a run knows
    name = f" {lock.name!r}" if lock.name else ""
    return f"lock {lock.id}{name} of tile {_at(lock.place)}"


def _at(place: tuple[int, int] | None) -> str:
    assert place is not None  # tiles of an array have one
    return f"({place[0]}, {place[1]})"


def number_of(made: Configured, value: str) -> int:
    """Index of a lock among all of the model; -1 = there is none."""
    lock = made.locks.get(value)
    if lock is None or lock.place is None:
        return -1
    return int(plain(made.array.engine.spec.tiles).lock_base[made.array.tile(*lock.place).index]) + lock.id


def tile_of(made: Configured, core: CoreDescription) -> int:
    """Model index of the tile of a core."""
    return made.tiles[core.tile].index


def core_text(made: Configured, core: CoreDescription) -> str:
    """``core (0, 2)``."""
    return f"core {_at(made.tiles[core.tile].place)}"


def place_of(operation: Operation) -> str:
    """``design.mlir:41``, or the line of the program that wrote the text."""
    text = operation.tokens.text
    where = text.where(operation.tokens.offset(operation.at))
    return where if text.places else where.rpartition(":")[0]


def line_of(operation: Operation) -> str:
    """``line 41``; with the name of the file where that is another one than the text's."""
    file, _, line = place_of(operation).rpartition(":")
    return f"line {line}" if file == operation.tokens.text.name else f"{file}:{line}"
