"""What a text calls the channels of its DMAs: by object FIFOs and allocations, else by their buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memtile.design.buffers import Buffer
from memtile.design.stream_port import StreamPort
from memtile.design.tile import Tile
from memtile.importers.mlir.description import DeviceDescription


def name_channels(
    device: DeviceDescription, tiles: Mapping[str, Tile], buffers: Mapping[str, Buffer]
) -> None:
    """Give channels their names, and say which buffers those without a name read or write.

    Args:
        device: the text.
        tiles: by the name of their value.
        buffers: by the name of their value.
    """
    names: dict[StreamPort, dict[str, None]] = {}  # two FIFOs may share a channel
    for channel, name in (*_of_chains(device, tiles), *_of_allocations(device, tiles)):
        names.setdefault(channel, {})[name] = None
    for channel, found in names.items():
        channel.named(", ".join(found))
    for chain in device.chains:
        channel = _channel(tiles[chain.tile], chain.direction, chain.channel)
        used = (buffers[bd.buffer] for bd in chain.bds if bd.buffer in buffers)
        channel.moves = {**channel.moves, **{buffer.name: buffer.dtype for buffer in used}}


def _of_chains(device: DeviceDescription, tiles: Mapping[str, Tile]) -> Iterator[tuple[StreamPort, str]]:
    """Those of object FIFOs."""
    for chain in device.chains:
        if chain.name in device.fifos:
            yield _channel(tiles[chain.tile], chain.direction, chain.channel), chain.name


def _of_allocations(device: DeviceDescription, tiles: Mapping[str, Tile]) -> Iterator[tuple[StreamPort, str]]:
    by_place = {tile.place: tile for tile in tiles.values()}
    for allocation in device.allocations.values():
        place = (allocation.column, 0) if allocation.column is not None else None
        tile = tiles.get(allocation.tile) or by_place.get(place)
        if tile is not None and tile.kind.role == "interface":
            yield _channel(tile, allocation.direction, allocation.channel), allocation.name


def _channel(tile: Tile, direction: str, number: int) -> StreamPort:
    return (tile.s2mm if direction == "S2MM" else tile.mm2s)[number]
