"""The numbers behind a finding: by how much words are off, the walk or the units that would be right.

Sentences are for readers; what searches for repairs takes these numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple


class AdvisedWalk(NamedTuple):
    """A walk that a channel should have, in words, the outermost dimension first.

    Attributes:
        sizes: of its dimensions.
        strides: of its dimensions.
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]


class AdvisedUnits(NamedTuple):
    """Other units for an acquire or a release, or another value for a lock to begin with.

    Attributes:
        line: of the text, which has it, the descriptor that it belongs to, or the lock.
        lock: as the text names it.
        acquires: whether it is an acquire.
        many: units that it should have.
    """

    line: int
    lock: str
    acquires: bool
    many: int


class AdvisedPlace(NamedTuple):
    """Another place for an acquire or a release.

    Attributes:
        line: of the text, which has it.
        other: line of the operation beside which it should be.
        behind: whether it should be behind that operation; else before it.
    """

    line: int
    other: int
    behind: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a finding has measured of what is wrong.

    Attributes:
        late: elements by which an output begins later than expected; earlier ones are negative.
        times: an output is so many times as large as expected; 0 = no such factor is known.
        bits: by so many bits too few each element was shifted to the right; too many are negative.
        made: of each block of elements how many were made, and how many the block has; (0, 0) = not known.
        more: each wrong element is so much larger than expected; smaller is negative.
        further: words by which the channel of the finding should begin later in its memory.
        walks: walks that channels should have, one or another of them.
        lines: of the text, which say the channels of the walks; a program or a graph has none.
        names: of the channels of the walks, as users call them.
        runs: of its task that a channel should make, as words and locks say; 0 = not known.
        short: elements that an input lacks, of what the rest of the design takes.
        units: that an acquire, a release or a lock should have; None = the finding is of something else.
        place: where an acquire or a release should be; None = the finding is of something else.
        gives: whether a release goes to a wrong lock, while who waits for the right one does so rightly.
    """

    late: int = 0
    times: Fraction = Fraction(0)
    bits: int = 0
    made: tuple[int, int] = (0, 0)
    more: int = 0
    further: int = 0
    walks: Sequence[AdvisedWalk] = ()
    lines: Sequence[int] = ()
    names: Sequence[str] = ()
    runs: int = 0
    short: int = 0
    units: AdvisedUnits | None = None
    place: AdvisedPlace | None = None
    gives: bool = False


NO_EVIDENCE = Evidence()
"""Of a finding that has measured nothing."""
