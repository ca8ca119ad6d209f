"""The devices, where their tiles are, and where a host sees them (AM020, mlir-aie, driver, measurements).

Row 0 holds interface tiles, then come one or two rows of memory tiles, then compute tiles. Columns and rows
are those that a design sees; a device that keeps columns for itself has more of them physically. Partitions
of NPUs have names of their own in mlir-aie (``npu2_4col``); they are devices here too, with fewer columns.
Addresses, those of the NoC programming interface (NPI) among them, are the open driver's: no register
description covers these (DEV-NPI-1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from types import MappingProxyType

from memtile.arch.dispatch import Dispatch
from memtile.arch.grades import Grade, Source
from memtile.arch.registers import Field
from memtile.arch.tiles import Generation, Role, TileKind, TileName, kind_of
from memtile.errors import DesignError

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
        family: AMD's product family.
        board: name in ``arch.boards.BOARDS`` of the board with its measured constants; "" = none was
            measured.
        dispatch: default way to launch its programs (DEV-QUEUE-2).
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
    board: str = ""
    dispatch: Dispatch = Dispatch.XCLBIN

    @property
    def memory_rows(self) -> range:
        """Row numbers of the memory tiles."""
        return range(INTERFACE_ROWS, INTERFACE_ROWS + self.memory_tile_rows)

    @property
    def compute_rows(self) -> range:
        """Row numbers of the compute tiles."""
        return range(self.memory_rows.stop, self.rows)

    def tile(self, column: int, row: int) -> TileName:
        """Return the kind of the tile at ``(column, row)``.

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
        return kind_of(self.generation, role)

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

    @property
    def has_programmable_logic(self) -> bool:
        """Whether its interface tiles have streams to programmable logic: Versal devices have, NPUs not."""
        return self.family.startswith("Versal")

    def has_east_neighbour(self, column: int) -> bool:
        """Whether ``column`` has an eastern neighbour on the die, usable by the design or not.

        Raises:
            DesignError: outside the device.
        """
        self._check("column", column, self.columns)
        return self.first_column + column + 1 < self.physical_columns

    def _check(self, what: str, given: int, count: int) -> None:
        if not 0 <= given < count:
            raise DesignError.of(
                what, str(given), f"0..{count - 1}", reason=what, where=self.name, source=self.source.text
            )


_VERSAL = Source("mlir-aie device model; AM020 chapter 1", Grade.DRIVER)
_ALL = Source("every column of the device belongs to the design", Grade.DRIVER)

_VERSAL_2 = Source("mlir-aie device model of the VE3858 (pull request 3593)", Grade.DRIVER)
_NPU = Source("mlir-aie device model", Grade.DRIVER)

# Generations as the driver numbers them, and mlir-aie too; the driver tells steppings of AIE2P apart.
_AIE_ML, _AIE2IPU, _AIE2P, _AIE2PS, _STRIX_A0, _STRIX_B0 = 2, 3, 4, 5, 8, 9

_DEVICES = (
    Device(  # DEV-NOC-1: which columns have an interface DMA
        name="xcve2802",
        columns=38,
        rows=11,
        memory_tile_rows=2,
        noc_columns=(2, 3, 6, 7, 14, 15, 22, 23, 30, 31, 34, 35),
        generation="AIE-ML",
        transaction_generations=(_AIE_ML,),
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
        transaction_generations=(_AIE_ML,),
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
        transaction_generations=(_AIE_ML, _AIE2IPU),
        family="Ryzen AI NPU (Phoenix, Hawk Point)",
        first_column=1,
        physical_columns=5,
        source=_NPU,
        physical_source=Source(
            "measured on Phoenix: column 0 has a memory tile and cores but no interface DMA", Grade.SILICON
        ),
        board="phoenix",
    ),
    Device(
        name="npu2",
        columns=8,
        rows=6,
        memory_tile_rows=1,
        noc_columns=tuple(range(8)),
        generation="AIE2P",
        transaction_generations=(_AIE2P, _STRIX_A0, _STRIX_B0),
        family="Ryzen AI NPU (Strix)",
        first_column=0,
        physical_columns=8,
        source=_NPU,
        physical_source=_ALL,
        board="strix",
        dispatch=Dispatch.ELF,
    ),
    Device(  # DEV-V2-5: which columns have an interface DMA
        name="xc2ve3858",
        columns=36,
        rows=7,
        memory_tile_rows=2,
        noc_columns=tuple(range(36)),
        generation="AIE-ML v2",
        transaction_generations=(_AIE2PS,),
        family="Versal AI Edge Gen 2",
        first_column=0,
        physical_columns=36,
        source=_VERSAL_2,
        physical_source=_ALL,
    ),
)
DEVICES: Mapping[str, Device] = MappingProxyType({d.name: d for d in _DEVICES})


def _partitions(whole: Device) -> Iterator[Device]:
    """The partitions of an NPU under mlir-aie's names: its first columns."""
    for count in range(1, whole.columns):
        columns = tuple(column for column in whole.noc_columns if column < count)
        yield replace(whole, name=f"{whole.name}_{count}col", columns=count, noc_columns=columns)


PARTITIONS: Mapping[str, Device] = MappingProxyType(
    {part.name: part for name in ("npu1", "npu2") for part in _partitions(DEVICES[name])}
    | {"npu1_4col": DEVICES["npu1"], "npu2_8col": DEVICES["npu2"]}  # older names of the whole
)
"""Names of parts of a device, beside those in ``DEVICES``."""

