"""Functions of the model as Numba gets them: parts and entries, with what Numba is asked to do with each.

Compiled by ``linking`` where this Numba has what it needs, else by Numba alone, which takes minutes: it
optimises every function together with all that it calls, and turns each into machine code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from numba import njit
from numba.core import types
from numba.extending import typeof_impl

from memtile.jit import host_word_types  # noqa: F401  (Numba learns of them)
from memtile.jit.hooks import missing_hook
from memtile.jit.progress import PROGRESS

# What is compiled allocates nothing, so reference counting of its arguments would only cost time.
_ALWAYS = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_njit: Any = njit  # its stubs do not know all switches


class Part:
    """A function that compiled code calls compiled; Python calls it as it is."""

    def __init__(self, function: Callable[..., Any], *, inline: bool) -> None:
        update_wrapper(self, function)
        PROGRESS.parts += 1
        self.function = function
        options = {"forceinline": inline, "no_cpython_wrapper": True, **_ALWAYS}
        if missing_hook() is None:
            from memtile.jit.linking import PartCompiler

            options["pipeline_class"] = PartCompiler
        self.compiled = _njit(**options)(function)

    def __call__(self, *args: Any) -> Any:
        """The function in the interpreter."""
        return self.function(*args)


@typeof_impl.register(Part)
def type_of_part(part: Part, _context: Any) -> types.Dispatcher:
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
