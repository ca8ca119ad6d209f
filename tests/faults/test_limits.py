"""Are inputs that are too large, too deep or without an end refused by name, in bounded time and memory?"""

from __future__ import annotations

import contextlib
import io
import os
import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import memtile
from memtile.arch.tiles import COMPUTE
from memtile.errors import InputFileError
from memtile.importers.design_file import design_function
from memtile.importers.mlir.token_packets import Text, Tokens
from memtile.input_files import read_bytes, read_text
from memtile.io.json_text import parse_json
from memtile.io.npy import array_of, read_array
from memtile.limits import LIMITS, limit
from support.mutated.mutated_runs import limited

_POSSESSIVE_GROUP = re.compile(r"r\".*\)[*+?]\+.*\"")
_ROOM = 768 << 20  # bytes of address space beyond what the process has
_PIECES = (
    "{-#", "{-# #-}", "#-}", '"', '"\\', "//", "// \n", "%", "% ", "(", "[", "<", "<<>", "{}", "-", "->",
    "!a<", "#a = ", "1e", "4x", "@", '@"', "^b:", "\ufeff", "\r\n", "% \t", "affine_map<", "dense<",
)  # fmt: skip


def _message(data: bytes, name: str = "x.npy") -> str:
    with pytest.raises(InputFileError) as caught:
        array_of(data, name)
    return str(caught.value)


def _npy(header: str, body: bytes = b"") -> bytes:
    text = header.encode("latin-1").ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


@pytest.mark.parametrize("piece", _PIECES)
def test_cutting_a_text_into_tokens_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def seconds(times: int) -> float:
        begun = time.process_time()
        with contextlib.suppress(InputFileError):
            Tokens(Text("d.mlir", piece * times))
        return time.process_time() - begun

    seconds(100)
    short = min(seconds(20_000) for _ in range(2))
    assert seconds(160_000) < 30 * short + 0.2  # 64 times as long where it is quadratic


def test_resources_of_a_text_are_skipped_and_places_behind_them_are_right() -> None:
    text = 'a {-# dialect_resources: { b: { c: "0x01 #-} 02" } } #-} (b\n{-##-} c'
    with pytest.raises(InputFileError, match=r"^d\.mlir:1:58: the bracket \( is never closed"):
        Tokens(Text("d.mlir", text))
    found = Tokens(Text("d.mlir", text.replace("(", "")))
    assert found.words == ["a", "b", "c", ""]
    assert [found.text.content[found.offset(n)] for n in range(3)] == ["a", "b", "c"]


def test_resources_that_are_not_closed_are_an_error_at_their_bracket() -> None:
    with pytest.raises(InputFileError, match=r"^d\.mlir:2:3: the bracket \{-# is never closed"):
        Tokens(Text("d.mlir", "a {-# #-}\nb {-# c"))


def test_a_limit_is_raised_and_lowered_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert limit("regions") == LIMITS["regions"].most
    monkeypatch.setenv("MEMTILE_LIMITS", "regions=7, words=12")
    assert (limit("regions"), limit("words"), limit("lists")) == (7, 12, LIMITS["lists"].most)


