"""``aie.helpers.dialects.ext.scf``: the former place of ``aie.helpers.dialects.scf``."""

from memtile.iron.helpers.dialects import scf as _now

globals().update({name: value for name, value in vars(_now).items() if not name.startswith("__")})
