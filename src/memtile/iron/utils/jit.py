"""``aie.utils.jit``: a design with parameters of a function."""

from memtile.iron.utils.callabledesign import jit

__all__ = ["jit"]
