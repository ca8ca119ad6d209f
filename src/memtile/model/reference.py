"""Tuples of tables passed to compiled functions by reference: one pointer instead of all their fields.

Numba passes a NamedTuple of arrays by value: each call of a function of the model would carry several
hundred numbers, and most of the time of compiling the engine would go into them. :func:`by_reference` leaves
the tuple where it is and hands its address on; ``st.channels.phase[ch]`` stays the same expression, in the
interpreter (where the tuple itself is handed on) and compiled.
"""

from __future__ import annotations

from typing import TypeVar

from memtile.model.jit import ENABLED

T = TypeVar("T")


def by_reference(fields: T) -> T:
    """``fields``, a NamedTuple that lives as long as the calling function; compiled, its address."""
    return fields


if ENABLED:
    from memtile.model.jit_reference import refer_by

    refer_by(by_reference)
