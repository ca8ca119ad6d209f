"""How Numba compiles parts and entries: each part once, and into machine code only with the whole entry.

By itself Numba optimises every function together with all that it calls, and turns it into machine code, so
that the innermost function would go through LLVM once for each of its callers, their callers, and so on. A
part is only translated; the functions that Python calls (entries) are optimised and compiled with all their
parts. Every caller of a part is a part or an entry.

Numba has no public interface for this; ``numba_hooks`` lists what is used of its own.
"""

from __future__ import annotations

import gc
import time
from functools import cache
from typing import Any

from llvmlite import ir
from llvmlite.binding import Linkage
from llvmlite.ir.instructions import CallInstr, StoreInstr
from numba.core import types
from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    RewriteSemanticConstants,
    TranslateByteCode,
)
from numba.extending import models, register_model

from memtile.jit.progress import PROGRESS

# Numba's passes but those for what no part has: closures, context managers, array expressions, overloads to
# be inlined, literal_unroll. A pass takes its time whether it finds something or not.
_PASSES = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    RewriteSemanticConstants,
    DeadBranchPrune,
    GenericRewrites,
    ReconstructSSA,
    NopythonTypeInference,
    PreLowerStripPhis,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
)


_BETWEEN_COLLECTIONS = 100
"""Parts after which garbage is looked for: the peak is 720 MB without, 360 MB with 50."""


class NoEnvironment:
    """What a part asks of the code generator once it is lowered, and does not need: it calls no Python."""

    def set_env(self, name: str, environment: Any) -> None:
        """Part of Numba's interface: the part has no code yet that could keep an environment."""


def drop_first_zeros(function: ir.Function) -> None:
    """Leave out the zeros that Numba stores, when a function begins, where calls will leave their results.

    Nobody reads them. But a part that is inlined would store them in every cycle, also for the calls that it
    hardly ever makes, and LLVM keeps such stores: one instruction in twelve of the clock loop.
    """
    made = [one for block in function.blocks for one in block.instructions if isinstance(one, CallInstr)]
    places = {id(place) for call in made for place in call.args}
    for block in function.blocks[:1]:
        block.instructions[:] = [one for one in block.instructions if not _stores_zero(one, places)]


def _stores_zero(instruction: Any, places: set[int]) -> bool:
    """Whether an instruction stores a constant at one of these places."""
    if not isinstance(instruction, StoreInstr):
        return False
    value, place = instruction.operands
    return isinstance(value, ir.Constant) and id(place) in places


class LinkedLibrary(JITCodeLibrary):
    """Code as Numba makes it, but for :func:`drop_first_zeros`."""

    def add_ir_module(self, ir_module: ir.Module) -> None:
        """Take over what was translated."""
        for function in ir_module.functions:
            drop_first_zeros(function)
        super().add_ir_module(ir_module)


class PartLibrary(LinkedLibrary):
    """The code of one part, to be linked into the function that Python calls and nothing else."""

    codegen = NoEnvironment()

    def _optimize_functions(self, ll_module: Any) -> None:
        """Shorten the part before it is linked; nothing is to be done to what it calls."""
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)

    def finalize(self) -> None:
        """Leave linking and machine code to the function that Python calls."""
        self._finalized = True
        PROGRESS.translated += 1
        if PROGRESS.translated % _BETWEEN_COLLECTIONS == 0 and not gc.isenabled():
            gc.collect()
            gc.freeze()  # what stays is not looked at again

    def _get_module_for_linking(self) -> Any:
        """This part's code; the whole may have it more than once."""
        if self._shared_module is None:
            for function in self._final_module.functions:
                if not function.is_declaration and function.linkage == Linkage.external:
                    function.linkage = "linkonce_odr"
            self._shared_module = self._final_module
        return self._shared_module


class EntryLibrary(LinkedLibrary):
    """The code of a function that Python calls, with all parts that it calls, each once."""

    def add_linking_library(self, library: CodeLibrary) -> None:
        """Link with ``library`` and with all that it calls."""
        waiting = [library]
        while waiting:
            called = waiting.pop()
            if called not in self._linking_libraries:
                super().add_linking_library(called)
                if isinstance(called, PartLibrary):
                    waiting += called._linking_libraries

    def finalize(self) -> None:
        """Link all parts, and make machine code."""
        PROGRESS.linking = time.monotonic()
        super().finalize()


class BitcodeLibrary(EntryLibrary):
    """The code of an entry, of which ``bitcode`` makes machine code."""

    codegen = NoEnvironment()

    def finalize(self) -> None:
        """Link all parts."""
        for library in self._linking_libraries:
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True
        PROGRESS.linking = time.monotonic()


class KnownCalls:
    """Numba's typing context, which finds out once what ``+`` of two integers is, and not for each ``+``."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.signatures: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.context, name)

    def resolve_function_type(self, func: Any, args: tuple[Any, ...], kws: Any) -> Any:
        """Signature of a call."""
        if kws or isinstance(func, types.Dispatcher):
            return self.context.resolve_function_type(func, args, kws)
        call = func, args
        if call not in self.signatures:
            self.signatures[call] = self.context.resolve_function_type(func, args, kws)
        return self.signatures[call]


known_calls = cache(KnownCalls)


class PartCompiler(Compiler):
    """Numba's compiler with the passes that the model needs, and with libraries of its own for the code."""

    library: type[JITCodeLibrary] = PartLibrary

    def define_pipelines(self) -> Any:
        """Those of ``_PASSES``."""
        codegen = self.state.targetctx.codegen()
        self.state.library = self.library(codegen, self.state.func_id.func_qualname)
        self.state.typingctx = known_calls(self.state.typingctx)
        passes = PassManager("part")
        for one in _PASSES:
            passes.add_pass(one, one.name())
        passes.finalize()
        return [passes]


class EntryCompiler(PartCompiler):
    """The compiler of a function that Python calls; its code is kept on disk."""

    library = EntryLibrary

    def define_pipelines(self) -> Any:
        """Those of a part."""
        pipelines = super().define_pipelines()
        self.state.library.enable_object_caching()
        return pipelines


class BitcodeCompiler(PartCompiler):
    """The compiler of a function of which ``bitcode`` makes machine code."""

    library = BitcodeLibrary


TRANSLATED: set[Any] = set()
"""Functions of the parts that were translated in this process, as they were written."""


class PartType(types.Dispatcher):
    """A part is compiled for the types of its arguments, not once more for each constant."""

    def get_call_type(self, _context: Any, args: Any, kws: Any) -> Any:
        """Signature of the call; without the bookkeeping that Numba does for functions that Python calls."""
        part: Any = self.dispatcher
        pysig, given = part._compiler.fold_argument_types(tuple(types.unliteral(a) for a in args), kws)
        if given not in part.overloads:
            TRANSLATED.add(part.py_func)
            part.add_overload(part._compiler.compile(given, None))
        return part.overloads[given].signature.replace(pysig=pysig)


register_model(PartType)(models.OpaqueModel)
