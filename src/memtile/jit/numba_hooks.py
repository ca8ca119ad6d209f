"""What ``linking`` uses of Numba that is not public: is it there, and called as we call it?

Versions of Numba differ in it. Looking first means that an error while compiling is never taken for a missing
hook, nor the other way round.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from inspect import signature
from typing import Any

# What is called or overridden: module, name, and the parameters that it needs.
_FUNCTIONS = (
    ("codegen", "CPUCodegen._function_pass_manager", ("self",)),
    ("codegen", "JITCodeLibrary.add_ir_module", ("self", "ir_module")),
    ("codegen", "JITCodeLibrary._optimize_functions", ("self", "ll_module")),
    ("codegen", "JITCodeLibrary._get_module_for_linking", ("self",)),
    ("codegen", "JITCodeLibrary.add_linking_library", ("self", "library")),
    ("codegen", "JITCodeLibrary.enable_object_caching", ("self",)),
    ("codegen", "JITCodeLibrary.finalize", ("self",)),
    ("compiler", "Compiler.define_pipelines", ("self",)),
    ("compiler_machinery", "PassManager.add_pass", ("self", "pss")),
    ("dispatcher", "Dispatcher.add_overload", ("self", "cres")),
    ("dispatcher", "_FunctionCompiler.compile", ("self", "args", "return_type")),
    ("dispatcher", "_FunctionCompiler.fold_argument_types", ("self", "args", "kws")),
    ("types", "Dispatcher.get_call_type", ("self", "context", "args", "kws")),
)
_PASSES = {
    "typed_passes": (
        "IRLegalization",
        "NativeLowering",
        "NoPythonBackend",
        "NopythonTypeInference",
        "PreLowerStripPhis",
    ),
    "untyped_passes": (
        "DeadBranchPrune",
        "FixupArgs",
        "GenericRewrites",
        "IRProcessing",
        "ReconstructSSA",
        "RewriteSemanticConstants",
        "TranslateByteCode",
    ),
}


def _found(module: str, name: str) -> Any:
    """What ``numba.core.module`` has under a dotted name, None if nothing."""
    try:
        found: Any = import_module(f"numba.core.{module}")
    except ModuleNotFoundError:
        return None
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _needed(function: Any) -> tuple[str, ...] | None:
    """Names of the parameters without which a function cannot be called; None if there is no function."""
    if function is None:
        return None
    parameters = signature(function).parameters.values()
    named = (p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
    return tuple(p.name for p in named if p.default is p.empty)


@cache
def missing_hook() -> str | None:
    """The first hook that this Numba lacks or has in another form, None if all are as needed."""
    for module, name, parameters in _FUNCTIONS:
        if _needed(_found(module, name)) != parameters:
            return f"numba.core.{module}.{name}({', '.join(parameters[1:])})"
    for module, names in _PASSES.items():
        for name in names:
            if _found(module, name) is None:
                return f"numba.core.{module}.{name}"
    return None
