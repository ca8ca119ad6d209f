"""Is a value that nothing defines told where it is used, and every other use taken?"""

from __future__ import annotations

import re

import pytest

from memtile.errors import InputFileError
from memtile.importers.design import load
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.references import check_uses
from memtile.importers.mlir.token_packets import Text

DEFINED = """
aie.device(npu1) {
func.func private @declared(%in: i32, %out: i32)
func.func @body(%n: index) -> index {
  %0:2 = "test.two"() : () -> (i32, i32)
  %c = arith.constant 1 : index
  cf.br ^bb1(%c : index)
^bb1(%1: index):
  %sum = scf.for %i = %c to %n step %c iter_args(%s = %1) -> (index) {
    "test.uses"(%0#1, %i, %s, %later) : (i32, index, index, index) -> ()
    scf.yield %s : index
  }
  %later = arith.addi %sum, %c : index
  return %later : index
}
}
"""


def test_what_is_defined_around_an_operation_may_be_used() -> None:
    check_uses(read(Text("f.mlir", DEFINED)))


@pytest.mark.parametrize("name", ["%c", "%n", "%0#1", "%i", "%s", "%1", "%sum", "%later"])
def test_each_use_is_looked_at(name: str) -> None:
    *_, last = re.finditer(rf"{name}\b", DEFINED)
    text = f"{DEFINED[: last.start()]}%gone{DEFINED[last.end() :]}"
    with pytest.raises(InputFileError, match="uses the value %gone, which nothing around it defines"):
        check_uses(read(Text("f.mlir", text)))


def test_a_value_of_another_region_is_not_there() -> None:
    one = "func.func @a(%x: i32) {\n  return\n}"
    text = f"aie.device(npu1) {{\n{one}\nfunc.func @b() {{\n  return %x : i32\n}}\n}}\n"
    with pytest.raises(InputFileError, match=r"f.mlir:6:10: return uses the value %x"):
        check_uses(read(Text("f.mlir", text)))


def test_a_design_with_a_wrong_name_says_where() -> None:
    text = "aie.device(npu1) {\n  %t = aie.tile(0, 1)\n  %b = aie.buffer(%tile) : memref<4xi32>\n}\n"
    with pytest.raises(InputFileError) as caught:
        load(Text("d.mlir", text))
    assert str(caught.value).startswith(
        "d.mlir:3:19: aie.buffer uses the value %tile, which nothing around it"
    )
