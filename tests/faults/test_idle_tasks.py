"""A task that a host never starts is the one finding, not who waits for the lock that it would release."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.importers.design import load, load_still


def text(start: str, lock: str) -> str:
    return f"""module {{
  aie.device(npu1_1col) {{
    %door = aie.tile(0, 0)
    %worker = aie.tile(0, 2)
    %kept = aie.buffer(%worker) {{sym_name = "kept"}} : memref<64xi32>
    %free = aie.lock(%worker, 0) {{init = 1 : i32, sym_name = "free"}}
    %full = aie.lock(%worker, 1) {{init = 0 : i32, sym_name = "full"}}
    %other = aie.lock(%worker, 2) {{init = 0 : i32, sym_name = "other"}}
    aie.flow(%door, DMA : 0, %worker, DMA : 0)
    aie.flow(%worker, DMA : 0, %door, DMA : 0)

    aie.runtime_sequence(%there : memref<64xi32>, %back : memref<64xi32>) {{
      %send = aiex.dma_configure_task(%door, MM2S, 0) {{
        aie.dma_bd(%there : memref<64xi32>, 0, 64) {{bd_id = 0 : i32}}
        aie.end
      }}
      %in = aiex.dma_configure_task(%worker, S2MM, 0) {{
        aie.use_lock(%free, AcquireGreaterEqual, 1)
        aie.dma_bd(%kept : memref<64xi32>, 0, 64) {{bd_id = 0 : i32}}
        aie.use_lock(%full, Release, 1)
        aie.end
      }}
      %give = aiex.dma_configure_task(%worker, MM2S, 0) {{
        aie.use_lock(%{lock}, AcquireGreaterEqual, 1)
        aie.dma_bd(%kept : memref<64xi32>, 0, 64) {{bd_id = 1 : i32}}
        aie.use_lock(%free, Release, 1)
        aie.end
      }}
      %out = aiex.dma_configure_task(%door, S2MM, 0) {{
        aie.dma_bd(%back : memref<64xi32>, 0, 64) {{bd_id = 1 : i32}}
        aie.end
      }} {{issue_token = true}}
      aiex.dma_start_task(%send)
      {start}
      aiex.dma_start_task(%give)
      aiex.dma_start_task(%out)
      aiex.dma_await_task(%out)
    }}
  }}
}}
"""


@pytest.mark.parametrize(("lock", "alone"), [("full", True), ("other", False)])
def test_a_wait_for_a_lock_of_a_task_that_is_never_started(tmp_path: Path, lock: str, alone: bool) -> None:
    """A lock that another one should release is a mistake of its own."""
    file = tmp_path / "design.mlir"
    file.write_text(text("", lock))
    before = check(str(file), lambda: of_mlir(load_still(file))).findings
    done = load(file).run(np.arange(64, dtype=np.int32), np.zeros(64, np.int32)).result
    assert done.status == "stuck"
    for found in (before, done.findings):
        errors = [each for each in found if each.severity == "error"]
        assert errors[0].code == "MT0121"
        assert (len(errors) == 1) is alone


def test_the_started_task_is_fine(tmp_path: Path) -> None:
    file = tmp_path / "design.mlir"
    file.write_text(text("aiex.dma_start_task(%in)", "full"))
    assert not check(str(file), lambda: of_mlir(load_still(file))).findings
