"""Pieces of a core body between two synchronisations: functions that run interpreted or compiled.

Compiling takes a second or so; the interpreter does some millions of operations in that time. So a piece is
compiled once its operations, those to come as far as they are known and those that were done, are that many.
``MEMTILE_JIT=0`` leaves all to the interpreter.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from inspect import unwrap
from types import FunctionType
from typing import Any

import numpy as np

from memtile.importers.kernels.arithmetic import NAMES
from memtile.importers.kernels.proofs import Called
from memtile.jit.decorators import ENABLED
from memtile.sim.kernels.kernel_lines import SAID, Said

COMPILED_FROM = 300_000  # operations


class BodySegment:
    """A piece of a core body.

    Args:
        name: of the function in the source.
        tree: that defines it (``kernels.quote``); it returns the cycles that it took first, then its results.
        expected: operations that a call will do, as far as the text says.
    """

    def __init__(self, name: str, tree: ast.FunctionDef, expected: int) -> None:
        self.tree, self._expected, self._done = tree, expected, 0
        self.file = f"<{name}>"
        self._function: Callable[..., Any] = defined(tree, self.file, {})
        self._compiled: Callable[..., Any] | None = None

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
        if ENABLED and self._compiled is None and self._done + self._expected > COMPILED_FROM:
            self._compiled = _compiled(self.tree, self.file)
        results = self._function(*values) if self._compiled is None else self._typed(*values)
        self._done += int(results[0])
        return results

    def _typed(self, *values: Any) -> Any:
        """Run it compiled, and for good as it is where the compiler finds no types for it."""
        from numba.core.errors import NumbaError

        try:
            assert self._compiled is not None
            return self._compiled(*values)
        except NumbaError:  # before anything was done
            self._compiled = self._function
            return self._function(*values)


def defined(tree: ast.FunctionDef, file: str, names: Mapping[str, Any]) -> FunctionType:
    """The function that a verified tree defines, which knows these names and those of ``arithmetic``."""
    found: dict[str, Any] = {**NAMES, **names, "__builtins__": {}}
    exec(compile(ast.Module([tree], []), file, "exec"), found)
    function = found[tree.name]
    assert isinstance(function, FunctionType)
    return function


_COMPILED_NAMES: dict[str, Any] = {}


def _compiled(tree: ast.FunctionDef, file: str) -> Callable[..., Any]:
    """The function and all that it calls, compiled."""
    from numba import njit

    if not _COMPILED_NAMES:
        _COMPILED_NAMES.update(_compiled_names())
    made: Callable[..., Any] = njit(error_model="numpy", nogil=True)(
        defined(Called().visit(tree), file, _COMPILED_NAMES)
    )
    return made


def _compiled_names() -> dict[str, Any]:
    """The names of generated code, compiled; integers have 64 bits there, with or without a sign."""
    from numba import njit

    made: dict[str, Any] = {
        "w64": njit(_signed),
        "whole": njit(_signed),
        "u64": njit(_unsigned),
        "type_of": njit(_alike),
        "float": njit(_double),
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


def _double(value: Any) -> Any:
    """The number in double precision, as in the interpreter; Numba's ``float`` leaves single precision."""
    return np.float64(value)


def _alike(_a: Any, n: int) -> Any:
    return np.uint64(n)


def _standalone(function: Callable[..., Any], made: dict[str, Any]) -> Callable[..., Any]:
    """The function with those that were compiled before it as what it calls."""
    assert isinstance(function, FunctionType)
    names = {**function.__globals__, **made}
    return FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
