"""Do the designs of ``memtile measure`` give back the constants of whoever runs them, and nothing else?"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner, Result

from memtile import InputFileError, Status, Timing, schema
from memtile.arch.dispatch import Dispatch
from memtile.arch.timing import chosen_timing
from memtile.arch.trace_facts import PACKET_WORDS
from memtile.cli.main import app
from memtile.explore.measure.experiment_files import text_of
from memtile.explore.measure.fitted_constants import EXPERIMENTS, Words, experiments_for, measured
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text
from support.silicon.silicon_rig import Case

NARROW = {"ingress_words", "port_pause"}  # of 32-bit streams alone
NAMES = sorted(one.name for each in EXPERIMENTS for one in each.constants if one.model is None)
HIDDEN = {
    "broadcast_hop": 5,
    "compute_egress_words": 9,
    "external_burst_overhead": 5,
    "external_first_read": 640,
    "external_first_write": 310,
    "external_latency": 222,
    "external_port_latency": 4,
    "external_port_words": 9,
    "external_write_latency": 77,
    "finished_bd_delay": 7,
    "firmware_access": 90,
    "firmware_push": 2000,
    "firmware_word": 9,
    "ingress_latency": 2,
    "mm2s_lock_wait": 3,
    "ingress_words": 11,
    "local_master_latency": 2,
    "local_master_words": 5,
    "local_slave_latency": 3,
    "local_slave_words": 6,
    "memory_egress_words": 13,
    "neighbour_latency": 3,
    "packet_arbitration": 4,
    "port_pause": 1,
    "task_start": 11,
    "wire_start": 1,
    "zeroisation": 1500,
}


def traced(name: str, device: str = "npu1") -> Words:
    """The trace buffer of a design after a run here."""
    (each,) = (each for each in EXPERIMENTS if each.name == name)
    done = load(Text(name, text_of(each, device))).run(dispatch=Dispatch.XCLBIN)  # as such designs are built
    assert done.result.status is Status.FINISHED, done.result
    return np.asarray(done.arrays["0"]).reshape(-1).view(np.uint32)


def everything(device: str = "npu1") -> dict[str, int]:
    traces = {each.name: [(each.name, traced(each.name, device))] for each in EXPERIMENTS}
    return dict(measured(device, traces).values)


def cli(*words: object, code: int = 0) -> Result:
    done = CliRunner().invoke(app, ["measure", *map(str, words)])
    assert done.exit_code == code, done.output
    return done


def run_here(folder: Path, file: str, trace: str) -> None:
    out = f"0:uint32:4096={folder / trace}"
    done = CliRunner().invoke(app, ["run", str(folder / file), "--out", out])
    assert done.exit_code == 0, done.output


def test_designs_find_the_hidden_constants_of_whoever_runs_them() -> None:
    assert sorted(HIDDEN) == NAMES
    assert len(NAMES) >= 12
    assert [name for name in NAMES if HIDDEN[name] == getattr(Timing(), name)] == []
    with chosen_timing(HIDDEN):
        assert everything() == HIDDEN


def test_one_constant_alone_changes_what_its_design_says_of_it() -> None:
    """Each of the constants of one design, the others as they are; a port of more latency has its room."""
    defaults = measured("npu1", {"stream": [("t", traced("stream"))]}).values
    for name, value in defaults.items():
        room = {name.replace("latency", "words"): 2 * (value + 1)} if name.endswith("_latency") else {}
        with chosen_timing({name: value + 1, **room}):
            found = measured("npu1", {"stream": [("t", traced("stream"))]}).values
        assert found == {**defaults, name: value + 1} | {
            each: room[each] for each in room if each in defaults
        }


def test_two_commands_from_a_board_to_a_file_of_cases(tmp_path: Path) -> None:
    folder, out = tmp_path / "designs", tmp_path / "cases.json"
    told = cli("write", folder, "--constant", "broadcast_hop", "--constant", "packet_arbitration").stdout
    assert f"{folder / 'broadcast'}.mlir: broadcast_hop\n" in told
    for name in ("broadcast", "packet"):
        run_here(folder, f"{name}.mlir", f"{name}.npy")
    shown = cli("read", folder, "--source", "My lab", "--address", "https://example.org", "--out", out).stdout
    assert "broadcast_hop" in shown
    made = json.loads(out.read_text(encoding="utf-8"))
    assert list(Draft202012Validator(schema("silicon-cases")).iter_errors(made)) == []
    values = {case["id"]: case["measured"]["value"] for case in made["cases"]}
    assert values == {"my-lab-npu1-packet-arbitration": 1, "my-lab-npu1-broadcast-hop": 2}


@pytest.mark.parametrize("design", [each.name for each in EXPERIMENTS])
def test_the_way_of_tokens_is_left_to_the_compiler(design: str) -> None:
    """mlir-aie makes it for the controller id of the tile; a second one of that id is none that it has."""
    (each,) = (each for each in EXPERIMENTS if each.name == design)
    text = text_of(each, "npu1")
    assert "TileControl" not in text
    assert "controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 15>" in text


def test_the_transaction_does_what_the_text_does(tmp_path: Path) -> None:
    cli("write", tmp_path, "--constant", "ingress_words")
    run_here(tmp_path, "blocked.bin", "run.npy")
    shown = cli("read", tmp_path, "--trace", f"blocked={tmp_path / 'run.npy'}").stdout
    assert re.search(r"ingress_words +16 ", shown)


def test_of_several_traces_the_median_counts_and_the_spread_is_told() -> None:
    traces = []
    for value in (6, 4, 9):
        with chosen_timing({"task_start": value}):
            traces.append((str(value), traced("stream")))
    found = measured("npu1", {"stream": traces})
    assert found.values["task_start"] == 6
    (case,) = (case for case in found.cases("S", "https://s.org")["cases"] if "task-start" in case["id"])
    assert case["measured"] == {"value": 6, "low": 4, "high": 9, "note": "3 traces, the median", "runs": 3}
    assert "--timing task_start=6" in str(found.sheet())


def test_what_no_trace_gave_is_told_as_assumed() -> None:
    trace = [("t", traced("external"))]
    (case, *_) = measured("npu1", {"external": trace}).cases("S", "https://s.org")["cases"]
    inner = ["finished_bd_delay = 2", "ingress_latency = 1"]
    assert case["assumed"] == ["external_port_latency = 2", *inner]
    north = [("t", traced("north"))]
    both = measured("npu1", {"external": trace, "north": north}).cases("S", "https://s.org")["cases"]
    assert {name for case in both for name in case["assumed"]} == {*inner, "wire_start = 0"}


def test_designs_that_a_constant_needs_come_with_it() -> None:
    assert [each.name for each in experiments_for(["external_latency"])] == [
        "stream",
        "wire",
        "north",
        "relay",
        "external",
    ]
    assert len(experiments_for([])) == len(EXPERIMENTS)


def moved(words: Words, columns: int, rows: int = 0) -> Words:
    """A trace whose packets come from other columns and rows."""
    given = words.copy()
    for at in range(0, len(words), PACKET_WORDS):
        if words[at]:
            rest = (int(words[at]) + (columns << 21) + (rows << 16)) & 0x7FFFFFFF
            given[at] = rest | (0 if rest.bit_count() % 2 else 1 << 31)
    return given


def test_a_design_may_be_placed_in_any_column() -> None:
    """On Phoenix a design's first column is column 1 of the array: its packets say so."""
    trace = traced("broadcast")
    assert measured("npu1", {"broadcast": [("t", moved(trace, 1))]}).values == {"broadcast_hop": 2}


