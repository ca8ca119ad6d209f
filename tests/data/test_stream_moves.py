"""Is a mistake that all moves of a stream have found, and an object that a core takes twice?"""

from __future__ import annotations

import re

import numpy as np
import pytest

from memtile.explain.evidence import AdvisedWalk, Evidence
from memtile.explain.findings import Finding, Severity, Side
from memtile.importers.design import load
from memtile.importers.mlir.repairs.candidates import candidates
from memtile.importers.mlir.repairs.text_edits import applied
from memtile.importers.mlir.token_packets import Text

WORDS = np.random.default_rng(2).integers(1, 999, 96).astype(np.int32)
SUMS = """module { aie.device(npu1_1col) {
%shim = aie.tile(0, 0)
%core = aie.tile(0, 2)
aie.objectfifo @rows(%shim, {%core}, 2 : i32) : !aie.objectfifo<memref<3x8xi32>>
aie.objectfifo @sums(%core, {%shim}, 2 : i32) : !aie.objectfifo<memref<8xi32>>
aie.core(%core) {
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
%c3 = arith.constant 3 : index
%c8 = arith.constant 8 : index
scf.for %turn = %c0 to %c3 step %c1 {
%s = aie.objectfifo.acquire @rows(Consume, 1) : !aie.objectfifosubview<memref<3x8xi32>>
%a = aie.objectfifo.subview.access %s[0] : !aie.objectfifosubview<memref<3x8xi32>> -> memref<3x8xi32>
%t = aie.objectfifo.acquire @sums(Produce, 1) : !aie.objectfifosubview<memref<8xi32>>
%b = aie.objectfifo.subview.access %t[0] : !aie.objectfifosubview<memref<8xi32>> -> memref<8xi32>
scf.for %i = %c0 to %c8 step %c1 {
%x = memref.load %a[%c0, %i] : memref<3x8xi32>
%y = memref.load %a[%c2, %i] : memref<3x8xi32>
%z = arith.subi %x, %y : i32
memref.store %z, %b[%i] : memref<8xi32>
}
aie.objectfifo.release @rows(Consume, 1)
aie.objectfifo.release @sums(Produce, 1)
}
aie.end
}
aie.runtime_sequence(%a: memref<12x8xi32>, %c: memref<24xi32>) {
aiex.npu.dma_memcpy_nd(%c[0, 0, 0, 0][1, 1, 1, 24][0, 0, 0, 1])
{id = 0 : i64, metadata = @sums} : memref<24xi32>
MOVES
aiex.npu.dma_wait {symbol = @sums}
}
} }"""
"""The first row of each three less the third one."""
ALL = "lines 31, 32, 33, all 3 moves of rows"
MOVE = (
    "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, OFFSET][1, 1, 3, 8][0, 0, STRIDE, 1])"
    " {id = ID : i64, metadata = @rows} : memref<12x8xi32>"
)
DIFFERENCE = """module { aie.device(npu1_1col) {
%shim = aie.tile(0, 0)
%core = aie.tile(0, 2)
aie.objectfifo @lines(%shim, {%core}, 3 : i32) : !aie.objectfifo<memref<8xi32>>
aie.objectfifo @diff(%core, {%shim}, 2 : i32) : !aie.objectfifo<memref<8xi32>>
aie.core(%core) {
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c8 = arith.constant 8 : index
%s = aie.objectfifo.acquire @lines(Consume, 2) : !aie.objectfifosubview<memref<8xi32>>
%a = aie.objectfifo.subview.access %s[0] : !aie.objectfifosubview<memref<8xi32>> -> memref<8xi32>
%b = aie.objectfifo.subview.access %s[0] : !aie.objectfifosubview<memref<8xi32>> -> memref<8xi32>
%t = aie.objectfifo.acquire @diff(Produce, 1) : !aie.objectfifosubview<memref<8xi32>>
%d = aie.objectfifo.subview.access %t[0] : !aie.objectfifosubview<memref<8xi32>> -> memref<8xi32>
scf.for %i = %c0 to %c8 step %c1 {
%x = memref.load %a[%i] : memref<8xi32>
%y = memref.load %b[%i] : memref<8xi32>
%z = arith.subi %x, %y : i32
memref.store %z, %d[%i] : memref<8xi32>
}
aie.objectfifo.release @lines(Consume, 2)
aie.objectfifo.release @diff(Produce, 1)
aie.end
}
aie.runtime_sequence(%a: memref<16xi32>, %c: memref<8xi32>) {
aiex.npu.dma_memcpy_nd(%c[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1])
{id = 0 : i64, metadata = @diff} : memref<8xi32>
aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1])
{id = 1 : i64, metadata = @lines} : memref<16xi32>
aiex.npu.dma_wait {symbol = @diff}
}
} }"""
"""Of two lines the first one less itself, where the second one is meant."""


