"""Does ``memtile lower`` refuse every bad tiling with all its problems, and every bad call with a message?"""

from __future__ import annotations

import builtins
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memtile.access.lowering import lower as lowering
from memtile.access.lowering.certificate import Certificate
from memtile.cli import main

SCRIPT = Path(sys.executable).with_name("memtile")
SOUND: dict[str, Any] = {"buffer_dimension": [8, 8], "element_bits": 32}


def run(*args: str, stdin: object = None) -> Any:
    text = None if stdin is None else json.dumps(stdin)
    return CliRunner().invoke(main.app, ["lower", *args], input=text)


def messages(case: object, *args: str) -> list[str]:
    """All problems of one tiling."""
    done = run("-", "--json", *args, stdin=case)
    assert done.exit_code == 1
    error = json.loads(done.stdout)["error"]
    problems = error.get("problems", [error])
    assert {key: problems[0][key] for key in ("reason", "field", "message")} == {
        key: error[key] for key in ("reason", "field", "message")
    }
    return [problem["message"] for problem in problems]


SCHEMA = "(tiling schema)"
NO_SCHEMA: dict[str, tuple[object, list[str]]] = {
    "no object": (
        7,
        [f"tiling: tiling is 7; it must be an object with buffer_dimension and element_bits {SCHEMA}."],
    ),
    "nothing": (
        {},
        [
            f"tiling: buffer_dimension is missing, and there is no memory object to have it from {SCHEMA}.",
            (
                "tiling: element_bits is missing; it must be one of 4, 8, 16, 32, 64, or there must be "
                f"an element_type {SCHEMA}."
            ),
        ],
    ),
    "wrong types": (
        SOUND
        | {
            "id": "a",
            "offset": 3,
            "tiling_dimension": [4, "4"],
            "tile_traversal": [{"dimension": 0, "wrap": 1.5}, 9],
            "repetition": True,
            "legal": 1,
            "compiler": [],
        },
        [
            f'tiling a: tiling_dimension[1] is "4"; it must be a whole number {SCHEMA}.',
            f"tiling a: offset is 3; it must be a list of whole numbers {SCHEMA}.",
            f"tiling a: repetition is true; it must be a whole number {SCHEMA}.",
            f"tiling a: tile_traversal[0].stride is missing {SCHEMA}.",
            f"tiling a: tile_traversal[0].wrap is 1.5; it must be a whole number {SCHEMA}.",
            f"tiling a: tile_traversal[1] is 9; it must be {{dimension, stride, wrap}} {SCHEMA}.",
            f"tiling a: legal is 1; it must be true or false {SCHEMA}.",
            f"tiling a: compiler is []; it must be an object with bds_for_this_port {SCHEMA}.",
        ],
    ),
    "element size": (
        {"buffer_dimension": [8], "element_bits": 16, "element_type": "int8"},
        [f"tiling: element_bits is 16; it must be 8, the size of int8 {SCHEMA}."],
    ),
    "odd element size": (
        {"buffer_dimension": [8], "element_bits": 12},
        [f"tiling: element_bits is 12; it must be one of 4, 8, 16, 32, 64 {SCHEMA}."],
    ),
    "unknown places": (
        SOUND | {"memory": "shim", "access": ["read"]},
        [
            'tiling: memory is "shim"; it must be memtile or aie_ml_data_memory or '
            f"external_ddr_via_interface_tile {SCHEMA}.",
            f'tiling: access is ["read"]; it must be read or write {SCHEMA}.',
        ],
    ),
    "bad expectation": (
        SOUND | {"expected": {"kind": "values", "values": [0.5], "labels": {"shape": [2], "weights": []}}},
        [
            f"tiling: expected.values is [0.5]; it must be a list of whole numbers {SCHEMA}.",
            'tiling: expected.labels is {"shape": [2], "weights": []}; it must be an object with shape '
            f"(each 1 or more) and weights, two lists of the same length {SCHEMA}.",
        ],
    ),
}


@pytest.mark.parametrize("name", NO_SCHEMA)
def test_what_is_not_in_the_schema_is_named_by_key(name: str) -> None:
    case, expected = NO_SCHEMA[name]
    assert messages(case) == expected


def test_an_unknown_key_is_refused_with_the_nearest_one() -> None:
    (message,) = messages(SOUND | {"tile_traversel": []})
    assert message.startswith(
        "tiling: tile_traversel is not a key; known keys are access, boundary_dimension, "
        "buffer_dimension, buffer_iteration, element_bits, element_type, memory, memref, name, offset, "
        "packet_port_id, phase, repetition, tile_traversal, tiling_dimension"
    )
    assert message.endswith(
        "tile_traversel is not a key; known keys are access, boundary_dimension, buffer_dimension, "
        "buffer_iteration, element_bits, element_type, memory, memref, name, offset, packet_port_id, phase, "
        f"repetition, tile_traversal, tiling_dimension {SCHEMA}. Did you mean tile_traversal?"
    )


