"""Kernels that keep to themselves: what they promise, and which tiles they reach.

Kernels are Python in one interpreter: any of them may look at anything. Of one that promises not to, it is
known that it writes no registers, so that polls of a host that cannot succeed are skipped
(``sim.doors.polling``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar, overload

import numpy as np

from memtile.errors import DesignError
from memtile.jit.tables import plain
from memtile.model.state.state import Spec

Function = TypeVar("Function", bound=Callable[..., Any])
Place = tuple[int, int]

REACHES = "__reaches__"
"""Attribute of a kernel that keeps to itself: columns and rows of the tiles it reaches beside its own."""


@overload
def apart(kernel: Function, /) -> Function: ...


@overload
def apart(*things: object) -> Callable[[Function], Function]: ...


def apart(*things: Any) -> Any:
    """Say that a kernel keeps to itself, so that polls of a host that cannot succeed are skipped.

    Without it Python may look at anything and write registers at any time. It promises that

    - the kernel sees and changes only what its ``core`` gives it, and variables and arrays of its own: none
      that another kernel, the design or the program around it changes or looks at while the array runs;
    - it does not matter which of two kernels in different columns is asked first: what they print may come
      in another order;
    - its core reaches the memory and the locks of its own tile and of those of ``things``, no others.

    The results are the same as without it, and the cycles too. A core that comes to memory or locks of
    another tile is refused there, and so is a kernel that looks at the state of the model beside its core.
    A function that cores of MLIR designs call can say it of itself as well.

    ``@apart`` stands before a kernel that stays in its own tile; ``@apart(end, buffer)`` before one that
    reaches neighbours; ``tile.run_kernel(apart(worker))`` says it of one that is there already. Said twice of
    one function, it reaches what either says.

    Args:
        things: of the tiles that the kernel reaches beside its own: buffers, locks, ends of object FIFOs,
            tiles, or columns and rows.

    Returns:
        The kernel, or a decorator.

    Raises:
        DesignError: a thing that has no place.
    """
    if len(things) == 1 and callable(things[0]) and not hasattr(things[0], "place"):
        return known_to_reach(things[0], ())
    places = [_place(thing) for thing in things]
    return lambda kernel: known_to_reach(kernel, [place for place in places if place is not None])


def known_to_reach(kernel: Callable[..., Any], places: Iterable[Place]) -> Callable[..., Any]:
    """Have it known of a kernel that it keeps to itself, and reaches tiles at these places beside its own."""
    known: frozenset[Place] = getattr(kernel, REACHES, None) or frozenset()
    try:
        setattr(kernel, REACHES, known | frozenset(places))
    except AttributeError:  # of a method nothing can be noted
        kernel = partial(kernel)
        setattr(kernel, REACHES, known | frozenset(places))
    return kernel


def keeps_apart(function: object) -> bool:
    """Whether a kernel, or a function that it calls, is said to keep to itself."""
    return getattr(function, REACHES, None) is not None


def tiles_reached(kernel: object, spec: Spec, tile: int) -> frozenset[int] | None:
    """Model indices of the tiles that a kernel of ``tile`` says to reach; None = it does not say."""
    places: frozenset[Place] | None = getattr(kernel, REACHES, None)
    if places is None:
        return None
    tiles = plain(spec.tiles)
    found = {tile}
    for column, row in places:
        found.update(np.flatnonzero((tiles.column == column) & (tiles.row == row)).tolist())
    return frozenset(found)


def looks_outside(kernel: str) -> DesignError:
    """A kernel that keeps to itself looks at the model as a whole."""
    return DesignError.of(
        "model",
        "a look at the model from outside, while it runs",
        "what its core gives it",
        "the kernel keeps apart and looks at the model from outside while it runs",
        "Take apart from the kernel, or look at the model after the run.",
        reason="kernel_apart",
        where=kernel,
        source="kernels that keep to themselves, docs/kernels.md",
    )


def _place(thing: Any) -> Place | None:
    """Column and row of the tile of a thing; None = the core's own, of a buffer that nobody has placed."""
    if isinstance(thing, tuple) and len(thing) == 2 and all(isinstance(each, int) for each in thing):
        return thing[0], thing[1]
    if hasattr(thing, "place"):
        found: Place | None = thing.place
        return found
    if hasattr(getattr(thing, "tile", None), "place"):
        return _place(thing.tile)
    raise DesignError.of(
        "things",
        repr(thing),
        "buffers, locks, ends of object FIFOs, tiles, columns and rows",
        f"{thing!r} is in no tile",
        "Put the kernel behind it: apart(buffer)(kernel).",
        reason="kernel_apart",
        where="apart(...)",
        source="kernels that keep to themselves, docs/kernels.md",
    )
