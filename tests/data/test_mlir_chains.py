"""Do chains of BDs that a design defines once do what they are given, wherever a host starts them?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.errors import InputFileError
from support.mlir.mlir_designs import FLOWS, NUMBERS, device, host, loaded, ran

THROUGH = "aie.flow(%s, DMA : 0, %m, DMA : 0)\naie.flow(%m, DMA : 0, %s, DMA : 0)"
MEMORY = """
  %b0 = aie.buffer(%m) : memref<32xi32>
  %b1 = aie.buffer(%m) : memref<32xi32>
  %free = aie.lock(%m) {init = 2 : i32}
  %full = aie.lock(%m) {init = 0 : i32}
"""
INSIDE = """
  aie.bd_chain @both(%one: memref<32xi32>, %other: memref<32xi32>, %take: index, %give: index) {
      %c1 = arith.constant 1 : i32
      aie.use_lock(%take, AcquireGreaterEqual, %c1)
      aie.dma_bd(%one : memref<32xi32> offset = 0 len = 32)
      aie.use_lock(%give, Release, %c1)
      aie.next_bd ^second
    ^second:
      %c1_0 = arith.constant 1 : i32
      aie.use_lock(%take, AcquireGreaterEqual, %c1_0)
      aie.dma_bd(%other : memref<32xi32> offset = 0 len = 32)
      aie.use_lock(%give, Release, %c1_0)
      aie.end
  }
"""
OUTSIDE = """
  aie.bd_chain @halves(%first: memref<64xi32>, %second: memref<64xi32>) {
      aie.dma_bd(%first : memref<64xi32> offset = 0 len = 32)
      aie.next_bd ^bb1
    ^bb1:
      aie.dma_bd(%second : memref<64xi32> offset = 32 len = 32)
      aie.end
  }
"""
BOTH = "(memref<32xi32>, memref<32xi32>, index, index)"
HALVES = "(memref<64xi32>, memref<64xi32>)"
START = (
    f"%0 = aiex.dma_start_bd_chain @both(%b0, %b1, %free, %full) : {BOTH} on (%m, S2MM, 0)",
    f"%1 = aiex.dma_start_bd_chain @both(%b0, %b1, %full, %free) : {BOTH} on (%m, MM2S, 0)",
    f"%2 = aiex.dma_start_bd_chain_for @halves(%b, %b) : {HALVES} for @out {{issue_token = true}}",
    f"%3 = aiex.dma_start_bd_chain @halves(%a, %a) : {HALVES} on (%s, MM2S, 0)",
    "aiex.dma_await_task(%2)",
)
GENERIC = (
    '%0 = "aiex.dma_start_bd_chain"(%b0, %b1, %free, %full, %m)'
    " <{channel = 0 : i32, direction = 0 : i32, symbol = @both}>"
    " : (memref<32xi32>, memref<32xi32>, index, index, index) -> index",
    '%1 = "aiex.dma_start_bd_chain"(%b0, %b1, %full, %free, %m)'
    " <{channel = 0 : i32, direction = 1 : i32, symbol = @both}>"
    " : (memref<32xi32>, memref<32xi32>, index, index, index) -> index",
    '%2 = "aiex.dma_start_bd_chain_for"(%b, %b) <{alloc = @out, issue_token = true, symbol = @halves}>'
    " : (memref<64xi32>, memref<64xi32>) -> index",
    '%3 = "aiex.dma_start_bd_chain"(%a, %a, %s) <{channel = 0 : i32, direction = 1 : i32, symbol = @halves}>'
    " : (memref<64xi32>, memref<64xi32>, index) -> index",
    "aiex.dma_await_task(%2)",
)
GENERIC_OUTSIDE = """
  "aie.bd_chain"() <{sym_name = "halves"}> ({
    ^bb0(%first: memref<64xi32>, %second: memref<64xi32>):
      "aie.dma_bd"(%first) <{len = 32 : i32, offset = 0 : i32}> : (memref<64xi32>) -> ()
      "aie.next_bd"()[^bb1] : () -> ()
    ^bb1:
      "aie.dma_bd"(%second) <{len = 32 : i32, offset = 32 : i32}> : (memref<64xi32>) -> ()
      "aie.end"() : () -> ()
  }) : () -> ()
"""
OLD = OUTSIDE.replace(" offset = 0 len = 32", ", 0, 32").replace(" offset = 32 len = 32", ", 32, 32")


@pytest.mark.parametrize(
    ("chain", "lines"), [(OUTSIDE, START), (OLD, START), (OUTSIDE, GENERIC), (GENERIC_OUTSIDE, GENERIC)]
)
def test_chains_get_buffers_locks_and_arguments(chain: str, lines: tuple[str, ...]) -> None:
    text = device(THROUGH, FLOWS, MEMORY, INSIDE, chain, host(*lines))
    assert ran(loaded(text), NUMBERS)[1].tolist() == NUMBERS.tolist()


def test_one_chain_is_started_twice_with_its_arguments_the_other_way_round() -> None:
    """Names of a chain may be those of the values it is given, in another order."""
    chain = OUTSIDE.replace("%first", "%b").replace("%second", "%a")
    lines = (
        *START[:2],
        f"%2 = aiex.dma_start_bd_chain_for @halves(%b, %b) : {HALVES} for @out {{issue_token = true}}",
        f"%3 = aiex.dma_start_bd_chain @halves(%a, %b) : {HALVES} on (%s, MM2S, 0)",
        "aiex.dma_await_task(%2)",
    )
    other = np.arange(100, 164, dtype=np.int32)
    out = ran(loaded(device(THROUGH, FLOWS, MEMORY, INSIDE, chain, host(*lines))), NUMBERS, other)[1]
    assert out.tolist() == [*range(32), *range(132, 164)]


def test_a_chain_is_repeated_and_its_descriptors_come_back() -> None:
    """BDs of a chain are numbered anew at each start, and given back when it is awaited."""
    rounds = [
        line
        for n in range(12)
        for line in (
            f"%o{n} = aiex.dma_start_bd_chain_for @halves(%b, %b) : {HALVES} for @out {{issue_token = true}}",
            f"%i{n} = aiex.dma_start_bd_chain_for @halves(%a, %a) : {HALVES} for @in {{issue_token = true}}",
            f"aiex.dma_await_task(%i{n})",
            f"aiex.dma_await_task(%o{n})",
        )
    ]
    inside = [line.replace("0)", "0) {repeat_count = 11 : i32}") for line in START[:2]]
    text = device(THROUGH, FLOWS, MEMORY, INSIDE, OUTSIDE, host(*inside, *rounds))
    assert ran(loaded(text), NUMBERS)[1].tolist() == NUMBERS.tolist()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (START[3].replace("@halves", "@quarters"), "no chain has the name quarters"),
        (START[3].replace("(%a, %a)", "(%a)").replace(", memref<64xi32>)", ")"), "1 arguments for 2"),
        (START[2].replace("@out", "@nowhere"), "no channel has the name nowhere"),
        (START[3].replace("MM2S", "BOTH"), "nothing is known of its word BOTH"),
    ],
)
def test_a_start_that_does_not_fit_says_why(line: str, says: str) -> None:
    with pytest.raises(InputFileError, match=says):
        loaded(device(THROUGH, FLOWS, OUTSIDE, host(line)))
