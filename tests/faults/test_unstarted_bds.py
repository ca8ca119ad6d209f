"""Is a descriptor named that a host sequence writes and gives to no task?"""

from __future__ import annotations

import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.errors import InputFileError, Problem
from memtile.explain.findings import Finding
from memtile.explain.oddities import Suspect
from memtile.importers.design import load_still
from memtile.importers.mlir.token_packets import Text
from memtile.importers.mlir.unstarted_bds import with_unstarted

BD = "      aiex.npu.writebd {{bd_id = {bd} : i32, column = 0 : i32, row = 0 : i32, valid_bd = 1 : i32, buffer_length = 16 : i32, next_bd = {next} : i32, use_next_bd = {chained} : i32}}\n"  # noqa: E501
PUSH = "      aiex.npu.push_queue (0, 0, {way}:0) bd_id %c{bd} repeat %c0 {{issue_token = true}} : i32, i32\n"
NUMBERS = "".join(f"      %c{n} = arith.constant {n} : i32\n" for n in range(3))


def bd(number: int, following: int | None = None) -> str:
    return BD.format(bd=number, next=following or 0, chained=int(following is not None))


def push(way: str, number: int) -> str:
    return PUSH.format(way=way, bd=number)


def checked(*steps: str, before: str = "") -> list[Finding]:
    text = text_of(*steps, before=before)
    return [*check("host.mlir", lambda: of_mlir(load_still(Text("host.mlir", text)))).findings]


def text_of(*steps: str, before: str = "") -> str:
    """A host that sends 16 words to itself, in a design without tiles of its own."""
    return f"""module {{
  aie.device(npu1_1col) {{
    %host = aie.tile(0, 0)
    aie.flow(%host, DMA : 0, %host, DMA : 0)
{before}    aie.runtime_sequence(%x: memref<16xi32>) {{
{NUMBERS}{"".join(steps)}    }}
  }}
}}
"""


FINE = [bd(0), bd(1), push("S2MM", 0), push("MM2S", 1)]


def unstarted(*steps: str) -> list[Finding]:
    return [each for each in checked(*steps) if each.code == "MT0127"]


def test_a_descriptor_that_is_written_over_is_named_with_the_one_that_was_meant() -> None:
    (found, *others) = checked(bd(0), bd(0), push("S2MM", 0), push("MM2S", 1))
    assert found.message == (
        "The host writes BD 0 of interface(0,0) again at line 10, which line 9 wrote and no task was given; "
        "BD 1, which a task is given, is not written."
    )
    assert found.fix == "Let line 10 write BD 1, or start BD 0."
    assert found.sides[0].place.startswith("host.mlir:10:")
    assert {each.code for each in others}.isdisjoint({"MT0115", "MT0103"})


def lacking(field: str, *steps: str) -> str:
    """An error of a run that lacks memory, as it is for a host with some steps."""
    design = load_still(Text("host.mlir", text_of(*steps)))
    problem = Problem(field, "no array", "one", reason="array_missing", where="memtile run", source="tests")
    assert design.sequence is not None
    return str(with_unstarted(InputFileError(problem), design.configured, design.sequence))


def test_a_run_that_lacks_memory_for_what_is_not_written_says_so() -> None:
    """The descriptor that is written over has lost its address, so that its task reads at 0."""
    over = (bd(0), bd(0), push("S2MM", 0), push("MM2S", 1))
    assert "writes BD 0 of interface(0,0) again at line 10" in lacking("buffer 0x0", *over)
    assert "writes BD" not in lacking("buffer of argument 0", *over)
    assert "writes BD" not in lacking("buffer 0x0", *FINE)


@pytest.mark.parametrize("row", ["row = 0 : i32, ", ""])
def test_a_descriptor_that_is_never_started(row: str) -> None:
    """Texts of 2024 have no row: all descriptors are of interface tiles."""
    (found,) = unstarted(bd(0).replace("row = 0 : i32, ", row), bd(1), push("MM2S", 1))
    assert found.message == "The host writes BD 0 of interface(0,0) at line 9, and no task is given it."
    assert found.fix == "Start a task with BD 0 (npu.push_queue), or leave the write out."


