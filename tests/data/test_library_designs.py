"""Do designs run with the functions of the library, the user's before them?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memtile.errors import InputFileError
from memtile.importers.design import load
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
    with pytest.raises(InputFileError, match="nobody gave the function add_two") as caught:
        loaded("add_two")
    assert "def add_two(a0, a1, a2)" in str(caught.value)
    assert "Names of the library that come near are add_one" in str(caught.value)
