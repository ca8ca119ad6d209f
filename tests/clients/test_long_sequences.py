"""Unrolled host sequences: what check does with them grows with their length, and not with its square."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtile import Array
from memtile.arch.tiles import MEMORY
from memtile.bd.descriptor import Descriptor
from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.check.every_timing import host_reasons
from memtile.check.task_list import GivenTask, HostStep, StaticBd, TaskLog
from memtile.importers.design import load_still

ROUNDS = 40  # more tokens than the way to the host takes at once
WORDS = 64


def copies(rounds: int) -> str:
    """A block that goes to a memory tile and back, again and again, with a wait in each round."""
    memory, steps = f"memref<{WORDS * rounds}xi32>", []
    for number in range(rounds):
        first, bd = WORDS * number, 2 * (number % 4)
        place = f"[0, 0, 0, {first}][1, 1, 1, {WORDS}][0, 0, 0, 1]"
        steps.append(f"aiex.npu.dma_memcpy_nd(%a{place}) {{id = {bd} : i64, metadata = @in}} : {memory}")
        token = f"id = {bd + 1} : i64, metadata = @out, issue_token = true"
        steps.append(f"aiex.npu.dma_memcpy_nd(%b{place}) {{{token}}} : {memory}")
        steps.append("aiex.npu.dma_wait {symbol = @out}")
    fifo = f"!aie.objectfifo<memref<{WORDS}xi32>>"
    return f"""module {{ aie.device(npu1_1col) {{
      %door = aie.tile(0, 0)
      %store = aie.tile(0, 1)
      aie.objectfifo @in(%door, {{%store}}, 2 : i32) : {fifo}
      aie.objectfifo @out(%store, {{%door}}, 2 : i32) : {fifo}
      aie.objectfifo.link [@in] -> [@out] ([] [0])
      aie.runtime_sequence(%a: {memory}, %b: {memory}) {{
        {chr(10).join(steps)}
      }} }} }}"""


def test_a_host_takes_the_tokens_that_it_waits_for(tmp_path: Path) -> None:
    file = tmp_path / "design.mlir"
    file.write_text(copies(ROUNDS))
    result = check(str(file), lambda: of_mlir(load_still(file)))
    assert (result.findings, result.tasks) == ((), 2 * ROUNDS + 2)


class CountedTask(GivenTask):
    """A task that counts how often somebody goes through its descriptors."""

    looked_at = 0

    def __getattribute__(self, name: str):  # type: ignore[no-untyped-def]
        CountedTask.looked_at += name == "bds"
        return super().__getattribute__(name)


def steps_of(token: bool, waits: int, tasks: int = 400) -> tuple[Array, TaskLog]:
    """A host that pushes tasks, of which each second one has BD 0 with other words, and waits sometimes."""
    array = Array("npu1", 1)
    ch, log = array.interface_tile(0).mm2s[0].index, TaskLog(array.engine)
    for number in range(tasks):
        bd = StaticBd(number % 2, Descriptor("interface", 4, 0), None, None, (number,))
        log.tasks.append(CountedTask(ch, [bd], False, 1, token, 0))
        log.note(HostStep(task=number))
        if waits and number % waits == waits - 1:
            log.note(HostStep(ch=ch, many=number + 1, token=token))
    return array, log


def test_the_steps_of_a_host_are_gone_through_once() -> None:
    array, log = steps_of(token=False, waits=0)
    CountedTask.looked_at = 0
    assert len(list(host_reasons(array.engine, log))) == 3  # a full queue, and both BDs
    assert CountedTask.looked_at <= 4 * len(log.tasks)


@pytest.mark.parametrize(
    ("token", "waits", "reasons"),
    [
        (True, 1, 0),
        (True, 3, 3),
        (False, 2, 0),
        (False, MEMORY.queue_depth, 2),
        (False, MEMORY.queue_depth + 1, 3),
    ],
)
def test_a_wait_ends_the_oldest_token_or_so_many_tasks(token: bool, waits: int, reasons: int) -> None:
    array, log = steps_of(token, waits, 40)
    assert len(list(host_reasons(array.engine, log))) == reasons


def test_a_check_reads_a_text_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its devices are named before one of them is checked."""
    from memtile.cli.check import checked
    from memtile.importers import design

    file = tmp_path / "design.mlir"
    file.write_text(copies(1))
    texts, read = list[str](), design.read
    monkeypatch.setattr(design, "read", lambda text: texts.append(text.name) or read(text))
    (result,) = checked([str(file)])
    assert (result.good, texts) == (True, [str(file)])
