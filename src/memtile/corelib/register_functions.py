"""Functions about registers: those of the tile, over the core's processor bus, and the core's own modes."""

from __future__ import annotations

from typing import Any, cast, get_args

from memtile.corelib.name_types import Values
from memtile.corelib.registry import answers, first
from memtile.corelib.rounding import Modes, Rounding

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


@answers(*(f"set_rounding_{mode}" for mode in get_args(Rounding)), writes=())
def set_rounding(*, spelling: str, modes: Modes) -> None:
    """The mode of the name is that of the core from now on. Source: mlir-aie ``set_rounding.cc``."""
    modes.set(cast(Rounding, spelling.removeprefix("set_rounding_")))
