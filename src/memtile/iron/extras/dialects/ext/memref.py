"""``aie.extras.dialects.ext.memref``: the former place of ``aie.extras.dialects.memref``."""

from memtile.iron.extras.dialects import memref as _now

globals().update({name: value for name, value in vars(_now).items() if not name.startswith("__")})
