"""Is a descriptor with the wrong buffer named where another buffer is left out, and nothing else?"""

from __future__ import annotations

import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding
from memtile.importers.design import load_still
from memtile.importers.mlir.left_out_buffers import buffer_findings
from memtile.importers.mlir.token_packets import Text
from support.pages.corpus_scores import CORPUS

FINE = (CORPUS / "core-keeps-the-input-fine.mlir").read_text(encoding="utf-8")
READS = FINE.replace("aie.dma_bd(%y :", "aie.dma_bd(%x :")
WRITES = FINE.replace("aie.dma_bd(%x :", "aie.dma_bd(%y :")
OWN = '    %z = aie.buffer(%tile) {sym_name = "z"} : memref<16xi32>\n    aie.flow(%shim'
RING = (
    FINE.replace("    aie.flow(%shim", OWN)
    .replace("aie.next_bd ^come", "aie.next_bd ^more")
    .replace(
        "    ^next:",
        """    ^more:
      aie.use_lock(%xfree, AcquireGreaterEqual, 1)
      aie.dma_bd(%z : memref<16xi32>, 0, 16)
      aie.use_lock(%xfull, Release, 1)
      aie.next_bd ^come
    ^next:""",
    )
    .replace("memref.load %x[%i]", "memref.load %z[%i] : memref<16xi32>\n          %w = memref.load %x[%i]")
)
"""Two buffers come in turn, which two places of the lock count."""
TWO = RING.replace("%xfree = aie.lock(%tile, 0) {init = 1", "%xfree = aie.lock(%tile, 0) {init = 2")
TWICE = TWO.replace("aie.dma_bd(%z :", "aie.dma_bd(%x :")
PAIRS = """\
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %tile = aie.tile(0, 1)
    %x = aie.buffer(%tile) {sym_name = "x"} : memref<16xi32>
    %y = aie.buffer(%tile) {sym_name = "y"} : memref<16xi32>
    %xfree = aie.lock(%tile, 0) {init = 1 : i32}
    %xfull = aie.lock(%tile, 1) {init = 0 : i32}
    %yfree = aie.lock(%tile, 2) {init = 1 : i32}
    %yfull = aie.lock(%tile, 3) {init = 0 : i32}
    aie.memtile_dma(%tile) {
      %0 = aie.dma_start(S2MM, 0, ^a, ^one)
    ^a:
      aie.use_lock(%xfree, AcquireGreaterEqual, 1)
      aie.dma_bd(%x : memref<16xi32>, 0, 16)
      aie.use_lock(%xfull, Release, 1)
      aie.next_bd ^a
    ^one:
      %1 = aie.dma_start(S2MM, 1, ^b, ^two)
    ^b:
      aie.use_lock(%yfree, AcquireGreaterEqual, 1)
      aie.dma_bd(%y : memref<16xi32>, 0, 16)
      aie.use_lock(%yfull, Release, 1)
      aie.next_bd ^b
    ^two:
      %2 = aie.dma_start(MM2S, 0, ^c, ^three)
    ^c:
      aie.use_lock(%xfull, AcquireGreaterEqual, 1)
      aie.dma_bd(%x : memref<16xi32>, 0, 16)
      aie.use_lock(%xfree, Release, 1)
      aie.next_bd ^c
    ^three:
      %3 = aie.dma_start(MM2S, 1, ^d, ^end)
    ^d:
      aie.use_lock(%yfull, AcquireGreaterEqual, 1)
      aie.dma_bd(%x : memref<16xi32>, 0, 16)
      aie.use_lock(%yfree, Release, 1)
      aie.next_bd ^d
    ^end:
      aie.end
    }
  }
}
"""


TURNS = PAIRS.replace(
    "%yfull, Release, 1)\n      aie.next_bd ^b", "%xfull, Release, 1)\n      aie.next_bd ^b"
)
TURNS = TURNS.replace("^d:\n      aie.use_lock(%yfull", "^d:\n      aie.use_lock(%xfull")
"""Two buffers with places of their own, and one lock that counts both when they are filled."""


def found(text: str) -> list[Finding]:
    return [*buffer_findings(load_still(Text("left.mlir", text)).configured)]


