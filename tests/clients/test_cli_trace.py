"""Does ``memtile trace decode`` turn trace files into tables and into what viewers read?"""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2
from typer.testing import CliRunner
from vcd.reader import TokenKind, tokenize

from memtile.arch.packets import stream_header
from memtile.cli import main
from memtile.testing.trace_encoder import encode_trace
from support.formats.oracle_files import load

CAPTURES = load("trace_captures")
CORE, MEMORY = CAPTURES["core"], CAPTURES["memory"]
NAMES = CORE["events"]
EVENTS = "core=" + ",".join(NAMES)
# The writes of mlir-aie's second test for the core of tile (1, 2), which is packet type 0, id 1.
PROGRAM = "0x022340D0 0x797A0000 0x1\n0x022340E0 0x4B25221A 0x212D2C4F\n"
PROGRAM_NAMES = [NAMES[7], *NAMES[1:7], NAMES[0]]  # events 26, 34, 37, 75, 79, 44, 45, 33


def run(*args: object, code: int = 0, stdin: str | bytes = "") -> Any:
    done = CliRunner().invoke(main.app, ["trace", "decode", *map(str, args)], input=stdin)
    assert done.exit_code == code, done.output
    return done


EVENT = "traced events: event"


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """Both captures as mlir-aie writes them, and memory that nobody wrote."""
    path = tmp_path / "trace.txt"
    path.write_text("\n".join([*CORE["words"], *MEMORY["words"], *64 * ["00000000"]]) + "\n")
    return path


def intervals(unit: Any) -> dict[int, list[list[int]]]:
    start = unit["segments"][0]["start_cycle"]
    found: dict[int, list[list[int]]] = {}
    for item in unit["intervals"]:
        found.setdefault(item["slot"], []).append([item["begin_cycle"] - start, item["end_cycle"] - start])
    return found


def test_table_of_what_was_asserted(capture: Path) -> None:
    done = run(capture, "--events", EVENTS)
    assert done.stdout.splitlines()[0].strip() == f"{capture}: 200 words, 17 packets; ns at 1250 MHz"
    rows = [line.split() for line in done.stdout.splitlines()[2:]]
    assert rows[0] == ["core", "(1,", "2)", "0", "INSTR_EVENT_0", "4", "4", "3.2", "2203", "5703"]
    assert rows[2] == ["2", "INSTR_VECTOR", "128", "128", "102.4", "2205", "5767"]
    assert rows[8][:6] == ["mem", "(1,", "2)", "4", "slot", "4"]
    assert done.stderr == (
        f"{capture}: the setup does not have the mem of tile (1, 2), packet type 1, id 2; it has core "
        "(Trace_Event0, Trace_Event1 and Trace_Control1, AM025). Its events are shown by slot. If the design "
        "was loaded some columns further right, say so with --column-shift.\n"
    )


def sent_as(path: Path, capture: Any, packet_type: int, row: int) -> Path:
    """A capture as if another tile, or another choice of packet types, had sent it."""
    words = list(capture["words"])
    header = f"{stream_header(1, packet_type, column=1, row=row):08x}"
    words[::8] = [header] * len(words[::8])
    path.write_text("\n".join(words) + "\n")
    return path


@pytest.mark.parametrize(
    ("packet_type", "row", "unit"),
    [
        (2, 0, "shim"),
        (3, 0, "shim"),
        (5, 0, "shim"),
        (3, 1, "memtile"),
        (2, 1, "memtile"),
        (0, 1, "memtile"),
        (0, 2, "core"),
        (1, 2, "mem"),
        (3, 2, "memtile"),  # of a device with two rows of memory tiles
        (0, 4, "core"),
        (1, 4, "mem"),
    ],
)
def test_the_row_of_a_packet_says_more_than_its_type(
    tmp_path: Path, packet_type: int, row: int, unit: str
) -> None:
    done = run(sent_as(tmp_path / "trace.txt", CORE, packet_type, row))
    assert done.stdout.splitlines()[2].startswith(f"{unit} (1, {row}) ")
    assert done.stderr == ""


