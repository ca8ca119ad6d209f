"""Do the JSON Schemas of the package say what commands read and write, and nothing more?"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from left_out import need_package
from memtile import MemtileError, Outcome, Status, schema, schema_names
from memtile.access.element_types import ELEMENT_BITS
from memtile.access.tiling_cases import _KEYS as TILING_KEYS
from memtile.access.tiling_cases import MEMORIES
from memtile.arch.tiles import TILE_KINDS
from memtile.bd import Descriptor, case_of, hex_words, words_of_case
from memtile.bd.descriptor_cases import _KEYS as CASE_KEYS
from memtile.bd.descriptor_cases import ORACLE_KEYS
from memtile.cli.exit_codes import ExitCode
from memtile.cli.main import app
from memtile.explore.sweep.sweep_attempt import BOUND
from memtile.explore.sweep.variant_figures import FIGURES
from memtile.model.state.causes import Cause, CoreCause
from memtile.programs import BlockWrite, Write, dump_json
from memtile.testing import descriptors
from support.commands import sweep_designs
from support.designs.core_program import write_files
from support.designs.dump_designs import RING, TWO_BUFFERS
from support.formats.oracle_files import load
from support.mlir import mlir_texts

ROOT = Path(__file__).parents[2]
TXN = sorted((ROOT / "tests" / "oracle" / "txn").glob("*.bin"))
TILINGS = sorted((ROOT / "examples" / "tilings").glob("*.json"))
CAPTURES = load("trace_captures")
OPEN = {  # objects in which other keys may be, and are ignored
    "silicon-cases": {"/$defs/Rig/properties/arguments"},
    "record": {"/properties/result"},
    "report": {"/properties/record"},
    "bd-encode-input": {"/$defs/DescriptorCases"},
    "bd-decode-input": {"/$defs/WordsCases", "/$defs/WordsCase"},
    "lower-input": {"/$defs/Tilings", "/$defs/ExpectedCase", "/$defs/CompilerCase"},
    "register-dump": {"/$defs/DumpedWrite"},
}


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema(name))


def problems(name: str, value: object) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(value)]


def output(*args: object, code: int = 0, stdin: str = "") -> Any:
    done = CliRunner().invoke(app, [*map(str, args)], input=stdin)
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


def assert_says(name: str, value: Any) -> None:
    """The schema accepts what a command wrote; with a key more or another value anywhere it does not."""
    assert problems(name, value) == []
    few = shortened(value)
    assert problems(name, few) == []
    for changed in (*with_a_key_more(few), *with_a_wrong_value(few)):
        assert not validator(name).is_valid(changed), changed


def shortened(value: Any) -> Any:
    """The same with the first and the last item of each list alone."""
    if isinstance(value, list):
        return [shortened(item) for item in (value if len(value) < 3 else [value[0], value[-1]])]
    return {key: shortened(item) for key, item in value.items()} if isinstance(value, dict) else value


def with_a_key_more(value: Any) -> Iterator[Any]:
    for path in paths(value):
        changed = copy.deepcopy(value)
        if isinstance(at(changed, path), dict):
            at(changed, path)["a key of tomorrow"] = []
            yield changed


def with_a_wrong_value(value: Any) -> Iterator[Any]:
    for path in paths(value):
        changed = copy.deepcopy(value)
        if path:
            at(changed, path[:-1])[path[-1]] = {"not": ["this"]}
            yield changed


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all values in a JSON value."""
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        yield from paths(item, (*path, key))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


@pytest.mark.parametrize("name", schema_names())
def test_a_schema_is_one_of_the_draft_and_stands_alone(name: str) -> None:
    found = schema(name)
    Draft202012Validator.check_schema(found)
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert found["title"]
    assert found["description"].endswith(".")
    for path in paths(found):
        part = at(found, path)
        if isinstance(part, dict) and isinstance(part.get("$ref"), str):
            assert part["$ref"].startswith("#/$defs/")
            assert part["$ref"].removeprefix("#/$defs/") in found["$defs"]