@pytest.mark.parametrize(
    ("text", "who", "line", "says"),
    [
        (READS, "compute(0,2) MM2S 0", 27, "which BD 0 (line 20) moves with other locks"),
        (WRITES, "compute(0,2) S2MM 0", 20, "which BD 1 (line 27) moves with other locks"),
        (TWICE, "compute(0,2) S2MM 0", 26, "which BD 0 (line 21) writes too"),
        (TURNS, "memory(0,1) MM2S 1", 36, "which memory(0,1) S2MM 0 writes with other locks"),
        (PAIRS, "memory(0,1) MM2S 1", 36, "which memory(0,1) S2MM 0 writes with other locks"),
    ],
    ids=["reader", "writer", "twice", "turns", "pairs"],
)
def test_the_descriptor_that_moves_another_buffer_is_named(text: str, who: str, line: int, says: str) -> None:
    (finding,) = found(text)
    assert (finding.code, finding.sides[0].who) == ("MT0126", who)
    assert finding.sides[0].place.startswith(f"left.mlir:{line}:")
    assert says in finding.message


def test_what_is_left_out_is_named_with_who_uses_it() -> None:
    (finding,) = found(READS)
    assert finding.message.endswith("and no BD moves buffer 'y', which core (0, 2) uses.")
    assert finding.fix == "Let BD 1 use buffer 'y'."
    (finding,) = found(PAIRS)
    assert finding.message.endswith(
        "and nothing reads buffer 'y', which memory(0,1) S2MM 1 writes with the same locks."
    )
    assert finding.fix == "Let BD 25 use buffer 'y'."


def test_what_a_core_does_with_a_buffer_says_who_moves_it() -> None:
    """In any order of the buffers; of one that it reads and writes nothing says it, but that order."""
    x, y = (line for line in FINE.splitlines() if " = aie.buffer" in line)
    (finding,) = found(READS.replace(f"{x}\n{y}", f"{y}\n{x}"))
    assert finding.sides[0].who == "compute(0,2) MM2S 0"
    both = READS.replace(
        "%v = memref.load", "%u = memref.load %y[%i] : memref<16xi32>\n          %v = memref.load"
    )
    assert both != READS
    (finding,) = found(both)
    assert finding.fix == "Let one of these two BDs use buffer 'y'."
    assert finding.sides[0].who == "compute(0,2) MM2S 0"
    (finding,) = found(both.replace(f"{x}\n{y}", f"{y}\n{x}"))
    assert finding.sides[0].who == "compute(0,2) S2MM 0"


@pytest.mark.parametrize(
    "text",
    [
        FINE,
        TWO,
        FINE.replace("    aie.flow(%shim", OWN).replace(
            "memref.load %x[%i]", "memref.load %z[%i] : memref<16xi32>\n          %w = memref.load %x[%i]"
        ),
        READS.replace('{sym_name = "y"} : memref<16xi32>', '{sym_name = "y"} : memref<32xi32>').replace(
            "%y[%i] : memref<16xi32>", "%y[%i] : memref<32xi32>"
        ),
        READS.replace(
            "%yfull, AcquireGreaterEqual, 1)\n      aie.dma", "%xfull, AcquireGreaterEqual, 1)\n      aie.dma"
        ),
        TWICE.replace("init = 2", "init = 1"),
        PAIRS.replace(
            "%yfree, Release, 1)\n      aie.next_bd ^d", "%xfree, Release, 1)\n      aie.next_bd ^d"
        ),
        READS.replace(
            "%a: memref<64xi32>, %b: memref<64xi32>) {",
            "%a: memref<64xi32>, %b: memref<64xi32>) {\n"
            "      aiex.npu.write32 {address = 2215936 : ui32, value = 1 : ui32}",
        ),
    ],
    ids=["fine", "ring", "own", "size", "in place", "one place", "other locks", "host"],
)
def test_buffers_that_are_left_out_on_purpose(text: str) -> None:
    assert not found(text)


def test_locks_that_count_the_buffer_are_not_blamed() -> None:
    codes = {
        each.code
        for each in check("left.mlir", lambda: of_mlir(load_still(Text("left.mlir", TWICE)))).findings
    }
    assert codes & {"MT0122", "MT0126", "MT0209"} == {"MT0126"}