@pytest.mark.parametrize(("packet_type", "row"), [(2, 2), (2, 4), (3, 4), (6, 3)])
def test_a_type_that_no_module_of_the_tile_has_is_reported(
    tmp_path: Path, packet_type: int, row: int
) -> None:
    path = sent_as(tmp_path / "trace.txt", CORE, packet_type, row)
    done = run(path)
    assert done.stdout.splitlines()[2].startswith(f"type{packet_type} (1, {row}) ")
    assert done.stderr == (
        f"{path}: packet type {packet_type} of tile (1, {row}) is of no module that the tile can have "
        "(convention of mlir-aie: core=0, mem=1, shim=2, memtile=3). Say with --types MODULE=TYPE which "
        "module sends it, or give --program.\n"
    )
    done = run(path, "--types", f"mem={packet_type},core=7", "--events", f"mem={','.join(['1'] * 8)}")
    assert done.stdout.splitlines()[2].startswith(f"mem (1, {row}) ")
    assert done.stderr == ""


def test_types_that_were_chosen_replace_the_convention_of_their_modules(tmp_path: Path) -> None:
    path = sent_as(tmp_path / "trace.txt", CORE, 1, 2)
    assert run(path, "--types", "core=1").stdout.splitlines()[2].startswith("core (1, 2) ")
    path = sent_as(tmp_path / "trace.txt", CORE, 0, 2)
    assert run(path, "--types", "core=1").stdout.splitlines()[2].startswith("type0 (1, 2) ")


@pytest.mark.parametrize("types", ["core", "core=8", "core=x", "cpu=1", "core=1,", "core=-1", "core=1 mem=2"])
def test_types_that_cannot_be(capture: Path, types: str) -> None:
    done = run(capture, "--types", types, code=2)
    assert "it must be MODULE=TYPE, a module of core, mem, shim, memtile and a type of 0..7" in done.stderr


def test_nothing_is_cut_in_a_narrow_terminal(capture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = run(capture).stdout
    monkeypatch.setenv("COLUMNS", "30")
    assert run(capture).stdout == wide


def test_json_has_everything(capture: Path) -> None:
    data = json.loads(run(capture, "--json", "--clock-mhz", 1000).stdout)
    core, memory = data["units"]
    assert (core["module"], core["column"], core["row"], core["stream_id"]) == ("core", 1, 2, 1)
    assert (core["packets"], data["packets"], data["words"], data["problems"]) == (16, 17, 200, [])
    assert core["segments"][0]["start_cycle"] == CORE["start"]
    assert all(intervals(core)[int(slot)][: len(x)] == x for slot, x in CORE["intervals"].items())
    assert intervals(memory) == {int(slot): x for slot, x in MEMORY["intervals"].items()}
    first = core["intervals"][0]
    assert first["begin_ns"] == first["begin_cycle"] == CORE["start"] + 1


def test_csv_is_a_row_for_each_interval(capture: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run(capture, "--csv", "--events", EVENTS).stdout)))
    pulses = [row for row in rows if row["event"] == "INSTR_EVENT_0"]
    assert [int(row["begin_cycle"]) - CORE["start"] for row in pulses] == [2203, 2714, 5192, 5703]
    assert float(pulses[0]["begin_ns"]) == pytest.approx((CORE["start"] + 2203) * 0.8)
    assert {row["exact"] for row in rows} == {"True"}


@pytest.mark.parametrize("suffix", ["bin", "npy"])
def test_other_formats_give_the_same(capture: Path, tmp_path: Path, suffix: str) -> None:
    words = np.array([int(word, 16) for word in capture.read_text().split()], dtype=np.uint32)
    path = tmp_path / f"trace.{suffix}"
    np.save(path, words) if suffix == "npy" else path.write_bytes(words.tobytes())
    assert run(path, "--csv").stdout == run(capture, "--csv").stdout
    assert (
        run(path, "--format", suffix, "--csv").stdout == run("-", "--csv", stdin=capture.read_bytes()).stdout
    )


