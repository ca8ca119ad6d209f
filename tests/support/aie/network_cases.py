"""Further functions of mlir-aie's public C++ kernels: networks, cascades, block floats, unit tests.

As ``kernel_cases.py``: names, sizes and macros, no source of theirs. Arguments of the roles ``get`` and
``put`` come last; they are the words of the cascade.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from support.aie import magika_references as magika
from support.aie import network_references as net
from support.aie import plain_references as plain
from support.aie.kernel_cases import AIE2, AIE2P, CONTRACT, NPU, PE, Case, args, buffer

_INVERSES = 43520 // np.maximum(np.arange(256), 1)  # 85 * 512 / n, of lut_inv_8b.h
_SUM = float(1 << 22)  # largest sum on the cascade
_CHECK, _SHIFT = (0, 2), (8, 13)


def _own_references() -> list[Case]:
    found = [
        Case(f"{AIE2}rgba2hue.cc", "rgba2hueLine", args("u8:4096", "u8:1024:out", 1024),
             net.hue_by_inverses(_INVERSES)),
        Case(f"{AIE2}rgba2hue.cc", "rgba2hueTile", args("u8:4096", "u8:1024:out", 16, 64), net.hue),
    ]  # fmt: skip
    width, inputs, outputs = 32, 64, 64
    half = f"u8:{width * inputs // 2}"
    arguments = args(
        half, half, f"i8:{2 * inputs * outputs}", f"u8:{width * outputs}:out", f"i8:{width * inputs}",
        width, inputs, outputs, inputs, _SHIFT, (1, 3), _SHIFT,
    )  # fmt: skip
    for macros in ({"INT8_ACT": None}, {"INT8_ACT": None, "SCALAR": None}):
        found.append(Case(f"{AIE2}conv2dk1_skip_init.cc", "conv2dk1_skip_init_i8", arguments,
                          net.skip_with_convolution, macros))  # fmt: skip
    unsigned = (
        *arguments[:3],
        buffer(f"u8:{width * outputs}:both"),
        buffer(f"u8:{width * inputs}"),
        *arguments[5:],
    )
    found.append(Case(f"{AIE2}conv2dk1_skip_init.cc", "conv2dk1_skip_init_ui8", unsigned, net.nothing,
                      row="DEV-KERNEL-10"))  # fmt: skip
    line = f"i8:{width * 16}"
    strided = args(line, line, line, f"i8:{16 * 16 * 9}", f"u8:{width // 2 * 16}:out",
                    width, 16, 16, 3, 3, _CHECK, (6, 10), 0)  # fmt: skip
    found.append(Case(f"{AIE2}bottleneck/bn_conv2dk3.cc", "conv2dk3_stride2_i8", strided, net.strided_3x3))
    image = args("u8:12544", "i8:12544", "i8:256:out", 224, 4, 16, 14, (8, 15))
    # The scalar function rounds halves up; the library is the vectorized one.
    for away, macros, row in ((True, {}, ""), (False, {"SCALAR": None}, "DEV-KERNEL-5")):
        found.append(Case(f"{AIE2P}conv2dk14.cc", "conv2dk14_i8", image, net.patches(away=away), macros,
                          "AIE2P", row=row))  # fmt: skip
    return found


def _bottlenecks() -> list[Case]:
    file = f"{AIE2}bottleneck/bn_conv2dk1_"
    width, inputs, outputs = 16, 64, 64
    sizes = (width, inputs, outputs)
    w, c = f"i8:{inputs * outputs}", f"{width * outputs}:out"
    signed, unsigned = f"i8:{width * inputs}", f"u8:{width * inputs}"
    on = {"SCALAR": None, "REGULAR": None}
    relu = {"SCALAR": None, "INT8_ACT": None}
    wide = f"u16:{width * inputs}"
    skip = (w, f"i8:{c}")
    found = [
        Case(f"{file}i8.cc", "conv2dk1_ui8_i8", args(unsigned, w, f"i8:{c}", *sizes, _SHIFT),
             net.bottleneck_1x1, on),
        Case(f"{file}relu.cc", "conv2dk1_relu_i8_ui8", args(signed, w, f"u8:{c}", *sizes, _SHIFT),
             net.bottleneck_1x1, {**relu, "REGULAR": None}),
        Case(f"{file}relu.cc", "post_L1_conv2dk1_relu_i8_ui8", args(signed, w, f"u8:{c}", *sizes, _SHIFT),
             net.bottleneck_1x1, {**relu, "POSTL1": 1}),
        Case(f"{file}relu.cc", "post_L2_conv2dk1_relu_i16_ui8", args(wide, w, f"u8:{c}", *sizes, (12, 20)),
             net.bottleneck_1x1, {"SCALAR": None, "UINT16_ACT": None, "POSTL2": 1}),
        Case(f"{file}relu.cc", "post_L2_conv2dk1_relu_i16_ui16_pad",
             args(wide, f"i8:{80 * outputs}", f"u16:{c}", width, inputs, 80, outputs, (12, 20)),
             net.bottleneck_padded, {"SCALAR": None, "UINT16_ACT": None, "POSTL2_PAD": 1}),
        Case(f"{file}skip.cc", "conv2dk1_skip_ui8_i8_i8",
             args(unsigned, *skip, f"i8:{width * outputs}", *sizes, _SHIFT, (1, 3)),
             net.bottleneck_skip, on),
        Case(f"{file}skip.cc", "conv2dk1_skip_ui8_ui8_i8",
             args(unsigned, *skip, f"u8:{width * outputs}", *sizes, _SHIFT, (1, 3)),
             net.bottleneck_skip, {**on, "UNSIGNED_SKIP": None}),
    ]  # fmt: skip
    return found + _pools(relu)


def _pools(relu: dict[str, str | int | None]) -> list[Case]:
    file = f"{AIE2}bottleneck/bn_conv2dk1_relu.cc"
    width, inputs, outputs = 7, 64, 32
    sizes, row = (width, inputs, outputs), f"i8:{width * inputs}"
    w, c = f"i8:{inputs * outputs}", f"u16:{outputs}:both"
    return [
        Case(file, "conv2dk1_x_pool_fused_relu_i8_ui8",
             args(row, w, f"u16:{outputs}:out", *sizes, _SHIFT),
             net.pooled_row, {**relu, "CONV_XPOOL_FUSED": 1}),
        Case(file, "conv2dk1_xy_pool_fused_relu_i8_ui8", args(row, w, c, *sizes, _SHIFT, (0, 6)),
             net.pooled, {**relu, "CONV_XYPOOL_FUSED": 1}),
        Case(file, "conv2dk1_xy_pool_fused_relu_large_i8_ui8",
             args(row, w, c, *sizes, _SHIFT, (0, 6), 2, (0, 1)),
             net.pooled_part(padded=False), {**relu, "CONV_XYPOOL_FUSED_LARGE": 1}),
        Case(file, "conv2dk1_xy_pool_fused_relu_large_padded_i8_ui8",
             args(row, w, f"u16:{outputs + 8}:both", *sizes, outputs + 8, _SHIFT, (0, 6), 2, (0, 1)),
             net.pooled_part(padded=True), {**relu, "CONV_XYPOOL_FUSED_LARGE_PADDED": 1}),
    ]  # fmt: skip


def _bottlenecks_with_cascades() -> list[Case]:
    file = f"{AIE2}bottleneck/bn_conv2dk1_"
    width, inputs, outputs = 16, 64, 32
    sizes = (width, inputs, outputs)
    w, skip = f"i8:{inputs // 2 * outputs}", f"i8:{width * outputs}"
    signed, unsigned = f"i8:{width * inputs}", f"u8:{width * inputs}"
    put, get = f"i64:{width * outputs}:put", buffer(f"i64:{width * outputs}:get", _SUM)
    pixels = f"i64:{7 * 16}:put"
    seven = buffer(f"i64:{7 * 16}:get", _SUM)
    some = (2, (0, 1), 0, (0, 1))  # parts of the outputs, which, x, block of a part
    line = (w, f"u8:{width * outputs}:both", *sizes, _SHIFT, 2)
    starts = ("", "bn13_1_", "bn14_1_")
    return [
        Case(f"{file}skip.cc", "conv2dk1_skip_ui8_i8_put", args(unsigned, w, *sizes, put),
             net.put_sums, {"PUT": None}),
        Case(f"{file}i8.cc", "conv2dk1_ui8_put", args(unsigned, w, *sizes, put),
             net.put_sums, {"PUT_UI8_CAS": None}),
        Case(f"{file}i8.cc", "conv2dk1_i8_put", args(signed, w, *sizes, 2, 0, put),
             net.put_sums, {"PUT_I8_CAS": None}),
        Case(f"{file}i8.cc", "conv2dk1_i8_ui8_get",
             args(signed, w, f"u8:{width * outputs}:out", *sizes, _SHIFT, get),
             net.get_sums, {"GET": None}),
        Case(f"{file}skip.cc", "conv2dk1_skip_ui8_i8_i8_get",
             args(unsigned, w, f"i8:{width * outputs}:out", skip, *sizes, _SHIFT, (1, 3), get),
             net.get_sums_beside_skip, {"GET": None}),
        *(
            Case(f"{file}i8.cc", f"bn{n}_1_conv2dk1_ui8_ui8_input_split_partial_width_put_new",
                 args(unsigned, w, *sizes, 2, (0, 1), 0, (0, 3), pixels), net.put_pixels,
                 {f"BN{each}_1_INPUT_SPLIT_PARTIAL_PUT_UI8_UI8_CAS_WIDTH_NEW": 1 for each in (13, 14)})
            for n in (13, 14)
        ),
        *(
            Case(f"{file}i8.cc", f"{start}conv2dk1_i8_ui8_partial_width_put_new",
                 args(signed, w, *sizes, 2, (0, 1), 0, (0, 3), pixels), net.put_pixels,
                 {f"{each.upper()}PARTIAL_PUT_I8_CAS_WIDTH_NEW": 1 for each in starts})
            for start in starts
        ),
        *(
            Case(f"{file}relu.cc", f"{start}conv2dk1_i8_ui8_partial_width_get_new",
                 args(signed, *line, *some, seven), net.get_pixels(1),
                 {f"{each.upper()}PARTIAL_GET_I8_CAS_WIDTH_NEW": 1 for each in starts})
            for start in starts
        ),
        Case(f"{file}relu.cc", "bn13_1_conv2dk1_ui8_ui8_input_split_partial_width_get_new",
             args(unsigned, *line, *some, seven),
             net.get_pixels(0), {"BN13_1_INPUT_SPLIT_PARTIAL_GET_UI8_UI8_CAS_WIDTH_NEW": 1}),
        *(
            Case(f"{file}skip.cc", f"bn_{n}_2_conv2dk1_ui8_i8_i8_scalar_input_split_partial_width_get_new",
                 args(unsigned, w, f"i8:{width * outputs}:both", skip, *sizes, _SHIFT, (1, 3), 2, *some,
                       seven),
                 net.get_pixels_with_skip, {f"BN{n}_1_INPUT_SPLIT_PARTIAL_GET_UI8_I8_I8_CAS_WIDTH_NEW": 1})
            for n in (13, 14)
        ),
    ]  # fmt: skip


def _depthwise() -> list[Case]:
    file = f"{AIE2}bottleneck/bn_conv2dk3_dw.cc"
    width, channels = 16, 32
    line, w = f"u8:{width * channels}", f"i8:{9 * channels}"
    numbers = (width, channels, channels, 3, 3, _CHECK, (4, 9), 0)
    one = (line, line, line, w)
    whole = args(*one, f"{line}:out", *numbers)
    found = [
        Case(file, "conv2dk3_dw_stride1_relu_ui8_ui8", whole, net.depthwise(1),
             {"REGULAR": None, "SCALAR": None}),
        Case(file, "conv2dk3_dw_stride2_relu_ui8_ui8",
             args(*one, f"u8:{width * channels // 2}:out", *numbers), net.depthwise(2),
             {"REGULAR": None, "SCALAR": None, "STRIDE2": None}),
    ]  # fmt: skip
    half = f"u8:{width * channels // 2}:out"
    for name in ("bn13", "bn14"):
        macros = {name.upper(): None, "SCALAR": None}
        found.append(Case(file, f"{name}_conv2dk3_ui8", whole, net.depthwise(1), {**macros, "STRIDE1": None}))
        found.append(Case(file, f"{name}_conv2dk3_ui8_out_split", args(*one, half, half, *numbers),
                          net.depthwise_split, {**macros, "STRIDE1_OUT_SPLIT": None}))  # fmt: skip
    return found


def _cascades() -> list[Case]:
    found = []
    file = f"{NPU}matrix_multiplication_using_cascade/mm.cc"
    for way, (m, k, n), s in (
        ("", (4, 2, 4), 8), ("", (2, 2, 2), 8), ("put_", (4, 1, 4), 8), ("get_", (4, 1, 4), 8),
        ("put_", (4, 1, 4), 4), ("get_", (4, 1, 4), 4), ("put_get_", (4, 1, 4), 4),
    ):  # fmt: skip
        words = m * n * 16 * 32
        ends = [f"i32:{words}:{role}" for role in ("get", "put") if role in way]
        arguments = args(f"i32:{m * k * 4 * s}", f"i32:{n * k * s * 4}", f"i32:{m * n * 16}:both", *ends)
        act = net.tiled_matmul(m, k, n, 4, s, 4, put="put" in way, get="get" in way)
        found.append(Case(file, f"matmul_scalar_{way}{m}x{k}x{n}_4x{s}x4_i32_i32", arguments, act))
    size = 8
    for kind, result in (("i16", "i16"), ("i16", "i32"), ("bf16", "bf16"), ("bf16", "f32")):
        for way in ("put_only", "get_only", "put_get"):
            ends = [buffer(f"i32:{size * size * 16}:{role}", 1000) for role in ("get", "put") if role in way]
            spread = 1.0 if kind == "bf16" else 0
            arguments = args(
                buffer(f"{kind}:{size * size}", spread), buffer(f"{kind}:{size * size}", spread),
                buffer(f"{result}:{size * size}:both", spread), *ends,
            )  # fmt: skip
            act = net.cascaded_matmul(size, size, size, put="put" in way, get="get" in way)
            name = f"matmul_scalar_cascade_{way}_{kind}_{result}"
            macros = {"DIM_M": size, "DIM_K": size, "DIM_N": size}
            found.append(Case(f"{AIE2}cascade_mm.cc", name, arguments, act, macros))
        for way in ("", "scalar_"):
            found.append(Case(f"{AIE2}cascade_mm.cc", f"zero_{way}{result}",
                              args(f"{result}:{size * size}:both"), plain.zero, macros))  # fmt: skip
    flows = f"{NPU}cascade_flows/kernel"

    def first(words: plain.Array) -> None:
        words[0] = 14

    def second(words: plain.Array, put: plain.Array) -> None:
        put[...] = words
        put[0] = 114

    def third(c: plain.Array, _: int, words: plain.Array) -> None:
        c[5] = (int(words[0]) + 100 + 2**31) % 2**32 - 2**31

    return [
        *found,
        Case(f"{flows}1.cc", "extern_kernel1", args("i32:32:put"), first),
        Case(f"{flows}2.cc", "extern_kernel2", args("i32:32:get", "i32:32:put"), second),
        Case(f"{flows}3.cc", "extern_kernel3", args("i32:64:out", 64, "i32:32:get"), third),
    ]


def _block_floats() -> list[Case]:
    make = partial(Case, generation="AIE2P")
    m, k, n = 64, 64, 64
    sizes = {"DIM_M": m, "DIM_K": k, "DIM_N": n}
    rounded = {"tolerance": 2.0**-7, "of_largest": True, "row": "DEV-KERNEL-2"}
    blocks = args(f"bfp:{m * k // 8 * 9}", f"bfp:{k * n // 8 * 9}", f"bfp:{m * n // 8 * 9}:both")
    mixed = args(buffer(f"bf16:{m * k}", 1.0), f"bfp:{k * n // 8 * 9}", buffer(f"bf16:{m * n}:both", 1.0))
    unequal = f"{PE}ml/block_datatypes/gemm_asymmetric_tile_buffering/config1/mm_bfp_mixed.cc"
    parts = args(
        buffer("bf16:2048", 1.0), f"bfp:{64 * 128 // 8 * 9}", buffer(f"bf16:{4 * 32 * 128}:both", 1.0)
    )
    paired = f"{PE}ml/block_datatypes/gemm_asymmetric_tile_buffering/config2/mm_bfp_mixed.cc"
    six = args(f"bfp:{32 * 128 // 8 * 9}", f"bfp:{128 * 96 // 8 * 9}", f"bfp:{6 * 32 * 96 // 8 * 9}:both")
    staged = f"{PE}ml/block_datatypes/gemm_asymmetric_tile_buffering/config3/mm_bfp_mixed.cc"
    square = {**sizes, "DIM_M": 128, "DIM_N": 128}
    sums = buffer("bits:9216:both", 1.0)  # 128 x 128 numbers in bfp16; before, half of them in bfloat16
    four = args(f"bfp:{32 * 64 // 8 * 9}", f"bfp:{64 * 128 // 8 * 9}", sums)
    tile = f"bfp:{64 // 8 * 9}"
    turn = args(f"u8:{32 * 16 // 8 * 9}", f"u8:{32 * 16 // 8 * 9}:out", 32, 16, (0, 1))
    folder = f"{PE}ml/block_datatypes/"
    return [
        make(f"{AIE2P}mm_bfp.cc", "matmul_vectorized_bfp16", blocks, net.matmul_bfp(m, k, n), sizes),
        make(f"{AIE2P}mm_bfp.cc", "zero_kernel", args(f"bfp:{m * n // 8 * 9}:both"), plain.zero, sizes),
        make(f"{AIE2P}mm_bfp.cc", "scalar_shuffle", turn, net.shuffled, sizes),
        make(f"{AIE2P}mm_bfp_mixed.cc", "matmul_vectorized_different_datatypes", mixed,
             net.matmul_mixed(m, k, n), sizes, **rounded),
        make(f"{AIE2P}mm_bfp_mixed.cc", "zero_kernel_bf16", args(f"bf16:{m * n}:both"), plain.zero, sizes),
        make(unequal, "matmul_vectorized_different_datatypes", parts, net.matmul_mixed(32, 64, 128, 4, 2),
             {**sizes, "DIM_M": 128, "DIM_N": 128}, library="", **{**rounded, "row": "DEV-KERNEL-11"}),
        make(unequal, "zero_kernel_bf16", args(f"bf16:{128 * 128}:both"), plain.zero,
             {**sizes, "DIM_M": 128, "DIM_N": 128}),
        make(paired, "matmul_vectorized_bfp16", six, net.matmul_bfp_in_pairs(32, 128, 96, 6),
             {"DIM_M": 192, "DIM_K": 128, "DIM_N": 96}, library="", row="DEV-KERNEL-11"),
        make(paired, "zero_kernel", args(f"bfp:{192 * 96 // 8 * 9}:both"), plain.zero,
             {"DIM_M": 192, "DIM_K": 128, "DIM_N": 96}),
        make(staged, "matmul_vectorized_bfp16", four, net.matmul_bfp_staged(32, 64, 128, 4, 256), square,
             library="", row="DEV-KERNEL-11"),
        make(staged, "zero_kernel", (sums,), net.zero_first(8192), square, library="", row="DEV-KERNEL-11"),
        make(f"{folder}bfp_conversion/kernel.cc", "bfp16_matrix_multiplication",
             args(tile, tile, f"{tile}:out"), net.matmul_bfp(8, 8, 8, adds=False), library=""),
        make(f"{folder}bfp_conversion/kernel.cc", "bf16_to_bfp_conversion",
             args(buffer("bf16:64", 1.0), buffer("bf16:64", 1.0), "u8:72:out", "u8:72:out"),
             net.to_bfp, library=""),
        make(f"{folder}vector_passthrough/kernel.cc", "bfp16_passthrough_scalar",
             args("i8:144", "i8:144:out"), plain.copy, library=""),
        make(f"{folder}vector_passthrough/kernel.cc", "bfp16_passthrough_vectorized",
             args("i8:144", "i8:144:out"), plain.copy),
    ]  # fmt: skip


_LETTERS = {"i8": "a", "i16": "s", "i32": "i", "f32": "f", "bf16": "8bfloat16"}
"""How the names of C++ functions say the types of their arguments."""


def _symbol(name: str, *kinds: str) -> str:
    """The symbol of a C++ function that takes pointers to these kinds."""
    text, seen = f"_Z{len(name)}{name}", {}
    for kind in kinds:
        if kind in seen:
            text += seen[kind]
            continue
        text += f"P{_LETTERS[kind]}"
        is_class = kind == "bf16"  # a class and the pointer to it can be named again, of a number the latter
        count = sum(2 if each == "bf16" else 1 for each in seen) + is_class
        seen[kind] = "S_" if count == 0 else f"S{count - 1}_"
    return text


def _unit_tests() -> list[Case]:
    found = []
    folder = "test/unit_tests/aievec_tests/aie2/"
    for kind in ("i8", "i16", "i32", "bf16"):
        for name, whole, each in (
            ("max", plain.largest, plain.maximum), ("min", plain.smallest, plain.minimum)
        ):  # fmt: skip
            found.append(Case(f"{folder}{kind}_{name}_reduce/dut.cc", _symbol("dut", kind, kind),
                              args(f"{kind}:1024", f"{kind}:1:out"), whole, library=""))  # fmt: skip
            count = {"bf16": 1040, "i8": 1056}.get(kind, 1024)  # the last of its steps takes two
            found.append(Case(f"{folder}{kind}x{kind}_{name}_elem/dut.cc", _symbol("dut", kind, kind, kind),
                              args(f"{kind}:{count}", f"{kind}:{count}", f"{kind}:{count}:out"), each,
                              library=""))  # fmt: skip
    for file, name, kinds in (
        ("bf16xbf16_mul_elem/dut.cc", "dut", ("bf16", "bf16", "bf16")),
        ("bf16xbf16_mul_elem_2/dut.cc", "dut", ("bf16", "bf16", "f32")),
        ("floatxfloat_mul_elem/dut.cc", "dut", ("f32", "f32", "f32")),
        ("i16xi16_mul_elem/convert_aie-ml.cc", "mul_elem", ("i16", "i16", "i16")),
        ("i16xi16_mul_elem_2/dut.cc", "dut", ("i16", "i16", "i32")),
        ("i32xi32_mul_elem/convert_aie-ml.cc", "mul_elem", ("i32", "i32", "i32")),
        ("i8xi8_mul_elem/dut.cc", "dut", ("i8", "i8", "i32")),
        ("i8xi8_mul_elem_2/dut.cc", "dut", ("i8", "i8", "i8")),
    ):
        a, b, c = kinds
        found.append(Case(f"{folder}{file}", _symbol(name, *kinds),
                          args(f"{a}:1024", f"{b}:1024", f"{c}:1024:out"), plain.multiply,
                          library=""))  # fmt: skip
    found.append(Case(f"{folder}bf16_exp_lut/dut.cc", _symbol("dut", "bf16", "bf16"),
                      args(buffer("bf16:1024", 1.0), "bf16:1024:out"), plain.exp, tolerance=CONTRACT,
                      library=""))  # fmt: skip
    pair = args("i32:256", "i32:256:out")
    for top in ("unit_tests/aie2", "unit_tests/chess_compiler_tests_aie2"):
        found += [
            Case(f"test/{top}/01_precompiled_core_function/kernel.cc", "func", pair, _five_times, library=""),
            Case(f"test/{top}/05_shim_dma_core_function/kernel.cc", "func", pair, _five_times, library=""),
            Case(f"test/{top}/07_shim_dma_core_function_with_loop/kernel.cc", "func",
                 args("i32:256", "i32:256:out", 256), plain.add_one, library=""),
        ]  # fmt: skip
    found.append(Case(f"{NPU}nd_memcpy_transforms/kernel.cc", "concat",
                      args("i16:96", "i16:32", "i16:128:out", 96, 32, 128), plain.joined))  # fmt: skip
    found.append(Case(f"{AIE2}bf16_softmax.cc", "softmax_bf16",
                      args(buffer("bf16:1024", 1.0), "bf16:1024:out", 1024), plain.softmax,
                      tolerance=CONTRACT, row="DEV-KERNEL-4"))  # fmt: skip
    return found


def _five_times(a: plain.Array, c: plain.Array) -> None:
    c[5] = (5 * int(a[3]) + 2**31) % 2**32 - 2**31


def _magika() -> list[Case]:
    index, folder = buffer("i16:2048", 63, 0), f"{PE}ml/magika/kernels/"
    weights = buffer("bits:32768", 0.25)
    return [
        Case(f"{folder}group0.cc", "group0a_kernel",
             args(index, "i16:4096:out", "i16:4096", (0, 3), 0), net.gathered, {"GROUPA": None}, library=""),
        Case(f"{folder}group0.cc", "group0b_kernel",
             args(buffer("bits:4096", 1.0), "bits:4096:out", buffer("bits:8704:both", 1.0),
                  buffer("bits:4608", 1.0)), magika.normed, {"GROUPB": None}, library=""),
        Case(f"{folder}group2.cc", "group2_kernel",
             args(buffer("bits:688", 1.0), weights, weights, weights, buffer("bits:20064:both", 0.25),
                  "f32:214:stream"), magika.classified, library=""),
    ]  # fmt: skip


MAKERS: tuple[Callable[[], list[Case]], ...] = (
    _own_references, _bottlenecks, _bottlenecks_with_cascades, _depthwise, _cascades, _block_floats,
    _unit_tests, _magika,
)  # fmt: skip
