"""Do designs run with the functions of the library, the user's before them?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from memtile.corelib.library import library
from memtile.corelib.object_files import linked
from memtile.errors import DesignError, InputFileError
from memtile.importers.design import load, load_still
from memtile.importers.kernels.user_functions import functions_for
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text

NUMBERS = np.arange(64, dtype=np.int32)
DESIGN = """module {
  aie.device(DEVICE) {
    %s = aie.tile(0, 0)
    %c = aie.tile(0, 2)
    func.func private @NAME(memref<16xi32>, memref<16xi32>, i32)
    aie.objectfifo @in(%s, {%c}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @out(%c, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.core(%c) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %w = arith.constant 16 : i32
      scf.for %i = %c0 to %c4 step %c1 {
        %a = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %x = aie.objectfifo.subview.access %a[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %b = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %y = aie.objectfifo.subview.access %b[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        func.call @NAME(%x, %y, %w) : (memref<16xi32>, memref<16xi32>, i32) -> ()
        aie.objectfifo.release @in(Consume, 1)
        aie.objectfifo.release @out(Produce, 1)
      }
      aie.end
    }
    aiex.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<64xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""  # noqa: E501


def loaded(name: str, device: str = "npu1_1col", **options: Any) -> Any:
    return load(Text("d", DESIGN.replace("NAME", name).replace("DEVICE", device)), **options)


@pytest.mark.parametrize("name", ["add_one", "1234abcd_add_one"])
def test_what_a_design_declares_comes_from_the_library_and_a_note_says_so(name: str) -> None:
    done = loaded(name).run(NUMBERS)
    np.testing.assert_array_equal(done.arrays["1"].view(np.int32).reshape(-1), NUMBERS + 1)
    assert f"functions of the library (memtile.kernels.aie): {name}(a, c, count)" in done.notes


def test_blocks_of_numbers_that_share_an_exponent_are_elements_of_9_bytes() -> None:
    name, block = "bfp16_passthrough_vectorized", '!aiex.bfp<"v8bfp16ebs8">'
    text = DESIGN.replace("NAME", name).replace("DEVICE", "npu2_1col").replace("xi32>", f"x{block}>")
    text = text.replace("(%x, %y, %w)", "(%x, %y)").replace(f"x{block}>, i32) -> ()", f"x{block}>) -> ()")
    text = text.replace(f"x{block}>, i32)", f"x{block}>)")
    data = np.arange(64 * 9).astype(np.uint8)
    done = load(Text("d", text)).run(data)
    assert done.arrays["1"].dtype.names == ("exponent", "parts")
    assert done.arrays["1"].tobytes() == data.tobytes()
    with pytest.raises(InputFileError, match="v16bfp16ebs16"):
        load(Text("d", text.replace("v8bfp16ebs8", "v16bfp16ebs16")))


def test_functions_of_the_user_come_first() -> None:
    def add_one(source: Any, target: Any, count: int) -> None:
        target[:count] = source[:count] + 100

    done = loaded("add_one", functions={"add_one": add_one}).run(NUMBERS)
    np.testing.assert_array_equal(done.arrays["1"].view(np.int32).reshape(-1), NUMBERS + 100)
    assert not [note for note in done.notes if "library" in note]


def test_the_library_takes_time() -> None:
    own = loaded("passthrough", functions={"passthrough": lambda *_: None})
    slow, fast = (
        design.run(NUMBERS).result.as_json()["cores"][0]["cycles"]["running"]
        for design in (loaded("passthrough"), own)
    )
    assert slow > fast


def test_what_nobody_has_is_named_with_its_neighbours() -> None:
    with pytest.raises(InputFileError, match="no implementation was given for function add_two") as caught:
        loaded("add_two")
    assert "def add_two(a0, a1, a2)" in str(caught.value)
    assert "Names of the library that come near are add_one" in str(caught.value)


LINES = [("i8", True), ("i8", True), ("i8", True), *[("i32", False)] * 4]


@pytest.mark.parametrize(
    ("files", "output", "says"),
    [
        (["conv2dk1.o"], "i8", ("relu", "")),
        (["/home/me/build/conv2dk1.o"], "ui8", ("relu", "")),
        (["conv2dk1_i8.o"], "i8", ("away", "")),
        (["conv2dk1_i8.o", "conv2dk3.o"], "ui8", ("relu", "")),
        ([], "i8", ("away", "2 functions are called conv2dk1_i8")),
        (["kernels.a"], "i8", ("away", "2 functions are called conv2dk1_i8")),
        (["my_convolution.o"], "i8", ("away", "the design links my_convolution.o")),
    ],
)
def test_the_object_file_says_which_of_two_functions_of_a_name_it_is(
    files: list[str], output: str, says: tuple[str, str]
) -> None:
    """mlir-aie compiles conv2dk1_i8 from conv2dk1.cc (to ui8, ReLU) and from conv2dk1_i8.cc (to i8)."""
    declared = [*LINES[:2], (output, True), *LINES[3:]]
    found = linked(library(), "conv2dk1_i8", files, declared)
    a, w = np.full(8, -3, np.int8), np.eye(8, dtype=np.int8).reshape(-1)
    c = np.zeros(8, np.uint8 if output == "ui8" else np.int8)
    found.function(a.view(np.uint8), w, c, 1, 8, 8, 0)
    assert c.view(np.uint8).tolist() == [256 - 3 if says[0] == "relu" else 127] * 8
    assert says[1] in found.warning
    assert bool(found.warning) == bool(says[1])


@pytest.mark.parametrize(
    ("name", "files", "doubted"),
    [
        ("passthrough", ["passThrough.cc.o"], False),
        ("passthrough", ["1a2b3c4d_passThrough.o"], False),
        ("passthrough", ["passthrough.o"], False),
        ("passthrough", ["fdtd_2d.o"], True),
        ("passthrough", ["kernel.o"], False),
        ("matmul_i16_i16", ["mm_32x32x8.o"], False),
        ("zero_i16", ["mm_32x32x8.o"], False),
        ("zero_i16", ["matmul_i16_i16_93f9add7.o"], False),
        ("zero_i16", ["bf16_softmax_93f9add7.o"], True),
        ("softmax_bf16", ["softmax_bf16_xdna1.o"], True),
        ("mean", ["mean.o"], True),
        ("event_0", ["anything.o"], False),
    ],
)
def test_another_object_file_or_a_name_alone_is_a_warning(name: str, files: list[str], doubted: bool) -> None:
    found = linked(library(), name, files, [])  # DEV-KERNEL-7
    assert bool(found.warning) is doubted
    assert not doubted or "--kernels" in found.warning


@pytest.mark.parametrize("on_core", [True, False])
def test_object_files_stand_at_the_core_or_at_the_function(on_core: bool) -> None:
    text = DESIGN.replace("NAME", "passthrough").replace("DEVICE", "npu1_1col")
    if on_core:
        text = text.replace("aie.end\n    }\n", 'aie.end\n    } {link_files = ["a.o", "theirs.o"]}\n', 1)
    else:
        text = text.replace("i32)\n", 'i32) attributes {link_with = "theirs.o"}\n', 1)
    notes = load(Text("d", text)).notes
    (warning,) = [note for note in notes if note.startswith("warning")]
    assert warning.startswith("warning: passthrough(a, c, *sizes) is that of passThrough.o")
    assert "theirs.o" in warning


def test_each_core_has_the_function_of_its_own_object_file() -> None:
    text = DESIGN.replace("NAME", "add_one").replace("DEVICE", "npu1_1col")
    (described,) = devices(read(Text("d", text)))
    other = replace(described.cores[0], tile="%other")
    chosen = functions_for(replace(described, cores=[described.cores[0], other]), {}, "npu1")
    assert chosen.of("%c").keys() == chosen.of("%other").keys() == {"add_one"}
    assert chosen.of("%nothing") == {}


@pytest.mark.parametrize("take", [load, load_still])
@pytest.mark.parametrize(
    ("kinds", "given", "says"),
    [
        ("memref<16xi32>", "%y", "argument count is an array, it must"),
        ("i32, i32", "%w, %w", "the number of arguments is 4, it must"),
        ("f32", "%f", "argument count is a number of type f32"),
    ],
)  # fmt: skip
def test_what_no_function_of_the_library_takes_is_refused_when_it_is_read(
    take: Any, kinds: str, given: str, says: str
) -> None:
    """Users call kernels of their own passThrough (NPU_FDTD) and mean; the library's are others."""
    text = DESIGN.replace("NAME", "add_one").replace("DEVICE", "npu1_1col")
    text = text.replace("memref<16xi32>, i32)", f"memref<16xi32>, {kinds})").replace("%w)", f"{given})")
    text = text.replace("      scf.for", "      %f = arith.constant 1.0 : f32\n      scf.for")
    with pytest.raises(InputFileError) as caught:
        take(Text("d", text))
    told = str(caught.value)
    assert told.startswith("d:5:5: func.func: the text declares add_one(memref<16xi32>, memref<16xi32>, ")
    assert f"and the library has add_one(a, c, count): {says}" in told
    assert "Give your own with --kernels FILE.py or functions=; it may begin so: def add_one(a0, a1" in told
    design = load(Text("d", text), functions={"add_one": lambda *_: None})
    assert not [note for note in design.notes if "library" in note]


def test_a_number_of_another_type_is_refused_where_it_is_used() -> None:
    passthrough = library()["passthrough"]
    for given in (np.float32(4.0), np.zeros(4, np.int32)):
        with pytest.raises(DesignError, match="it must be a whole number"):
            passthrough(np.zeros(4, np.int32), np.zeros(4, np.int32), given)
