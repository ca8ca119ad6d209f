"""Are descriptors and tasks with wrong locks or counts named, and is the advice of a finding tried?"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding
from memtile.importers.design import load, load_still
from memtile.importers.mlir.repairs.candidates import candidates
from memtile.importers.mlir.token_packets import Text

HALVES = """module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %x = aie.buffer(%mem) {sym_name = "x"} : memref<16xi32>
    %room = aie.lock(%mem, 0) {init = 1 : i32, sym_name = "room"}
    %more = aie.lock(%mem, 1) {init = 1 : i32, sym_name = "more"}
    %full = aie.lock(%mem, 2) {init = 0 : i32, sym_name = "full"}
    aie.flow(%shim, DMA : 0, %mem, DMA : 0)
    aie.flow(%shim, DMA : 1, %mem, DMA : 1)
    aie.flow(%mem, DMA : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @one(%shim, MM2S, 0)
    aie.shim_dma_allocation @two(%shim, MM2S, 1)
    aie.shim_dma_allocation @out(%shim, S2MM, 0)
    aie.memtile_dma(%mem) {
      %0 = aie.dma_start(S2MM, 0, ^low, ^n1)
    ^low:
      aie.use_lock(%room, AcquireGreaterEqual, 1)
      aie.dma_bd(%x : memref<16xi32>, 0, 8)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^low
    ^n1:
      %1 = aie.dma_start(S2MM, 1, ^high, ^n2)
    ^high:
      aie.use_lock(%more, AcquireGreaterEqual, 1)
      aie.dma_bd(%x : memref<16xi32>, 8, 8)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^high
    ^n2:
      %2 = aie.dma_start(MM2S, 0, ^first, ^end)
    ^first:
      aie.use_lock(%full, AcquireGreaterEqual, 2)
      aie.dma_bd(%x : memref<16xi32>, 0, 8)
      aie.use_lock(%room, Release, 1)
      aie.next_bd ^second
    ^second:
      aie.dma_bd(%x : memref<16xi32>, 8, 8)
      aie.use_lock(%more, Release, 1)
      aie.next_bd ^first
    ^end:
      aie.end
    }
    aie.runtime_sequence(%a: memref<32xi32>, %b: memref<32xi32>, %c: memref<64xi32>) {
      aiex.npu.dma_memcpy_nd(%c[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 2 : i64, metadata = @out}
        : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1]) {id = 0 : i64, metadata = @one}
        : memref<32xi32>
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1]) {id = 1 : i64, metadata = @two}
        : memref<32xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""
"""Two channels fill the halves of a buffer, and one sends both when both are there."""
GIVES_MORE, TAKES_BOTH = "      aie.use_lock(%more, Release, 1)\n", "%full, AcquireGreaterEqual, 2"


def of_check(tmp_path: Path, text: str) -> list[Finding]:
    file = tmp_path / "design.mlir"
    file.write_text(text)
    return list(check(str(file), lambda: of_mlir(load_still(file))).findings)


def of_run(tmp_path: Path, text: str) -> list[Finding]:
    file = tmp_path / "design.mlir"
    file.write_text(text)
    sizes = re.findall(r"%[ab]: memref<(\d+)xi32>", text)
    arrays = [np.arange(int(size), dtype=np.int32) for size in sizes]
    return list(load(file).run(*arrays, check=True, max_cycles=40_000).result.findings)


def repaired(text: str, findings: list[Finding]) -> str:
    """The text with the likeliest change."""
    (best, *_) = candidates(Text("design.mlir", text), findings)
    for change in sorted(best.changes, key=lambda each: -each.offset):
        text = text[: change.offset] + change.new + text[change.offset + len(change.old) :]
    return text


def test_the_designs_are_right(tmp_path: Path) -> None:
    for text in (HALVES, RUNS):
        assert not of_check(tmp_path, text)
        assert not of_run(tmp_path, text)


def test_the_descriptor_that_lacks_the_release_of_a_lock_is_named(tmp_path: Path) -> None:
    text = HALVES.replace(GIVES_MORE, "")
    place = f"design.mlir:{text[: text.index('^second:')].count(chr(10)) + 2}:7"
    for found in (of_check(tmp_path, text), of_run(tmp_path, text)):
        (finding,) = found
        assert finding.code in ("MT0103", "MT0302")
        assert finding.sides[0].who.startswith("memory(0,1) MM2S 0")
        assert finding.sides[0].place.endswith(place)
        assert repaired(text, found) == HALVES


def test_a_descriptor_is_not_named_where_another_one_uses_the_words_too(tmp_path: Path) -> None:
    """Both descriptors send the second half: either could release the lock."""
    whole = HALVES.replace("0, 8)\n      aie.use_lock(%room, Rel", "0, 16)\n      aie.use_lock(%room, Rel")
    (finding, *_) = of_check(tmp_path, whole.replace(GIVES_MORE, ""))
    assert all("MM2S 0" not in side.who for side in finding.sides)


