"""``aie.helpers.taplib``: patterns in which tensors are read and written."""

from memtile.iron.helpers.taplib.grid import TileGrid
from memtile.iron.helpers.taplib.tap import TensorAccessPattern
from memtile.iron.helpers.taplib.tas import TensorAccessSequence
from memtile.iron.helpers.taplib.tensortiler2d import TensorTiler2D

__all__ = ["TensorAccessPattern", "TensorAccessSequence", "TensorTiler2D", "TileGrid"]
