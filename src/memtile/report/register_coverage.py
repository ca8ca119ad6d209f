"""How many of the registers that AMD documents or its driver knows the twin has, and what they do.

The list is ``arch/driver_registers*.txt``, which holds every register of AM025 and of the driver's header:
facts to compare our tables with, and not made from them. What each does is what its row in the register
tables says, and nothing is counted by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from itertools import product
from types import MappingProxyType
from typing import Any

from memtile.arch.core import CORE
from memtile.arch.devices import DEVICES
from memtile.arch.register_map import TILE_MODULES, register_at
from memtile.arch.registers import Acts, ModuleName
from memtile.arch.tiles import Generation, TileKind, kinds_of
from memtile.errors import DesignError, Problem

_LINE = re.compile(
    r"(?P<used>\*)? *(?P<name>\w[\w#]*) (?P<offset>0x[0-9a-f]+)(?P<axes>( \d+\.\.\d+/0x[0-9a-f]+)*)"
)
_FILES = ("driver_registers.txt", "driver_registers_2p.txt")
_AXIS = re.compile(r"(\d+)\.\.(\d+)/(0x[0-9a-f]+)")


@dataclass(frozen=True, slots=True)
class DriverRegister:
    """One register of the driver's header.

    Attributes:
        name: the header's spelling, without the module.
        offset: first byte inside the tile's address space.
        used: whether the driver's sources or register tables name it, or its family.
    """

    name: str
    offset: int
    used: bool


@cache
def driver_registers(module: ModuleName) -> tuple[DriverRegister, ...]:
    """The registers of a module, in the order of its list; empty for one that the driver has no header of."""
    return _lists().get(module, ())


@cache
def _lists() -> Mapping[str, tuple[DriverRegister, ...]]:
    found: dict[str, tuple[DriverRegister, ...]] = {}
    module = ""
    texts = [files("memtile.arch").joinpath(name).read_text() for name in _FILES]
    for line in "".join(texts).splitlines():
        if line.startswith("["):
            module = line.strip("[]")
            found[module] = ()
        elif not line.startswith("#"):
            found[module] += tuple(_family(line))
    return MappingProxyType(found)


def _family(line: str) -> Iterator[DriverRegister]:
    """The registers of one line."""
    parts = _LINE.fullmatch(line.strip())
    if parts is None:
        raise ValueError(f"a list of the driver's registers: {line!r} is no register")
    axes = [(int(a), int(b), int(s, 16)) for a, b, s in _AXIS.findall(parts["axes"])]
    pattern, base = parts["name"].replace("#", "{}"), int(parts["offset"], 16)
    for index in product(*(range(first, last + 1) for first, last, _ in axes)):
        steps = zip(index, axes, strict=True)
        offset = base + sum((n - first) * stride for n, (first, _, stride) in steps)
        yield DriverRegister(pattern.format(*index), offset, parts["used"] is not None)


SOURCE = "AM025; register header of AMD's driver, aie-rt release/main_aig"


class Standing(StrEnum):
    """What becomes of an access to a register."""

    ACTS = "act"  # the register does something, or the model looks at it or counts in it
    STORES = "store"  # it keeps what is written
    REFUSED = "refused"  # slave error


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many registers of a set have each standing.

    Attributes:
        name: of the set: a module, or what it is otherwise.
        tile: title of the tile kind; empty for more than one.
        counts: standing -> registers.
        refused: ``module.NAME`` of those that are refused, in address order.
    """

    name: str
    tile: str
    counts: Mapping[Standing, int]
    refused: tuple[str, ...]

    @property
    def registers(self) -> int:
        """All of the set."""
        return sum(self.counts.values())

    @property
    def answered(self) -> int:
        """Those that act or store."""
        return self.registers - self.counts[Standing.REFUSED]

    @property
    def percent(self) -> float:
        """Those that act or store, in percent, to one digit after the point and never rounded up."""
        return 1000 * self.answered // self.registers / 10

    def cells(self) -> dict[str, object]:
        """A line of the table that ``memtile info --registers`` prints, by column."""
        counts = {str(standing): count for standing, count in self.counts.items()}
        return {"registers": self.registers, **counts, "act or store": f"{self.percent:g} %"}

    def as_json(self) -> dict[str, Any]:
        """Counts by standing, the percentage and the refused names."""
        counts = {str(standing): count for standing, count in self.counts.items()}
        return {"registers": self.registers, **counts, "percent": self.percent, "names": [*self.refused]}


@dataclass(frozen=True, slots=True)
class RegisterCoverage:
    """The registers of a generation.

    Attributes:
        generation: of the array.
        modules: one for each module.
        everything: all of them.
        used: those that the driver uses.
    """

    generation: Generation
    modules: tuple[Coverage, ...]
    everything: Coverage
    used: Coverage

    def as_json(self) -> dict[str, Any]:
        """The coverage as ``memtile info --registers --json`` prints it."""
        return {
            "generation": self.generation,
            "devices": [d.name for d in DEVICES.values() if d.generation == self.generation],
            "source": SOURCE,
            "modules": {c.name: {"tile": c.tile, **c.as_json()} for c in self.modules},
            "all": self.everything.as_json(),
            "used_by_driver": self.used.as_json(),
        }


@dataclass(frozen=True, slots=True)
class _Found:
    module: ModuleName
    register: DriverRegister
    standing: Standing


def register_coverage(generation: Generation = "AIE-ML") -> RegisterCoverage:
    """Count the registers of a generation's modules by what an access to them does.

    Raises:
        DesignError: no list of the registers of that generation is public.
    """
    kinds = [(kind, module) for kind in kinds_of(generation).values() for module in TILE_MODULES[kind.name]]
    missing = [module for _, module in kinds if not driver_registers(module)]
    if missing:
        raise DesignError(_unlisted(generation, missing))
    found = {module: tuple(_standings(kind, module)) for kind, module in kinds}
    every = [each for rows in found.values() for each in rows]
    modules = tuple(_counted(module, kind.title, found[module]) for kind, module in kinds)
    used = [each for each in every if each.register.used]
    return RegisterCoverage(
        generation, modules, _counted("all modules", "", every), _counted("used by the driver", "", used)
    )


def _standings(kind: TileKind, module: ModuleName) -> Iterator[_Found]:
    for register in driver_registers(module):
        yield _Found(module, register, _standing(kind, register.offset))


def _standing(kind: TileKind, offset: int) -> Standing:
    if kind.role == "compute" and CORE.program_base <= offset < CORE.program_base + CORE.program_bytes:
        return Standing.ACTS
    row = register_at(kind.name, offset)
    if row is None:
        return Standing.REFUSED
    return Standing.STORES if row.acts is Acts.KEEPS else Standing.ACTS


def _counted(name: str, tile: str, rows: Iterable[_Found]) -> Coverage:
    counts = dict.fromkeys(Standing, 0)
    refused = []
    for row in rows:
        counts[row.standing] += 1
        if row.standing is Standing.REFUSED:
            refused.append(f"{row.module}.{row.register.name}")
    return Coverage(name, tile, counts, tuple(refused))


def _unlisted(generation: Generation, modules: Iterable[str]) -> Problem:
    listed = [g for g in {d.generation: None for d in DEVICES.values()} if g != generation]
    return Problem(
        "generation",
        generation,
        " or ".join(listed),
        f"the registers of {generation} are not in it: modules {', '.join(modules)}",
        "Ask for a device of another generation.",
        reason="register_list",
        where="register list",
        source=SOURCE,
    )
