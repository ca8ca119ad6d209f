"""What two states of one model differ in, by the names of the design."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtile.arch.tiles import TILE_KINDS
from memtile.documents import plain
from memtile.explain.names import channel_name
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.columns import Owner
from memtile.model.state.state_differences import Difference, differences
from memtile.sim.loop.engine import Engine

_SHOWN = 8  # differences of a column that are printed


@dataclass(frozen=True, slots=True)
class ColumnDiff:
    """One column in which the states differ.

    Attributes:
        column: its name, ``table.column``.
        count: in how many places.
        lines: the first places in words: whose it is, what it is here and what it is there.
    """

    column: str
    count: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StateDiff:
    """All columns in which two states differ; false if there are none.

    Attributes:
        columns: the columns, in the order of the state.
    """

    columns: tuple[ColumnDiff, ...]

    def __bool__(self) -> bool:
        return bool(self.columns)

    def __str__(self) -> str:
        if not self.columns:
            return "the states are equal"
        found = []
        for each in self.columns:
            many = "1 value differs" if each.count == 1 else f"{each.count} values differ"
            found.append(f"{each.column}: {many}")
            found += [f"  {line}" for line in each.lines]
            if each.count > len(each.lines):
                found.append(f"  and {each.count - len(each.lines)} more")
        return "\n".join(found)

    def as_json(self) -> list[dict[str, object]]:
        """Return plain data."""
        listed: list[dict[str, object]] = plain(self.columns)
        return listed


def state_diff(mine: Engine, theirs: Engine) -> StateDiff:
    """The differences between the states of two engines of the same model."""
    found = differences(mine.state, theirs.state)
    return StateDiff(tuple(_column(mine, difference) for difference in found))


def _column(engine: Engine, difference: Difference) -> ColumnDiff:
    name, owner, places, mine, theirs = difference
    if places is None:
        line = f"{tuple(mine.tolist())} values against {tuple(theirs.tolist())}"
        return ColumnDiff(name, 1, (line,))
    shown = zip(*(index[:_SHOWN].tolist() for index in places), mine[:_SHOWN], theirs[:_SHOWN], strict=True)
    lines = (f"{_place(engine, owner, place)}: {a} against {b}" for *place, a, b in shown)
    return ColumnDiff(name, len(mine), tuple(lines))


def _place(engine: Engine, owner: Owner, place: list[int]) -> str:
    """What has the row, and where in the row."""
    row, *rest = place
    inside = f"[{', '.join(map(str, rest))}]" if rest else ""
    return f"{_owner(engine, owner, row)}{inside}"


def _owner(engine: Engine, owner: Owner, row: int) -> str:
    if owner is Owner.CHANNEL:
        return channel_name(engine, row)
    if owner is Owner.LOCK:
        own = row - int(engine.spec.tiles.lock_base[int(engine.state.locks.tile[row])])
        return f"{_tile(engine, int(engine.state.locks.tile[row]))} lock {engine.lock_names.get(row, own)}"
    if owner is Owner.TILE:
        return _tile(engine, row)
    if owner is Owner.WORD:
        tile = int(np.searchsorted(engine.spec.tiles.memory_base, row, side="right")) - 1
        return f"{_tile(engine, tile)} word {row - int(engine.spec.tiles.memory_base[tile])}"
    if owner is Owner.MODEL:
        return f"entry {row}"
    return f"{owner.name.lower()} {row}"


def _tile(engine: Engine, tile: int) -> str:
    tiles = engine.spec.tiles
    return f"{TILE_KINDS[KIND_NAMES[tiles.kind[tile]]].name}({tiles.column[tile]},{tiles.row[tile]})"
