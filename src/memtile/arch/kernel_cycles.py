"""Published cycle counts of AMD's kernels, one row each, from the file that has the columns.

Half of the rows, by a digest of their ids, validate what is derived from the others (docs/kernels.md).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from memtile.arch.grades import Grade, Source

_SOURCES = {
    "levers": Source("mlir-aie, skills/aie-kernel-opt-static/references/levers.md, traced", Grade.SILICON),
    "guide": Source("mlir-aie, programming_guide/section-4/section-4c, traced", Grade.SILICON),
}
MOST_FILL = 12
"""Cycles that the pipeline of a loop takes to fill, at most, whatever its stages."""
MOST_FILL_SOURCE = Source(
    "least mean error among the counts that calibrate, each from the others (docs/kernels.md)", Grade.SILICON
)
_SECTION = re.compile(r"# \[(\w+)\]")
_LOOP = re.compile(r"(\d+)x(\d+)(?:n(\d+))?")


class Loop(NamedTuple):
    """A loop of a kernel's object, as its compiler reports it.

    Attributes:
        trips: of one call at the row's shape.
        interval: cycles from the start of a trip to that of the next.
        stages: trips that are under way at once.
    """

    trips: int
    interval: int
    stages: int = 1


@dataclass(frozen=True, slots=True)
class CycleCount:
    """A published number of cycles of one call.

    Attributes:
        device: ``npu1`` or ``npu2``.
        kernel: as mlir-aie's factories name it.
        types: of its elements.
        shape: of the call.
        state: of the kernel's source.
        cycles: measured.
        loops: of that state's object; none where they are not published.
        source: where the number is from.
    """

    device: str
    kernel: str
    types: str
    shape: str
    state: str
    cycles: int
    loops: tuple[Loop, ...]
    source: Source

    @property
    def id(self) -> str:
        """The facts that tell the row from all others, with slashes between them."""
        return "/".join((self.device, self.kernel, self.types, self.shape, self.state))

    @property
    def validates(self) -> bool:
        """Whether the row is kept back to judge rules that others gave."""
        return int(hashlib.sha1(self.id.encode(), usedforsecurity=False).hexdigest()[-1], 16) % 2 == 0


@cache
def cycle_counts() -> tuple[CycleCount, ...]:
    """Every published count, in the order of the file; what it says of a kernel later is newer."""
    rows, source = [], _SOURCES["levers"]
    for line in files(__package__).joinpath("kernel_cycles.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            found = _SECTION.match(line)
            source = _SOURCES[found[1]] if found else source
        else:
            *names, cycles, loops = line.split()
            device, kernel, types, shape, state = names
            each = tuple(Loop(int(n), int(ii), int(ns or 1)) for n, ii, ns in _LOOP.findall(loops))
            rows.append(CycleCount(device, kernel, types, shape, state, int(cycles), each, source))
    return tuple(rows)
