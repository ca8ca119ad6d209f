"""Does a loop take as long in lowered text as it took as scf.for?"""

from __future__ import annotations

import pytest

from memtile.model.state.causes import CoreCause
from support.mlir.mlir_designs import device, host, loaded

_BUFFER = '%buf = aie.buffer(%c) {sym_name = "b"} : memref<16xi32>'
_NUMBERS = """
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %n = arith.constant 5 : index
  %many = arith.constant 16 : index
  %k = arith.constant 3 : i32
"""
_STRUCTURED = """
  scf.for %t = %z to %n step %o {
    scf.for %i = %z to %many step %o {
      memref.store %k, %buf[%i] : memref<16xi32>
    }
  }
  aie.end
"""
_LOWERED = """
  cf.br ^outer(%z : index)
^outer(%t: index):
  %0 = arith.cmpi slt, %t, %n : index
  cf.cond_br %0, ^begin, ^done
^begin:
  cf.br ^inner(%z : index)
^inner(%i: index):
  %1 = arith.cmpi slt, %i, %many : index
  cf.cond_br %1, ^body, ^next
^body:
  memref.store %k, %buf[%i] : memref<16xi32>
  %2 = arith.addi %i, %o : index
  cf.br ^inner(%2 : index)
^next:
  %3 = arith.addi %t, %o : index
  cf.br ^outer(%3 : index)
^done:
  aie.end
"""
_CHOICE = """
  %0 = arith.cmpi slt, %z, %n : index
  cf.cond_br %0, ^one, ^one
^one:
  %1 = arith.addi %z, %o : index
  cf.br ^two
^two:
  aie.end
"""


def _running(body: str) -> int:
    """Cycles in which the core computes."""
    done = loaded(device(_BUFFER, f"aie.core(%c) {{ {_NUMBERS} {body} }}", host())).run()
    return done.result.cores[0].spent[CoreCause.RUNNING]


@pytest.mark.parametrize("body", [_STRUCTURED, _LOWERED])
def test_loops_take_their_turns_in_either_spelling(body: str) -> None:
    """Five turns of sixteen: a cycle to begin each of the six loops, two cycles a turn, one a store."""
    assert _running(body) == 1 + 5 * (2 + 1 + 16 * (2 + 1))


def test_branches_that_make_no_loop_keep_their_costs() -> None:
    """A comparison and a sum of one cycle, two branches of two."""
    assert _running(_CHOICE) == 1 + 2 + 1 + 2
