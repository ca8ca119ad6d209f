"""Is the core named that makes other turns than those that do the same, where somebody waits for it?"""

from __future__ import annotations

import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding
from memtile.importers.design import load_still
from memtile.importers.kernels.alike_cores import turn_faults
from memtile.importers.kernels.lock_steps import steps_of
from memtile.importers.mlir.token_packets import Text

CORE = """\
    aie.core(%t{row}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %turns = arith.constant {turns} : index
      scf.for %i = %c0 to %turns step %c1 {{
        %x = aie.objectfifo.acquire @in(Consume, {many}) : !aie.objectfifosubview<memref<16xi32>>
        aie.objectfifo.release @in(Consume, {many})
      }}
      aie.end
    }}
"""
TEXT = """\
module {{
  aie.device(npu1_1col) {{
    %host = aie.tile(0, 0)
{tiles}    aie.objectfifo @in(%host, {{{all}}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
{cores}    aie.runtime_sequence(%x: memref<128xi32>) {{
      aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 128][0, 0, 0, 1]) {{id = 0 : i64, metadata = @in, issue_token = true}} : memref<128xi32>
      aiex.npu.dma_wait {{symbol = @in}}
    }}
  }}
}}
"""  # noqa: E501


def text(*turns: int, many: int = 1) -> str:
    """Cores that take objects of one FIFO in so many turns, all but the first ``many`` at once."""
    rows = range(2, 2 + len(turns))
    counts = [1, *[many] * (len(turns) - 1)]
    return TEXT.format(
        tiles="".join(f"    %t{row} = aie.tile(0, {row})\n" for row in rows),
        all=", ".join(f"%t{row}" for row in rows),
        cores="".join(
            CORE.format(row=row, turns=n, many=m) for row, n, m in zip(rows, turns, counts, strict=True)
        ),
    )


def faults(design: str) -> list[Finding]:
    made = load_still(Text("alike.mlir", design)).configured
    texts = {core.tile: steps_of(made.device, core) for core in made.device.cores}
    return [each.finding for each in turn_faults(made, texts)]


def test_a_core_that_makes_fewer_turns_than_all_others() -> None:
    design = text(8, 2, 8)
    (found,) = check("alike.mlir", lambda: of_mlir(load_still(Text("alike.mlir", design)))).findings
    line = design[: design.index("scf.for", design.index("%t3) {"))].count("\n") + 1
    assert found.code == "MT0128"
    assert found.message == (
        f"core (0, 3) makes 2 turns of its loop in line {line}, and core (0, 2) and 1 more core, which do "
        "the same with their locks and object FIFOs, make 8."
    )
    assert found.fix == f"Let the loop of core (0, 3) in line {line} make 8 turns."
    assert found.sides[0].place == f"alike.mlir:{line}"


@pytest.mark.parametrize(
    "design",
    [text(8, 8, 8), text(8, 4), text(8, 4, 2), text(8, 4, 4, 8), text(4, 8, 8, many=2)],
    ids=["all", "two", "three", "two of each", "another text"],
)
def test_cores_whose_turns_say_nothing_about_each_other(design: str) -> None:
    assert not faults(design)


def test_where_nobody_waits_a_core_may_make_more_turns() -> None:
    assert len(faults(text(8, 9, 8))) == 1
    found = check("alike.mlir", lambda: of_mlir(load_still(Text("alike.mlir", text(8, 9, 8))))).findings
    assert "MT0128" not in {each.code for each in found}


def test_a_core_that_ended_is_named_and_not_one_at_another_end_of_its_fifo() -> None:
    two = "%two = arith.constant 2 : index\n      %turns = arith.addi %c0, %two"  # which no text counts
    design = text(8, 2).replace("%turns = arith.constant 2", two)
    (found,) = check("alike.mlir", lambda: of_mlir(load_still(Text("alike.mlir", design)))).findings
    assert found.code == "MT0103"
    assert "and core (0, 3) has ended" in found.message
    assert "core (0, 2)" not in found.message
