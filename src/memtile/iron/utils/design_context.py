"""``aie.utils.compile.jit.context``: parameters that a design is built with, for what it calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_now: ContextVar[dict[str, Any]] = ContextVar("iron_parameters", default={})  # noqa: B039 - never changed in place


@contextmanager
def compile_context(**kwargs: Any) -> Iterator[dict[str, Any]]:
    """Give parameters within ``with``."""
    merged = _now.get() | kwargs
    token = _now.set(merged)
    try:
        yield merged
    finally:
        _now.reset(token)


def get_compile_arg(key: str, default: Any = None) -> Any:
    """A parameter, or the default."""
    return _now.get().get(key, default)
