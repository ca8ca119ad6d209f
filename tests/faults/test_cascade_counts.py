"""Are the two cores of a cascade named with what they put and get, where these numbers differ?"""

from __future__ import annotations

import pytest

from memtile.explain.findings import Finding
from memtile.explain.oddities import Suspect
from memtile.importers.design import load_still
from memtile.importers.kernels.cascade_counts import cascade_findings
from memtile.importers.mlir.token_packets import Text
from support.mlir.mlir_designs import device

CONSTANTS = "".join(f"%k{n} = arith.constant {n} : index\n" for n in range(9))
CONSTANTS += (
    "%k9 = arith.constant 9223372036854775807 : index\n%v = arith.constant dense<0> : vector<16xi32>\n"
)
PUT = "aie.put_cascade(%v : vector<16xi32>)"
GET = "%w = aie.get_cascade() : vector<16xi32>"


def loop(turns: int, body: str) -> str:
    return f"scf.for %i{turns} = %k0 to %k{turns} step %k1 {{\n{body}\n}}"


def found(puts: str, gets: str) -> list[Finding]:
    cores = (f"aie.core(%{t}) {{\n{CONSTANTS}{body}\naie.end\n}}" for t, body in (("d", puts), ("c", gets)))
    text = device("aie.cascade_flow(%d, %c)", *cores)
    return [*cascade_findings(load_still(Text("c.mlir", text)).configured)]


def test_both_numbers_and_the_turns_that_would_fit_are_named() -> None:
    (one,) = found(loop(4, loop(7, PUT)), loop(4, loop(8, GET)))
    assert isinstance(one, Suspect)
    assert one.waiting == (("core (0, 3)", "core (0, 2)"),)
    lines = [int(side.place.split(":")[1]) for side in one.sides]
    assert one.message == (
        f"core (0, 3) puts 28 values on the cascade (line {lines[0]}), "
        f"and core (0, 2) gets 32 (line {lines[1]})."
    )
    assert one.fix == (
        f"Let the loop of core (0, 3) in line {lines[0] - 1} make 8 turns, or the loop of core (0, 2) in "
        f"line {lines[1] - 1} make 7 turns."
    )


@pytest.mark.parametrize(
    ("puts", "gets", "many"),
    [
        (loop(4, loop(8, PUT)), loop(8, loop(4, GET)), 0),
        (loop(9, loop(3, PUT)), loop(9, loop(6, GET)), 0),  # a round of one may be two of the other
        (loop(9, loop(4, PUT)), loop(9, loop(6, GET)), 0),  # and three of one two of the other
        (loop(9, loop(3, PUT)), loop(4, GET), 0),
    ],
)
def test_cores_that_go_on_for_ever_may_have_rounds_of_other_sizes(puts: str, gets: str, many: int) -> None:
    assert len(found(puts, gets)) == many