def test_events_from_the_registers_of_a_program(capture: Path, tmp_path: Path) -> None:
    program = tmp_path / "design.txt"
    program.write_text(PROGRAM)
    core, memory = json.loads(run(capture, "--program", program, "--json").stdout)["units"]
    assert core["events"] == PROGRAM_NAMES
    assert memory["events"] == [f"slot {n}" for n in range(8)]
    program.write_text(PROGRAM.replace("0x022", "0x002"))  # a design for column 0
    (core, _) = json.loads(run(capture, "--program", program, "--json").stdout)["units"]
    assert core["events"][0] == "slot 0"
    shifted = run(capture, "--program", program, "--column-shift", 1, "--json").stdout
    assert json.loads(shifted)["units"][0]["events"] == PROGRAM_NAMES


def test_a_unit_is_known_by_the_packets_it_was_told_to_send(tmp_path: Path) -> None:
    """A memory module that sends type 0: Trace_Control1 says so, the convention does not."""
    path, program = tmp_path / "trace.txt", tmp_path / "design.txt"
    packets = encode_trace({5: 1}, 0, column=1, row=2, packet_type=0, stream_id=7)
    path.write_text("\n".join(f"{word:08x}" for packet in packets for word in packet))
    program.write_text("0x022140D4 0x7\n0x022140E0 0x2C\n")
    (unit,) = json.loads(run(path, "--program", program, "--json").stdout)["units"]
    assert (unit["module"], unit["events"][0]) == ("mem", "LOCK_SEL0_ACQ_EQ")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("memtile=PORT_RUNNING_0,-,42", ["PORT_RUNNING_0", "NONE", "DMA_S2MM_SEL1_MEMORY_BACKPRESSURE"]),
        ("3,1:memtile=CONFLICT_DM_BANK_15", ["CONFLICT_DM_BANK_15", "NONE", "NONE"]),
        ("PORT_TLAST_7,USER_EVENT_0,1", ["PORT_TLAST_7", "USER_EVENT_0", "TRUE"]),
        ("4,1:memtile=PORT_TLAST_7", ["slot 0", "slot 1", "slot 2"]),
        ("memtile=255", ["EVENT_255", "NONE", "NONE"]),
    ],
)
def test_events_from_a_flag(tmp_path: Path, text: str, names: list[str]) -> None:
    path = tmp_path / "trace.txt"
    packets = encode_trace({5: 1}, 0, column=3, row=1, packet_type=3)
    path.write_text("\n".join(f"{word:08x}" for packet in packets for word in packet))
    (unit,) = json.loads(run(path, "--events", text, "--json").stdout)["units"]
    assert unit["events"][:3] == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "memtile=PORT_RUNING_0,256",
            f"2 errors:\n  {EVENT} is 'PORT_RUNING_0'; it must be an event of module memory_tile (AM020, "
            "events). Did you mean PORT_RUNNING_0 or PORT_RUNNING_7 or PORT_RUNNING_6?\n"
            f"  {EVENT} is 256, allowed are 0..255 in module memory_tile (AM020, events).\n",
        ),
        (
            "x,1:tile=TRUE",
            "2 errors:\n  traced events: tile is 'x,1'; it must be COLUMN,ROW (AM020, events).\n"
            "  traced events: module is 'tile'; it must be one of core, mem, shim, memtile (AM020, "
            "events).\n",
        ),
        (
            "core=1,2,3,4,5,6,7,8,9",
            "error: traced events: there are 9 events; a module can trace at most 8 (AM020, events).\n",
        ),
        (
            "LOCK_STAL,PORT_IDLE_0",
            f"2 errors:\n  {EVENT} is 'LOCK_STAL'; it must be an event of core, mem, shim or memtile (AM020, "
            "events). Did you mean LOCK_STALL or LOCK_SEL7_REL or LOCK_SEL6_REL?\n"
            "  traced events: no module has all of LOCK_STAL, PORT_IDLE_0 (AM020, events). "
            "Give --events MODULE=... once for each module.\n",
        ),
        (
            "LOCK_STALL,CONFLICT_DM_BANK_15",
            (
                "error: traced events: no module has all of LOCK_STALL, CONFLICT_DM_BANK_15 (AM020, "
                "events). Give --events MODULE=... once for each module.\n"
            ),
        ),
    ],
)
def test_wrong_events(capture: Path, text: str, message: str) -> None:
    assert run(capture, "--events", text, code=2).stderr == message


# what viewers read ---------------------------------------------------------------------------------------