@pytest.mark.parametrize("name", schema_names())
def test_a_schema_knows_every_key_of_its_objects(name: str) -> None:
    found = schema(name)
    loose = set()
    for path in paths(found):
        part = at(found, path)
        closed = {"additionalProperties", "propertyNames"}
        if isinstance(part, dict) and part.get("type") == "object" and not closed & part.keys():
            loose.add("/" + "/".join(map(str, path)))
        if isinstance(part, dict) and part.get("additionalProperties") is True:
            loose.add("/" + "/".join(map(str, path)))
    assert loose == OPEN.get(name, set())


def test_every_schema_is_used() -> None:
    assert list(schema_names()) == sorted(schema_names())
    files = (Path(__file__), Path(__file__).with_name("test_graph_program.py"))
    tested = "".join(each.read_text(encoding="utf-8") for each in files)
    assert [name for name in schema_names() if f'"{name}"' not in tested] == []


def test_a_schema_that_is_not_there_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(
        MemtileError, match=r"name is 'nothing'; it must be one of bd-decode-input, .*, warmup-output "
    ):
        schema("nothing")
    with pytest.raises(MemtileError, match="name is 'common'; it must be one of bd-decode-input"):
        schema("common")


def test_the_command_prints_and_lists_them() -> None:
    assert output("schema", "run-output") == schema("run-output")
    listed = CliRunner().invoke(app, ["schema"]).stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(schema_names())
    assert CliRunner().invoke(app, ["schema", "nothing"]).exit_code == 2


def test_the_page_of_what_is_stable_has_every_exit_code() -> None:
    page = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
    codes = re.findall(r"^ *\| (\d+) \| ", page, re.MULTILINE)
    assert [int(code) for code in codes] == list(ExitCode)


def test_the_names_in_schemas_are_those_of_the_code() -> None:
    run, lower = schema("run-output")["$defs"], schema("lower-input")["$defs"]["Tiling"]["properties"]
    assert run["Status"]["enum"] == sorted(status.value for status in Status)
    channel = run["ChannelData"]["properties"]["cycles"]["anyOf"][0]
    assert channel["propertyNames"]["enum"] == channel["required"] == [c.name.lower() for c in Cause]
    core = run["CoreData"]["properties"]["cycles"]
    assert core["propertyNames"]["enum"] == core["required"] == [cause.name.lower() for cause in CoreCause]
    upsets = schema("faults-output")["properties"]["in_read_back"]
    assert upsets["propertyNames"]["enum"] == upsets["required"] == [outcome.value for outcome in Outcome]
    encode = schema("bd-encode-input")["$defs"]["DescriptorCase"]["properties"]
    assert encode["tile"]["enum"] == list(TILE_KINDS)
    assert encode.keys() == CASE_KEYS | ORACLE_KEYS
    assert lower.keys() == TILING_KEYS
    assert lower["memory"]["enum"] == list(MEMORIES)
    assert lower["element_type"]["anyOf"][0]["enum"] == [*ELEMENT_BITS, None]
    assert lower["element_bits"]["enum"] == [*sorted(set(ELEMENT_BITS.values())), None]


# descriptors and words --------------------------------------------------------------------------------------


@given(descriptors())
def test_every_descriptor_goes_through_the_schemas_of_bd(descriptor: Descriptor) -> None:
    case = case_of(descriptor)
    assert problems("bd-decode-output", case) == problems("bd-encode-input", case) == []
    words = {"tile": case["tile"], "bd": 0, "words": hex_words(words_of_case(case))}
    assert problems("bd-encode-output", words) == problems("bd-decode-input", words) == []


