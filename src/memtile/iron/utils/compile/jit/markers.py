"""``aie.utils.compile.jit.markers``: what a parameter of a design is."""

from memtile.iron.utils.markers import CompileTime, DispatchTime, In, InOut, Out

__all__ = ["CompileTime", "DispatchTime", "In", "InOut", "Out"]