_STRIX = "is an NPU of AIE2P"
_PHOENIX = "is an NPU of AIE-ML"
_CALLED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "phoenix": (_PHOENIX, "npu1"),
        "hawk": (_PHOENIX, "npu1"),
        "hawkpoint": (_PHOENIX, "npu1"),
        "xdna": (_PHOENIX, "npu1"),
        "xdna1": (_PHOENIX, "npu1"),
        "phx": (_PHOENIX, "npu1"),
        "hwk": (_PHOENIX, "npu1"),
        "aie2": ("is the compiler's name of AIE-ML", "npu1"),
        "aieml": ("is a generation", "npu1 or xcve2802"),
        "aie2ipu": ("is the driver's name of the NPU of Phoenix", "npu1"),
        "npu1_5col": ("would be all physical columns of Phoenix, of which designs get four", "npu1"),
        "strix": (_STRIX, "npu2"),
        "strixpoint": (_STRIX, "npu2"),
        "strixhalo": (_STRIX, "npu2"),
        "krackan": (_STRIX, "npu2"),
        "gorgon": (_STRIX, "npu2"),
        "xdna2": (_STRIX, "npu2"),
        "stx": (_STRIX, "npu2"),
        "krk": (_STRIX, "npu2"),
        "aie2p": ("is a generation", "npu2"),
        "npu4": ("is the kernel driver's and IREE's name of the NPU of Strix", "npu2"),
        "npu5": ("is the kernel driver's name of the NPU of Strix Halo", "npu2"),
        "npu6": ("is the kernel driver's name of the NPU of Krackan", "npu2"),
        "npu3": ("is a later NPU, of which no public register description is known here", ""),
        "vek280": ("is a board with an xcve2802", "xcve2802"),
        "ve2802": ("is short for xcve2802", "xcve2802"),
        "ve2302": ("is short for xcve2302", "xcve2302"),
        "v70": ("is a card with an xcve2802", "xcve2802"),
        "aiemlv2": ("is a generation", "xc2ve3858"),
        "aie2ps": ("is the driver's name of AIE-ML v2", "xc2ve3858"),
        "xcve3858": ("is mlir-aie's name of xc2ve3858", "xc2ve3858"),
        "ve3858": ("is short for xc2ve3858", "xc2ve3858"),
        "xcvc1902": ("is of the first generation, AIE, which has no memory tiles", ""),
        "vck190": ("is a board of the first generation, AIE, which has no memory tiles", ""),
    }
)
"""Names that people type for a device: what each one is, and the device to name instead."""


def device(name: str) -> Device:
    """The device or partition called ``name``, in any case.

    Raises:
        DesignError: no device has this name; the error lists the known ones and explains other names.
    """
    key = name.lower()
    found = DEVICES.get(key) or PARTITIONS.get(key)
    if found:
        return found
    raise DesignError.of(
        "device",
        repr(name),
        f"one of {', '.join(DEVICES)} or a partition such as npu2_4col",
        next_step=device_hint(key),
        reason="device",
        where="device table",
        source="mlir-aie device model",
    )


def device_hint(name: str) -> str:
    """What a name that is no device's may mean; empty = it looks like none."""
    name = name.lower()
    known = _CALLED.get(name) or _CALLED.get("".join(c for c in name if c.isalnum()))
    if known:
        what, instead = known
        return f"The name {name} {what}" + (f"; take {instead}." if instead else ".")
    near = get_close_matches(name, [*DEVICES, *PARTITIONS], 1)
    return f"Did you mean {near[0]}?" if near else ""


ARRAY_BASE = 0x200_0000_0000  # of column 0, row 0, register 0
ARRAY_BYTES = 1 << 32
ARRAY_SIZE_SOURCE = Source("Versal address map: 4 GB from the base on", Grade.ASSUMED)
ARRAY_SOURCE = Source("usual base address of the open driver for Versal", Grade.DRIVER)
NPI_BASE = 0xF70A_0000  # the array's registers in the NoC programming interface
NPI_BYTES = 0x1_0000
NPI_SOURCE = Source("base: open driver; size: one 64 KB block", Grade.ASSUMED)

HOST_APERTURE = 0x8000_0000  # where the array of an NPU sees address 0 of the host
TRANSLATED_ARGUMENTS = 5  # whose aperture firmware adds; compilers add that of the others themselves
APERTURE_SOURCE = Source("mlir-aie: address patches of argument 5 and up", Grade.DRIVER)
FIRMWARE_PORT = "SOUTH0"  # of an interface tile's switch, where the firmware of an NPU takes tokens
FIRMWARE_SOURCE = Source("mlir-aie: routes of task-complete tokens", Grade.DRIVER)


CONTROL_MASK = 0x0  # bits of the control register that a write to it changes
CONTROL = 0x4
SHIM_RESET = Field("Shim_Reset", 27, 27)  # of the control register: reset of interface tiles
PROTECTED = 0x200  # whose protected registers may be written, and what the reset of interface tiles is for
PROTECTED_ENABLE = Field("Enable", 0, 0)
FIRST_COLUMN, LAST_COLUMN = Field("First_Column", 7, 1), Field("Last_Column", 14, 8)
INTERRUPTS = 0x30  # a bit for each interrupt line of the second-level controllers
SOURCE = Source("open driver, xaie_npi_aieml.c", Grade.DRIVER)
