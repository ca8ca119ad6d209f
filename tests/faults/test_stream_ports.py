"""Is what cannot be at a channel's stream port refused: other types, patterns of nothing, two parties?"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from memtile import Array, MemoryTile, MemtileError


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(MemtileError) as caught:
        call()
    return str(caught.value)


def test_what_is_expected_piece_by_piece_has_one_type() -> None:
    tile = MemoryTile()
    out = tile.mm2s[0]
    out.expect(np.arange(4, dtype=np.int16))
    assert refused(lambda: out.expect(np.arange(4, dtype=np.int32))) == (
        "memory tile, MM2S 0: dtype is int32; it must be int16, as expected before (one array is "
        "compared). Convert one of them with .astype or .view."
    )
    assert "int16, as expected before" in refused(lambda: out.collect(np.uint32))
    out.expect(np.arange(4, 8, dtype=np.int16))
    out.start(tile.read(tile.buffer("out", 8, np.int16, data=np.arange(8))))
    assert tile.run().exact


def test_what_is_expected_more_costs_no_more_for_what_was_before() -> None:
    port = MemoryTile("npu1").mm2s[0]
    piece = np.arange(256, dtype=np.uint32)
    for number in range(1 << 10):
        piece[0] = number  # the same array again, as a loop over frames has it
        port.expect(piece)
    tracemalloc.start()
    try:
        port.expect(piece)
        _now, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 20 * piece.nbytes < port.expected.nbytes  # the others, 1 MB, are not copied again
    assert port.expected[:: len(piece)].tolist() == [*range(1 << 10), (1 << 10) - 1]


@pytest.mark.parametrize("pattern", [[], [0, 0], [2, 1], "10", [0.5, 1], 1])
def test_a_pattern_lets_a_word_through_now_and_then(pattern: list[int]) -> None:
    tile = MemoryTile()
    assert refused(lambda: tile.s2mm[0].feed(np.zeros(4, np.int32), pattern)) == (
        f"memory tile, S2MM 0: pattern is {pattern!r}; it must be zeros and at least one 1 (readiness "
        "per cycle, repeating). Give one such as [1, 1, 0], which is ready in two of three cycles."
    )
    assert "pattern" in refused(lambda: tile.mm2s[0].collect(pattern=pattern))
    assert (tile.engine.pending(tile.s2mm[0].index), tile.mm2s[0].taken) == (0, False)


def test_numpy_booleans_are_zeros_and_ones() -> None:
    tile = MemoryTile()
    tile.s2mm[0].feed(np.zeros(4, np.int32), np.array([True, False]))


@pytest.mark.parametrize("dtype", ["int33", object, "U4", 3.0])
def test_types_of_no_numbers_are_refused(dtype: type) -> None:
    tile = MemoryTile()
    assert "it must be a NumPy type of numbers" in refused(lambda: tile.mm2s[0].collect(dtype))


@pytest.mark.parametrize("order", ["circuit first", "circuit last"])
def test_a_circuit_and_the_test_bench_do_not_share_a_channel(order: str) -> None:
    array = Array(columns=1)
    sender, receiver = array.memory_tile(0).mm2s[0], array.compute_tile(0, 2).s2mm[0]
    if order == "circuit first":
        array.connect(sender, receiver)
    receiver.feed(np.zeros(4, np.int32))
    sender.collect()
    if order == "circuit last":
        array.connect(sender, receiver)
    flow = "memory(0,1) MM2S 0 -> compute(0,2) S2MM 0"
    assert refused(array.route).splitlines() == [
        f"array npu1: memory(0,1) MM2S 0 has {flow}, and collect or expect of the test bench too (a "
        "stream has one end at either side).",
        f"array npu1: compute(0,2) S2MM 0 has {flow}, and feed of the test bench too (a stream has one "
        "end at either side).",
    ]


def test_a_circuit_by_hand_is_a_party_too() -> None:
    array = Array(columns=1)
    array.memory_tile(0).s2mm[0].feed(np.zeros(4, np.int32))
    array.circuit(0, 1, "SOUTH0", "DMA0")
    assert "memory(0,1) S2MM 0 has memory(0,1) SOUTH0 -> DMA0, and feed of the test bench too" in refused(
        array.run
    )


def test_a_circuit_stays_in_its_array() -> None:
    array, other = Array(columns=1), Array(columns=1)
    sender = array.memory_tile(0).mm2s[0]
    assert refused(lambda: array.connect(sender, other.compute_tile(0, 2).s2mm[0])) == (
        "router: compute(0,2) S2MM 0 belongs to another array (AM020 chapter 2: stream switch)."
    )
    tile = array.memory_tile(0)
    text = refused(lambda: array.connect(tile, tile))  # type: ignore[arg-type]
    assert (
        "an end of the flow is MemoryTile(npu1 (0,1): 0 buffers, 0 of 524288 bytes, 0 locks, 0 cycles "
        "run); it must be a channel of a tile"
    ) in text
    assert text.splitlines()[0].endswith("Give channels such as tile.mm2s[0] and tile.s2mm[0].")