def test_a_start_of_another_descriptor_than_was_written_is_named() -> None:
    found, *_ = unstarted(bd(0), bd(2), push("S2MM", 0), push("MM2S", 1))
    assert found.message == (
        "The host starts BD 1 of interface(0,0) at line 12, which nothing writes, and no task is given BD 2, "
        "which line 10 writes."
    )
    assert found.fix == "Start BD 2 at line 12."
    assert found.sides[0].place.startswith("host.mlir:12:")


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([bd(0), bd(1, 5), bd(2), push("S2MM", 0), push("MM2S", 1)], id="a chain leads there"),
        pytest.param([bd(0), push("S2MM", 0), push("MM2S", 1), bd(1), bd(2)], id="written after its start"),
    ],
)
def test_a_start_of_a_descriptor_that_is_written_is_not_blamed(steps: list[str]) -> None:
    assert not [each for each in unstarted(*steps) if "which nothing writes" in each.message]


DMA = """    %memory = aie.tile(0, 1)
    %kept = aie.buffer(%memory) : memref<16xi32>
    %dma = aie.memtile_dma(%memory) {
      %0 = aie.dma_start(S2MM, 0, ^block, ^end)
    ^block:
      aie.dma_bd(%kept : memref<16xi32>, 0, 16) {bd_id = 0 : i32}
      aie.next_bd ^end
    ^end:
      aie.end
    }
"""


def test_a_descriptor_that_the_text_of_a_tile_configures_is_written() -> None:
    steps = [
        each.replace("row = 0", "row = 1").replace("(0, 0,", "(0, 1,") for each in (bd(1), push("S2MM", 0))
    ]
    assert not [each for each in checked(*steps, before=DMA) if each.code == "MT0127"]


@pytest.mark.parametrize(
    "steps",
    [
        FINE,
        [bd(0), bd(1, 2), bd(2), *FINE[2:]],
        [*FINE, *FINE],
        [bd(0), push("S2MM", 0), bd(0), push("MM2S", 0)],
        [bd(0), bd(1)],
        [
            bd(0),
            bd(1),
            bd(2),
            "      aiex.npu.write32 {address = 118848 : ui32, value = 7 : ui32}\n",
            *FINE[2:],
        ],
    ],
    ids=["fine", "chained", "again", "anew", "elsewhere", "registers"],
)
def test_descriptors_that_tasks_are_given(steps: list[str]) -> None:
    assert not unstarted(*steps)


@pytest.mark.parametrize(("last", "again"), [(1, "itself"), (0, "BD 0 again"), (None, "")])
def test_a_task_whose_chain_has_no_end_sends_no_token(last: int | None, again: str) -> None:
    steps = bd(0, 1), bd(1, last), bd(2), push("S2MM", 0), push("MM2S", 2)
    found = [each for each in checked(*steps) if each.code == "MT0124"]
    assert [each.fix for each in found] == ["End the chain at line 10 (aie.end)."] * bool(again)
    says = f"BD 1 is followed by {again} (line 10, aie.next_bd), so the task of line 12 never ends"
    assert all(says in each.message for each in found)


def test_a_descriptor_that_is_written_for_another_task_before_the_first_one_starts() -> None:
    assert not unstarted(bd(0), push("S2MM", 0), bd(0), push("MM2S", 0))
    other = bd(0).replace("= 16", "= 8")
    (found,) = unstarted(other, bd(0), push("S2MM", 0), push("MM2S", 0))
    assert isinstance(found, Suspect)
    assert not found.waiting
    for steps in (
        [bd(0), bd(0), push("S2MM", 0), push("MM2S", 0)],  # the same words
        [other, bd(0), push("S2MM", 0)],  # set to something first
        [other, bd(0), push("S2MM", 0), other, push("MM2S", 0)],
        [bd(0), push("S2MM", 0), other, bd(0), push("MM2S", 0)],
    ):
        assert not unstarted(*steps)
    assert found.message == (
        "The host writes BD 0 of interface(0,0) again at line 10, before a task is given what line 9 wrote: "
        "that task moves the words of the second write."
    )
    assert found.fix == "Let line 10 write another BD (1 is free), or come after the start of that task."
