"""How fast are bodies of cores: a loop over a megapixel, and a small body that waits for no compiler?"""

from __future__ import annotations

from typing import Any

import numpy as np

from memtile.arch.core_costs import CoreCosts
from memtile.importers.kernels.body import translate
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text
from processor_time import processor_time


class _Core:
    def cycles(self, count: int) -> int:
        return count


def body(size: int) -> Any:
    """A threshold over an image of so many pixels."""
    text = f"""aie.device(npu1_1col) {{
      %c = aie.tile(0, 2)
      %x = aie.buffer(%c) : memref<{size}xi8>
      %y = aie.buffer(%c) : memref<{size}xi8>
      aie.core(%c) {{
        %zero = arith.constant 0 : index
        %n = arith.constant {size} : index
        %one = arith.constant 1 : index
        %k = arith.constant 100 : i8
        %low = arith.constant 0 : i8
        scf.for %i = %zero to %n step %one {{
          %v = memref.load %x[%i] : memref<{size}xi8>
          %c0 = arith.cmpi ugt, %v, %k : i8
          %r = arith.select %c0, %v, %low : i8
          memref.store %r, %y[%i] : memref<{size}xi8>
        }}
        aie.end
      }}
    }}"""
    (device,) = devices(read(Text("body.mlir", text)))
    program = translate(device, device.cores[0].operation, CoreCosts())
    return program.generator("<body>", {})


def ran(made: Any, x: np.ndarray, y: np.ndarray) -> None:
    for _ in made(_Core(), {"%x": x, "%y": y}, {}, {}, {}):
        pass


def test_a_loop_over_a_megapixel(benchmark) -> None:
    x = np.random.default_rng(1).integers(-128, 128, 1 << 20).astype(np.int8)
    y, made = np.zeros_like(x), body(1 << 20)
    ran(made, x, y)  # compiles
    np.testing.assert_array_equal(y.view(np.uint8), np.where(x.view(np.uint8) > 100, x.view(np.uint8), 0))
    benchmark(lambda: ran(made, x, y))
    best = benchmark.stats.stats.min
    benchmark.extra_info["ms"] = round(best * 1e3, 2)
    assert best < 0.05


def test_a_small_body_does_not_wait_for_a_compiler(benchmark) -> None:
    x = np.zeros(64, np.int8)
    begin = processor_time()
    made = body(64)
    ran(made, x, x.copy())
    first = processor_time() - begin
    benchmark(lambda: ran(made, x, x))
    benchmark.extra_info["ms of the first run, text included"] = round(first * 1e3, 2)
    assert first < 0.2
