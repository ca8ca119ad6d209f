"""What moving a byte at each level of memory costs: published numbers of other chips, for comparisons alone.

Nobody has published numbers of these arrays. A table orders designs by what they move, near or far; it does
not say what a board will draw, and no run depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from memtile.arch.grades import Grade, Source
from memtile.errors import DesignError

_TABLE = "Jouppi et al., Ten Lessons From Three Generations Shaped Google's TPUv4i, ISCA 2021, table 2"
_BEFORE = "Horowitz, Computing's Energy Problem, ISSCC 2014, for 64 bits in 45 nm"
_SEEN = "the paper's table was not at hand, its numbers are as others report them"
PUBLISHED = "published"
"""Name of the table of published numbers."""


@dataclass(frozen=True, slots=True)
class Energy:
    """Picojoules for each byte that a DMA reads or writes.

    Attributes:
        l1: in the memory of a compute tile.
        l2: in a memory tile.
        l3: in external memory, the way there included.
    """

    l1: float = 7.5 / 8
    l2: float = 14 / 8
    l3: float = 1300 / 8


SOURCES: Mapping[str, Source] = {
    "l1": Source(
        f"{_TABLE}: 7.5 pJ for 64 bits of an SRAM of 8 KB in 7 nm; {_SEEN}; 10 pJ by {_BEFORE}", Grade.ASSUMED
    ),
    "l2": Source(
        f"{_TABLE}: 14 pJ for 64 bits of an SRAM of 1 MB in 7 nm; {_SEEN}; 100 pJ by {_BEFORE}", Grade.ASSUMED
    ),
    "l3": Source(
        f"{_TABLE}: 1300 pJ for 64 bits of DDR3/4; {_SEEN}; 1300 to 2600 pJ by {_BEFORE}", Grade.ASSUMED
    ),
}
"""Where the numbers are from; that they hold for these arrays is assumed (DEV-ENERGY-1)."""


def energy_table(text: str) -> Energy:
    """The table that a text names: ``published``, or ``l2=1.2,l3=40`` for other numbers in it.

    Raises:
        DesignError: levels that there are not, or no numbers from 0 on.
    """
    if text == PUBLISHED:
        return Energy()
    levels = [each.name for each in fields(Energy)]
    given: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = (piece.strip() for piece in part.partition("="))
        value = _number(number)
        if name not in levels or name in given or value is None:
            raise _no_table(text, part.strip(), levels)
        given[name] = value
    return replace(Energy(), **given)


def _number(text: str) -> float | None:
    """A number from 0 on; None if it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _no_table(text: str, part: str, levels: list[str]) -> DesignError:
    allowed = f"{PUBLISHED}, or LEVEL=PICOJOULES of {', '.join(levels)}, parted by commas"
    return DesignError.of(
        "energy",
        repr(text),
        allowed,
        f"the energy table is {text!r}, with {part!r} in it; it must be {allowed}",
        reason="energy",
        where="energy table",
        source="docs/sweep.md",
    )
