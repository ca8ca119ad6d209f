"""Does ``memtile bd`` work for people at a shell and for programs that pipe JSON through it?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memtile import __version__
from memtile.arch.tiles import TILE_KINDS
from memtile.cli import bd, main

SCRIPT = Path(sys.executable).with_name("memtile")
ORACLE = Path(__file__).parents[1] / "oracle/bd_words.json"
ONE = {"tile": "memory", "bd": 2, "length": 128, "address": 131072, "dims": [[16, 8], [1, 16]]}
ONE_WORDS = ["0x00000080", "0x00020000", "0x0010000F", "0x00200000", *["0x00000000"] * 3, "0x80000000"]


def shell(*args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *args], input=stdin, capture_output=True, text=True, timeout=60)


ONE_ANSWER = {"tile": ONE["tile"], "bd": ONE["bd"], "words": ONE_WORDS}


def run(*args: str, stdin: str = "") -> Any:
    return CliRunner().invoke(main.app, list(args), input=stdin)


def test_encode_over_the_whole_oracle_file_gives_no_mismatch() -> None:
    done = shell("bd", "encode", str(ORACLE))
    assert (done.returncode, done.stderr) == (1, "")
    answers = json.loads(done.stdout)
    cases = json.loads(ORACLE.read_text())["cases"]
    assert len(answers) == len(cases)
    for case, answer in zip(cases, answers, strict=True):
        if case["expect"] == "words":
            notes = {"notes": answer["notes"]} if "notes" in answer else {}
            kind = {"tile": case["tile"], "bd": case["bd"]}
            assert answer == {**kind, "words": case["words"], **notes}, case["id"]
        elif case["expect"] == "error":
            assert answer["error"]["reason"] in case["reason"], case["id"]
            reasons = {p["reason"] for p in answer["error"].get("problems", [answer["error"]])}
            assert reasons == set(case["reason"]), case["id"]


def test_one_case_from_a_pipe_gives_one_object() -> None:
    done = shell("bd", "encode", "-", stdin=json.dumps(ONE))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == ONE_ANSWER


def test_a_refused_case_is_an_answer_not_a_failure() -> None:
    done = run(
        "bd", "encode", stdin=json.dumps([ONE, ONE | {"length": -1, "ooo_id": 64}, ONE | {"next": 48}])
    )
    first, second, third = json.loads(done.stdout)
    assert done.exit_code == 1
    assert first == ONE_ANSWER
    assert {key: second["error"][key] for key in ("reason", "field")} == {
        "reason": "length",
        "field": "Buffer_Length",
    }
    assert [p["field"] for p in second["error"]["problems"]] == ["Buffer_Length", "Out_Of_Order_BD_ID"]
    assert third == {
        "error": {
            "reason": "next_bd",
            "field": "Next_BD",
            "message": "memory tile, BD 2: Next_BD (next) is 48, allowed are 0..47 (AM020: 48 BDs).",
        }
    }


def test_a_list_gives_a_list() -> None:
    assert run("bd", "encode", stdin="[]").stdout == "[]\n"
    assert json.loads(run("bd", "encode", stdin=json.dumps([ONE])).stdout) == [ONE_ANSWER]
    assert json.loads(run("bd", "encode", stdin=json.dumps({"cases": [ONE]})).stdout) == [ONE_ANSWER]


def test_decode_undoes_encode(tmp_path: Path) -> None:
    cases = [case for case in json.loads(ORACLE.read_text())["cases"] if case["expect"] == "words"]
    words = tmp_path / "words.json"
    words.write_text(json.dumps([{key: case[key] for key in ("tile", "bd", "words")} for case in cases]))
    decoded = run("bd", "decode", str(words))
    assert decoded.exit_code == 0
    again = run("bd", "encode", stdin=decoded.stdout)
    assert again.exit_code == 0
    assert [answer["words"] for answer in json.loads(again.stdout)] == [case["words"] for case in cases]


def test_decode_writes_what_encode_reads() -> None:
    done = run("bd", "decode", stdin=json.dumps({"tile": "memory", "bd": 2, "words": ONE_WORDS}))
    flags = {"ooo_id": 0, "compression": False, "tlast_suppress": False, "valid": True}
    assert json.loads(done.stdout) == ONE | {"pad": []} | flags


def test_decode_answers_bad_words_with_errors() -> None:
    bad = [
        {"tile": "memory", "words": [1, 2]},
        {"words": [0] * 8},
        {"tile": "compute", "words": [0, 1, 0, 0, 0, 0]},
        7,
    ]
    done = run("bd", "decode", stdin=json.dumps(bad))
    assert done.exit_code == 1
    assert [item["error"]["reason"] for item in json.loads(done.stdout)] == [
        "word_count",
        "tile",
        "reserved_bits",
        "words",
    ]


def test_explain_prints_sentences_and_pictures() -> None:
    done = shell("bd", "explain", "0x80", "0xA0000", "0x10000F", "0x200000", "0", "0", "0", "0x8140FF41")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert lines[:2] == ["memory tile, BD 0", "acquire   waits until lock 65 (own lock 1) >= 1, then takes 1"]
    assert "release   at the end gives 1 to lock 64 (own lock 0)" in lines
    assert "order D1  16 rows 1 word apart" in lines
    assert "  0  16  32  48  64  80  96 112" in lines
    assert "  1   9  17  25  33  41  49  57  65  73  81  89  97 105 113 121" in lines


def test_explain_reads_what_encode_writes() -> None:
    encoded = run("bd", "encode", stdin=json.dumps(ONE)).stdout
    data = json.loads(run("bd", "explain", "--json", "-", stdin=encoded).stdout)
    assert data["words"] == ONE_WORDS
    assert data["descriptor"]["dims"] == ONE["dims"]
    assert {"topic": "order D0", "text": "8 words 16 words apart"} in data["lines"]
    assert data["pictures"][0]["cells"][1][:3] == [1, 17, 33]
    assert data["problems"] == []
    two = run("bd", "explain", "--json", stdin=json.dumps([{"bd": ONE["bd"], "words": ONE_WORDS}] * 2))
    assert json.loads(two.stdout) == [data | {"descriptor": data["descriptor"]}] * 2


def test_explain_says_what_is_not_legal() -> None:
    done = run("bd", "explain", "--bd", "3", "16", "0x20000", "0", "0", "0", "0", "0", "0x800080C8")
    assert done.exit_code == 0
    assert "waits until lock 200 (beyond every window) == 0" in done.stdout
    assert "not legal: memory tile, BD 3: Lock_Acq_ID (acquire.id) is 200, allowed are 0..191" in done.stdout


BAD_FILES = {
    "text.json": (b"length 5", "text.json, line 1, column 1: this is not JSON: Expecting value."),
    "comma.json": (
        b'[{"tile": "memory"},\n {"tile" 4}]',
        "comma.json, line 2, column 10: this is not JSON: Expecting ':' delimiter.",
    ),
    "empty.json": (b"", "empty.json, line 1, column 1: this is not JSON: Expecting value."),
    "latin.json": (b'{"tile": "\xff"}', "latin.json: byte 10 is not UTF-8 text."),
    "twice.json": (b'{"length": 1, "length": 2}', 'twice.json: an object has the key "length" twice.'),
    "deep.json": (b"[" * 200_000, "deep.json: this JSON cannot be read: it is nested too deeply."),
    "digits.json": (b"9" * 5000, "digits.json: this JSON cannot be read: a number has 5000 digits."),
}


@pytest.mark.parametrize("command", ["encode", "decode", "explain"])
@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_named_with_the_place(tmp_path: Path, command: str, name: str) -> None:
    content, message = BAD_FILES[name]
    (tmp_path / name).write_bytes(content)
    done = run("bd", command, str(tmp_path / name))
    assert done.exit_code == 2
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    if command == "explain":
        assert done.stdout == ""
    else:
        assert message in json.loads(done.stdout)["error"]["message"]


def test_standard_input_is_called_so() -> None:
    done = CliRunner().invoke(main.app, ["bd", "encode", "-"], input=b"\xff")
    assert done.stderr == "error: standard input: byte 0 is not UTF-8 text.\n"


@pytest.mark.parametrize("command", [["bd", "encode"], ["lower", "-"]])
def test_nobody_is_left_before_a_terminal_that_waits_for_json(command: list[str]) -> None:
    person, terminal = os.openpty()
    try:
        done = subprocess.run([SCRIPT, *command], stdin=terminal, capture_output=True, text=True, timeout=60)
    finally:
        os.close(person)
        os.close(terminal)
    assert done.returncode == 2
    assert "give a file, or pipe JSON into standard input" in done.stderr


def test_words_of_thousands_of_digits_are_no_words() -> None:
    done = run("bd", "decode", stdin=json.dumps({"tile": "compute", "words": ["0x" + "f" * 5000, *[0] * 5]}))
    error = json.loads(done.stdout)["error"]
    assert (done.exit_code, error["reason"], error["field"]) == (1, "word", "word 0")


def test_errors_are_messages_not_tracebacks(tmp_path: Path) -> None:
    missing = shell("bd", "encode", str(tmp_path / "none.json"))
    assert missing.returncode == 2
    assert missing.stderr == (
        f"error: {tmp_path / 'none.json'}: the file cannot be read: No such file or directory.\n"
    )
    folder = shell("bd", "decode", str(tmp_path))
    assert (folder.returncode, folder.stderr) == (
        2,
        f"error: {tmp_path}: the file cannot be read: Is a directory.\n",
    )
    words = shell("bd", "explain", "1", "2", "x")
    assert words.returncode == 2
    assert words.stderr.startswith('error: memory tile, BD 0: word 2 is "x"; it must be a number or')
    two = shell("bd", "explain", "--bd", "48", "1", "2", "x")
    assert two.stderr.startswith(
        "2 errors:\n  memory tile, BD 48: bd is 48, allowed are 0..47 (AM020: 48 BDs).\n  memory"
    )


@pytest.mark.parametrize(
    "args",
    [
        ["bd", "encode", "--wrong"],
        ["bd", "encode", "a", "b"],
        ["bd", "explain", "--tile", "shim"],
        ["nothing"],
    ],
)
def test_wrong_usage_exits_with_2(args: list[str]) -> None:
    done = run(*args)
    assert done.exit_code == 2
    assert "Usage: " in done.stderr
    assert done.stdout == "" or json.loads(done.stdout)["error"]["reason"] == "usage"


def test_ctrl_c_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_file: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bd, "read_json_lines", interrupt)
    assert run("bd", "encode", "-").exit_code == 130


@pytest.mark.parametrize("args", [[], ["bd"], ["bd", "encode"], ["bd", "decode"], ["bd", "explain"]])
def test_every_command_has_help(args: list[str]) -> None:
    done = run(*args, "--help")
    assert (done.exit_code, done.stderr) == (0, "")
    if len(args) == 2:
        assert f"Examples:\n    memtile {' '.join(args)} " in done.stdout
    else:
        assert "Commands:" in done.stdout


def test_the_version() -> None:
    done = shell("--version")
    assert (done.returncode, done.stdout) == (0, f"memtile {__version__}\n")


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['memtile', '--help']\n"
        "from memtile.cli.main import app\n"
        "try: app()\n"
        "except SystemExit: print([m for m in ('numpy', 'numba', 'rich', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.parametrize("tile", TILE_KINDS)
def test_what_encode_writes_is_read_by_decode_and_explain_for_every_tile_kind(tile: str) -> None:
    case = {"tile": tile, "bd": 3, "length": 8, "address": 64, "dims": [[2, 4], [9, 2]]}
    encoded = run("bd", "encode", stdin=json.dumps(case)).stdout
    decoded = json.loads(run("bd", "decode", stdin=encoded).stdout)
    assert {key: decoded[key] for key in case} == case
    explained = json.loads(run("bd", "explain", "--json", stdin=encoded).stdout)
    assert {key: explained["descriptor"][key] for key in case} == case
    assert json.loads(run("bd", "encode", stdin=json.dumps(decoded)).stdout) == json.loads(encoded)


def test_words_of_another_tile_kind_say_which_it_could_be() -> None:
    done = run("bd", "explain", "16", "0", "0", "0", "0", "0x02000000")
    assert done.exit_code == 2
    assert "6 words are given; a BD of this tile has 8 (AM025 DMA_BDn_w). A BD of tile kind compute" in flat(
        done
    )
    assert "has 6 words: --tile, or tile in JSON." in flat(done)


def flat(done: Any) -> str:
    return " ".join(done.output.split())


def test_lines_of_json_are_a_list() -> None:
    """NDJSON, as logs and jq -c write it."""
    lines = "\n".join([json.dumps(ONE), "", json.dumps(ONE | {"bd": 4})]) + "\n"
    encoded = run("bd", "encode", stdin=lines)
    assert [item["bd"] for item in json.loads(encoded.stdout)] == [ONE["bd"], 4]
    words = "\n".join(json.dumps(item) for item in json.loads(encoded.stdout))
    assert [item["bd"] for item in json.loads(run("bd", "decode", stdin=words).stdout)] == [ONE["bd"], 4]
    assert len(json.loads(run("bd", "explain", "--json", stdin=words).stdout)) == 2
    wrong = run("bd", "encode", stdin=json.dumps(ONE) + '\n{"tile": "memory", "length": }\n')
    assert wrong.exit_code == 2
    assert "standard input, line 2, line 1, column 30: this is not JSON" in flat(wrong)
    pretty = json.dumps([ONE, ONE], indent=1)  # several lines that are one value
    assert len(json.loads(run("bd", "encode", stdin=pretty).stdout)) == 2


@pytest.mark.parametrize(
    ("case", "note"),
    [
        (
            {"length": 63, "dims": [[1, 4], [8, 4]]},
            "the length of 63 words ends in the middle of a row of 4 words",
        ),
        (
            {"length": 20, "dims": [[1, 4], [8, 4]]},
            "the length of 20 words ends in the middle of a plane of 16 words",
        ),
        ({"length": 0}, "a length of 0: the BD takes and gives its locks and moves nothing (DEV-BD-3)"),
        ({"length": 64, "dims": [[1, 4], [8, 4]]}, None),
        ({"length": 63, "dims": [[2, 0]]}, None),
        ({"length": 12, "dims": [[1, 4], [8, 0]], "pad": [[1, 1]]}, None),
    ],
)
def test_a_legal_descriptor_that_is_seldom_meant_has_a_note(case: dict[str, Any], note: str | None) -> None:
    sound = {"tile": "memory", "bd": 0, "address": 0}
    answer = json.loads(run("bd", "encode", stdin=json.dumps(sound | case)).stdout)
    assert answer.get("notes") == (None if note is None else [note])
    words = json.dumps(answer)
    lines = json.loads(run("bd", "explain", "--json", stdin=words).stdout)["lines"]
    assert [line["text"] for line in lines if line["topic"] == "note"] == ([] if note is None else [note])
    assert note is None or note in flat(run("bd", "explain", stdin=words))