UG1603 = "(UG1603, tiling parameters)"
PADDING = "(UG1603: zero padding only for memory tile reads); keep the tiles inside the buffer, or pad on a"
BAD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "rank mismatch": (
        {"tiling_dimension": [4], "offset": [0, 0, 0]},
        [
            f"tiling: tiling_dimension has 1 dimension; it must have 2, as buffer_dimension has {UG1603}.",
            f"tiling: offset has 3 dimensions; it must have 2, as buffer_dimension has {UG1603}.",
        ],
    ),
    "zero and negative sizes": (
        {"buffer_dimension": [8, 0], "tiling_dimension": [-4, 1]},
        [
            f"tiling: buffer_dimension[1] is 0; it must be 1 or more {UG1603}.",
            f"tiling: tiling_dimension[0] is -4; it must be 1 or more {UG1603}.",
        ],
    ),
    "padding on a write": (
        {"access": "write", "offset": [-1, 0]},
        [
            "memory tile, write (S2MM): the tiles cover elements -1..6 of dimension 0, allowed are "
            "0..7 (UG1603: zero padding only for memory tile reads). Keep the tiles inside the buffer, "
            "or pad on a memory tile MM2S channel."
        ],
    ),
    "padding on the compute tile": (
        {"memory": "aie_ml_data_memory", "tiling_dimension": [8, 9]},
        [
            "compute tile, read (MM2S): the tiles cover elements 0..8 of dimension 1, allowed are 0..7 "
            "(UG1603: zero padding only for memory tile reads). Keep the tiles inside the buffer, or "
            "pad on a memory tile MM2S channel."
        ],
    ),
    "unaligned offset": (
        {"element_bits": 16, "tiling_dimension": [4, 8], "offset": [3, 0]},
        [
            "16-bit elements: dimension 0, offset is 3 elements; it must be a multiple of 2, one "
            "32-bit word (AM020 ch. 5: all DMA addresses are 32-bit). The nearest legal values are 2 "
            "and 4."
        ],
    ),
    "a sub-word transpose": (
        {
            "element_bits": 16,
            "tiling_dimension": [1, 8],
            "tile_traversal": [{"dimension": 0, "stride": 1, "wrap": 8}],
        },
        [
            f"16-bit elements: dimension 0, {name} is 1 element; it must be a multiple of 2, one 32-bit "
            "word (AM020 ch. 5: all DMA addresses are 32-bit). The nearest legal value is 2."
            for name in ("tile size", "stride")
        ],
    ),
    "more BDs than a parity bank": (
        {
            "buffer_dimension": [32, 32, 32],
            "tiling_dimension": [3, 3, 3],
            "offset": [-1, -1, -1],
            "tile_traversal": [{"dimension": d, "stride": 2, "wrap": 16} for d in range(3)],
        },
        [
            "memory tile, read (MM2S): the transfer needs 36 descriptors, a channel reaches 24 (AM020: "
            "BDs that one channel of the memory tile reaches). Split the transfer over channels, or "
            "use fewer tiles per transfer."
        ],
    ),
    "a buffer that does not fit": (
        {"buffer_dimension": [1024, 1024]},
        [
            "memory tile, read (MM2S): the buffer has 4194304 bytes, the DMA can address 1572864 "
            "(AM020 ch. 5: memory that the DMA can address). Use a smaller buffer or element type, or "
            "keep it behind the interface tile."
        ],
    ),
    "the overflow of the guide": (
        {
            "buffer_dimension": [32, 32, 32, 16],
            "tiling_dimension": [32, 32, 32, 4],
            "tile_traversal": [{"dimension": 3, "stride": 8, "wrap": 2}],
        },
        [
            "memory tile, read (MM2S): a loop has a step of 262144 words, allowed are 1..131072 "
            "(AM025: Dn_Stepsize has 17 bits). Split the loop into separate tilings, or use elements "
            "of 16 bits, or move it from the interface tile (1..1048576 words).",
            "memory tile, read (MM2S): the buffer has 2097152 bytes, the DMA can address 1572864 "
            "(AM020 ch. 5: memory that the DMA can address). Use a smaller buffer or element type, or "
            "keep it behind the interface tile.",
        ],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_tiling_is_refused_with_all_its_problems(name: str) -> None:
    change, expected = BAD[name]
    assert messages(SOUND | change) == expected


def test_a_tile_larger_than_padding_can_fill_takes_tasks_of_zeros() -> None:
    wide = {"buffer_dimension": [8], "tiling_dimension": [8 + 2 * 400_000], "offset": [-400_000]}
    done = run("-", "--json", stdin=SOUND | wide)
    assert done.exit_code == 0
    tasks = json.loads(done.stdout)["tasks"]
    assert [(len(task["bds"]), task["runs"]) for task in tasks] == [(1, 3), (2, 1), (1, 3), (1, 1)]


def test_a_stream_that_would_fill_the_machine_is_refused_before_it_does() -> None:
    (message,) = messages(SOUND | {"buffer_dimension": [10**5, 10**5]}, "--tile", "interface")
    assert message == (
        "tiling: the stream has 10000000000 elements; it must have at most 134217728 (memtile compares "
        "every element of the stream with the walk). Lower it in several parts."
    )


def test_text_names_the_tiling_and_every_problem() -> None:
    done = run("-", stdin=[SOUND, SOUND | {"id": "b", "offset": [0], "tiling_dimension": [1, 0]}])
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-6:] == [
        "b: read 8 x 8 elements of 32 bits in tiles of 1 x 0",
        f"  refused: tiling: offset has 1 dimension; it must have 2, as buffer_dimension has {UG1603}.",
        f"  refused: tiling: tiling_dimension[1] is 0; it must be 1 or more {UG1603}.",
        "",
        "1 of 2 tilings lowered, every walk checked",
        "1 refused, 0 of them as the input says",
    ]


