"""Functions that cores call and designs only declare: those that IRON and mlir-aie ship, in NumPy.

``docs/kernels.md`` lists them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtile.lazy import offer

if TYPE_CHECKING:
    from memtile.corelib.library import Described, Library, described, library, unknown
    from memtile.corelib.registry import External

_HOMES = {
    "Described": "memtile.corelib.library",
    "External": "memtile.corelib.registry",
    "Library": "memtile.corelib.library",
    "described": "memtile.corelib.library",
    "library": "memtile.corelib.library",
    "unknown": "memtile.corelib.library",
}

__all__ = ["Described", "External", "Library", "described", "library", "unknown"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = offer(__name__, _HOMES)
