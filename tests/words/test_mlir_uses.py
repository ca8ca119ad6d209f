"""Is a value that nothing defines told where it is used, and every other use taken?"""

from __future__ import annotations

import re

import pytest

from memtile.errors import InputFileError
from memtile.importers.design import load
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text
from memtile.importers.mlir.value_check import check_values

DEFINED = """
aie.device(npu1) {
func.func private @declared(%in: i32, %out: i32)
func.func @body(%n: index) -> index {
  %0:2 = "test.two"() : () -> (i32, i32)
  %c = arith.constant 1 : index
  cf.br ^bb1(%c : index)
^bb1(%1: index):
  %sum = scf.for %i = %c to %n step %c iter_args(%s = %1) -> (index) {
    "test.uses"(%0#1, %i, %s) : (i32, index, index) -> ()
    scf.yield %s : index
  }
  %later = arith.addi %sum, %c : index
  return %later : index
}
}
"""


def test_what_is_defined_around_an_operation_may_be_used() -> None:
    check_values(read(Text("f.mlir", DEFINED)))


@pytest.mark.parametrize("name", ["%c", "%n", "%0#1", "%i", "%s", "%1", "%sum", "%later"])
def test_each_use_is_looked_at(name: str) -> None:
    *_, last = re.finditer(rf"{name}\b", DEFINED)
    text = f"{DEFINED[: last.start()]}%gone{DEFINED[last.end() :]}"
    with pytest.raises(InputFileError, match="uses the value %gone, which nothing around it defines"):
        check_values(read(Text("f.mlir", text)))


def test_a_value_of_another_region_is_not_there() -> None:
    one = "func.func @a(%x: i32) {\n  return\n}"
    text = f"aie.device(npu1) {{\n{one}\nfunc.func @b() {{\n  return %x : i32\n}}\n}}\n"
    with pytest.raises(InputFileError, match=r"f.mlir:6:10: return uses the value %x"):
        check_values(read(Text("f.mlir", text)))


def test_a_function_sees_nothing_around_it() -> None:
    text = "aie.device(npu1) {\n%x = aie.tile(0, 2)\nfunc.func @b() {\n  return %x : i32\n}\n}\n"
    with pytest.raises(InputFileError, match=r"f.mlir:4:10: return uses the value %x"):
        check_values(read(Text("f.mlir", text)))


def test_a_design_with_a_wrong_name_says_where() -> None:
    text = "aie.device(npu1) {\n  %t = aie.tile(0, 1)\n  %b = aie.buffer(%tile) : memref<4xi32>\n}\n"
    with pytest.raises(InputFileError) as caught:
        load(Text("d.mlir", text))
    assert str(caught.value).startswith(
        "d.mlir:3:19: aie.buffer uses the value %tile, which nothing around it"
    )


def refused(body: str, *more: str) -> str:
    """What is refused of a core's body; empty if nothing is."""
    before = "".join(f"{line}\n" for line in more)
    text = f"""aie.device(npu1) {{
{before}%t = aie.tile(0, 2)
%b = aie.buffer(%t) : memref<4xi32>
%c = aie.core(%t) {{
  %i = arith.constant 1 : index
  %n = arith.constant 1 : i32
  %x = arith.constant 1.0 : f32
{body}
  aie.end
}}
}}
"""
    try:
        check_values(read(Text("c.mlir", text)))
    except InputFileError as error:
        return "\n".join(problem.message.split("\n")[0] for problem in error.problems)
    return ""


