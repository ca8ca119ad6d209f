"""Is MLIR text read as what it says, in every form that tools print it, and refused where it says nothing?"""

from __future__ import annotations

import re
import time
from contextlib import suppress

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.errors import InputFileError
from memtile.importers.mlir.attributes import Compound, SymbolName, attributes
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text
from memtile.importers.mlir.tree import Operation, OperationBlock, Region
from memtile.importers.mlir.types import DYNAMIC, Shaped, dtype_of, shaped

PRETTY = """
#map = affine_map<(d0) -> (d0 + 1)>
!objects = memref<8xi32>
module @design attributes {made.by = "hand"} {
  aie.device(npu1_1col) @main {
    func.func private @scale(memref<8xi32>, i32) attributes {link_with = "scale.o"}
    memref.global "private" constant @table : memref<2xi32> = dense<[1, -2]>
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2) {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 27>}  // a comment { (
    %buffer = aie.buffer(%core) {address = 0x400 : i32, sym_name = "b {0}"} : memref<4x8xi32, 2 : i32>
    %lock = aie.lock(%core, 3) {init = 1 : i32, sym_name = "l"}
    aie.flow(%shim, DMA : 0, %core, "DMA" : 1)
    aie.objectfifo @in(%shim dimensionsToStream [<size = 4, stride = 2>], {%core, %shim}, [2, 3] : i32) \
{repeat_count = 2 : i32} : !aie.objectfifo<memref<8xi32>>
    aie.objectfifo.link [@in] -> [@out, @other] ([] [0, 4])
    %mem = aie.mem(%core) {
      %first = aie.dma_start(S2MM, 0, ^bd, ^end)
    ^bd:  // 2 preds: ^bb0, ^bd
      aie.use_lock(%lock, AcquireGreaterEqual, 1)
      aie.dma_bd(%buffer : memref<4x8xi32, 2 : i32> offset = 4 len = 8 sizes = [2, 4] strides = [8, 1]) \
{bd_id = 1 : i32}
      aie.next_bd ^bd
    ^end:
      aie.end
    }
    aie.packet_flow(0x5) {
      aie.packet_source<%shim, DMA : 0>
      aie.packet_dest<%core, DMA : 0>
    } {keep_pkt_header = true}
    %ring = aie.dma(MM2S, 0) [{
      aie.dma_bd(%buffer : memref<4x8xi32, 2 : i32>)
    }, {
      aie.dma_bd(%buffer : memref<4x8xi32, 2 : i32>)
    }]
    %body = aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c1 = arith.constant 1 : index
      %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %c0) -> (index) {
        %more = arith.addi %a, %i : index
        scf.yield %more : index
      }
      %less = arith.cmpi slt, %sum, %c8 : index
      cf.cond_br %less, ^left(%sum : index), ^right
    ^left(%n: index):  // pred: ^bb0
      %two:2 = func.call @pair(%n) : (index) -> (index, index)
      func.call @use(%two#0, %two#1) : (index, index) -> ()
      cf.br ^right
    ^right:
      scf.if %less { aie.end } else { aie.end }
      aie.end
    } {stack_size = 2048 : i32}
    aie.runtime_sequence @sequence(%x: memref<8xi32>, %y : memref<*xbf16>) {
      aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1], packet = <pkt_id = 3, pkt_type = 0>) \
{id = 1 : i64, metadata = @in, issue_token} : memref<8xi32>
    }
  }
}
"""

GENERIC = """
"builtin.module"() ({
  "aie.device"() <{device = 4 : i32, sym_name = "main"}> ({
    %0 = "aie.tile"() <{col = 0 : i32, row = 2 : i32}> : () -> index
    %1 = "aie.lock"(%0) <{init = 1 : i32, lockID = 3 : i32}> {sym_name = "l"} : (index) -> index
    %2 = "aie.mem"(%0) ({
      %3 = "aie.dma_start"() <{channel_dir = 0 : i32, channel_index = 0 : i32}>[^bb1, ^bb2] : () -> i1
    ^bb1:  // 2 preds: ^bb0, ^bb1
      "aie.use_lock"(%1) <{action = 2 : i32, value = 1 : i32}> : (index) -> ()
      "aie.next_bd"()[^bb1] : () -> ()
    ^bb2:
      "aie.end"() : () -> ()
    }) : (index) -> index
    "scf.if"(%3) ({
      "scf.yield"() : () -> ()
    }, {
      "scf.yield"() : () -> ()
    }) : (i1) -> ()
  }) : () -> ()
}) : () -> ()
"""


def tree(text: str) -> Region:
    return read(Text("design.mlir", text))


def every(region: Region) -> list[Operation]:
    return [found for block in region.blocks for top in block.operations for found in top.walk()]


def one(text: str, name: str, number: int = 0) -> Operation:
    return [operation for operation in every(tree(text)) if operation.name == name][number]


