"""Does the library of core functions name what it lacks, and refuse what a function cannot answer?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memtile.errors import DesignError
from memtile.kernels import aie, kernel

LIBRARY = aie.library()


def test_each_name_belongs_to_one_function() -> None:
    """A later pattern that an earlier one hides would never answer."""
    for each in aie.described():
        for name in each.names:
            for type_name, pair in (
                ("bf16", ("i16", "i32")),
                ("bf16", ("bf16", "bf16")),
                ("bf16", ("i8", "i16")),
            ):
                spelled = name.replace("{TYPE}", type_name).replace("{IN}", pair[0]).replace("{OUT}", pair[1])
                for hole in ("n", "m", "k", "r", "s", "t", "block"):
                    spelled = spelled.replace(f"{{{hole}}}", "4")
                if spelled in LIBRARY:
                    assert name in LIBRARY[spelled].entry.names, spelled
                    break
            else:
                pytest.fail(f"{name} is not answered")


def test_a_library_is_a_mapping() -> None:
    assert len(LIBRARY) == len([*LIBRARY]) == len({*LIBRARY}) > 300
    assert all(name in LIBRARY for name in LIBRARY)
    assert LIBRARY.get("nothing_like_it") is None
    odd: Any = 3
    assert odd not in LIBRARY
    assert repr(LIBRARY["zero_i16"]) == "<zero_i16(c) of memtile.kernels.aie>"
    assert dict(LIBRARY) | {"mine": None}


def test_the_most_frequent_names_of_public_designs_are_there() -> None:
    frequent = (
        "zero_i16 matmul_i16_i16 zero_i32 matmul_i16_i32 vector_scalar_mul_aie_scalar passthrough "
        "passThroughLine matvec_vectorized_bf16_bf16 silu_bf16 eltwise_mul_bf16 mean vector_mult "
        "exp_bf16_1024 add_one sum "
        "thresholdLine concat scale_int32"
    )
    assert [name for name in frequent.split() if name not in LIBRARY] == []


@pytest.mark.parametrize("name", ["1a2b3c4d_matmul_i16_i16", "op0_gelu_bf16", "op12_softmax_bf16"])
def test_prefixes_of_variants_are_known(name: str) -> None:
    assert name in LIBRARY


@pytest.mark.parametrize(
    "name",
    ["matmul_i16", "matmul_f32_i8", "softmax_i32", "zero_i64", "xyz_zero_i16", "zero_i16_", "exp_bf16_"],
)
def test_what_is_no_name_is_none(name: str) -> None:
    assert name not in LIBRARY
    with pytest.raises(KeyError, match=name):
        LIBRARY[name]


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("matmul_i16_i23", "matmul_i16_i32"),
        ("thresholdLines", "thresholdLine"),
        ("conv2d1_ui8", "conv2dk1_ui8"),
    ],
)
def test_the_nearest_names_are_said(name: str, near: str) -> None:
    text = aie.unknown(name)
    assert text.startswith(f"{name}: the library has no function of this name (memtile.kernels.aie). ")
    assert near in text.split("The nearest names are ")[1].split(". ")[0]


def test_what_has_no_neighbour_says_what_to_do() -> None:
    assert aie.unknown("qqqq") == (
        "qqqq: the library has no function of this name (memtile.kernels.aie). Write it in Python: "
        "it gets NumPy views of its arrays, which it changes in place, and numbers."
    )
    assert aie.unknown("zero_i16") == "zero_i16(c) is in the library (memtile.kernels.aie)."


A, B = np.zeros(8, np.int16), np.zeros(4, np.int16)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("zero_i16", (), r"zero_i16\(c\): the number of arguments is 0; it must be 1 "),
        ("zero_i16", (A, A), r"the number of arguments is 2; it must be 1 "),
        ("add_one", (A,), r"add_one\(a, c, count\): the number of arguments is 1; it must be 2 or more"),
        ("thresholdLine", (A, A, 8), r"the number of arguments that are numbers is 1; it must be 4 or 5"),
        ("zero_i32", (A,), r"the element type of c is int16; it must be int32"),
        ("zero_i16", (5,), r"argument c is 5; it must be an array"),
        ("passThroughLine", (A, B, 8), r"the length of c is 4 elements; it must be at least 8"),
        ("passThroughLine", (A, A, -1), r"the number of elements is -1; it must be 0 or more"),
        ("copy", (A, B), r"the number of elements is 8 in a, 4 in c; it must be the same in all arrays"),
        ("copy", (A, np.zeros(8, np.int8)), r"the element type of c is int8; it must be of 2 bytes, as in a"),
        ("reduce_max_vector", (A, A, 0), r"the number of elements is 0; it must be 1 or more"),
        ("mean", (A, A, 0), r"the number of elements is 0; it must be 1 or more"),
        ("rms_norm_f32", (A.view(np.float32), A.view(np.float32), 0), r"count is 0; it must be 1 or more"),
        ("matvec_vectorized_bf16_bf16", (A, B), r"the list of arguments is one of 2"),
    ],
)
def test_a_call_that_cannot_be_is_refused(name: str, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(DesignError, match=message) as caught:
        LIBRARY[name](*arguments)
    assert caught.value.problems[0].reason == "kernel_call"


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(DesignError, match="npu9"):
        aie.library("npu9")


def test_a_decorator_says_the_cycles() -> None:
    @kernel(cycles=120)
    def fixed(a: Any) -> None:
        a[...] = 1

    @kernel(cycles=lambda a: a.size / 16)
    def by_size(a: Any) -> None:
        a[...] = 2

    assert fixed.cycles == 120  # type: ignore[attr-defined]
    assert by_size.cycles(np.zeros(64)) == 4  # type: ignore[attr-defined]
    by_size(A)
    assert (A == 2).all()


@pytest.mark.parametrize("cycles", [-1, "3", True, None, float("nan")])
def test_cycles_that_are_none_are_refused(cycles: Any) -> None:
    with pytest.raises(DesignError, match=r"cycles is .*; it must be a number from 0 on, or a function"):
        kernel(cycles=cycles)
