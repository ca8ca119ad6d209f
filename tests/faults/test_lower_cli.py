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
        [f"tiling: tiling: 7 given, an object with buffer_dimension and element_bits allowed {SCHEMA}"],
    ),
    "nothing": (
        {},
        [
            f"tiling: buffer_dimension: nothing given, a value allowed {SCHEMA}",
            f"tiling: element_bits: nothing given, 4, 8, 16, 32, 64, or an element_type allowed {SCHEMA}",
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
            f'tiling a: tiling_dimension[1]: "4" given, a whole number allowed {SCHEMA}',
            f"tiling a: offset: 3 given, a list of whole numbers allowed {SCHEMA}",
            f"tiling a: repetition: true given, a whole number allowed {SCHEMA}",
            f"tiling a: tile_traversal[0].stride: nothing given, a value allowed {SCHEMA}",
            f"tiling a: tile_traversal[0].wrap: 1.5 given, a whole number allowed {SCHEMA}",
            f"tiling a: tile_traversal[1]: 9 given, {{dimension, stride, wrap}} allowed {SCHEMA}",
            f"tiling a: legal: 1 given, true or false allowed {SCHEMA}",
            f"tiling a: compiler: [] given, an object with bds_for_this_port allowed {SCHEMA}",
        ],
    ),
    "element size": (
        {"buffer_dimension": [8], "element_bits": 16, "element_type": "int8"},
        [f"tiling: element_bits: 16 given, 8, the size of int8 allowed {SCHEMA}"],
    ),
    "odd element size": (
        {"buffer_dimension": [8], "element_bits": 12},
        [f"tiling: element_bits: 12 given, one of 4, 8, 16, 32, 64 allowed {SCHEMA}"],
    ),
    "unknown places": (
        SOUND | {"memory": "shim", "access": ["read"]},
        [
            'tiling: memory: "shim" given, memtile or aie_ml_data_memory or '
            f"external_ddr_via_interface_tile allowed {SCHEMA}",
            f'tiling: access: ["read"] given, read or write allowed {SCHEMA}',
        ],
    ),
    "bad expectation": (
        SOUND | {"expected": {"kind": "values", "values": [0.5], "labels": {"shape": [2], "weights": []}}},
        [
            f"tiling: expected.values: [0.5] given, a list of whole numbers allowed {SCHEMA}",
            'tiling: expected.labels: {"shape": [2], "weights": []} given, shape (1 or more each) and '
            f"weights, alike long allowed {SCHEMA}",
        ],
    ),
}


@pytest.mark.parametrize("name", NO_SCHEMA)
def test_what_is_not_in_the_schema_is_named_by_key(name: str) -> None:
    case, expected = NO_SCHEMA[name]
    assert messages(case) == expected


def test_an_unknown_key_is_refused_with_the_nearest_one() -> None:
    (message,) = messages(SOUND | {"tile_traversel": []})
    assert message.startswith("tiling: tile_traversel: an unknown key given, access, boundary_dimension, ")
    assert message.endswith(f"tiling_dimension allowed {SCHEMA}; did you mean tile_traversal?")


