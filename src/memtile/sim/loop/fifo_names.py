"""Which end of which object FIFO a lock belongs to, for messages."""

from __future__ import annotations

from typing import NamedTuple


class FifoLock(NamedTuple):
    """A lock that counts the objects of an end of an object FIFO.

    Attributes:
        fifo: its name.
        end: ``producer`` or ``consumer``.
        at: the tile, ``core (0, 2)`` or ``memory tile (0, 1)``.
        full: it counts full objects; else free ones.
        units: by which it changes for an object.
    """

    fifo: str
    end: str
    at: str
    full: bool
    units: int = 1

    def objects(self, units: int) -> str:
        """``a free object of @in (consumer end, core (0, 2)``, without the closing bracket.

        Args:
            units: of the lock.
        """
        state = "full" if self.full else "free"
        many = units // self.units
        what = f"a {state} object" if many <= 1 else f"{many} {state} objects"
        return f"{what} of @{self.fifo} ({self.end} end, {self.at}"


def where(role: str, place: tuple[int, int] | None) -> str:
    """The tile of an end: ``core (0, 2)``."""
    name = "core" if role == "compute" else f"{role} tile"
    return name if place is None else f"{name} ({place[0]}, {place[1]})"