def test_chrome_json_in_cycles_is_that_of_mlir_aie(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "trace.json"
    run(capture, "--events", EVENTS, "--perfetto", out, "--time", "cycles")
    records = json.loads(out.read_text())
    assert records[0] == {
        "name": "process_name",
        "ph": "M",
        "pid": 0,
        "args": {"name": "core_trace for tile2,1"},
    }
    assert records[1:9] == [
        {"name": "thread_name", "ph": "M", "pid": 0, "tid": n, "args": {"name": name}}
        for n, name in enumerate(NAMES)
    ]
    assert records[9]["args"] == {"name": "mem_trace for tile2,1"}
    core = [r for r in records if r["pid"] == 0 and r["ph"] != "M"]
    assert core[0] == {"name": "LOCK_STALL", "ts": 1, "ph": "B", "pid": 0, "tid": 7, "args": {}}
    # Four lines of the published output in its order: ends before begins, by slot.
    around = [(r["name"], r["ts"], r["ph"], r["tid"]) for r in core if r["ts"] in (5195, 5196)]
    assert around == [
        ("INSTR_VECTOR", 5195, "E", 2),
        ("PORT_RUNNING_1", 5195, "E", 4),
        ("INSTR_VECTOR", 5196, "B", 2),
        ("PORT_RUNNING_1", 5196, "B", 4),
    ]
    begins = {int(slot): [b for b, _ in x] for slot, x in CORE["intervals"].items()}
    begins[7].append(CORE["open"]["7"])
    for slot, published in begins.items():
        assert [r["ts"] for r in core if r["tid"] == slot and r["ph"] == "B"] == published


def test_chrome_json_has_true_time_and_cycles_in_args(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "trace.json"
    run(capture, "--perfetto", out, "--clock-mhz", 1000)
    first = next(r for r in json.loads(out.read_text()) if r["ph"] == "B")
    assert first["args"] == {"cycle": CORE["start"] + 1}
    assert first["ts"] == (CORE["start"] + 1) / 1000  # microseconds


def read_perfetto(path: Path) -> dict[str, dict[str, list[tuple[int, int, int]]]]:
    """process -> thread -> (begin ns, end ns, cycle) of its slices."""
    trace = perfetto_trace_pb2.Trace.FromString(path.read_bytes())
    described = [p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")]
    tracks = {track.uuid: track for track in described}
    events = [p for p in trace.packet if p.HasField("track_event")]
    assert len(tracks) + len(events) == len(trace.packet)
    threads = [track.thread.tid for track in described if track.HasField("thread")]
    assert len(set(threads)) == len(threads) == 16
    found: dict[str, dict[str, list[tuple[int, int, int]]]] = {}
    opened: dict[int, Any] = {}
    for packet in events:
        event = packet.track_event
        if event.type == event.TYPE_SLICE_BEGIN:
            assert event.track_uuid not in opened
            opened[event.track_uuid] = packet
            continue
        begin = opened.pop(event.track_uuid)
        track = tracks[event.track_uuid]
        process = tracks[track.parent_uuid].process
        assert track.thread.pid == process.pid
        assert begin.track_event.name == track.thread.thread_name
        cycle = next(a.int_value for a in begin.track_event.debug_annotations if a.name == "cycle")
        slices = found.setdefault(process.process_name, {}).setdefault(track.thread.thread_name, [])
        slices.append((begin.timestamp, packet.timestamp, cycle))
    assert opened == {}
    return found


def test_perfetto_format_is_read_back(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "trace.pftrace"
    run(capture, "--events", EVENTS, "--perfetto", out, "--clock-mhz", 1000)
    found = read_perfetto(out)
    assert set(found) == {"core_trace for tile2,1", "mem_trace for tile2,1"}
    core = found["core_trace for tile2,1"]
    assert set(core) == set(NAMES)
    for slot, published in CORE["intervals"].items():
        mine = core[NAMES[int(slot)]][: len(published)]
        assert [[b - CORE["start"], e - CORE["start"]] for b, e, _ in mine] == published
        assert all(begin == cycle for begin, _, cycle in mine)


def test_perfetto_times_follow_the_clock(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "trace.pftrace"
    run(capture, "--perfetto", out)
    begin, _, cycle = read_perfetto(out)["core_trace for tile2,1"]["slot 7"][0]
    assert (begin, cycle) == (round((CORE["start"] + 1) * 0.8), CORE["start"] + 1)


def test_vcd_is_read_back(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "trace.vcd"
    run(capture, "--events", EVENTS, "--vcd", out, "--clock-mhz", 1000)
    names, now, high, scope = {}, 0, {}, []
    spans: dict[str, list[list[int]]] = {}
    with out.open("rb") as file:
        for token in tokenize(file):
            if token.kind is TokenKind.SCOPE:
                scope.append(token.scope.ident)
            elif token.kind is TokenKind.UPSCOPE:
                scope.pop()
            elif token.kind is TokenKind.VAR:
                names[token.var.id_code] = ".".join([*scope, token.var.reference])
            elif token.kind is TokenKind.CHANGE_TIME:
                now = token.time_change
            elif token.kind is TokenKind.CHANGE_SCALAR:
                name = names[token.scalar_change.id_code]
                if token.scalar_change.value == "1":
                    high[name] = now
                elif name in high:
                    start = CORE["start"]
                    spans.setdefault(name, []).append([high.pop(name) // 1000 - start, now // 1000 - start])
    for slot, published in CORE["intervals"].items():
        assert spans[f"tile1_2.core_1.{NAMES[int(slot)]}"][: len(published)] == published
    assert "tile1_2.mem_2.slot_4" in spans


# what is wrong -------------------------------------------------------------------------------------------


def test_problems_are_told_and_the_rest_is_shown(capture: Path) -> None:
    lines = capture.read_text().split()
    lines[8] = "ffffffff"
    capture.write_text("\n".join(lines))
    done = run(capture, "--json", code=1)
    assert done.stderr.startswith(f"{capture}, word 8: the word 0xffffffff is not a packet header, ")
    data = json.loads(done.stdout)
    assert data["packets"] == 16
    assert [s["origin"] for s in data["units"][0]["segments"]] == ["start", "loss"]
    assert data["problems"][0]["reason"] == "trace_header"


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["--json", "--csv"], "--json and --csv exclude each other."),
        (["--time", "cycles"], "it needs --perfetto FILE.json."),
        (["--time", "cycles", "--perfetto", "x.pftrace"], "it needs --perfetto FILE.json."),
        (
            ["--perfetto", "no/where.json"],
            "no/where.json: the file cannot be written: there is no such folder.",
        ),
        (["--program", "no/where.bin"], "no/where.bin: the file cannot be read: No such file or directory."),
    ],
)
def test_options_that_cannot_be(capture: Path, args: list[str], text: str) -> None:
    assert text in run(capture, *args, code=2).stderr


def test_outputs_without_a_place_are_refused_before_the_trace_is_read(tmp_path: Path) -> None:
    good = tmp_path / "a.json"
    done = run(tmp_path / "none.txt", "--perfetto", good, "--vcd", tmp_path, code=2)
    assert done.stderr == f"error: {tmp_path}: the file cannot be written: it is a folder.\n"
    assert (done.stdout, good.exists()) == ("", False)


def test_a_file_that_cannot_be_written_is_a_message(capture: Path, tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.symlink_to(tmp_path / "none" / "a.json")  # found out only by writing
    done = run(capture, "--perfetto", target, code=2)
    assert done.stderr == f"error: {target}: the file cannot be written: No such file or directory.\n"


@pytest.mark.parametrize(
    ("package", "option", "message"),
    [
        (
            "perfetto",
            "--perfetto",
            "error: Perfetto's format needs the perfetto package, which is not installed: "
            'pip install "perfetto". '
            "A file that ends in .json does not need it and opens in the same viewer.\n",
        ),
        (
            "vcd",
            "--vcd",
            'error: Value change dumps need pyvcd, which is not installed: pip install "pyvcd".\n',
        ),
    ],
)
def test_missing_extras(
    capture: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, package: str, option: str, message: str
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    out = tmp_path / "out"
    assert run(capture, option, out, code=2).stderr == message
    assert not out.exists()


def test_help_shows_examples() -> None:
    text = run("--help").stdout
    assert "memtile trace decode trace.txt --program design.bin" in text
    assert "exit code 1" in text
