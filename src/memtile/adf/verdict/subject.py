"""What the rules of AMD's compiler judge: a graph, its device, and what follows from both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from memtile.adf.description import Place, Port
from memtile.adf.nets import Wiring
from memtile.adf.objects import BUFFERS, Objects
from memtile.adf.rates import Rates
from memtile.adf.verdict.verdicts import Verdict
from memtile.arch.devices import Device
from memtile.errors import Problem

Tile = tuple[int, int]


@dataclass(frozen=True)
class Subject:
    """A graph to judge.

    Attributes:
        objects: of its description.
        device: that it is for.
        nets: of it.
        rates: of it.
        problems: volumes and sizes that contradict each other.
    """

    objects: Objects
    device: Device
    nets: list[Wiring]
    rates: Rates
    problems: tuple[Problem, ...] = field(default=())

    def places(self, what: str, number: int) -> tuple[Place, ...]:
        """Of a ``location<what>`` constraint; empty = there is none."""
        found = [
            one for one in self.objects.description.locations if (one.what, one.object) == (what, number)
        ]
        return found[-1].places if found else ()

    def core(self, kernel: int) -> Tile | None:
        """The core that ``location<kernel>`` gives, as the user counts; None = none is given."""
        found = next((p for p in self.places("kernel", kernel) if p.kind == "tile"), None)
        return (found.column, found.row) if found else None

    def rows(self, kind: str) -> int:
        """Rows of the device that have tiles of a kind, which users count from 0."""
        device = self.device
        return {"compute": len(device.compute_rows), "memory": len(device.memory_rows)}.get(kind, 1)

    def has_tile(self, kind: str, column: int, row: int) -> bool:
        """Whether the device has a tile of a kind there, as the user counts."""
        return 0 <= column < self.device.columns and 0 <= row < self.rows(kind)

    def leaves_by_dma(self, port: Port) -> bool:
        """Whether a kernel's buffer can only be filled or emptied by a DMA: its net leads to no kernel."""
        ends = next(
            (e for n in self.nets if port.id in (e := [t.port for t in (*n.sources, *n.targets)])), []
        )
        others = [self.objects.ports[end] for end in ends if end != port.id]
        return port.kind in BUFFERS and bool(others) and all(o.kind not in BUFFERS for o in others)


Rule = Callable[[Subject], Iterator[Verdict]]
