"""Functions of mlir-aie's public C++ kernels, with how to call them and what they should do.

Files are named below mlir-aie's folder. The table has no source of theirs: names, sizes and macros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from support.aie import plain_references as plain
from support.aie.plain_references import BF16, Function

KINDS = {
    "u8": "uint8",
    "i8": "int8",
    "i16": "int16",
    "u16": "uint16",
    "i32": "int32",
    "i64": "int64",
    "bfp": "uint8",
    "bits": "uint16",  # of bfloat16 numbers
    "f32": "float32",
    "bf16": BF16,
}
AIE2, AIE2P = "aie_kernels/aie2/", "aie_kernels/aie2p/"
PE, NPU = "programming_examples/", "test/npu-xrt/"


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array argument.

    Attributes:
        kind: a key of ``KINDS``.
        count: its elements.
        role: ``in``, ``out`` (zeros before) or ``both``; ``get`` and ``put``: words that the call takes from
            the cascade, and puts there; ``stream``: words that it puts on its stream;
            ``asked``: what else it asks of its core, three numbers each; ``global``: a variable of the
            source, before and after the call.
        place: the name of a global.
        spread: of floats: the standard deviation; of integers: the largest magnitude; 0 = of all sizes.
        least: of integers with a spread, the smallest value if it is not ``-spread``.
    """

    kind: str
    count: int
    role: str = "in"
    spread: float = 0
    least: int | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Number:
    """An integer argument, from ``low`` to ``high``; one the same for all calls has both equal."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Case:
    """One function of one file, as compiled with some macros.

    Attributes:
        file: below the folder of mlir-aie.
        name: of the function.
        arguments: in order.
        reference: takes the same and changes the outputs; None = memtile's library alone, which has tests
            of its own against plain loops.
        defines: macros.
        generation: of the core.
        tolerance: 0 = bit by bit; else the greatest error, relative to the sum of both magnitudes, as
            mlir-aie compares (``verify.py``).
        floor: an error up to this is none.
        of_largest: errors are relative to the largest element of an output instead.
        library: what memtile's library calls the function, None = as the file; "" = not in the library.
        options: of memtile's library.
        row: of ``docs/deviations.md``, why the library may differ from the C++ function.
        before, after: C++ around the file: variables that it declares, functions that call its templates.
    """

    file: str
    name: str
    arguments: tuple[Buffer | Number, ...]
    reference: Function | None
    defines: Mapping[str, str | int | None] = field(default_factory=dict)
    generation: str = "AIE-ML"
    tolerance: float = 0
    floor: float = 0
    of_largest: bool = False
    library: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    row: str = ""
    before: str = ""
    after: str = ""


def buffer(text: str, spread: float = 0, least: int | None = None) -> Buffer:
    """``i32:64`` is an input, ``i32:64:out`` an output."""
    kind, count, *role = text.split(":")
    return Buffer(kind, int(count), role[0] if role else "in", spread, least)


def args(*values: str | int | tuple[int, int] | Buffer) -> tuple[Buffer | Number, ...]:
    found: list[Buffer | Number] = []
    for each in values:
        if isinstance(each, Buffer):
            found.append(each)
        elif isinstance(each, str):
            found.append(buffer(each))
        else:
            found.append(Number(*each) if isinstance(each, tuple) else Number(each, each))
    return tuple(found)


_SCALARS = ("u8", "i16", "i32")
_WIDTHS = {"u8": 8, "i16": 16, "i32": 32}
_FULL = {"u8": (0, 255), "i16": (-32768, 32767), "i32": (-(2**31), 2**31 - 1)}


def _elementwise() -> list[Case]:
    three = args("bf16:1024", "bf16:1024", "bf16:1024:out")
    found = [
        Case(f"{AIE2}add.cc", f"eltwise_add_bf16_{kind}", three, plain.add) for kind in ("scalar", "vector")
    ]
    found += [
        Case(f"{AIE2}mul.cc", f"eltwise_mul_bf16_{kind}", three, plain.multiply)
        for kind in ("scalar", "vector")
    ]
    choice = args("bf16:1024", "bf16:1024", "bf16:1024:out", (0, 1))
    found += [
        Case(f"{AIE2}scale_shift.cc", f"eltwise_mul_add_bf16_{kind}", choice, plain.multiply_or_add)
        for kind in ("scalar", "vector")
    ]
    for kind, bits in (("i16", 16), ("i32", 32)):
        given = args(f"{kind}:1024", f"{kind}:1024:out", "i32:1", 1024)
        found += [
            Case(f"{AIE2}scale.cc", f"vector_scalar_mul_{way}", given, plain.scale, {"BIT_WIDTH": bits})
            for way in ("scalar", "vector")
        ]
    found.append(Case(f"{AIE2}relu.cc", "bf16_relu", args("bf16:1024", "bf16:1024:out"), plain.relu))
    many = args("bf16:4096", "bf16:4096", "bf16:4096:out")
    found += [
        Case(
            f"{PE}getting_started/01_SAXPY/saxpy.cc",
            name,
            many,
            plain.saxpy,
            tolerance=2**-7,
            row="DEV-KERNEL-5",
        )
        for name in ("saxpy", "saxpy_scalar")
    ]
    found.append(
        Case(
            f"{PE}basic/row_wise_bias_add/kernel.cc",
            "row_wise_bias_add_f32_f32",
            args("f32:2048", "f32:64", "f32:2048:out"),
            plain.bias_rows,
            {"DIM_m": 32, "DIM_n": 64},
        )
    )
    pair = args("i8:256", "i8:256:out")
    found.append(
        Case(
            f"{PE}basic/packet_switch/add_mul.cc",
            "add",
            pair,
            lambda a, c: c.__setitem__(..., plain.wide(a) + 2),
            library="",
        )
    )
    found.append(Case(f"{PE}basic/packet_switch/add_mul.cc", "mul", pair, plain.scaled_by(2), library=""))
    for folder in ("section-3", "section-4/section-4a", "section-4/section-4b"):
        found.append(
            Case(
                f"programming_guide/{folder}/vector_scalar_mul.cc",
                "vector_scalar_mul_aie_scalar",
                args("i32:256", "i32:256:out", "i32:1", 256),
                plain.scale,
            )
        )
    return found


def _reductions() -> list[Case]:
    whole = args("i32:1024", "i32:1:out", 1024)
    float_ = args("bf16:1024", "bf16:1:out", 1024)
    ways = ("scalar", "vector")
    found = [Case(f"{AIE2}reduce_add.cc", f"reduce_add_{way}", whole, plain.total) for way in ways]
    found += [Case(f"{AIE2}reduce_max.cc", f"reduce_max_{way}", whole, plain.largest) for way in ways]
    found += [Case(f"{AIE2}reduce_min.cc", f"reduce_min_{way}", whole, plain.smallest) for way in ways]
    found += [
        Case(f"{AIE2}reduce_max.cc", f"reduce_max_{way}_bfloat16", float_, plain.largest) for way in ways
    ]
    found.append(
        Case(f"{AIE2}reduce_max.cc", "compute_max", args("i32:1", "i32:1", "i32:1:out"), plain.larger)
    )
    found.append(
        Case(
            f"{AIE2}reduce_max.cc",
            "compute_max_bfloat16",
            args("bf16:2", "bf16:2", "bf16:1:out"),
            plain.larger,
        )
    )
    return found


def _pictures() -> list[Case]:
    found = []
    for kind in _SCALARS:
        defines, full = {"BIT_WIDTH": _WIDTHS[kind]}, _FULL[kind]
        one, two = (f"{kind}:2048", f"{kind}:2048:out"), (f"{kind}:2048", f"{kind}:2048", f"{kind}:2048:out")
        for shape, sizes in (("Line", (2048,)), ("Tile", (32, 64))):
            found.append(
                Case(
                    "aie_kernels/generic/passThrough.cc",
                    f"passThrough{shape}",
                    args(*one, *sizes),
                    plain.copy,
                    defines,
                )
            )
            if (
                kind != "i32"
            ):  # the kernels do not compile for 32 bits (bitwiseOR.cc), or overflow an accumulator
                for name, act in (("bitwiseAND", plain.bit_and), ("bitwiseOR", plain.bit_or)):
                    found.append(Case(f"{AIE2}{name}.cc", f"{name}{shape}", args(*two, *sizes), act, defines))
                found.append(
                    Case(
                        f"{AIE2}addWeighted.cc",
                        f"addWeighted{shape}",
                        args(*two, *sizes, (0, 32767), (0, 32767), full),
                        plain.weighted,
                        defines,
                    )
                )
            if kind != "i16":  # threshold.cc does not compile for 16 bits: its own typing error
                for file in (f"{AIE2}threshold.cc", f"{NPU}two_col/threshold.cc"):
                    found.append(
                        Case(
                            file,
                            f"threshold{shape}",
                            args(*one, *sizes, full, full, (0, 4)),
                            plain.threshold,
                            defines,
                        )
                    )
    eight = {"BIT_WIDTH": 8}
    for file in (f"{AIE2}threshold.cc", f"{NPU}two_col/threshold.cc"):
        found.append(
            Case(
                file,
                "threshold4ChLine",
                args("u8:2048", "u8:2048:out", 2048, *[(0, 255)] * 8, (0, 4)),
                plain.threshold_channels,
                eight,
            )
        )
        found.append(
            Case(
                file,
                "threshold",
                args("u8:2048", "u8:2048:out", (0, 255), (0, 255), 64, 32),
                plain.threshold_binary,
                eight,
            )
        )
    for shape, sizes in (("Line", (1024,)), ("Tile", (16, 64))):
        found.append(
            Case(
                f"{AIE2}rgba2gray.cc",
                f"rgba2gray{shape}",
                args("u8:4096", "u8:1024:out", *sizes),
                plain.gray,
            )
        )
        found.append(
            Case(
                f"{AIE2}gray2rgba.cc",
                f"gray2rgba{shape}",
                args("u8:1024", "u8:4096:out", *sizes),
                plain.rgba,
            )
        )
    found.append(
        Case(
            f"{AIE2}filter2d.cc",
            "filter2dLine",
            args("u8:512", "u8:512", "u8:512", "u8:512:out", 512, "i16:9"),
            plain.filtered,
        )
    )
    found.append(
        Case(
            f"{NPU}bd_chain_repeat_on_memtile/kernel.cc",
            "passThroughLine",
            args("u8:1024", "u8:1024:out", 1024),
            plain.copy,
        )
    )
    return found


_BLOCKS = {
    "AIE-ML": {
        ("i8", "i8"): (4, 8, 8),
        ("i8", "i16"): (4, 8, 8),
        ("i8", "i32"): (4, 8, 8),
        ("i16", "i16"): (4, 4, 4),
        ("i16", "i32"): (4, 4, 4),
        ("bf16", "bf16"): (4, 8, 4),
        ("bf16", "f32"): (4, 8, 4),
    },
    "AIE2P": {
        ("i8", "i8"): (8, 8, 8),
        ("i8", "i16"): (8, 8, 8),
        ("i8", "i32"): (8, 8, 8),
        ("i16", "i16"): (4, 4, 8),
        ("i16", "i32"): (4, 4, 8),
        ("bf16", "bf16"): (4, 8, 8),
        ("bf16", "f32"): (4, 8, 8),
    },
}


def _matrices() -> list[Case]:
    m, k, n = 32, 32, 32
    sizes = {"DIM_M": m, "DIM_K": k, "DIM_N": n}
    found = []
    for generation, folder in (("AIE-ML", AIE2), ("AIE2P", AIE2P)):
        for (given, result), block in _BLOCKS[generation].items():
            spread = 1.0 if given == "bf16" else 0
            arguments = args(
                buffer(f"{given}:{m * k}", spread),
                buffer(f"{given}:{k * n}", spread),
                buffer(f"{result}:{m * n}:both", spread),
            )
            defines = {**sizes, f"{given}_{result}_ONLY": None}
            tolerance = {"f32": 2**-20, "bf16": 2**-7}.get(result, 0)
            make = partial(
                Case,
                f"{folder}mm.cc",
                arguments=arguments,
                defines=defines,
                generation=generation,
                tolerance=tolerance,
                of_largest=True,
                row="DEV-KERNEL-2" if tolerance else "",
            )
            found.append(make(f"matmul_{given}_{result}", reference=plain.matmul(m, k, n, *block)))
            found.append(make(f"matmul_scalar_{given}_{result}", reference=plain.matmul_in_steps(m, k, n)))
            zeros = args(f"{result}:{m * n}:both")
            for name in ("zero", "zero_scalar"):
                found.append(
                    Case(f"{folder}mm.cc", f"{name}_{result}", zeros, plain.zero, defines, generation)
                )
    vector = args("i16:1024", "i16:32", "i32:32:both")
    for way, pairs in (("scalar", False), ("vectorized", True)):
        found.append(
            Case(
                f"{AIE2}mv.cc",
                f"matvec_{way}_i16_i32",
                vector,
                plain.matvec(32, 32, pairs=pairs),
                {"DIM_M": 32, "DIM_K": 32},
            )
        )
    for way in ("scalar", "vectorized"):
        found.append(
            Case(
                f"{AIE2}mv.cc",
                f"zero_{way}_i32",
                args("i32:32:both"),
                plain.zero,
                {"DIM_M": 32, "DIM_K": 32},
            )
        )
    return found


def _matrices_by_columns() -> list[Case]:
    """Compiled with b and c column-major; i8 with wider results is compiled alone, as it is in no set."""
    m, k, n = 32, 32, 32
    macros = {"DIM_M": m, "DIM_K": k, "DIM_N": n, "B_COL_MAJ": None, "C_COL_MAJ": None}
    found = []
    for generation, folder in (("AIE-ML", AIE2), ("AIE2P", AIE2P)):
        for (given, result), block in _BLOCKS[generation].items():
            spread = 1.0 if given == "bf16" else 0
            is_alone = given == "i8" and result != "i8"
            make = partial(
                Case,
                f"{folder}mm.cc",
                arguments=args(
                    buffer(f"{given}:{m * k}", spread),
                    buffer(f"{given}:{k * n}", spread),
                    buffer(f"{result}:{m * n}:both", spread),
                ),
                defines={**macros, f"{given}_{result}_ONLY": None} if is_alone else macros,
                generation=generation,
                tolerance={"f32": 2**-20, "bf16": 2**-7}.get(result, 0),
                of_largest=True,
                options={"b_columns": True, "c_columns": True},
                row="DEV-KERNEL-2" if given == "bf16" else "",
            )
            ignores_c = is_alone and generation == "AIE-ML"  # DEV-KERNEL-12
            act = plain.matmul(m, k, n, *block, columns="b" if ignores_c else "bc")
            found.append(make(f"matmul_{given}_{result}", reference=act))
            steps = plain.matmul_in_steps(m, k, n, columns=True)
            found.append(make(f"matmul_scalar_{given}_{result}", reference=steps))
    return found


def _moves() -> list[Case]:
    fifo = f"{NPU}dynamic_object_fifo/"
    sums = args("i32:10", "i32:10", "i32:10:out")
    found = [
        Case(f"{fifo}{name}/kernel.cc", "add_10_i32", sums, plain.add)
        for name in ("reduction", "sliding_window", "sliding_window_conditional", "two_core_sliding_window")
    ]
    found += [
        Case(f"{fifo}{name}/kernel.cc", f"passthrough_{n}_i32", args(f"i32:{n}", f"i32:{n}:out"), plain.copy)
        for name, n in (("nested_loops", 10), ("ping_pong", 64), ("two_core_sliding_window", 10))
    ]
    found.append(
        Case(f"{NPU}matrix_transpose/kernel.cc", "passthrough", args("i32:64", "i32:64:out", 64), plain.copy)
    )
    found.append(Case(f"{NPU}runtime_cumsum/sum.cc", "sum", args("i32:16", "i32:16:both"), plain.added_up))
    found.append(Case(f"{NPU}runtime_cumsum/sum.cc", "zero", args("i32:16:both"), plain.zero))
    found.append(
        Case("test/aiecc/bss_zero_init_kernel.cc", "bss_probe", args("u8:512:both"), plain.zero, library="")
    )
    count = args("i32:64", "i32:64:out", 64)
    for folder in ("add_one_func_link_with_peano", "add_one_scale_func_link_with_peano"):
        found.append(Case(f"{NPU}{folder}/add_one_kernel.cc", "add_one", count, plain.add_one))
    found.append(
        Case(
            f"{NPU}add_one_scale_func_link_with_peano/scale_kernel.cc",
            "scale_by_two",
            count,
            plain.scaled_by(2),
        )
    )
    for folder in ("vec_mul_event_trace", "vec_mul_trace_distribute_lateral"):
        found.append(
            Case(
                f"{NPU}{folder}/vector_scalar_mul.cc",
                "vector_scalar_mul_aie_scalar",
                args("i32:256", "i32:256:out", "i32:1", 256),
                plain.scale,
            )
        )
    found.append(
        Case(
            f"{NPU}vector_scalar_using_dma/scale.cc",
            "scale_int32",
            args("i32:1024", "i32:1024:out"),
            plain.scaled_by(3),
        )
    )
    found.append(
        Case(
            f"{PE}basic/transposes/aie_kernels/shuffle_16x16.cc",
            "transpose_16x16",
            args("u8:256", "u8:256:out"),
            plain.transposed(16, 16),
            library="",
        )
    )
    for bits, kind in ((8, "u8"), (16, "u16"), (32, "i32")):
        base = {f"DTYPE_i{bits}": None, "DIM_m": 32, "DIM_n": 32}
        pair = args(f"{kind}:1024", f"{kind}:1024:out")
        file = f"{PE}basic/transposes/aie_kernels/transpose.cc"
        found.append(Case(file, "copy", pair, plain.copy, base))
        found.append(
            Case(
                file,
                "transpose_8x8",
                pair,
                plain.transposed(32, 32, 8),
                {**base, "DIM_s": 8},
                options={"defines": {"DIM_m": 32}},
            )
        )
    found.append(
        Case(
            f"{PE}basic/transposes/aie_kernels/transpose.cc",
            "transpose_4x4",
            args("i32:256", "i32:256:out"),
            plain.transposed(16, 16, 4),
            {"DTYPE_i32": None, "DIM_m": 16, "DIM_n": 16, "DIM_s": 4},
            options={"defines": {"DIM_m": 16}},
        )
    )
    return found


CONTRACT = 0.128
"""The relative tolerance with which mlir-aie's own host programs compare activations (``activation.py``)."""
_GELU_FLOOR = 0.05
_ROUNDED = 4 * 2**-7  # four steps in bfloat16, each rounded down, relative to the largest


