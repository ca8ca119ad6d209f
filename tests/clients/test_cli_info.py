"""Does ``memtile info`` tell devices and limits as the tables have them?"""

from __future__ import annotations

import json
from typing import Any

from typer.testing import CliRunner

from memtile.arch.devices import DEVICES
from memtile.cli.main import app


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


def test_help_has_examples() -> None:
    assert "Examples:\n    memtile info\n" in run("--help").stdout
