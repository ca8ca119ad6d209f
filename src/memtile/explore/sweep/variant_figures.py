"""What a variant of a design is judged by: cycles, bytes of memory, descriptors, how near its bound it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtile.arch.energy import PUBLISHED, Energy, energy_table
from memtile.arch.tiles import WORD_BYTES
from memtile.check.task_list import TaskLog
from memtile.design.array import Array
from memtile.design.memory_tile import MemoryTile
from memtile.design.tile import Tile
from memtile.errors import DesignError
from memtile.explain.results import Result
from memtile.importers.hosted_array import HostedArray
from memtile.model.dma.channel_registers import FOT_MASK

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number by which variants are compared.

    Attributes:
        name: as objectives have it.
        text: what it is, with its unit.
        most: more is better.
    """

    name: str
    text: str
    most: bool = False

    def cost(self, value: float) -> float:
        """The value, so that less is better."""
        return -value if self.most else value


ENERGY = "energy"
FIGURES = {
    each.name: each
    for each in (
        Figure("cycles", "cycles of the run"),
        Figure("l2", "bytes of buffers in memory tiles"),
        Figure("l1", "bytes of buffers in compute tiles"),
        Figure("bds", "buffer descriptors in use, of all tiles"),
        Figure(ENERGY, "nanojoules of what DMAs and cores moved, by the table of energies"),
        Figure("share", "bound of the run as a part of its cycles, 0 to 1", most=True),
    )
}


def objectives_of(text: str) -> tuple[str, ...]:
    """The objectives that a text names, ``cycles,l2``.

    Raises:
        DesignError: names that are no figures, or one twice.
    """
    names = tuple(part.strip() for part in text.split(","))
    wrong = [name for name in names if name not in FIGURES]
    if not wrong and len(set(names)) == len(names):
        return names
    listed = "; ".join(f"{each.name}: {each.text}" for each in FIGURES.values())
    says = f"there is no objective {wrong[0]!r}; there are {listed}" if wrong else f"{text!r} names one twice"
    raise DesignError.of(
        "objectives",
        repr(text),
        ", ".join(FIGURES),
        says,
        reason="objectives",
        where="sweep",
        source="docs/sweep.md",
    )


def tiles_of(made: MemoryTile | Array) -> Sequence[Tile]:
    """The tiles of a design."""
    return made.tiles if isinstance(made, Array) else (made,)


def before_run(made: MemoryTile | Array) -> dict[str, float]:
    """The figures that are known before the run."""
    tiles = tiles_of(made)
    return {
        "l2": _nbytes(tiles, "memory"),
        "l1": _nbytes(tiles, "compute"),
        "bds": _descriptors(made),
    }


def after_run(made: MemoryTile | Array, before: Values, result: Result) -> dict[str, float]:
    """The figures of a run; its host may have used more descriptors than were used before."""
    share = 0.0 if result.bound is None else round(result.bound.share, 6)
    bds = max(before["bds"], _descriptors(made))
    return {**before, "cycles": result.cycles, "bds": bds, "share": share}


def _descriptors(made: MemoryTile | Array) -> int:
    """Descriptors in use: those that a design took, or of one that is loaded those that are valid."""
    if isinstance(made, HostedArray):
        return sum(map(_valid_descriptors, made.tiles))
    return sum(tile.bd_pool.used for tile in tiles_of(made))


def _valid_descriptors(tile: Tile) -> int:
    """Descriptors of a tile whose registers have Valid_BD set."""
    kind = tile.kind
    ((word, lsb, _),) = kind.bd_fields["Valid_BD"].parts
    offsets = (kind.bd_base + number * kind.bd_stride + word * WORD_BYTES for number in range(kind.bds))
    return sum(tile.own_door.read32(offset) >> lsb & 1 for offset in offsets)


def table_for(text: str, objectives: Sequence[str]) -> str:
    """The table of energies that is asked for; the published one where energy is an objective.

    Raises:
        DesignError: no such table.
    """
    table = text or (PUBLISHED if ENERGY in objectives else "")
    if table:
        energy_table(table)
    return table


_LEVELS = {"compute": "l1", "memory": "l2", "interface": "l3"}
"""Where the DMA of a tile reads and writes."""


def energy_of(made: MemoryTile | Array, result: Result, table: Energy) -> float:
    """Nanojoules of the bytes that DMAs and cores of a design read and wrote in a run, at each level.

    A core whose kernel says its accesses has made these; of another one it is known only what came and went:
    it reads what the DMA of its tile writes, and writes what that reads, once each (DEV-ENERGY-2). What
    streams and cascades between the tiles cost is not in it.
    """
    tiles = tiles_of(made)
    costs = {"l1": table.l1, "l2": table.l2, "l3": table.l3}
    words = {use.name: use.words for use in result.channels}
    moved = {tile.index: sum(words.get(c.name, 0) for c in (*tile.s2mm, *tile.mm2s)) for tile in tiles}
    picojoules = sum(costs[_LEVELS[tile.kind.role]] * moved[tile.index] * WORD_BYTES for tile in tiles)
    engine = made.engine
    for core, running in engine.cores.running.items():
        tile = int(engine.state.cores.tile[core])
        picojoules += costs[_LEVELS["compute"]] * (running.accessed or moved.get(tile, 0) * WORD_BYTES)
    return round(picojoules / 1000, 3)


def _nbytes(tiles: Sequence[Tile], role: str) -> int:
    return sum(buffer.nbytes for tile in tiles if tile.kind.role == role for buffer in tile.buffers)


def _queued_words(log: TaskLog) -> Mapping[int, int]:
    """Words of queued tasks without compression, by channel."""
    words: dict[int, int] = {}
    for task in log.queued():
        if not any(bd.descriptor.compression for bd in task.bds):
            words[task.ch] = words.get(task.ch, 0) + (task.words or 0)
    return words


def static_bound(made: MemoryTile | Array) -> int:
    """Cycles that no run of a design can be shorter than: what its busiest channel has to move.

    Tasks that are queued before the run and have an end count, one beat a cycle; not those with compression
    or of channels that may end them before (finish on TLAST), nor what a host starts later.
    """
    bench = made if isinstance(made, Array) else made.bench
    words = _queued_words(TaskLog(bench.engine))
    beat = {
        channel.index: tile.kind.stream_words
        for tile in tiles_of(made)
        for channel in (*tile.s2mm, *tile.mm2s)
    }
    beats = (
        math.ceil(count / beat[ch])
        for ch, count in words.items()
        if ch in beat and not bench.engine.channels.control[ch] & FOT_MASK
    )
    return max(beats, default=0)
