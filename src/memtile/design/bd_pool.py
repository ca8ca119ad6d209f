"""Descriptor numbers of a tile, handed out by channel parity (AM020: each channel can use 24 of the 48)."""

from __future__ import annotations

from memtile.arch.tiles import TileKind
from memtile.errors import DesignError, Problem


class BdPool:
    """Free BD numbers of one tile.

    Args:
        kind: the tile kind.
    """

    def __init__(self, kind: TileKind) -> None:
        self._kind = kind
        self._taken: set[int] = set()

    def free(self, channel: int) -> int:
        """How many BDs channel ``channel`` of either direction can still get."""
        return len(self._numbers(channel))

    def take(self, channel: int, count: int, name: str) -> tuple[int, ...]:
        """The lowest ``count`` numbers that the channel may use.

        Raises:
            DesignError: fewer are free; names the half and what the other half has.
        """
        numbers = self._numbers(channel)
        if len(numbers) < count:
            bank = self._kind.bd_bank(channel)
            other = self.free(channel + 1)
            step = f"a channel of the other parity has {other} free" if other >= count else ""
            problem = Problem(
                "bd_count",
                f"{self._kind.title}, {name}",
                "descriptors",
                f"{count} more",
                f"{len(numbers)} free of BDs {bank.start}..{bank.stop - 1}",
                "AM020: 24 BDs per channel, by channel parity",
                step,
            )
            raise DesignError(problem)
        self._taken.update(numbers[:count])
        return tuple(numbers[:count])

    def _numbers(self, channel: int) -> list[int]:
        return [n for n in self._kind.bd_bank(channel) if n not in self._taken]
