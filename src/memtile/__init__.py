"""memtile: an open twin of AMD's AIE-ML memory tile.

The names below are loaded when they are first used, so that ``import memtile`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtile.access.notation import dma_dimensions, rearrange, repeat, tensor_access_pattern
    from memtile.access.numpy_functions import pad
    from memtile.access.tiling import TilingParameters, TraversingParameters
    from memtile.access.views import View, view
    from memtile.arch.devices import device
    from memtile.arch.timing import Timing
    from memtile.bd.descriptor import Descriptor
    from memtile.design.array import Array
    from memtile.design.memory_tile import MemoryTile
    from memtile.design.transfers import Transfer
    from memtile.errors import MemtileError
    from memtile.explain.results import Result, Status

__version__ = "0.1.0"

_HOMES = {
    "Array": "memtile.design.array",
    "Descriptor": "memtile.bd.descriptor",
    "MemoryTile": "memtile.design.memory_tile",
    "MemtileError": "memtile.errors",
    "Result": "memtile.explain.results",
    "Status": "memtile.explain.results",
    "TilingParameters": "memtile.access.tiling",
    "Timing": "memtile.arch.timing",
    "Transfer": "memtile.design.transfers",
    "TraversingParameters": "memtile.access.tiling",
    "View": "memtile.access.views",
    "device": "memtile.arch.devices",
    "dma_dimensions": "memtile.access.notation",
    "pad": "memtile.access.numpy_functions",
    "rearrange": "memtile.access.notation",
    "repeat": "memtile.access.notation",
    "tensor_access_pattern": "memtile.access.notation",
    "view": "memtile.access.views",
}

__all__ = [
    "Array",
    "Descriptor",
    "MemoryTile",
    "MemtileError",
    "Result",
    "Status",
    "TilingParameters",
    "Timing",
    "Transfer",
    "TraversingParameters",
    "View",
    "device",
    "dma_dimensions",
    "pad",
    "rearrange",
    "repeat",
    "tensor_access_pattern",
    "view",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
