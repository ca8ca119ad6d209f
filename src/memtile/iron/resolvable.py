"""``aie.iron.resolvable``: what becomes operations when a program is built."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


class NotResolvedError(ValueError):
    """An operation is asked for that is not built yet."""

    def __init__(self, message: str = "it is not resolved yet: Program.resolve_program builds it") -> None:
        self.message = message
        super().__init__(message)


@runtime_checkable
class Resolvable(Protocol):
    """Something that becomes operations."""

    def resolve(self, loc: object = None, ip: Any = None) -> None:
        """Build its operations where the current insertion point is."""

    def tiles(self) -> list[Any]:
        """The tiles that it needs before."""
        return []
