"""``aie.dialects.memref``: buffers of a design."""

from memtile.iron.extras.dialects import memref as _all
from memtile.iron.ops.operation_classes import dialect as _dialect

globals().update(_dialect("memref"))
globals().update({name: value for name, value in vars(_all).items() if not name.startswith("_")})
