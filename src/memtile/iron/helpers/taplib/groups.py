"""Groups of tiles along one dimension of a tensor."""

from __future__ import annotations

from dataclasses import dataclass


def _ceildiv(a: int, b: int) -> int:
    return -(a // -b)


@dataclass(frozen=True)
class GroupAxis:
    """A dimension, in tiles.

    Attributes:
        tiles: in all.
        repeats: tiles of a group.
        step: from tile to tile of a group.
    """

    tiles: int
    repeats: int
    step: int

    @property
    def groups(self) -> int:
        """How many groups cover it."""
        block = self.step * self.repeats
        whole = self.tiles // block
        left = self.tiles - block * whole
        rest = self.step * (left // self.step)
        return whole * self.step + (left // rest * self.step if rest > 0 else left)

    def first(self, group: int) -> int:
        """The first tile of a group."""
        block, within = divmod(group, self.step)
        return block * self.step * self.repeats + within

    def left(self, group: int) -> tuple[int, int]:
        """Repeats and step of a group, as far as there are tiles."""
        remaining = self.tiles - self.first(group)
        return min(self.repeats, _ceildiv(remaining, self.step)), 1 if self.step > remaining else self.step


def grouped_axis(tiles: int, repeats: int, step: int) -> GroupAxis:
    """A dimension with groups of ``repeats`` tiles that are ``step`` apart, as far as there are tiles."""
    return GroupAxis(tiles, min(repeats, _ceildiv(tiles, step)), 1 if step > tiles else step)
