"""Do functions of several blocks, which cores call, answer what their blocks say?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.importers.kernels import body_segments
from support.mlir.mlir_designs import NUMBERS, WAIT, copied, device, host, loaded, ran

SIGN = """func.func @sign(%v: i32) -> i32 {
    %c20 = arith.constant 20 : i32
    %less = arith.cmpi slt, %v, %c20 : i32
    cf.cond_br %less, ^low, ^high(%v : i32)
  ^low:
    %zero = arith.constant 0 : i32
    %minus = arith.subi %zero, %v : i32
    return %minus : i32
  ^high(%w: i32):
    return %w : i32
  }"""
SUM = """func.func @upto(%n: i32) -> (i32, i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    cf.br ^head(%zero, %zero : i32, i32)
  ^head(%i: i32, %sum: i32):
    %more = arith.cmpi sle, %i, %n : i32
    cf.cond_br %more, ^turn, ^last
  ^turn:
    %next = arith.addi %sum, %i : i32
    %j = arith.addi %i, %one : i32
    cf.br ^head(%j, %next : i32, i32)
  ^last:
    return %sum, %i : i32, i32
  }"""
MANY = """func.func @fill(%from: memref<16xi32>, %to: memref<16xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cf.br ^head(%c0 : index)
  ^head(%i: index):
    %more = arith.cmpi slt, %i, %c16 : index
    cf.cond_br %more, ^turn, ^last
  ^turn:
    %v = memref.load %from[%i] : memref<16xi32>
    %s = func.call @sign(%v) : (i32) -> i32
    memref.store %s, %to[%i] : memref<16xi32>
    %j = arith.addi %i, %c1 : index
    cf.br ^head(%j : index)
  ^last:
    return
  }"""
VIEW = "!aie.objectfifosubview<memref<16xi32>>"


def core(body: str) -> str:
    """A core that makes 4 objects of 4, with a body between its locks."""
    return f"""
    aie.objectfifo @in(%s, {{%c}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @out(%c, {{%s}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.core(%c) {{
      %z = arith.constant 0 : index
      %n = arith.constant 4 : index
      %w = arith.constant 16 : index
      %o = arith.constant 1 : index
      scf.for %t = %z to %n step %o {{
        %s0 = aie.objectfifo.acquire @in(Consume, 1) : {VIEW}
        %x = aie.objectfifo.subview.access %s0[0] : {VIEW} -> memref<16xi32>
        %s1 = aie.objectfifo.acquire @out(Produce, 1) : {VIEW}
        %y = aie.objectfifo.subview.access %s1[0] : {VIEW} -> memref<16xi32>
        {body}
        aie.objectfifo.release @in(Consume, 1)
        aie.objectfifo.release @out(Produce, 1)
      }}
      aie.end
    }}"""


LOOP = """scf.for %i = %z to %w step %o {{
  %v = memref.load %x[%i] : memref<16xi32>
  {calls}
  memref.store %r, %y[%i] : memref<16xi32>
}}"""
HOST = host(copied("out", "b", 1), copied("in", "a", 0), WAIT)
SIGNED = np.where(NUMBERS < 20, -NUMBERS, NUMBERS)


@pytest.fixture(params=[False, True], ids=["interpreted", "compiled"], autouse=True)
def _pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of a core's body run both ways, however short they are."""
    monkeypatch.setattr(body_segments, "ENABLED", request.param)
    monkeypatch.setattr(body_segments, "COMPILED_FROM", 0)


def result(*lines: str) -> list[int]:
    """What the core makes of 0 to 63."""
    text = device(*lines, HOST)
    found: list[int] = ran(loaded(text), NUMBERS)[1].tolist()
    return found


def test_each_of_several_blocks_answers() -> None:
    body = LOOP.format(calls="%r = func.call @sign(%v) : (i32) -> i32")
    assert result(SIGN, core(body)) == SIGNED.tolist()


def test_a_function_is_called_twice_and_has_several_answers() -> None:
    calls = """%p:2 = func.call @upto(%v) : (i32) -> (i32, i32)
      %q:2 = func.call @upto(%p#1) : (i32) -> (i32, i32)
      %r = arith.addi %p#0, %q#0 : i32"""

    def upto(n: int) -> int:
        return n * (n + 1) // 2

    assert result(SUM, core(LOOP.format(calls=calls))) == [upto(n) + upto(n + 1) for n in range(64)]


def test_a_function_of_blocks_calls_another() -> None:
    body = "func.call @fill(%x, %y) : (memref<16xi32>, memref<16xi32>) -> ()"
    assert result(SIGN, MANY, core(body)) == SIGNED.tolist()


@pytest.mark.parametrize("name", ["sign", "none"])
def test_blocks_within_a_lowered_body(name: str) -> None:
    """Blocks in blocks: each machine goes on where it was."""
    call = f"%s = func.call @{name}(%v) : (i32) -> i32" if name == "sign" else "%s = arith.addi %v, %v : i32"
    text = core("func.call @whole(%x, %y) : (memref<16xi32>, memref<16xi32>) -> ()")
    whole = MANY.replace("@fill", "@whole")
    whole = whole.replace("%s = func.call @sign(%v) : (i32) -> i32", call)
    wanted = SIGNED if name == "sign" else 2 * NUMBERS
    assert result(SIGN, whole, text) == wanted.tolist()


LEFT_AND_ENTERED = """%core = aie.core(%c) {
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    cf.br ^outer(%zero : index)
  ^outer(%i: index):
    %more = arith.cmpi slt, %i, %two : index
    cf.cond_br %more, ^first, ^last
  ^first:
    %ten = arith.constant 10 : index
    %three = arith.constant 3 : index
    %k = arith.addi %i, %ten : index
    cf.br ^inner(%zero : index)
  ^inner(%j: index):
    %again = arith.cmpi slt, %j, %three : index
    cf.cond_br %again, ^waits, ^next
  ^waits:
    aie.use_lock(%l, AcquireGreaterEqual, 1)
    aie.use_lock(%l, Release, 1)
    %one = arith.constant 1 : index
    %n = memref.load %turns[%i] : memref<2xi32>
    %k1 = arith.index_cast %one : index to i32
    %n1 = arith.addi %n, %k1 : i32
    memref.store %n1, %turns[%i] : memref<2xi32>
    %j1 = arith.addi %j, %one : index
    cf.br ^inner(%j1 : index)
  ^next:
    %w = arith.index_cast %k : index to i32
    memref.store %w, %seen[%i] : memref<2xi32>
    %step = arith.constant 1 : index
    %i1 = arith.addi %i, %step : index
    cf.br ^outer(%i1 : index)
  ^last:
    aie.end
  }"""


def test_a_loop_that_is_left_to_wait_knows_what_it_knew() -> None:
    """Blocks without a wait are one piece: what one of them made is there when the piece is entered again."""
    beside = """%l = aie.lock(%c, 5) {sym_name = "l", init = 1 : i32}
    %turns = aie.buffer(%c) {sym_name = "turns"} : memref<2xi32>
    %seen = aie.buffer(%c) {sym_name = "seen"} : memref<2xi32>"""
    design = loaded(device(beside, LEFT_AND_ENTERED, host()))
    design.run(max_cycles=20_000)
    tile, buffers = design.array.compute_tile(0, 2), design.configured.buffers
    assert tile.load(buffers["%turns"]).tolist() == [3, 3]
    assert tile.load(buffers["%seen"]).tolist() == [10, 11]


def test_a_function_with_a_loop_takes_what_it_is_given_outside_of_loops() -> None:
    body = """%core = aie.core(%c) {
    %zero = arith.constant 0 : index
    %five = arith.constant 5 : i32
    %n = memref.load %turns[%zero] : memref<2xi32>
    %more = arith.addi %n, %five : i32
    %p:2 = func.call @upto(%more) : (i32) -> (i32, i32)
    memref.store %p#0, %turns[%zero] : memref<2xi32>
    aie.end
  }"""
    beside = '%turns = aie.buffer(%c) {sym_name = "turns"} : memref<2xi32>'
    design = loaded(device(SUM, beside, body, host()))
    design.run(max_cycles=20_000)
    found = design.array.compute_tile(0, 2).load(design.configured.buffers["%turns"])
    assert found.tolist() == [15, 0]
