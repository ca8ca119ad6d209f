"""Pieces of a core body between two synchronisations: functions that run interpreted or compiled.

Compiling takes a second or so; the interpreter does some millions of operations in that time. So a piece is
compiled once its operations, those to come as far as they are known and those that were done, are that many.
``MEMTILE_JIT=0`` leaves all to the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import unwrap
from types import FunctionType
from typing import Any

import numpy as np

from memtile.importers.kernels.arithmetic import NAMES
from memtile.importers.kernels.faults import UntypedError
from memtile.jit.decorators import ENABLED
from memtile.sim.kernel_lines import SAID, Said

COMPILED_FROM = 300_000  # operations


class Segment:
    """A piece of a core body.

    Args:
        name: of the function in the source.
        source: Python that defines it; it returns the cycles that it took first, then its results.
        expected: operations that a call will do, as far as the text says.
    """

    def __init__(self, name: str, source: str, expected: int) -> None:
        self.source, self._expected, self._done = source, expected, 0
        self.file = f"<{name}>"
        self._function = _defined(name, source, NAMES)
        self._name, self._compiled = name, False

    @property
    def said(self) -> Said | None:
        """The text that it was made of, while the interpreter runs it; None = nobody has said it."""
        found = unwrap(self._function).__globals__.get(SAID)
        return found if isinstance(found, Said) else None

    @said.setter
    def said(self, text: Said) -> None:
        unwrap(self._function).__globals__[SAID] = text

    def __call__(self, *values: Any) -> Any:
        """Run it; the cycles first, then the results."""
        if ENABLED and not self._compiled and self._done + self._expected > COMPILED_FROM:
            self._function = _compiled(self._name, self.source)
            self._compiled = True
        results = self._typed(*values) if self._compiled else self._function(*values)
        self._done += int(results[0])
        return results

    def _typed(self, *values: Any) -> Any:
        """Call what is compiled; the first time the compiler looks for types.

        Raises:
            UntypedError: it finds none.
        """
        from numba.core.errors import NumbaError

        try:
            return self._function(*values)
        except NumbaError as error:
            place = getattr(error, "loc", None)
            says = str(error).strip().split("\n")[0]
            raise UntypedError(self.file, getattr(place, "line", 0) or 0, says) from error


def _defined(name: str, source: str, names: dict[str, Any]) -> Callable[..., Any]:
    found = dict(names)
    exec(compile(source, f"<{name}>", "exec"), found)
    function: Callable[..., Any] = found[name]
    return function


_COMPILED_NAMES: dict[str, Any] = {}


def _compiled(name: str, source: str) -> Callable[..., Any]:
    """The function and all that it calls, compiled."""
    from numba import njit

    if not _COMPILED_NAMES:
        _COMPILED_NAMES.update(_compiled_names())
    function: Callable[..., Any] = njit(error_model="numpy", nogil=True)(
        _defined(name, source, _COMPILED_NAMES)
    )
    return function


def _compiled_names() -> dict[str, Any]:
    """The names of generated code, compiled; integers have 64 bits there, with or without a sign."""
    from numba import njit

    made: dict[str, Any] = {
        "w64": njit(_signed),
        "whole": njit(_signed),
        "u64": njit(_unsigned),
        "type_of": njit(_alike),
    }
    for key, value in NAMES.items():
        if key not in made and isinstance(value, FunctionType):
            plain = _standalone(unwrap(value), made)
            made[key] = njit(error_model="numpy", inline="never")(plain)
    return {**NAMES, **made}


def _signed(value: int) -> Any:
    return np.int64(value)


def _unsigned(value: int) -> Any:
    return np.uint64(value)


def _alike(_a: Any, n: int) -> Any:
    return np.uint64(n)


def _standalone(function: Callable[..., Any], made: dict[str, Any]) -> Callable[..., Any]:
    """The function with those that were compiled before it as what it calls."""
    assert isinstance(function, FunctionType)
    names = {**function.__globals__, **made}
    return FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
