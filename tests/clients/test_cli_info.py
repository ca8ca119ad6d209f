"""Does ``memtile info`` tell devices and limits as the tables have them?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memtile import model
from memtile.arch.devices import DEVICES
from memtile.arch.register_map import register_at, register_map
from memtile.arch.registers import Acts, Register
from memtile.cli.main import app
from memtile.report import register_coverage
from support.formats.oracle_files import load

ORACLE = load("driver_registers")["modules"]


def run(*args: str) -> Any:
    return CliRunner().invoke(app, ["info", *args], env={"COLUMNS": "150"})


def test_all_devices_and_tile_kinds_are_shown() -> None:
    done = run()
    assert (done.exit_code, done.stderr) == (0, "")
    for word in (
        *DEVICES,
        "memory tile",
        "compute tile",
        "interface tile",
        "west 0..63, own 64..127, east 128..191",
    ):
        assert word in done.stdout
    assert "\x1b" not in done.stdout


def test_one_device_alone() -> None:
    done = run("NPU1")
    assert done.exit_code == 0
    assert "npu1" in done.stdout
    assert "xcve2802" not in done.stdout
    assert "AIE2P" not in done.stdout


def test_a_partition_has_the_tile_kinds_of_its_generation_alone() -> None:
    done = run("npu2_4col")
    assert done.exit_code == 0
    assert "npu2_4col" in done.stdout
    assert "Tile kinds of AIE2P" in done.stdout
    assert done.stdout.count("Tile kinds of") == 1
    assert "its format is not public" in " ".join(done.stdout.split())


def test_the_numbers_are_those_of_the_tables() -> None:
    data = json.loads(run("--json").stdout)
    assert list(data["devices"]) == list(DEVICES)
    assert data["devices"]["xcve2802"]["columns"] == 38
    assert data["devices"]["xcve2802"]["memory tile rows"] == "1..2"
    memory, compute, interface, *newer = data["tile_kinds"].values()
    assert len(newer) == 6
    assert [kind["zeros around D1, rows"] for kind in newer] == ["0..31", None, None, "0..63", None, None]
    assert [kind["compression"] for kind in newer] == [
        *["its format is not public"] * 2,
        None,
        *["yes"] * 2,
        None,
    ]
    assert [kind["value of padding"] for kind in (memory, *newer[::3])] == [
        "0",
        *["of each MM2S channel"] * 2,
    ]
    assert [kind["burst lengths, bytes"] for kind in (interface, newer[2])] == [
        "64, 128, 256",
        "64, 128, 256, 512",
    ]
    assert [kind["descriptors (BDs)"] for kind in (memory, compute, interface)] == [48, 16, 16]
    assert [kind["step, words"] for kind in (memory, compute, interface)] == [
        "1..131072",
        "1..8192",
        "1..1048576",
    ]
    assert [kind["zeros around D1, rows"] for kind in (memory, compute)] == ["0..31", None]
    assert memory["BDs by channel parity"] == "0..23 even, 24..47"


def test_an_unknown_device_is_met_with_the_known_ones() -> None:
    done = run("npu3")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "error: device table: device is 'npu3'; it must be one of xcve2802, xcve2302, npu1, npu2, xc2ve3858 "
        "or a partition such as npu2_4col (mlir-aie device model). The name npu3 is a later NPU, of which no "
        "public register description is known here.\n"
    )


def test_registers_are_counted_by_what_they_do() -> None:
    done = run("--registers")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = [
        re.findall(r"[\w.]+", line) for line in done.stdout.splitlines() if "%" in line and "\u2502" in line
    ]
    rows = {"_".join(words[:-5]) if words[0] == "all" else words[0]: words for words in lines}
    assert set(rows) == {*ORACLE, "all_modules"}
    for name, words in rows.items():
        registers, act, store, refused = map(int, words[-5:-1])
        assert registers == (len(ORACLE[name]) if name in ORACLE else 1927)
        assert act + store + refused == registers
        assert float(words[-1]) == (act + store) * 1000 // registers / 10


def test_the_driver_finds_what_it_uses() -> None:
    """At least 95 in 100, and the numbers are those of the oracle."""
    found = json.loads(run("npu1", "--registers", "--json").stdout)
    used = found["used_by_driver"]
    assert used["registers"] == sum(row[3] for rows in ORACLE.values() for row in rows)
    assert used["act"] + used["store"] >= 0.95 * used["registers"]
    assert used["percent"] >= 95
    assert found["modules"]["core"]["store"] > 200
    assert found["modules"]["noc"]["act"] > 100


def test_a_register_that_is_not_in_the_tables_is_counted_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(tile: str, offset: int) -> Register | None:
        return None if offset in (0x32034, 0x31100) else register_at(tile, offset)

    monkeypatch.setattr(register_coverage, "register_at", without)
    done = run("--registers", "--refused")
    assert done.stdout.splitlines()[-2:] == ["core.CORE_PC", "core.ERROR_HALT_EVENT"]
    assert "99.8 % act or store" in done.stdout
    core = json.loads(run("--registers", "--json").stdout)["modules"]["core"]
    assert (core["refused"], core["percent"]) == (2, 99.6)
    assert core["names"] == ["core.CORE_PC", "core.ERROR_HALT_EVENT"]


def test_none_refused_is_said() -> None:
    assert run("--refused").stdout.splitlines()[-1] == "None is refused."


def test_registers_of_a_generation_that_is_not_listed() -> None:
    done = run("xc2ve3858", "--registers")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "error: register list: the registers of AIE-ML v2 are not in it: modules memory_tile_v2, "
        "memory_v2, noc_v2 (AM025; register header of AMD's driver, aie-rt release/main_aig). "
        "Ask for a device of another generation.\n"
    )


def test_what_only_stores_is_looked_at_by_nothing() -> None:
    """No source of the model names a register that says of itself that nothing looks at it."""
    text = "".join(path.read_text() for path in sorted((Path(model.__file__).parent).rglob("*.py")))
    kept = {r.name for m in ORACLE for r in register_map(m).values() if r.acts is Acts.KEEPS}
    assert [name for name in kept if f'"{name}"' in text] == []


def test_help_has_examples() -> None:
    assert "Examples:\n    memtile info\n" in run("--help").stdout
