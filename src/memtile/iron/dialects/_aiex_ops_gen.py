"""``aie.dialects._aiex_ops_gen``: the plain builders of the AIEX dialect."""

from memtile.iron.dialects._ops import AIEX as _ALL

globals().update(_ALL)