def sums(first: int, stride: int = 8) -> str:
    """Three windows of three rows, the first one from an element on."""
    moves = [
        MOVE.replace("OFFSET", str(first + 24 * n)).replace("STRIDE", str(stride)).replace("ID", str(n + 1))
        for n in range(3)
    ]
    return SUMS.replace("MOVES", "\n".join(moves))


def differences(first: int, stride: int = 8) -> np.ndarray:
    """What the core makes of the windows."""
    starts = [first + 24 * n for n in range(3)]
    return np.concatenate([WORDS[at:][:8] - WORDS[at + 2 * stride :][:8] for at in starts])


@pytest.mark.parametrize(
    ("first", "stride", "says"),
    [
        (
            8,
            8,
            f"{ALL}: begin 8 elements earlier: offset 0 instead of 8, and so on",
        ),
        (
            1,
            8,
            f"{ALL}: begin 1 element earlier: offset 0 instead of 1, and so on",
        ),
        (0, 12, f"{ALL}: stride 8 instead of 12"),
    ],
)
def test_a_mistake_in_all_moves_of_a_stream_is_mended_in_all_of_them(
    first: int, stride: int, says: str
) -> None:
    text = Text("d.mlir", sums(first, stride))
    tried = load(text).repairs(WORDS.reshape(12, 8), expected={"1": differences(0)})
    assert tried.best is not None
    assert tried.best.says == says
    assert applied(text, tried.best.changes) == sums(0)


def test_one_move_is_not_said_to_be_several() -> None:
    text = Text("d.mlir", sums(8).replace("\n" + MOVE.replace("OFFSET", "32"), ""))
    finding = Finding(
        "MT0402", Severity.ERROR, "argument 1 is early.", (Side("c", "is"),), evidence=Evidence(late=-8)
    )
    found = [each.says for each in candidates(text, [finding]) if "sums: begin" in each.says]
    assert found[0] == "line 29 of sums: begin 8 elements later: offset 8 instead of 0"


def test_an_object_that_is_taken_twice_is_another_one_of_those_acquired() -> None:
    tried = load(Text("d.mlir", DIFFERENCE)).repairs(WORDS[:16], expected={"1": WORDS[:8] - WORDS[8:16]})
    assert tried.best is not None
    assert tried.best.says == "line 12: object 1 of the 2 of @lines, which nothing takes, instead of 0"
    tried = load(Text("d.mlir", DIFFERENCE)).repairs(WORDS[:16], expected={"1": WORDS[8:16] - WORDS[:8]})
    assert tried.best is not None
    assert tried.best.says == "line 11: object 1 of the 2 of @lines, which nothing takes, instead of 0"


def test_all_objects_that_are_taken_leave_none_to_take() -> None:
    text = Text(
        "d.mlir",
        DIFFERENCE.replace(
            "%b = aie.objectfifo.subview.access %s[0]", "%b = aie.objectfifo.subview.access %s[1]"
        ),
    )
    assert not any("which nothing takes" in each.says for each in candidates(text, ()))


ORDER = """module { aie.device(npu1_1col) {
%shim = aie.tile(0, 0)
%mem = aie.tile(0, 1)
aie.objectfifo @come(%shim, {%mem}, 2 : i32) : !aie.objectfifo<memref<TYPE>>
aie.objectfifo @go(%mem dimensionsToStream [<size = 2, stride = 16>, <size = 4, stride = 8>],
  {%shim}, 2 : i32)
  : !aie.objectfifo<memref<TYPE>>
} }"""