def test_one_that_waits_for_several_takes_as_much_as_they_give(tmp_path: Path) -> None:
    text = HALVES.replace(TAKES_BOTH, TAKES_BOTH.replace("2", "1"))
    for found in (of_check(tmp_path, text), of_run(tmp_path, text)):
        assert found[0].code == "MT0122"
        assert found[0].fix == "Let memory(0,1) MM2S 0 acquire 2 there."
        assert repaired(text, found) == HALVES


RUNS = """module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %x = aie.buffer(%mem) {sym_name = "x"} : memref<16xi32>
    %free = aie.lock(%mem, 0) {init = 1 : i32, sym_name = "free"}
    %full = aie.lock(%mem, 1) {init = 0 : i32, sym_name = "full"}
    aie.flow(%shim, DMA : 0, %mem, DMA : 0)
    aie.flow(%mem, DMA : 0, %shim, DMA : 0)
    aie.memtile_dma(%mem) {
      %0 = aie.dma_start(S2MM, 0, ^come, ^next)
    ^come:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%x : memref<16xi32>, 0, 16)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^come
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^go, ^end)
    ^go:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%x : memref<16xi32>, 0, 16)
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^go
    ^end:
      aie.end
    }
    aie.runtime_sequence(%a: memref<16xi32>, %b: memref<96xi32>) {
      %r0 = aiex.dma_configure_task(%shim, S2MM, 0) {
        aie.dma_bd(%b : memref<96xi32>, 0, 64) {bd_id = 4 : i32}
        aie.end
      } {issue_token = true}
      %s0 = aiex.dma_configure_task(%shim, MM2S, 0) {
        aie.dma_bd(%a : memref<16xi32>, 0, 16) {bd_id = 0 : i32}
        aie.end
      } {repeat_count = 3 : i32}
      aiex.dma_start_task(%r0)
      aiex.dma_start_task(%s0)
      aiex.dma_await_task(%r0)
      %r1 = aiex.dma_configure_task(%shim, S2MM, 0) {
        aie.dma_bd(%b : memref<96xi32>, 64, 32) {bd_id = 5 : i32}
        aie.end
      } {issue_token = true}
      %s1 = aiex.dma_configure_task(%shim, MM2S, 0) {
        aie.dma_bd(%a : memref<16xi32>, 0, 16) {bd_id = 1 : i32}
        aie.end
      } {repeat_count = 1 : i32}
      aiex.dma_start_task(%r1)
      aiex.dma_start_task(%s1)
      aiex.dma_await_task(%r1)
    }
  }
}
"""
"""A host sends a block four times, waits for what comes back, and sends it twice more."""


def test_a_task_that_runs_too_seldom_for_what_its_host_waits_for(tmp_path: Path) -> None:
    text = RUNS.replace("repeat_count = 3", "repeat_count = 1")
    for found in (of_check(tmp_path, text), of_run(tmp_path, text)):
        (finding,) = found
        assert finding.evidence.runs == 4
        assert "(repeat_count = 3), or let " in finding.fix
        assert repaired(text, found) == RUNS


@pytest.mark.parametrize("length", [60, 72])
def test_no_count_of_runs_is_advised_that_words_do_not_give(tmp_path: Path, length: int) -> None:
    """What is missing is no multiple of what one run brings."""
    text = RUNS.replace("repeat_count = 3", "repeat_count = 1").replace("0, 64)", f"0, {length})")
    (finding,) = of_check(tmp_path, text)
    assert not finding.evidence.runs


def test_a_run_without_a_host_has_the_oddities_of_its_text(tmp_path: Path) -> None:
    """Four descriptors share an array; two of them write the same part."""
    blocks = "".join(
        f"""
    ^t{n}:
      aie.dma_bd(%y : memref<64xi32>, {offset}, 16)
      aie.next_bd ^{f"t{n + 1}" if n < 3 else "end"}"""
        for n, offset in enumerate((0, 16, 16, 48))
    )
    text = f"""module {{
  aie.device(xcve2802) {{
    %shim = aie.tile(2, 0)
    %mem = aie.tile(2, 1)
    %x = aie.buffer(%mem) {{sym_name = "x"}} : memref<64xi32> = dense<7>
    %y = aie.external_buffer {{sym_name = "y"}} : memref<64xi32>
    aie.flow(%mem, DMA : 0, %shim, DMA : 0)
    aie.shim_dma(%shim) {{
      %0 = aie.dma_start(S2MM, 0, ^t0, ^end){blocks}
    ^end:
      aie.end
    }}
    aie.memtile_dma(%mem) {{
      %0 = aie.dma_start(MM2S, 0, ^go, ^end)
    ^go:
      aie.dma_bd(%x : memref<64xi32>, 0, 64)
      aie.next_bd ^end
    ^end:
      aie.end
    }}
  }}
}}
"""
    of_text = {(each.code, each.fix) for each in of_check(tmp_path, text)}
    assert ("MT0123", "Give it offset 32.") in of_text
    assert ("MT0123", "Give it offset 32.") in {(each.code, each.fix) for each in of_run(tmp_path, text)}
