"""Is an object named that one way of a branch keeps and works on, although nobody waits for it?"""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.cli import iron_program
from memtile.cli.main import app
from memtile.explain.findings import Finding, Severity
from memtile.importers.design import load_still
from memtile.iron import running

FILTER = """module {
  aie.device(npu1_1col) {
    %t00 = aie.tile(0, 0)
    %t02 = aie.tile(0, 2)
    aie.objectfifo @in(%t00, {%t02}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @out(%t02, {%t00}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    %core = aie.core(%t02) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %limit = arith.constant 100 : i32
      scf.for %n = %c0 to %c4 step %c1 {
        %i = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %a = aie.objectfifo.subview.access %i[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %x = memref.load %a[%c0] : memref<16xi32>
        %small = arith.cmpi slt, %x, %limit : i32
        scf.if %small {
          %o = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
          %b = aie.objectfifo.subview.access %o[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
          memref.store %x, %b[%c0] : memref<16xi32>
          aie.objectfifo.release @out(Produce, 1)
        } else {
          aie.objectfifo.release @in(Consume, 1)
        }
      }
      aie.end
    }
    aie.runtime_sequence(%a: memref<64xi32>, %b: memref<32xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in}
        : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1]) {id = 1 : i64, metadata = @out,
        issue_token = true}
        : memref<32xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""
GIVES = "          aie.objectfifo.release @out(Produce, 1)\n"


def found_in(tmp_path: Path, text: str) -> list[Finding]:
    file = tmp_path / "filter.mlir"
    file.write_text(text, encoding="utf-8")
    return list(check("filter.mlir", lambda: of_mlir(load_still(str(file)))).findings)


def test_an_object_that_one_way_keeps_while_it_passes_on_another_one_is_a_warning(tmp_path: Path) -> None:
    (found,) = found_in(tmp_path, FILTER)
    assert (found.code, found.severity) == ("MT0325", Severity.WARNING)
    assert "core (0, 2), line 13: @in is released in line 23, and not on the other way" in found.message
    assert found.fix.startswith("Release @in on both ways of the branch in line 17")


def test_a_body_that_releases_on_both_ways_is_fine(tmp_path: Path) -> None:
    both = FILTER.replace(GIVES, f"{GIVES}          aie.objectfifo.release @in(Consume, 1)\n")
    assert found_in(tmp_path, both) == []


def test_a_body_that_works_on_an_object_in_several_turns_is_fine(tmp_path: Path) -> None:
    """It sends in each turn, on both ways, and takes the next object where the number is large."""
    start, end = FILTER.index("          %o ="), FILTER.index("          memref.store")
    text = FILTER.replace(FILTER[start:end], "").replace(GIVES, "")
    text = text.replace("        scf.if", f"{FILTER[start:end]}        scf.if")
    text = text.replace("        }\n      }\n", f"        }}\n{GIVES}      }}\n")
    assert found_in(tmp_path, text) == []


def test_a_body_that_counts_its_turns_with_an_object_is_fine(tmp_path: Path) -> None:
    """It sends each object twice, and takes the next one in every other turn."""
    text = FILTER.replace(
        "%small = arith.cmpi slt, %x, %limit : i32", "%small = arith.cmpi eq, %r, %c0 : index"
    )
    text = text.replace("        %small", "        %r = arith.remui %n, %two : index\n        %small")
    text = text.replace("      %limit =", "      %two = arith.constant 2 : index\n      %limit =")
    assert found_in(tmp_path, text) == []


PROGRAM = """import sys
import numpy as np
import aie.iron as iron
from aie.helpers.dialects.scf import else_, if_
from aie.iron import In, ObjectFifo, Out, Program, Runtime, Worker
from aie.iron.controlflow import range_


@iron.jit
def keep(numbers: In, result: Out):
    tile_ty = np.ndarray[(16,), np.dtype[np.int32]]
    of_in, of_out = ObjectFifo(tile_ty, name="came"), ObjectFifo(tile_ty, name="goes")

    def body(a, c):
        for _ in range_(4):
            x = a.acquire(1)
            with if_(x[0] < 100) as kept:
                y = c.acquire(1)
                y[0] = x[0]
                c.release(1)
            with else_(kept):
                a.release(1)

    worker = Worker(body, [of_in.cons(), of_out.prod()], while_true=False)

    def sequence(a, c, a_h, c_h):
        a_h.fill(a)
        c_h.drain(c, wait=True)

    types = [np.ndarray[(n,), np.dtype[np.int32]] for n in (64, 32)]
    rt = Runtime(sequence, [*types, of_in.prod(), of_out.cons()])
    return Program(iron.get_current_device(), rt, workers=[worker]).resolve_program()


keep(iron.arange(64, dtype=np.int32), iron.zeros(32, dtype=np.int32))
"""


@pytest.mark.parametrize("code", [0, 3])
def test_a_program_is_told_what_its_last_run_found(tmp_path: Path, code: int) -> None:
    file = tmp_path / "keep.py"
    file.write_text(f"{PROGRAM}sys.exit({code})\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["run", str(file)])
    assert done.exit_code == code
    assert "keep.py:16: MT0325 warning" in done.output


@pytest.mark.parametrize("failed", [False, True])
def test_notes_are_for_a_program_that_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, failed: bool
) -> None:
    found = [
        Finding(f"MT010{n}", each, "says", ()) for n, each in enumerate((Severity.WARNING, Severity.NOTE))
    ]
    monkeypatch.setattr(running, "last_findings", lambda: found)
    iron_program._say_what_was_found(failed=failed)
    assert [line.split()[1] for line in capsys.readouterr().err.splitlines()] == ["MT0100", "MT0101"][
        : 1 + failed
    ]