def test_every_operation_begins_where_its_line_does() -> None:
    """The names of all operations, in order: nothing swallows what follows it."""
    found = [operation.name for operation in every(tree(PRETTY))]
    lines = re.findall(
        r"^\s*(?:%[\w:]+ = )?((?:aiex?|func|memref|arith|scf|cf)\.[\w.]+|module)", PRETTY, re.M
    )
    assert found == [
        *lines[: lines.index("scf.if") + 1],
        "aie.end",
        "aie.end",
        *lines[lines.index("scf.if") + 1 :],
    ]


def test_attributes_are_values() -> None:
    assert attributes(one(PRETTY, "module")) == {"made.by": "hand"}
    assert attributes(one(PRETTY, "aie.tile", 1)) == {
        "controller_id": Compound("aie.packet_info", {"pkt_type": 0, "pkt_id": 27})
    }
    assert attributes(one(PRETTY, "aie.buffer")) == {"address": 0x400, "sym_name": "b {0}"}
    transfer = attributes(one(PRETTY, "aiex.npu.dma_memcpy_nd"))
    assert transfer == {"id": 1, "metadata": "in", "issue_token": True}
    assert isinstance(transfer["metadata"], SymbolName)
    assert attributes(one(PRETTY, "aie.packet_flow")) == {"keep_pkt_header": True}
    assert attributes(one(GENERIC, "aie.lock")) == {"init": 1, "lockID": 3, "sym_name": "l"}
    iree = "aie.dma_bd(%b : memref<4xi32>) {dimensions = #aie<bd_dim_layout_array[<size = 2, stride = 4>]>}"
    (dims,) = attributes(one(iree, "aie.dma_bd"))["dimensions"].listed
    assert dims == Compound("bd_dim_layout_array", {}, (Compound("", {"size": 2, "stride": 4}),))


def test_what_stands_between_name_and_attributes_is_kept() -> None:
    words = one(PRETTY, "aie.objectfifo").words
    assert "".join(words) == (
        "@in(%shimdimensionsToStream[<size=4,stride=2>],{%core,%shim},[2,3]:i32)"
        ":!aie.objectfifo<memref<8xi32>>"
    )
    assert "".join(one(PRETTY, "aie.dma_bd").words) == (
        "(%buffer:memref<4x8xi32,2:i32>offset=4len=8sizes=[2,4]strides=[8,1])"
    )


def test_blocks_have_their_labels_and_arguments() -> None:
    (region,) = one(PRETTY, "aie.core").regions
    assert [(block.label, block.arguments) for block in region.blocks] == [
        ("", []),
        ("^left", [("%n", "index")]),
        ("^right", []),
    ]
    assert [operation.name for operation in region.blocks[2].operations] == ["scf.if", "aie.end"]
    (ring,) = one(PRETTY, "aie.mem").regions
    assert [block.label for block in ring.blocks] == ["", "^bd", "^end"]
    (generic,) = one(GENERIC, "aie.mem").regions
    assert [block.label for block in generic.blocks] == ["", "^bb1", "^bb2"]
    assert [len(one(text, name).regions) for text, name in ((PRETTY, "aie.dma"), (GENERIC, "scf.if"))] == [
        2,
        2,
    ]


def test_a_value_is_found_from_where_it_is_used() -> None:
    inner = one(PRETTY, "arith.addi")
    assert inner.parent is not None
    found = inner.parent.region.find
    constant, loop, nothing = found("%c0"), found("%a"), found("%none")
    assert isinstance(constant, Operation)
    assert constant.name == "arith.constant"
    assert isinstance(loop, OperationBlock)
    assert loop.arguments[:2] == [("%i", ""), ("%a", "")]
    assert nothing is None
    call = one(PRETTY, "func.call")
    assert call.results == ["%two", "%two#0", "%two#1"]
    assert one(PRETTY, "arith.cmpi").results == ["%less"]  # behind a loop
    (sequence,) = one(PRETTY, "aie.runtime_sequence").regions
    assert sequence.blocks[0].arguments == [("%x", "memref<8xi32>"), ("%y", "memref<*xbf16>")]


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("memref<64x64xi8>", Shaped((64, 64), "i8")),
        ("memref<i32>", Shaped((), "i32")),
        (
            "memref<4x?xbf16,strided<[8,1],offset:?>,2:i32>",
            Shaped((4, DYNAMIC), "bf16", "strided<[8,1],offset:?>,2:i32"),
        ),
        ("memref<*xbf16>", Shaped((DYNAMIC,), "bf16")),
        ("vector<16xf32>", Shaped((16,), "f32")),
        ("memref<2xvector<8xi16>>", Shaped((2,), "vector<8xi16>")),
        ("index", None),
    ],
)
def test_types_have_shapes_and_elements(kind: str, wanted: Shaped | None) -> None:
    assert shaped(kind) == wanted


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("i1", np.bool_),
        ("i4", np.int8),
        ("ui8", np.uint8),
        ("si16", np.int16),
        ("i32", np.int32),
        ("index", np.int64),
        ("f32", np.float32),
        ("bf16", ml_dtypes.bfloat16),
    ],
)
def test_numbers_have_numpy_types(kind: str, wanted: type) -> None:
    assert dtype_of(kind) == np.dtype(wanted)
    assert dtype_of("!aie.token") is None


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("module {\n  %a = aie.tile(0, 1\n}", 3, 1, "the bracket } cannot close ( of line 2"),
        ("module {\n", 1, 8, "the bracket { is never closed"),
        ("module { }\n)", 2, 1, "the bracket ) closes nothing"),
        ("module {\n  %a =\n}", 3, 1, "} is no operation"),
        ("module { 5 }", 1, 10, "5 begins nothing"),
        ("module { aie.end ^a aie.end }", 1, 0, ""),
        ("module { %a %b = aie.tile(0, 1) }", 1, 13, "%b stands behind a result"),
        ("{" * 400 + "}" * 400, 1, 1, "{ is no operation"),
        ("a.b {" * 400 + "}" * 400, 1, 506, "the text has more than 100 regions within each other"),
    ],
)
def test_what_is_no_mlir_is_shown_in_its_line(text: str, line: int, column: int, says: str) -> None:
    if not says:
        tree(text)  # a branch without its operation is kept: nobody has to know the operation
        return
    with pytest.raises(InputFileError) as caught:
        tree(text)
    (problem,) = caught.value.problems
    assert problem.where == f"design.mlir:{line}:{column}"
    assert problem.says.startswith(says)
    shown, caret = problem.says.split("\n")[1:3]
    assert text.split("\n")[line - 1][column - 1 : column + 5] in shown[caret.index("^") :] + "\n"