def _activations() -> list[Case]:
    """With inputs from the ranges of mlir-aie's own programs: swiglu up to 1, softmax from -4 to 8."""
    found = []
    for generation, folder in (("AIE-ML", AIE2), ("AIE2P", AIE2P)):
        make = partial(Case, generation=generation, tolerance=CONTRACT, row="DEV-KERNEL-4")
        unit, wide = buffer("bf16:1024", 0.25), buffer("bf16:1024", 1.0)
        out = buffer("bf16:1024:out")
        found.append(make(f"{folder}bf16_exp.cc", "exp_bf16_1024", (wide, out), plain.exp))
        found.append(make(f"{folder}gelu.cc", "gelu_bf16", (wide, out), plain.gelu, floor=_GELU_FLOOR))
        found.append(make(f"{folder}silu.cc", "silu_bf16", (unit, out), plain.silu))
        found.append(make(f"{folder}swiglu.cc", "swiglu_bf16", (unit, unit, unit, out), plain.swiglu))
        found.append(
            make(f"{folder}softmax.cc", "softmax_bf16", (wide, out, Number(1024, 1024)), plain.softmax)
        )
    make = partial(Case, generation="AIE2P", tolerance=_ROUNDED, of_largest=True, row="DEV-KERNEL-4")
    row, floats = buffer("bf16:512", 1.0), buffer("f32:512", 1.0)
    found.append(make(f"{AIE2P}rms_norm.cc", "rms_norm", args(row, "bf16:512:out", 512), plain.rms_norm))
    found.append(
        make(f"{AIE2P}layer_norm.cc", "layer_norm", args(row, "bf16:512:out", 512), plain.layer_norm)
    )
    found.append(
        make(f"{AIE2P}layer_norm.cc", "layer_norm_f32", args(floats, "f32:512:out", 512), plain.layer_norm)
    )
    found.append(
        make(f"{AIE2P}rope.cc", "rope", args(row, buffer("bf16:512", 0.5), "bf16:512:out", 512), plain.rope)
    )
    found.append(
        make(
            f"{AIE2P}mm_activation_epilogue.cc",
            "mm_activation_epilogue_row",
            args(floats, "f32:512:out", 512, (0, 2)),
            plain.epilogue,
        )
    )
    return found


