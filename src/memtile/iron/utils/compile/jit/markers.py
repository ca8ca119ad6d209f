"""``aie.utils.compile.jit.markers``: what a parameter of a design is."""

from memtile.iron.utils.markers import CompileTime, In, InOut, Out

__all__ = ["CompileTime", "In", "InOut", "Out"]
