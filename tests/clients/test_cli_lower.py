"""Does ``memtile lower`` give people and programs the right descriptors, and say how it got there?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile.access.lowering.certificate import QueueEntry, stream
from memtile.access.tiling import tiling_elements
from memtile.access.tiling_cases import parse_tiling
from memtile.arch.tiles import MEMORY
from memtile.bd.descriptor_cases import parse_case, words_of_case
from memtile.cli import main, progress
from support.formats.oracle_files import load

SCRIPT = Path(sys.executable).with_name("memtile")
ROOT = Path(__file__).parents[2]
ORACLE = Path(__file__).parents[1] / "oracle/tilings.json"
EXAMPLES = ROOT / "examples" / "tilings"
CASES = {case["id"]: case for case in load("tilings")["tilings"]}
OVERFLOW: dict[str, Any] = {
    "buffer_dimension": [32, 32, 32, 16],
    "tiling_dimension": [32, 32, 32, 4],
    "tile_traversal": [{"dimension": 3, "stride": 8, "wrap": 2}],
    "element_bits": 32,
}


def run(*args: str, stdin: object = None) -> Any:
    text = None if stdin is None else json.dumps(stdin)
    return CliRunner().invoke(main.app, ["lower", *args], input=text)


def answer(*args: str, stdin: object) -> Any:
    return json.loads(run("-", "--json", *args, stdin=stdin).stdout)


@pytest.mark.feature("F37", "F38", "F39", "F40", "F45")
def test_the_whole_file_of_published_tilings_has_no_wrong_sequence() -> None:
    done = subprocess.run([SCRIPT, "lower", ORACLE], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[-3:] == [
        "119 of 120 tilings lowered, every walk checked",
        "1 refused, 1 of them as the input says",
        "0 wrong sequences of 12 published",
    ]
    table = [line.split() for line in lines if line.startswith("│")]
    assert [[row[1], row[3], row[5]] for row in table] == [
        ["mt_t1", "1", "32"],
        ["mt_t2", "1", "2"],
        ["mt_t3_stage1_read", "1", "2"],
        ["mt_t3_stage2_read", "4", "8"],
    ]


def test_json_elements_are_the_sequence_and_the_descriptors_walk_it() -> None:
    answers = json.loads(run(str(ORACLE), "--json", "--elements").stdout)
    assert len(answers) == len(CASES)
    for case, given in zip(CASES.values(), answers, strict=True):
        if not case.get("legal", True):
            assert given.keys() == {"error"}, case["id"]
            continue
        assert np.array_equal(given["elements"], tiling_elements(parse_tiling(case).tiling)), case["id"]
        assert given["bds"] == len(given["descriptors"])
        descriptors = [parse_case(descriptor).descriptor for descriptor in given["descriptors"]]
        tasks = [
            QueueEntry(tuple(descriptors[bd] for bd in task["bds"]), task["runs"]) for task in given["tasks"]
        ]
        words = stream(tasks)
        assert len(words) * 32 == len(given["elements"]) * case["element_bits"]


def test_descriptors_are_a_chain_that_encodes() -> None:
    given = answer(stdin=CASES["mt_t3_stage2_read"])
    assert given["runs"] == 1
    assert [(d["bd"], d.get("next")) for d in given["descriptors"]] == [(0, 1), (1, 2), (2, 3), (3, None)]
    assert all(len(words_of_case(descriptor)) == MEMORY.bd_words for descriptor in given["descriptors"])
    assert "elements" not in given


@pytest.mark.parametrize(
    ("bits", "width", "expected"),
    [(4, 8, list(range(8))), (16, 2, [0, 1]), (64, 1, [0])],
)
def test_elements_are_counted_in_the_elements_of_the_tiling(
    bits: int, width: int, expected: list[int]
) -> None:
    case = {
        "buffer_dimension": [16, 4],
        "tiling_dimension": [width, 1],
        "tile_traversal": [{"dimension": 1, "stride": 2, "wrap": 2}],
        "element_bits": bits,
    }
    assert answer("--elements", stdin=case)["elements"] == expected + [n + 32 for n in expected]


def test_padding_is_minus_one_and_one_tiling_gives_one_object() -> None:
    case = {"buffer_dimension": [4], "tiling_dimension": [7], "offset": [-2], "element_type": "int32"}
    assert answer("--elements", stdin=case)["elements"] == [-1, -1, 0, 1, 2, 3, -1]
    assert [item["bds"] for item in answer(stdin=[case])] == [1]
    assert [item["bds"] for item in answer(stdin={"format": "x", "tilings": [case, case]})] == [1, 1]
    assert run("-", "--json", stdin=[]).stdout == "[]\n"


def test_tile_and_access_override_the_file() -> None:
    case = {"buffer_dimension": [64], "element_bits": 32, "memory": "memtile", "access": "read"}
    assert answer(stdin=case)["descriptors"][0]["tile"] == "memory"
    assert answer("--tile", "compute", stdin=case)["descriptors"][0]["tile"] == "compute"
    padded = case | {"tiling_dimension": [66]}
    assert answer(stdin=padded)["bds"] == 1
    assert answer("--access", "write", stdin=padded)["error"]["reason"] == "padding"


@pytest.mark.feature("F41")
def test_the_overflow_example_fits_the_interface_tile_and_eight_bits() -> None:
    (wide,) = answer("--tile", "interface", stdin=OVERFLOW)["descriptors"]
    assert wide["dims"][-1] == [8 * 32**3, None]
    (narrow,) = answer(stdin=OVERFLOW | {"element_bits": 8})["descriptors"]
    assert narrow["dims"][-1][0] == 8 * 32**3 // 4


@pytest.mark.feature("F46")
def test_rank_is_limited_where_the_memory_is_declared_only() -> None:
    """DEV-TIL-1."""
    assert "| DEV-TIL-1 |" in (ROOT / "docs" / "deviations.md").read_text(encoding="utf-8")
    declared = OVERFLOW | {"memory": "external_ddr_via_interface_tile"}
    assert answer(stdin=declared)["error"]["message"] == (
        "tiling: buffer_dimension has 4 dimensions; the interface tile has at most 3 (UG1603, tiling "
        "parameters). Join dimensions that are next to each other."
    )
    assert "bds" in answer("--tile", "interface", stdin=declared)
    joined = declared | {
        "buffer_dimension": [32 * 32, 32, 16],
        "tiling_dimension": [32 * 32, 32, 4],
        "tile_traversal": [{"dimension": 2, "stride": 8, "wrap": 2}],
    }
    assert answer(stdin=joined) == answer("--tile", "interface", stdin=OVERFLOW)


def test_text_shows_every_step() -> None:
    assert run(str(EXAMPLES / "t1.json")).stdout.splitlines() == [
        "t1: read 8 x 8 x 16 elements of 32 bits in tiles of 4 x 4 x 1",
        "  asked      from (0, 0, 0): 16 x d2+1, 2 x d1+4, 2 x d0+4, 4 x d1+1, 4 x d0+1",
        "  NumPy      a.reshape(16, 2, 4, 2, 4).transpose(0, 1, 3, 2, 4), a of shape (16, 8, 8)",
        "  clipped    from element 0: 32 x +32, 2 x +4, 4 x +8, 4 x +1",
        "  in words   from word 0: 32 x +32, 2 x +4, 4 x +8, 4 x +1",
        "  BD 0       1024 words (4096 bytes) from word 0 of the buffer",
        "             order D0: 4 words in a row",
        "             order D1: 4 rows 8 words apart",
        "             order D2: 2 planes 4 words apart",
        "             order D3: 32 blocks 32 words apart, until the length is used up",
        "             0x00000400 0x00000000 0x00080000 0x00080007 "
        "0x00040003 0x0000001F 0x00000000 0x80000000",
        "  uses       1 BD of 24 that a channel of the memory tile reaches; 1 run of the chain",
        "  published  32 BDs by AMD's compiler, its two phases together",
        "  checked    the walk of the descriptors is the order asked for: 1024 words, 0 of them padding",
        "",
    ]


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.json")))
def test_the_examples_lower(name: str) -> None:
    done = run(str(EXAMPLES / f"{name}.json"))
    assert done.exit_code == (1 if name == "overflow" else 0)  # that one shows a refusal
    assert done.stdout.startswith(f"{name}: read ")


def test_a_list_ends_with_what_was_refused_and_what_is_wrong() -> None:
    wrong = CASES["doc1d_prepad"] | {"offset": [-31]}
    done = run("-", stdin=[wrong, CASES["doc1d_lin_a"], {"buffer_dimension": [0], "element_bits": 32}])
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-3:] == [
        "2 of 3 tilings lowered, every walk checked",
        "1 refused, 0 of them as the input says",
        "1 wrong sequence of 2 published: doc1d_prepad",
    ]


def test_a_written_memory_is_compared_only_when_its_stream_is_there() -> None:
    both = [CASES["mm_t2_read"], CASES["mm_t2_write"]]
    assert run("-", stdin=both).stdout.splitlines()[-1] == "0 wrong sequences of 1 published"
    assert run("-", stdin=both[1:]).stdout.splitlines()[-1].startswith("1 of 1 tiling lowered")


def test_a_slow_list_goes_on_behind_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "QUIET_SECONDS", -1.0)
    assert list(progress.watched([1, 2, 3], "counting")) == [1, 2, 3]


@pytest.mark.parametrize("order", [lambda names: names, lambda names: names[::-1]])
def test_answers_come_in_the_order_of_the_list(order: Callable[[list[str]], list[str]]) -> None:
    names = order(["doc1d_lin_a", "mt_t3_stage2_read", "user_bug_overrun"])
    given = answer(stdin=[CASES[name] for name in names])
    counts = [item.get("bds", 0) for item in given]
    assert counts == order([1, 4, 0])
    assert all(a != b for a, b in pairwise(counts))
