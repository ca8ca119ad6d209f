"""Is each wrong line of a PLIO's file refused with its place, and are large files read in bounded time?"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import numpy as np
import pytest

from memtile.errors import InputFileError
from memtile.io.plio_csv import read_plio_csv, write_plio_csv
from memtile.io.plio_text import read_plio, write_plio


def _message(tmp_path: Path, text: str, element: str = "int16", width: int = 32, **options: bool) -> str:
    path = tmp_path / "in.txt"
    path.write_bytes(text.encode())
    with pytest.raises(InputFileError) as caught:
        read_plio(path, element, width, **options)
    return str(caught.value).replace(f"{path}:", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1 2\n3 x\n",
            "2: 'x' is not an integer in -32768..65535, as int16 needs (UG1076: TXT file format).",
        ),
        ("1 2\n1 70000\n", "2: '70000' is not an integer in -32768..65535, as int16 needs"),
        ("-32769 1\n", "1: '-32769' is not an integer"),
        ("1.0 2\n", "1: '1.0' is not an integer"),
        ("1,2\n", "1: '1,2' is not an integer"),
        ("5-3 1\n", "1: '5-3' is not an integer"),
        ("- 1\n", "1: '-' is not an integer"),
        ("1 \u00e9\n", "1: '\u00c3\u00a9' is not an integer"),
        ("9999999999999999999999 1\n", "1: '9999999999999999999999' is not an integer"),
        ("TKEEP 3\n1 2\n", "1: the line is 'TKEEP 3'; a line has numbers, TLAST alone, or T <time> <unit>"),
        ("TLAST 1 2\n", "1: the line is 'TLAST 1 2'; a line has numbers, TLAST alone"),
        ("T 5\n1 2\n", "1: the line is 'T 5'; a line has"),
        (
            "T 5 years\n1 2\n",
            "1: the line is 'T 5 years'; a time is T, a time of whole picoseconds below 2^62",
        ),
        ("T 0.0005 ns\n1 2\n", "1: the line is 'T 0.0005 ns'; a time is"),
        ("T -5 ns\n1 2\n", "1: the line is 'T -5 ns'; a time is"),
        ("T 99999999999999 s\n1 2\n", "1: the line is 'T 99999999999999 s'; a time is"),
        ("1 2\nTLAST\n", "2: no line of values follows 'TLAST' (UG1076"),
        ("TLAST\nTLAST\n1 2\n", "1: no line of values follows 'TLAST'"),
        ("TLAST\nT 5 ns\nTLAST\n1 2\n", "1: no line of values follows 'TLAST'"),
        ("T 5 ns\nT 6 ns\n1 2\n", "1: no line of values follows 'T 5 ns'"),
        ("TLAST\n1\n", "2: int16 values up to the end of this line do not fill 32 bits"),
        ("1 2\n3\n", "2: int16 values up to the end of this line do not fill 32 bits"),
    ],
)
def test_a_line_that_is_none_is_refused_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    assert _message(tmp_path, text).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1.0\n1.5.5\n", "2: '1.5.5' is not a decimal number that a float can hold, as float needs"),
        ("1 -2-3\n", "1: '-2-3' is not a decimal number"),
        ("5-3 x\n", "1: '5-3' is not a decimal number"),
        ("1e39\n", "1: '1e39' is not a decimal number that a float can hold"),
        ("0x10\n", "1: '0x10' is not a decimal number that a float can hold"),
        ("1_0\n", "1: '1_0' is not a decimal number"),
        ("1" * 50 + "\n", "1: '1111111111111111111111111111111111111111' is not"),
    ],
)
def test_a_float_that_is_none_is_refused(text: str, message: str, tmp_path: Path) -> None:
    assert _message(tmp_path, text, "float").startswith(message)


def test_a_comment_is_refused_with_advice(tmp_path: Path) -> None:
    """DEV-ADF-51."""
    message = _message(tmp_path, "// weights\n1 2\n")
    assert message.startswith("1: '//' is not an integer")
    assert "Remove the comment: no guide of AMD describes comments in these files." in message


def test_hexadecimal_digits_in_another_file_say_what_to_do(tmp_path: Path) -> None:
    assert "Say in the create call of the PLIO that its file is hexadecimal." in _message(tmp_path, "0x1 2\n")
    message = _message(tmp_path, "0x12345 1\n", hex=True)
    assert message.startswith(
        "1: '0x12345' is not a bit pattern of at most 4 hexadecimal digits, as int16 needs"
    )


def test_a_header_that_is_no_integer_is_refused(tmp_path: Path) -> None:
    message = _message(tmp_path, "7\nTLAST\n1.5\n1.5\n2\n", "float", packets=True)
    assert message.startswith("4: '1.5' begins a packet, whose header is an integer in 0..4294967295")
    path = tmp_path / "in.txt"
    with pytest.raises(
        InputFileError, match="int16 of a PLIO for packets; it must be int32, uint32 or float"
    ):
        read_plio(path, "int16", 32, packets=True)


def test_all_problems_of_a_file_are_reported_up_to_a_few(tmp_path: Path) -> None:
    lines = _message(tmp_path, "1 y\n" * 1000).split("\n")
    assert len(lines) == 6
    assert lines[5].startswith("6: this and 994 places behind it are wrong in the same way")


@pytest.mark.parametrize(
    ("element", "width", "message"),
    [
        ("int64", 32, "element type is int64 (64 bits) at a PLIO of 32 bits; it must be a PLIO of 64 or 128"),
        ("cint32", 32, "cint32 (64 bits) at a PLIO of 32 bits"),
        ("int4", 32, "element type is 'int4'; it must be one of int8"),
        ("int8", 48, "width is 48 bits; it must be 32, 64 or 128 bits"),
    ],
)
def test_a_type_that_a_plio_cannot_have_is_refused(
    element: str, width: int, message: str, tmp_path: Path
) -> None:
    words, tlast = np.zeros(2, np.uint32), np.zeros(2, np.uint8)
    for act in (
        lambda: read_plio(tmp_path / "in.txt", element, width),
        lambda: write_plio(tmp_path / "out.txt", words, tlast, element, width),
        lambda: read_plio_csv(tmp_path / "in.csv", element, width),
        lambda: write_plio_csv(tmp_path / "out.csv", words, tlast, element, width),
    ):
        with pytest.raises(InputFileError) as caught:
            act()
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: the header is ''; for this type and width it is CMD, 2 times D, then TLAST, TKEEP"),
        ("CMD,D,TLAST\n", "1: the header is 'CMD,D,TLAST'; for this type and width it is CMD, 2 times D"),
        ("CMD,D,D,KEEP\n", "1: the header is 'CMD,D,D,KEEP'"),
        ("CMD,D,D,TLAST,TLAST\n", "1: the header is"),
        ("CMD,D,D\nDATA,1\n", "2: an empty cell is not an integer in -32768..65535"),
        ("CMD,D,D\nDATA,1,70000\n", "2: '70000' is not an integer"),
        ("CMD,D,D\nDATA,1,2,3\n", "2: the row has 4 cells; the header has 3"),
        ("CMD,D,D\nWAIT,1,2\n", "2: the command is 'WAIT'; it must be DATA, DATA:n, STALL or STALL:n"),
        ("CMD,D,D\nDATA:-1,1,2\n", "2: the command is 'DATA:-1'"),
        ("CMD,D,D,TLAST\nDATA,1,2,2\n", "2: TLAST is '2'; it must be 0 or 1"),
        ("CMD,D,D,TLAST,TKEEP\nDATA,1,2,1,3\n", "2: TKEEP with TLAST is '3'; it must be one of -1, 0xf"),
        ("CMD,D,D,TLAST,TKEEP\nDATA,1,2,1,0xF0\n", "2: TKEEP with TLAST is '0xF0'"),
        ('CMD,D,D\nDATA,"1\n', "2: an empty cell is not an integer"),
    ],
)
def test_a_row_that_is_none_is_refused_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text)
    with pytest.raises(InputFileError) as caught:
        read_plio_csv(path, "int16", 32)
    assert str(caught.value).replace(f"{path}:", "").startswith(message)


def test_values_are_limited_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTILE_LIMITS", "plio_values=4")
    message = _message(tmp_path, "1 2\n3 4\n5 6\n")
    assert message.endswith(
        "the file has more than 4 values. Set MEMTILE_LIMITS=plio_values=NUMBER to allow more."
    )
    (tmp_path / "in.csv").write_text("CMD,D,D\nDATA:999999999,1,2\n")
    with pytest.raises(InputFileError, match="the file has more than 4 values"):
        read_plio_csv(tmp_path / "in.csv", "int16", 32)


@pytest.mark.parametrize("piece", ["1 ", "7" * 39 + " ", "TLAST\n", "T 1 ns\n", "\n", "-", "9", "0x"])
def test_reading_takes_time_in_proportion_to_the_length(piece: str, tmp_path: Path) -> None:
    path = tmp_path / "in.txt"

    def seconds(times: int) -> float:
        path.write_text(piece * times)
        begun = time.process_time()
        for element in ("int32", "float"):
            with contextlib.suppress(InputFileError):
                read_plio(path, element, 32)
        return time.process_time() - begun

    seconds(100)
    short = min(seconds(5_000) for _ in range(2))
    assert seconds(40_000) < 30 * short + 0.2  # 64 times as long where it is quadratic
