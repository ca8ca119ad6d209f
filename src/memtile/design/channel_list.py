"""The channels of one direction of a tile, by number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import SupportsIndex, overload

from memtile.arch.tiles import DIRECTIONS
from memtile.design.channels import Channel
from memtile.errors import DesignError


class Channels(tuple[Channel, ...]):
    """A tuple of channels that names the tile when a number is out of range.

    Args:
        title: the tile, for messages.
        direction: ``arch.tiles.S2MM`` or ``MM2S``.
        channels: in the order of their numbers.
    """

    title: str
    direction: int

    def __new__(cls, title: str, direction: int, channels: Iterable[Channel]) -> Channels:
        """The channels as a tuple."""
        made = super().__new__(cls, channels)
        made.title, made.direction = title, direction
        return made

    @overload
    def __getitem__(self, index: SupportsIndex) -> Channel: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Channel, ...]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Channel | tuple[Channel, ...]:
        """The channel, or those of a slice.

        Raises:
            DesignError: no channel has the number.
        """
        try:
            return super().__getitem__(index)
        except IndexError:
            name = DIRECTIONS[self.direction]
            raise DesignError.of(
                f"{name} channel",
                str(index),
                f"0..{len(self) - 1}",
                reason="channel",
                where=self.title,
                source="AM020: DMA channels of a tile",
            ) from None
