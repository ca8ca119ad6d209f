"""Where a host sees the array: absolute addresses of AMD's open driver."""

from __future__ import annotations

from memtile.arch.grades import Grade, Source

ARRAY_BASE = 0x200_0000_0000  # of column 0, row 0, register 0
ARRAY_SOURCE = Source("usual base address of the open driver for Versal", Grade.DRIVER)
NPI_BASE = 0xF70A_0000  # the array's registers in the NoC programming interface
NPI_BYTES = 0x1_0000
NPI_SOURCE = Source("base: open driver; size: one 64 KB block", Grade.ASSUMED)
