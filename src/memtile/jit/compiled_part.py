"""A function of the model that compiled code calls; Numba is imported when it is first compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any

from memtile.jit.progress import PROGRESS


class CompiledPart:
    """A function that compiled code calls compiled; Python calls it as it is.

    Attributes:
        function: as it was written.
    """

    def __init__(self, function: Callable[..., Any], *, inline: bool) -> None:
        update_wrapper(self, function)
        PROGRESS.parts += 1
        self.function, self._inline = function, inline

    def __call__(self, *args: Any) -> Any:
        """The function in the interpreter."""
        return self.function(*args)

    @cached_property
    def compiled(self) -> Any:
        """The function as Numba has it."""
        from memtile.jit.parts import compiled_part

        return compiled_part(self.function, inline=self._inline)

    @cached_property
    def _numba_type_(self) -> Any:
        """What compiled code that calls it takes it for."""
        from memtile.jit.parts import type_of_part

        return type_of_part(self)
