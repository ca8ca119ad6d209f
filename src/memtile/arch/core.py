"""The core of a compute tile as memory sees it: windows, address generators, program memory (AM020 ch. 4).

No instruction set: a core is modelled by what it asks of memories and locks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from memtile.arch.tiles import COMPUTE, WORD_BYTES, Generation


@dataclass(frozen=True, slots=True)
class CoreKind:
    """Limits of a core; addresses in bytes.

    Attributes:
        memory_windows: side -> first byte of that tile's data memory in the core's address space, in address
            order (AM020; open compiler's target model).
        lock_windows: side -> first lock id of that tile as the core sees it (open driver).
        loads: address generators that load.
        stores: address generators that store.
        vector_bits: width of a vector access: both banks of a pair (AM020).
        register_bits: of a vector register of the full width (AM020).
        scalar_bits: widths of the scalar mode; below ``WORD_BYTES`` a store is a read-modify-write (UG1603).
        program_base: program memory in the tile's address space (open driver).
        program_bytes: its size (AM020: 16 KB, 1024 instructions of 128 bit).
        cascade_bits: of a value on the cascade (AM020).
        cascade_depth: values that its cascade output holds, and its input (AM020: two-deep FIFOs).
    """

    memory_windows: Mapping[str, int]
    lock_windows: Mapping[str, int]
    loads: int
    stores: int
    vector_bits: int
    register_bits: int
    scalar_bits: tuple[int, ...]
    program_base: int
    program_bytes: int
    cascade_bits: int
    cascade_depth: int

    @property
    def ports(self) -> int:
        """Address generators: the loads, then the stores."""
        return self.loads + self.stores

    @property
    def program_words(self) -> int:
        """Program memory in 32-bit words."""
        return self.program_bytes // WORD_BYTES

    @property
    def cascade_words(self) -> int:
        """32-bit words of a value on the cascade."""
        return self.cascade_bits // (8 * WORD_BYTES)


CORE = CoreKind(
    memory_windows=MappingProxyType({"south": 0x40000, "west": 0x50000, "north": 0x60000, "own": 0x70000}),
    lock_windows=MappingProxyType({"south": 0, "west": 16, "north": 32, "own": 48}),
    loads=2,
    stores=1,
    vector_bits=256,
    register_bits=512,
    scalar_bits=(32, 16, 8),
    program_base=0x20000,
    program_bytes=0x4000,
    cascade_bits=512,
    cascade_depth=2,
)

CORES: Mapping[Generation, CoreKind] = MappingProxyType(
    {  # the rest is assumed the same (DEV-AIE2P-2, DEV-V2-9)
        "AIE-ML": CORE,
        "AIE2P": replace(CORE, vector_bits=512),
        "AIE-ML v2": replace(CORE, vector_bits=512),
    }
)

BFP16_NUMBERS, BFP16_BYTES = 8, 9
"""Numbers that share an exponent in bfp16, and bytes of such a block, the exponent first (mlir-aie,
block_datatypes)."""
BFP16_BIAS, BFP16_FRACTION_BITS, BFP16_LARGEST = 127, 6, 254
"""Its exponents: their bias, the bits of a number behind the point, the largest of finite numbers (the
same)."""

DEFAULT_STACK_BYTES = DEFAULT_HEAP_BYTES = 1024  # of a program, unless told otherwise (UG1603)

SIDES = tuple(CORE.memory_windows)
"""Sides in the order of both kinds of windows; the last is the core's own tile."""

SIDE_STEPS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"south": (0, -1), "west": (-1, 0), "north": (0, 1), "own": (0, 0)}
)
"""Columns and rows from a core to the tile on each side; an eastern neighbour's memory is out of reach."""

CASCADE_STEPS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"north": (0, 1), "west": (-1, 0), "south": (0, -1), "east": (1, 0)}
)
"""Columns and rows from a core to its neighbours on the cascade: two for its input, two for its output."""

VECTOR_BANKS = CORE.vector_bits // 8 // COMPUTE.granule_bytes  # both of a pair, in every generation
WINDOW_WORDS = COMPUTE.memory_words
