# ruff: noqa: E501
"""Does C++ text that is no tiling, or not one that can be read without a compiler, get a message with its place?"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memtile.access.graph_text.fragment import graph_tilings, tiling_of
from memtile.cli import main
from memtile.errors import InputFileError, MemtileError, TransferError

SOUND = "{.buffer_dimension = {8, 8}, .tiling_dimension = {4, 4}}"
MEMBERS = (
    "buffer_dimension, tiling_dimension, offset, tile_traversal, packet_port_id, repetition, phase, "
    "boundary_dimension"
)


def message(text: str, **constants: int) -> str:
    """What is said of a text, without its source."""
    with pytest.raises((TransferError, InputFileError)) as error:
        tiling_of(text, **constants)
    (said,) = error.value.messages
    return said.replace(" (C++ text of a graph)", "")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "{.buffer_dimensions = {8}}",
            f"text, line 1, column 3: tiling_parameters has no member buffer_dimensions. Its members are {MEMBERS}.",
        ),
        (
            "{.buffer_dimension = {8},\n .offset = {0}, .tiling_dimension = {8}}",
            "text, line 2, column 18: tiling_dimension comes after offset. C++ takes members in the order of "
            f"their declaration: {MEMBERS}.",
        ),
        (
            "{.offset = {0}, .offset = {1}}",
            f"text, line 1, column 18: offset stands twice. C++ takes members in the order of their declaration: {MEMBERS}.",
        ),
        (
            "{.buffer_dimension = {8}, {4}}",
            "text, line 1, column 27: tiling_parameters has members with and without a name; C++ takes one kind. "
            "Name each of them, or none.",
        ),
        (
            "{.buffer_dimension = {8}, .tile_traversal = {{.dimension = 0, .wrap = 2}}}",
            "text, line 1, column 72: a loop of tile_traversal ends here without stride. Give all of dimension, "
            "stride and wrap.",
        ),
        (
            "{.buffer_dimension = {8}, .tile_traversal = {{.dimension = 0, .step = 2}}}",
            "text, line 1, column 64: traversing_parameters has no member step. Its members are dimension, "
            "stride, wrap.",
        ),
        (
            "{.buffer_dimension = 8}",
            "text, line 1, column 22: buffer_dimension is 8; it must be a list in braces. Write "
            ".buffer_dimension = {...} with its numbers.",
        ),
        (
            "{.buffer_dimension = {Dim0 / 2}}",
            "text, line 1, column 23: Dim0 has no value here. Write a line const int Dim0 = NUMBER; before it, or "
            "give -D Dim0=NUMBER.",
        ),
        (
            "int n = f(2);\ntiling({.buffer_dimension = {n}})",
            "text, line 2, column 30: n has no value that memtile can compute: f( is no integer constant, which a "
            "tiling read without a compiler needs. Write a line const int n = NUMBER; before it, or give -D n=NUMBER.",
        ),
        (
            "for (int i = 0; i < 4; i++) { tiling({.buffer_dimension = {i}}); }",
            "text, line 1, column 60: i changes in line 1. Write a line const int i = NUMBER; before it, or give "
            "-D i=NUMBER.",
        ),
        (
            "int n = 8;\nif (wide)\n  n = 4;\ntiling({.buffer_dimension = {n}})",
            "text, line 4, column 30: n changes in line 3. Write a line const int n = NUMBER; before it, or give "
            "-D n=NUMBER.",
        ),
        (
            "int n = 8; while (n) { tiling({.buffer_dimension = {n}}); n = n / 2; }",
            "text, line 1, column 53: n changes in line 1. Write a line const int n = NUMBER; before it, or give "
            "-D n=NUMBER.",
        ),
        (
            "void f(int n = 4) { tiling({.buffer_dimension = {n}}); }",
            "text, line 1, column 50: n is a parameter or counts a loop. Write a line const int n = NUMBER; before "
            "it, or give -D n=NUMBER.",
        ),
        (
            "#define UP(n) (n + 1)\ntiling({.buffer_dimension = {UP(3)}})",
            "text, line 2, column 30: UP( is no integer constant, which a tiling read without a compiler needs. "
            "Give its value instead, or -D UP=NUMBER.",
        ),
        ("{.buffer_dimension = {8 / (3 - 3)}}", "text, line 1, column 25: 8 / 0 has no value."),
        (
            "{.buffer_dimension = {1 << 64}}",
            "text, line 1, column 25: 1 is shifted by 64; a shift must be by 0..63.",
        ),
        ("{.buffer_dimension = {1ull << 63}}", "text, line 1, column 28: the value has more than 64 bits."),
        ("{.buffer_dimension = {1.5}}", "text, line 1, column 23: 1.5 is no whole number of up to 64 bits."),
        ("{.buffer_dimension = {08}}", "text, line 1, column 23: 08 is no whole number of up to 64 bits."),
        ("{.buffer_dimension = {8 8}}", "text, line 1, column 25: 8 stands where , must be."),
        ("{.buffer_dimension = {8, +}}", "text, line 1, column 27: } stands where a number must be."),
        (
            "read_access(a.out[0]) = make_tiling(8);",
            "text, line 1, column 38: no tiling can be read from what is assigned to read_access(a.out[0]). Write "
            "tiling({...}), or the name of tiling_parameters in this text.",
        ),
        (
            "read_access(a.out[0]) = tiling(other);",
            "text, line 1, column 32: tiling(...) is made of other, which is no tiling_parameters of this text. "
            "Write its members in braces.",
        ),
        (
            "read_access(a.out[0]) = buffer_descriptor({.length = 8});",
            "text, line 1, column 25: buffer_descriptor is the older form of a tiling, which is not read here. "
            "Write it as tiling_parameters.",
        ),
        (
            "int main() { return 0; }",
            "text, line 1, column 1: the text has no tiling. Paste an initialiser {.buffer_dimension = {...}, ...}, "
            "or lines with tiling(...) or tiling_parameters.",
        ),
        ("tiling({.buffer_dimension = {8}", "text, line 1, column 8: the bracket { has no }."),
        (
            "tiling({.buffer_dimension = {8)})",
            "text, line 1, column 31: the bracket ) closes nothing; { of line 1 is open.",
        ),
        ("/* tiling({})", "text, line 1, column 1: a comment begins here and has no end."),
        ('"tiling({})', "text, line 1, column 1: a string begins here and has no end."),
        ("#if 1\ntiling({})", "text, line 1, column 2: this directive has no #endif."),
        ("#endif", "text, line 1, column 2: #endif has no #if."),
        (
            f"tiling({SOUND}); tiling({SOUND});",
            "text: the text has 2 tilings: tiling (line 1); tiling (line 1) (tiling_of). "
            "Use memtile.access.graph_tilings, which returns all of them.",
        ),
    ],
)
def test_messages_have_place_and_remedy(text: str, says: str) -> None:
    assert message(text) == says


def test_one_bad_tiling_does_not_hide_the_others() -> None:
    good, bad, last = graph_tilings(f"tiling({SOUND}); tiling({{.wrap = 2}}); tiling_parameters t = {SOUND};")
    assert (good.error, bad.tiling, last.error) == (None, None, None)
    assert [each.name for each in (good, bad, last)] == ["tiling (line 1)", "tiling (line 1)", "t (line 1)"]


HOSTILE = {
    "brackets": "tiling({.buffer_dimension = {" + "(" * 100_000 + "1",
    "signs": "tiling({.buffer_dimension = {" + "-" * 99_999 + "1}})",
    "macros": "\n".join(f"#define M{n} M{n + 1} + M{n + 1}" for n in range(60)) + "\ntiling({{M0}})",
    "itself": "#define A B\n#define B A\ntiling({{A}})",
    "digits": "tiling({{" + "9" * 100_000 + "}})",
    "strings": '"' + "\\" * 100_000,
    "raw strings": 'R"(' * 20_000,
    "comments": "/*" * 100_000,
    "lists": "read_access(a) = " + "tiling(" * 20_000,
    "continued": "tiling\\\n" * 20_000 + "({{N}})",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_answered_in_bounded_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTILE_LIMITS", "words=50000")
    begun = time.process_time()
    with pytest.raises(MemtileError):
        tiling_of(HOSTILE[name])
    assert time.process_time() - begun < 3


def test_any_cut_or_changed_text_is_an_answer_or_an_error() -> None:
    drawn = random.Random(5)
    text = (
        "#define N 8\nconst uint A = N * 2;\nadf::shared_buffer<int32> m; m = adf::shared_buffer<int32>::create({A}, 1, 1);"
        "adf::read_access(m.out[0]) = {adf::tiling({.buffer_dimension = {A}, .tile_traversal = {{.dimension = 0, "
        ".stride = N / 2, .wrap = 2}}}), tiling(t)}; tiling_parameters t = {{8}}; t.offset = {-1};"
    )
    places: list[int] = []
    for _ in range(600):
        begin = drawn.randrange(len(text))
        length = drawn.choice([0, 1, 5, 40])
        changed = (
            text[:begin]
            + drawn.choice(["", "{", "}", "(", ",", "#", '"', "/*", "::", "<", "\0", "é"])
            + text[begin + length :]
        )
        places += [each.line for each in found_in(changed)]
    assert len(places) > 500


def found_in(text: str) -> list[Any]:
    """The tilings of a text; none of one that is no text of C++."""
    try:
        return graph_tilings(text)
    except InputFileError:
        return []


def lower(*args: str, text: str) -> Any:
    return CliRunner().invoke(main.app, [*args], input=text)


@pytest.mark.parametrize("command", [["lower"], ["bd", "tiling"]])
def test_the_command_reads_text(command: list[str]) -> None:
    done = lower(
        *command,
        "-",
        "-D",
        "N=8",
        "--json",
        text="{.buffer_dimension = {N, 6}, .tiling_dimension = {1, 6},\n.tile_traversal = {{0, 1, N}}}",
    )
    assert done.exit_code == 0
    (descriptor,) = json.loads(done.stdout)["descriptors"]
    assert (descriptor["length"], descriptor["dims"]) == (48, [[8, 6]])


def test_a_refused_tiling_of_a_text_is_named(tmp_path: Path) -> None:
    header = tmp_path / "graph.h"
    header.write_text("struct G { G() { read_access(m.out[0]) = {tiling({{8}}), tiling({{M}})}; } };")
    done = lower("lower", str(header), "--element-type", "int8", text="")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "m.out[0] (G, line 1): read 8 elements of 8 bits in tiles of 8"
    at = lines.index("m.out[0] (G, line 1)")
    assert lines[at + 1] == (
        f"  refused: {header}, line 1, column 67: M has no value here (C++ text of a graph). Write a line const int "
        "M = NUMBER; before it, or give -D M=NUMBER."
    )


@pytest.mark.parametrize(
    ("args", "text", "says"),
    [
        (["-D", "8"], SOUND, "-D is '8'; it must be NAME=VALUE, such as Dim0=8."),
        (["-D", "N="], SOUND, "-D is 'N='; it must be NAME=VALUE, such as Dim0=8."),
        (
            ["-D", "N=8"],
            '{"buffer_dimension": [8]}',
            "-D and --element-type are for C++ text; JSON has its own values.",
        ),
    ],
)
def test_options_that_mean_nothing_are_refused(args: list[str], text: str, says: str) -> None:
    done = lower("lower", "-", *args, text=text)
    assert done.exit_code == 2
    assert says in " ".join(done.stderr.split())


def test_a_value_of_an_option_that_is_no_expression_names_the_option() -> None:
    done = lower("lower", "-", "-D", "N=(8", text="{{N}}")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: -D N, line 1, column 1: the bracket ( has no )")


def test_the_playground_reads_text() -> None:
    place = Path(__file__).parents[2] / "web" / "playground"
    code = "import json, answers; print(json.dumps([answers.answer(t) for t in json.load(open('examples.json')) if 'arguments' not in t]))"
    code = code.replace("answers.answer(t)", "json.loads(answers.answer(t['text']))")
    done = subprocess.run([sys.executable, "-c", code], cwd=place, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    shown = json.loads(done.stdout)
    assert [each["kind"] for each in shown].count("tiling") == 5
    assert shown[1]["text"].startswith(
        "image.out[0] (line 3): read 16 x 8 elements of 32 bits in tiles of 4 x 4"
    )
    assert shown[1]["picture"].startswith("<svg")