def test_packets_of_another_row_or_module_are_no_trace_of_the_design() -> None:
    trace = traced("broadcast")
    says = r"sender of packet id 1 is memory_tile of row 2; it must be memory_tile of row 1"
    with pytest.raises(InputFileError, match=says):
        measured("npu1", {"broadcast": [("t", moved(trace, 0, 1))]})
    with pytest.raises(InputFileError, match="memory_tile of row 1; it must be pl of row 0"):
        measured("npu1", {"external": [("t", trace)]})


def test_a_trace_without_an_event_says_which() -> None:
    """Zeros where the last packet was: the buffer was read too early."""
    trace = traced("external")
    last = int(np.flatnonzero(trace)[-1]) // PACKET_WORDS
    assert last > 0
    trace[PACKET_WORDS * last :] = 0
    with pytest.raises(InputFileError, match=r"of pl, tile \(0, 0\), was asserted|nothing in it is from"):
        measured("npu1", {"external": [("t", trace)]})


def test_a_stream_that_stops_gives_no_numbers() -> None:
    """A switch port with fewer words than its latency cannot move one a cycle."""
    with chosen_timing({"local_master_latency": 3, "local_master_words": 2}):
        trace = traced("stream")
    with pytest.raises(InputFileError, match=r"STREAM_BACKPRESSURE .* must be none .* measure again\."):
        measured("npu1", {"stream": [("t", trace)]})


