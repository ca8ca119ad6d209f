"""Taking back what a step of a design has claimed when it is refused in its middle.

What can be claimed are attributes that :func:`undoable` declares. Setting one within a step notes the value
before, so that a step costs what it changes and not what the design has, and no claim can be forgotten.
"""

from __future__ import annotations

from typing import Any, Protocol


class Journal:
    """What the attributes of a design were before the present step.

    Attributes:
        notes: holder, name and value before, in the order of the changes; None = no step is under way.
    """

    __slots__ = ("notes",)

    def __init__(self) -> None:
        self.notes: list[tuple[object, str, Any]] | None = None

    def take_back(self) -> None:
        """Put every attribute back to what it was when the step began; the step is still under way."""
        for holder, name, before in reversed(self.notes or ()):
            vars(holder)[name] = before
        self.notes = []


class Holder(Protocol):
    """Anything of a design that can be claimed and given back."""

    journal: Journal


class _Undoable:
    """An attribute whose changes are noted; it is read as any other one, from the holder's own dictionary."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __set__(self, holder: Holder, value: object) -> None:
        attributes, notes = vars(holder), holder.journal.notes
        if notes is not None and self._name in attributes:
            notes.append((holder, self._name, attributes[self._name]))
        attributes[self._name] = value


def undoable() -> Any:
    """Declare an attribute that a refused step puts back; the class has a ``journal``.

    Its values are replaced and never changed in place: what is noted is the value itself, no copy.
    """
    return _Undoable()
