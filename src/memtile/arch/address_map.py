"""Where a host sees the array, and the array a host: absolute addresses of AMD's open driver and compiler.

It also has registers of the array in the NoC (NPI): the open driver's names, places and bits.

Offsets are bytes above ``address_map.NPI_BASE``. No register description covers them (DEV-NPI-1).
"""

from __future__ import annotations

from memtile.arch.grades import Grade, Source
from memtile.arch.registers import Field

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
