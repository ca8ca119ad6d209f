"""Does every text with small mistakes give a result or a named error, and never a traceback?

Hundreds of them here, of the project's own texts; with ``--designs PATH --mutants 10000``
``tests/outside/test_mutated.py`` does as many as one likes of the files below a path.
"""

from __future__ import annotations

import pytest

from support.mlir.mlir_texts import CALL, PASSTHROUGH
from support.mutated.mutated_runs import BAD, ended, run_text, table
from support.mutated.mutated_texts import mutated

MANY = 150  # of each text
BODY = CALL.replace(
    "func.call @work(%x, %y) : (memref<16xi32>, memref<16xi32>) -> ()",
    """%c16 = arith.constant 16 : index
        %two = arith.constant 2 : i32
        scf.for %j = %c0 to %c16 step %c1 {
          %v = memref.load %x[%j] : memref<16xi32>
          %q = arith.divsi %v, %two : i32
          %w = arith.muli %q, %v : i32
          memref.store %w, %y[%j] : memref<16xi32>
        }""",
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("text", [PASSTHROUGH, BODY], ids=["passthrough", "body"])
def test_mistakes_are_told(text: str) -> None:
    assert run_text("d.mlir", text) == "finished"
    found = [ended(n, lambda n=n: run_text("d.mlir", mutated(text, n))) for n in range(MANY)]  # type: ignore[misc]
    assert [each.text for each in found if each.kind in BAD] == [], table(found)
    assert {"result", "error"} == {each.kind for each in found}


def test_the_same_number_makes_the_same_mistakes() -> None:
    assert mutated(BODY, 7) == mutated(BODY, 7) != mutated(BODY, 8)
