"""One memory tile as a design sees it: alone at a test bench, or part of an array."""

from __future__ import annotations

from typing import Unpack

from memtile.arch.devices import device as find_device
from memtile.arch.register_map import tile_register
from memtile.arch.timing import Timing
from memtile.design.arguments import refuse, truth
from memtile.design.bench import Bench
from memtile.design.tile import Tile, TileSite
from memtile.explain.results import Result
from memtile.model.state.tile_columns import Placed
from memtile.runs.options import RunKeywords, RunOptions
from memtile.sim.loop.engine import Engine


class MemoryTile(Tile):
    """A memory tile; a single one has only the test bench at its stream ports.

    Args:
        device: device name, see ``memtile info``; of a tile alone.
        timing: timing constants; the defaults of ``arch.timing`` if omitted; of a tile alone.
        interleaved: bank mapping; True = consecutive granules in consecutive banks, as after reset.
        site: where it is in an array; None = alone.

    Attributes:
        s2mm: the six stream-to-memory channels.
        mm2s: the six memory-to-stream channels.
        door: the memory-mapped AXI4 port, as a host uses it: its accesses are ``access_cycles`` apart.
    """

    def __init__(
        self,
        device: str = "npu1",
        *,
        timing: Timing | None = None,
        interleaved: bool = True,
        site: TileSite | None = None,
    ) -> None:
        site = site or _alone(device, timing)
        super().__init__(site.bench.device.kind("memory"), site)
        self.interleave(interleaved)

    def interleave(self, on: bool) -> None:
        """Spread consecutive granules over the banks, or have the banks in a row (``kind.granule_bytes``)."""
        refuse(f"{self.title}, interleave", truth("on", on))
        control = tile_register(self.kind.name, "Memory_Control")
        mask = control.field("Memory_Interleaving").mask
        self.own_door.mask_write32(control.offset, mask, mask if on else 0)

    def run(self, options: RunOptions | int | None = None, **more: Unpack[RunKeywords]) -> Result:
        """Run until nothing moves any more, or the limit is reached; Ctrl-C keeps the results so far.

        Args:
            options: of the run, or its limit in further cycles.
            more: fields of :class:`RunOptions`.

        Raises:
            DesignError: as :meth:`Array.run` raises it.
        """
        return self.bench.run(options, **more)


def _alone(device: str, timing: Timing | None) -> TileSite:
    model = find_device(device)
    return TileSite(Bench(Engine([Placed(model.kind("memory").name)], timing), model), 0)
