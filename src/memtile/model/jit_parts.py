"""How Numba compiles the parts of the engine: each once, and into machine code only with the whole.

By itself Numba optimises every function together with all that it calls, and turns it into machine code, so
that the innermost function would go through LLVM once for each of its callers, their callers, and so on. A
part is only translated; the functions that Python calls are optimised and compiled with all their parts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from numba import njit
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import models, register_model, typeof_impl


class NoEnvironment:
    """What a part asks of the code generator once it is lowered, and does not need: it calls no Python."""

    def set_env(self, name: str, environment: Any) -> None:
        """Part of Numba's interface: the part has no code yet that could keep an environment."""


class PartLibrary(JITCodeLibrary):
    """The code of one part and of what it calls, to be linked into its callers and nothing else."""

    codegen = NoEnvironment()

    def _optimize_final_module(self) -> None:
        """Left to the function that Python calls."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class PartCompiler(Compiler):
    """Numba's compiler, but for where the code goes."""

    def define_pipelines(self) -> Any:
        """The passes of every other function."""
        codegen = self.state.targetctx.codegen()
        self.state.library = PartLibrary(codegen, self.state.func_id.func_qualname)
        return super().define_pipelines()


class Part:
    """A function of the model: the compiled code calls it compiled, Python calls it as it is."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.function = function
        compile_part: Any = njit  # its stubs do not know the switches for entries from Python and from C
        self.compiled = compile_part(
            pipeline_class=PartCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options
        )(function)

    def __call__(self, *args: Any) -> Any:
        """The function in the interpreter."""
        return self.function(*args)


class PartType(types.Dispatcher):
    """A part is compiled for the types of its arguments, not once more for each constant."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Signature of the call."""
        return super().get_call_type(context, tuple(types.unliteral(a) for a in args), kws)


register_model(PartType)(models.OpaqueModel)


@typeof_impl.register(Part)
def type_of_part(part: Part, _context: Any) -> PartType:
    """What compiled code takes a part for."""
    return PartType(part.compiled)
