"""Do results in Python give their record, report and timeline, and answer what limits them?"""

from __future__ import annotations

import copy
import gc
import json
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import memtile
from memtile import Array, DesignError, Result
from memtile.programs import Given, read_program, run_program

CORPUS = Path(__file__).parents[1] / "corpus"
DESIGN = CORPUS / "acquire-in-a-loop-fine.mlir"
TRANSACTION = Path(__file__).parents[1] / "oracle" / "txn" / "scn_transpose_8x16.bin"
NUMBERS = np.arange(64, dtype=np.int32)


def passing(words: int = 64) -> Array:
    array = Array("npu1", 1)
    memory, compute = array.memory_tile(0), array.compute_tile(0, 2)
    source, target = memory.buffer("source", words, data=np.arange(words)), compute.buffer("target", words)
    array.connect(memory.mm2s[0], compute.s2mm[0])
    memory.mm2s[0].start(memory.read(source))
    compute.s2mm[0].start(compute.write(target))
    compute.expect(target, np.arange(words))
    return array


def in_python(*, history: bool) -> tuple[Result, object]:
    array = passing()
    return array.run(history=history), array


def in_a_tile(*, history: bool) -> tuple[Result, object]:
    tile = memtile.MemoryTile()
    block = tile.buffer("block", 16)
    tile.s2mm[0].start(tile.write(block))
    tile.s2mm[0].feed(NUMBERS[:16])
    tile.expect(block, NUMBERS[:16])
    return tile.run(history=history), tile


def by_function(*, history: bool) -> tuple[Result, object]:
    return memtile.run(passing, history=history), None


def in_mlir(*, history: bool) -> tuple[Result, object]:
    design = memtile.load(DESIGN)
    return design.run(NUMBERS, history=history).result, design


def as_program(*, history: bool) -> tuple[Result, object]:
    array, given = Array("npu1"), Given("0x100000000", np.arange(128, dtype=np.int32))
    operations = read_program(TRANSACTION.read_bytes(), str(TRANSACTION)).operations
    return run_program(operations, array, [given], history=history).result, array


KINDS = pytest.mark.parametrize("kind", [in_python, in_a_tile, by_function, in_mlir, as_program])


@KINDS
def test_a_result_with_its_history_writes_report_and_timeline(
    kind: Callable[..., tuple[Result, object]], tmp_path: Path
) -> None:
    result, _ = kind(history=True)
    result.report(tmp_path / "run.html", title="a run")
    result.report(str(tmp_path / "run.txt"))
    result.perfetto(tmp_path / "run.json")
    assert "a run" in (tmp_path / "run.html").read_text("utf-8")
    moved = [use.name for use in result.channels if use.words]
    lines = (tmp_path / "run.txt").read_text("utf-8").splitlines()
    assert all(any(line[0].isdigit() and name in line for line in lines if line) for name in moved)
    assert json.loads((tmp_path / "run.json").read_text())
    assert result == kind(history=False)[0]


@KINDS
def test_a_result_gives_its_record_as_long_as_somebody_has_the_model(
    kind: Callable[..., tuple[Result, object]],
) -> None:
    result, _owner = kind(history=False)
    gc.collect()
    found = result.record(inputs={"a": "0"})
    assert found["verdict"] == ("pass" if result.checks else "unknown")
    assert found["provenance"]["inputs"] == {"a": "0"}
    noted = kind(history=True)[0].record(inputs={"a": "0"})
    for record in (found, noted):
        del record["result"]["fast_forward"]  # a run whose history is noted is not jumped over
    assert found == noted
    with pytest.raises(DesignError, match=r"the run recorded no history.*Run with history=True"):
        result.report("run.html")
    with pytest.raises(DesignError, match="the run recorded no history"):
        result.perfetto("run.json")


def test_a_model_that_has_run_on_is_not_taken_for_what_it_was(tmp_path: Path) -> None:
    array = passing()
    result = array.run(history=True)
    array.engine.wait(10)
    for ask in (result.record, lambda: result.report(tmp_path / "run.html")):
        with pytest.raises(DesignError, match="the model has run on since"):
            ask()


def test_a_copy_of_a_result_has_no_model() -> None:
    result, _array = in_python(history=True)
    for other in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert other == result
        with pytest.raises(DesignError, match="the model of the run no longer exists"):
            other.record()


def test_a_model_that_nobody_has_is_gone() -> None:
    (many,) = memtile.run_many([passing], threads=1)
    alone, array = in_python(history=False)
    del array
    gc.collect()
    for result in (many, alone):
        with pytest.raises(DesignError, match="the model of the run no longer exists"):
            result.record()
    assert memtile.run_many([passing], threads=1, history=True)[0].record()["verdict"] == "pass"


def test_an_untimed_run_has_no_history() -> None:
    with pytest.raises(DesignError, match="an untimed run has no history"):
        passing().run(untimed=True, history=True)


RUNS = [
    lambda: passing().run(),
    lambda: memtile.load(DESIGN).run(NUMBERS),
]


@pytest.mark.parametrize("run", RUNS, ids=["python", "mlir"])
def test_sensitivity_and_bottleneck_of_whatever_can_be_made_anew(run: Callable[[], Result]) -> None:
    sure = memtile.sensitivity(run)
    assert sure.band is not None
    assert sure.band.low <= sure.cycles <= sure.band.high
    assert {ends.name for ends in sure.band.constants} == {text.split(" = ")[0] for text in sure.assumed}
    slow = memtile.bottleneck(run)
    assert slow.bound is not None
    assert slow.bound.cycles <= slow.cycles == sure.cycles
    assert slow.limit is not None
    assert slow.limit.resource in {each.resource for each in slow.lifted}
