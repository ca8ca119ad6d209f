"""Does a kernel that was attached begin while firmware writes, and not only when the array is run?"""

from __future__ import annotations

import numpy as np

from memtile.runs.array_names import Given, Wanted
from memtile.runs.session import run_program
from support.mlir.mlir_designs import NUMBERS, WAIT, copied, device, host, loaded

_CORE = """
  func.func private @mark()
  aie.core(%c) {
    func.call @mark() : () -> ()
    aie.end
  }
  aie.flow(%s, DMA : 0, %m, DMA : 0)
  aie.flow(%m, DMA : 0, %s, DMA : 0)
  aie.shim_dma_allocation @in(%s, MM2S, 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)
  %b0 = aie.buffer(%m) : memref<64xi32>
  %full = aie.lock(%m) {init = 0 : i32}
  aie.memtile_dma(%m) {
    %0 = aie.dma(S2MM, 0) {loop = false} [{
      aie.dma_bd(%b0 : memref<64xi32>)
      aie.use_lock(%full, Release, 1)
    }]
    %1 = aie.dma(MM2S, 0) {loop = false} [{
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%b0 : memref<64xi32>)
    }]
    aie.end
  }
"""


def test_a_kernel_begins_while_the_firmware_is_busy_with_its_accesses() -> None:
    begun: list[int] = []
    steps = host(copied("out", "b", 1), copied("in", "a", 0), WAIT)
    design = loaded(device(_CORE, steps), {"mark": lambda: begun.append(design.array.engine.now)})
    assert design.sequence is not None
    wanted = [Wanted("1", np.dtype(np.int32), (64,))]
    done = run_program(design.sequence.steps, design.array, [Given("0", NUMBERS)], wanted)
    np.testing.assert_array_equal(done.arrays["1"], NUMBERS)
    assert begun[0] < design.array.engine.timing.firmware_access
