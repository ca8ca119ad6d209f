"""Which numbers and which walks do the short forms of mlir-aie's prints stand for?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.arch.devices import device
from memtile.importers.mlir.description import Level
from memtile.importers.mlir.descriptors import dims
from memtile.importers.mlir.forms.dense_constants import array_of
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.sequence.runtime_values import hidden_numbers, is_rolled, runtime_values
from memtile.importers.mlir.token_packets import Text
from memtile.importers.mlir.types import Shaped


def _form() -> OperationForm:
    (block,) = read(Text("t.mlir", "aie.device(npu1) {\n}")).blocks
    return OperationForm(block.operations[0])


@pytest.mark.parametrize(
    ("element", "value", "number"),
    [
        ("bf16", 0xFF80, -np.inf),
        ("bf16", 0x3FC0, 1.5),
        ("f16", 0x7C00, np.inf),
        ("f32", 0xFF800000, -np.inf),
        ("f32", 3, 3.0),
        ("bf16", 2.5, 2.5),
    ],
)
def test_whole_numbers_of_floats_are_their_bits(element: str, value: float, number: float) -> None:
    """MLIR prints infinities and NaNs as bits: ``dense<[0xFF80]> : tensor<1xbf16>``."""
    made = array_of(_form(), [value], Shaped((2,), element), 64)
    assert made.astype(np.float64).tolist() == [number, number]


@pytest.mark.parametrize(
    ("levels", "is_linear"),
    [
        ([(32, 32), (32, 1), (1, 32), (1, 1)], True),  # mlir-aie's GEMM over a cascade
        ([(1, 2), (1, 1)], True),  # its maximum over a memory tile
        ([(32, 64), (32, 1), (1, 32), (1, 1)], False),
        ([(4, 2), (1, 1)], False),
    ],
)
def test_an_innermost_run_below_a_word_is_a_walk_in_order_or_refused(
    levels: list[tuple[int, int]], is_linear: bool
) -> None:
    given = [Level(*each) for each in levels]
    kind = device("npu1").kind("memory")
    if is_linear:
        assert dims(_form(), given, 2, kind) == ()
    else:
        with pytest.raises(Exception, match="its innermost size is 2 bytes; a DMA moves whole 32-bit words"):
            dims(_form(), given, 2, kind)


_SEQUENCE = """aie.device(npu2_1col) {
  aie.runtime_sequence(%a: memref<64xi32>, %n: i32, %b: i1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %i = arith.index_cast %n : i32 to index
    %s = arith.addi %i, %c1 : index
    %k = arith.addi %c1, %c1 : index
    %h = arith.addi %c1, %c0 : index
    %r = scf.for %j = %c0 to %i step %c1 iter_args(%x = %c0) -> (index) {
      %y = arith.addi %x, %c1 : index
      scf.yield %y : index
    }
    %q = scf.for %l = %c0 to %k step %c1 iter_args(%z = %c0) -> (index) {
      %w = arith.addi %l, %c1 : index
      scf.yield %c0 : index
    }
    %u = scf.if %b -> (index) {
      scf.yield %s : index
    } else {
      scf.yield %c0 : index
    }
    %o:2 = scf.for %m = %c0 to %c1 step %c1 iter_args(%d = %c1, %e = %c1) -> (index, index) {
      %g = arith.addi %d, %c1 : index
      scf.for %v = %c0 to %d step %c1 {
      }
      scf.yield %h, %g : index, index
    }
  }
}"""


@pytest.mark.parametrize(
    ("arguments", "values", "rolled"),
    [
        (["%n"], "n i s r j x y u", True),
        (["%b"], "b u", True),
        (["%k"], "k q l z w", True),
        (["%s"], "s u", False),
        (["%h"], "h o o#0 o#1 d g v e", True),  # what a turn leaves to the next one
        ([], "", False),
    ],
)
def test_values_that_depend_on_a_number_of_the_host(arguments: list[str], values: str, rolled: bool) -> None:
    """As mlir-aie's compiler takes them: turns of a loop, what it hands on, and what a branch gives."""
    (block,) = read(Text("d.mlir", _SEQUENCE)).blocks
    sequence = next(each for each in block.operations[0].walk() if each.name == "aie.runtime_sequence")
    found = runtime_values(sequence, arguments)
    assert found == {f"%{name}" for name in values.split()}
    assert is_rolled(sequence, found) == rolled
    hidden = [number for _, number in hidden_numbers(sorted(found))]
    assert len({*hidden}) == len(found)
    assert all(number > 1 << 32 for number in hidden)
