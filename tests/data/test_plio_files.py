"""Do files of PLIO become the words that AMD's simulators send, and words the files that they write?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.io.plio_csv import read_plio_csv, write_plio_csv
from memtile.io.plio_elements import ELEMENTS, WIDTHS
from memtile.io.plio_text import PlioWords, beat_ends, read_plio, write_plio

Saved = Callable[[str], Path]

# Xilinx/xup_aie_training, pbl/aie_single_kernel/fir_lowpass/aie/data/output_aie.txt, around its first
# TLAST and two more lines: cint16 at 32 bits and 250 MHz, as aiesimulator wrote it.
PUBLISHED = """T 1672 ns
-15 -2 
T 2 us
-3800 91 
T 2692 ns
TLAST
-3942 93 
T 2696 ns
-3968 -52 
"""  # noqa: W291
# Xilinx/Vitis-Tutorials, AIE/Design_Tutorials/18-MUSIC-Algorithm/aie/doa/data/output_aiesim_7.txt: cfloat at
# 64 bits and 625 MHz.
FLOATS = """T 64348800 ps
7.000000000e+00 0.000000000e+00 
T 64350400 ps
0.000000000e+00 0.000000000e+00 
"""  # noqa: W291
# Another public output (Vitis-Tutorials, 03-beamforming, Module_02) has these times at 400 MHz.
TIMES = ["T 16635 ns", "T 16637500 ps", "T 16640 ns"]

# UG1076, TXT file format, table 1: values of a line, by type and width.
TABLE = {
    "int8": (4, 8, 16),
    "int16": (2, 4, 8),
    "int32": (1, 2, 4),
    "int64": (0, 1, 2),
    "cint16": (2, 4, 8),
    "cint32": (0, 2, 4),
    "float": (1, 2, 4),
    "cfloat": (0, 2, 4),
}


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    def save(text: str) -> Path:
        path = tmp_path / "data.txt"
        path.write_text(text)
        return path

    return save


def test_a_published_output_is_read_and_written_as_aiesimulator_did(saved: Saved, tmp_path: Path) -> None:
    found = read_plio(saved(PUBLISHED), "cint16", 32)
    low, high = found.words.view("<i2").reshape(-1, 2).T
    assert (low.tolist(), high.tolist()) == ([-15, -3800, -3942, -3968], [-2, 91, 93, -52])
    assert found.tlast.tolist() == [0, 0, 1, 0]
    assert found.times_ps is not None
    assert found.times_ps.tolist() == [1_672_000, 2_000_000, 2_692_000, 2_696_000]
    again = tmp_path / "again.txt"
    write_plio(again, found.words, found.tlast, "cint16", 32, times_ps=found.times_ps)
    assert again.read_text() == PUBLISHED


def test_published_floats_are_read_and_written_as_aiesimulator_did(saved: Saved, tmp_path: Path) -> None:
    found = read_plio(saved(FLOATS), "cfloat", 64)
    assert found.words.view(np.float32).tolist() == [7, 0, 0, 0]
    again = tmp_path / "again.txt"
    write_plio(again, found.words, found.tlast, "cfloat", 64, times_ps=found.times_ps)
    assert again.read_text() == FLOATS


def test_times_have_the_largest_unit_in_which_they_are_whole(tmp_path: Path) -> None:
    times = np.array([16_635_000, 16_637_500, 16_640_000])
    write_plio(
        tmp_path / "o.txt", np.arange(3, dtype=np.uint32), np.zeros(3, np.uint8), "int32", 32, times_ps=times
    )
    assert (tmp_path / "o.txt").read_text().splitlines()[::2] == TIMES


@pytest.mark.parametrize("element", TABLE)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_line_has_the_values_of_ug1076(element: str, width: int, saved: Saved) -> None:
    count = TABLE[element][WIDTHS.index(width)]
    if count:
        found = read_plio(saved(" ".join(["1"] * count) + "\n"), element, width)
        assert (len(found.words), found.cautions) == (width // 32, ())


def test_the_packets_of_ug1079_end_with_the_word_below_tlast(saved: Saved) -> None:
    narrow = read_plio(saved("2415853568\n0\n1\n2\n3\n4\n5\n6\nTLAST\n7\n"), "int32", 32)
    wide = read_plio(saved("2415853568 0\n1 2\n3 4\n5 6\nTLAST\n7\n"), "int32", 64)
    for found in (narrow, wide):
        assert found.words.tolist() == [0x8FFF0000, *range(8)]
        assert found.tlast.tolist() == [0] * 8 + [1]
        assert not found.cautions


def test_a_header_among_floats_is_an_integer(saved: Saved) -> None:
    text = "2415853568\n1.5\nTLAST\n-2.5e1\n2415853569\nTLAST\n1\n"
    found = read_plio(saved(text), "float", 32, packets=True)
    floats = found.words.view(np.float32)
    assert found.words[[0, 3]].tolist() == [2415853568, 2415853569]
    assert floats[[1, 2, 4]].tolist() == [1.5, -25.0, 1.0]


def test_the_first_value_is_in_the_lowest_bits(saved: Saved) -> None:
    assert read_plio(saved("1 2 3 4\n"), "int8", 32).words.tolist() == [0x04030201]
    assert read_plio(saved("1 2\n"), "int16", 32).words.tolist() == [0x00020001]
    assert read_plio(saved("1 -1\n"), "int64", 128).words.tolist() == [1, 0, 0xFFFFFFFF, 0xFFFFFFFF]


@pytest.mark.parametrize(
    ("text", "element", "words"),
    [
        ("1.0 -2.0\n", "bfloat16", [0xC0003F80]),
        ("1.00390625 1.01171875\n", "bfloat16", [0x3F823F80]),  # ties go to even
        ("1.0 -2.0\n", "float16", [0xC0003C00]),
        ("nan -inf\n", "bfloat16", [0xFF807FC0]),
        ("255 -128 1 0\n", "int8", [0x000180FF]),  # a bit pattern without a sign is one too
        ("4294967295\n", "int32", [0xFFFFFFFF]),
        ("0000000000000000000000000007\n", "int32", [7]),
        ("+7\n", "int32", [7]),
    ],
)
def test_values_of_each_type(text: str, element: str, words: list[int], saved: Saved) -> None:
    assert read_plio(saved(text), element, 32).words.tolist() == words


def test_64_bits_are_read_exactly(saved: Saved) -> None:
    text = f"{2**64 - 1} {-(2**63)}\n{2**63 - 1} {10**18}\n"
    found = read_plio(saved(text), "int64", 128).words.view(np.uint64)
    assert found.tolist() == [2**64 - 1, 2**63, 2**63 - 1, 10**18]


def test_hexadecimal_values_are_bit_patterns(saved: Saved) -> None:
    assert read_plio(saved("0xF605F425\nff\n"), "int32", 32, hex=True).words.tolist() == [0xF605F425, 0xFF]
    assert read_plio(saved("3F80 0x4000\n"), "bfloat16", 32, hex=True).words.tolist() == [0x40003F80]


def test_blank_lines_and_blanks_at_line_ends_are_nothing(saved: Saved) -> None:
    found = read_plio(saved("\n1 2 3 4 \r\n\t5 6 7 8\n\n"), "int16", 64)
    assert (found.words.view(np.int16).tolist(), found.cautions) == (list(range(1, 9)), ())


def test_lines_of_other_lengths_go_on_in_order_with_a_caution(saved: Saved) -> None:
    """DEV-ADF-50."""
    found = read_plio(saved("1 2 3\n4 5 6\n7 8\n"), "int16", 64)
    assert found.words.view(np.int16).tolist() == list(range(1, 9))
    assert len(found.cautions) == 1
    assert found.cautions[0].endswith(
        ":1: 3 lines have another number of values than the 4 of int16 at 64 bits, this one 3. "
        "Their values follow each other as in full lines (DEV-ADF-50)."
    )


def test_each_word_of_a_line_has_its_time(saved: Saved) -> None:
    found = read_plio(saved("T 4 ns\n1 2\nT 8 ns\nTLAST\n3\nT 12500 ps\n4 5\n"), "int32", 64)
    assert found.times_ps is not None
    assert found.times_ps.tolist() == [4000, 4000, 8000, 12500, 12500]
    assert found.tlast.tolist() == [0, 0, 1, 0, 0]


def test_an_empty_file_has_no_words(saved: Saved) -> None:
    assert len(read_plio(saved(""), "int32", 32).words) == 0


def _same(one: PlioWords, words: np.ndarray, tlast: np.ndarray) -> None:
    assert one.words.tolist() == words.tolist()
    assert one.tlast.tolist() == tlast.tolist()


@st.composite
def streams(draw: st.DrawFn) -> tuple[str, int, np.ndarray, np.ndarray]:
    """An element type, a width, and words with TLAST that such a PLIO can carry."""
    element = draw(st.sampled_from(list(ELEMENTS.values())))
    width = draw(st.sampled_from([w for w in WIDTHS if w >= element.element_bits]))
    step = max(element.element_bits // 32, 1)
    count = draw(st.integers(1, 6)) * step
    words = np.array(draw(st.lists(st.integers(0, 2**32 - 1), min_size=count, max_size=count)), np.uint32)
    if element.is_float:
        words &= np.uint32(0x3F7F3F7F)  # finite, of one sign: text has one NaN
    ends = draw(st.sets(st.integers(1, count // step)))
    tlast = np.zeros(count, np.uint8)
    tlast[[end * step - 1 for end in ends]] = 1
    tlast[-1] = 1
    return element.name, width, words, tlast


@given(streams(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, stream: tuple[str, int, np.ndarray, np.ndarray], hex: bool
) -> None:
    element, width, words, tlast = stream
    path = tmp_path_factory.getbasetemp() / "again"
    write_plio(path, words, tlast, element, width, hex=hex)
    found = read_plio(path, element, width, hex=hex)
    _same(found, words, tlast)
    assert not found.cautions
    write_plio_csv(path, words, tlast, element, width)
    _same(read_plio_csv(path, element, width), words, tlast)


def test_words_of_a_plio_end_behind_tlast() -> None:
    tlast = np.array([0, 0, 0, 0, 0, 1, 1, 0, 0], np.uint8)
    assert beat_ends(tlast, 4).tolist() == [4, 6, 7, 9]
    assert beat_ends(tlast[:0], 4).tolist() == []


def test_a_csv_file_repeats_stalls_and_keeps(tmp_path: Path) -> None:
    text = (
        "CMD,D,D,D,D,TLAST,TKEEP,COMMENT\n"
        "DATA:2,1,2,3,4,0,-1,twice\n"
        "STALL:3\n"
        "STALL,,,,,,,\n"
        "DATA,5,6,7,8,1,0xF,first word only\n"
        "DATA,-1,-2,-3,-4\n"
    )
    path = tmp_path / "in.csv"
    path.write_text(text)
    found = read_plio_csv(path, "int16", 64)
    assert found.words.tolist() == [0x20001, 0x40003] * 2 + [0x60005, 0xFFFEFFFF, 0xFFFCFFFD]
    assert found.tlast.tolist() == [0, 0, 0, 0, 1, 0, 0]
    assert found.stalls is not None
    assert found.stalls.tolist() == [0, 0, 0, 0, 4, 0, 0]


def test_tkeep_counts_with_tlast_only(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("CMD,D,D,TLAST,TKEEP\nDATA,1,2,0,15\nDATA,3,4,1,255\n")
    assert read_plio_csv(path, "int32", 64).words.tolist() == [1, 2, 3, 4]


def test_columns_of_a_published_csv_file(tmp_path: Path) -> None:
    """Vitis-Tutorials, AIE-ML/Feature_Tutorials/13, normalization_v2/data/input0.csv, repeated less often."""
    path = tmp_path / "in.csv"
    rows = "STALL:1000,0,0,0,0,0,0,0,0,-1,0\nDATA:3,1,2,3,4,5,6,7,8,-1,0\n"
    path.write_text(f"CMD,{'D,' * 8}TKEEP,TLAST\n{rows}")
    found = read_plio_csv(path, "bfloat16", 128)
    assert found.words[:4].tolist() == [0x40003F80, 0x40804040, 0x40C040A0, 0x410040E0]
    assert len(found.words) == 12
    assert found.stalls is not None
    assert found.stalls.tolist() == [1000] + [0] * 11


def test_a_complex_value_has_two_columns(tmp_path: Path) -> None:
    """DEV-ADF-53."""
    path = tmp_path / "in.csv"
    path.write_text("CMD,D,D,D,D\nDATA,1,-1,2,-2\n")
    assert read_plio_csv(path, "cint16", 64).words.tolist() == [0xFFFF0001, 0xFFFE0002]
