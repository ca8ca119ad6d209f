"""Do a design's high-level text, its lowered text and its build move the same words, in the same cycles?"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from support.mlir import mlir_texts
from support.mlir.mlir_builds import write_build

DATA = np.arange(64, dtype=np.int32)
LOWERED = """module {
  aie.device(npu1_1col) {
    func.func private @work(memref<16xi32>, memref<16xi32>)
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    %out_0 = aie.buffer(%core) {address = 1024 : i32, sym_name = "out_buff_0"} : memref<16xi32>
    %out_1 = aie.buffer(%core) {address = 1088 : i32, sym_name = "out_buff_1"} : memref<16xi32>
    %in_0 = aie.buffer(%core) {address = 1152 : i32, sym_name = "in_cons_buff_0"} : memref<16xi32>
    %in_1 = aie.buffer(%core) {address = 1216 : i32, sym_name = "in_cons_buff_1"} : memref<16xi32>
    %in_p = aie.lock(%core, 0) {init = 2 : i32, sym_name = "in_cons_prod_lock"}
    %in_c = aie.lock(%core, 1) {init = 0 : i32, sym_name = "in_cons_cons_lock"}
    %out_p = aie.lock(%core, 2) {init = 2 : i32, sym_name = "out_prod_lock"}
    %out_c = aie.lock(%core, 3) {init = 0 : i32, sym_name = "out_cons_lock"}
    aie.flow(%shim, DMA : 0, %core, DMA : 0)
    aie.flow(%core, DMA : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @in(MM2S, 0, 0)
    aie.shim_dma_allocation @out(S2MM, 0, 0)
    %c = aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      cf.br ^head(%c0 : index)
    ^head(%i: index):
      %more = arith.cmpi slt, %i, %c4 : index
      cf.cond_br %more, ^body, ^done
    ^body:
      aie.use_lock(%in_c, AcquireGreaterEqual, 1)
      aie.use_lock(%out_p, AcquireGreaterEqual, 1)
      func.call @work(%in_0, %out_0) : (memref<16xi32>, memref<16xi32>) -> ()
      aie.use_lock(%in_p, Release, 1)
      aie.use_lock(%out_c, Release, 1)
      aie.use_lock(%in_c, AcquireGreaterEqual, 1)
      aie.use_lock(%out_p, AcquireGreaterEqual, 1)
      func.call @work(%in_1, %out_1) : (memref<16xi32>, memref<16xi32>) -> ()
      aie.use_lock(%in_p, Release, 1)
      aie.use_lock(%out_c, Release, 1)
      %next = arith.addi %i, %c2 : index
      cf.br ^head(%next : index)
    ^done:
      aie.end
    }
    aiex.runtime_sequence(%a: memref<64xi32>, %c_: memref<64xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in}
        : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%c_[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out}
        : memref<64xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
    %mem = aie.mem(%core) {
      %0 = aie.dma_start(S2MM, 0, ^bb1, ^bb3)
    ^bb1:
      aie.use_lock(%in_p, AcquireGreaterEqual, 1)
      aie.dma_bd(%in_0 : memref<16xi32>, 0, 16) {bd_id = 0 : i32, next_bd_id = 1 : i32}
      aie.use_lock(%in_c, Release, 1)
      aie.next_bd ^bb2
    ^bb2:
      aie.use_lock(%in_p, AcquireGreaterEqual, 1)
      aie.dma_bd(%in_1 : memref<16xi32>, 0, 16) {bd_id = 1 : i32, next_bd_id = 0 : i32}
      aie.use_lock(%in_c, Release, 1)
      aie.next_bd ^bb1
    ^bb3:
      %1 = aie.dma_start(MM2S, 0, ^bb4, ^bb6)
    ^bb4:
      aie.use_lock(%out_c, AcquireGreaterEqual, 1)
      aie.dma_bd(%out_0 : memref<16xi32>, 0, 16) {bd_id = 2 : i32, next_bd_id = 3 : i32}
      aie.use_lock(%out_p, Release, 1)
      aie.next_bd ^bb5
    ^bb5:
      aie.use_lock(%out_c, AcquireGreaterEqual, 1)
      aie.dma_bd(%out_1 : memref<16xi32>, 0, 16) {bd_id = 3 : i32, next_bd_id = 2 : i32}
      aie.use_lock(%out_p, Release, 1)
      aie.next_bd ^bb4
    ^bb6:
      aie.end
    }
  }
}
"""
"""``mlir_texts.CALL`` as a compiler lowers it: FIFOs as locks and BDs, the core's loop unrolled twice."""


def _done(*args: object) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["run", "--json", *map(str, args)])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["status"] == "finished"
    return found


def _words(found: dict[str, Any]) -> dict[str, int]:
    return {each["channel"]: each["cycles"]["moving"] for each in found["channels"]}


def _forms(design: Path, lowered: Path, build: Path, *args: object) -> list[dict[str, Any]]:
    """The runs of the three, whose words by channel are the same, and the cycles of the last two."""
    runs = [_done(form, *args) for form in (design, lowered, build)]
    assert _words(runs[0]) == _words(runs[1]) == _words(runs[2])
    assert any(_words(runs[0]).values())
    assert runs[1]["cycles"] == runs[2]["cycles"]
    return runs


def test_a_design_of_ours_in_three_forms(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", DATA)
    (tmp_path / "work.py").write_text("def work(x, y):\n    y[...] = x + 1\n")
    (design := tmp_path / "design.mlir").write_text(mlir_texts.CALL)
    (lowered := tmp_path / "lowered.mlir").write_text(LOWERED)
    build = write_build(tmp_path / "build", LOWERED)
    out = tmp_path / "out.npy"
    arguments = ["--in", f"0={tmp_path / 'in.npy'}", "--out", f"1:int32:64={out}"]
    runs = _forms(design, lowered, build, "--kernels", tmp_path / "work.py", *arguments)
    np.testing.assert_array_equal(np.load(out), DATA + 1)
    high, low, _ = (each["cores"][0]["cycles"]["running"] for each in runs)
    assert high - low == 2 * 2  # the high-level text takes two turns more, of two cycles


@pytest.mark.parametrize("name", ["matmul_single_core", "matrix_scalar_add"])
def test_designs_of_others_in_three_forms(tmp_path: Path, name: str) -> None:
    """``MEMTILE_BUILDS``: a folder with designs that have both texts and their build."""
    folder = os.environ.get("MEMTILE_BUILDS")
    if not folder:
        pytest.skip("no folder of builds is given: MEMTILE_BUILDS=PATH, with NAME/design.mlir and its build")
    place = Path(folder) / name
    given = [word for n, file in enumerate(sorted(place.glob("in*.npy"))) for word in ("--in", f"{n}={file}")]
    (expected,) = place.glob("out*.npy")
    wanted, out = np.load(expected), tmp_path / "out.npy"
    shape = "x".join(map(str, wanted.shape))
    number = expected.stem.removeprefix("out")
    arguments = [*given, "--out", f"{number}:{wanted.dtype}:{shape}={out}"]
    _forms(place / "design.mlir", place / "input_with_addresses.mlir", place, *arguments)
    np.testing.assert_array_equal(np.load(out), wanted)
