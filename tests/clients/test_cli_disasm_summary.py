"""Do ``memtile disasm --summary`` and ``--diff`` say what a program sets up, and what two do differently?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memtile import Array, device
from memtile.cli.main import app
from memtile.io.program.register_image import RegisterImage
from memtile.io.program.routes import routes
from memtile.programs import (
    ArrayShape,
    BlockWrite,
    Header,
    Transaction,
    Write,
    address_of,
    record,
    transaction_bytes,
)
from support.designs.core_program import write_files
from support.formats.programs import cdo_of

PROGRAM_MEMORY = address_of(0, 2, 0x20000)


def run(*args: object) -> Any:
    done = CliRunner().invoke(app, ["disasm", *map(str, args)])
    assert "Traceback" not in done.output
    return done


def test_the_summary_of_a_program(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    done = run("--summary", files["init"], files["enable"], files["insts"])
    assert done.exit_code == 0
    text = done.stdout.splitlines()
    assert text[0].startswith(f"{files['init']}: CDO version 2: ")
    assert text[1:] == [
        "routes",
        "  interface(0,0) CTRL0 -> interface(0,0) SOUTH0 (packets of any id)",
        "  interface(0,0) MM2S 0 -> compute(0,2) S2MM 0",
        "  compute(0,2) MM2S 0 -> interface(0,0) S2MM 0",
        "tasks",
        "  compute(0,2) S2MM 0: ring of BDs 0, 1, 16 words each",
        "  compute(0,2) MM2S 0: ring of BDs 2, 3, 16 words each",
        "locks",
        "  compute(0,2): 0 = 2, 1 = 0, 2 = 2, 3 = 0",
        f"{files['enable']}: CDO version 2: 1 operation, 1 core",
        "cores enabled",
        "  core (0, 2)",
        f"{files['insts']}: transaction 1.0, generation 3 (NPU1), 1 columns, 6 rows, "
        "1 of them memory tiles: 7 operations, 2 tasks",
        "tasks",
        "  interface(0,0) S2MM 0: BD 1, 64 words, with a token",
        "  interface(0,0) MM2S 0: BD 0, 64 words",
        "arguments",
        "  0: in 1 descriptor",
        "  2: in 1 descriptor",
        "waits",
        "  for tokens, once",
    ]


def test_the_same_as_data(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    init, insts = json.loads(run("--summary", "--json", files["init"], files["insts"]).stdout)
    assert {"source": "interface(0,0) CTRL0", "target": "interface(0,0) SOUTH0"}.items() <= init["routes"][
        0
    ].items()
    assert (init["routes"][0]["packet_id"], init["routes"][0]["packet_mask"]) == (0, 0)
    assert init["routes"][1]["packet_id"] is None
    assert init["tasks"][0] == {
        "channel": "compute(0,2) S2MM 0",
        "chain": [0, 1],
        "words": [16, 16],
        "ring": True,
        "runs": 1,
        "token": False,
    }
    assert insts["waits"] == {"tokens": 1, "polls": 0}
    assert [pointer["argument"] for pointer in insts["arguments"]] == [0, 2]


def test_packets_take_the_ways_of_their_ids() -> None:
    array = Array("npu1", columns=2)
    recording = record(array)
    memory, near, far = array.memory_tile(0), array.compute_tile(0, 2), array.compute_tile(1, 3)
    array.packet_bus("b", (memory.mm2s[1], [near.s2mm[1]]), (memory.mm2s[1], [near.s2mm[0], far.s2mm[0]]))
    array.route()
    shape = ArrayShape.of(device("npu1"), 2)
    found = routes(RegisterImage(shape).after(recording.operations))
    assert sorted(route.text for route in found) == [
        "memory(0,1) MM2S 1 -> compute(0,2) S2MM 0 (packets of id 1)",
        "memory(0,1) MM2S 1 -> compute(0,2) S2MM 1 (packets of id 0)",
        "memory(0,1) MM2S 1 -> compute(1,3) S2MM 0 (packets of id 1)",
    ]


def test_program_memory_has_its_name(tmp_path: Path) -> None:
    path = tmp_path / "elfs.bin"
    path.write_bytes(cdo_of([BlockWrite(PROGRAM_MEMORY, (1, 2, 3))]))
    assert "program memory, 3 words" in run(path).stdout
    assert "3 words of program memory" in run("--summary", path).stdout


def test_what_two_files_do_differently(tmp_path: Path) -> None:
    header = Header((1, 0), 3, 6, 1, 1)
    names = []
    for name, value in (("a.bin", 5), ("b.bin", 6)):
        operations = (Write(address_of(0, 1, 0xC0000), 1), Write(address_of(0, 1, 0xC0010), value))
        (tmp_path / name).write_bytes(transaction_bytes(Transaction(header, operations)))
        names.append(tmp_path / name)
    done = run("--diff", *names)
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[:2] == [f"--- {names[0]}", f"+++ {names[1]}"]
    assert "-write  memory tile (0, 1) 0xC0010 = 0x00000005" in lines
    assert "+  -> lock 1 becomes 6" in lines
    assert not [line for line in lines if line[:1] in "+-" and "0xC0000" in line]
    same = run("--diff", names[0], names[0])
    assert (same.exit_code, same.stdout) == (0, f"{names[0]} and {names[0]} do the same\n")


@pytest.mark.parametrize("options", [["--diff"], ["--diff", "--json"], ["--diff", "--summary"]])
def test_a_difference_is_of_two_files(tmp_path: Path, options: list[str]) -> None:
    files = write_files(tmp_path)
    count = 1 if options == ["--diff"] else 2
    done = run(*options, *[files["init"]] * count)
    assert done.exit_code == 2
    assert "--diff compares two files" in done.output


def test_on_a_terminal_a_long_program_is_its_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe gets each operation, a terminal as much as fits on a screen; --all is the way to the rest."""
    files = write_files(tmp_path)
    piped = run(files["init"]).stdout
    monkeypatch.setattr("memtile.cli.disasm.terminal_width", lambda: 80)
    shown = run(files["init"]).stdout.splitlines()
    title = " ".join(" ".join(shown).split()).partition(" routes ")[0]
    assert title.endswith("CDO version 2: 27 operations, 3 routes, 2 tasks")
    assert len(shown) <= 25
    assert max(map(len, shown)) <= 80
    assert shown[-1] == "each of the 27 operations: --all"
    assert run("--all", files["init"]).stdout == piped
    several = run(*[files["init"]] * 3).stdout.splitlines()
    assert len(several) <= 25
    (tmp_path / "short.txt").write_text("0x021C0000 2\n")
    assert "-> lock 0 becomes 2" in run(tmp_path / "short.txt").stdout
