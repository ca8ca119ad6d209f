"""The text of a design whose host sequence is written out, as those of large models are."""

from __future__ import annotations

WORDS = 64  # of a copy


def long_sequence(copies: int, device: str = "npu1_1col") -> str:
    """A block that goes to a memory tile and back, with a wait each time: two tasks a copy.

    Args:
        copies: how many; 19,000 make 6 MB of text.
        device: that it is for.
    """
    memory, steps = f"memref<{WORDS * copies}xi32>", []
    for number in range(copies):
        place, bd = f"[0, 0, 0, {WORDS * number}][1, 1, 1, {WORDS}][0, 0, 0, 1]", 2 * (number % 4)
        out = f"id = {bd + 1} : i64, metadata = @out, issue_token = true"
        steps += (
            f"aiex.npu.dma_memcpy_nd(%a{place}) {{id = {bd} : i64, metadata = @in}} : {memory}",
            f"aiex.npu.dma_memcpy_nd(%b{place}) {{{out}}} : {memory}",
            "aiex.npu.dma_wait {symbol = @out}",
        )
    fifo, body = f"!aie.objectfifo<memref<{WORDS}xi32>>", "\n        ".join(steps)
    return f"""module {{
  aie.device({device}) {{
    %door = aie.tile(0, 0)
    %store = aie.tile(0, 1)
    aie.objectfifo @in(%door, {{%store}}, 2 : i32) : {fifo}
    aie.objectfifo @out(%store, {{%door}}, 2 : i32) : {fifo}
    aie.objectfifo.link [@in] -> [@out] ([] [0])
    aie.runtime_sequence(%a: {memory}, %b: {memory}) {{
        {body}
    }}
  }}
}}
"""
