"""Do memrefs move offset + index * strides, and are they refused in their own words?"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from memtile import TransferError
from memtile.access.element_types import element_bits, mlir_bits
from memtile.access.expected import stream_elements
from memtile.access.memref import Memref, parse_memref
from memtile.access.tiling_cases import parse_tiling
from memtile.cli import main


def lower(*args: str, stdin: Any = None) -> Any:
    text = None if stdin is None else json.dumps(stdin)
    return CliRunner().invoke(main.app, ["lower", *args], input=text)


def messages(memref: dict[str, Any], bits: int = 32, **more: Any) -> list[str]:
    done = lower("-", "--json", stdin={"memref": memref, "element_bits": bits, **more})
    assert done.exit_code == 1
    error = json.loads(done.stdout)["error"]
    return [problem["message"] for problem in error.get("problems", [error])]


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 12)), min_size=0, max_size=4),
    st.integers(0, 9),
)
@settings(max_examples=150, deadline=None)
def test_a_memref_moves_what_it_means(axes: list[tuple[int, int]], offset: int) -> None:
    sizes, strides = [size for size, _ in axes], [stride for _, stride in axes]
    index = np.indices(sizes).reshape(len(sizes), -1) if sizes else np.zeros((0, 1), int)
    wanted = offset + np.array(strides, int) @ index if sizes else np.array([offset])
    case = parse_tiling(
        {"memref": {"sizes": sizes, "strides": strides, "offset": offset}, "element_bits": 32}
    )
    try:
        tasks = case.lowered().tasks
    except TransferError as error:
        assume("descriptors, a channel reaches" not in str(error))  # more than there are
        raise
    assert stream_elements(tasks, 32).tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("text", "memref", "bits"),
    [
        ("memref<4x8xi32, strided<[16, 1], offset: 3>>", Memref((4, 8), (16, 1), 3), 32),
        ("memref<4x8xi8>", Memref((4, 8), (8, 1)), 8),
        (" memref < 2 x 3 x bf16 , strided<[3,1]> , 1 : i32 > ", Memref((2, 3), (3, 1)), 16),
        ("memref<f32>", Memref((), ()), 32),
    ],
)
def test_mlir_text_of_a_memref(text: str, memref: Memref, bits: int) -> None:
    assert parse_memref(text) == (memref, bits)


def test_the_command_line_takes_a_memref() -> None:
    done = lower("--memref", "memref<4x8xi32, strided<[16, 1], offset: 3>>", "--json", "--elements")
    given = json.loads(done.stdout)
    assert given["elements"] == [3 + 16 * row + at for row in range(4) for at in range(8)]
    text = lower("--memref", "memref<4x8xi32, strided<[16, 1], offset: 3>>", "--access", "write")
    assert text.stdout.splitlines()[0] == "memref: write 4 x 8 elements of 32 bits with strides [16, 1]"
    assert lower("--memref", "memref<?xi32>").exit_code == 2
    assert lower("x.json", "--memref", "memref<4xi32>").exit_code == 2
    assert lower().exit_code == 2


WHERE = "memref:"
MLIR = "(MLIR, memref with strided layout)"
WORDS = "it must be a multiple of 4 elements, one 32-bit word (AM020 ch. 5: 32-bit words)."


def test_refusals_name_sizes_and_strides() -> None:
    assert messages({"sizes": [4, 6], "strides": [10, 1], "offset": 2}, 8) == [
        f"{WHERE} offset is 2 elements; {WORDS}",
        f"{WHERE} strides[0] is 10 elements; {WORDS}",
        f"{WHERE} sizes[1] is 6 elements; {WORDS}",
    ]
    (innermost,) = messages({"sizes": [4, 8], "strides": [32, 4]}, 8)
    assert innermost == (
        f"{WHERE} strides[1] is 4 elements; it must be 1 on the innermost axis (AM020 ch. 5: 32-bit words)."
    )
    far = messages({"sizes": [3, 4], "strides": [1 << 18, 1]})
    assert far[0] == (
        f"{WHERE} strides[0] is 262144 elements, 262144 words; it must be at most 131072 words (AM025: "
        "Dn_Stepsize has 17 bits)."
    )
    wrong = messages({"sizes": [4, 0], "strides": [-1, 1], "offset": -2})
    assert wrong == [
        f"{WHERE} sizes[1] is 0; it must be 1 or more {MLIR}.",
        f"{WHERE} strides[0] is -1; it must be 0 or more {MLIR}. The hardware only steps forward.",
        f"{WHERE} offset is -2; it must be 0 or more {MLIR}.",
    ]
    assert messages({"sizes": [4], "strides": [1, 2]}) == [
        f"{WHERE} strides has 2 numbers, sizes has 1; each size needs one {MLIR}."
    ]
    assert messages({"sizes": [4], "strides": [8], "elements": 24}) == [
        f"{WHERE} the memref covers elements 0..24, the buffer has 0..23 {MLIR}."
    ]


def test_a_memref_stands_alone_and_keys_are_checked() -> None:
    both = messages({"sizes": [4], "strides": [1]}, buffer_dimension=[4])
    assert "buffer_dimension is not a key; known keys are access, element_bits, element_type" in both[0]
    assert "memref.size is not a key" in messages({"size": [4], "strides": [1]})[0]


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("int4", 4),
        ("cint16", 32),
        ("cbfloat16", 32),
        ("cfloat", 64),
        ("accfloat", 32),
        ("acc64", 64),
        ("caccfloat", 64),
        ("float8", 8),
        ("bfloat8", 8),
        ("v16int8", 128),
        ("v4cint16", 128),
        ("v2cbfloat16", 64),
    ],
)
def test_element_types_of_amd_have_their_sizes(name: str, bits: int) -> None:
    assert element_bits(name) == bits
    case = parse_tiling({"buffer_dimension": [16], "element_type": name})
    assert case.element_bits == bits
    lanes = bits // 32 or 1
    assert len(stream_elements(case.lowered().tasks, min(bits, 32))) == 16 * lanes


@pytest.mark.parametrize("name", ["mx9", "bfp16ebs8", "v3int8", "cint", "float12"])
def test_types_without_a_size_of_their_own_are_refused(name: str) -> None:
    with pytest.raises(TransferError) as caught:
        parse_tiling({"buffer_dimension": [16], "element_type": name})
    text = str(caught.value)
    assert ("Its elements share an exponent" in text) == (name in ("mx9", "bfp16ebs8"))
    with pytest.raises(TransferError):
        element_bits(name)


def test_mlir_types_have_their_sizes() -> None:
    names = {
        "i8": 8,
        "ui16": 16,
        "si32": 32,
        "f32": 32,
        "bf16": 16,
        "f8E4M3FN": 8,
        "i12": None,
        "index": None,
    }
    assert {name: mlir_bits(name) for name in names} == names


def test_a_name_is_what_messages_call_a_tiling() -> None:
    done = lower("-", "--json", stdin={"name": "mine", "buffer_dimension": [4], "element_bits": 7})
    assert json.loads(done.stdout)["error"]["message"].startswith("tiling mine: element_bits is 7")
    two = lower("-", "--json", stdin={"name": "a", "id": "b", "buffer_dimension": [4], "element_bits": 8})
    assert 'name is "a" and id is "b"; one of them is enough' in two.stdout.replace("\\", "")
