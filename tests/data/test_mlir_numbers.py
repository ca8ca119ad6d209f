"""Which numbers and which walks do the short forms of mlir-aie's prints stand for?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.arch.devices import device
from memtile.importers.mlir.description import Level
from memtile.importers.mlir.descriptors import dims
from memtile.importers.mlir.forms.dense_constants import array_of
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text
from memtile.importers.mlir.types import Shaped


def _form() -> OperationForm:
    (block,) = read(Text("t.mlir", "aie.device(npu1) {\n}")).blocks
    return OperationForm(block.operations[0])


@pytest.mark.parametrize(
    ("element", "value", "number"),
    [
        ("bf16", 0xFF80, -np.inf),
        ("bf16", 0x3FC0, 1.5),
        ("f16", 0x7C00, np.inf),
        ("f32", 0xFF800000, -np.inf),
        ("f32", 3, 3.0),
        ("bf16", 2.5, 2.5),
    ],
)
def test_whole_numbers_of_floats_are_their_bits(element: str, value: float, number: float) -> None:
    """MLIR prints infinities and NaNs as bits: ``dense<[0xFF80]> : tensor<1xbf16>``."""
    made = array_of(_form(), [value], Shaped((2,), element), 64)
    assert made.astype(np.float64).tolist() == [number, number]


@pytest.mark.parametrize(
    ("levels", "is_linear"),
    [
        ([(32, 32), (32, 1), (1, 32), (1, 1)], True),  # mlir-aie's GEMM over a cascade
        ([(1, 2), (1, 1)], True),  # its maximum over a memory tile
        ([(32, 64), (32, 1), (1, 32), (1, 1)], False),
        ([(4, 2), (1, 1)], False),
    ],
)
def test_an_innermost_run_below_a_word_is_a_walk_in_order_or_refused(
    levels: list[tuple[int, int]], is_linear: bool
) -> None:
    given = [Level(*each) for each in levels]
    kind = device("npu1").kind("memory")
    if is_linear:
        assert dims(_form(), given, 2, kind) == ()
    else:
        with pytest.raises(Exception, match="its innermost size is 2 bytes; a DMA moves whole 32-bit words"):
            dims(_form(), given, 2, kind)
