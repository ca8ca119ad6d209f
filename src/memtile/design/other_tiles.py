"""The other tiles of an array: compute tiles and interface tiles."""

from __future__ import annotations

from memtile.arch.tiles import COMPUTE, INTERFACE
from memtile.design.tile import Site, Tile


class ComputeTile(Tile):
    """A compute tile: 64 KB of data memory, two channels each way.

    Args:
        site: where it is in the array.
    """

    def __init__(self, site: Site) -> None:
        super().__init__(COMPUTE, site)


class InterfaceTile(Tile):
    """An interface tile: two channels each way between the array and external memory.

    Args:
        site: where it is in the array.
    """

    def __init__(self, site: Site) -> None:
        super().__init__(INTERFACE, site)
