"""Does a design that mlir-aie's verifiers refuse say what they say, with its place?

Each rule is a fact of AIEDialect.cpp or AIEXDialect.cpp of mlir-aie (2026-08-14); the texts are ours.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from memtile.errors import MemtileError
from memtile.importers.design import load, load_still
from memtile.importers.mlir.token_packets import Text
from support.mlir.mlir_designs import device, host

DMA = """%b = aie.buffer({tile}) : memref<64x{element}>
%far = aie.buffer({other}) : memref<64xi32>
%l = aie.lock({tile}, 0) {{init = 1 : i32}}
%n = aie.lock({tile}, 1)
%x = aie.{dma}({tile}) {{
  %0 = aie.dma_start({channel}, ^a, ^end)
^a:
  aie.use_lock(%l, AcquireGreaterEqual, 1)
  {bd}
  {more}
  aie.use_lock(%n, Release, 1)
  aie.next_bd ^a
^end:
  aie.end
}}"""
BD = "aie.dma_bd(%b : memref<64xi32>)"


def dma(bd: str = BD, more: str = "", *, memory: bool = True, channel: str = "MM2S, 0", **given: str) -> str:
    """A design with one channel of a memory tile or a core's."""
    tiles = {"tile": "%m", "other": "%m2", "dma": "memtile_dma"} if memory else {}
    parts = {"tile": "%c", "other": "%c", "dma": "mem", "element": "i32", **tiles, **given}
    text = DMA.format(bd=bd, more=more, channel=channel, **parts)
    return device(f"%m2 = aie.tile(1, 1)\n{text}", chip="npu1")


def pattern(sizes: str, strides: str, element: str = "i32", more: str = "") -> str:
    levels = f"sizes = [{sizes}] strides = [{strides}]{more}"
    return dma(f"aie.dma_bd(%b : memref<64x{element}> offset = 0 len = 8 {levels})", element=element)


def connected(body: str, tile: str = "%m") -> str:
    return device(f"aie.switchbox({tile}) {{\n{body}\n}}")


def core(attributes: str, more: str = "") -> str:
    return device(f"%k = aie.core(%c) {{\n aie.end\n}} {attributes}", more)


def body(*lines: str, more: str = "") -> str:
    """A design with a core at (0, 2) and declarations beside it."""
    text = "\n".join(lines)
    return device(f"{more}\n%k = aie.core(%c) {{\n{text}\naie.end\n}}")


def linked(one: str, other: str, calls: str = "func.call @f() : () -> ()\nfunc.call @g() : () -> ()") -> str:
    functions = (
        f"func.func private @{name}() attributes {{{how}}}" for name, how in (("f", one), ("g", other))
    )
    return body(calls, more="\n".join(functions))


STORED = (
    "%i = arith.constant 0 : index\n%v = arith.constant 1 : i32\nmemref.store %v, %far[%i] : memref<16xi32>"
)
FAR = "%e = aie.tile(0, {})\n%far = aie.buffer(%e) : memref<16xi32>"
WRITTEN = "aiex.npu.writebd {{bd_id = 1 : i32, column = 0 : i32, row = {} : i32, {} : i32}}"


def written(field: str, row: int = 0) -> str:
    return device(host(WRITTEN.format(row, field)))


