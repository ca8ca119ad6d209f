"""``aie.iron.dataflow.endpoint``: what uses one end of an object FIFO."""

from __future__ import annotations

from typing import Any


class ObjectFifoEndpoint:
    """A user of an end of an object FIFO.

    Args:
        tile: that it is on.
    """

    def __init__(self, tile: Any) -> None:
        self._tile = tile

    @property
    def tile(self) -> Any:
        """That it is on."""
        return self._tile
