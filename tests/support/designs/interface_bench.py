"""A column of interface, memory and compute tile, and short ways to wire and start it, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from memtile.arch.ports import DEMUX_BITS, MUX_BITS, PORTS, SOUTH_ATTACHMENT
from memtile.arch.register_map import register_named
from memtile.arch.switch_registers import SLAVE_CONFIG_OFFSET
from memtile.arch.tiles import MM2S, S2MM, TILE_KINDS, WORD_BYTES, TileName
from memtile.arch.timing import Timing
from memtile.bd.codec import encode
from memtile.bd.descriptor import Descriptor
from memtile.model.state.tile_columns import Placed
from memtile.sim.loop.engine import Engine

ENABLE = 1 << 31
LIMIT = 100_000
COLUMN: tuple[TileName, ...] = ("interface", "memory", "compute")
WIDE: tuple[TileName, ...] = ("interface_2p", "memory_2p", "compute_2p")  # beats of two words
REPEAT = register_named("memory_tile", "DMA_S2MM_0_Start_Queue").field("Repeat_Count").lsb
MUX, DEMUX = (register_named("noc", name).offset for name in ("Mux_Config", "Demux_Config"))


def side_by_side(
    count: int, timing: Timing | None = None, *, rows: int = 3, kinds: tuple[TileName, ...] = COLUMN
) -> Engine:
    """An engine of so many columns."""
    placed = []
    for number in range(count):
        for row, name in enumerate(kinds[:rows]):
            tile = number * rows + row
            east = tile + rows if number + 1 < count else -1
            placed.append(Placed(name, max(tile - rows, -1), east, number, row))
    return Engine(placed, timing, switched=True)


class Column:
    """Row 0 interface tile, row 1 memory tile, row 2 compute tile; tiles are named by their row.

    Column ``number`` of ``beside``, an engine of several such, if there is one.
    """

    def __init__(
        self,
        timing: Timing | None = None,
        *,
        rows: int = 3,
        attached: bool = True,
        beside: Engine | None = None,
        number: int = 0,
        kinds: tuple[TileName, ...] = COLUMN,
    ) -> None:
        self.engine = side_by_side(1, timing, rows=rows, kinds=kinds) if beside is None else beside
        self.kinds = kinds
        self.first = number * rows
        self.doors = [self.engine.door(self.first + row) for row in range(rows)]
        if attached:
            dma = SOUTH_ATTACHMENT["DMA"]
            self.doors[0].write32(MUX, sum(dma << MUX_BITS[name][1] for name in ("SOUTH3", "SOUTH7")))
            self.doors[0].write32(DEMUX, sum(dma << DEMUX_BITS[name][1] for name in ("SOUTH2", "SOUTH3")))

    def circuit(self, row: int, slave: str, master: str) -> None:
        ports, door = PORTS[self.kinds[row]], self.doors[row]
        index = ports.slave(slave)
        door.write32(ports.base + SLAVE_CONFIG_OFFSET + index * WORD_BYTES, ENABLE)
        door.write32(ports.base + ports.master(master) * WORD_BYTES, ENABLE | index)

    def channel(self, row: int, direction: int, number: int = 0) -> int:
        """Model index of a channel."""
        first = sum(2 * TILE_KINDS[name].channels for name in self.kinds[:row])
        return first + direction * TILE_KINDS[self.kinds[row]].channels + number

    def put(self, row: int, bd: int, descriptor: Descriptor) -> None:
        kind = TILE_KINDS[self.kinds[row]]
        self.doors[row].block_write32(kind.bd_base + bd * kind.bd_stride, encode(descriptor, bd))

    def issue(self, row: int, direction: int, number: int, bd: int, runs: int = 1) -> None:
        kind = TILE_KINDS[self.kinds[row]]
        ch = direction * kind.channels + number
        self.doors[row].write32(kind.queue_base + ch * kind.channel_stride, bd | (runs - 1) << REPEAT)

    def start(
        self, row: int, direction: int, number: int, bd: int, length: int, address: int, **more: Any
    ) -> None:
        """Write a descriptor and run it once."""
        self.put(row, bd, Descriptor(self.kinds[row], length, address, **more))  # type: ignore[arg-type]
        self.issue(row, direction, number, bd)

    def control(self, direction: int, number: int, value: int) -> None:
        """Write the control register of an interface tile channel."""
        kind = TILE_KINDS["interface"]
        ch = direction * kind.channels + number
        self.doors[0].write32(kind.control_base + ch * kind.channel_stride, value)

    def status(self, direction: int, number: int, field: str) -> int:
        """A field of the status register of an interface tile channel."""
        name = f"DMA_{('S2MM', 'MM2S')[direction]}_Status_{number}"
        register = register_named("noc", name)
        return register.field(field).get(self.doors[0].read32(register.offset))

    def up(self) -> None:
        """Interface MM2S 0 to memory tile S2MM 0."""
        self.circuit(0, "SOUTH3", "NORTH0")
        self.circuit(1, "SOUTH0", "DMA0")

    def down(self) -> None:
        """Memory tile MM2S 0 to interface S2MM 0."""
        self.circuit(1, "DMA0", "SOUTH0")
        self.circuit(0, "NORTH0", "SOUTH2")


def caught(number: int = 0, timing: Timing | None = None) -> tuple[Column, int]:
    """A column whose interface MM2S ``number`` gives its words to a test bench, and that channel."""
    column = Column(timing, rows=1, attached=False)
    ch = column.channel(0, MM2S, number)
    column.engine.catch(ch)
    return column, ch


def fed(words: int, number: int = 0, timing: Timing | None = None) -> tuple[Column, int]:
    """A column whose interface S2MM ``number`` is offered 1, 2, 3, ... by a test bench, and that channel."""
    column = Column(timing, rows=1, attached=False)
    ch = column.channel(0, S2MM, number)
    column.engine.feed(ch, np.arange(1, words + 1, dtype=np.uint32))
    return column, ch


def counting(words: int, first: int = 1) -> np.ndarray:
    """``first``, ``first`` + 1, ..., uint32[words]."""
    return np.arange(first, first + words, dtype=np.uint32)