def test_what_bd_encode_reads_and_writes() -> None:
    cases = load("bd_words")["cases"]
    good = [case for case in cases if case.get("words")][::20]
    assert problems("bd-encode-input", {"cases": good}) == []
    assert problems("bd-encode-input", good) == problems("bd-decode-input", good) == []
    assert_says("bd-encode-output", output("bd", "encode", stdin=json.dumps(good[0])))
    refused = {"tile": "memory", "length": 1 << 30, "address": 1 << 30}
    answers = output("bd", "encode", stdin=json.dumps([*good[:2], refused, {"tile": "none"}, 5]), code=1)
    assert ["error" in answer for answer in answers] == [False, False, True, True, True]
    assert_says("bd-encode-output", answers)


@pytest.mark.parametrize(
    "case",
    [
        5,
        {"length": 1, "address": 0},
        {"tile": "memory", "length": 1},
        {"tile": "none", "length": 1, "address": 0},
        {"tile": "memory", "length": 1, "address": 0, "adress": 0},
        {"tile": "memory", "length": "1", "address": 0},
        {"tile": "memory", "length": 1, "address": 0, "dims": [[1]]},
        {"tile": "memory", "length": 1, "address": 0, "acquire": {"id": 0}},
        {"tile": "memory", "length": 1, "address": 0, "acquire": {"id": 0, "value": 1, "enabled": True}},
    ],
)
def test_a_case_of_another_shape_is_refused_by_schema_and_command(case: Any) -> None:
    assert problems("bd-encode-input", case)
    assert "error" in output("bd", "encode", stdin=json.dumps(case), code=1)


def test_what_bd_decode_and_explain_write() -> None:
    words = ["0x80", "0xA0000", "0x10000F", "0x200000", "0", "0", "0", "0x8140FF41"]
    items = [
        {"tile": "memory", "bd": 3, "words": words},
        {"tile": "compute", "words": [1]},
        {"tile": "memory"},
    ]
    answers = output("bd", "decode", stdin=json.dumps(items), code=1)
    assert ["error" in answer for answer in answers] == [False, True, True]
    assert_says("bd-decode-output", answers)
    assert_says("bd-explain-output", output("bd", "explain", "--json", *words))
    beyond = ["0x3FFFF", "0xFFFFF", "0", "0", "0", "0", "0", "0x80000000"]
    illegal = output("bd", "explain", "--json", *beyond)
    assert illegal["problems"]
    assert_says("bd-explain-output", [illegal])


# tilings ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_lower_reads_and_writes() -> None:
    tilings = load("tilings")
    assert problems("lower-input", tilings) == []
    assert problems("lower-input", tilings["tilings"]) == []
    for path in TILINGS:
        assert problems("lower-input", json.loads(path.read_text(encoding="utf-8"))) == []
        for more in ([], ["--elements"]):
            answer = CliRunner().invoke(app, ["lower", str(path), "--json", *more, "--tile", "interface"])
            assert_says("lower-output", json.loads(answer.stdout))
    done = CliRunner().invoke(app, ["lower", "-", "--json"], input=json.dumps([5, {"buffer_dimension": [4]}]))
    assert all("error" in answer for answer in json.loads(done.stdout))
    assert_says("lower-output", json.loads(done.stdout))


@pytest.mark.parametrize(
    "tiling",
    [
        5,
        {"element_bits": 32},
        {"buffer_dimension": [4]},
        {"buffer_dimension": 4, "element_bits": 32},
        {"buffer_dimension": [4], "element_bits": 7},
        {"buffer_dimension": [4], "element_type": "int7"},
        {"buffer_dimension": [4], "element_bits": 32, "memory": "disk"},
        {"buffer_dimension": [4], "element_bits": 32, "tile_transversal": []},
        {"buffer_dimension": [4], "element_bits": 32, "tile_traversal": [{"dimension": 0}]},
    ],
)
def test_a_tiling_of_another_shape_is_refused_by_schema_and_command(tiling: Any) -> None:
    assert problems("lower-input", tiling)
    assert "error" in output("lower", "-", "--json", stdin=json.dumps(tiling), code=1)


# runs -------------------------------------------------------------------------------------------------------