def test_a_case_that_was_read_is_simulated_like_those_of_the_page() -> None:
    measured_cases = measured("npu1", {"blocked": [("t", traced("blocked"))]}).cases("S", "https://s.org")
    for data in measured_cases["cases"]:
        case = Case(data, "S", "silicon", "https://s.org")
        assert case.built
        assert case.simulated() == case.measured


def bad_inputs() -> Sequence[tuple[list[str], int, str]]:
    return [
        (["read", "D"], 2, "measure.json: the file cannot be read"),
        (["write", "D", "--constant", "scrub_granules"], 2, "no design measures 'scrub_granules'"),
        (["write", "D", "--device", "xcve2302"], 2, "device is xcve2302; it must be npu1 or npu2"),
        (["write", "D", "--device", "nothing"], 2, "nothing"),
        (["read", "M"], 2, "there are no traces, such as"),
        (["read", "M", "--trace", "x=y"], 2, "--trace is 'x=y'; it must be NAME=FILE"),
        (["read", "M", "--trace", "stream=none.npy"], 2, "none.npy: the file cannot be read"),
        (["read", "M", "--trace", "stream=M/empty.npy"], 2, "nothing was traced"),
        (["read", "M", "--trace", "stream=M/broadcast.npy"], 2, "was asserted 0 times"),
        (["read", "M", "--trace", "external=M/broadcast.npy", "--json"], 2, "--source"),
        (["read", "M", "--source", "a", "--address", "http://b", "--json"], 2, "--address"),
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("measure") / "new"
    cli("write", made)
    np.save(made / "empty", np.zeros(64, np.uint32))
    return made


@pytest.mark.parametrize(("words", "code", "says"), bad_inputs(), ids=lambda value: str(value)[:40])
def test_bad_inputs_are_told(words: list[str], code: int, says: str, folder: Path, tmp_path: Path) -> None:
    if "M/broadcast.npy" in " ".join(words):
        run_here(folder, "broadcast.mlir", "other.npy")
    given = [
        word.replace("=M/broadcast.npy", f"={folder}/other.npy").replace("=M/", f"={folder}/")
        for word in words
    ]
    places = {"D": str(tmp_path / "none"), "M": str(folder)}
    assert says in cli(*[places.get(word, word) for word in given], code=code).output


def test_designs_for_aie2p_find_the_constants_that_count_there() -> None:
    found = everything("npu2")
    assert found == {name: getattr(Timing(), name) for name in NAMES if name not in NARROW}


PARTS = {"relay_written": 4, "relay_handed": -1, "relay_sent": 4, "relay_finished": 10}


def of_relay(**timing: int) -> dict[str, int]:
    with chosen_timing(timing):
        found = measured("npu1", {"relay": [("t", traced("relay"))]}).found
    return {each.constant.name: each.value for each in found if each.constant.model is not None}


def test_a_relay_s_time_is_told_in_parts_beside_what_the_rules_give() -> None:
    """DEV-SILICON-1: the parts of the 19 cycles of Phoenix; here they are those that the design names."""
    (relay,) = (each for each in EXPERIMENTS if each.name == "relay")
    assert {one.name: one.model for one in relay.constants if one.model is not None} == PARTS
    found = measured("npu1", {"relay": [("t", traced("relay"))]})
    known = {"ingress_latency": 1, "mm2s_lock_wait": 0}
    assert {each.constant.name: each.value for each in found.found} == PARTS | known
    assert found.values == known
    assert "--timing" not in str(found.sheet())
    cases = found.cases("S", "https://s.org")["cases"][2:]
    assert {case["time_of"] for case in cases} == {"array"}
    on_phoenix = [Case(case, "S", "silicon", "https://s.org").simulated() for case in cases]
    assert on_phoenix == [5, 5, 4, 16]  # ingress_latency is 2 there, mm2s_lock_wait 6


def test_each_part_of_a_relay_s_time_is_moved_by_what_it_is_of() -> None:
    """What finishes later is told by the parts from and to FINISHED_BD, a slow port by that of the sender."""
    assert of_relay(finished_bd_delay=5) == PARTS | {"relay_written": 7, "relay_handed": -4}
    slow = of_relay(local_slave_latency=4, local_slave_words=8)
    assert slow == PARTS | {"relay_sent": 6}
