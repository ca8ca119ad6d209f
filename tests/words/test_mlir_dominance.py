"""Does the tree of dominators say of two blocks what a search without one of them says, and at what cost?"""

from __future__ import annotations

import gc
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.importers.mlir.dominance import Dominance
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text
from memtile.importers.mlir.tree import Region

BLOCKS = 9


def region(ways: list[list[int]]) -> Region:
    """A function with so many blocks, each of which may go to those that are listed for it."""
    blocks = []
    for n, to in enumerate(ways):
        ends = "return" if not to else f"cf.br ^bb{to[0]}" if len(to) == 1 else ""
        ends = ends or f"cf.cond_br %c, ^bb{to[0]}, ^bb{to[1]}"
        blocks.append(f"^bb{n}:\n  {ends}\n")
    (function,) = read(Text("d.mlir", f"func.func @f(%c: i1) {{\n{''.join(blocks)}}}")).blocks[0].operations
    return function.regions[0]


def reached(ways: list[list[int]], without: int) -> set[int]:
    seen, waiting = set[int](), [0]
    while waiting:
        block = waiting.pop()
        if block != without and block not in seen:
            seen.add(block)
            waiting += ways[block]
    return seen


@given(st.lists(st.lists(st.integers(0, BLOCKS - 1), max_size=2), min_size=BLOCKS, max_size=BLOCKS))
@settings(max_examples=150, deadline=None)
def test_a_block_dominates_those_that_are_not_reached_without_it(ways: list[list[int]]) -> None:
    made = region(ways)
    found, every = Dominance(made), reached(ways, -1)
    for block in range(BLOCKS):
        rest = reached(ways, block)
        for other in range(BLOCKS):
            says = found.holds(made.blocks[block], made.blocks[other])
            assert says == (other not in every or (block in every and other not in rest))


def test_ten_times_the_blocks_take_about_ten_times_as_long() -> None:
    """A set of dominators for each block of a chain would take a hundred times as long."""

    def seconds(count: int) -> float:
        made = region([[n + 1] for n in range(count - 1)] + [[]])
        gc.disable()  # a collection of all that other tests left takes longer
        try:
            begun = time.process_time()
            found = Dominance(made)
            assert found.holds(made.blocks[1], made.blocks[-1])
            return time.process_time() - begun
        finally:
            gc.enable()

    few, many = (min(seconds(count) for _ in range(3)) for count in (1000, 10_000))
    assert many < 40 * max(few, 0.001)