def _convolutions() -> list[Case]:
    width, inputs, outputs = 32, 64, 64
    sizes, shift = (width, inputs, outputs), (8, 13)
    w = f"i8:{inputs * outputs}"
    found = []
    for kind, macro in (("i8", {"INT8_ACT": None}), ("u8", {})):
        name = "conv2dk1_i8" if kind == "i8" else "conv2dk1_ui8"
        a, c = f"{kind}:{width * inputs}", f"u8:{width * outputs}:out"
        found.append(
            Case(f"{AIE2}conv2dk1.cc", name, args(a, w, c, *sizes, shift), plain.convolved_1x1, macro)
        )
        lines = (a, a, a, f"i8:{inputs * outputs * 9}", c, *sizes, 3, 3, (0, 2), shift, 0)
        scalar = {
            **macro,
            **({"SCALAR": None} if kind == "i8" else {}),
        }  # the vector function of i8 has a typing error
        found.append(
            Case(f"{AIE2}conv2dk3.cc", name.replace("k1", "k3"), args(*lines), plain.convolved_3x3, scalar)
        )
        half = f"u8:{width * inputs // 2}"
        skip = args(half, half, w, c, f"{kind}:{width * outputs}", *sizes, shift, (1, 3))
        found.append(
            Case(f"{AIE2}conv2dk1_skip.cc", name.replace("k1", "k1_skip"), skip, plain.convolved_skip, macro)
        )
    for generation, folder in (("AIE-ML", AIE2), ("AIE2P", AIE2P)):
        given = args(f"i8:{width * inputs}", w, f"i8:{width * outputs}:out", *sizes, shift)
        found.append(
            Case(
                f"{folder}conv2dk1_i8.cc",
                "conv2dk1_i8",
                given,
                plain.convolved_1x1,
                {"INT8_ACT": None},
                generation,
            )
        )
    return found


MAKERS: tuple[Callable[[], list[Case]], ...] = (
    _elementwise, _reductions, _pictures, _matrices, _matrices_by_columns, _moves, _activations,
    _convolutions,
)  # fmt: skip


def cases() -> list[Case]:
    """All functions of the campaign."""
    return [case for make in MAKERS for case in make()]
