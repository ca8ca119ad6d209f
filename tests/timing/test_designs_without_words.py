"""Do runs of MLIR designs without data take the cycles of runs with it, and refuse what words decide?"""

from __future__ import annotations

import ast

import numpy as np
import pytest

from memtile.arch.core_costs import CoreCosts
from memtile.errors import DesignError, InputFileError
from memtile.importers.design import load
from memtile.importers.kernels.body import translate
from memtile.importers.kernels.without_words import _shorter, generator_without_words
from memtile.importers.loaded import Loaded
from memtile.importers.mlir.token_packets import Text

WHOLE = "[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]"
BODY = """
scf.for %i = %c0 to %c16 step %c1 {
  %v = memref.load %in[%i] : memref<16xi32>
  %w = arith.addi %v, %v : i32
  memref.store %w, %out[%i] : memref<16xi32>
}
"""
DECIDED = """
%first = memref.load %in[%c0] : memref<16xi32>
%zero = arith.constant 0 : i32
%is = arith.cmpi sgt, %first, %zero : i32
scf.if %is {
  func.call @more(%in) : (memref<16xi32>) -> ()
}
"""
COUNTED = """
%sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%s = %c1) -> (index) {
  %t = arith.addi %s, %i : index
  scf.yield %t : index
}
scf.for %j = %c0 to %sum step %c1 {
  %v = memref.load %in[%c0] : memref<16xi32>
  memref.store %v, %out[%c1] : memref<16xi32>
}
"""
CALLED = "func.call @more(%in) : (memref<16xi32>) -> ()"


def text(body: str) -> Text:
    return Text(
        "d.mlir",
        f"""
aie.device(npu1_1col) {{
  %shim = aie.tile(0, 0)
  %core = aie.tile(0, 2)
  func.func private @more(memref<16xi32>)
  aie.objectfifo @a(%shim, {{%core}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo @b(%core, {{%shim}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.core(%core) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    scf.for %k = %c0 to %c4 step %c1 {{
      %from = aie.objectfifo.acquire @a(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
      %in = aie.objectfifo.subview.access %from[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
      %to = aie.objectfifo.acquire @b(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
      %out = aie.objectfifo.subview.access %to[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
      {body}
      aie.objectfifo.release @a(Consume, 1)
      aie.objectfifo.release @b(Produce, 1)
    }}
    aie.end
  }}
  aie.runtime_sequence(%x: memref<64xi32>, %y: memref<64xi32>) {{
    aiex.npu.dma_memcpy_nd(%x{WHOLE}) {{id = 0 : i64, metadata = @a}} : memref<64xi32>
    aiex.npu.dma_memcpy_nd(%y{WHOLE}) {{id = 1 : i64, metadata = @b}} : memref<64xi32>
    aiex.npu.dma_wait {{symbol = @b}}
  }}
}}
""",
    )


def more(values: np.ndarray) -> None:
    assert values.any(), "called without words"


more.cycles = 70  # type: ignore[attr-defined]


def loaded(body: str) -> Loaded:
    return load(text(body), functions={"more": more})


@pytest.mark.parametrize("body", [BODY, COUNTED, CALLED, BODY + COUNTED + CALLED])
def test_a_run_without_data_takes_as_long_and_computes_nothing(body: str) -> None:
    with_data = loaded(body).run(np.arange(1, 65, dtype=np.int32)).result
    without = loaded(body).run(data=False)
    assert without.result.cycles == with_data.cycles
    assert without.result.status is with_data.status
    assert (without.result.words, without.result.words_needed_by, without.arrays) == (False, (), {})


def test_a_branch_by_a_word_is_refused_with_its_core_and_line() -> None:
    design = loaded(DECIDED)
    with pytest.raises(
        InputFileError, match=r"d\.mlir:\d+:\d+: scf\.if: words decide a branch in core %core"
    ):
        design.run(data=False)
    hosted = loaded(DECIDED).hosted(np.ones(64, np.int32))
    assert hosted.run(data=False).words_needed_by


def test_a_function_whose_cycles_are_a_function_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(more, "cycles", len)
    with pytest.raises(InputFileError, match="core %core calls more: a function of its arguments gives its"):
        loaded(CALLED).run(data=False)


def test_data_that_comes_in_packets_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    design = loaded(BODY)
    monkeypatch.setattr(type(design.array.engine), "data_in_packets", lambda _: True)
    with pytest.raises(DesignError, match="packets, whose headers are words"):
        design.run(data=False)


@pytest.mark.parametrize("body", ["s += 1", "cycles += i", "cycles *= 2", "cycles += 1; s = i"])
def test_loops_that_do_more_than_count_stay(body: str) -> None:
    (loop,) = ast.parse(f"for i in range(3): {body}").body
    assert isinstance(loop, ast.For)
    assert isinstance(_shorter([loop])[0], ast.For)


def test_loops_that_only_count_become_products() -> None:
    design = load(text(BODY))
    (core,) = design.configured.device.cores
    program = translate(design.configured.device, core.operation, CoreCosts())
    names = generator_without_words(program, "core", {}).__globals__
    (piece,) = (each for name, each in names.items() if name.startswith("piece_"))
    assert piece() == (16 * 5,)
