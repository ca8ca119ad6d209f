"""``aie.iron.algorithms``."""
