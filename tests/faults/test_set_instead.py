"""A host that sets one lock too often: is another one meant, or is something else wrong?"""

from __future__ import annotations

import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.importers.design import load_still
from memtile.importers.mlir.token_packets import Text

CORE = "aie.core(%tile) {\naie.end\n}"
FIFO = "aie.objectfifo @made(%tile, {%shim}, 1 : i32) : !aie.objectfifo<memref<16xi32>>"
CHAIN = """aie.flow(%tile, DMA : 0, %shim, DMA : 0)
aie.shim_dma_allocation @made(%shim, S2MM, 0)
%full = aie.lock(%tile, 2) {init = 0 : i32, sym_name = "full"}
%words = aie.buffer(%tile) {sym_name = "words"} : memref<16xi32>
aie.mem(%tile) {
  %0 = aie.dma_start(MM2S, 0, ^go, ^end)
^go:
  aie.use_lock(%full, AcquireGreaterEqual, 1)
  aie.dma_bd(%words : memref<16xi32>, 0, 16)
  aie.next_bd ^go
^end:
  aie.end
}"""


@pytest.mark.parametrize(
    ("stream", "core", "said"),
    [(CHAIN, CORE, True), (CHAIN, "", False), (FIFO, CORE, False)],
    ids=["lock", "core-missing", "object-fifo"],
)
def test_a_lock_that_a_core_or_an_object_fifo_gives_is_none_for_a_host(
    stream: str, core: str, said: bool
) -> None:
    text = f"""module {{
aie.device(npu1_1col) {{
%shim = aie.tile(0, 0)
%tile = aie.tile(0, 2)
%other = aie.lock(%tile, 8) {{init = 0 : i32, sym_name = "other"}}
{stream}
{core}
aie.runtime_sequence(%back : memref<16xi32>) {{
  aiex.set_lock(%other, 1)
  aiex.npu.dma_memcpy_nd(%back[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1])
    {{id = 0 : i64, metadata = @made}} : memref<16xi32>
  aiex.npu.dma_wait {{symbol = @made}}
}}
}}
}}
"""
    found = check("d.mlir", lambda: of_mlir(load_still(Text("d.mlir", text)))).findings
    assert ("MT0338" in [each.code for each in found]) is said
