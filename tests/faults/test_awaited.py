"""A result that no wait is for: decided by the text of the host sequence, before a run and in one alike."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding, Severity
from memtile.importers.design import load, load_still
from memtile.iron.program_design import ProgramDesign
from memtile.runs.awaited import PushedTasks

HEAD = """module {
  aie.device(npu1_1col) {
    %door = aie.tile(0, 0)
    %store = aie.tile(0, 1)
    aie.objectfifo @left(%door, {%store}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @right(%door, {%store}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @one(%store, {%door}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @other(%store, {%door}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo.link [@left] -> [@one] ([] [])
    aie.objectfifo.link [@right] -> [@other] ([] [])
    aie.runtime_sequence(%there : memref<256xi32>, %back : memref<256xi32>, %too : memref<256xi32>) {
"""
FIRST = HEAD.count("\n") + 1  # line of the first step


def copied(array: str, fifo: str, number: int, words: int = 256, *, token: bool = True) -> str:
    return (
        f"aiex.npu.dma_memcpy_nd({array}[0, 0, 0, 0][1, 1, 1, {words}][0, 0, 0, 1]) "
        f"{{metadata = @{fifo}, id = {number} : i64, issue_token = {str(token).lower()}}} : memref<256xi32>"
    )


STEPS = {
    "one": copied("%back", "one", 0),
    "half of one": copied("%back", "one", 0, 128),
    "rest of one": copied("%back", "one", 4, 128),
    "rest without token": copied("%back", "one", 4, 128, token=False),
    "other": copied("%too", "other", 1),
    "left": copied("%there", "left", 2),
    "right": copied("%there", "right", 3),
    **{f"wait {name}": f"aiex.npu.dma_wait {{symbol = @{name}}}" for name in ("one", "other", "left")},
}


def text(steps: tuple[str, ...]) -> str:
    body = "".join(f"      {STEPS[step]}\n" for step in steps)
    return f"{HEAD}{body}    }}\n  }}\n}}\n"


def before_and_in_a_run(tmp_path: Path, *steps: str) -> list[list[Finding]]:
    """The findings about results that are not waited for: of a check, and of a run."""
    file = tmp_path / "design.mlir"
    file.write_text(text(steps))
    arrays = [np.arange(256, dtype=np.int32) for _ in range(3)]
    found = (
        check(str(file), lambda: of_mlir(load_still(file))).findings,
        load(file).run(*arrays, check=True).result.findings,
    )
    return [[each for each in part if each.code in ("MT0116", "MT0318")] for part in found]


@pytest.mark.parametrize(
    ("steps", "severity", "line"),
    [
        (("one", "other", "left", "right"), Severity.ERROR, 0),  # nothing is waited for
        (("one", "other", "left", "right", "wait other"), Severity.WARNING, 0),
        (("one", "other", "left", "right", "wait other", "wait left"), Severity.WARNING, 0),
        (("other", "half of one", "rest of one", "left", "right", "wait one", "wait other"),
         Severity.WARNING, 2),
        (("other", "half of one", "rest without token", "left", "right", "wait one", "wait other"),
         Severity.WARNING, 2),
    ],
)  # fmt: skip
def test_a_result_without_a_wait_is_found_by_the_line_of_its_task(
    tmp_path: Path, steps: tuple[str, ...], severity: Severity, line: int
) -> None:
    for found in before_and_in_a_run(tmp_path, *steps):
        first = next(each for each in found if "'one'" in each.message)
        assert first.severity is severity
        assert f"the task of line {FIRST + line} on interface(0,0) S2MM 0 'one'" in first.message
        assert f"design.mlir:{FIRST + line}:7" in first.sides[0].place
        if first.code == "MT0318":
            assert re.match(r"The host ended in cycle \d+ (while|without a wait for) the task", first.message)


@pytest.mark.parametrize(
    "steps",
    [
        ("one", "other", "left", "right", "wait one", "wait other"),
        ("one", "other", "left", "right", "wait other", "wait one"),
        ("other", "half of one", "rest of one", "left", "right", "wait one", "wait one", "wait other"),
        ("one", "left", "wait one", "other", "right", "wait other"),
    ],
)
def test_results_that_are_all_waited_for_have_no_finding(tmp_path: Path, steps: tuple[str, ...]) -> None:
    assert before_and_in_a_run(tmp_path, *steps) == [[], []]


def test_each_token_is_of_one_task_in_order() -> None:
    tasks = PushedTasks()
    for token in (False, True, False, True, False):
        tasks.push(token=token)
    assert [tasks.ended(many) for many in (1, 2, 3)] == [2, 4, 5]
    assert [tasks.ended(many, by_token=False) for many in (1, 3, 9)] == [1, 3, 5]
    assert PushedTasks().ended(1) == 0


PROGRAM = """import numpy as np
import aie.iron as iron
from aie.iron import ObjectFifo, Program, Runtime, Worker

LINE = np.ndarray[(16,), np.dtype[np.int32]]

@iron.jit
def design(x: iron.In, y: iron.Out):
    fifo = ObjectFifo(LINE, name="y")

    def fills(out):
        out.acquire(1)
        out.release(1)

    def sequence(x, y, out):
        out.drain(y, wait={wait})

    worker = Worker(fills, [fifo.prod()], while_true=False)
    runtime = Runtime(sequence, [LINE, LINE, fifo.cons()])
    return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()

design(iron.zeros(16, dtype=np.int32), iron.zeros(16, dtype=np.int32))
"""


@pytest.mark.parametrize(("wait", "codes"), [(True, []), (False, ["MT0318"])])
def test_a_program_of_iron_that_does_not_wait_for_its_result(
    tmp_path: Path, wait: bool, codes: list[str]
) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM.format(wait=wait))
    found = ProgramDesign(str(file))().run().findings
    assert [each.code for each in found] == codes
    assert all("the task of line 16 on" in each.message for each in found)