DESIGN = """
import numpy as np
from memtile import MemoryTile

def design():
    tile = MemoryTile()
    buffer, full = tile.buffer("b", 64), tile.lock(0)
    tile.s2mm[0].start(tile.write(buffer).guarded(None, full.release()))
    tile.mm2s[0].start(tile.read(buffer).guarded(full.acquire(), None))
    tile.s2mm[0].feed(np.arange({words}, dtype=np.int32))
    tile.mm2s[0].expect(np.arange(64, dtype=np.int32) * {factor})
    return tile
"""


@pytest.fixture
def design(tmp_path: Path) -> Any:
    def write(words: int = 64, factor: int = 1) -> Path:
        path = tmp_path / "design.py"
        path.write_text(DESIGN.format(words=words, factor=factor))
        return path

    return write


@pytest.mark.parametrize("options", [[], ["--untimed"]])
def test_what_run_writes_of_a_design(design: Any, options: list[str]) -> None:
    assert_says("run-output", output("run", "--json", *options, design()))
    wrong = output("run", "--json", *options, design(factor=2), code=1)
    assert wrong["bit_exact"] is False
    assert_says("run-output", wrong)
    stuck = output("run", "--json", *options, design(words=32), code=1)
    assert stuck["waiting"]
    assert_says("run-output", stuck)


