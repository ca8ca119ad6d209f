"""Does a check find the descriptor of a ring that has the wrong buffer?"""

from __future__ import annotations

import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.check.ring_turns import ring_findings
from memtile.explain.findings import Finding
from memtile.importers.design import load_still
from memtile.importers.mlir.token_packets import Text

RING = """\
module {{
  aie.device(npu1) {{
    %host = aie.tile(0, 0)
    %tile = aie.tile(0, 1)
    %free = aie.lock(%tile, 0) {{init = {room} : i32, sym_name = "free"}}
    %full = aie.lock(%tile, 1) {{init = 0 : i32, sym_name = "full"}}
    %a = aie.buffer(%tile) {{sym_name = "a"}} : memref<16xi32>
    %b = aie.buffer(%tile) {{sym_name = "b"}} : memref<16xi32>
    %c = aie.buffer(%tile) {{sym_name = "c"}} : memref<16xi32>
    aie.flow(%host, DMA : 0, %tile, DMA : 0)
    aie.flow(%tile, DMA : 0, %host, DMA : 0)
    %dma = aie.memtile_dma(%tile) {{
      %0 = aie.dma_start(S2MM, 0, ^w0, ^next)
    ^w0:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%{writes[0]} : memref<16xi32>, 0, 16)
      aie.use_lock(%full, Release, {gives})
      aie.next_bd ^w1
    ^w1:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%{writes[1]} : memref<16xi32>, 0, 16)
      aie.use_lock(%full, Release, {gives})
      aie.next_bd ^w0
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^r0, ^end)
    ^r0:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%{reads[0]} : memref<16xi32>, 0, 16)
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^r1
    ^r1:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%{reads[1]} : memref<16xi32>, 0, 16)
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^r0
{more}
    ^end:
      aie.end
    }}
  }}
}}
"""


OTHER = """\
    ^more:
      %2 = aie.dma_start(S2MM, 1, ^o0, ^end)
    ^o0:
      aie.dma_bd(%c : memref<16xi32>, 0, 16)
      aie.next_bd ^o0
"""


def ring(writes: str, reads: str, room: int = 2, gives: int = 1, more: str = "") -> Text:
    text = RING.format(writes=writes, reads=reads, room=room, gives=gives, more=more)
    return Text("ring.mlir", text.replace("^r0, ^end)", "^r0, ^more)") if more else text)


def found(writes: str, reads: str, room: int = 2, gives: int = 1, more: str = "") -> list[Finding]:
    text = ring(writes, reads, room, gives, more)
    checked = check("ring.mlir", lambda: of_mlir(load_still(text)))
    return [each for each in checked.findings if each.code in ("MT0209", "MT0126")]


def test_a_writer_that_has_a_buffer_twice_is_named_with_the_line_of_its_descriptor() -> None:
    (wrong,) = found("bb", "ab")
    assert wrong.message == (
        "memory(0,1) S2MM 0 (BD 0) writes words 0 to 15 of buffer 'b', but memory(0,1) MM2S 0 (BD 2), "
        "which takes turns with it by lock 1 'full' of tile (0, 1), reads words 0 to 15 of buffer 'a': "
        "they have no word in common."
    )
    assert wrong.sides[0].place == "ring.mlir:16:7"
    assert wrong.fix == "Let memory(0,1) S2MM 0 (BD 0) use the buffer of memory(0,1) MM2S 0 (BD 2)."


def test_a_reader_that_has_a_buffer_twice_is_named() -> None:
    (wrong,) = found("ab", "aa")
    assert wrong.sides[0].who == "memory(0,1) MM2S 0 (BD 3)"
    assert wrong.severity == "error"


def test_of_two_orders_neither_is_an_error() -> None:
    (wrong,) = found("ab", "ba")
    assert wrong.severity == "warning"
    assert "one of these two has the wrong one" in wrong.fix


def test_a_reader_is_named_of_a_buffer_that_another_ring_writes() -> None:
    (wrong,) = ring_findings(of_mlir(load_still(ring("ab", "ac", more=OTHER))))
    assert wrong.sides[0].who == "memory(0,1) MM2S 0 (BD 3)"
    (wrong,) = found("ab", "ac", more=OTHER)  # of a text more is known
    assert (wrong.code, wrong.fix) == ("MT0126", "Let BD 3 use buffer 'b'.")


def test_one_that_gives_several_units_is_held_against_all_readers() -> None:
    (wrong,) = found("ab", "ac", gives=2)
    assert wrong.message == (
        "memory(0,1) S2MM 0 (BD 1) writes words 0 to 15 of buffer 'b', but memory(0,1) MM2S 0 (BD 3), which "
        "takes turns with it by lock 1 'full' of tile (0, 1), reads words 0 to 15 of buffer 'c': they have "
        "no word in common."
    )
    assert not found("ab", "ab", gives=2)


def test_a_buffer_that_is_written_again_before_a_read_is_overwritten() -> None:
    (wrong,) = found("aa", "aa")
    assert "BD 0 of its ring does, and lock 0 'free' of tile (0, 1) begins with 2" in wrong.message
    assert [side.place for side in wrong.sides] == ["ring.mlir:21:7", "ring.mlir:16:7"]
    (wrong,) = found("bb", "bb")  # a is free, and comes before b
    assert [side.place for side in wrong.sides] == ["ring.mlir:16:7", "ring.mlir:21:7"]


@pytest.mark.parametrize(
    ("writes", "reads", "room", "gives"),
    [("ab", "ab", 2, 1), ("aa", "aa", 1, 1), ("ab", "ba", 2, 2)],
    ids=["in turn", "one buffer at a time", "several for one"],
)
def test_rings_that_go_through_the_same_buffers_are_fine(
    writes: str, reads: str, room: int, gives: int
) -> None:
    assert not found(writes, reads, room, gives)
