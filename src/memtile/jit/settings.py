"""Whether anything is compiled, and Numba's settings while it is.

It also has the build of compiled code that checks every index: ``MEMTILE_BOUNDS=1``, see ``make bounds``.

Compiled code reports an index that is outside to :func:`_report` and returns an error, which every caller
passes on; :func:`raising` makes an ``IndexError`` of it that names the column, the index and the function.
``bound_checks`` emits the checks. Words of the host by address (``host_words``, ``words``) are not covered.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, c_char_p, c_int64, c_void_p, cast
from functools import cache
from pathlib import Path
from typing import Any

ENABLED = os.environ.get("MEMTILE_JIT", "1") != "0"
BOUNDS = os.environ.get("MEMTILE_BOUNDS", "0") != "0"
"""Whether compiled code checks every index, see ``bounds``; slower, and compiled and cached apart."""
OPT_LEVEL = 3
"""Of LLVM: the clock loop is a tenth faster than with level 1, and takes as long to compile."""


@contextmanager
def settings(directory: Path) -> Iterator[None]:
    """Numba's process-wide settings, ours while decorating and compiling, then put back."""
    import numba

    config: Any = numba.config  # a module whose names are made at run time
    before = config.CACHE_DIR, config.OPT
    level = type(config.OPT)  # Numba's own level class, which also knows "max"
    config.CACHE_DIR, config.OPT = str(directory), level(OPT_LEVEL)
    try:
        yield
    finally:
        config.CACHE_DIR, config.OPT = before


SYMBOL = "memtile_outside"
"""Name by which compiled code calls :func:`_report`."""
_found = threading.local()


def _report(place: bytes, number: int, index: int, length: int) -> None:
    """Store what the caller of compiled code raises when this call returns to it."""
    column, function, *names = place.decode().split("\n")
    _found.says = f"{column}: {names[number]} {index} is outside of 0..{length - 1}, in {function}"


_callback = CFUNCTYPE(None, c_char_p, c_int64, c_int64, c_int64)(_report)


@cache
def install() -> None:
    """Let compiled code find the function that it reports to."""
    if BOUNDS:
        from llvmlite import binding

        address = cast(_callback, c_void_p).value
        assert address is not None
        binding.add_symbol(SYMBOL, address)


def raising(call: Callable[..., int]) -> Callable[..., int]:
    """Return the same call of compiled code, which raises ``IndexError`` for an index that is outside."""

    def checked(*given: Any) -> int:
        _found.says = ""
        status = call(*given)
        if status and _found.says:
            raise IndexError(_found.says)
        return status

    return checked
