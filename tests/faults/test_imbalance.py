"""Is what a core acquires and never releases named by object FIFO, core and line, in a run and before it?"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from memtile import Array
from memtile.check.check import check, refused
from memtile.check.checked_program import of_mlir
from memtile.errors import InputFileError
from memtile.explain.findings import Finding, Severity
from memtile.importers.design import load, load_still
from memtile.importers.mlir.token_packets import Text
from support.mlir.mlir_texts import CALL, PASSTHROUGH
from support.pages.corpus_scores import CORPUS

IN, OUT = "aie.objectfifo.release @in(Consume, 1)", "aie.objectfifo.release @out(Produce, 1)"


def of_check(tmp_path: Path, text: str) -> list[Finding]:
    file = tmp_path / "design.mlir"
    file.write_text(text)
    return list(check(str(file), lambda: of_mlir(load_still(file, device="npu1"))).findings)


def of_run(tmp_path: Path, text: str) -> list[Finding]:
    file = tmp_path / "design.mlir"
    file.write_text(text)
    loaded = load(file, device="npu1", functions={"work": lambda a, b: np.copyto(b, a)})
    return list(loaded.run(np.arange(64, dtype=np.int32), max_cycles=20_000).result.findings)


def line_of(text: str, what: str) -> int:
    return text[: text.index(what)].count("\n") + 1


@pytest.mark.parametrize(("release", "fifo", "end"), [(IN, "in", "consumer"), (OUT, "out", "producer")])
def test_a_forgotten_release_is_named_by_fifo_core_and_line(
    tmp_path: Path, release: str, fifo: str, end: str
) -> None:
    assert CALL.count(release) == 1
    text = CALL.replace(release, "")
    line = line_of(text, f"aie.objectfifo.acquire @{fifo}")
    before, during = of_check(tmp_path, text), of_run(tmp_path, text)
    first = before[0]
    assert first.message.startswith(
        f"core (0, 2), line {line}: @{fifo} is acquired and never released ({end} end; "
    )
    assert first.fix == f"Release @{fifo} after its last use: {release}."
    assert (first.code, first.severity) == ("MT0118", Severity.ERROR)
    assert first.sides[0].place.endswith(f"design.mlir:{line}")
    assert [each.message for each in before] == [first.message]
    assert [each.message for each in during] == [first.message]


@pytest.mark.parametrize(("file", "line"), [("prog.py", "line 7"), ("parts/body.py", "parts/body.py:7")])
def test_a_program_is_named_by_its_own_line(file: str, line: str) -> None:
    """What a program of IRON prints has the line of the program for each line of the text."""
    text = CALL.replace(IN, "")
    made = Text("prog.py", text, places=tuple(f"{file}:7" for _ in text.splitlines()))
    (finding,) = check("prog.py", lambda: of_mlir(load_still(made, device="npu1"))).findings
    assert finding.message.startswith(
        f"core (0, 2), {line}: @in is acquired and never released (consumer end; "
    )
    assert finding.sides[0].place == f"{file}:7"
    assert finding.fix == "Release @in after its last use: release(1) of its consumer end."


def test_what_comes_of_a_fault_elsewhere_is_not_blamed_on_what_is_held(tmp_path: Path) -> None:
    """An object that a core holds at its end on purpose is no fault while another wait is the root."""
    end = f"{OUT}\n      }}"
    assert CALL.count(end) == 1
    held = CALL.replace(
        end, f"{end}\n      aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>"
    )
    assert "MT0118" not in {each.code for each in of_check(tmp_path, held)}


def test_a_window_that_slides_is_balanced(tmp_path: Path) -> None:
    """It holds two objects and gives one back in each turn; after the loop it gives back what is left."""
    loop = "scf.for %i"
    assert CALL.count(loop) == CALL.count("@in(Consume, 1) :") == 1
    text = CALL.replace("@in(Consume, 1) :", "@in(Consume, 2) :").replace(
        "constant 4 : index", "constant 3 : index"
    )
    text = text.replace("64][0, 0, 0, 1]) {id = 1", "48][0, 0, 0, 1]) {id = 1")
    assert of_check(tmp_path, text.replace(f"{OUT}\n      }}", f"{OUT}\n      }}\n      {IN}")) == []


def test_a_fifo_less_deep_than_what_is_held_at_once(tmp_path: Path) -> None:
    text = CALL.replace("@in(%shim, {%core}, 2 : i32)", "@in(%shim, {%core}, [2, 2])")
    text = text.replace("@in(Consume, 1) :", "@in(Consume, 3) :")
    line = line_of(text, "aie.objectfifo.acquire @in")
    says = f"Object FIFO @in has 2 objects, and core (0, 2), line {line} holds 3 at once."
    for found in (of_check(tmp_path, text), of_run(tmp_path, text)):
        assert [(each.code, each.message) for each in found] == [("MT0119", says)]
        assert found[0].fix == "Give @in a depth of 3 or more at its consumer end."


def test_a_release_on_one_way_alone_is_named_where_it_hangs(tmp_path: Path) -> None:
    way = "%odd = arith.remui %i, %two : index\n        %is = arith.cmpi eq, %odd, %c1 : index\n"
    way += "        scf.if %is {\n"
    text = CALL.replace(OUT, f"{way}          {OUT}\n        }}").replace(
        "%c1 = ", "%two = arith.constant 2 : index\n      %c1 = "
    )
    line = line_of(text, "aie.objectfifo.acquire @out")
    first = of_run(tmp_path, text)[0]
    branch = line_of(text, "scf.if")
    where = f"@out is released in line {line_of(text, OUT)}"
    where += f", and not on the other way of the branch in line {branch}"
    assert first.message.startswith(f"core (0, 2), line {line}: {where}")


def test_a_lock_that_a_core_never_gives_back_is_named_with_its_line(tmp_path: Path) -> None:
    text = (CORPUS / "core-keeps-the-input-hangs.mlir").read_text(encoding="utf-8")
    line = line_of(text, "aie.use_lock(%yfull, Release, 1)")
    (finding,) = of_check(tmp_path, text)
    assert finding.code == "MT0122"
    assert finding.message == (
        f"core (0, 2), line {line}: lock 0 'x_free' of tile (0, 2) is not released after the use that begins "
        "with the acquire of lock 1 'x_full' of tile (0, 2)."
    )


def test_a_bd_that_releases_nothing_is_named_with_its_line(tmp_path: Path) -> None:
    text = (CORPUS / "dma-forgets-its-release-hangs.mlir").read_text(encoding="utf-8")
    line = line_of(text, "aie.dma_bd(%y")
    (finding,) = of_check(tmp_path, text)
    says = f"compute(0,2) MM2S 0, line {line}: lock 2 'y_free' of tile (0, 2) is not released after the use "
    assert finding.message == f"{says}that begins with the acquire of lock 3 'y_full' of tile (0, 2)."


def test_a_core_beside_it_that_has_ended_is_not_blamed(tmp_path: Path) -> None:
    """Core (0, 2) reaches the lock too, and has ended; its text does not name it."""
    text = (CORPUS / "chain-lock-and-arbiter-fine.mlir").read_text(encoding="utf-8")
    release = "      aie.use_lock(%yfull3, Release, 1)\n"
    assert text.count(release) == 1
    (finding,) = of_check(tmp_path, text.replace(release, "\n"))
    says = r"core \(0, 3\), line \d+: lock 0 'part1_full' of tile \(0, 3\) is not released after the use that"
    assert re.match(says, finding.message)


def test_a_release_to_the_wrong_lock_is_named_with_its_line(tmp_path: Path) -> None:
    text = (CORPUS / "core-releases-the-wrong-lock-hangs.mlir").read_text(encoding="utf-8")
    line = line_of(text, "        aie.use_lock(%xfull, Release, 1)")
    (finding,) = of_check(tmp_path, text)
    assert finding.code == "MT0122"
    assert finding.message == (
        f"core (0, 2), line {line}: lock 1 'x_full' of tile (0, 2) is released instead of lock 0 'x_free' of "
        "tile (0, 2); lock 1 'x_full' of tile (0, 2), which belongs to that, is acquired."
    )


@pytest.mark.parametrize(("release", "fifo", "then"), [(IN, "in", "filled again"), (OUT, "out", "sent")])
def test_a_release_before_the_use_is_named(tmp_path: Path, release: str, fifo: str, then: str) -> None:
    call = "func.call @work"
    text = CALL.replace(release, "").replace(call, f"{release}\n        {call}")
    (finding,) = of_check(tmp_path, text)
    use, at = line_of(text, call), line_of(text, release)
    assert finding.message == (
        f"core (0, 2), line {use}: an object of @{fifo} is used after its release in line {at}, "
        f"and may be {then} by then."
    )
    assert (finding.code, finding.fix) == ("MT0105", f"Release @{fifo} after line {use}.")


def test_a_wait_for_objects_says_the_fifo_its_end_and_the_line_first(tmp_path: Path) -> None:
    """The core waits for objects that no task sends; a DMA for those of a core that has ended."""
    once = "%once = arith.addi %c0, %c1 : index\n      scf.for %i = %c0 to %once"  # which no text counts
    text = CALL.replace("scf.for %i = %c0 to %c4", once)
    ended = (
        "waits for a full object of @out (producer end, core (0, 2); "
        "lock 3 'out_cons_lock_0' of tile (0, 2) needs 1, has 0)"
    )
    assert f"MM2S 0 'out' {ended}, and core (0, 2) has ended." in of_check(tmp_path, text)[0].message
    file = tmp_path / "design.mlir"
    file.write_text(
        CALL.replace("dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64]", "dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 40]")
    )
    loaded = load(file, device="npu1", functions={"work": lambda a, b: np.copyto(b, a)})
    waits = loaded.run(np.arange(64, dtype=np.int32), max_cycles=20_000).result.waits
    (core,) = [node for node in waits.nodes if node.name == "core (0, 2)"]
    line = line_of(CALL, "aie.objectfifo.acquire @in")
    assert core.state == (
        f"waits in line {line} for a full object of @in (consumer end, core (0, 2); "
        "lock 1 'in_cons_cons_lock_0' of tile (0, 2) needs 1, has 0)"
    )


def test_a_fifo_in_python_is_named_in_waits() -> None:
    array = Array("npu1", columns=1)
    fifo = array.object_fifo("f", array.tile(0, 0), array.tile(0, 2), shape=(16,))
    engine = array.engine
    base = int(engine.spec.tiles.lock_base[array.tile(0, 2).index])
    (end,) = fifo.consumers
    found = {
        name: engine.fifo_locks[base + lock.id] for name, lock in (("free", end.free), ("full", end.full))
    }
    assert found["full"].objects(2) == "2 full objects of @f (consumer end, core (0, 2)"
    assert found["free"].objects(1) == "a free object of @f (consumer end, core (0, 2)"


def test_a_refusal_of_a_program_has_its_line() -> None:
    (finding,) = refused("bad.py", InputFileError("bad.py:2: memtile's IRON has no aie.iron.Nope."))
    assert finding.sides[0].place == "bad.py:2"
    (finding,) = refused("bad.py", InputFileError("nothing: there"))
    assert finding.sides[0].place == "bad.py"


def test_a_fine_text_has_none(tmp_path: Path) -> None:
    assert of_check(tmp_path, CALL) == of_run(tmp_path, CALL) == of_check(tmp_path, PASSTHROUGH) == []


@pytest.mark.parametrize("used", ["acquire @in(Consume", "release @out(Produce"])
def test_the_wrong_end_of_a_fifo_is_named(tmp_path: Path, used: str) -> None:
    port, other = ("Consume", "Produce") if "Consume" in used else ("Produce", "Consume")
    assert CALL.count(used) == 1
    text = CALL.replace(used, used.replace(port, other))
    name, does = ("in", "acquired") if "acquire" in used else ("out", "released")
    ends = {"Consume": "consumer", "Produce": "producer"}
    (finding,) = of_check(tmp_path, text)
    says = f"core (0, 2): @{name} is {does} at its {ends[other]} end, which is in tile (0, 0)"
    assert f"aie.objectfifo.{used.split()[0]}: {says}" in finding.message
    assert f"design.mlir:{line_of(text, used.replace(port, other))}:" in finding.sides[0].place


def test_a_window_with_too_many_turns_is_told_both_repairs(tmp_path: Path) -> None:
    acquire = "aie.objectfifo.acquire @in(Consume, 1)"
    assert CALL.count(acquire) == 1
    text = CALL.replace(acquire, acquire.replace("1)", "2)"))
    found = [each.fix for each in of_check(tmp_path, text) if each.code == "MT0325"]
    assert ["send 5 objects in all, which 4 turns take that share objects" in fix for fix in found] == [True]
    assert CALL.count("constant 4 : index") == 1
    endless = text.replace("constant 4 : index", "constant 9223372036854775807 : index")
    found = [each.fix for each in of_check(tmp_path, endless) if each.code == "MT0325"]
    assert ["send 1 more, if turns share objects" in fix for fix in found] == [True]


SPLIT = """module {
  aie.device(npu1) {
    %shim = aie.tile(0, 0)
    %m = aie.tile(0, 1)
    %c = aie.tile(0, 2)
    %d = aie.tile(0, 3)
    aie.objectfifo @in(%shim, {%m}, 2 : i32) : !aie.objectfifo<memref<32xi32>>
    aie.objectfifo @in0(%m, {%c}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @in1(%m, {%d}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@in] -> [@in0, @in1] ([] [0, 16])
    aie.objectfifo @out(%m, {%shim}, 2 : i32) : !aie.objectfifo<memref<32xi32>>
    aie.objectfifo @out0(%c, {%m}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @out1(%d, {%m}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@out0, @out1] -> [@out] ([0, 16] [])
CORES    aie.runtime_sequence(%a: memref<128xi32>, %b: memref<128xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 128][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<128xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 128][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<128xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""  # noqa: E501
PART = """    %xN = aie.core(%TILE) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %many = arith.constant 16 : index
      %turns = arith.constant 4096 : index
      scf.for %t = %zero to %turns step %one {
        %p = aie.objectfifo.acquire @inN(Consume, COUNT) : !aie.objectfifosubview<memref<16xi32>>
        %q = aie.objectfifo.subview.access %p[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %r = aie.objectfifo.acquire @outN(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %s = aie.objectfifo.subview.access %r[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        scf.for %i = %zero to %many step %one {
          %v = memref.load %q[%i] : memref<16xi32>
          memref.store %v, %s[%i] : memref<16xi32>
        }
        aie.objectfifo.release @inN(Consume, 1)
        aie.objectfifo.release @outN(Produce, 1)
      }
      aie.end
    }
"""


def parts(count: int) -> str:
    """Two cores that each take half of every object, the second one so many at a time."""
    cores = [
        PART.replace("TILE", tile).replace("COUNT", str(many)).replace("N", str(n))
        for n, (tile, many) in enumerate((("c", 1), ("d", count)))
    ]
    return SPLIT.replace("CORES", "".join(cores))


def test_a_core_that_holds_one_more_is_named_beside_those_that_rest() -> None:
    fine, held = (
        load(Text("design.mlir", parts(count))).run(np.arange(128, dtype=np.int32), max_cycles=50_000)
        for count in (1, 2)
    )
    assert not fine.result.findings
    (first, *others) = held.result.findings
    assert (first.code, others) == ("MT0325", [])
    assert first.message.startswith("core (0, 3), line ")
    assert "@in1 is acquired by 2 and released by 1" in first.message
