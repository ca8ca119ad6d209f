"""Does a dump of a stuck array say what the run says, and is what it cannot say left open?"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memtile import Array
from memtile.cli.design_file import load_design
from memtile.cli.main import app
from memtile.cli.screen import first_lines
from memtile.explain.dump.dump_formats import TILE_WORDS, About, elf_parts, read_coredump
from memtile.explain.dump.twin import Twin
from memtile.explain.findings import Finding, Severity
from support.designs.dump_designs import CIRCLE, MOVING, RING
from support.designs.paused_columns import clock, sending
from support.driver.simulator_client import Server, serving
from support.pages import corpus_scores as corpus

CASES = [*{(case.codes, case.file.suffix): case for case in corpus.cases(["-hangs"])}.values()]
"""One of each kind: all that hang take half a minute."""
TILE_BYTES = 1 << 20
WEAKER = {"MT0302", "MT0304", "MT0309", "MT0311", "MT0312", "MT0317"}
"""What registers alone may say of any hang: ends, and no circle, packet or push that the run has not."""


def invoke(*args: object, code: int | None = None) -> str:
    done = CliRunner().invoke(app, [*map(str, args)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert code is None or done.exit_code == code, done.output
    return done.stdout if "--json" in args else done.stdout + done.stderr


def explain(*args: object, code: int | None = 1) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(invoke("explain", "--json", *args, code=code))
    return found


def run(*args: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(invoke("run", "--json", *args, code=1))
    return found


def sentences(findings: Sequence[dict[str, Any]]) -> list[str]:
    return [each["message"] for each in findings]


def codes(said: dict[str, Any]) -> list[str]:
    return [each["code"] for each in said["findings"]]


def of_the_design(arguments: Sequence[str]) -> list[str]:
    """The arguments of ``memtile run`` that are the design's, not its outputs'."""
    found, rest = [], iter(arguments)
    for each in rest:
        if each in ("--in", "--kernels", "--set", "--dispatch"):
            found += [each, next(rest)]
        elif each == "--out":
            next(rest)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_dump_with_the_design_beside_it_says_what_the_run_said(case: corpus.Case, tmp_path: Path) -> None:
    raw, elf = tmp_path / "core.bin", tmp_path / "core.elf"
    limit = ("--max-cycles", corpus.MAX_CYCLES)
    said = json.loads(
        invoke("run", case.file, "--json", "--no-repair", *limit, *case.arguments, "--coredump", raw)
    )
    if "error" in said:
        assert "a memory tile alone" in said["error"]["message"]  # of which no machine has a dump
        assert not raw.exists()
        return
    beside = ("--design", case.file, *limit, *of_the_design(case.arguments))
    report = explain(raw, *beside)
    assert report["design"]["same"], report["design"]["differences"]
    assert sentences(report["design"]["findings"]) == sentences(said["findings"])
    assert report["design"]["waiting"] == said["waiting"]
    assert report["design"]["status"] == said["status"]
    tiles, device = read_coredump(raw).tiles, said.get("device") or "npu1"
    about = About(device=f"memtile {device}")
    elf.write_bytes(b"".join(elf_parts(iter(tiles), len(tiles), 0x45, about)))
    alone, packed = explain(raw, "--device", device, code=None), explain(elf, "--device", device, code=None)
    assert {**alone, "source": 0} == {**packed, "source": 0}
    assert {each["code"] for each in alone["findings"]} <= {*codes(said), *WEAKER}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ring.py").write_text(RING)
    (tmp_path / "circle.py").write_text(CIRCLE)
    (tmp_path / "moving.py").write_text(MOVING)
    return tmp_path


def test_a_circle_of_channels_is_the_same_with_and_without_the_design() -> None:
    said = json.loads(invoke("run", "circle.py", "--json", "--coredump", "core.bin", code=1))
    beside = explain("core.bin", "--design", "circle.py")
    alone = explain("core.bin", "--device", "npu1")
    assert sentences(beside["design"]["findings"]) == sentences(said["findings"])
    assert sentences(beside["findings"]) == sentences(said["findings"])
    assert [each["code"] for each in alone["findings"]] == [each["code"] for each in said["findings"]]
    assert (
        "memory(0,1) MM2S 0 waits for lock 0 of tile (0, 1) (needs 2, has " in alone["findings"][0]["message"]
    )
    assert alone["design"] is None


@pytest.mark.parametrize("column", [0, 1, 2])
def test_a_column_without_clock_is_named_in_a_dump_too(column: int, files: Path) -> None:
    array = sending(3)
    array.engine.wait(40)
    clock(array, column, on=False)
    array.run(20_000)
    array.coredump(files / "paused.elf")
    (found,) = explain("paused.elf")["findings"]
    assert (found["code"], found["message"]) == ("MT0316", f"Column {column} is stopped: its clock is off.")


def test_tiles_without_clock_are_zeros_in_a_dump(files: Path) -> None:
    array = sending(2)
    clock(array, 0, on=False)
    array.coredump(files / "paused.bin")
    words = read_coredump(files / "paused.bin").tiles
    rows = len(words) // 2
    assert [bool(words[row].any()) for row in range(rows)] == [True] + [False] * (rows - 1)
    assert words[rows + 1].any()


def test_what_a_core_waits_for_is_open_without_the_design() -> None:
    invoke("run", "ring.py", "--coredump", "core.elf", code=1)
    alone = explain("core.elf")
    assert [each["code"] for each in alone["findings"]] == ["MT0317"]
    assert sentences(alone["findings"]) == [
        "compute(0,2) S2MM 0 waits for lock 0 of tile (0, 2) (needs 1, has 0); "
        "core (0, 2) is stalled at a lock of tile (0, 2); which one, the registers do not say."
    ]
    assert "for which lock a core is stalled, and what it did before" in alone["unknown"]
    text = invoke("explain", "core.elf", "--design", "ring.py", code=1)
    assert "ring.py, run here, reaches the same state" in text
    assert "(kernel 'hold') waits for lock 9 'never' of tile (0, 2) (needs 1, has 0)" in text
    assert "unknown:" not in text


def test_a_design_that_comes_elsewhere_is_told_apart_by_its_registers() -> None:
    invoke("run", "ring.py", "--coredump", "core.bin", code=1)
    text = invoke("explain", "core.bin", "--design", "ring.py", "--set", "value=1", code=1)
    assert "ring.py, run here, ends differently (finished)" in text
    assert "compute(0,2) Core_Status: Core_Done 0 in the dump, 1 here" in text
    assert "finding: MT0317" in text
    assert "unknown: what a host waits for" in text


def test_a_dump_of_an_array_at_rest_has_no_finding() -> None:
    Array("npu1", 1).coredump("core.bin")
    text = invoke("explain", "core.bin", "--device", "npu1", code=0)
    assert text.splitlines()[1] == "core.bin: coredump, raw, 6 tiles, npu1"
    assert text.startswith("status: idle: no channel has a task")
    invoke("run", "ring.py", "--set", "value=1", "--coredump", "core.bin", code=0)
    text = invoke("explain", "core.bin", "--device", "npu1", code=0)
    assert text.startswith(
        "status: idle: no channel has a task, all queues are empty, and each core has ended"
    )


def test_on_a_terminal_an_answer_fits_on_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    invoke("run", "ring.py", "--coredump", "core.bin", code=1)
    piped = invoke("explain", "core.bin", "--device", "npu1", code=1)
    monkeypatch.setattr("memtile.cli.screen.terminal_width", lambda: 40)
    lines = invoke("explain", "core.bin", "--device", "npu1", code=1).splitlines()
    assert lines[0].startswith("status: stuck")
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 40
    assert " ".join(" ".join(lines).split()) == " ".join(piped.split())
    assert first_lines(["a b c"] * 20, 3, 26) == [*["a b", "  c"] * 12, "8 more lines (--all)"]


def test_of_two_packets_at_an_arbiter_neither_is_said_to_hold_it() -> None:
    case = next(iter(corpus.cases(["chain-lock-and-arbiter-hangs"])))
    said = run(case.file, *case.arguments, "--coredump", "core.elf")
    assert codes(said) == ["MT0307"]
    assert codes(explain("core.elf", code=0)) == []


def test_a_packet_that_nobody_takes_is_found_from_its_descriptor() -> None:
    case = next(iter(corpus.cases(["packet-id-nobody-takes-hangs"])))
    said = run(case.file, *case.arguments, "--coredump", "core.elf")
    alone = explain("core.elf")
    (packet,) = (each for each in alone["findings"] if each["code"] == "MT0306")
    assert [each.replace(" 'in'", "") for each in sentences(said["findings"])] == [packet["message"]]


# formats: laid out here from the public sources, not by the code under test ------------------------------


def test_the_raw_file_of_versal_has_the_request_behind_its_tiles(files: Path) -> None:
    """DEV-DUMP-1: 28 tiles are 29,360,144 bytes: 28 MiB, and process, context and a zero (xdna-driver)."""
    data = bytes(28 * TILE_BYTES) + struct.pack("<QII", 4711, 3, 0)
    assert len(data) == 29_360_144
    (files / "core.bin").write_bytes(data)
    text = invoke("explain", "core.bin", code=0)
    assert text.splitlines()[1:4] == [
        "core.bin: coredump, raw, 28 tiles, xc2ve3858",
        "asked for by process 4711, context 3",
        "note: columns 1..3 are all zeros: no part of the context",
    ]


@pytest.mark.parametrize(("device", "columns", "more"), [("npu2", 2, 0), ("xc2ve3858", 1, 16)])
def test_a_raw_file_is_tile_after_tile_column_by_column(
    files: Path, device: str, columns: int, more: int
) -> None:
    array = Array(device, columns)
    rows = array.rows
    array.door.at_once().write32(array.door.address(columns - 1, 1, 0x40), 0xC0FFEE)
    array.coredump("core.bin")
    data = (files / "core.bin").read_bytes()
    assert len(data) == columns * rows * TILE_BYTES + more
    at = ((columns - 1) * rows + 1) * TILE_BYTES + 0x40
    assert data[at : at + 4] == bytes.fromhex("eeffc000")


@pytest.mark.parametrize(("device", "system"), [("npu1", 0x45), ("npu2", 0x45), ("xc2ve3858", 0x40)])
def test_an_elf_is_laid_out_as_aiebu_lays_it_out(files: Path, device: str, system: int) -> None:
    """DEV-DUMP-3."""
    array = Array(device, 1)
    array.coredump("core.elf")
    array.coredump("core.bin", elf=False)
    elf, raw = (files / "core.elf").read_bytes(), (files / "core.bin").read_bytes()
    assert elf[:16] == b"\x7fELF\x01\x01\x01" + bytes([system, 0x21]) + bytes(7)
    kind, machine, version, entry, headers, sections = struct.unpack_from("<HHIIII", elf, 16)
    assert (kind, machine, version, entry, headers, sections) == (4, 269, 1, 0, 52, 0)
    assert struct.unpack_from("<IHHHHHH", elf, 36) == (0, 52, 32, 2, 0, 0, 0)
    notes, load = struct.unpack_from("<8I", elf, 52), struct.unpack_from("<8I", elf, 84)
    assert (notes[0], notes[1], notes[5:]) == (4, 116, (0, 4, 4))
    size = array.rows * TILE_BYTES
    assert load == (1, 0x1000, 0, 0, size, size, 4, 0x1000)
    assert elf[0x1000:] == raw[:size]
    assert struct.unpack_from("<III5s", elf, 116) == (5, 124, 3, b"CORE\0")
    second = 116 + 12 + 8 + 124
    assert struct.unpack_from("<III12s", elf, second)[::2] == (12, 0x1000)
    assert elf[second + 12 : second + 24] == b"AMDAIE_CORE\0"


def elf_of(tiles: bytes, device: bytes, system: int = 0x45, status: int = 3) -> bytes:
    """An ELF as XRT makes it with aiebu, of a driver of another maker."""
    texts = (b"amdxdna 2.21", b"1.1.2.65", device, b"")
    described = struct.pack("<QI", 1_700_000_000_000_000_000, status)
    described += b"".join(struct.pack("<I", len(text)) + text for text in texts)
    process = struct.pack("<III8s124s", 5, 124, 3, b"CORE", bytes(124))
    note = struct.pack("<III12s", 12, len(described), 0x1000, b"AMDAIE_CORE") + described
    notes = process + note + bytes(-len(note) % 4)
    load = -(-(116 + len(notes)) // 4096) * 4096
    head = b"\x7fELF\1\1\1" + bytes([system, 0x21]) + bytes(7)
    head += struct.pack("<HHIIIIIHHHHHH", 4, 269, 1, 0, 52, 0, 0, 52, 32, 2, 0, 0, 0)
    head += struct.pack("<8I", 4, 116, 0, 0, len(notes), 0, 4, 4)
    head += struct.pack("<8I", 1, load, 0, 0, len(tiles), len(tiles), 4, 4096)
    return (head + notes).ljust(load, b"\0") + tiles


def test_interface_tiles_without_a_dma_are_read_and_loaded() -> None:
    Array("xcve2802", 3).coredump("core.elf")  # of which only column 2 has one
    lines = invoke("explain", "core.elf", code=0).splitlines()
    assert lines[1] == "core.elf: coredump, ELF of type ET_CORE, 33 tiles, xcve2802"


def test_an_elf_of_the_driver_says_of_which_device_it_is(files: Path) -> None:
    (files / "core.elf").write_bytes(elf_of(bytes(48 * TILE_BYTES), b"RyzenAI-npu4"))
    lines = invoke("explain", "core.elf", code=0).splitlines()
    assert lines[1] == "core.elf: coredump, ELF of type ET_CORE, 48 tiles, npu2"
    assert lines[2] == "context timeout, driver amdxdna 2.21, firmware 1.1.2.65, device RyzenAI-npu4"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (bytes(TILE_BYTES + 8), "has 1048584 bytes, where a coredump has tiles of 1048576 bytes"),
        (bytes(24 * TILE_BYTES), "24 tiles may be of npu1, npu2; the file does not say of which device"),
        (bytes(5 * TILE_BYTES), "5 tiles fit no device of which XRT makes dumps"),
        (elf_of(bytes(6 * TILE_BYTES), b"")[: 3 * TILE_BYTES], "it was cut off"),
        (elf_of(bytes(100), b""), "a PT_LOAD segment of 100 bytes"),
    ],
)
def test_a_file_that_is_no_whole_dump_is_refused(files: Path, data: bytes, says: str) -> None:
    (files / "core.core").write_bytes(data)
    (files / "core.core").rename(files / "core.elf" if data[:1] == b"\x7f" else files / "core.bin")
    name = "core.elf" if data[:1] == b"\x7f" else "core.bin"
    if len(data) % TILE_BYTES == 8:
        with pytest.raises(Exception, match=says):
            read_coredump(files / name)
        return
    assert says in invoke("explain", name, code=2)


def test_a_dump_of_another_size_than_the_design_is_refused() -> None:
    array = Array("npu1", 2)
    array.coredump("core.bin")
    assert "the dump has 2 columns, allowed are those of the design beside it, 1" in invoke(
        "explain", "core.bin", "--design", "ring.py", code=2
    )


def test_one_of_dump_and_server() -> None:
    assert "Give a dump or --server HOST:PORT, one of them." in invoke("explain", code=2)
    assert "for the design; give --design too" in invoke("explain", "x.bin", "--set", "a=1", code=2)


# register dumps and servers ------------------------------------------------------------------------------


def test_a_register_dump_says_the_same_as_the_coredump(files: Path) -> None:
    invoke("run", "circle.py", "--coredump", "core.bin", code=1)
    tiles = read_coredump(files / "core.bin").tiles
    lines = [
        f"0x{row << 20 | at * 4:08X} 0x{tiles[row, at]:08X}"
        for row in range(6)
        for at in range(0x80000 // 4 if row == 1 else 0x1D000 // 4, TILE_WORDS)
        if tiles[row, at]
    ]
    (files / "registers.txt").write_text("\n".join(lines) + "\n")
    words = explain("registers.txt", "--device", "npu1")
    assert sentences(words["findings"]) == sentences(explain("core.bin", "--device", "npu1")["findings"])
    beside = explain("registers.txt", "--design", "circle.py")
    assert beside["design"]["same"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path) as running:
        yield running


def port_of(server: Server) -> int:
    return int(server.port_file.read_text())


def test_a_live_server_is_asked_for_its_registers(server: Server) -> None:
    found = explain("--server", f"127.0.0.1:{port_of(server)}", "--device", "npu1", code=0)
    assert found["findings"] == []
    assert found["source"][0].startswith(f"server 127.0.0.1:{port_of(server)}: register dump of npu1")


def test_a_server_that_is_not_there() -> None:
    text = invoke("explain", "--server", "127.0.0.1:1", code=2)
    assert "server 127.0.0.1:1" in text
    assert "a server that answers" in text


def test_a_dump_changes_nothing(files: Path) -> None:
    made = [load_design("moving.py") for _ in range(2)]
    for array in made:
        array.run(40)
    made[0].coredump("one.bin")
    made[0].coredump("two.bin")
    assert (files / "one.bin").read_bytes() == (files / "two.bin").read_bytes()
    done, other = (array.run() for array in made)
    assert (done.status.value, done.cycles) == ("finished", other.cycles)
    assert done.as_json() == other.as_json()


def test_locks_are_not_acquired_by_looking_at_them() -> None:
    """DEV-DUMP-2."""
    array = Array("npu1", 1)
    tile = array.memory_tile(0)
    lock = tile.lock(1, "one")
    array.coredump("core.bin")
    assert tile.lock_value(lock) == 1


@pytest.mark.parametrize(
    ("count", "last"), [(1, "  2"), (12, "  13"), (13, "  and 1 more"), (20, "  and 8 more")]
)
def test_twelve_differences_of_a_dump_are_shown_and_the_others_counted(count: int, last: str) -> None:
    twin = Twin("d.mlir", "stuck", (), (), 90, [str(number + 2) for number in range(count)])
    first, *lines = twin.lines()
    assert first == f"d.mlir, run here, ends differently (stuck): {count} of 90 registers differ"
    assert (len(lines), lines[-1]) == (min(count, 13), last)
    assert not twin.same


def test_a_twin_that_ends_alike_has_its_findings() -> None:
    finding = Finding("MT0304", Severity.ERROR, "MM2S 0 waits.", ())
    twin = Twin("d.mlir", "stuck", (finding,), ("core (0, 2) waits",), 90, ())
    assert list(twin.lines()) == [
        "d.mlir, run here, reaches the same state (90 registers agree): stuck",
        f"finding: {finding}",
    ]
    assert twin.as_json() == {
        "name": "d.mlir",
        "same": True,
        "status": "stuck",
        "findings": [finding.as_json()],
        "waiting": ["core (0, 2) waits"],
        "compared": 90,
        "differences": [],
    }
