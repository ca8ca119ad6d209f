"""Are locks of buffers that two neighbouring cores share judged, and designs much like them left alone?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding
from memtile.importers.design import load, load_still
from memtile.importers.mlir.repairs.candidates import candidates
from memtile.importers.mlir.token_packets import Text

DESIGN = """module {
  aie.device(npu1_1col) {
    %s = aie.tile(0, 0)
    %p = aie.tile(0, 2)
    %q = aie.tile(0, 3)
    aie.flow(%s, DMA : 0, %p, DMA : 0)
    aie.flow(%q, DMA : 0, %s, DMA : 0)
    aie.shim_dma_allocation @src(%s, MM2S, 0)
    aie.shim_dma_allocation @dst(%s, S2MM, 0)
    %raw = aie.buffer(%p) {sym_name = "raw"} : memref<16xi32>
    %raw_e = aie.lock(%p, 0) {init = 1 : i32, sym_name = "raw_e"}
    %raw_f = aie.lock(%p, 1) {init = 0 : i32, sym_name = "raw_f"}
    %mid0 = aie.buffer(%p) {sym_name = "mid0"} : memref<16xi32>
    %mid1 = aie.buffer(%p) {sym_name = "mid1"} : memref<16xi32>
    %table = aie.buffer(%p) {sym_name = "table"} : memref<16xi32> = dense<3>
    %mid_e = aie.lock(%p, 2) {init = 2 : i32, sym_name = "mid_e"}
    %mid_f = aie.lock(%p, 3) {init = 0 : i32, sym_name = "mid_f"}
    %fin = aie.buffer(%q) {sym_name = "fin"} : memref<16xi32>
    %fin_e = aie.lock(%q, 0) {init = 1 : i32, sym_name = "fin_e"}
    %fin_f = aie.lock(%q, 1) {init = 0 : i32, sym_name = "fin_f"}
    aie.mem(%p) {
      %0 = aie.dma_start(S2MM, 0, ^in, ^end)
    ^in:
      aie.use_lock(%raw_e, AcquireGreaterEqual, 1)
      aie.dma_bd(%raw : memref<16xi32>, 0, 16)
      aie.use_lock(%raw_f, Release, 1)
      aie.next_bd ^in
    ^end:
      aie.end
    }
    aie.mem(%q) {
      %0 = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%fin_f, AcquireGreaterEqual, 1)
      aie.dma_bd(%fin : memref<16xi32>, 0, 16)
      aie.use_lock(%fin_e, Release, 1)
      aie.next_bd ^out
    ^end:
      aie.end
    }
    aie.core(%p) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %w = arith.constant 16 : index
      %turns = arith.constant 3 : index
      scf.for %turn = %c0 to %turns step %c1 {
        aie.use_lock(%raw_f, AcquireGreaterEqual, 1)
        aie.use_lock(%mid_e, AcquireGreaterEqual, 1)
        scf.for %i0 = %c0 to %w step %c1 {
          %v0 = memref.load %raw[%i0] : memref<16xi32>
          memref.store %v0, %mid0[%i0] : memref<16xi32>
        }
        aie.use_lock(%mid_f, Release, 1)
        aie.use_lock(%raw_e, Release, 1)
        aie.use_lock(%raw_f, AcquireGreaterEqual, 1)
        aie.use_lock(%mid_e, AcquireGreaterEqual, 1)
        scf.for %i1 = %c0 to %w step %c1 {
          %v1 = memref.load %raw[%i1] : memref<16xi32>
          memref.store %v1, %mid1[%i1] : memref<16xi32>
        }
        aie.use_lock(%mid_f, Release, 1)
        aie.use_lock(%raw_e, Release, 1)
      }
      aie.end
    }
    aie.core(%q) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %w = arith.constant 16 : index
      %turns = arith.constant 3 : index
      scf.for %turn = %c0 to %turns step %c1 {
        aie.use_lock(%mid_f, AcquireGreaterEqual, 1)
        aie.use_lock(%fin_e, AcquireGreaterEqual, 1)
        scf.for %j0 = %c0 to %w step %c1 {
          %u0 = memref.load %mid0[%j0] : memref<16xi32>
          memref.store %u0, %fin[%j0] : memref<16xi32>
        }
        aie.use_lock(%mid_e, Release, 1)
        aie.use_lock(%fin_f, Release, 1)
        aie.use_lock(%mid_f, AcquireGreaterEqual, 1)
        aie.use_lock(%fin_e, AcquireGreaterEqual, 1)
        scf.for %j1 = %c0 to %w step %c1 {
          %u1 = memref.load %mid1[%j1] : memref<16xi32>
          memref.store %u1, %fin[%j1] : memref<16xi32>
        }
        aie.use_lock(%mid_e, Release, 1)
        aie.use_lock(%fin_f, Release, 1)
      }
      aie.end
    }
    aie.runtime_sequence(%a: memref<96xi32>, %b: memref<96xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 96][0, 0, 0, 1]) {id = 0 : i64, metadata = @dst}
        : memref<96xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 96][0, 0, 0, 1]) {id = 1 : i64, metadata = @src}
        : memref<96xi32>
      aiex.npu.dma_wait {symbol = @dst}
    }
  }
}
"""
"""A core writes two buffers in turn, and its neighbour reads them."""
MID_E = 'init = 2 : i32, sym_name = "mid_e"'
LAST_READ = """        scf.for %j1 = %c0 to %w step %c1 {
          %u1 = memref.load %mid1[%j1] : memref<16xi32>
          memref.store %u1, %fin[%j1] : memref<16xi32>
        }
