"""How many descriptors memtile needs for the same access, by its own lowering."""

from __future__ import annotations

from memtile.access.lowering.lower import Access
from memtile.access.tiling import TilingParameters, TraversingParameters
from memtile.access.tiling_cases import TilingCase
from memtile.adf.description import Port, Tiling
from memtile.adf.objects import Objects
from memtile.adf.rates import access_of
from memtile.errors import TransferError


def our_bds(objects: Objects, port: Port) -> int:
    """Descriptors of a port of a shared buffer; 0 = memtile does not lower its tilings either."""
    dimensions = objects.dimensions(port)
    bits = 8 * objects.element_bytes(port)
    found = [_lowered(each, dimensions, bits, port) for each in access_of(port) or (Tiling(),)]
    return sum(found) if all(found) else 0


def _lowered(tiling: Tiling, dimensions: tuple[int, ...], bits: int, port: Port) -> int:
    loops = tuple(TraversingParameters(x.dimension, x.stride, x.wrap) for x in tiling.tile_traversal)
    parameters = TilingParameters(
        tiling.buffer_dimension or dimensions,
        tiling.tiling_dimension,
        tiling.offset if len(tiling.offset) <= len(tiling.buffer_dimension or dimensions) else (),
        loops,
        boundary_dimension=tiling.boundary_dimension,
        repetition=tiling.repetition,
    )
    way: Access = "write" if port.direction == "in" else "read"
    try:
        lowering = TilingCase(port.name, parameters, bits, access=way).lowered()
    except TransferError:
        return 0
    return len(lowering.descriptors)
