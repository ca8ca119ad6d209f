"""What a core's vector unit does in a cycle, at most: for lower bounds of the time a function takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from memtile.arch.grades import Grade, Source
from memtile.arch.tiles import Generation


@dataclass(frozen=True, slots=True)
class Throughput:
    """Multiplications with accumulation of one core in one cycle, without sparsity.

    Attributes:
        macs: element type of the operands, as names of functions write it -> MACs per cycle.
        scalar_macs: of the scalar unit.
        source: where the numbers are from.
    """

    macs: Mapping[str, int]
    scalar_macs: int
    source: Source


_AIE_ML = MappingProxyType({"i8": 256, "i16": 64, "i32": 16, "bf16": 128, "f32": 21})

THROUGHPUT: Mapping[Generation, Throughput] = MappingProxyType(
    {
        "AIE-ML": Throughput(
            _AIE_ML,
            1,
            Source(
                "AM020 summary: operations per tile and cycle, two to a MAC; i32, f32 emulated", Grade.MANUAL
            ),
        ),
        "AIE2P": Throughput(
            MappingProxyType({kind: 2 * macs for kind, macs in _AIE_ML.items()}),
            1,
            Source("twice AIE-ML, as its vectors are twice as wide (DEV-KERNEL-1)", Grade.ASSUMED),
        ),
        "AIE-ML v2": Throughput(
            MappingProxyType({kind: 2 * macs for kind, macs in _AIE_ML.items()}),
            1,
            Source("twice AIE-ML, as its vectors are twice as wide (DEV-KERNEL-1)", Grade.ASSUMED),
        ),
    }
)
"""Peaks: what a kernel reaches of them is assumed to be all (DEV-KERNEL-1), so that times are lower
bounds.
"""

BLOCKS: Mapping[Generation, Mapping[str, tuple[int, int, int]]] = MappingProxyType(
    {
        "AIE-ML": MappingProxyType({"i8": (4, 8, 8), "i16": (4, 4, 4), "bf16": (4, 8, 4)}),
        "AIE2P": MappingProxyType({"i8": (8, 8, 8), "i16": (4, 4, 8), "bf16": (4, 8, 8)}),
        "AIE-ML v2": MappingProxyType({"i8": (8, 8, 8), "i16": (4, 4, 8), "bf16": (4, 8, 8)}),
    }
)
"""Blocks (r, s, t) of matrix products: r x s by s x t (mlir-aie's ``mm``, ``mac_dims`` of aie2 and aie2p)."""
