"""The build of compiled code that checks every index: ``MEMTILE_BOUNDS=1``, see ``make bounds``.

Compiled code reports an index that is outside to :func:`_report` and returns an error, which every caller
passes on; :func:`raising` makes an ``IndexError`` of it that names the column, the index and the function.
``bound_checks`` emits the checks. Words of the host by address (``host_words``, ``words``) are not covered.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from ctypes import CFUNCTYPE, c_char_p, c_int64, c_void_p, cast
from functools import cache
from typing import Any

from memtile.jit.settings import BOUNDS

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
