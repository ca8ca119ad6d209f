"""Ports of a stream switch beside those of DMA channels, as ends of flows: trace units, what is outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtile.arch.ports import PORTS
from memtile.errors import DesignError

if TYPE_CHECKING:
    from memtile.design.tile import Tile


@dataclass(frozen=True)
class SwitchEnd:
    """A port of a tile's stream switch, where a flow of an array may begin or end like at a DMA channel.

    Attributes:
        tile: whose switch.
        port: name as in ``arch.ports``: ``TRACE0``, ``SOUTH1``, ...
        receives: True for a master, through which words leave the switch.

    Raises:
        DesignError: the switch has no such port.
    """

    tile: Tile
    port: str
    receives: bool = False

    def __post_init__(self) -> None:
        names = PORTS[self.tile.kind.name].masters if self.receives else PORTS[self.tile.kind.name].slaves
        if self.port not in names:
            raise DesignError.of(
                self.side,
                repr(self.port),
                f"one of {', '.join(names)}",
                reason="port",
                where=f"{self.tile.title}, stream switch",
                source="AM020 chapter 2",
            )

    @property
    def side(self) -> str:
        """``master`` or ``slave``."""
        return "master" if self.receives else "slave"

    @property
    def name(self) -> str:
        """For messages: ``memory(0,1) slave TRACE0``."""
        return f"{self.tile.label}{self.side} {self.port}"

    @property
    def number(self) -> int:
        """Number of the port among those of its side."""
        ports = PORTS[self.tile.kind.name]
        return ports.master(self.port) if self.receives else ports.slave(self.port)

    @property
    def packets(self) -> frozenset[int | None]:
        """Ids that it was given to send beside its own: none."""
        return frozenset()
