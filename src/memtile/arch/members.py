"""Members of enums that are declared with their properties, so that no list elsewhere can forget one."""

from __future__ import annotations

from enum import IntEnum


class Declared(int):
    """The number of a member with its properties: the base of dataclasses whose first field is ``number``."""

    def __new__(cls, number: int, *_: object, **__: object) -> Declared:
        """Return the number; the dataclass sets its fields."""
        return super().__new__(cls, number)


class Members(IntEnum):
    """An enum whose members are declared by a :class:`Declared` and have its fields as attributes.

    Their numbers are 0, 1, 2 and so on, so that a tuple over all of them is a table by number.

    Raises:
        TypeError: a member is a bare number.
        ValueError: its number is not the next one.
    """

    def __init__(self, declared: int) -> None:
        """Take over the properties that the declaration gives."""
        if not isinstance(declared, Declared):
            raise TypeError(f"{type(self).__name__}: declare {declared} with its properties")
        if int(declared) != len(type(self).__members__):
            raise ValueError(f"{type(self).__name__}: declare {int(declared)} behind the number before it")
        vars(self).update(vars(declared))
