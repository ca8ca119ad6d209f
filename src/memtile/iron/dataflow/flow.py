"""``aie.iron.dataflow.flow``: routes of streams and of packets, said by the program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memtile.iron.device import Tile
from memtile.iron.dialects.aie import _OPS, flow, packetflow
from memtile.iron.ops.enums import AIETileType, DMAChannelDir, WireBundle
from memtile.iron.ops.scalars import constant
from memtile.iron.resolvable import NotResolvedError, Resolvable

_INTERFACE = (AIETileType.ShimNOCTile, AIETileType.ShimPLTile)


@dataclass
class PacketDest:
    """One more end of a route of packets."""

    tile: Tile
    port: WireBundle = WireBundle.DMA
    channel: int | None = 0


class FlowEndpoint:
    """One end of a route: the channel that a DMA of its tile runs on.

    Args:
        flow: whose.
        tile: at that end.
        direction: of the channel there.
    """

    def __init__(self, flow: _Route, tile: Tile, direction: DMAChannelDir) -> None:
        self._flow, self.tile, self.direction = flow, tile, direction

    @property
    def channel(self) -> int:
        """Its number.

        Raises:
            ValueError: the program leaves it open, and no Program has built it yet.
        """
        found = self._flow.channel_of(self.tile, self.direction)
        if found is None:
            raise ValueError(
                f"the channel of {self._flow} at {self.tile} has no number yet: "
                f"call rt.add_flow(flow) first; the Program gives it one when it is built"
            )
        return found

    def check(self, tile: Tile, direction: DMAChannelDir) -> None:
        """Refuse a DMA of another tile or direction.

        Raises:
            ValueError: it is one.
        """
        if tile is not self.tile:
            raise ValueError(
                f"Flow endpoint of {self._flow} is on {self.tile}, not {tile}; a DMA program can only run "
                f"its own tile's channels."
            )
        if direction != self.direction:
            raise ValueError(
                f"Flow endpoint of {self._flow} on {tile} is {self.direction} (its Flow decides which way it "
                f"points), not {direction}."
            )

    def task(self, *bds: Any, runs: Any = 1, wait: bool = False) -> Any:
        """Configure a task of descriptors on this channel, within the runtime sequence; ``start()`` runs it.

        Args:
            bds: in order.
            runs: how often.
            wait: with a token.
        """
        from memtile.iron.runtime.tile_tasks import tile_dma_chain

        again = runs - 1 if isinstance(runs, int) else runs - constant(1, runs.type)
        return tile_dma_chain(
            self.tile, self.direction, self, list(bds), repeat_count=again, wait=wait, start=False
        )


class _Route(Resolvable, ABC):
    """A route from a port of a tile to ports of others.

    Args:
        src: port where it begins.
        dsts: ports where it ends; a channel that is None gets a number when a Program is built.
        shim_symbol: name of the interface tile's channel at one end.
    """

    def __init__(self, src: PacketDest, dsts: list[PacketDest], shim_symbol: str | None) -> None:
        self._source, self._ends = src, dsts
        self._shim_symbol = shim_symbol
        self._op: Any = None
        self._allocated = False
        self.fills = False  # whether the host moves data through it
        self.assigned = False  # whether its open channels are taken from those that are free

    @property
    def src(self) -> Tile:
        """Where it begins."""
        return self._source.tile

    @property
    def dst(self) -> Tile:
        """Where it ends; of several ends the first."""
        return self._ends[0].tile

    @property
    def op(self) -> Any:
        """Its operation.

        Raises:
            NotResolvedError: it is not built yet.
        """
        if self._op is None:
            raise NotResolvedError
        return self._op

    def all_tiles(self) -> list[Tile]:
        """Its tiles."""
        return [self._source.tile, *(end.tile for end in self._ends)]

    def ports(self) -> list[tuple[PacketDest, DMAChannelDir]]:
        """Its ports, each with the direction of a DMA there."""
        ends = [(end, DMAChannelDir.S2MM) for end in self._ends]
        return [(self._source, DMAChannelDir.MM2S), *ends]

    def channel_of(self, tile: Tile, direction: DMAChannelDir) -> int | None:
        """The channel at an end; None = it has no number yet."""
        return next(port.channel for port, way in self.ports() if port.tile is tile and way == direction)

    def endpoint(self, tile: Tile) -> FlowEndpoint:
        """The end at a tile, for the DMA there.

        Raises:
            ValueError: the tile is at no end.
        """
        for port, direction in self.ports():
            if port.tile is tile:
                self.assigned = True
                return FlowEndpoint(self, tile, direction)
        raise ValueError(f"{tile} is not an end of this Flow.")

    def _check_registered(self) -> None:
        from memtile.iron.runtime._context import active_sequence

        if not active_sequence().has_flow(self):
            raise ValueError(f"Flow must be registered with rt.add_flow(flow) before it is used: {self}")

    def _at_host(self, verb: str) -> tuple[PacketDest, DMAChannelDir]:
        """The port at an interface tile that a transfer of the host goes through."""
        shims = [each for each in self.ports() if each[0].tile.tile_type in _INTERFACE]
        if len(shims) != 1:
            raise ValueError(f"{verb}() on {self}: fill and drain require exactly one shim endpoint")
        return shims[0]

    @property
    def shim_symbol(self) -> str:
        """The name by which the host knows the channel at the interface tile."""
        if self._shim_symbol is None:
            port, direction = self._at_host("shim_symbol")
            way = "mm2s" if direction == DMAChannelDir.MM2S else "s2mm"
            place = "_".join("any" if each is None else str(each) for each in (port.tile.col, port.tile.row))
            self._shim_symbol = f"shim_{place}_{way}_{port.channel}"
        return self._shim_symbol

    def fill(self, source: Any, *more: Any, **named: Any) -> Any:
        """Send a buffer of the host into the array; arguments as those of an object FIFO.

        Raises:
            ValueError: the route does not begin at an interface tile, or is in no Runtime.
        """
        self._check_registered()
        if self._at_host("fill")[1] != DMAChannelDir.MM2S:
            raise ValueError(f"fill() sends data into the array: {self} begins at {self.src}, no shim tile")
        return self._transfer(source, more, named)

    def drain(self, dest: Any, *more: Any, **named: Any) -> Any:
        """Receive results of the array in a buffer of the host; arguments as those of an object FIFO.

        Raises:
            ValueError: the route does not end at an interface tile, or is in no Runtime.
        """
        self._check_registered()
        if self._at_host("drain")[1] != DMAChannelDir.S2MM:
            raise ValueError(f"drain() reads results back out of the array: {self} ends at {self.dst}")
        return self._transfer(dest, more, named)

    def _transfer(self, data: Any, more: Any, named: dict[str, Any]) -> Any:
        from memtile.iron.runtime.transfers import flow_transfer

        return flow_transfer(self, data, *more, **named)

    @abstractmethod
    def _build(self) -> Any: ...

    def resolve(self, loc: object = None, ip: Any = None) -> None:
        """Build it, once."""
        if self._op is None:
            self._op = self._build()
            if self._shim_symbol is not None:
                self.allocate()

    def allocate(self) -> None:
        """Name the channel of the interface tile at one end, once.

        Raises:
            ValueError: no end is at an interface tile.
        """
        if self._allocated:
            return
        self._allocated = True
        for port, direction in self.ports():
            if port.tile.tile_type in _INTERFACE:
                _OPS["ShimDMAAllocationOp"](self.shim_symbol, port.tile.op, direction, port.channel)
                return
        raise ValueError(
            f"shim_symbol {self._shim_symbol!r} names a channel of an interface tile; none of "
            f"{', '.join(map(str, self.all_tiles()))} is one"
        )

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.src} -> {', '.join(str(end.tile) for end in self._ends)})"


class Flow(_Route):
    """A route of a stream.

    Args:
        src: tile where it begins.
        dst: tile where it ends, or several.
        src_port: kind of port there.
        src_channel: its number; None = that of the DMA that runs on ``endpoint(src)``, or one that is free.
        dst_port: kind of port at the ends.
        dst_channel: their number.
        shim_symbol: name of the interface tile's channel at one end.

    Raises:
        ValueError: a port of another kind than DMA without a number.
    """

    def __init__(
        self,
        src: Tile,
        dst: Tile | Sequence[Tile],
        *,
        src_port: WireBundle = WireBundle.DMA,
        src_channel: int | None = None,
        dst_port: WireBundle = WireBundle.DMA,
        dst_channel: int | None = None,
        shim_symbol: str | None = None,
    ) -> None:
        ends = [dst] if isinstance(dst, Tile) else list(dst)
        given = (("src", src_port, src_channel), ("dst", dst_port, dst_channel))
        for name, port, channel in given:
            if port != WireBundle.DMA and channel is None:
                raise ValueError(
                    f"Flow {name}_port={port} needs an explicit {name}_channel; channels of "
                    f"DMAs alone are assigned"
                )
        super().__init__(
            PacketDest(src, src_port, src_channel),
            [PacketDest(each, dst_port, dst_channel) for each in ends],
            shim_symbol,
        )

    def _build(self) -> Any:
        first = self._source
        made = [
            flow(first.tile.op, first.port, first.channel, end.tile.op, end.port, end.channel)
            for end in self._ends
        ]
        return made[0]


class PacketFlow(_Route):
    """A route of packets.

    Args:
        pkt_id: of the packets.
        src: tile where it begins.
        dst: tile where it ends.
        extra_dsts: more ends.
        keep_pkt_header: the header arrives too.
        shim_symbol: name of the interface tile's channel at one end.
    """

    def __init__(
        self,
        pkt_id: int,
        src: Tile,
        dst: Tile,
        *,
        src_port: WireBundle = WireBundle.DMA,
        src_channel: int = 0,
        dst_port: WireBundle = WireBundle.DMA,
        dst_channel: int = 0,
        extra_dsts: Sequence[PacketDest] = (),
        keep_pkt_header: bool = False,
        shim_symbol: str | None = None,
    ) -> None:
        ends = [PacketDest(dst, dst_port, dst_channel), *extra_dsts]
        super().__init__(PacketDest(src, src_port, src_channel), ends, shim_symbol)
        self._pkt_id = pkt_id
        self._keep_pkt_header = keep_pkt_header

    @property
    def pkt_id(self) -> int:
        """Of the packets."""
        return self._pkt_id

    def fill(self, source: Any, *more: Any, **named: Any) -> Any:
        """Send a buffer of the host as packets of this route."""
        return super().fill(source, *more, **({"packet": (0, self._pkt_id)} | named))

    def _build(self) -> Any:
        ends = [{"dest": end.tile.op, "port": end.port, "channel": end.channel} for end in self._ends]
        first = self._source
        return packetflow(
            self._pkt_id,
            first.tile.op,
            first.port,
            int(first.channel or 0),
            ends,
            keep_pkt_header=self._keep_pkt_header,
        )