"""
GIVES_BACK = "        aie.use_lock(%mid_e, Release, 1)\n"
EARLY = DESIGN.replace(LAST_READ + GIVES_BACK, GIVES_BACK + LAST_READ)


def of_check(tmp_path: Path, text: str) -> list[Finding]:
    file = tmp_path / "design.mlir"
    file.write_text(text)
    return list(check(str(file), lambda: of_mlir(load_still(file))).findings)


def of_run(tmp_path: Path, text: str) -> list[Finding]:
    file = tmp_path / "design.mlir"
    file.write_text(text)
    return list(load(file).run(np.arange(96, dtype=np.int32), check=True).result.findings)


def repaired(text: str, findings: list[Finding]) -> str:
    """The text with the likeliest change."""
    (best, *_) = candidates(Text("design.mlir", text), findings)
    for change in sorted(best.changes, key=lambda each: -each.offset):
        text = text[: change.offset] + change.new + text[change.offset + len(change.old) :]
    return text


def test_a_lock_that_begins_above_the_buffers_that_two_cores_share(tmp_path: Path) -> None:
    text = DESIGN.replace(MID_E, MID_E.replace("= 2", "= 3"))
    for found in (of_check(tmp_path, text), of_run(tmp_path, text)):
        (finding,) = found
        assert finding.code == "MT0122"
        assert finding.fix == "Initialise lock 2 'mid_e' of tile (0, 2) to 2."
        assert repaired(text, found) == DESIGN


def test_a_buffer_that_a_neighbour_reads_after_it_has_given_it_back(tmp_path: Path) -> None:
    assert EARLY != DESIGN
    for found in (of_check(tmp_path, EARLY), of_run(tmp_path, EARLY)):
        (finding,) = found
        assert finding.code == "MT0105"
        assert [side.who for side in finding.sides] == ["core (0, 3)", "core (0, 3)"]
        assert repaired(EARLY, found) == DESIGN


SLOTS = (
    DESIGN.replace("mid0[%i0] : memref<16xi32>", "mid0[%turn] : memref<16xi32>")
    .replace("mid0[%j0] : memref<16xi32>", "mid0[%turn] : memref<16xi32>")
    .replace(MID_E, MID_E.replace("= 2", "= 3"))
)
"""One buffer has several objects: its words follow from the turn."""


def test_a_buffer_of_several_objects_has_room_for_them(tmp_path: Path) -> None:
    assert not of_check(tmp_path, SLOTS)


@pytest.mark.parametrize("use", ["%i0", "%j0"])
def test_one_side_that_goes_through_a_buffer_is_enough(tmp_path: Path, use: str) -> None:
    other = "%turn" if use == "%i0" else "%w2"
    text = DESIGN.replace(f"mid0[{use}]", f"mid0[{other}]").replace(MID_E, MID_E.replace("= 2", "= 3"))
    text = text.replace(
        "        scf.for %j0", "        %w2 = arith.addi %turn, %c1 : index\n        scf.for %j0"
    )
    assert not of_check(tmp_path, text)


def test_two_units_for_a_buffer(tmp_path: Path) -> None:
    """Each use acquires and releases two units: four are two buffers."""
    text = DESIGN.replace(MID_E, MID_E.replace("= 2", "= 4"))
    for lock, does in (("mid_e", "Release"), ("mid_e", "AcquireGreaterEqual"), ("mid_f", "Release")):
        text = text.replace(f"%{lock}, {does}, 1", f"%{lock}, {does}, 2")
    text = text.replace("%mid_f, AcquireGreaterEqual, 1", "%mid_f, AcquireGreaterEqual, 2")
    assert not of_check(tmp_path, text)


READ = "%t = memref.load %table[%c0] : memref<16xi32>"
CALLED = "func.call @look_up(%table) : (memref<16xi32>) -> ()"
LATE = "        aie.use_lock(%mid_e, Release, 1)\n        aie.use_lock(%fin_f, Release, 1)\n      }\n"


def with_table(use: str) -> str:
    """Both cores use a table, the second one after it has given its buffer back."""
    text = DESIGN.replace("        scf.for %i0", f"        {use}\n        scf.for %i0")
    late = LATE.replace("        aie.use_lock(%fin_f", f"        {use}\n        aie.use_lock(%fin_f")
    assert text.count(LATE) == 1
    text = text.replace(
        "    aie.core(%p)", "    func.func private @look_up(memref<16xi32>)\n    aie.core(%p)"
    )
    return text.replace(LATE, late)


@pytest.mark.parametrize("use", [READ, CALLED])
def test_a_table_that_both_cores_may_only_read(tmp_path: Path, use: str) -> None:
    assert not of_check(tmp_path, with_table(use))


def test_a_table_of_cores_that_have_one_pair_of_locks(tmp_path: Path) -> None:
    lines = with_table(READ).splitlines(keepends=True)
    streams = ("        aie.use_lock(%raw_", "        aie.use_lock(%fin_")
    text = "".join(line for line in lines if not line.startswith(streams))
    assert not {"MT0100", "MT0105"} & {each.code for each in of_check(tmp_path, text)}


def test_a_core_that_is_ordered_by_what_the_other_one_sends(tmp_path: Path) -> None:
    """The results of the second core are what the first one waits for: it may give a buffer back early."""
    text = EARLY.replace("aie.flow(%s, DMA : 0, %p, DMA : 0)", "aie.flow(%q, DMA : 1, %p, DMA : 0)")
    assert not {"MT0100", "MT0105"} & {each.code for each in of_check(tmp_path, text)}


def test_a_buffer_that_only_one_core_uses(tmp_path: Path) -> None:
    """A place of its own in the memory of a neighbour, used when it has given the shared buffer back."""
    text = EARLY.replace("%u1 = memref.load %mid1", "%u1 = memref.load %table")
    assert not {"MT0100", "MT0105"} & {each.code for each in of_check(tmp_path, text)}
