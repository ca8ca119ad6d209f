"""``aie.iron.dataflow.flow``: routes of streams and of packets, said by the program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memtile.iron.device import Tile
from memtile.iron.dialects.aie import _OPS, flow, packetflow
from memtile.iron.ops.enums import AIETileType, DMAChannelDir, WireBundle
from memtile.iron.resolvable import NotResolvedError, Resolvable

_INTERFACE = (AIETileType.ShimNOCTile, AIETileType.ShimPLTile)


def _allocate(symbol: str, src: Tile, src_channel: int, dst: Tile, dst_channel: int) -> None:
    """Name the channel of the interface tile at one end."""
    for tile, direction, channel in (
        (src, DMAChannelDir.MM2S, src_channel),
        (dst, DMAChannelDir.S2MM, dst_channel),
    ):
        if tile.tile_type in _INTERFACE:
            _OPS["ShimDMAAllocationOp"](symbol, tile.op, direction, channel)
            return
    raise ValueError(
        f"shim_symbol {symbol!r} names a channel of an interface tile; neither {src} nor {dst} is one"
    )


class _Route(Resolvable, ABC):
    """A route from a port of a tile."""

    def __init__(
        self, src: Tile, dst: Tile, src_channel: int, dst_channel: int, shim_symbol: str | None
    ) -> None:
        self._src, self._dst = src, dst
        self._src_channel, self._dst_channel = src_channel, dst_channel
        self._shim_symbol = shim_symbol
        self._op: Any = None

    @property
    def src(self) -> Tile:
        """Where it begins."""
        return self._src

    @property
    def dst(self) -> Tile:
        """Where it ends."""
        return self._dst

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
        return [self._src, self._dst]

    @abstractmethod
    def _build(self) -> Any: ...

    def resolve(self, loc: object = None, ip: Any = None) -> None:
        """Build it, once."""
        if self._op is None:
            self._op = self._build()
            if self._shim_symbol is not None:
                _allocate(self._shim_symbol, self._src, self._src_channel, self._dst, self._dst_channel)


class Flow(_Route):
    """A route of a stream.

    Args:
        src: tile where it begins.
        dst: tile where it ends.
        shim_symbol: name of the interface tile's channel at one end.
    """

    def __init__(
        self,
        src: Tile,
        dst: Tile,
        *,
        src_port: WireBundle = WireBundle.DMA,
        src_channel: int = 0,
        dst_port: WireBundle = WireBundle.DMA,
        dst_channel: int = 0,
        shim_symbol: str | None = None,
    ) -> None:
        super().__init__(src, dst, src_channel, dst_channel, shim_symbol)
        self._src_port, self._dst_port = src_port, dst_port

    def _build(self) -> Any:
        return flow(
            self._src.op, self._src_port, self._src_channel, self._dst.op, self._dst_port, self._dst_channel
        )


@dataclass
class PacketDest:
    """One more end of a route of packets."""

    tile: Tile
    port: WireBundle = WireBundle.DMA
    channel: int = 0


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
        super().__init__(src, dst, src_channel, dst_channel, shim_symbol)
        self._pkt_id, self._src_port = pkt_id, src_port
        self._ends = [PacketDest(dst, dst_port, dst_channel), *extra_dsts]
        self._keep_pkt_header = keep_pkt_header

    @property
    def pkt_id(self) -> int:
        """Of the packets."""
        return self._pkt_id

    def all_tiles(self) -> list[Tile]:
        """Its tiles."""
        return [self._src, *(end.tile for end in self._ends)]

    def _build(self) -> Any:
        ends = [{"dest": end.tile.op, "port": end.port, "channel": end.channel} for end in self._ends]
        return packetflow(
            self._pkt_id,
            self._src.op,
            self._src_port,
            self._src_channel,
            ends,
            keep_pkt_header=self._keep_pkt_header,
        )
