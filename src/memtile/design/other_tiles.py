"""The other tiles of an array: compute tiles and interface tiles."""

from __future__ import annotations

from memtile.design.tile import Site, Tile
from memtile.sim.kernels import Kernel


class ComputeTile(Tile):
    """A compute tile: 64 KB of data memory, two channels each way.

    Args:
        site: where it is in the array.
    """

    def __init__(self, site: Site) -> None:
        super().__init__(site.bench.device.kind("compute"), site)

    def run_kernel(self, kernel: Kernel, *, endless: bool = False) -> None:
        """Have the core run a kernel from the next cycle on.

        Args:
            kernel: generator function over a :class:`~memtile.sim.kernels.Core`.
            endless: it serves as long as there is work: a run may end while it waits for a lock.

        Raises:
            DesignError: the core runs a kernel that has not ended.
        """
        self.engine.attach_kernel(self.index, kernel, endless=endless)


class InterfaceTile(Tile):
    """An interface tile: two channels each way between the array and external memory.

    Args:
        site: where it is in the array.
    """

    def __init__(self, site: Site) -> None:
        super().__init__(site.bench.device.kind("interface"), site)

    def _is_behind(self, window: str, place: tuple[int, int] | None) -> bool:
        """All interface tiles reach the same external memory; its buffers have no place in the array."""
        return window in self.kind.memory_windows and place is None
