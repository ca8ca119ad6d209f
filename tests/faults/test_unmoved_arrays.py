"""Is an array that a host never moves named where another one of its type is moved twice?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding, Severity
from memtile.importers.design import load, load_still
from memtile.importers.mlir.repairs.text_edits import applied
from memtile.importers.mlir.token_packets import Text
from memtile.importers.unmoved_arrays import unmoved_array_findings

TAKES = """module {{ aie.device(npu1_1col) {{
%shim = aie.tile(0, 0)
%core = aie.tile(0, 2)
aie.objectfifo @one(%shim, {{%core}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
aie.objectfifo @two(%shim, {{%core}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
aie.objectfifo @less(%core, {{%shim}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
aie.core(%core) {{
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c16 = arith.constant 16 : index
%s = aie.objectfifo.acquire @one(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
%x = aie.objectfifo.subview.access %s[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
%t = aie.objectfifo.acquire @two(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
%y = aie.objectfifo.subview.access %t[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
%u = aie.objectfifo.acquire @less(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
%z = aie.objectfifo.subview.access %u[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
scf.for %i = %c0 to %c16 step %c1 {{
%p = memref.load %x[%i] : memref<16xi32>
%q = memref.load %y[%i] : memref<16xi32>
%r = arith.subi %p, %q : i32
memref.store %r, %z[%i] : memref<16xi32>
}}
aie.objectfifo.release @one(Consume, 1)
aie.objectfifo.release @two(Consume, 1)
aie.objectfifo.release @less(Produce, 1)
aie.end
}}
aie.runtime_sequence(%a: memref<{a}xi32>, %b: memref<{b}xi32>, %c: memref<16xi32>) {{
aiex.npu.dma_memcpy_nd(%{to_c}[0, 0, 0, 0]{WHOLE}) {{id = 0 : i64, metadata = @less}} : memref<16xi32>
aiex.npu.dma_memcpy_nd(%{one}[0, 0, 0, 0]{WHOLE}) {{id = 1 : i64, metadata = @one}} : memref<{a}xi32>
aiex.npu.dma_memcpy_nd(%{two}[0, 0, 0, {at}]{WHOLE}) {{id = 2 : i64, metadata = @two}} : memref<{x}xi32>
aiex.npu.dma_wait {{symbol = @less}}
}}
}} }}"""
"""Of two arrays the first one less the second one."""
WHOLE = "[1, 1, 1, 16][0, 0, 0, 1]"


def text(one: str = "a", two: str = "b", to_c: str = "c", *, a: int = 16, b: int = 16, at: int = 0) -> Text:
    return Text(
        "d.mlir",
        TAKES.format(WHOLE=WHOLE, one=one, two=two, to_c=to_c, a=a, b=b, x=a if two == "a" else b, at=at),
    )


def found(made: Text) -> list[Finding]:
    design = load_still(made)
    return [each for each in check("d.mlir", lambda: of_mlir(design)).findings if each.code == "MT0144"]


def test_an_array_that_two_object_fifos_get_while_another_is_left_is_named() -> None:
    (one,) = found(text(two="a"))
    assert one.severity is Severity.WARNING
    assert one.message == (
        "The host never moves argument 1 (%b); interface(0,0) MM2S 0 'one' (line 30) and "
        "interface(0,0) MM2S 1 'two' (line 31) both read the same elements of argument 0."
    )
    assert one.fix == "Give one of these two transfers argument 1 (%b)."
    assert [side.place.split(":")[1] for side in one.sides] == ["30", "31"]


def of_sequence(used: Collection[int] = (), **changes: Any) -> int:
    """How many arrays are named in a host sequence with changes, which moves some by number."""
    sequence = load_still(text(two="a")).sequence
    assert sequence is not None
    return len([*unmoved_array_findings(replace(sequence, **changes), lambda: used)])


def test_an_array_that_a_patched_address_moves_is_not_named() -> None:
    assert of_sequence() == 1
    assert of_sequence({1}) == 0


def test_what_is_not_known_or_may_be_one_of_several_is_not_named() -> None:
    sequence = load_still(text(two="a")).sequence
    assert sequence is not None
    assert of_sequence(is_open=True) == 0
    again = [replace(each, key=2) for each in sequence.moves if not each.writes]
    assert of_sequence(moves=[*sequence.moves, *again]) == 0
    assert of_sequence(arguments=[replace(each, shape=()) for each in sequence.arguments]) == 0
    columns = [replace(each, who=each.who.replace("(0,0) MM2S 1", "(1,0) MM2S 1")) for each in sequence.moves]
    assert of_sequence(moves=columns) == 0


@pytest.mark.parametrize(
    "made",
    [
        text(),
        text(two="a", b=32),  # of another type
        text(two="a", a=32, b=32, at=16),  # other elements
        text("b", "a"),
        text(to_c="a"),  # results in the array that was read
    ],
)
def test_what_may_be_meant_is_not_named(made: Text) -> None:
    assert found(made) == []


def test_the_array_that_nothing_moves_is_the_repair_of_wrong_words() -> None:
    words = np.arange(32, dtype=np.int32).reshape(2, 16) ** 2
    broken = text(two="a")
    room = np.zeros(16, np.int32)
    done = load(broken).run(*words, room, check=True).against({"2": words[0] - words[1]})
    said = [(each.code, each.severity) for each in done.result.findings]
    assert said[0] == ("MT0403", Severity.ERROR)  # only a change that was tried shows that it is not meant
    assert said[-1] == ("MT0144", Severity.WARNING)
    tried = load(broken).repairs(*words, room, expected={"2": words[0] - words[1]})
    assert tried.best is not None
    assert tried.best.says == "line 31: two moves %b, which nothing moves, instead of %a"
    assert applied(broken, tried.best.changes) == TAKES.format(
        WHOLE=WHOLE, one="a", two="b", to_c="c", a=16, b=16, x=16, at=0
    )
