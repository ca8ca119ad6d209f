"""Taking back what a step of a design has claimed when it is refused in its middle."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

Undo = Callable[[], None]


def undo_of(holder: object, *attributes: str) -> Undo:
    """What puts the attributes of ``holder`` back to what they are now; containers with their items."""
    kept = {name: copy(getattr(holder, name)) for name in attributes}

    def put_back() -> None:
        for name, value in kept.items():
            setattr(holder, name, value)

    return put_back