@pytest.mark.parametrize("text", ["", "// nothing", "{-#\n dialect_resources: { }\n#-}", "\ufeff  \n"])
def test_a_text_may_be_empty(text: str) -> None:
    assert every(tree(text)) == []


PIECES = [*'{}()[]<>=%@#!:,"\n\0', "^bb", "->", "//", "0x"]


@settings(max_examples=2000, deadline=None)
@given(st.data())
def test_a_broken_text_is_read_or_refused_and_nothing_else(data: st.DataObject) -> None:
    """Pieces put in, left out and doubled at random places."""
    text = data.draw(st.sampled_from([PRETTY, GENERIC]))
    for _ in range(data.draw(st.integers(1, 4))):
        first = data.draw(st.integers(0, len(text)))
        length = data.draw(st.sampled_from([0, 1, 2, 10, 100]))
        piece = data.draw(st.sampled_from([*PIECES, text[first : first + 2 * length]]))
        text = text[:first] + piece + text[first + length :]
    with suppress(InputFileError):  # anything else comes through
        for operation in every(tree(text)):
            attributes(operation)


def test_time_grows_with_the_text_and_no_faster() -> None:
    def seconds(times: int) -> float:
        text = Text("many", PRETTY * times)
        best = float("inf")
        for _ in range(3):
            began = time.thread_time()
            read(text)
            best = min(best, time.thread_time() - began)
        return best

    assert seconds(80) < 8 * 3 * seconds(10)


def test_a_log_before_the_text_is_skipped_and_places_stay() -> None:
    log = "Warning: 3 columns\n0x11 DEBUG {\n\n"
    text = Text.of("d.mlir", f"{log}// -----// IR Dump //----- //\naie.device(npu1) {{\n  aie.wire(\n}}\n")
    assert text.skipped == 3
    with pytest.raises(InputFileError, match=r"d.mlir:6:11: the bracket \( is never closed|d.mlir:7:1"):
        read(text)
    plain = "#map = affine_map<(d0) -> (d0)>\nmodule {\n}\n"
    assert Text.of("d.mlir", plain) == Text("d.mlir", plain)


def test_types_of_2023_in_braces_are_no_regions() -> None:
    kind = "{!AIE.objectFifo<memref<1xi32>>}"
    line = f"AIE.objectFifo.link({{%a}}, {{%b}}) : ({kind}, {kind})"
    (link,) = read(Text("d.mlir", line)).blocks[0].operations
    assert (link.name, link.regions) == ("aie.objectfifo.link", [])


def test_empty_braces_of_an_operation_without_regions_are_attributes() -> None:
    line = 'aie.dma_bd(%b : memref<8x!aiex.bfp<"v8bfp16ebs8">>, 0, 8, [<size = 8, stride = 16>]) {}'
    (bd,) = read(Text("d.mlir", line)).blocks[0].operations
    assert bd.regions == []


def test_dialects_of_iree_around_a_device_are_named() -> None:
    text = "stream.cmd.execute with(%a as %b: !stream.resource<external>{%c}) {\n  ro %b[%c for %d]\n}\n"
    with pytest.raises(InputFileError, match="operations of IREE's dialect stream are around the device"):
        read(Text("d.mlir", text))


def test_only_an_operation_behind_an_equals_sign_makes_a_value_a_result() -> None:
    """The index of a loop has an equals sign too, with a number or a value behind it."""
    text = """x.y %a
      affine.for %i = 0 to 4 { }
      x.y %a
      scf.for %i = %a to %b step %c { }
      x.y %a
      %c:2, %d = x.z %a"""
    found = tree(text).blocks[0].operations
    assert [each.name for each in found] == ["x.y", "affine.for", "x.y", "scf.for", "x.y", "x.z"]
    assert [len(each.results) for each in found] == [0, 0, 0, 0, 0, 4]
