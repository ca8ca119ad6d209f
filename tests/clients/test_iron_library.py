"""Do kernels without a source become the library's function of their build, or an error with the macro?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memtile.corelib.library import library
from memtile.errors import InputFileError
from memtile.iron import kernels
from memtile.iron.compiled_design import KernelSource
from memtile.iron.kernel import ExternalFunction
from memtile.iron.library_kernels import library_kernel
from memtile.iron.running import kernel_functions


def _source(function: str, *flags: str) -> KernelSource:
    return KernelSource(f"a1_{function}", function, "/none/k.cc", None, "", (), flags)


@pytest.mark.parametrize(
    ("function", "flags", "option"),
    [
        ("filter2dLine", ["-DBORDER_REPLICATE"], "-DBORDER_REPLICATE"),
        ("filter2dLine", ["-O2", "-D", "BORDER_REPLICATE=1"], "-DBORDER_REPLICATE"),
        ("matmul_bf16_bf16", ["-DAIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16"], "-DAIE_API_EMULATE_BFLOAT16"),
        ("matmul_i16_i16", ["-UB_COL_MAJ"], "-UB_COL_MAJ"),
        ("transpose_4x4", ["-DDIM_m=N"], "-DDIM_m"),
        ("passThroughLine", ["-DBIT_WIDTH=32", "-DSHIFT=3"], "-DSHIFT"),
    ],
)
def test_a_macro_that_the_library_does_not_follow_is_refused(
    function: str, flags: list[str], option: str
) -> None:
    with pytest.raises(InputFileError) as caught:
        kernel_functions([_source(function, *flags)], "npu2")
    says = str(caught.value)
    assert says.startswith(f"/none/k.cc: the source of kernel {function} is not there")
    assert f"is built with {option}" in says
    assert "Set MEMTILE_MLIR_AIE to the folder of a clone of mlir-aie, or give the ExternalFunction" in says


def test_macros_that_change_the_function_are_followed() -> None:
    """mm.cc of mlir-aie has b column-major with ``B_COL_MAJ``; ``DIM_m`` is the columns of a flat matrix."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-9, 9, (8, 8)).astype(np.int16) for _ in range(2))
    for flags, right in ((["-DDIM_M=8"], b), (["-DDIM_M=8", "-DB_COL_MAJ"], b.T)):
        c = np.zeros((8, 8), np.int16)
        found = library_kernel(_source("matmul_scalar_i16_i16", *flags), "npu1")
        found["a1_matmul_scalar_i16_i16"](a, np.ascontiguousarray(right), c)
        assert np.array_equal(c, a @ b)
    flat, out = np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)
    library_kernel(_source("transpose_4x4", "-DDIM_m=8"), "npu1")["a1_transpose_4x4"](flat, out)
    assert np.array_equal(out.reshape(8, 8)[:4, :4], flat.reshape(8, 8)[:4, :4].T)


def test_kernels_of_the_interface_are_all_in_the_library(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A pip installation has no ``aie_kernels``: what the factories build by default runs all the same."""
    monkeypatch.setenv("MEMTILE_MLIR_AIE", "")
    monkeypatch.chdir(tmp_path)
    made = [getattr(kernels, name)() for name in kernels.__all__ if not name.endswith("_ref")]
    sources = [KernelSource.of(each) for each in made if isinstance(each, ExternalFunction)]
    assert len(sources) > 35
    for source in sources:
        assert set(library_kernel(source, "npu2")) == {source.name}


def test_a_library_that_nothing_is_asked_of_loads_no_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of functions takes a third of a second; a design that brings its kernels needs none."""

    def loaded() -> object:
        raise AssertionError("the table of functions was loaded")

    monkeypatch.setattr("memtile.corelib.library.entries", loaded)
    known = library("npu2")
    with pytest.raises(AssertionError, match="was loaded"):
        repr(known)
    with pytest.raises(AssertionError, match="was loaded"):
        library("npu2", defines={"DIM_m": 8})
