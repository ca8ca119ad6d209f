"""Small designs in MLIR text for tests: four tiles of a column, and hosts that pass arrays of 64 numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from memtile import Status
from memtile.importers.design import load
from memtile.importers.loaded import Loaded
from memtile.importers.mlir.token_packets import Text

TILES = "%s = aie.tile(0, 0)\n%m = aie.tile(0, 1)\n%c = aie.tile(0, 2)\n%d = aie.tile(0, 3)\n"
NUMBERS = np.arange(64, dtype=np.int32)
WHOLE = "[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]"
FLOWS = """
  aie.shim_dma_allocation @in(%s, MM2S, 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)
"""
_NOTHING: Mapping[str, Callable[..., Any]] = {}


def device(*lines: str, tiles: str = TILES, name: str = "", chip: str = "npu1_1col") -> str:
    """A device with the four tiles and what else it has."""
    return f"aie.device({chip}) {name} {{\n{tiles}" + "\n".join(lines) + "\n}"


def host(*lines: str, more: str = "") -> str:
    """A host sequence with two arrays of 64 numbers."""
    body = "\n".join(lines)
    return f"aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>{more}) {{\n{body}\n}}"


def copied(kind: str, array: str, number: int, part: str = WHOLE) -> str:
    """``dma_memcpy_nd`` on an allocation."""
    return (
        f"aiex.npu.dma_memcpy_nd(%{array}{part}) {{id = {number} : i64, metadata = @{kind}}} : memref<64xi32>"
    )


WAIT = "aiex.npu.dma_wait {symbol = @out}"


def loaded(text: str, functions: Mapping[str, Callable[..., Any]] = _NOTHING, **more: Any) -> Loaded:
    """The design of a text."""
    return load(Text("d.mlir", text), functions=functions, **more)


def ran(design: Loaded, *arguments: Any) -> list[np.ndarray]:
    """The arguments of a design at the end of its host sequence."""
    done = design.run(*arguments, max_cycles=200_000)
    assert done.result.status is Status.FINISHED, done.result
    assert not done.stopped
    return [np.asarray(done.arrays[name]) for name in sorted(done.arrays, key=int)]
