"""``aie.extras.dialects.ext.arith``: the former place of ``aie.extras.dialects.arith``."""

from memtile.iron.extras.dialects import arith as _now

globals().update({name: value for name, value in vars(_now).items() if not name.startswith("__")})
