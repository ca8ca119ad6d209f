"""Do published cycles of one kernel of DSPLib tell those of another, and does its class say which it is?"""

from __future__ import annotations

from math import log2
from pathlib import Path
from statistics import median

import pytest

from memtile.adf.library_costs import kernel_shape, library_cycles
from memtile.arch.library_cycles import (
    KernelShape,
    Passage,
    call_cycles,
    cycle_band,
    distance,
    library_counts,
)

KEPT_BACK = Path(__file__).parents[1] / "support/adf/library_rows.tsv"
WAYS = 1.02  # streams and rounded figures of the tables move a period by that much
FIR = "xf::dsp::aie::fir"
CINT16 = "aie::detail::complex_number<short>"


def kept_back() -> list[tuple[KernelShape, int, int]]:
    """The rows that no constant was chosen by (DEV-ADF-160): shape, cycles of streams, published cycles."""
    found = []
    for line in KEPT_BACK.read_text().splitlines():
        if not line.startswith("#"):
            element, data, other, api, case, work, items, chain, streams, cycles, _ = line.split()
            cases = tuple(map(int, case.split("/")))
            shape = KernelShape(
                element, data, other, api == "1", cases, float(work), float(items), int(chain)
            )
            found.append((shape, int(streams), int(cycles)))
    return found


def test_of_a_hundred_rows_kept_back_the_band_holds_ninety_and_its_middle_is_within_a_tenth() -> None:
    wrong, held = list[float](), 0
    for shape, streams, cycles in kept_back():
        band = cycle_band(shape)
        assert band is not None
        low, middle, high = (max(each, streams) for each in (band.least, band.cycles, band.most))
        held += low / WAYS <= cycles <= high * WAYS
        wrong.append(abs(middle / cycles - 1))
    assert len(wrong) == 100
    assert held >= 90
    assert median(wrong) <= 0.1


def test_the_bands_hold_of_rows_as_far_away_as_each_is_wide_for() -> None:
    held = {True: list[bool](), False: list[bool]()}
    for rows in library_counts().values():
        for number, row in enumerate(rows):
            others = rows[:number] + rows[number + 1 :]
            band = cycle_band(row.shape, others)
            assert band is not None
            near = min(distance(row.shape, other.shape) for other in others) < 1.5
            held[near].append(band.least <= row.cycles <= band.most)
    assert len(held[True]) > 500
    assert all(sum(each) >= 0.9 * len(each) for each in held.values())


@pytest.mark.parametrize(
    ("object_type", "shape"),
    [
        (
            f"{FIR}::decimate_asym::fir_decimate_asym<{CINT16}, short, 30u, 3u, 16u, "
            "0u, 384u, false, false, 30u, 0u, 1u, 0u, 1u, 0u, 0u, 0, 0u, 0u, 1u, 30u, 0u>",
            KernelShape("fir_decimate_asym", "cint16", "int16", False, (0, 0, 1, 3, 0), 128 * 30, 128),
        ),
        (
            f"{FIR}::sr_asym::fir_sr_asym<short, short, 32u, 15u, 0u, 512u, true, false, 8u, 3u, 4u, "
            "1u, 1u, 0u, 1u, 0, 0u, 0u, 1u, 32u, 0u>",
            KernelShape("fir_sr_asym", "int16", "int16", True, (0, 1, 1, 1, 0), 512 * 8, 512, 4),
        ),
        (
            "xf::dsp::aie::hadamard::hadamard<float, short, 16u, 4u, 14u, 1u, 2u, 0u, 0u>",
            KernelShape("hadamard", "float", "int16", True, (0, 0, 1, 1, 0), 64, 64),
        ),
        (
            "xf::dsp::aie::bitonic_sort::bitonic_sort<int, 64u, 2u, 1u, 1u, 0u>",
            KernelShape("bitonic_sort", "int32", "int32", False, (0, 0, 1, 1, 0), 128 * 21, 128),
        ),
        (
            f"xf::dsp::aie::fft::dit_1ch::fft_ifft_dit_1ch<{CINT16}, {CINT16}, {CINT16}, "
            "64u, 1u, 6u, 0u, 6u, true, 128u, 0u, 0u, 0u, 0u>",
            KernelShape("fft_ifft_dit_1ch", "cint16", "cint16", False, (0, 0, 1, 1, 1), 128 * 6, 128),
        ),
        (
            f"xf::dsp::aie::fft::mixed_radix_fft::mixed_radix_fft<{CINT16}, {CINT16}, {CINT16}, "
            "96u, 0u, 6u, 0u, 1u, 96u, 0u, 4u, 0u>",
            KernelShape("mixed_radix_fft", "cint16", "cint16", False, (0, 0, 1, 1, 0), 96 * log2(96), 96),
        ),
    ],
)  # fmt: skip
def test_a_class_says_what_its_kernel_works_on(object_type: str, shape: KernelShape) -> None:
    assert kernel_shape(object_type) == shape


def test_only_kernels_of_the_library_have_its_cycles() -> None:
    assert library_cycles("mine::hadamard<float, float, 16u>") is None
    assert library_cycles("xf::dsp::aie::hadamard::tiler<float>") is None
    assert library_cycles("") is None


def test_rows_whose_output_sets_the_period_agree_about_a_call() -> None:
    """DEV-ADF-160: int16 by cint32, 8 or 16 words in, 1,024 or 2,048 out: 0.31 to 0.34 cycles an element."""
    rows = [*library_counts()["kronecker"], *library_counts()["outer_tensor"]]
    found = [
        row.cycles / row.shape.items
        for row in rows
        if (row.shape.data, row.shape.other, row.shape.streams) == ("int16", "cint32", False)
    ]
    assert len(found) == 4
    assert 0.3 < min(found) <= max(found) < 0.35


@pytest.mark.parametrize(
    ("passage", "cycles"),
    [
        (Passage(4106, 128, 4096, 13984), 4 * 4106 - 128 + 95 - 13984),  # output: one block is on its way in
        (Passage(1031, 8, 1024, 13260), 13 * 1031 - 10 * 8 + 95 - 13260),  # output: ten are
        (Passage(517, 512, 512, 901), 901 - 512 - 95),  # input
        (Passage(693, 512, 512, 1656), 693),  # neither of them
        (Passage(517, 512, 512, 600), 517),  # shorter than a block takes
        (Passage(517, 512, 512, -1), 517),  # no latency
        (Passage(517, 0, 512, 901), 517),  # no input
    ],
)
def test_a_latency_says_how_long_a_call_takes_where_plios_set_the_period(
    passage: Passage, cycles: int
) -> None:
    shape = KernelShape("hadamard", "int32", "int16", False, (0, 0, 1, 1, 0), 512, 512)
    assert call_cycles(shape, passage) == cycles
    assert call_cycles(shape._replace(streams=True), passage) == passage.cycles
    assert call_cycles(shape._replace(chain=2), passage) == passage.cycles
