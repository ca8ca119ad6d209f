"""Access patterns: the address walk of a descriptor; tilings and views lowered to descriptors. Untimed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtile.lazy import offer

if TYPE_CHECKING:
    from memtile.access.compression import compress, compressed_length, decompress
    from memtile.access.graph_text.found import GraphTiling
    from memtile.access.graph_text.fragment import graph_tilings, tiling_of
    from memtile.access.lowering.lower import Lowering, lower
    from memtile.access.notation import dma_dimensions, rearrange, repeat, tensor_access_pattern
    from memtile.access.request import Request
    from memtile.access.tiling import TilingParameters, TraversingParameters
    from memtile.access.tiling_cases import TilingCase, parse_tiling, tilings_of
    from memtile.access.tiling_views import tiling_view
    from memtile.access.views import View, pad, sliding_window_view, view

_HOMES = {
    "GraphTiling": "memtile.access.graph_text.found",
    "Lowering": "memtile.access.lowering.lower",
    "Request": "memtile.access.request",
    "TilingCase": "memtile.access.tiling_cases",
    "TilingParameters": "memtile.access.tiling",
    "TraversingParameters": "memtile.access.tiling",
    "View": "memtile.access.views",
    "compress": "memtile.access.compression",
    "compressed_length": "memtile.access.compression",
    "decompress": "memtile.access.compression",
    "dma_dimensions": "memtile.access.notation",
    "graph_tilings": "memtile.access.graph_text.fragment",
    "lower": "memtile.access.lowering.lower",
    "pad": "memtile.access.views",
    "parse_tiling": "memtile.access.tiling_cases",
    "rearrange": "memtile.access.notation",
    "repeat": "memtile.access.notation",
    "sliding_window_view": "memtile.access.views",
    "tensor_access_pattern": "memtile.access.notation",
    "tiling_of": "memtile.access.graph_text.fragment",
    "tiling_view": "memtile.access.tiling_views",
    "tilings_of": "memtile.access.tiling_cases",
    "view": "memtile.access.views",
}

__all__ = [
    "GraphTiling",
    "Lowering",
    "Request",
    "TilingCase",
    "TilingParameters",
    "TraversingParameters",
    "View",
    "compress",
    "compressed_length",
    "decompress",
    "dma_dimensions",
    "graph_tilings",
    "lower",
    "pad",
    "parse_tiling",
    "rearrange",
    "repeat",
    "sliding_window_view",
    "tensor_access_pattern",
    "tiling_of",
    "tiling_view",
    "tilings_of",
    "view",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = offer(__name__, _HOMES)
