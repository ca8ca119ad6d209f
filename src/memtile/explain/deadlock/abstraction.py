"""What an abstract run, without data and in one of many orders, knows beside the state of its engine."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from types import MappingProxyType

from memtile.explain.deadlock.switch_waits import Party


@dataclass(frozen=True, slots=True)
class Abstraction:
    """How far an abstract run stands for all runs.

    Attributes:
        undecided: parties that may go on in some run, or of which it does not say what they do.
        place: where the design says what a party waits for; empty if it says it nowhere.
    """

    undecided: Set[Party]
    place: Callable[[Party], str]


BEFORE_A_RUN = MappingProxyType(
    {
        "MT0302": "MT0103",
        "MT0304": "MT0108",
        "MT0305": "MT0103",
        "MT0306": "MT0111",
        "MT0308": "MT0114",
        "MT0309": "MT0103",
        "MT0311": "MT0103",
        "MT0312": "MT0109",
        "MT0313": "MT0112",
        "MT0314": "MT0112",
    }
)
"""What the end of a chain of waits is called before a run, by its code in a run."""
CIRCLE_BEFORE_A_RUN = "MT0106"
"""Of a circle of waits, whatever kind of circle it is."""
