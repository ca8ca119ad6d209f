"""``aie.dialects._aie_ops_gen``: the plain builders of the AIE dialect."""

from memtile.iron.dialects._ops import AIE as _ALL

globals().update(_ALL)
