"""An array that only gives its names and kernels: what runs is another one, so accesses to it are refused.

``memtile serve --design`` runs kernels of a design in the array of its clients. A kernel that went past its
core, to the tiles of its design, would read and write what nobody looks at.
"""

from __future__ import annotations

from typing import Any

from memtile.design.array import Array
from memtile.errors import DesignError


class _Elsewhere:
    """A port through which nothing is reached.

    Args:
        title: of the tile.
    """

    def __init__(self, title: str) -> None:
        self._title = title

    def __getattr__(self, name: str) -> Any:
        raise DesignError.of(
            "array",
            f"an access to {self._title} by the design",
            "accesses by the core of a kernel",
            f"{self._title} of the design is accessed, and its kernels run in the array that clients set up",
            "Use the core that the kernel is given, such as core.view(buffer) and core.release(lock).",
            reason="served_array",
            where="memtile serve --design",
            source="docs/serve.md",
        )


def set_aside(array: Array) -> None:
    """Refuse all accesses to the tiles of an array from now on."""
    array.engine.observe(lambda _door, tile: _Elsewhere(f"tile {tile}"))  # type: ignore[arg-type,return-value]
    for tile in array.tiles:
        port: Any = _Elsewhere(tile.title)
        tile.door = tile.own_door = port