def test_what_a_report_has(design: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    output("run", "--json", "--report", file, design())
    found = re.search(r'<script type="application/json" id="data">(.*)</script>', file.read_text("utf-8"))
    assert found is not None
    written = json.loads(found[1])
    assert problems("report", written) == []
    assert problems("record", written["record"]) == []
    assert problems("report", written | {"tracks": written["tracks"] + [{"kind": "host"}]})
    assert problems("report", written | {"more": 1})


def test_what_a_record_has(design: Any, tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    output("run", "--json", "--record", file, "--sensitivity", "--bottleneck", design())
    written = json.loads(file.read_text())
    assert problems("record", written) == []
    assert problems("run-output", written["result"] | {"notes": []}) == problems(
        "run-output", output("run", "--json", "--sensitivity", "--bottleneck", design()) | {"notes": []}
    )
    assert problems("record", written | {"verdict": "good"})


def test_what_check_writes(design: Any, tmp_path: Path) -> None:
    fine = output("check", "--json", design())
    assert fine["designs"][0]["good"]
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from memtile import MemoryTile\n\ndef design():\n    return MemoryTile('npu9')\n")
    assert_says("check-output", output("check", "--json", wrong, code=1))


def test_what_explain_writes(tmp_path: Path) -> None:
    path, dump = tmp_path / "ring.py", tmp_path / "core.elf"
    path.write_text(RING)
    output("run", "--json", path, "--coredump", dump, code=1)
    assert_says("explain-output", output("explain", "--json", dump, "--design", path, code=1))
    assert problems("explain-output", output("explain", "--json", dump, code=1)) == []


def test_what_diff_writes(tmp_path: Path) -> None:
    path, record = tmp_path / "ring.py", tmp_path / "record.json"
    path.write_text(TWO_BUFFERS)
    output("run", "--json", path, "--record", record)
    changed = output("diff", "--json", path, path, "--second-set", "free=1", "--second-set", "rows=3", code=1)
    assert_says("diff-output", changed)
    assert problems("diff-output", output("diff", "--json", record, record)) == []


def test_what_run_writes_of_a_design_with_parameters(tmp_path: Path) -> None:
    path = tmp_path / "design.py"
    text = DESIGN.format(words=64, factor=1).replace("design()", "design(mode='a', shape=(8, 8), limit=None)")
    path.write_text(text)
    assert_says("run-output", output("run", "--json", "--set", "mode=b", path))
    assert_says("info-design-output", output("info", path, "--json"))


@pytest.mark.parametrize("words", [["1"], ["1", "x", "y", *"000000"]])
def test_what_a_refused_input_leads_to(words: list[str]) -> None:
    assert_says("error-output", output("bd", "explain", "--json", *words, code=2))


def test_what_run_writes_of_kernels() -> None:
    result = output("run", "--json", ROOT / "examples" / "channel_padding.py")
    assert result["cores"]
    assert_says("run-output", result)


def test_what_run_writes_of_a_program(tmp_path: Path) -> None:
    (path,) = [path for path in TXN if "transpose" in path.name]
    np.save(tmp_path / "in.npy", np.arange(128, dtype=np.int32))
    arrays = ["--in", f"x={tmp_path}/in.npy", "--out", f"y:16x8={tmp_path}/out.npy"]
    result = output("run", "--json", path, *arrays)
    assert result["saved"]
    assert_says("run-output", result)


def test_what_faults_writes(design: Any) -> None:
    assert_says("faults-output", output("faults", "--json", "--upsets", 5, design()))
    assert_says("faults-output", output("faults", "--json", "--upsets", 60, "--no-ecc", design(), code=1))


# tables and files -------------------------------------------------------------------------------------------


def test_what_serve_writes() -> None:
    """That it writes this is in ``test_told.py``."""
    listening = {"host": "127.0.0.1", "port": 5, "port_file": "a/b"}
    assert_says("serve-output", {"listening": listening})
    assert_says("serve-output", {"listening": {**listening, "token_file": "a/memtile_token"}})


def test_what_measure_writes(tmp_path: Path) -> None:
    made = output("measure", "write", "--json", "--constant", "broadcast_hop", tmp_path)
    assert_says("measure-write-output", made)
    assert json.loads((tmp_path / "measure.json").read_text(encoding="utf-8")) == made
    trace = tmp_path / "broadcast.npy"
    done = CliRunner().invoke(
        app, ["run", f"{tmp_path / 'broadcast.mlir'}", "--out", f"0:uint32:4096={trace}"]
    )
    assert done.exit_code == 0, done.output
    read = output("measure", "read", "--json", "--source", "A B", "--address", "https://c.org", tmp_path)
    assert problems("silicon-cases", read) == []
    assert problems("silicon-cases", read | {"more": 1}) != []


def test_what_measure_calls_writes(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("function,event0,event1\nmine,100,165\nmine,200,262\n", encoding="utf-8")
    assert_says("measure-calls-output", output("measure", "calls", "--json", file))


def test_what_test_writes(design: Any) -> None:
    assert_says("test-output", output("test", "--json", "--no-check", design()))


def test_what_survey_writes(tmp_path: Path) -> None:
    (tmp_path / "refused.mlir").write_text(mlir_texts.UNKNOWN)
    (tmp_path / "none.mlir").write_text("module { }")
    assert_says("survey-output", output("survey", "--json", tmp_path, code=1))


def test_what_sweep_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_package("pyarrow")
    monkeypatch.syspath_prepend(str(tmp_path))
    file, log = sweep_designs.small(tmp_path), tmp_path / "log.parquet"
    found = output("sweep", "--json", "--workers", 0, "--log", log, file)
    assert_says("sweep-output", found)
    assert_says("sweep-output", output("sweep", "show", "--json", log))
    assert_says("sweep-replay-output", output("sweep", "replay", "--trust", "--json", log))
    assert {*schema("sweep-output")["$defs"]["KnownFigures"]["properties"]} == {*FIGURES, BOUND}


def test_what_plan_writes() -> None:
    found = output("plan", "rows", "--rows", 16, "--width", 8, "--tried", 2, "--columns", 1, "--json")
    assert_says("plan-output", found)
    assert {*schema("plan-output")["$defs"]["Figures"]["properties"]} == {*FIGURES}


def test_what_warmup_writes() -> None:
    assert_says("warmup-output", output("warmup", "--json"))


def test_what_info_writes() -> None:
    assert_says("info-output", output("info", "--json"))
    assert_says("info-output", output("info", "npu1", "--json"))
    assert_says("info-registers-output", output("info", "npu1", "--registers", "--json"))
    assert_says("info-timing-output", output("info", "--timing", "--json"))
    assert_says("info-lookup-output", output("info", "PORT_IDLE_0", "--json"))
    assert_says("info-lookup-output", output("info", "xcve2802", "0x21A0604", "--json"))


def test_what_disasm_writes(tmp_path: Path) -> None:
    found = output("disasm", "--json", *TXN)
    assert problems("disasm-output", found) == []
    kinds = {operation["operation"] for program in found for operation in program["operations"]}
    assert kinds == {"write", "block write", "mask write", "mask poll", "other"} or len(kinds) >= 3
    for program in found:
        program["operations"] = [*{item["operation"]: item for item in program["operations"]}.values()]
    assert_says("disasm-output", found)
    dump = tmp_path / "dump.json"
    illegal = BlockWrite(0x021A0040, (0xFFFF_FFFF,) * 8)
    dump.write_text(dump_json([Write(0x0210_0000, 5), illegal, Write(0x3FFF_FFFC, 1)]))
    assert_says("disasm-output", output("disasm", "--json", dump))


def test_what_the_summary_of_a_program_writes(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    found = output("disasm", "--summary", "--json", files["init"], files["enable"], files["insts"], *TXN)
    assert_says("disasm-summary-output", found)
    dump = tmp_path / "dump.txt"
    dump.write_text("0x00200000 5\n")
    assert_says("disasm-summary-output", output("disasm", "--summary", "--json", dump))


def test_what_run_writes_of_a_program_with_cores(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    np.save(tmp_path / "in.npy", np.arange(8))
    given = ["--in", f"0={tmp_path}/in.npy", "--in", f"1={tmp_path}/in.npy", "--pad-arguments"]
    build = [files["enable"], files["init"], files["insts"]]
    assert_says("run-output", output("run", "--json", *build, *given, "--kernels", files["kernels"]))
    assert_says("run-output", output("run", "--json", *build, *given, code=1))


def test_what_a_register_dump_is() -> None:
    dumps: list[Any] = [
        json.loads(dump_json([Write(0x021A_0040, 5), BlockWrite(0, (1, 2))])),
        [{"address": 64, "value": 5, "name": "ignored"}],
        {"0x021A0040": "0x5", "64": 7},
    ]
    for dump in dumps:
        assert problems("register-dump", dump) == []
        assert output("disasm", "--json", "--format", "dump", "-", stdin=json.dumps(dump))
    for wrong in (5, [5], [{"address": 1}], [{"address": -1, "value": 1}], {"0x5": 1 << 32}, {"here": 1}):
        assert problems("register-dump", wrong)
        done = CliRunner().invoke(app, ["disasm", "--format", "dump", "-"], input=json.dumps(wrong))
        assert done.exit_code == 2


def test_what_trace_decode_writes(tmp_path: Path) -> None:
    path, chrome = tmp_path / "trace.txt", tmp_path / "trace.json"
    words = [*CAPTURES["core"]["words"], *CAPTURES["memory"]["words"]]
    path.write_text("\n".join(words) + "\n")
    events = "core=" + ",".join(CAPTURES["core"]["events"])
    found = output("trace", "decode", path, "--events", events, "--json", "--perfetto", chrome)
    for unit in found["units"]:
        assert unit["intervals"]
    assert_says("trace-output", found)
    records = json.loads(chrome.read_text(encoding="utf-8"))
    assert problems("chrome-output", records) == []
    few = list({(record["name"], record["ph"]): record for record in records}.values())
    assert_says("chrome-output", few)
    path.write_text("\n".join([*words[:9], *words[20:]]) + "\n")
    done = CliRunner().invoke(app, ["trace", "decode", str(path), "--json"])
    assert done.exit_code == 1
    damaged = json.loads(done.stdout)
    assert damaged["problems"]
    assert_says("trace-output", damaged)
