"""How functions are compiled: three decorators and one switch.

``MEMTILE_JIT=0`` leaves the very same functions to the interpreter. Only entries, the functions that Python
calls, are compiled with a way in from Python and kept on disk; the parts are compiled into them. Called from
the interpreter, parts simply run there. Nothing here imports Numba before something is to be compiled.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from memtile.jit.cache import Sources, cache_directory, forget_old, made_once
from memtile.jit.compiled_part import CompiledPart
from memtile.jit.progress import PROGRESS, shown
from memtile.jit.settings import ENABLED, settings

__all__ = ["ENABLED", "ENTRIES", "CompiledPart", "compiling", "entry", "inlined", "jit", "to_stderr"]

if TYPE_CHECKING:
    from memtile.jit.entries import CompiledEntry

F = TypeVar("F", bound=Callable[..., Any])
ENTRIES: list[CompiledEntry] = []
"""The entries of all modules that were imported so far."""


def entry(sources: Sources, *kinds: type) -> Callable[[Callable[..., int]], CompiledEntry]:
    """Compile a function that Python calls with all that it calls, and keep what comes out on disk.

    The function takes 64-bit integers, the first one where a struct is (``structs``), and gives one.

    Args:
        sources: files and directories of the package that have any influence on the code.
        kinds: of the structs that it takes.
    """

    def compiled(function: Callable[..., int]) -> CompiledEntry:
        from memtile.jit.entries import CompiledEntry

        made = CompiledEntry(function, sources, *kinds)
        ENTRIES.append(made)
        return made

    return compiled


def _part(function: F, *, inline: bool) -> F:
    return cast(F, CompiledPart(function, inline=inline)) if ENABLED else function


def jit(function: F) -> F:
    """Make ``function`` a part of the compiled functions that call it."""
    return _part(function, inline=False)


def inlined(function: F) -> F:
    """Like :func:`jit`, for what runs in every cycle: a call costs more than these functions do."""
    return _part(function, inline=True)


def _notice(wanted: CompiledEntry | None) -> str:
    """What who waits for the compiler should know, in one sentence."""
    from numba import __version__

    from memtile.jit.numba_hooks import missing_hook

    missing = missing_hook()
    time = f"minutes, as Numba {__version__} lacks {missing}" if missing else "20 to 60 seconds"
    refused = wanted.in_package().refused if wanted is not None else ""
    carried = f"; the one of this package {refused}" if refused else ""
    return f"memtile: compiling the engine (once, {time}; it is kept for the next time{carried}) ..."


_FROM_BITCODE = "memtile: compiling the engine for this processor (once, 3 to 10 seconds; it is kept) ..."


@contextmanager
def compiling(
    say: Callable[[str], None], sources: Sources, wanted: CompiledEntry | None = None
) -> Iterator[None]:
    """Context in which first calls of entries made from ``sources`` may compile.

    If what is ``wanted`` is kept already, nothing is compiled. ``say`` is called if one does, before it does,
    and a terminal shows how far it is. Of several processes one compiles; the others wait for it and say so.
    """
    directory = cache_directory(sources)
    if wanted is not None and wanted.kept() is not None:
        yield
        return
    waiting = partial(say, "memtile: another process is compiling the engine; waiting for it ...")
    with made_once(directory, waiting):
        if wanted is not None and wanted.in_package().bitcode is not None:
            if wanted.kept() is None:  # who was waited for may have compiled it
                say(_FROM_BITCODE)
                forget_old(directory)
                PROGRESS.begin(translated=True)
            with shown() if wanted.kept() is None else nullcontext():
                yield
        else:
            with _translating(partial(_notice, wanted), say, directory):
                yield


@contextmanager
def _translating(notice: Callable[[], str], say: Callable[[str], None], directory: Path) -> Iterator[None]:
    """Context in which Numba may translate.

    It makes millions of objects, of which half stay: looking for garbage among them all, then or later, takes
    a tenth of the time. ``linking`` looks for it now and then, in new ones.
    """
    from numba.core import event

    display = ExitStack()

    class Notice(event.Listener):
        given = False

        def on_start(self, _event: Any) -> None:
            if not self.given:
                self.given = True
                say(notice())
                forget_old(directory)
                gc.disable()
                PROGRESS.begin()
                display.enter_context(shown())

        def on_end(self, _event: Any) -> None:
            """Nothing to say."""

    listener, collecting = Notice(), gc.isenabled()
    with settings(directory), event.install_listener("numba:compile", listener), display:
        try:
            yield
        finally:
            if listener.given:
                gc.freeze()
            if collecting:
                gc.enable()


def to_stderr(text: str) -> None:
    """Say something to the person who waits."""
    print(text, file=sys.stderr, flush=True)
