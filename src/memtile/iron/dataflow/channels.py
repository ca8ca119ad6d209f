"""Numbers for the DMA channels of routes that a program leaves open.

mlir-aie leaves this to its compiler (``aie.route_endpoint``, since November 2026). memtile gives the lowest
numbers that no DMA and no route of the program has, when the program is built, so the module says them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from memtile.iron.ops.enums import AIETileType, DMAChannelDir, WireBundle


def number_channels(flows: Sequence[Any], dmas: Sequence[Any], channels_of: Callable[[Any], int]) -> None:
    """Give each open end of a route the number of a channel.

    An end that no DMA of the program names by ``flow.endpoint`` has number 0, as in older programs.

    Args:
        flows: routes of the program.
        dmas: DMAs of its tiles.
        channels_of: how many channels a DMA of a kind of tile has in one direction.

    Raises:
        ValueError: a tile has no channel left.
    """
    taken: dict[tuple[Any, DMAChannelDir], set[int]] = {}
    for tile, direction, number in (*_numbered(flows), *_of_dmas(dmas)):
        for key in _keys(tile):
            taken.setdefault((key, direction), set()).add(number)
    for flow in flows:
        for port, direction in flow.ports():
            if port.channel is None:
                many = range(channels_of(port.tile.tile_type))
                port.channel = _free(flow, port.tile, direction, taken, many) if flow.assigned else 0


def _numbered(flows: Sequence[Any]) -> Iterator[tuple[Any, DMAChannelDir, int]]:
    for flow in flows:
        for port, direction in flow.ports():
            if port.port == WireBundle.DMA and (port.channel is not None or not flow.assigned):
                yield port.tile, direction, port.channel or 0


def _of_dmas(dmas: Sequence[Any]) -> Iterator[tuple[Any, DMAChannelDir, int]]:
    for dma in dmas:
        for channel in dma.channels:
            if isinstance(channel.channel, int):
                yield dma.tile, channel.direction, channel.channel


def _keys(tile: Any) -> list[Any]:
    """What shares channels with a tile: itself, those at its place, those that may be placed there."""
    if tile.tile_type == AIETileType.CoreTile and tile.col is None:
        return [id(tile)]
    place = (tile.col, tile.row)
    return [tile.tile_type, place] if None not in place else [tile.tile_type]


def _free(flow: Any, tile: Any, direction: DMAChannelDir, taken: dict[Any, set[int]], many: range) -> int:
    """The lowest number that is free at a tile, wherever it is placed."""
    keys = _keys(tile)
    used = taken.get((keys[-1], direction), set())  # of a placed tile its place alone counts
    found = next((number for number in many if number not in used), None)
    if found is None:
        raise ValueError(
            f"{flow}: all {len(many)} {direction} channels at {tile} are taken, or may be once tiles are "
            f"placed. Give tiles that share no place their col= and row=, or the Flow its src_channel= and "
            f"dst_channel="
        )
    for key in keys:
        taken.setdefault((key, direction), set()).add(found)
    return found
