"""``aie.utils.compile.jit.context``: parameters that a design is built with."""

from memtile.iron.utils.design_context import compile_context, get_compile_arg

__all__ = ["compile_context", "get_compile_arg"]
