"""Is the core named that takes more objects in a turn than come, by what its other streams say?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding
from memtile.importers.design import load, load_still
from memtile.importers.mlir.repairs.candidates import candidates
from memtile.importers.mlir.repairs.text_edits import applied
from memtile.importers.mlir.token_packets import Text

VIEW = "!aie.objectfifosubview<memref<16xi32>>"
ACQUIRE = "%{name} = aie.objectfifo.acquire @{fifo}({port}, {many}) : " + VIEW
ACCESS = "%{name}{at} = aie.objectfifo.subview.access %{name}[{at}] : " + VIEW + " -> memref<16xi32>"
RELEASE = "aie.objectfifo.release @{fifo}({port}, {many})"
LOAD = "%l{name}{at} = memref.load %{name}{at}[%c0] : memref<16xi32>"


def taken(fifo: str, many: int, used: int) -> list[str]:
    """What a turn does at the consumer end of a FIFO, of which it loads some objects."""
    lines = [ACQUIRE.format(name=fifo, fifo=fifo, port="Consume", many=many)]
    lines += [ACCESS.format(name=fifo, at=at) for at in range(many)]
    lines += [LOAD.format(name=fifo, at=at) for at in range(used)]
    return [*lines, RELEASE.format(fifo=fifo, port="Consume", many=many)]


def given(fifo: str, many: int = 1) -> list[str]:
    """What a turn does at the producer end of a FIFO."""
    lines = [ACQUIRE.format(name=fifo, fifo=fifo, port="Produce", many=many)]
    return [*lines, RELEASE.format(fifo=fifo, port="Produce", many=many)]


def core(tile: str, turn: list[str], turns: int) -> str:
    lines = "\n".join(f"          {line}" for line in turn)
    return f"""    aie.core(%{tile}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %many = arith.constant {turns} : index
      %endless = arith.constant 9223372036854775807 : index
      scf.for %e = %c0 to %endless step %c1 {{
        scf.for %i = %c0 to %many step %c1 {{
{lines}
        }}
      }}
      aie.end
    }}
"""


def text(many: int = 2, used: int = 1, gives: int = 1, *, words: int = 128, turns: int = 8) -> str:
    """Two cores take the same objects, and a third one ``many`` results of the second to one of the first.

    Args:
        many: objects that the third core takes of the second one at a time.
        used: of these that it loads.
        gives: objects that the second core gives in a turn.
        words: that the host sends.
        turns: of the first two cores in the inner loop.
    """
    cores = [
        core("a", [*taken("in", 1, 1), *given("left")], turns),
        core("b", [*taken("in", 1, 1), *given("right", gives)], turns),
        core("c", [*given("out"), *taken("left", 1, 1), *taken("right", many, used)], 2),
    ]
    fifos = {"in": "host, {%a, %b}", "left": "a, {%c}", "right": "b, {%c}", "out": "c, {%host}"}
    said = "".join(
        f"    aie.objectfifo @{name}(%{ends}, 4 : i32) : !aie.objectfifo<memref<16xi32>>\n"
        for name, ends in fifos.items()
    )
    move = "aiex.npu.dma_memcpy_nd(%{v}[0, 0, 0, 0][1, 1, 1, {n}][0, 0, 0, 1]) "
    move += "{{id = {k} : i64, metadata = @{f}}}"
    moves = [move.format(v=v, n=n, k=k, f=f) for v, n, k, f in (("y", 128, 1, "out"), ("x", words, 0, "in"))]
    return f"""module {{
  aie.device(npu1_1col) {{
    %host = aie.tile(0, 0)
    %a = aie.tile(0, 2)
    %b = aie.tile(0, 3)
    %c = aie.tile(0, 4)
{said}{"".join(cores)}    aie.runtime_sequence(%x: memref<128xi32>, %y: memref<128xi32>) {{
      {moves[0]} : memref<128xi32>
      {moves[1]} : memref<128xi32>
      aiex.npu.dma_wait {{symbol = @out}}
    }}
  }}
}}
"""


def checked(design: str) -> list[Finding]:
    return list(check("rates.mlir", lambda: of_mlir(load_still(Text("rates.mlir", design)))).findings)


def run(design: str) -> list[Finding]:
    return list(load(Text("rates.mlir", design)).run(np.arange(128, dtype=np.int32)).result.findings)


def test_a_core_that_takes_two_where_one_comes_is_named() -> None:
    design = text()
    line = design[: design.index("acquire @right(Consume")].count("\n") + 1
    for (finding,) in (checked(design), run(design)):
        assert finding.code == "MT0342"
        assert finding.message == (
            f"core (0, 4), line {line}, takes 2 objects of @right at a time, of which it uses 1 at most; by "
            "all other streams 1 comes in the same time (core (0, 3) at the other end)."
        )
        assert finding.fix == "Let core (0, 4) acquire and release 1 of @right at a time."
        assert finding.sides[0].place == f"rates.mlir:{line}"


@pytest.mark.parametrize("turns", [1, 2, 4])
def test_numbers_of_turns_alone_say_nothing(turns: int) -> None:
    assert not checked(text(many=1, used=1, turns=turns))


def test_objects_that_are_left_out_on_purpose_come_as_often() -> None:
    assert not checked(text(many=2, used=1, gives=2))
    found = checked(text(many=2, used=1, gives=2, words=64))
    assert found
    assert "MT0342" not in {each.code for each in found}


def test_of_objects_that_are_used_either_end_may_be_off() -> None:
    found = checked(text(many=2, used=2))
    assert found
    assert "MT0342" not in {each.code for each in found}


def test_a_wait_for_something_else_is_not_of_rates() -> None:
    found = checked(text(many=1, used=0, words=64))
    assert found
    assert "MT0342" not in {each.code for each in found}


def test_a_repair_takes_as_many_as_come() -> None:
    design = Text("rates.mlir", text())
    (finding,) = run(text())
    first = candidates(design, [finding])[0]
    assert first.says.endswith("1 object of @right at a time")
    assert not run(applied(design, first.changes))
