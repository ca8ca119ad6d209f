"""The devices and where their tiles are (AM020 chapter 1, mlir-aie device model, measurements on Phoenix).

Row 0 holds interface tiles, then come one or two rows of memory tiles, then compute tiles. Columns and rows
are those that a design sees; a device that keeps columns for itself has more of them physically.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from memtile.arch.grades import Grade, Source
from memtile.arch.tiles import Generation, Role, TileKind, TileName, kinds_of
from memtile.errors import DesignError, Problem

INTERFACE_ROWS = 1


@dataclass(frozen=True, slots=True)
class Device:
    """An array of tiles.

    Attributes:
        name: lower case, as AMD's tools spell it.
        columns: columns that a design may use, numbered from 0.
        rows: all rows, interface and memory tile rows included.
        memory_tile_rows: rows of memory tiles, above the interface row.
        noc_columns: columns whose interface tile has a DMA.
        generation: of the array.
        transaction_generations: numbers by which headers of transactions name its generation.
        family: what AMD sells it as.
        first_column: physical number of design column 0.
        physical_columns: columns on the die that neighbour each other.
        source: of columns, rows and NoC columns.
        physical_source: of the two physical numbers.
    """

    name: str
    columns: int
    rows: int
    memory_tile_rows: int
    noc_columns: tuple[int, ...]
    generation: Generation
    transaction_generations: tuple[int, ...]
    family: str
    first_column: int
    physical_columns: int
    source: Source
    physical_source: Source

    @property
    def memory_rows(self) -> range:
        """Row numbers of the memory tiles."""
        return range(INTERFACE_ROWS, INTERFACE_ROWS + self.memory_tile_rows)

    @property
    def compute_rows(self) -> range:
        """Row numbers of the compute tiles."""
        return range(self.memory_rows.stop, self.rows)

    def tile(self, column: int, row: int) -> TileName:
        """Kind of the tile at ``(column, row)``.

        Raises:
            DesignError: outside the device.
        """
        self._check("column", column, self.columns)
        self._check("row", row, self.rows)
        if row < INTERFACE_ROWS:
            return self.kind("interface").name
        return self.kind("memory" if row in self.memory_rows else "compute").name

    def kind(self, role: Role) -> TileKind:
        """The tile kind of the device's generation that has a role."""
        return next(kind for kind in kinds_of(self.generation).values() if kind.role == role)

    def has_interface_dma(self, column: int) -> bool:
        """Whether the interface tile of ``column`` moves data between the array and memory outside it.

        Raises:
            DesignError: outside the device.
        """
        self._check("column", column, self.columns)
        return column in self.noc_columns

    def has_west_neighbour(self, column: int) -> bool:
        """Whether ``column`` has a western neighbour on the die, usable by the design or not.

        Raises:
            DesignError: outside the device.
        """
        self._check("column", column, self.columns)
        return self.first_column + column > 0

    def has_east_neighbour(self, column: int) -> bool:
        """Whether ``column`` has an eastern neighbour on the die, usable by the design or not.

        Raises:
            DesignError: outside the device.
        """
        self._check("column", column, self.columns)
        return self.first_column + column + 1 < self.physical_columns

    def _check(self, what: str, given: int, count: int) -> None:
        if not 0 <= given < count:
            raise DesignError(
                Problem(
                    reason=what,
                    where=self.name,
                    field=what,
                    given=str(given),
                    allowed=f"0..{count - 1}",
                    source=self.source.text,
                )
            )


_VERSAL = Source("mlir-aie device model; AM020 chapter 1", Grade.DRIVER)
_ALL = Source("every column of the device belongs to the design", Grade.DRIVER)

_VERSAL_2 = Source("mlir-aie device model of the VE3858 (pull request 3593)", Grade.DRIVER)

_DRIVER, _NPU1 = 2, 3  # AIE-ML as the driver numbers the generations, and NPU1 as mlir-aie does

_DEVICES = (
    Device(
        name="xcve2802",
        columns=38,
        rows=11,
        memory_tile_rows=2,
        noc_columns=(2, 3, 6, 7, 14, 15, 22, 23, 30, 31, 34, 35),
        generation="AIE-ML",
        transaction_generations=(_DRIVER,),
        family="Versal AI Edge",
        first_column=0,
        physical_columns=38,
        source=_VERSAL,
        physical_source=_ALL,
    ),
    Device(
        name="xcve2302",
        columns=17,
        rows=4,
        memory_tile_rows=1,
        noc_columns=(2, 3, 6, 7, 10, 11),
        generation="AIE-ML",
        transaction_generations=(_DRIVER,),
        family="Versal AI Edge",
        first_column=0,
        physical_columns=17,
        source=_VERSAL,
        physical_source=_ALL,
    ),
    Device(
        name="npu1",
        columns=4,
        rows=6,
        memory_tile_rows=1,
        noc_columns=(0, 1, 2, 3),
        generation="AIE-ML",
        transaction_generations=(_DRIVER, _NPU1),
        family="Ryzen AI NPU (Phoenix, Hawk Point)",
        first_column=1,
        physical_columns=5,
        source=Source("mlir-aie device model", Grade.DRIVER),
        physical_source=Source(
            "measured on Phoenix: column 0 has a memory tile and cores but no interface DMA", Grade.SILICON
        ),
    ),
    Device(  # DEV-V2-5: which columns have an interface DMA is not known, and no model has it (DEV-V2-9)
        name="xc2ve3858",
        columns=36,
        rows=7,
        memory_tile_rows=2,
        noc_columns=(),
        generation="AIE-ML v2",
        transaction_generations=(),
        family="Versal AI Edge Gen 2",
        first_column=0,
        physical_columns=36,
        source=_VERSAL_2,
        physical_source=_ALL,
    ),
)
DEVICES: Mapping[str, Device] = MappingProxyType({d.name: d for d in _DEVICES})


def device(name: str) -> Device:
    """The device called ``name``, in any case; raises :class:`DesignError` listing the known ones."""
    found = DEVICES.get(name.lower())
    if found:
        return found
    near = get_close_matches(name.lower(), DEVICES, 1)
    raise DesignError(
        Problem(
            reason="device",
            where="device table",
            field="device",
            given=repr(name),
            allowed=f"one of {', '.join(DEVICES)}",
            source="mlir-aie device model",
            next_step=f"Did you mean {near[0]}?" if near else "",
        )
    )