@pytest.mark.parametrize(("kind", "walk"), [("64xi32", "4, stride = 1>"), ("64xi8", "16, stride = 1>")])
def test_a_walk_in_words_that_is_advised_is_one_in_elements(kind: str, walk: str) -> None:
    advised = Evidence(walks=[AdvisedWalk((2, 4), (4, 1))], names=["go"])
    text = Text("d.mlir", ORDER.replace("TYPE", kind))
    finding = Finding(
        "MT0401", Severity.ERROR, "c is wrong.", (Side("c", "is"), Side("d", "is")), evidence=advised
    )
    found = next(each for each in candidates(text, [finding]) if "go: sizes" in each.says)
    assert walk in applied(text, found.changes)
    half = Text("d.mlir", ORDER.replace("TYPE", "64xi64"))
    assert not any("go: sizes" in each.says for each in candidates(half, [finding]))


def test_offsets_in_bytes_become_offsets_in_elements() -> None:
    text = Text(
        "d.mlir", sums(0).replace("0, 0, 0, 24]", "0, 0, 0, 96]").replace("0, 0, 0, 48]", "0, 0, 0, 192]")
    )
    finding = Finding("MT0405", Severity.ERROR, "argument 1 is wrong.", (Side("c", "is"),))
    found = next(each for each in candidates(text, [finding]) if "counts elements" in each.says)
    assert found.says == f"{ALL}: offset 24 instead of 96, and so on: it counts elements"
    assert applied(text, found.changes) == sums(0)


TILES = """module { aie.device(npu1_1col) {
%shim = aie.tile(0, 0)
%mem = aie.tile(0, 1)
aie.objectfifo @far(%shim, {%mem}, 2 : i32) : !aie.objectfifo<memref<8x4xi32>>
aie.objectfifo @near(%mem, {%shim}, 2 : i32) : !aie.objectfifo<memref<8x4xi32>>
aie.objectfifo.link [@far] -> [@near] ([] [])
aie.runtime_sequence(%a: memref<96xi32>, %c: memref<96xi32>) {
MOVES
aiex.npu.dma_wait {symbol = @near}
}
} }"""
TILE = (
    "aiex.npu.dma_memcpy_nd(%ARRAY[0, 0, 0, OFFSET][1, 4, 4, 2][0, ONE, OTHER, 1])"
    " {id = ID : i64, metadata = @FIFO} : memref<96xi32>"
)


def tiles(offsets: tuple[int, ...], strides: tuple[int, int] = (2, 8)) -> str:
    """Three blocks of 32 words that go through a memory tile and come to their places again."""
    moves = []
    for n, (array, fifo, every, steps) in enumerate(
        (("c", "near", offsets, (2, 8)), ("a", "far", (0, 32, 64), strides))
    ):
        for m, offset in enumerate(every):
            words = {"ARRAY": array, "FIFO": fifo, "OFFSET": str(offset), "ID": str(3 * n + m)}
            words |= {"ONE": str(steps[0]), "OTHER": str(steps[1])}
            made = TILE
            for name, word in words.items():
                made = made.replace(name, word)
            moves.append(made)
    return TILES.replace("MOVES", "\n".join(moves))


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (tiles((0, 64, 32)), "lines 8, 9, 10, all 3 moves of near: another order, offsets 0, 32, 64, .. "
         "instead of 0, 64, 32, .."),
        (tiles((0, 32, 64), (8, 2)), "lines 11, 12, 13, all 3 moves of far: exchange the strides 8 and 2"),
    ],
)  # fmt: skip
def test_all_moves_of_a_stream_come_in_another_order_or_with_two_strides_exchanged(
    broken: str, says: str
) -> None:
    text = Text("d.mlir", broken)
    tried = load(text).repairs(WORDS, expected={"1": WORDS}, seconds=60.0)  # in the interpreter too
    assert says in [each.says for each in tried.repairs]
    repair = next(each for each in tried.repairs if each.says == says)
    assert applied(text, repair.changes) == tiles((0, 32, 64))