REFUSED = [
    (dma(channel="S2MM, -1"), "the memory tile has no channel -1"),
    (dma(channel="S2MM, 6"), "the memory tile has no channel 6"),
    (device("aie.shim_dma_allocation @in(%s, MM2S, -1)"), "the interface tile has no channel -1"),
    (device("aie.shim_dma_allocation @in(%m, MM2S, 0)"), "its tile is of kind memory"),
    (dma(dma="mem"), "aie.mem: its tile is of kind memory"),
    (core("", "%j = aie.core(%c) {\n aie.end\n}"), "its tile has a core already"),
    (core('{link_with = "a.o", link_files = ["b.o"]}'), "it has link_with and link_files"),
    (core('{link_files = ["a.o"], link_merge_files = ["a.o"]}'), "a.o is linked and merged"),
    (core("{stack_size = 65536 : i32}"), "its stack has 65536 bytes"),
    (dma(more=BD), "a block of it has 2 BDs"),
    (dma(more="aie.use_lock(%l, AcquireGreaterEqual, 1)"), "its block has 2 of acquire"),
    (dma(more="aie.use_lock(%n, Release, 1)"), "its block has 2 of release"),
    (pattern("2, 33", "32, 1"), "its sizes and strides reach element 64 of 64"),
    (pattern("2, 4", "0, 1"), "it has a stride of 0"),
    (pattern("600", "1"), "it has a size of 600"),
    (pattern("2, 4", "8, 2", "i16"), "its innermost stride is 2 on elements of 2 bytes"),
    (
        pattern("8", "1", more=" pad [<const_pad_before = 4, const_pad_after = 4>]"),
        "its sizes and padding make 16 elements, more than its length of 8",
    ),
    (dma(f"{BD} {{next_bd_id = 48 : i32}}"), "its next_bd_id is 48"),
    (dma(f"{BD} {{iteration = #aie.bd_iteration<size = 65, stride = 1, current = 0>}}"), "a size of 65"),
    (
        dma(f"{BD} {{iteration = #aie.bd_iteration<size = 4, stride = 1, current = 4>}}"),
        "iteration is at 4 of 4",
    ),
    (dma("aie.dma_bd(%far : memref<64xi32>)", channel="MM2S, 4"), "channel 4 does not reach other tiles"),
    (connected("aie.connect<North : 0, South : 1>"), "its tile does not connect NORTH0 to SOUTH1"),
    (
        connected("aie.connect<North : 0, South : 0>\naie.connect<DMA : 0, South : 0>"),
        "South : 0 is the target of two connections",
    ),
    (written("d1_size = 1024"), "its d1_size is 1024"),
    (written("iteration_size = 64"), "its iteration_size is 64"),
    (written("d2_size = 4"), "its d2_size is 4 on an interface tile"),
    (written("d0_zero_before = 1"), "its d0_zero_before is 1 on an interface tile"),
    (written("burst_length = 64", 1), "only interface tiles have a burst_length"),
    (body("%v = arith.constant 1 : i64\naie.put_cascade(%v : i64)"), "the type on the cascade is i64"),
    (body("%v = aie.get_cascade() : vector<8xi32>"), "the type on the cascade is vector<8xi32>"),
    (
        body(STORED, more=FAR.format(4)),
        "the core of the tile at (0, 2) does not reach %far of the tile at (0, 4)",
    ),
    (body(STORED, more=FAR.format(1)), "does not reach %far of the tile at (0, 1)"),
    (
        body("aie.use_lock(%l, Acquire, 1)", more="%l = aie.lock(%m, 0)"),
        "does not reach %l of the tile at (0, 1)",
    ),
    (linked('link_with_mode = "merge"', 'link_with = "b.o"'), "it has link_with_mode without link_with"),
    (linked('link_with = "a.o", link_with_mode = "inline"', ""), "its link_with_mode is inline"),
    (device("%t = aie.logical_tile<CoreTile>(0, 0)"), "the tile at (0, 0) is of kind interface"),
]


@pytest.mark.parametrize(("text", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_a_run_and_a_check_refuse_what_the_verifiers_refuse(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(MemtileError) as run:
        load(Text("d.mlir", text))
    assert says in str(run.value)
    file = tmp_path / "d.mlir"
    file.write_text(text)
    with pytest.raises(MemtileError) as check:
        load_still(file)
    assert str(check.value).replace(str(file), "d.mlir") == str(run.value)


@pytest.mark.parametrize(
    "text",
    [
        dma(),
        dma(memory=False),
        dma("aie.dma_bd(%far : memref<64xi32>)", channel="MM2S, 3"),
        pattern("2, 32", "32, 1"),
        pattern("4", "1", more=" pad [<const_pad_before = 2, const_pad_after = 2>]"),
        core('{link_files = ["a.o"], link_merge_files = ["b.o"], stack_size = 4096 : i32}'),
        connected("aie.connect<North : 0, South : 0>\naie.connect<DMA : 0, South : 1>"),
        body(STORED, more="%far = aie.buffer(%d) : memref<16xi32>"),
        body("%v = aie.get_cascade() : vector<16xi32>\naie.put_cascade(%v : vector<16xi32>)"),
        written("d2_size = 4", 1),
    ],
)
def test_what_they_take_is_taken(text: str) -> None:
    load(Text("d.mlir", text))


@pytest.mark.parametrize(
    ("other", "calls", "refused"),
    [
        ("a.o", "func.call @f() : () -> ()\nfunc.call @g() : () -> ()", True),
        ("a.o", "func.call @f() : () -> ()", False),
        ("b.o", "func.call @f() : () -> ()\nfunc.call @g() : () -> ()", False),
    ],
)
def test_an_object_file_is_linked_in_one_way(other: str, calls: str, refused: bool, tmp_path: Path) -> None:
    file = tmp_path / "d.mlir"
    merged = 'link_with = "a.o", link_with_mode = "merge"'
    file.write_text(linked(merged, f'link_with = "{other}"', calls))
    if not refused:
        load_still(file)
        return
    with pytest.raises(MemtileError, match=r"a\.o is merged and linked"):
        load_still(file)
