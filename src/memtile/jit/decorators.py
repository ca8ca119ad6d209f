"""How functions are compiled: three decorators and one switch.

``MEMTILE_JIT=0`` leaves the very same functions to the interpreter. Only entries, the functions that Python
calls, are compiled with a way in from Python and kept on disk; the parts are compiled into them. Called from
the interpreter, parts simply run there.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from memtile.jit.cache import Sources, cache_directory, forget_old, made_once
from memtile.jit.progress import PROGRESS, shown

F = TypeVar("F", bound=Callable[..., Any])

ENABLED = os.environ.get("MEMTILE_JIT", "1") != "0"
_OPT_LEVEL = 3  # of LLVM: the clock loop is a tenth faster than with level 1, and takes as long to compile


@contextmanager
def _settings(directory: Path) -> Iterator[None]:
    """Numba's process-wide settings, ours while decorating and compiling, then put back."""
    import numba

    config: Any = numba.config  # a module whose names are made at run time
    before = config.CACHE_DIR, config.OPT
    level = type(config.OPT)  # Numba's own level class, which also knows "max"
    config.CACHE_DIR, config.OPT = str(directory), level(_OPT_LEVEL)
    try:
        yield
    finally:
        config.CACHE_DIR, config.OPT = before


def entry(sources: Sources) -> Callable[[F], F]:
    """Compile a function that Python calls with all that it calls, and keep what comes out on disk.

    Args:
        sources: files and directories of the package that have any influence on the code.
    """

    def compiled(function: F) -> F:
        if not ENABLED:
            return function
        from memtile.jit.parts import compiled_entry

        with _settings(cache_directory(sources)):
            return cast(F, compiled_entry(function))

    return compiled


def _part(function: F, *, inline: bool) -> F:
    if not ENABLED:
        return function
    from memtile.jit.parts import Part

    return cast(F, Part(function, inline=inline))


def jit(function: F) -> F:
    """Make ``function`` a part of the compiled functions that call it."""
    return _part(function, inline=False)


def inlined(function: F) -> F:
    """Like :func:`jit`, for what runs in every cycle: a call costs more than these functions do."""
    return _part(function, inline=True)


def _notice() -> str:
    """What who waits for the compiler should know, in one sentence."""
    from numba import __version__

    from memtile.jit.hooks import missing_hook

    missing = missing_hook()
    time = f"minutes, as Numba {__version__} lacks {missing}" if missing else "20 to 60 seconds"
    return f"memtile: compiling the engine (once, {time}; it is kept for the next time) ..."


@contextmanager
def compiling(say: Callable[[str], None], sources: Sources) -> Iterator[None]:
    """Context in which first calls of entries made from ``sources`` may compile.

    ``say`` is called if one does, before it does, and a terminal shows how far it is. Of several processes
    one compiles; the others wait for it and say so. Compiling makes millions of objects, most of which stay:
    looking for garbage among them, then or later, takes a tenth of the time.
    """
    from numba.core import event

    directory = cache_directory(sources)
    display = ExitStack()

    class Notice(event.Listener):
        given = False

        def on_start(self, _event: Any) -> None:
            if not self.given:
                self.given = True
                say(_notice())
                forget_old(directory)
                gc.disable()
                PROGRESS.begin()
                display.enter_context(shown())

        def on_end(self, _event: Any) -> None:
            """Nothing to say."""

    notice, collecting = Notice(), gc.isenabled()
    waiting = partial(say, "memtile: another process is compiling the engine; waiting for it ...")
    with (
        made_once(directory, waiting),
        _settings(directory),
        event.install_listener("numba:compile", notice),
        display,
    ):
        try:
            yield
        finally:
            if notice.given:
                gc.freeze()
            if collecting:
                gc.enable()


def to_stderr(text: str) -> None:
    """Say something to the person who waits."""
    print(text, file=sys.stderr, flush=True)