def test_a_tiling_called_bad_that_is_good_is_a_bad_result() -> None:
    done = run("-", "--json", stdin=SOUND | {"legal": False})
    assert (done.exit_code, json.loads(done.stdout)["bds"]) == (1, 1)
    assert run("-", "--json", stdin=SOUND | {"legal": False, "repetition": 0}).exit_code == 0


def test_a_bad_file_is_a_message(tmp_path: Path) -> None:
    missing = subprocess.run([SCRIPT, "lower", tmp_path / "none"], capture_output=True, text=True, timeout=60)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr == (
        f"error: {tmp_path / 'none'}: the file cannot be read: No such file or directory.\n"
    )
    bad = tmp_path / "bad.json"
    bad.write_text("[1,")
    assert run(str(bad)).stderr == f"error: {bad}, line 1, column 4: this is not JSON: Expecting value.\n"


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["-", "--elements"], "--elements needs --json"),
        (["-", "--plane", "1,2"], "--plane needs --picture"),
        (["-", "--picture", "a.svg", "--plane", "x"], "--plane is 'x'; it must be two"),
        (["-", "--picture", "a.jpg"], "a.jpg: the name of a picture must end in one of .svg, .png, .html"),
        (["-", "--tile", "shim"], "'shim' is not one of"),
        ([], "give a file, - for standard input, or --memref; one of them"),
    ],
)
def test_wrong_usage_exits_with_2(args: list[str], text: str) -> None:
    done = run(*args, stdin=SOUND)
    assert (done.exit_code, done.stdout) == (2, "")
    assert text in done.stderr


def test_a_wrong_stream_of_ours_is_an_answer_like_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of one sentence, without a problem of the input."""
    wrong = Certificate(words=64, pads=0, difference=3)
    monkeypatch.setattr(lowering, "certify", lambda *_: wrong)
    lowering._lowered.cache_clear()
    lowering._placed.cache_clear()
    text = (
        "Word 3 of the lowered stream is wrong. This is a fault of memtile: please report it with the tiling."
    )
    done = run("-", "--json", stdin=[SOUND, 7])
    assert done.exit_code == 1
    first, second = json.loads(done.stdout)
    assert first == {"error": {"reason": "transfer", "field": "", "message": text}}
    assert second["error"]["reason"] == "tiling"
    assert f"refused: {text}" in run("-", stdin=SOUND).stdout


@pytest.mark.parametrize("suffix", ["svg", "png", "html"])
def test_a_picture_that_cannot_be_written_is_a_message(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"a.{suffix}"
    target.symlink_to(tmp_path / "none" / "a")  # found out only by writing
    done = run("-", "--picture", str(target), stdin=SOUND)
    assert done.exit_code == 2
    assert done.stderr == f"error: {target}: the file cannot be written: No such file or directory.\n"


def test_a_picture_without_a_place_is_refused_before_the_work(tmp_path: Path) -> None:
    target = tmp_path / "none" / "a.html"
    done = run("-", "--picture", str(target), stdin=SOUND)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"error: {target}: the file cannot be written: there is no such folder.\n"


def test_every_picture_of_a_list_has_a_place_or_none_is_drawn(tmp_path: Path) -> None:
    second = tmp_path / "a-2.html"
    second.mkdir()
    done = run("-", "--picture", str(tmp_path / "a.html"), stdin=[SOUND, SOUND])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"error: {second}: the file cannot be written: it is a folder.\n"
    assert list(tmp_path.iterdir()) == [second]


def test_without_matplotlib_a_picture_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = builtins.__import__

    def without(name: str, *args: Any, **options: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return original(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    done = run("-", "--picture", str(tmp_path / "a.svg"), stdin=SOUND)
    assert done.exit_code == 2
    assert done.stderr == (
        'error: Pictures need matplotlib, which is not installed: pip install "matplotlib". '
        "An animated picture (.html) does not need it.\n"
    )
    assert run("-", "--picture", str(tmp_path / "a.html"), stdin=SOUND).exit_code == 0
