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


BESIDE = """aie.packet_flow(ID) {
      aie.packet_source<%store, FROM>
      aie.packet_dest<%door, TO>
    }"""
ONE_WAY = """module {
  aie.device(npu1_1col) {
    %door = aie.tile(0, 0)
    %end = aie.tile(0, ROW) {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 1>}
    %kept = aie.buffer(%end) {sym_name = "kept"} : memref<64xi32>
    aie.flow(%door, DMA : 0, %end, DMA : 0)
    aie.packet_flow(1) {
      aie.packet_source<%end, TileControl : 0>
      aie.packet_dest<%door, South : 0>
    }
    aie.runtime_sequence(%there : memref<64xi32>) {
      %send = aiex.dma_configure_task(%door, MM2S, 0) {
        aie.dma_bd(%there : memref<64xi32>, 0, 64) {bd_id = 1 : i32}
        aie.end
      }
      %in = aiex.dma_configure_task(%end, S2MM, 0) {
        aie.dma_bd(%kept : memref<64xi32>, 0, 64) {bd_id = 0 : i32}
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%in)
      aiex.dma_start_task(%send)
      aiex.dma_await_task(%in)
    }
  }
}
"""
"""Tokens leave by ``SOUTH0`` of the tile that sends them: no stream leads from there to the host."""
WAIT = "aiex.dma_await_task(%in)"
SYNC = """%n0 = arith.constant 0 : i32
      %n1 = arith.constant 1 : i32
      aiex.npu.sync(%n0, %n1, %n0, %n0, %n1, %n1) : i32, i32, i32, i32, i32, i32"""


def renamed(number: int, name: str) -> str:
    """Another controller id for S2MM channel 0 of the memory tile."""
    words = (0x1A0600, number << 8, 0xF00)
    constants = [f"%{name}{n} = arith.constant {word} : i32" for n, word in enumerate(words)]
    names = ", ".join(f"%{name}{n}" for n in range(3))
    write = f"aiex.npu.maskwrite32({names}) {{column = 0 : i32, row = 1 : i32}} : i32, i32, i32"
    return "\n      ".join([*constants, write])


def text(flow: str, wait: str = WAIT, end: str = "") -> str:
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
      {end}
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
        assert "memory(0,1), but its tokens have id 1" in found.message
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


def checked(tmp_path: Path, design: str) -> list[tuple[str, str]]:
    """The codes and messages of a check."""
    file = tmp_path / "design.mlir"
    file.write_text(design)
    return [
        (each.code, each.message) for each in check(str(file), lambda: of_mlir(load_still(file))).findings
    ]


@pytest.mark.parametrize("row", [1, 2])
def test_tokens_that_leave_by_a_port_of_their_own_tile_get_to_the_host(tmp_path: Path, row: int) -> None:
    design = ONE_WAY.replace("ROW", str(row))
    assert checked(tmp_path, design) == []
    done = load(tmp_path / "design.mlir").run(np.arange(64, dtype=np.int32)).result
    assert done.status == "finished"


def test_tokens_that_go_to_another_port_of_the_interface_tile_do_not_get_to_the_host(tmp_path: Path) -> None:
    """They pass a port of the name that firmware has, in another tile."""
    design = ONE_WAY.replace("ROW", "1").replace("South : 0", "DMA : 1")
    assert [code for code, _ in checked(tmp_path, design)] == ["MT0112"]


@pytest.mark.parametrize("number", [1, 7])
def test_a_controller_id_that_is_written_after_the_wait_is_not_that_of_its_token(
    tmp_path: Path, number: int
) -> None:
    flow = FLOW.replace("ID", "1")
    assert checked(tmp_path, text(flow, end=renamed(number, "r"))) == []
    between = f"{renamed(7, 'r')}\n      {renamed(1, 's')}\n      {WAIT}"  # it ends somewhere between them
    assert [code for code, _ in checked(tmp_path, text(flow, between))] == []


def test_a_wait_without_a_token_and_without_a_way_is_told_once(tmp_path: Path) -> None:
    """What no task asks for is not held up by a switch."""
    design = text("", SYNC).replace("} {issue_token = true}\n      %give", "}\n      %give")
    ((code, message),) = checked(tmp_path, design)
    assert (code, "asks for no token" in message) == ("MT0112", True)


@pytest.mark.parametrize(("source", "target"), [("TileControl : 0", "DMA : 1"), ("DMA : 1", "South : 0")])
def test_a_flow_of_something_else_is_not_blamed_for_tokens(tmp_path: Path, source: str, target: str) -> None:
    """Answers to control packets, and packets of a channel, have ids of their own."""
    beside = BESIDE.replace("ID", "2").replace("FROM", source).replace("TO", target)
    assert [code for code, _ in checked(tmp_path, text(beside))] == ["MT0112"]


ONE = """aie.device(npu2) @A {
    %door = aie.tile(0, 0)
    %store = aie.tile(0, 1) {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 1>}
    %kept = aie.buffer(%store) {sym_name = "kept"} : memref<64xi32>
    aie.flow(%door, DMA : 0, %store, DMA : 0)
    aie.runtime_sequence @seq(%there : memref<64xi32>) {
      %in = aiex.dma_configure_task(%store, S2MM, 0) {
        aie.dma_bd(%kept : memref<64xi32>, 0, 64) {bd_id = 0 : i32}
        aie.end
      }
      aiex.dma_start_task(%in)
      SYNC
    }
  }"""
OTHER = """aie.device(npu2) @B {
    %door = aie.tile(0, 0)
    %other = aie.tile(0, ROW) {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 3>}
    aie.packet_flow(4) {
      aie.packet_source<%other, TileControl : 0>
      aie.packet_dest<%door, South : 0>
    }
    aie.runtime_sequence @seq(%there : memref<64xi32>) {
    }
  }"""
BOTH = """module {
  aie.device(npu2) @main {
    aie.runtime_sequence @sequence(%a : memref<64xi32>) {
      aiex.configure @A {
        aiex.run @seq (%a) : (memref<64xi32>)
      }
      aiex.configure @B {
        aiex.run @seq (%a) : (memref<64xi32>)
      }
    }
  }
  ONE
  OTHER
}
"""


def test_a_flow_of_another_device_is_not_why_one_waits(tmp_path: Path) -> None:
    """That device has the same tile, and a flow of another id than the tokens that nobody waits for there."""
    design = BOTH.replace("ONE", ONE.replace("SYNC", SYNC)).replace("OTHER", OTHER.replace("ROW", "1"))
    codes = [code for code, _ in checked(tmp_path, design)]
    assert ("MT0112" in codes, "MT0341" in codes) == (True, False)
    alone = ONE.replace("    aie.runtime", f"    {FLOW.replace('ID', '2')}\n    aie.runtime").replace(
        "SYNC", SYNC
    )
    design = BOTH.replace("ONE", alone).replace("OTHER", OTHER.replace("ROW", "2"))  # of another tile
    codes = [code for code, _ in checked(tmp_path, design)]
    assert ("MT0112" in codes, "MT0341" in codes) == (False, True)
