"""Does a check find a ring that goes through its buffers in another order than the core at its other side?"""

from __future__ import annotations

import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding
from memtile.importers.design import load_still
from memtile.importers.mlir.token_packets import Text

USE = """\
      aie.use_lock(%{0}, AcquireGreaterEqual, 1)
      func.call @work(%{1}) : (memref<16xi32>) -> ()
      aie.use_lock(%{2}, Release, 1)
"""
BD = """\
    ^{number}:
      aie.use_lock(%{0}, AcquireGreaterEqual, 1)
      aie.dma_bd(%{1} : memref<16xi32>, 0, 16)
      aie.use_lock(%{2}, Release, 1)
      aie.next_bd ^{next}
"""
DESIGN = """\
module {{
  aie.device(npu1_1col) {{
    %door = aie.tile(0, 0)
    %tile = aie.tile(0, 2)
    %free = aie.lock(%tile, 0) {{init = {room} : i32, sym_name = "free"}}
    %full = aie.lock(%tile, 1) {{init = {data} : i32, sym_name = "full"}}
    %a = aie.buffer(%tile) {{sym_name = "a"}} : memref<16xi32>
    %b = aie.buffer(%tile) {{sym_name = "b"}} : memref<16xi32>
    aie.flow({flow})
    func.func private @work(memref<16xi32>)
    aie.mem(%tile) {{
      %0 = aie.dma_start({way}, 0, ^0, ^end)
{bds}    ^end:
      aie.end
    }}
    aie.core(%tile) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %turns = arith.constant 4 : index
      scf.for %turn = %c0 to %turns step %c1 {{
{uses}      }}
      aie.end
    }}
  }}
}}
"""


def found(way: str, ring: str, core: str, data: int = 0) -> list[Finding]:
    """MT0412 of a ring and a core that go through their buffers in an order each."""
    locks, sends = ("free", "full"), way == "MM2S"
    bds, uses = (locks[::-1], locks) if sends else (locks, locks[::-1])
    text = DESIGN.format(
        room=2 - data,
        data=data,
        flow="%tile, DMA : 0, %door, DMA : 0" if sends else "%door, DMA : 0, %tile, DMA : 0",
        way=way,
        bds="".join(
            BD.format(bds[0], buffer, bds[1], number=number, next=(number + 1) % len(ring))
            for number, buffer in enumerate(ring)
        ),
        uses="".join(USE.format(uses[0], buffer, uses[1]) for buffer in core),
    )
    checked = check("d.mlir", lambda: of_mlir(load_still(Text("d.mlir", text))))
    return [each for each in checked.findings if each.code == "MT0412"]


@pytest.mark.parametrize("way", ["MM2S", "S2MM"])
def test_the_ring_and_the_core_are_named_with_their_orders(way: str) -> None:
    (finding,) = found(way, "ba", "ab")
    does, other = ("reads", "writes") if way == "MM2S" else ("writes", "reads")
    assert finding.message == (
        f"compute(0,2) {way} 0, line 15 and line 20, {does} 'b', 'a' in turn, and core (0, 2), from "
        f"line 32 on, {other} 'a', 'b': each has the buffer that the other one is not at."
    )
    assert finding.fix == (
        "Exchange the buffers of these BDs, or of the turns of core (0, 2); both take turns by "
        f"lock {'1' if way == 'MM2S' else '0'} '{'full' if way == 'MM2S' else 'free'}' of tile (0, 2)."
    )


@pytest.mark.parametrize(
    ("ring", "core", "data"),
    [
        ("ab", "ab", 0),
        ("ab", "abab", 0),
        ("ba", "ab", 1),  # one is full from the start
        ("ab", "aab", 0),
        ("ab", "aa", 0),
    ],
)
@pytest.mark.parametrize("way", ["MM2S", "S2MM"])
def test_orders_that_fit_or_are_not_known_have_no_finding(way: str, ring: str, core: str, data: int) -> None:
    assert not found(way, ring, core, data)


def test_one_that_is_full_from_the_start_moves_the_order_on() -> None:
    assert found("MM2S", "ab", "ab", 1)
