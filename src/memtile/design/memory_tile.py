"""One memory tile as a design sees it: alone at a test bench, or part of an array."""

from __future__ import annotations

from collections.abc import Callable

from memtile.arch.devices import device as find_device
from memtile.arch.register_map import tile_register
from memtile.arch.timing import Timing
from memtile.design.bench import MAX_CYCLES, Bench
from memtile.design.tile import Site, Tile
from memtile.explain.results import Result
from memtile.model.state.tiles import Placed
from memtile.sim.engine import Engine


class MemoryTile(Tile):
    """A memory tile; alone, it has nothing around it but the test bench at its stream ports.

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
        site: Site | None = None,
    ) -> None:
        site = site or _alone(device, timing)
        super().__init__(site.bench.device.kind("memory"), site)
        self.interleave(interleaved)

    def interleave(self, on: bool) -> None:
        """Spread consecutive granules over the banks, or have the banks in a row (``kind.granule_bytes``)."""
        control = tile_register(self.kind.name, "Memory_Control")
        mask = control.field("Memory_Interleaving").mask
        self.own_door.mask_write32(control.offset, mask, mask if on else 0)

    def run(
        self,
        max_cycles: int = MAX_CYCLES,
        *,
        untimed: bool = False,
        check: bool = False,
        history: bool = False,
        fast_forward: bool = True,
        data: bool = True,
        progress: Callable[[int], None] | None = None,
    ) -> Result:
        """Run until nothing moves any more, at most ``max_cycles`` further cycles; Ctrl-C keeps what is done.

        Args:
            max_cycles: limit of the cycle run.
            untimed: move the data without a clock.
            history: note what happens in each cycle, for ``Result.report`` and ``Result.perfetto``; slower.
            fast_forward: jump over time that repeats, with the same results; False = step every cycle.
            data: move words; False = find cycles, causes and findings alone, in little time and memory, with
                no outputs and no comparisons. ``Result.words_needed_by`` says why words were moved after all.
            check: look for accesses to memory that nothing orders; ``Result.findings`` has what was found.
            progress: called now and then with the cycles done.
        """
        return self.bench.run(
            max_cycles,
            untimed=untimed,
            fast_forward=fast_forward,
            data=data,
            check=check,
            history=history,
            progress=progress,
        )


def _alone(device: str, timing: Timing | None) -> Site:
    model = find_device(device)
    return Site(Bench(Engine([Placed(model.kind("memory").name)], timing), model), 0)
