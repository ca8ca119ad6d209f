"""How the hardware blocks are compiled: three decorators and one switch.

``MEMTILE_JIT=0`` leaves the very same functions to the interpreter. Only the functions that Python calls are
compiled with an entry from Python and kept on disk; the others become part of them. Called from the
interpreter, those others simply run there.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from memtile.jit.cache import cache_directory, forget_old

F = TypeVar("F", bound=Callable[..., Any])

ENABLED = os.environ.get("MEMTILE_JIT", "1") != "0"
_OPT_LEVEL = 3  # LLVM level 1 runs the clock loop as fast as level 3 and compiles in less time
# The engine allocates nothing, so reference counting of its arguments would only cost time.
_OPTIONS = {"error_model": "numpy", "_nrt": False}


@contextmanager
def _settings() -> Iterator[None]:
    """Numba's process-wide settings, ours while decorating and compiling, then put back."""
    import numba

    config: Any = numba.config  # a module whose names are made at run time
    kept = config.CACHE_DIR, config.OPT
    level = type(config.OPT)  # Numba's own level class, which also knows "max"
    config.CACHE_DIR, config.OPT = str(cache_directory()), level(_OPT_LEVEL)
    try:
        yield
    finally:
        config.CACHE_DIR, config.OPT = kept


def entry(function: F, *, on_disk: bool = True) -> F:
    """Compile ``function``, which Python calls, with all that it calls; what came out is kept on disk."""
    if not ENABLED:
        return function
    import numba

    from memtile.jit.parts import EntryCompiler

    njit: Any = numba.njit  # its stubs do not know the switch for reference counting
    options = {"cache": on_disk, "pipeline_class": EntryCompiler, "no_cfunc_wrapper": True, **_OPTIONS}
    with _settings():
        compiled: F = njit(**options)(function)
    return compiled


def _part(function: F, **options: bool) -> F:
    if not ENABLED:
        return function
    from memtile.jit.parts import Part

    return cast(F, Part(function, {**_OPTIONS, **options}))


def jit(function: F) -> F:
    """Make ``function`` a part of the compiled functions that call it."""
    return _part(function, forceinline=False)  # else Numba takes it over from the caller


def inlined(function: F) -> F:
    """Like :func:`jit`, for what runs in every cycle: a call costs more than these functions do."""
    return _part(function, forceinline=True)


@contextmanager
def compiling(say: Callable[[str], None]) -> Iterator[None]:
    """Context in which first calls may compile; ``say`` is called if one does, before it does.

    Compiling makes millions of objects, most of which stay: looking for garbage among them, then or later,
    takes a tenth of the time.
    """
    from numba.core import event

    class Notice(event.Listener):
        told = False

        def on_start(self, _event: Any) -> None:
            if not self.told:
                self.told = True
                say("memtile: compiling the engine (once; it is kept for the next time) ...")
                forget_old()
                gc.disable()

        def on_end(self, _event: Any) -> None:
            """Nothing to say."""

    notice, collecting = Notice(), gc.isenabled()
    with _settings(), event.install_listener("numba:compile", notice):
        try:
            yield
        finally:
            if notice.told:
                gc.freeze()
            if collecting:
                gc.enable()


def to_stderr(text: str) -> None:
    """Say something to the person who waits."""
    print(text, file=sys.stderr, flush=True)