UG1603 = "(UG1603, tiling parameters)"
PADDING = "(UG1603: zero padding only for memory tile reads); keep the tiles inside the buffer, or pad on a"
BAD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "rank mismatch": (
        {"tiling_dimension": [4], "offset": [0, 0, 0]},
        [
            f"tiling: tiling_dimension: 1 dimensions given, 2, the rank of buffer_dimension allowed {UG1603}",
            f"tiling: offset: 3 dimensions given, 2, the rank of buffer_dimension allowed {UG1603}",
        ],
    ),
    "zero and negative sizes": (
        {"buffer_dimension": [8, 0], "tiling_dimension": [-4, 1]},
        [
            f"tiling: buffer_dimension[1]: 0 given, 1 or more allowed {UG1603}",
            f"tiling: tiling_dimension[0]: -4 given, 1 or more allowed {UG1603}",
        ],
    ),
    "padding on a write": (
        {"access": "write", "offset": [-1, 0]},
        [
            "memory tile, write (S2MM): dimension 0: elements -1..6 given, elements 0..7 allowed "
            f"{PADDING} memory tile MM2S channel"
        ],
    ),
    "padding on the compute tile": (
        {"memory": "aie_ml_data_memory", "tiling_dimension": [8, 9]},
        [
            "compute tile, read (MM2S): dimension 1: elements 0..8 given, elements 0..7 allowed "
            f"{PADDING} memory tile MM2S channel"
        ],
    ),
    "unaligned offset": (
        {"element_bits": 16, "tiling_dimension": [4, 8], "offset": [3, 0]},
        [
            "16-bit elements: dimension 0, offset: 3 elements given, multiples of 2 elements (one 32-bit "
            "word) allowed (AM020 ch. 5: all DMA addresses are 32-bit); the nearest legal values are 2 and 4"
        ],
    ),
    "a sub-word transpose": (
        {
            "element_bits": 16,
            "tiling_dimension": [1, 8],
            "tile_traversal": [{"dimension": 0, "stride": 1, "wrap": 8}],
        },
        [
            f"16-bit elements: dimension 0, {name}: 1 elements given, multiples of 2 elements (one 32-bit "
            "word) allowed (AM020 ch. 5: all DMA addresses are 32-bit); the nearest is 2"
            for name in ("tile size", "stride")
        ],
    ),
    "more BDs than a parity bank": (
        {
            "buffer_dimension": [64, 64],
            "tiling_dimension": [3, 3],
            "offset": [-1, -1],
            "tile_traversal": [{"dimension": d, "stride": 2, "wrap": 32} for d in (0, 1)],
        },
        [
            "memory tile, read (MM2S): descriptors: 64 given, at most 24 allowed "
            "(AM020: BDs that one channel of the memory tile reaches); split the transfer over channels, "
            "or use fewer tiles per transfer"
        ],
    ),
    "a buffer that does not fit": (
        {"buffer_dimension": [1024, 1024]},
        [
            "memory tile, read (MM2S): buffer size: 4194304 bytes given, at most 1572864 bytes allowed "
            "(AM020 ch. 5: memory that the DMA can address); use a smaller buffer or element type, or keep "
            "it behind the interface tile"
        ],
    ),
    "the overflow of the guide": (
        {
            "buffer_dimension": [32, 32, 32, 16],
            "tiling_dimension": [32, 32, 32, 4],
            "tile_traversal": [{"dimension": 3, "stride": 8, "wrap": 2}],
        },
        [
            "memory tile, read (MM2S): stepsize: 262144 words given, 1..131072 words allowed (AM025: "
            "Dn_Stepsize has 17 bits); split the loop into separate tilings or use elements of 16 bits or "
            "move it from the interface tile (1..1048576 words)",
            "memory tile, read (MM2S): buffer size: 2097152 bytes given, at most 1572864 bytes allowed "
            "(AM020 ch. 5: memory that the DMA can address); use a smaller buffer or element type, or keep "
            "it behind the interface tile",
        ],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_tiling_is_refused_with_all_its_problems(name: str) -> None:
    change, expected = BAD[name]
    assert messages(SOUND | change) == expected


def test_a_tile_larger_than_padding_can_fill_is_refused() -> None:
    wide = {"buffer_dimension": [8], "tiling_dimension": [8 + 2 * 4_000_000], "offset": [-4_000_000]}
    (message,) = messages(SOUND | wide)
    assert message == (
        "memory tile, read (MM2S): descriptors: 70 given, at most 24 allowed (AM020: BDs that one channel of "
        "the memory tile reaches); split the transfer over channels, or use fewer tiles per transfer"
    )


def test_a_stream_that_would_fill_the_machine_is_refused_before_it_does() -> None:
    (message,) = messages(SOUND | {"buffer_dimension": [10**5, 10**5]}, "--tile", "interface")
    assert message == (
        "tiling: stream: 10000000000 elements given, at most 134217728 allowed (memtile compares every "
        "element of the stream with the walk); lower it in several parts"
    )


def test_text_names_the_tiling_and_every_problem() -> None:
    done = run("-", stdin=[SOUND, SOUND | {"id": "b", "offset": [0], "tiling_dimension": [1, 0]}])
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-6:] == [
        "b: read 8 x 8 elements of 32 bits in tiles of 1 x 0",
        f"  refused: tiling: offset: 1 dimensions given, 2, the rank of buffer_dimension allowed {UG1603}",
        f"  refused: tiling: tiling_dimension[1]: 0 given, 1 or more allowed {UG1603}",
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
    assert missing.stderr == f"error: {tmp_path / 'none'}: cannot be read: No such file or directory\n"
    bad = tmp_path / "bad.json"
    bad.write_text("[1,")
    assert run(str(bad)).stderr == f"error: {bad}, line 1, column 4: not JSON: Expecting value\n"


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["-", "--elements"], "--elements needs --json"),
        (["-", "--picture", "a.jpg"], "a.jpg: the name of a picture ends in .svg, .png, .html"),
        (["-", "--tile", "shim"], "'shim' is not one of"),
        ([], "Missing argument 'FILE.json|-'"),
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
    text = "word 3 of the lowered stream is wrong; please report it"
    done = run("-", "--json", stdin=[SOUND, 7])
    assert done.exit_code == 1
    first, second = json.loads(done.stdout)
    assert first == {"error": {"reason": "", "field": "", "message": text}}
    assert second["error"]["reason"] == "tiling"
    assert f"refused: {text}" in run("-", stdin=SOUND).stdout


@pytest.mark.parametrize("suffix", ["svg", "png", "html"])
def test_a_picture_that_cannot_be_written_is_a_message(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"a.{suffix}"
    target.symlink_to(tmp_path / "none" / "a")  # found out only by writing
    done = run("-", "--picture", str(target), stdin=SOUND)
    assert done.exit_code == 2
    assert done.stderr == f"error: {target}: cannot be written: No such file or directory\n"


def test_a_picture_without_a_place_is_refused_before_the_work(tmp_path: Path) -> None:
    target = tmp_path / "none" / "a.html"
    done = run("-", "--picture", str(target), stdin=SOUND)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"error: {target}: cannot be written: no such folder\n"


def test_every_picture_of_a_list_has_a_place_or_none_is_drawn(tmp_path: Path) -> None:
    second = tmp_path / "a-2.html"
    second.mkdir()
    done = run("-", "--picture", str(tmp_path / "a.html"), stdin=[SOUND, SOUND])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"error: {second}: cannot be written: it is a folder\n"
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
        'error: pictures need matplotlib, which is not installed: pip install "memtile[plots]"; '
        "an animated picture (.html) does not need it\n"
    )
    assert run("-", "--picture", str(tmp_path / "a.html"), stdin=SOUND).exit_code == 0
