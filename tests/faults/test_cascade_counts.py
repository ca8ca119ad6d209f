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


def fed(puts: int, gets: int, sent: int) -> list[Finding]:
    """What the text has wrong, of a core that puts what comes and one that sends on what it gets."""
    kind = "!aie.objectfifo<memref<16xi32>>"
    first = f"""aie.objectfifo.acquire @in(Consume, 1) : {kind.replace("<memref", "subview<memref")}
{PUT}
aie.objectfifo.release @in(Consume, 1)"""
    second = f"""aie.objectfifo.acquire @out(Produce, 1) : {kind.replace("<memref", "subview<memref")}
{GET}
aie.objectfifo.release @out(Produce, 1)"""
    sequence = [
        f"aiex.npu.dma_memcpy_nd(%{array}[0, 0, 0, 0][1, 1, 1, {16 * many}][0, 0, 0, 1]) "
        f"{{id = {n} : i64, metadata = @{name}, issue_token = true}} : memref<128xi32>"
        for n, (array, name, many) in enumerate((("a", "in", sent), ("b", "out", gets)))
    ]
    text = device(
        "aie.cascade_flow(%d, %c)",
        f"aie.objectfifo @in(%s, {{%d}}, 2 : i32) : {kind}",
        f"aie.objectfifo @out(%c, {{%s}}, 2 : i32) : {kind}",
        f"aie.core(%d) {{\n{CONSTANTS}{loop(puts, f'%x = {first}')}\naie.end\n}}",
        f"aie.core(%c) {{\n{CONSTANTS}{loop(gets, f'%y = {second}')}\naie.end\n}}",
        "aie.runtime_sequence(%a: memref<128xi32>, %b: memref<128xi32>) {",
        *sequence,
        "aiex.npu.dma_wait {symbol = @out}",
        "}",
    )
    return [each for each in load_still(Text("f.mlir", text)).oddities.findings if each.code == "MT0135"]


def test_the_loop_that_mends_the_object_fifos_of_its_core_too_is_the_one() -> None:
    (one,) = fed(puts=5, gets=6, sent=6)
    assert len(one.sides) == 2
    line = int(one.sides[0].place.split(":")[1]) - 2
    assert one.fix == f"Let the loop of core (0, 3) in line {line} make 6 turns."
    assert fed(puts=6, gets=6, sent=6) == []


def test_where_the_object_fifos_fit_both_loops_may_be_off() -> None:
    (one,) = fed(puts=5, gets=6, sent=5)
    assert " make 6 turns, or the loop of core (0, 2) in line " in one.fix
