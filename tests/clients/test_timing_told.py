"""Do results say which timing constants were changed, and does ``memtile info`` list them all?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import memtile
from memtile import Array, MemoryTile, Timing
from memtile.arch.timing import changed, chosen_timing, constants, sets
from memtile.cli.main import app
from memtile.errors import InputFileError
from support.driver.simulator_client import serving

DESIGN = """
import numpy as np
from memtile import MemoryTile, Timing

def design():
    tile = MemoryTile(timing=Timing(task_start=9, memory_egress_words=12))
    tile.mm2s[0].start(tile.read(tile.buffer("x", 64)))
    tile.mm2s[0].expect(np.zeros(64, np.int32))
    return tile
"""


def printed(*arguments: object) -> str:
    ran = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert ran.exit_code == 0, ran.stderr
    return str(ran.stdout)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(DESIGN)
    return tmp_path / "own.py"


def test_a_result_names_what_is_not_the_default(file: Path) -> None:
    """Whether the design changed it or the command line did; one that was put back is not named."""
    said = json.loads(printed("run", file, "--json", "--timing", "task_start=4", "--timing", "core_lock=2"))
    assert said["timing"] == [
        {"name": "memory_egress_words", "value": 12, "default": 8},
        {"name": "core_lock", "value": 2, "default": 1},
    ]
    assert "timing changed: memory_egress_words = 12 (default 8), task_start = 9 (default 4)" in printed(
        "run", file
    )


def test_a_result_of_the_defaults_names_none() -> None:
    def design() -> MemoryTile:
        return MemoryTile()

    result = memtile.run(design)
    assert (result.timing, result.host_cycles) == ({}, 0)
    assert "timing changed" not in str(result)
    assert memtile.run(design, timing={"task_start": 5}, untimed=True).timing == {}


def test_a_program_says_how_long_its_host_took(tmp_path: Path) -> None:
    dump = tmp_path / "dump.txt"
    dump.write_text("".join(f"0x{(1 << 20) + 4 * n:x}: 0x1\n" for n in range(11)))
    said = json.loads(printed("run", dump, "--json", "--timing", "access_cycles=100"))
    assert said["host_cycles"] == 1000
    assert said["timing"] == [{"name": "access_cycles", "value": 100, "default": 20}]
    table = printed("run", dump, "--timing=access_cycles=100")
    assert "The host's register accesses took 1,000 cycles" in table


def test_a_campaign_names_them_too(file: Path) -> None:
    said = json.loads(printed("faults", file, "--upsets", 3, "--json"))
    assert [each["name"] for each in said["timing"]] == ["memory_egress_words", "task_start"]
    assert "timing changed: memory_egress_words = 12" in printed("faults", file, "--upsets", 3)


def test_the_server_says_so_when_it_starts(tmp_path: Path) -> None:
    with serving(tmp_path, "--timing=zeroisation=300", "--cycles-per-access=7") as running:
        client = running.client()
        control = (1 << 25 | 1 << 20) + 0x96048
        client.write32(control, 0b11)
        assert [client.read32(control) & 1 for _ in range(2)] == [1, 0]
        client.close()
        values = "zeroisation = 300 (default 2048), access_cycles = 7 (default 20)"
        assert f"timing changed: {values}" in running.log


def test_a_saved_array_does_not_go_on_with_other_constants(tmp_path: Path) -> None:
    Array("npu1", 1, Timing(core_lock=3)).save(tmp_path / "a.npz")
    with chosen_timing({"core_lock": 3}):
        assert changed(Array.load(tmp_path / "a.npz").engine.timing) == {"core_lock": 3}
    says = (
        r"a\.npz: the array was saved with core_lock = 3; a saved array cannot continue with other constants"
    )
    with chosen_timing({"core_lock": 4}), pytest.raises(InputFileError, match=says):
        Array.load(tmp_path / "a.npz")


def test_info_lists_them() -> None:
    data = json.loads(printed("info", "--timing", "--json"))
    listed = data["timing"]
    assert data["boards"] == sets()
    assert listed == constants()
    assert {
        "name": "task_start",
        "default": 4,
        "lowest": 1,
        "highest": 64,
        "unit": "cycles",
        "grade": "assumed",
        "source": "push to first lock request of an idle channel",
        "likely": [1, 16],
    } in listed
    table = printed("info", "--timing")
    assert "--timing phoenix: task_load 12, external_latency 323, " in table
    assert all(f"{each['name']} " in table and str(each["source"]) in table for each in constants())
