"""Functions of the model as Numba gets them: parts and entries, with what Numba is asked to do with each.

Translated by ``linking`` where this Numba has what it needs, and made machine code by ``bitcode``; else
compiled by Numba alone, which takes minutes: it optimises every function together with all that it calls, and
turns each into machine code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import types

from memtile.jit import address_types  # noqa: F401  (Numba learns of them)
from memtile.jit.numba_hooks import missing_hook

# What is compiled allocates nothing, so reference counting of its arguments would only cost time.
_ALWAYS = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_njit: Any = njit  # its stubs do not know all switches


def compiled_part(function: Callable[..., Any], *, inline: bool) -> Any:
    """A function that compiled code calls, as Numba gets it."""
    options = {"forceinline": inline, "no_cpython_wrapper": True, **_ALWAYS}
    if missing_hook() is None:
        from memtile.jit.linking import PartCompiler

        options["pipeline_class"] = PartCompiler
    return _njit(**options)(function)


def type_of_part(part: Any) -> types.Dispatcher:
    """What compiled code takes a part for."""
    if missing_hook() is None:
        from memtile.jit.linking import PartType

        return PartType(part.compiled)
    return types.Dispatcher(part.compiled)


def compiled_entry(function: Callable[..., Any], *, on_disk: bool = True) -> Any:
    """A function that Python calls, and may call in several threads, compiled; kept on disk or not."""
    options = {"cache": on_disk, "nogil": True, **_ALWAYS}
    if missing_hook() is None:
        from memtile.jit.linking import EntryCompiler

        options["pipeline_class"] = EntryCompiler
    return _njit(**options)(function)


def bitcode_of(function: Callable[..., Any], numbers: int) -> tuple[str, bytes] | None:
    """Translate a function of 64-bit integers that gives one, and link it with all that it calls.

    Returns:
        Its name, and the whole as LLVM's bitcode; None where this Numba does not hand it over.
    """
    if missing_hook() is not None:
        return None
    from memtile.jit.linking import BitcodeCompiler

    options = {"no_cpython_wrapper": True, "nogil": True, "pipeline_class": BitcodeCompiler, **_ALWAYS}
    dispatcher = _njit(**options)(function)
    dispatcher.compile(types.int64(*[types.int64] * numbers))
    (result,) = dispatcher.overloads.values()
    return result.fndesc.llvm_func_name, bytes(result.library._final_module.as_bitcode())
