"""Where the buffers of object FIFOs go, and who may move parts of objects alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memtile.design.tile import Tile
from memtile.errors import Problem


@dataclass(frozen=True, slots=True)
class Places:
    """Where the buffers of the ends go; the first free place where nothing is said.

    Attributes:
        bank: by tile the first bank to look in.
        at: by tile the first byte of each of its buffers.
    """

    bank: Mapping[Tile, int] = field(default_factory=dict)
    at: Mapping[Tile, Sequence[int]] = field(default_factory=dict)

    def of(self, tile: Tile, number: int) -> dict[str, int]:
        """What ``Tile.buffer`` is told for buffer ``number`` of an end."""
        if tile in self.at:
            return {"at": self.at[tile][number]}
        return {"bank": self.bank[tile]} if tile in self.bank else {}


def part_of_buffers(name: str, field: str, beyond: int, part: object) -> list[Problem]:
    """What is wrong with a part of objects that moves alone: the other end has buffers, of whole objects.

    Args:
        name: of the FIFO.
        field: that says the part.
        beyond: buffers of the ends at the other side of the memory tile.
        part: that is said; None = all of it.
    """
    if part is None or not beyond:
        return []
    problem = Problem(
        field,
        f"a part, and {beyond} buffers of whole objects at its other end",
        "parts of objects that come from or go to interface tiles",
        f"{field} is a part of each object, but the other end of FIFO {name} has buffers of whole ones",
        f"Leave {field} out, and give the parts to split or gather.",
        reason="object_fifo",
        where=f"object FIFO {name}",
        source="object FIFO: both ends move the same words",
    )
    return [problem]
