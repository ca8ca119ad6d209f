"""Tokens that do not get to the host: told before a run, at the packet flow of another id if there is one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.importers.design import load, load_still

FLOW = """aie.packet_flow(ID) {
      aie.packet_source<%store, TileControl : 0>
      aie.packet_dest<%door, South : 0>
    }"""
LINE = 9  # of the packet flow


def text(flow: str, wait: str = "aiex.dma_await_task(%in)") -> str:
    return f"""module {{
  aie.device(npu1_1col) {{
    %door = aie.tile(0, 0)
    %store = aie.tile(0, 1) {{controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 1>}}
    %kept = aie.buffer(%store) {{sym_name = "kept"}} : memref<64xi32>
    aie.flow(%door, DMA : 0, %store, DMA : 0)
    aie.flow(%store, DMA : 0, %door, DMA : 0)

    {flow}
    aie.runtime_sequence(%there : memref<64xi32>, %back : memref<64xi32>) {{
      %out = aiex.dma_configure_task(%door, S2MM, 0) {{
        aie.dma_bd(%back : memref<64xi32>, 0, 64) {{bd_id = 0 : i32}}
        aie.end
      }} {{issue_token = true}}
      %send = aiex.dma_configure_task(%door, MM2S, 0) {{
        aie.dma_bd(%there : memref<64xi32>, 0, 64) {{bd_id = 1 : i32}}
        aie.end
      }}
      %in = aiex.dma_configure_task(%store, S2MM, 0) {{
        aie.dma_bd(%kept : memref<64xi32>, 0, 64) {{bd_id = 0 : i32}}
        aie.end
      }} {{issue_token = true}}
      %give = aiex.dma_configure_task(%store, MM2S, 0) {{
        aie.dma_bd(%kept : memref<64xi32>, 0, 64) {{bd_id = 1 : i32}}
        aie.end
      }}
      aiex.dma_start_task(%out)
      aiex.dma_start_task(%in)
      aiex.dma_start_task(%send)
      {wait}
      aiex.dma_start_task(%give)
      aiex.dma_await_task(%out)
    }}
  }}
}}
"""


@pytest.mark.parametrize("number", [1, 2])
def test_a_flow_of_another_id_than_the_tokens_of_its_tile(tmp_path: Path, number: int) -> None:
    file = tmp_path / "design.mlir"
    file.write_text(text(FLOW.replace("ID", str(number))))
    before = check(str(file), lambda: of_mlir(load_still(file))).findings
    done = load(file).run(np.arange(64, dtype=np.int32), np.zeros(64, np.int32)).result
    if number == 1:
        assert (list(before), done.status) == ([], "finished")
        return
    assert done.status == "stuck"
    for found in (before[0], done.findings[0]):
        assert (found.code, found.severity, found.fix) == (
            "MT0341",
            "error",
            "Give the flow the id 1, or the tile the controller id 2.",
        )
        assert found.sides[0].place.startswith(f"{file}:{LINE}:")
        assert "memory(0,1), whose tokens are of id 1" in found.message
    assert [each.code for each in (*before[1:], *done.findings[1:])] == []


def test_a_flow_of_another_id_where_nobody_waits_may_be_meant(tmp_path: Path) -> None:
    file = tmp_path / "design.mlir"
    file.write_text(text(FLOW.replace("ID", "2"), wait="aiex.dma_free_task(%send)"))
    found = check(str(file), lambda: of_mlir(load_still(file))).findings
    assert "MT0341" not in [each.code for each in found]


def test_tokens_without_a_flow_are_told_before_a_run(tmp_path: Path) -> None:
    file = tmp_path / "design.mlir"
    file.write_text(text(""))
    (found,) = check(str(file), lambda: of_mlir(load_still(file))).findings
    assert (found.code, found.message) == (
        "MT0112",
        "The host waits for a token of memory(0,1) S2MM 0, which is sent and does not leave its tile.",
    )
