"""``aie.iron.globalbuffer``, of 2025: the older name of ``Buffer``."""

from memtile.iron.buffer import Buffer as GlobalBuffer

__all__ = ["GlobalBuffer"]
