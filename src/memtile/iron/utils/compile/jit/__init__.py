"""``aie.utils.compile.jit``: designs with parameters."""

from memtile.iron.utils.callabledesign import CallableDesign as CompilableDesign
from memtile.iron.utils.compile.jit.compileconfig import compileconfig
from memtile.iron.utils.design_context import compile_context, get_compile_arg
from memtile.iron.utils.markers import CompileTime, DispatchTime, In, InOut, Out

__all__ = [
    "CompilableDesign",
    "CompileTime",
    "DispatchTime",
    "In",
    "InOut",
    "Out",
    "compile_context",
    "compileconfig",
    "get_compile_arg",
]
