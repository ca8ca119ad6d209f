"""Registers of the array in the NoC programming interface (NPI): the open driver's names, places and bits.

Offsets are bytes above ``address_map.NPI_BASE``. No register description covers them (DEV-NPI-1).
"""

from __future__ import annotations

from memtile.arch.grades import Grade, Source
from memtile.arch.registers import Field

CONTROL_MASK = 0x0  # bits of the control register that a write to it changes
CONTROL = 0x4
SHIM_RESET = Field("Shim_Reset", 27, 27)  # of the control register: reset of interface tiles
PROTECTED = 0x200  # whose protected registers may be written, and what the reset of interface tiles is for
PROTECTED_ENABLE = Field("Enable", 0, 0)
FIRST_COLUMN, LAST_COLUMN = Field("First_Column", 7, 1), Field("Last_Column", 14, 8)
INTERRUPTS = 0x30  # a bit for each interrupt line of the second-level controllers
SOURCE = Source("open driver, xaie_npi_aieml.c", Grade.DRIVER)
