"""``aie.utils.trace.utils``: what a trace says."""

from __future__ import annotations

from typing import Any


def print_cycles_summary(*_: Any, **__: Any) -> None:
    """Not built yet.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("a trace is not built here yet")
