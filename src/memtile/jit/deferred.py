"""What only the compiler needs, made when it asks: an engine that is kept on disk runs without Numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any


class Deferred:
    """Something that compiled code calls, made when the compiler asks for it.

    Args:
        make: makes what Numba knows, an intrinsic.
        plain: the same in the interpreter.
    """

    def __init__(self, make: Callable[[], Any], plain: Callable[..., Any]) -> None:
        self._make, self._plain = make, plain

    def __call__(self, *args: Any) -> Any:
        """The function in the interpreter."""
        return self._plain(*args)

    @cached_property
    def _numba_type_(self) -> Any:
        """What Numba takes it for."""
        from numba.core.registry import cpu_target

        made, typing = self._make(), cpu_target.typing_context
        typing.refresh()
        return typing.resolve_value_type(made)
