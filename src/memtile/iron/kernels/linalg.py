"""``aie.iron.kernels.linalg``: products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from memtile.iron.kernel import Kernel
from memtile.iron.kernels._common import arch, array, bfloat16, kernel

_SHORT = {np.int8: "i8", np.int16: "i16", np.int32: "i32", np.float32: "f32", bfloat16: "bf16"}
_MM = {
    (np.int8, np.int8): {"aie2": (4, 8, 8), "aie2p": (8, 8, 8)},
    (np.int8, np.int16): {"aie2": (4, 8, 8), "aie2p": (8, 8, 8)},
    (np.int8, np.int32): {"aie2": (4, 8, 8), "aie2p": (8, 8, 8)},
    (np.int16, np.int16): {"aie2": (4, 4, 4), "aie2p": (4, 4, 8)},
    (np.int16, np.int32): {"aie2": (4, 4, 4), "aie2p": (4, 4, 8)},
    (bfloat16, bfloat16): {"aie2": (4, 8, 4), "aie2p": (4, 8, 8)},
    (bfloat16, np.float32): {"aie2": (4, 8, 4), "aie2p": (4, 8, 8)},
}
"""Rows, inner size and columns of one multiplication, by types of in and out (mlir-aie, 2026-08-14)."""
_CASCADE = ((np.int16, np.int16), (np.int16, np.int32), (bfloat16, bfloat16), (bfloat16, np.float32))


def _pair(who: str, given: tuple[Any, Any], allowed: Any) -> str:
    if given not in allowed:
        names = ", ".join(f"{_SHORT[a]} to {_SHORT[b]}" for a, b in allowed)
        raise ValueError(f"{who}(): types of in and out are {names}, not {given}")
    return f"{_SHORT[given[0]]}_{_SHORT[given[1]]}"


def _matrices(m: int, k: int, n: int, into: Any, out: Any) -> list[Any]:
    return [array(m * k, into), array(k * n, into), array(m * n, out)]


def mm(
    dim_m: int = 64,
    dim_k: int = 64,
    dim_n: int = 64,
    input_dtype: Any = np.int16,
    output_dtype: Any = np.int16,
    vectorized: bool = True,
    b_col_maj: bool = False,
    c_col_maj: bool = False,
    use_chess: bool = False,
    emulate_bf16_mmul_with_bfp16: bool = False,
) -> Any:
    """``C += A B``; ``zero`` of it fills C with zeros, ``mac_dims`` is the size of one multiplication."""
    pair = (input_dtype, output_dtype)
    suffix = _pair("mm", pair, _MM)
    types = _matrices(dim_m, dim_k, dim_n, input_dtype, output_dtype)
    flags = [f"-DDIM_M={dim_m}", f"-DDIM_K={dim_k}", f"-DDIM_N={dim_n}", f"-D{suffix}_ONLY"]
    flags += ["-DB_COL_MAJ"] * b_col_maj + ["-DC_COL_MAJ"] * c_col_maj
    emulated = emulate_bf16_mmul_with_bfp16 and arch() == "aie2p" and input_dtype is bfloat16
    flags += ["-DAIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16"] * emulated
    name = f"{'matmul' if vectorized else 'matmul_scalar'}_{suffix}"
    made: Any = kernel(name, "mm.cc", types, flags, use_chess=use_chess)
    made.mac_dims = (8, 8, 8) if emulated else _MM[pair][arch()]
    zero = f"{'zero' if vectorized else 'zero_scalar'}_{_SHORT[output_dtype]}"
    made.zero = Kernel(zero, made.object_file_name, types[2:])
    return made


def mv(
    dim_m: int = 32,
    dim_k: int = 32,
    input_dtype: Any = np.int16,
    output_dtype: Any = np.int32,
    vectorized: bool = True,
    use_chess: bool = False,
) -> Any:
    """``c += A b``; ``zero`` of it fills c with zeros."""
    suffix = _pair("mv", (input_dtype, output_dtype), ((np.int16, np.int32),))
    out = array(dim_m, output_dtype)
    types = [array(dim_m * dim_k, input_dtype), array(dim_k, input_dtype), out]
    word = "vectorized" if vectorized else "scalar"
    flags = [f"-DDIM_M={dim_m}", f"-DDIM_K={dim_k}"]
    made: Any = kernel(f"matvec_{word}_{suffix}", "mv.cc", types, flags, use_chess=use_chess)
    made.zero = Kernel(f"zero_{word}_i32", made.object_file_name, [out])
    return made


def cascade_mm(
    dim_m: int = 64,
    dim_k: int = 64,
    dim_n: int = 64,
    input_dtype: Any = np.int16,
    output_dtype: Any = np.int16,
    use_chess: bool = False,
) -> Any:
    """``C += A B`` by cores in a cascade: ``put_only``, ``put_get`` and ``get_only`` of it, and ``zero``."""
    suffix = _pair("cascade_mm", (input_dtype, output_dtype), _CASCADE)
    types = _matrices(dim_m, dim_k, dim_n, input_dtype, output_dtype)
    flags = [f"-DDIM_M={dim_m}", f"-DDIM_K={dim_k}", f"-DDIM_N={dim_n}"]
    name = "matmul_scalar_cascade"
    made: Any = kernel(f"{name}_get_only_{suffix}", "cascade_mm.cc", types, flags, use_chess=use_chess)
    made.get_only = made
    made.put_only, made.put_get = (
        Kernel(f"{name}_{word}_{suffix}", made.object_file_name, types) for word in ("put_only", "put_get")
    )
    made.zero = Kernel(f"zero_scalar_{_SHORT[output_dtype]}", made.object_file_name, types[2:])
    made.mac_dims = (1, 1, 1)
    return made
