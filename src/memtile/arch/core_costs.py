"""Cycles that operations of a core's program are said to take, each with range, source and grade.

A core executes several operations in a cycle where its compiler finds them; nobody outside knows which. So a
body that is read from MLIR takes the sum of these, and results say how much of their cycles hang on them.

It also says what a core's vector unit does in a cycle, at most, for lower bounds of times. Published counts
of kernels are those of :mod:`memtile.arch.kernel_cycles`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from memtile.arch.grades import Grade, Source
from memtile.arch.tiles import Generation
from memtile.errors import DesignError, Problem, raise_if

_SCALAR = "AM020 chapter 4: scalar unit; a guess of what is hidden behind other operations"


def _cost(value: int, low: int, high: int, source: str = _SCALAR) -> Any:
    return field(default=value, metadata={"low": low, "high": high, "source": Source(source, Grade.ASSUMED)})


@dataclass(frozen=True, slots=True)
class CoreCosts:
    """Cycles of an operation, by its class, and of one call of functions.

    Raises:
        DesignError: a value is no whole number, or outside its range.
    """

    load: int = _cost(1, 0, 8)
    store: int = _cost(1, 0, 8)
    integer: int = _cost(1, 0, 4)
    multiply: int = _cost(1, 0, 8)
    divide: int = _cost(12, 1, 64)
    float: int = _cost(2, 0, 16)
    function: int = _cost(20, 1, 256)  # exp, tanh, sqrt
    branch: int = _cost(2, 0, 8)
    loop: int = _cost(2, 0, 8)  # of each turn
    call: int = _cost(4, 0, 64)
    functions: Mapping[str, int] = field(default_factory=dict, hash=False)  # of one call, by name

    def __post_init__(self) -> None:
        """Check every value against its range."""
        problems = [
            Problem(
                f.name,
                f"{getattr(self, f.name)!r} cycles",
                f"{f.metadata['low']}..{f.metadata['high']} whole cycles",
                reason="core_costs",
                where="costs of operations",
                source=f.metadata["source"].text,
            )
            for f in fields(self)
            if f.metadata and not _is_whole(getattr(self, f.name), f.metadata["low"], f.metadata["high"])
        ]
        problems += [
            Problem(
                f"functions.{name}",
                repr(cycles),
                "a whole number of cycles from 0 on",
                reason="core_costs",
                where="costs of operations",
                source="functions of cores, docs/kernels.md",
            )
            for name, cycles in self.functions.items()
            if not _is_whole(cycles, 0)
        ]
        raise_if(problems, DesignError)


def _is_whole(cycles: object, low: int, high: int | None = None) -> bool:
    if not isinstance(cycles, int) or isinstance(cycles, bool):
        return False
    return low <= cycles and (high is None or cycles <= high)


_FUNCTIONS = """
    acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf exp exp2 expm1 fpowi ipowi log log10 log1p log2
    powf rsqrt sin sinh sqrt tan tanh""".split()  # noqa: SIM905
CLASSES = {
    "memref.load": "load",
    "affine.load": "load",
    "memref.store": "store",
    "affine.store": "store",
    "arith.muli": "multiply",
    **dict.fromkeys(("arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.divf"), "divide"),
    **dict.fromkeys(("arith.floordivsi", "arith.ceildivsi"), "divide"),
    **dict.fromkeys(("arith.addf", "arith.subf", "arith.mulf", "arith.cmpf", "math.fma"), "float"),
    **dict.fromkeys(("arith.maximumf", "arith.minimumf", "arith.sitofp", "arith.fptosi"), "float"),
    **dict.fromkeys((f"math.{name}" for name in _FUNCTIONS), "function"),
    **dict.fromkeys((f"index.{name}" for name in ("divs", "divu", "rems", "remu")), "divide"),
    **dict.fromkeys(("vector.transfer_read", "vector.load", "vector.maskedload"), "load"),
    **dict.fromkeys(("vector.transfer_write", "vector.store", "vector.maskedstore"), "store"),
    **dict.fromkeys(("vector.contract", "vector.outerproduct", "vector.reduction"), "multiply"),
    **dict.fromkeys(
        (f"aievec.{name}" for name in ("mul_elem", "mac_elem", "matmul", "matmul_aie2p")), "multiply"
    ),
    **dict.fromkeys((f"aievec.{name}" for name in ("add_elem", "sub_elem", "neg")), "float"),
    "index.mul": "multiply",
    "vector.fma": "float",
    "arith.remf": "divide",
    **dict.fromkeys(("cf.br", "cf.cond_br", "cf.switch", "scf.if", "br", "cond_br", "cf.assert"), "branch"),
    "func.call": "call",
}
"""Class of an operation; what is not here and computes is ``integer``, constants and casts are free."""
FREE = (
    "aievec.cast",
    "aievec.concat",
    "aievec.ext",
    "arith.bitcast",
    "index.casts",
    "index.castu",
    "index.constant",
    "memref.rank",
    "memref.transpose",
    "memref.view",
    "ub.poison",
    "vector.bitcast",
    "vector.shape_cast",
    "arith.constant",
    "arith.index_cast",
    "arith.extsi",
    "arith.extui",
    "arith.trunci",
    "memref.cast",
    "memref.subview",
    "memref.reinterpret_cast",
    "memref.collapse_shape",
    "memref.expand_shape",
    "memref.assume_alignment",
    "memref.get_global",
    "memref.dim",
)
"""Operations that cost nothing."""


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
"""Peaks: lower bounds of the times of kernels without a published count (DEV-KERNEL-1)."""

BLOCKS: Mapping[Generation, Mapping[str, tuple[int, int, int]]] = MappingProxyType(
    {
        "AIE-ML": MappingProxyType({"i8": (4, 8, 8), "i16": (4, 4, 4), "bf16": (4, 8, 4)}),
        "AIE2P": MappingProxyType({"i8": (8, 8, 8), "i16": (4, 4, 8), "bf16": (4, 8, 8)}),
        "AIE-ML v2": MappingProxyType({"i8": (8, 8, 8), "i16": (4, 4, 8), "bf16": (4, 8, 8)}),
    }
)
"""Blocks (r, s, t) of matrix products: r x s by s x t (mlir-aie's ``mm``, ``mac_dims`` of aie2 and aie2p)."""
