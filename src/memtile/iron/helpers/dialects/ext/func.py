"""``aie.helpers.dialects.ext.func``: the former place of ``aie.helpers.dialects.func``."""

from memtile.iron.helpers.dialects import func as _now

globals().update({name: value for name, value in vars(_now).items() if not name.startswith("__")})
