"""Functions that read and write the registers of their own tile, over the processor bus of the core."""

from __future__ import annotations

from typing import Any

from memtile.corelib.name_types import Values
from memtile.corelib.registry import answers, first

_WORD = 0xFFFF_FFFF


@answers("read_processor_bus", writes=("c",), objects=("kernel",))
def read_processor_bus(c: Values, address: int, count: int, stride: int, *, core: Any) -> None:
    """The first ``count`` elements of c become registers of the tile, ``stride`` bytes apart.

    Source: mlir-aie ``test/npu-xrt/tile_mapped_read``.
    """
    target = first(c, count, "c")
    words = [core.bus.read((address & _WORD) + n * stride) for n in range(count)]
    target.view("uint32")[...] = words


@answers("write_processor_bus", writes=(), objects=("kernel",))
def write_processor_bus(a: Values, address: int, count: int, stride: int, *, core: Any) -> None:
    """Registers of the tile become the first ``count`` elements of a, placed as in ``read_processor_bus``.

    Source: ours, by analogy.
    """
    for n, word in enumerate(first(a, count, "a").view("uint32").tolist()):
        core.bus.write((address & _WORD) + n * stride, word)