LOOP = "scf.for %k = %i to %i step %i {{ {} }}"
DECLARED = "func.func private @f(memref<4xi32>, i32) -> i32"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("%n = arith.constant 1 : i32", "the value %n is defined in line 7 already"),
        ("%t = arith.constant 1 : i32", "the value %t is defined in line 3 already"),
        (LOOP.format("%n = arith.constant 1 : i32"), "the value %n is defined in line 7 already"),
        (LOOP.replace("%k", "%n").format(""), "the value %n is defined in line 7 already"),
        (
            f"{LOOP.format('')}\n%k = arith.constant 1 : i32\n{LOOP.format('')}",
            "the value %k is defined in line 10",
        ),
        (
            "%s = arith.addi %later, %n : i32\n%later = arith.constant 1 : i32",
            "%later is used where its definition",
        ),
        ("%s = arith.addi %s, %n : i32", "%s is used where its definition is not done yet"),
        (
            "cf.cond_br %q, ^a, ^b\n^a:\n%l = arith.constant 1 : i32\n"
            "cf.br ^b\n^b:\n%s = arith.addi %l, %n : i32",
            "uses the value %q, which nothing around it defines (\n"
            "arith.addi: %l is used where its definition",
        ),
        ("%s = arith.addi %n, %n : i64", "%n is i32, and is used as i64"),
        ("%s = arith.addi %n, %n : i32\n%u = arith.extsi %s : i16 to i64", "%s is i32, and is used as i16"),
        ("%s = arith.extsi %n : i32 to i64\n%u = arith.addi %s, %s : i32", "%s is i64, and is used as i32"),
        (
            "%s = arith.cmpi slt, %n, %n : i32\n%u = arith.select %n, %n, %n : i32",
            "%n is i32, and is used as i1",
        ),
        ("%s = arith.addf %x, %n : f32", "%n is i32, and is used as f32"),
        ("%s = memref.load %b[%i] : memref<4xi16>", "%b is memref<4xi32>, and is used as memref<4xi16>"),
        ("%s = memref.load %b[%i] : memref<5xi32>", "%b is memref<4xi32>, and is used as memref<5xi32>"),
        ("%s = memref.load %b[%n] : memref<4xi32>", "%n is i32, and is used as index"),
        ("memref.store %x, %b[%i] : memref<4xi32>", "%x is f32, and is used as i32"),
        ("%s = func.call @f(%b, %x) : (memref<4xi32>, i32) -> i32", "%x is f32, and is used as i32"),
        ("scf.for %k = %i to %n step %i { }", "%n is i32, and is used as index"),
        (
            "%s = memref.load %b[%i] : memref<4xi32>\n%u = arith.addi %s, %s : i8",
            "%s is i32, and is used as i8",
        ),
        ('"memref.store"(%n, %b, %n) : (i32, memref<4xi32>, index) -> ()', "%n is i32, and is used as index"),
        ('%s:3 = "test.two"() : () -> (i32, i32)', "it gives 2 values, and 3 are named"),
        ("aie.use_lock(%b, Release, %none)", "uses the value %none, which nothing around it defines"),
        ("cf.br ^a(%n : i64)\n^a(%v: i64):", "%n is i32, and is used as i64"),
    ],
)
def test_a_value_is_defined_once_before_its_use_and_of_one_type(body: str, says: str) -> None:
    said = refused(body, DECLARED)
    assert all(part in said for part in says.splitlines())


@pytest.mark.parametrize(
    "body",
    [
        f"{LOOP.format('%s = arith.addi %n, %n : i32')}\n{LOOP.format('%s = arith.addi %n, %n : i32')}",
        f"{LOOP.format('')}\n%k = arith.constant 1 : i32",
        "cf.br ^b\n^a:\n%s = arith.addi %l, %n : i32\ncf.br ^b\n^b:\n%l = arith.constant 1 : i32\ncf.br ^a",
        '%s:2 = "test.two"() : () -> (i32, f32)\n%u = arith.addi %s#0, %n : i32\n'
        "%v = arith.addf %s#1, %x : f32",
        "%s = memref.load %b[%i] : !m\nmemref.store %n, %b[%i] : memref<4xi32, 1>",
        "%s = scf.for %k = %i to %i step %i iter_args(%a = %n) -> (i32) { scf.yield %a : i32 }\n"
        "%u = arith.addi %s, %n : i32",
        "%s = arith.cmpi slt, %n, %n : i32\n%u = arith.select %s, %n, %n : i32",
    ],
)
def test_what_mlir_takes_is_taken(body: str) -> None:
    assert refused(f"{body}\n", "!m = memref<4xi32>", DECLARED) == ""


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("%s = func.call @f(%b, %n) : (memref<4xi32>, i32) -> i32", ""),
        ("%s = func.call @f(%b) : (memref<4xi32>) -> i32", "it passes memref<4xi32>, and f takes"),
        (
            "%s = func.call @f(%b, %x) : (memref<4xi32>, f32) -> i32",
            "it passes memref<4xi32>, f32, and f takes",
        ),
        (
            "%s = func.call @f(%n, %b) : (i32, memref<4xi32>) -> i32",
            "and f takes memref<4xi32>, i32 (MLIR language reference). Exchange arguments 0 and 1.",
        ),
        ("func.call @g(%n) : (i32) -> ()", ""),
        ("func.call @g(%i) : (index) -> ()", "it passes index, and g takes i32"),
    ],
)
def test_a_call_has_the_types_of_its_function(call: str, says: str) -> None:
    found = refused(call, DECLARED, "func.func @g(%a: i32) {\n  return\n}")
    assert says in found
    assert bool(found) is bool(says)


@pytest.mark.parametrize(("tile", "step"), [(2, ", or use buffer %near."), (3, ".")])
def test_a_buffer_of_another_type_may_be_another_one_of_its_tile(tile: int, step: str) -> None:
    text = f"""aie.device(npu1) {{
%t2 = aie.tile(0, 2)
%t3 = aie.tile(0, 3)
%b = aie.buffer(%t2) : memref<4xi32>
%near = aie.buffer(%t{tile}) : memref<5xi32>
%other = aie.buffer(%t2) : memref<6xi32>
%c = aie.core(%t2) {{
  %i = arith.constant 1 : index
  %s = memref.load %b[%i] : memref<5xi32>
  aie.end
}}
}}
"""
    with pytest.raises(InputFileError, match="%b is memref<4xi32>, and is used as memref<5xi32>") as caught:
        check_values(read(Text("d.mlir", text)))
    assert [each.next_step for each in caught.value.problems] == [f"Write memref<4xi32>{step}"]
