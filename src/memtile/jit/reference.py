"""Tuples of tables kept where compiled functions find them: one address instead of all their fields.

Numba passes a NamedTuple of arrays by value, and unpacks all of its arrays at each call from Python, which
takes longer than most of what is asked of the model. :func:`room_of` unpacks them once and keeps what came
out; compiled functions hand its address on; ``st.channels.phase[ch]`` stays the same expression, in the
interpreter (where the tuple itself is handed on) and compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from memtile.jit.decorators import ENABLED

Room = npt.NDArray[np.uint64]
T = TypeVar("T")


class Kept:
    """Base of a NamedTuple of tables; one with other fields (``_replace``) has its own room.

    Attributes:
        room: its fields as compiled code has them, None until it needs them. They live as long as the tuple.
    """

    room: Room | None = None


def room_of(fields: Kept) -> Room:
    """Where compiled functions find the fields of a tuple."""
    room = fields.room
    if room is None:
        from memtile.jit.reference_types import unpacked

        room = fields.room = unpacked(fields)
    return room


def found_in(kind: type[T]) -> Callable[[Room], T]:
    """A function for compiled code: the tuple of a ``kind`` whose room it gets."""
    if not ENABLED:
        return _nothing_to_find
    from memtile.jit.reference_types import finder

    found: Callable[[Any], T] = finder(kind)
    return found


def _nothing_to_find(_room: Room) -> Any:
    raise AssertionError("the interpreter hands tuples on")
