"""Files of output PLIOs: what has left the array, as AMD's simulators write it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memtile.adf.description import MemoryObject, Plio
from memtile.adf.plan import Plan
from memtile.errors import DesignError
from memtile.io import plio_csv, plio_text
from memtile.output_files import make_folder

if TYPE_CHECKING:  # the array is imported when a graph runs
    from memtile.adf.plio_ports import Collected

CSV = ".csv"
_PICOSECONDS = 1_000_000  # of a cycle at 1 MHz


@dataclass(frozen=True, slots=True)
class OutputFiles:
    """Where files of output PLIOs go, and what is in them.

    Attributes:
        folder: below which the paths of the graph are.
        timed: with the time of each line, as aiesimulator writes it.
        functional: without TLAST at the ends of buffers, as x86simulator writes it (DEV-ADF-57).
    """

    folder: Path
    timed: bool
    functional: bool = False

    def write(self, plan: Plan, outputs: Mapping[str, Collected], mhz: float) -> list[Path]:
        """Write the file of each output PLIO that has one.

        Args:
            plan: of the graphs.
            outputs: what has left the array, by name of the PLIO.
            mhz: of the array's clock.

        Returns:
            The files.

        Raises:
            InputFileError: one cannot be written.
        """
        written = []
        for plio in plan.description.plios:
            if plio.direction == "out" and plio.file:
                path = self.folder / plio.file
                make_folder(path.parent)
                self._write(path, plan, plio, outputs[plio.name], mhz)
                written.append(path)
        return written

    def _write(self, path: Path, plan: Plan, plio: Plio, got: Collected, mhz: float) -> None:
        element = element_at(plan, plio)
        tlast = np.zeros_like(got.tlast) if self.functional and carries_buffers(plan, plio) else got.tlast
        if path.suffix == CSV:
            plio_csv.write_plio_csv(path, got.words, tlast, element, plio.width)
            return
        times = _picoseconds(got, mhz) if self.timed else None
        plio_text.write_plio(path, got.words, tlast, element, plio.width, times_ps=times, hex=plio.hex)


def _picoseconds(got: Collected, mhz: float) -> plio_text.Times | None:
    if got.cycles is None or not mhz:
        return None
    return np.asarray(np.rint(got.cycles * (_PICOSECONDS / mhz)), np.int64)


def carries_buffers(plan: Plan, plio: Plio) -> bool:
    """Whether an output PLIO gets whole buffers, and neither a stream of a kernel nor packets."""
    ports = {port.id: port for port in plan.description.ports}
    net = next(each for each in plan.nets if any(end.port == plio.port for end in each.targets))
    return not net.packets and all(
        ports[end.port].kind not in ("stream", "packet_stream") for end in net.sources
    )


def element_at(plan: Plan, plio: Plio) -> str:
    """The type of the elements that cross a PLIO: that of the kernel or buffer at the other end.

    Raises:
        DesignError: nothing that has a type is joined to it.
    """
    ports = {port.id: port for port in plan.description.ports}
    memories = {port: memory for memory in plan.description.memories for port in _ports_of(memory)}
    for net in plan.nets:
        ends = (net.sources, net.targets)
        mine, others = ends if plio.direction == "in" else ends[::-1]
        if any(end.port == plio.port for end in mine):
            for end in others:
                memory = memories.get(end.port)
                if name := ports[end.port].element or (memory.element if memory else ""):
                    return name
    raise DesignError.of(
        "element type",
        "none",
        "that of a kernel's argument or of a buffer",
        "no kernel and no buffer with an element type is joined to it, so its file cannot be read or written",
        reason="adf_plio_type",
        where=plio.name,
        source="UG1076: TXT file format",
    )


def _ports_of(memory: MemoryObject) -> Iterator[int]:
    yield from (*memory.inputs, *memory.outputs)
