"""``aie.utils.compile.jit``: designs with parameters."""

from memtile.iron.utils.callabledesign import CallableDesign as CompilableDesign
from memtile.iron.utils.design_context import compile_context, get_compile_arg
from memtile.iron.utils.markers import CompileTime, In, InOut, Out

__all__ = ["CompilableDesign", "CompileTime", "In", "InOut", "Out", "compile_context", "get_compile_arg"]
