"""What a kernel names: buffers and locks, and where those are that it names again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
T = TypeVar("T")

_MOST = 256  # things of which a core keeps what it found


class KernelBuffer(Protocol):
    """A named array in the data memory of a compute tile, like ``design.buffers.Buffer``."""

    @property
    def name(self) -> str:
        """For messages."""

    @property
    def offset(self) -> int:
        """First byte in the tile's own memory."""

    @property
    def shape(self) -> tuple[int, ...]:
        """NumPy shape, last dimension contiguous."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""

    @property
    def place(self) -> tuple[int, int] | None:
        """Column and row of its tile; None = the core's own."""


@dataclass(frozen=True, slots=True)
class MemoryPiece:
    """Elements of a tile's data memory by their address; ``place`` None = the core's own tile."""

    name: str
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    place: tuple[int, int] | None = None


class Semaphore(Protocol):
    """A lock of a compute tile, like ``design.locks.Lock``."""

    @property
    def id(self) -> int:
        """Number within the tile."""

    @property
    def place(self) -> tuple[int, int] | None:
        """Column and row of its tile; None = the core's own."""


class Resolved(NamedTuple):
    """Where a buffer is.

    Attributes:
        place: model index of its tile, its first byte there, and how many it has.
        elements: they, in its shape.
    """

    place: tuple[int, int, int]
    elements: Array


class PlaceCache(Generic[T]):
    """What was found of things that cannot change: frozen dataclasses, by their identity."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[object, T]] = {}  # by id(); each keeps the thing, and so its id()

    def of(self, thing: object) -> T | None:
        """What was kept of it, None if nothing was."""
        found = self._found.get(id(thing))
        return found[1] if found is not None and found[0] is thing else None

    def keep(self, thing: object, found: T) -> T:
        """Keep what was found of a thing, as long as there are not many; gives it back."""
        if getattr(getattr(type(thing), "__dataclass_params__", None), "frozen", False):
            if len(self._found) >= _MOST:  # they are made anew each time
                self._found.clear()
            self._found[id(thing)] = thing, found
        return found
