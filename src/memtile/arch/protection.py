"""How data memory is protected: the error-correcting code of a 32-bit word, and which banks have it.

AM020: seven check bits per 32-bit word correct one bit and detect two; banks 2 to 7 of a compute tile have
one parity bit per word instead. Which code of that size it is, no text says (DEV-ECC-1).
"""

from __future__ import annotations

from memtile.arch.registers import WORD_BITS, ModuleName
from memtile.arch.tiles import Role

CHECK_BITS = 7
CELLS = WORD_BITS + CHECK_BITS  # of a word: its data bits, then its check bits
PARITY_CELLS = WORD_BITS + 1

_ONES = 3  # in the column of a data bit: odd, so that the sum of two columns is none


def _columns() -> tuple[int, ...]:
    data = [value for value in range(1 << CHECK_BITS) if value.bit_count() == _ONES]
    return (*data[:WORD_BITS], *(1 << n for n in range(CHECK_BITS)))


COLUMNS = _columns()
"""Check bits that change with a cell, by cell; an odd number, so two flips never look like one (Hsiao)."""

LANES = 4  # words of a granule of AIE-ML, each with a bit in Checkbit_Error_Generation (driver)
EVENT_TRUE = 1  # always there (driver)
SCRUB_CORRECTED, SCRUB_FAILED, CORRECTED, FAILED = range(4)  # ECC events, from the first on (driver)
FIRST_ECC_EVENT = "DM_ECC_ERROR_SCRUB_CORRECTED"
FIRST_PARITY_EVENT = "DM_PARITY_ERROR_BANK_2"

MEMORY_MODULE: dict[Role, ModuleName] = {"memory": "memory_tile", "compute": "memory"}
"""Module of the events about a tile's data memory."""
