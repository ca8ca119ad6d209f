"""The writes of hosts to descriptors that tasks use, as a program or host sequence makes them.

A descriptor is what its registers say and, in external memory, where firmware lets it point. A write that
leaves both as they were changes nothing for a task that still uses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileKind
from memtile.explain.bd_findings import line_of
from memtile.jit.structs import at_hand
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.runs.firmware import Pointer
from memtile.runs.operations import locate
from memtile.sim.loop.engine import Engine

Bd = tuple[int, int]
"""Model index of a tile, number of a BD."""


class BdWrite(NamedTuple):
    """A descriptor that a host changes after a task was given it.

    Attributes:
        host: that writes.
        step: how many steps the host has done before.
        bd: the tile and the number.
        place: where the write is said; empty if nobody knows.
    """

    host: int
    step: int
    bd: Bd
    place: str


def words_of_bd(engine: Engine, tile: int, number: int) -> tuple[int, ...]:
    """What the registers of a descriptor have."""
    kind, kinds = int(engine.tiles.kind[tile]), at_hand(engine.spec).kinds
    words = int(kinds.bd_words[kind])
    first = int(engine.tiles.register_base[tile] + kinds.bd_register[kind]) + number * words
    return tuple(engine.state.registers[first : first + words].tolist())


@dataclass(slots=True)
class BdWrites:
    """Notes which descriptors of tasks change.

    Args:
        engine: the model.

    Attributes:
        found: in order.
        again: by tile the descriptors that are written twice before a task is given them, and where.
    """

    engine: Engine
    found: list[BdWrite] = field(default_factory=list)
    again: dict[int, list[tuple[int, str, str]]] = field(default_factory=dict)
    _fresh: dict[Bd, str] = field(default_factory=dict)  # written since a task was given them
    _known: dict[Bd, object] = field(default_factory=dict)  # as they were when they were looked at last
    _pointers: dict[Bd, Pointer] = field(default_factory=dict)
    _written: dict[Bd, str] = field(default_factory=dict)  # since then
    _tiles: dict[tuple[int, int], list[int]] = field(default_factory=dict)  # by column and row
    _kinds: list[TileKind] = field(init=False)  # by tile

    def __post_init__(self) -> None:
        tiles = self.engine.tiles
        self._kinds = [TILE_KINDS[KIND_NAMES[kind]] for kind in tiles.kind.tolist()]
        for tile, at in enumerate(zip(tiles.column.tolist(), tiles.row.tolist(), strict=True)):
            self._tiles.setdefault(at, []).append(tile)

    def use(self, bds: Mapping[Bd, tuple[int, ...]]) -> None:
        """A task is given descriptors, whose registers have these words now."""
        for bd in bds:
            self._fresh.pop(bd, None)
        self._known.update((bd, (words, self._pointers.get(bd))) for bd, words in bds.items())

    def write(self, address: int, words: int, place: str) -> None:
        """The host writes words, from a byte address of the array on."""
        for bd in self._at(address, words):
            before = self._fresh.get(bd, place)
            if before != place:
                self.again.setdefault(bd[0], []).append((bd[1], before, place))
            self._fresh[bd] = place
            self._pointers.pop(bd, None)
            self._written.setdefault(bd, place)

    def point(self, pointer: Pointer, place: str) -> None:
        """Firmware lets a descriptor point to a place in external memory."""
        for bd in self._at(pointer.register, 1):
            self._pointers[bd] = pointer
            self._written.setdefault(bd, place)

    def look(self, place: str) -> None:
        """Look at all that are known: nobody says which of them are written."""
        for bd in self._known:
            self._written.setdefault(bd, place)

    def accept(self, bds: Iterable[Bd]) -> None:
        """The host has written descriptors of which it saw that their tasks have ended."""
        for bd in bds:
            self._written.pop(bd, None)
            self._known[bd] = self._as_it_is(bd)

    def twice(self, tile: int) -> tuple[int, str, str] | None:
        """A descriptor of a tile that is written over: its number, what it was for, and where."""
        for number, first, place in self.again.get(tile, ()):
            return number, f"which {line_of(first)} wrote and no task was given", place
        found = (write for write in self.found if write.bd[0] == tile)
        return next(((write.bd[1], "which a task was given", write.place) for write in found), None)

    def settle(self, host: int, step: int) -> None:
        """Note what has changed, before the host does its next step."""
        if not self._written:
            return
        for bd, place in self._written.items():
            if bd in self._known and (now := self._as_it_is(bd)) != self._known[bd]:
                self._known[bd] = now
                self.found.append(BdWrite(host, step, bd, place))
        self._written.clear()

    def _as_it_is(self, bd: Bd) -> object:
        return words_of_bd(self.engine, *bd), self._pointers.get(bd)

    def are_within(self, address: int, words: int) -> bool:
        """Whether all words from a byte address of the array on are registers of descriptors."""
        column, row, offset = locate(address)
        kinds = (self._kinds[tile] for tile in self._tiles.get((column, row), ()))
        return any(
            kind.bd_base <= offset and offset + words * WORD_BYTES <= kind.bd_base + kind.bds * kind.bd_stride
            for kind in kinds
        )

    def _at(self, address: int, words: int) -> Iterator[Bd]:
        """The descriptors that have any of the words."""
        column, row, offset = locate(address)
        for tile in self._tiles.get((column, row), ()):
            kind = self._kinds[tile]
            first, last = offset - kind.bd_base, offset + (words - 1) * WORD_BYTES - kind.bd_base
            numbers = range(max(first // kind.bd_stride, 0), min(last // kind.bd_stride + 1, kind.bds))
            yield from ((tile, number) for number in numbers)
