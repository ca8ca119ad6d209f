"""DMA channels of tiles, and streams between interface tiles and programmable logic, as they are given away.

An interface tile has two ports that belong to its DMA in each direction; where a stream of the programmable
logic has one of these, the channel is not there, and vice versa (AM020 chapter 6).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from memtile.adf.plan import Tile
from memtile.arch.devices import Device
from memtile.arch.ports import DMA_MASTERS, DMA_SLAVES, PORTS, port_kind
from memtile.arch.tiles import TileKind

INTO, OUT = "S2MM", "MM2S"
WIDE = 128  # bits of a stream that takes two ports (AM020 chapter 6; DEV-ADF-16)


@dataclass
class Channels:
    """Channels and ports that are given away.

    Attributes:
        device: whose these are.
        users: (tile, direction, channel) -> name of what has it.
        ports: (column, is input, port) -> name of what has the stream of the programmable logic.
        descriptors: (tile, parity) -> descriptors that its ports need at least.
    """

    device: Device
    users: dict[tuple[Tile, str, int], str] = field(default_factory=dict)
    ports: dict[tuple[int, bool, int], str] = field(default_factory=dict)
    descriptors: dict[tuple[Tile, int], int] = field(default_factory=lambda: defaultdict(int))

    def count(self, tile: Tile) -> int:
        """Channels of each direction that a tile has."""
        if tile[1] == 0 and not self.device.has_interface_dma(tile[0]):
            return 0
        return self._kind(tile).channels

    def user(self, tile: Tile, direction: str, channel: int) -> str:
        """What has a channel, or the stream of its port; empty = it is free."""
        found = self.users.get((tile, direction, channel), "")
        if not found and tile[1] == 0:
            names = DMA_SLAVES if direction == OUT else DMA_MASTERS
            found = self.ports.get((tile[0], direction == OUT, int(names[channel].removeprefix("SOUTH"))), "")
        return found

    def free(self, tile: Tile, direction: str, *, near: bool = False) -> list[int]:
        """Free channels of a tile; with ``near`` those alone that reach neighbours' memory."""
        channels = range(self.count(tile))
        allowed = self._kind(tile).neighbour_channels if near else channels
        return [c for c in channels if c in allowed and not self.user(tile, direction, c)]

    def take(self, tile: Tile, direction: str, channel: int, name: str, descriptors: int = 1) -> None:
        """Give a channel to something, with the descriptors that it needs at least."""
        self.users[tile, direction, channel] = name
        self.descriptors[tile, self._parity(tile, channel)] += descriptors

    def best(self, tile: Tile, direction: str, descriptors: int = 1, *, near: bool = False) -> int | None:
        """The lowest free channel whose descriptors suffice, else the lowest (DEV-ADF-18); None = none is."""
        free = self.free(tile, direction, near=near)
        kind = self._kind(tile)
        fits = (
            c
            for c in free
            if self.descriptors[tile, self._parity(tile, c)] + descriptors <= len(kind.bd_bank(c))
        )
        return next(fits, free[0] if free else None)

    def _parity(self, tile: Tile, channel: int) -> int:
        return channel % len(self._kind(tile).bd_banks)

    def _kind(self, tile: Tile) -> TileKind:
        if tile[1] == 0:
            return self.device.kind("interface")
        return self.device.kind("memory" if tile[1] in self.device.memory_rows else "compute")

    def logic_ports(self, *, into: bool) -> int:
        """Streams between the programmable logic and an interface tile, into the array or out of it."""
        layout = PORTS[self.device.kind("interface").name]
        return sum(port_kind(name) == "SOUTH" for name in (layout.slaves if into else layout.masters))

    def way_through(self, *, into: bool) -> int:
        """Streams that the switch of an interface tile passes to the tile above it, or from it."""
        layout = PORTS[self.device.kind("interface").name]
        return sum(port_kind(name) == "NORTH" for name in (layout.masters if into else layout.slaves))

    def port_users(self, column: int, *, into: bool, port: int, width: int) -> list[str]:
        """What has the ports that a stream of the programmable logic would take."""
        return [user for p in self._wide(port, width) if (user := self._port_user(column, into, p))]

    def _wide(self, port: int, width: int) -> range:
        return range(port, port + (2 if width == WIDE else 1))

    def _port_user(self, column: int, into: bool, port: int) -> str:
        names = DMA_SLAVES if into else DMA_MASTERS
        at_dma = f"SOUTH{port}"
        channel = names.index(at_dma) if at_dma in names else -1
        of_dma = self.users.get(((column, 0), OUT if into else INTO, channel), "")
        return self.ports.get((column, into, port), "") or of_dma

    def free_ports(self, column: int, *, into: bool, width: int) -> Iterator[int]:
        """Ports that a stream of the programmable logic can have; a wide one begins at an even port."""
        step = 2 if width == WIDE else 1
        for port in range(0, self.logic_ports(into=into) - step + 1, step):
            if not self.port_users(column, into=into, port=port, width=width):
                yield port

    def take_port(self, column: int, port: int, name: str, *, into: bool, width: int) -> None:
        """Give a stream of the programmable logic to something."""
        for one in self._wide(port, width):
            self.ports[column, into, one] = name

    def streams(self, column: int, *, into: bool) -> int:
        """Streams that enter or leave the array at a column already."""
        of_logic = {name for (c, i, _), name in self.ports.items() if (c, i) == (column, into)}
        of_dma = {c for (tile, way, c) in self.users if tile == (column, 0) and (way == OUT) == into}
        return len(of_logic) + len(of_dma)