def test_moves_of_one_place_and_strides_that_differ_are_left_as_they_are() -> None:
    same = Text("d.mlir", tiles((32, 0, 0)))
    assert not any(": another order, " in each.says for each in candidates(same, WRONG))
    other = Text("d.mlir", tiles((0, 64, 32)).replace("[0, 2, 8, 1]", "[0, 8, 8, 1]", 1))
    assert not any("near: exchange the strides 2" in each.says for each in candidates(other, WRONG))


BOTH = """module { aie.device(npu1_1col) {
%shim = aie.tile(0, 0)
%mem = aie.tile(0, 1)
%core = aie.tile(0, 2)
aie.objectfifo @a(%shim, {%mem}, 2 : i32) : !aie.objectfifo<memref<8x8xi32>>
aie.objectfifo @b(
  %mem dimensionsToStream [<size = 2, stride = 4>, <size = 8, stride = 8>, <size = 4, stride = 1>],
  {%core dimensionsFromStream
  [<size = 4, stride = 2>, <size = 8, stride = 8>, <size = 2, stride = 1>]}, 2 : i32)
  : !aie.objectfifo<memref<8x8xi32>>
aie.objectfifo @c(%core,
  {%shim dimensionsFromStream
  [<size = 1, stride = 64>, <size = 8, stride = 8>, <size = 8, stride = 1>]}, 2 : i32)
  : !aie.objectfifo<memref<8x8xi32>>
aie.objectfifo.link [@a] -> [@b] ([] [])
} }"""


WRONG = [Finding("MT0405", Severity.ERROR, "Words are wrong.", ())]
"""What makes a run with expected words."""


def test_orders_are_only_tried_where_words_show_which_one_is_right() -> None:
    late = [Finding("MT0304", Severity.ERROR, "It waits.", ())]
    spare = re.sub(r"sequence\((%\w+)( ?: [^,]*),", r"sequence(\1\2, %spare\2,", tiles((0, 64, 32)))
    assert spare != tiles((0, 64, 32))
    for made, word in ((BOTH, "as at"), (tiles((0, 64, 32)), "another order"), (spare, "nothing moves")):
        text = Text("d.mlir", made)
        likely = {each.says for each in candidates(text, WRONG)} - {
            each.says for each in candidates(text, late)
        }
        assert any(word in each for each in likely)


def test_the_orders_at_both_ends_of_an_object_fifo_are_made_to_fit() -> None:
    text = Text("d.mlir", BOTH)
    found = {each.says: each for each in candidates(text, WRONG) if "as at" in each.says}
    assert [*found] == [
        "line 6, b: sizes 4, 8, 2 and strides 2, 8, 1, as at its other end",
        "line 6, b: sizes 2, 8, 4 and strides 4, 8, 1, as at its other end",
    ]
    right = BOTH.replace(
        "<size = 4, stride = 2>, <size = 8, stride = 8>, <size = 2, stride = 1>",
        "<size = 2, stride = 4>, <size = 8, stride = 8>, <size = 4, stride = 1>",
    )
    assert applied(text, [*found.values()][1].changes) == right


def test_moves_that_one_line_made_are_as_far_apart_as_each_has_elements() -> None:
    text = TILES.replace("MOVES\n", tiles((0, 32, 64)).split("{\n")[-1].split("aiex.npu.dma_wait")[0])
    near = text.replace("%a[0, 0, 0, 32]", "%a[0, 0, 0, 16]").replace("%a[0, 0, 0, 64]", "%a[0, 0, 0, 32]")
    lines = near.splitlines()
    at = next(n for n, line in enumerate(lines) if "%a[" in line)
    one = "\n".join([*lines[:at], "  ".join(lines[at : at + 3]), *lines[at + 3 :]])
    found = [each for each in candidates(Text("d.mlir", one), WRONG) if "apart instead of" in each.says]
    assert [each.says for each in found] == ["line 11, all 3 moves: offsets 32 apart instead of 16"]
    right = applied(Text("d.mlir", one), found[0].changes)
    assert right.replace("  aiex", "\naiex") == text
    assert not any("apart instead of" in each.says for each in candidates(Text("d.mlir", near), WRONG))