@pytest.mark.parametrize(
    "given", ["regions", "regions=", "regions=-1", "regions=x", "depth=3", "words=" + "9" * 19]
)
def test_a_limit_of_another_form_is_refused_by_name(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTILE_LIMITS", given)
    with pytest.raises(InputFileError) as caught:
        limit("words")
    assert f"MEMTILE_LIMITS is '{given}'; it must be NAME=NUMBER" in str(caught.value)
    assert "regions" in str(caught.value)


def test_the_page_has_all_limits() -> None:
    page = Path(__file__, "../../../docs/files.md").resolve().read_text(encoding="utf-8")
    rows = [f"| `{name}` | {each.most:,} | {each.what} |" for name, each in LIMITS.items()]
    assert "\n|---|---|---|\n" + "\n".join(rows) + "\n\n" in page.partition("## Limits of inputs\n")[2]


def test_a_vector_may_fill_the_memory_of_a_tile() -> None:
    assert LIMITS["vector_bytes"].most == COMPUTE.memory_bytes


def test_a_message_of_a_limit_says_how_to_raise_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTILE_LIMITS", "words=3")
    with pytest.raises(InputFileError) as caught:
        Tokens(Text("d.mlir", "a b c d"))
    assert "the text has more than 3 words and signs" in str(caught.value)
    assert str(caught.value).splitlines()[0].endswith("Set MEMTILE_LIMITS=words=NUMBER to allow more.")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_file_without_an_end_is_refused(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTILE_LIMITS", f"file_bytes={1 << 24}")
    with pytest.raises(InputFileError) as caught:
        read_bytes(device)
    assert str(caught.value) == (
        f"{device}: the file has more than 16,777,216 bytes. "
        "Set MEMTILE_LIMITS=file_bytes=NUMBER to allow more."
    )


def test_a_file_of_gigabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.mlir"
    with path.open("wb") as file:
        file.truncate(8 << 30)  # sparse
    with limited(_ROOM):
        for read in (read_bytes, read_text, read_array, lambda file: design_function(str(file))):
            with pytest.raises(InputFileError, match=r"large\.mlir: the file has more than "):
                read(path)


def test_a_file_as_long_as_the_limit_is_read_and_one_byte_more_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTILE_LIMITS", "file_bytes=10")
    path, pipe = tmp_path / "file", tmp_path / "pipe"
    os.mkfifo(pipe)
    for length, fits in ((10, True), (11, False)):
        path.write_bytes(bytes(length))
        writer = threading.Thread(target=pipe.write_bytes, args=(bytes(length),))
        writer.start()
        for file in (path, pipe):
            if fits:
                assert read_bytes(file) == bytes(length)
            else:
                with pytest.raises(InputFileError, match="more than 10 bytes"):
                    read_bytes(file)
        writer.join()


def test_names_that_are_no_paths_and_folders_are_errors_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"the file cannot be read: Is a directory\.$"):
        read_bytes(tmp_path)
    with pytest.raises(InputFileError, match="its name is no path"):
        read_bytes("a\0b")
    (tmp_path / "latin").write_bytes(b"ab\xe9")
    with pytest.raises(InputFileError, match="byte 2 is not UTF-8 text"):
        read_text(tmp_path / "latin")


def test_an_array_of_a_file_is_as_numpy_reads_it() -> None:
    rng = np.random.default_rng(5)
    for dtype in ("i1", "<u4", ">i2", "f4", "c8", "?", "V2", [("a", "i1"), ("b", "i1", 8)]):
        for shape in ((), (0,), (3,), (2, 3), (2, 0, 4)):
            array = rng.integers(0, 255, (*shape, np.dtype(dtype).itemsize), np.uint8).view(np.dtype(dtype))[
                ..., 0
            ]
            for order in ("C", "F"):
                given = np.asarray(array, order=order)  # type: ignore[call-overload]
                stream = io.BytesIO()
                np.save(stream, given)
                found = array_of(stream.getvalue(), "x")
                assert (found.dtype, found.shape) == (given.dtype, given.shape)
                assert found.tobytes() == given.tobytes()


def test_a_header_that_promises_more_than_the_file_has_takes_no_memory() -> None:
    header = "{'descr': '<i4', 'fortran_order': False, 'shape': (%s,), }"
    with limited(_ROOM):
        assert "its array has 4,000,000,000,000 bytes" in _message(_npy(header % 10**12))
        assert "its header promises 400000000 bytes, and 8 follow" in _message(_npy(header % 10**8, bytes(8)))
        assert "its shape is (1000000" in _message(_npy(header % 10**30))
    assert array_of(_npy(header % 2, bytes(8)), "x").shape == (2,)


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<U4', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '|V0', 'fortran_order': False, 'shape': (1000000000000,), }",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (0, 99999999999999999999), }",
        "{'descr': '<i4', 'fortran_order': False, 'shape': " + str((0,) * 70) + ", }",
        "{'descr': '<i4', 'fortran_order': False, 'shape': 3, }",
        "{'descr': __import__('os'), 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<i4', 'fortran_order': 7, 'shape': (1,), }",
        "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((",
        "",
    ],
)
def test_headers_that_are_none_are_refused_in_a_sentence(header: str) -> None:
    assert _message(_npy(header, bytes(64))).startswith("x.npy: the file is not a NumPy file of numbers: ")


@pytest.mark.parametrize("depth", [100_000, 1_000_000])
def test_json_that_is_too_deep_is_refused(depth: int) -> None:
    with pytest.raises(
        InputFileError, match=r"^x\.json: this JSON cannot be read: it is nested too deeply\.$"
    ):
        parse_json("[" * depth + "]" * depth, "x.json")


def test_a_string_that_its_line_does_not_close_is_refused_at_its_quote() -> None:
    for text in ('a "b', 'a "b\n"c"', 'a "b\\"\n', 'a "b\\\n"'):
        with pytest.raises(InputFileError, match=r"^d\.mlir:1:3: the string is not closed in its line"):
            Tokens(Text("d.mlir", text))


def test_no_pattern_has_a_possessive_group() -> None:
    """CPython before 3.11.5 matches them wrongly (python/cpython#106052), and Debian 12 has 3.11.2."""
    source = Path(memtile.__file__).parent
    found = [path.name for path in source.rglob("*.py") if _POSSESSIVE_GROUP.search(path.read_text("utf-8"))]
    assert found == []
