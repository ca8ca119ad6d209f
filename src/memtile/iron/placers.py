"""``aie.iron.placers``, until April 2026: what gave tiles places before the compiler did."""

from __future__ import annotations

from typing import Any

from memtile.iron.device import Tile
from memtile.iron.ops.enums import AIETileType


class Placer:
    """Gives tiles places; this one leaves all of it to the compiler."""

    def make_placement(self, device: Any, workers: list[Any]) -> None:
        """Place workers."""


class SequentialPlacer(Placer):
    """Cores column by column, other tiles near them: what the compiler does too.

    Args:
        cores_per_col: workers of a column at most; default = all of its tiles.
    """

    def __init__(self, cores_per_col: int | None = None) -> None:
        self.cores_per_col = cores_per_col

    def make_placement(self, device: Any, workers: list[Any]) -> None:
        """Place workers, if a column has a limit.

        Raises:
            ValueError: there are more workers than places.
        """
        if self.cores_per_col is None:
            return
        rows = [row for row in range(device.rows) if device.get_tile_type(0, row) == AIETileType.CoreTile]
        places = [(col, row) for col in range(device.cols) for row in rows[: self.cores_per_col]]
        held = {(worker.tile.col, worker.tile.row) for worker in workers}
        free = iter([place for place in places if place not in held])
        for worker in workers:
            if worker.tile.col is None and worker.tile.row is None:
                place = next(free, None)
                if place is None:
                    raise ValueError(
                        f"SequentialPlacer(cores_per_col={self.cores_per_col}): {len(workers)} workers, and "
                        f"{len(places)} places in {device.cols} columns"
                    )
                worker._tile = Tile(*place, tile_type=AIETileType.CoreTile)


__all__ = ["Placer", "SequentialPlacer"]
