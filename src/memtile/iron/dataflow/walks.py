"""The walks that an object FIFO's keywords take: pairs of size and stride, or a ``TensorAccessPattern``.

``to_stream`` and ``from_stream`` are mlir-aie's names since 1.4.6, ``dims_to_stream`` and
``dims_from_stream`` the
names before; both are taken. Source: AMD's page "Migrating to the taplib access-pattern algebra".
"""

from __future__ import annotations

from typing import Any

from memtile.iron.helpers.taplib import TensorAccessPattern, TensorAccessSequence


def newer(new: Any, old: Any, name: str, keywords: tuple[str, str]) -> Any:
    """What one of two keywords gives.

    Args:
        new: of the newer keyword; None = not given.
        old: of the older one.
        name: of the object FIFO.
        keywords: the newer, then the older.

    Raises:
        ValueError: both are given.
    """
    if new is not None and old is not None:
        raise ValueError(
            f"object FIFO {name}: {keywords[0]}= and {keywords[1]}= are one; give {keywords[0]}= alone"
        )
    return old if new is None else new


def pairs(walk: Any, name: str, keyword: str) -> Any:
    """Pairs of size and stride of a walk; what is no pattern is returned as it is.

    Raises:
        ValueError: the pattern does not begin at the object's first element, or is a value of the design.
        TypeError: several patterns.
    """
    if isinstance(walk, TensorAccessSequence):
        raise TypeError(
            f"object FIFO {name}: {keyword}= is one pattern, not a sequence of {len(walk)}: give grid.tap"
        )
    if not isinstance(walk, TensorAccessPattern):
        return walk
    if walk.is_symbolic:
        raise ValueError(f"object FIFO {name}: {keyword}= is fixed when the design is built; {walk} is not")
    if walk.offset:
        raise ValueError(
            f"object FIFO {name}: {keyword}= begins at the first element of the object; the pattern "
            f"begins at "
            f"element {walk.offset}"
        )
    return walk.transformation_dims


def pads(walk: Any, given: Any, name: str) -> Any:
    """Padding of a walk that is sent: its own, or what ``pad_dimensions`` says.

    Raises:
        ValueError: both say something.
    """
    own = walk.padding if isinstance(walk, TensorAccessPattern) else None
    if own is not None and given is not None:
        raise ValueError(f"object FIFO {name}: to_stream= has padding of its own; leave pad_dimensions= out")
    return given if own is None else [list(pair) for pair in own]


def alone(walk: Any) -> list[Any] | None:
    """The list of one object FIFO's walk; None = it has none."""
    return None if walk is None or walk == [] else [walk]


def one_each(given: list[Any] | None, default: Any, count: int, name: str) -> list[Any]:
    """One for each offset.

    Raises:
        ValueError: there are more or fewer.
    """
    if given is None or given == []:
        return [default] * count
    if len(given) != count:
        raise ValueError(f"{name} has {len(given)} entries for {count} offsets")
    return given
