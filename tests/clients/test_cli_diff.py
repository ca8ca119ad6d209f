"""Does ``memtile diff`` say what changed, all of it, and nothing where nothing did?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from memtile.explain.compare.comparison import array_changes
from memtile.programs import Write, dump_text
from support.designs.dump_designs import RING, TWO_BUFFERS
from support.mlir.mlir_texts import PARAMETER
from support.pages.corpus_scores import CORPUS


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ring.py").write_text(TWO_BUFFERS)
    (tmp_path / "hold.py").write_text(RING)
    return tmp_path


def invoke(*args: object, code: int) -> str:
    done = CliRunner().invoke(app, [*map(str, args)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    return done.stdout if "--json" in args else done.stdout + done.stderr


def diff(*args: object, code: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(invoke("diff", "--json", *args, code=code))
    return found


def run(*args: object, code: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(invoke("run", "--json", *args, code=code))
    return found


def test_a_design_and_itself_are_the_same() -> None:
    text = invoke("diff", "ring.py", "ring.py", code=0)
    assert text.startswith("ring.py and ring.py are the same in cycles, words, registers\n")


def test_parameters_of_an_mlir_design_are_set(tmp_path: Path) -> None:
    (tmp_path / "scratch.mlir").write_text(PARAMETER)
    invoke("diff", "scratch.mlir", "scratch.mlir", "--set", "p=3", code=0)
    missing = diff("scratch.mlir", "scratch.mlir", "--second-set", "p=3", code=2)
    assert "scratchpad parameter p has no value" in missing["error"]["message"]


def test_cycles_are_told_by_cause_and_by_channel() -> None:
    one, two = run("ring.py"), run("ring.py", "--set", "free=1")
    found = diff("ring.py", "ring.py", "--second-set", "free=1")
    assert {"where": "run", "what": "cycles", "first": one["cycles"], "second": two["cycles"]} in (
        found["cycles"]["run"]
    )
    uses = [{use["channel"]: use["cycles"] for use in each["channels"]} for each in (one, two)]
    told = {(c["where"], c["what"]): (c["first"], c["second"]) for c in found["cycles"]["channels"]}
    for channel, cycles in uses[0].items():
        for cause, first in cycles.items():
            second = uses[1][channel][cause]
            changed = told.pop((f"{channel} 'ping, pong'", cause.replace("_", " ")), None)
            assert changed == ((first, second) if first != second else None)
    assert told == {}
    sums = {c["what"]: c["second"] - c["first"] for c in found["cycles"]["causes"]}
    channels = found["cycles"]["channels"]
    assert sums["lock acquire"] == sum(
        c["second"] - c["first"] for c in channels if c["what"] == "lock acquire"
    )
    sizes = [abs(c["second"] - c["first"]) for c in channels]
    assert sizes == sorted(sizes, reverse=True)
    assert found["registers"]["registers"] == [
        {
            "tile": "memory(0,0)",
            "register": "Lock0_value",
            "first": "0x00000002",
            "second": "0x00000001",
            "fields": [{"name": "Lock_value", "first": 2, "second": 1}],
        }
    ]


def test_records_are_compared_without_running_anything() -> None:
    run("ring.py", "--record", "one.json")
    run("ring.py", "--set", "free=1", "--record", "two.json")
    of_records = diff("one.json", "two.json")
    assert of_records["cycles"] == diff("ring.py", "ring.py", "--second-set", "free=1")["cycles"]
    assert (of_records["words"], of_records["registers"]) == (None, None)
    (cycles,) = (each for each in of_records["cycles"]["run"] if each["what"] == "cycles")
    part = abs(cycles["second"] - cycles["first"]) / cycles["first"]
    diff("one.json", "two.json", "--tolerance", part, code=0)
    diff("one.json", "two.json", "--tolerance", part * 0.99, code=1)
    Path("run.json").write_text(json.dumps(run("ring.py")))
    others = diff("run.json", "one.json", code=2)["error"]["message"]
    assert "this is the output of memtile run --json" in others
    with_a_design = diff("one.json", "ring.py", code=0)
    assert with_a_design["not_compared"] == ["words", "registers"]


FIRST_KEYS = """
    status timed cycles cycles_before clock_mhz bytes_per_cycle bit_exact channels cores checks unsimulated
    bound band lifted findings waits waiting resting errors assumed timing host_cycles parameters""".split()  # noqa: SIM905
"""Of a result in the first records of version 1."""


def test_records_of_earlier_memtiles_are_compared() -> None:
    run("ring.py", "--record", "new.json")
    record = json.loads(Path("new.json").read_text())
    record["result"] = {key: record["result"][key] for key in FIRST_KEYS}
    Path("old.json").write_text(json.dumps(record))
    diff("old.json", "new.json", code=0)
    record["result"]["channels"][0]["words"] = "many"
    Path("old.json").write_text(json.dumps(record))
    refused = diff("old.json", "new.json", code=2)["error"]["message"]
    assert "Expected `int`, got `str` - at `$.result.channels[0].words`. Write it again" in refused


def test_records_without_time_are_compared() -> None:
    run("ring.py", "--record", "timed.json")
    run("ring.py", "--untimed", "--record", "untimed.json")
    diff("untimed.json", "untimed.json", code=0)
    found = diff("timed.json", "untimed.json")["cycles"]
    assert [(each["what"], each["second"]) for each in found["run"]] == [
        ("cycles", None),
        ("host_cycles", None),
    ]
    assert found["causes"] == found["channels"] == []


def test_findings_that_only_one_has() -> None:
    others = diff("hold.py", "hold.py", "--set", "value=1", "--second-set", "value=0", code=2)
    assert "twice" in others["error"]["message"]
    found = diff("hold.py", "hold.py", "--second-set", "value=1")
    locks = {each["register"]: each["fields"] for each in found["registers"]["registers"]}
    assert locks["Lock9_value"] == [{"name": "Lock_value", "first": 0, "second": 1}]  # as they begin
    others = found["cycles"]["others"]
    assert [(each["what"], each["second"]) for each in others if each["where"] == "findings"] == [
        ("MT0302", None)
    ]


def test_words_that_come_out_otherwise() -> None:
    text = invoke("diff", "ring.py", "ring.py", "--second-set", "add=5", "--tolerance", "100%", code=1)
    assert "  MM2S 0: 1 of 128 elements differs, the first at [7]: 7 -> 12\n" in text
    assert "cycles:" not in text
    text = invoke("diff", "ring.py", "ring.py", "--second-set", "rows=2", code=1)
    assert "  MM2S 0: int32 128 -> int32 64\n" in text


def test_floats_are_compared_bit_by_bit() -> None:
    one = np.array([[np.nan, 0.0], [1.0, 2.0]], np.float32)
    two = np.array([[np.nan, -0.0], [1.0, 2.0]], np.float32)
    assert list(array_changes({"a": one}, {"a": one.copy()})) == []
    (change,) = array_changes({"a": one}, {"a": two})
    assert (change.count, change.index) == (1, (0, 1))
    assert list(array_changes({"a": np.zeros(0)}, {"a": np.zeros(0)})) == []


def test_descriptors_are_told_in_words_and_by_field(files: Path) -> None:
    base, bd = 1 << 20, 0xA0000 + 3 * 0x20
    words = [16, 0x20000, 0, 0, 0, 0, 0, 1 << 31]
    for name, length in (("old.txt", 16), ("new.txt", 24)):
        writes = [Write(base + bd + 4 * n, word) for n, word in enumerate([length, *words[1:]])]
        (files / name).write_text(dump_text([*writes, Write(base + 0x40, length)]))
    found = diff("old.txt", "new.txt", "--device", "npu1")["registers"]
    assert found["registers"] == [
        {
            "tile": "memory(0,1)",
            "register": "DMA_BD3_0",
            "first": "0x00000010",
            "second": "0x00000018",
            "fields": [{"name": "Buffer_Length", "first": 16, "second": 24}],
        }
    ]
    assert found["memory"] == {"memory(0,1)": 1}
    (descriptor,) = found["descriptors"]
    assert [line.partition(":")[0] for line in descriptor["second"]] == ["transfer", "order D0"]
    assert not set(descriptor["first"]) & set(descriptor["second"])
    assert not any(line.startswith(("acquire", "chain")) for line in descriptor["first"])  # as before
    text = invoke("diff", "old.txt", "new.txt", "--device", "npu1", code=1)
    assert "  memory(0,1) BD 3:\n    - transfer: moves 16 words (64 bytes)" in text
    assert "    + transfer: moves 24 words (96 bytes)" in text


def test_transactions_and_dumps_and_designs_are_register_files_alike() -> None:
    fine, hangs = (CORPUS / f"registers-begin-empty-{kind}.bin" for kind in ("fine", "hangs"))
    text = invoke("diff", fine, hangs, code=1)
    assert text.startswith("registers:\n  compute(0,2) Lock0_value: Lock_value 1 -> 0\n")
    assert text.count("->") == 1
    invoke("run", hangs, "--coredump", "core.elf", code=1)
    invoke("run", fine, "--coredump", "other.elf", code=0)
    assert diff("core.elf", "core.elf", code=0)["same"]
    text = invoke("diff", "core.elf", "other.elf", code=1)
    assert re.search(r"compute\(0,2\) DMA_\w+_Status_0: .*Stalled_Lock_Acq 1 -> 0", text)


def test_a_design_and_its_registers(files: Path) -> None:
    """Data memory is left out, which the run of the design has changed."""
    writes = [Write(1 << 20 | 0x40, 7), Write(1 << 20 | 0xC0000, 5)]
    (files / "locks.txt").write_text(dump_text(writes))
    found = diff("hold.py", "locks.txt", "--device", "npu1_1col")
    assert found["not_compared"] == ["cycles", "words"]
    assert found["registers"]["memory"] == {}
    values = {each["register"]: each for each in found["registers"]["registers"]}
    assert values["Lock0_value"]["fields"] == [{"name": "Lock_value", "first": 0, "second": 5}]


def test_mlir_designs_are_run_with_zeros() -> None:
    fine, hangs = (CORPUS / f"locks-begin-empty-{kind}.mlir" for kind in ("fine", "hangs"))
    found = diff(fine, hangs)
    assert {"where": "run", "what": "status", "first": "finished", "second": "stuck"} in (
        found["cycles"]["run"]
    )
    locks = {each["register"] for each in found["registers"]["registers"]}
    assert "Lock0_value" in locks


def test_what_has_nothing_in_common_is_refused() -> None:
    run("ring.py", "--record", "one.json")
    text = invoke("diff", "one.json", CORPUS / "registers-begin-empty-fine.bin", code=2)
    assert "a record and a file of registers have nothing in common" in text
    assert "there is no such file or folder" in invoke("diff", "one.json", "none.json", code=2)
    Path("old.json").write_text(json.dumps({"format": "memtile-record", "version": 99}))
    assert "the record has version 99; this memtile reads version 1" in invoke(
        "diff", "old.json", "one.json", code=2
    )
