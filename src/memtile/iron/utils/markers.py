"""``aie.utils.compile.jit.markers``: what a parameter of a design is."""

from __future__ import annotations

from typing import Annotated, TypeVar

T = TypeVar("T")


class _CompileTimeMark:
    """Marks a parameter that the design is built with."""


COMPILE_TIME = _CompileTimeMark()
CompileTime = Annotated[T, COMPILE_TIME]


class In:
    """A tensor that the design reads."""


class Out:
    """A tensor that the design writes."""


class InOut:
    """A tensor that the design reads and writes."""
