"""Do other schedules of a run find what depends on luck, and leave the rest as it is?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import memtile
from memtile import MemoryTile
from memtile.cli.main import app
from support.designs.ordered_designs import ordered
from support.designs.severe import severe

WORDS = 64


def last_writer(locks: bool = False) -> MemoryTile:
    """Two channels write a buffer, the second one later in the usual schedule."""
    tile = MemoryTile()
    block, second = tile.buffer("block", WORDS, np.int32), tile.lock(0, "second")
    first = tile.write(block).guarded(None, second.release()) if locks else tile.write(block)
    then = tile.write(block).guarded(second.acquire(), None) if locks else tile.write(block)
    tile.s2mm[0].start(first)
    tile.s2mm[0].feed(np.zeros(WORDS, np.int32))
    tile.s2mm[1].start(then)
    tile.s2mm[1].feed(np.ones(WORDS, np.int32), pattern=[1, 0])
    tile.expect(block, np.ones(WORDS, np.int32))
    return tile


def test_words_that_hang_on_who_is_first_differ_between_schedules() -> None:
    result = memtile.run(last_writer, check=True, schedules=8)
    codes = {finding.code: finding for finding in severe(result.findings)}
    assert codes.keys() == {"MT0202", "MT0206"}
    assert codes["MT0206"].words[0].memory == "buffer block"
    assert result.exact


def test_what_is_ordered_is_the_same_in_all_schedules() -> None:
    result = memtile.run(last_writer, set={"locks": True}, schedules=8)
    assert severe(result.findings) == ()
    assert result.good


@pytest.mark.parametrize("seed", [0, 2, 3, 4])
def test_ordered_designs_have_no_finding_in_any_schedule(seed: int) -> None:
    assert severe(memtile.run(lambda: ordered(seed), schedules=5).findings) == ()


def test_the_usual_schedule_is_what_it_was() -> None:
    once, checked = memtile.run(last_writer), memtile.run(last_writer, schedules=2)
    assert (once.cycles, once.timing) == (checked.cycles, checked.timing)
    assert memtile.run(last_writer).cycles == once.cycles


DESIGN = """
import numpy as np
from memtile import MemoryTile

def design():
    tile = MemoryTile()
    block = tile.buffer("block", 64, np.int32)
    for n in (0, 1):
        tile.s2mm[n].start(tile.write(block))
        tile.s2mm[n].feed(np.full(64, n, np.int32), pattern=[1, 0] if n else None)
    tile.expect(block, np.ones(64, np.int32))
    return tile
"""


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["run", "--json", *arguments])


def test_the_command_runs_more_schedules(tmp_path: Path) -> None:
    file = tmp_path / "design.py"
    file.write_text(DESIGN)
    done = run("--check", "--schedules", "8", str(file))
    assert done.exit_code == 1
    assert {each["code"] for each in severe(json.loads(done.stdout)["findings"])} == {"MT0202", "MT0206"}


TEXT = Path(__file__).parents[1] / "corpus" / "acquire-of-three-fine.mlir"


def test_an_mlir_design_is_run_in_more_schedules() -> None:
    numbers = TEXT.with_name("numbers.npy")
    done = run("--schedules", "2", "--pad-arguments", "--in", f"0={numbers}", str(TEXT))
    assert done.exit_code == 0, done.stderr
    assert severe(json.loads(done.stdout)["findings"]) == ()
