"""What is known beside the state of an engine that has stopped: a host that waits, an abstract run."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from types import MappingProxyType

from memtile.explain.deadlock.graph import Via
from memtile.explain.deadlock.switch_waits import Party


@dataclass(frozen=True, slots=True)
class HostWaiting:
    """A host that has not come to its end.

    Attributes:
        name: as messages have it: ``host sequence 'run'``, a place in a program.
        text: one line: what it waits for.
        channels: model indices of the channels whose tasks, tokens or queues it waits for.
        via: what of them: ``Via.END``, ``Via.TOKEN`` or ``Via.ROOM``.
        starts: model indices of the channels to which it would push tasks afterwards; None = not known.
        releases: locks that these tasks release, or it itself, as far as is known.
        at_work: it waits for nothing: a pause or the time of a step is not over.
        earlier: places of its waits for the same channel before this one.
        silent: places of the tasks that it has pushed to the channel and that ask for no token.
    """

    name: str
    text: str
    channels: tuple[int, ...] = ()
    via: Via = Via.END
    starts: frozenset[int] | None = None
    releases: frozenset[int] = frozenset()
    at_work: bool = False
    earlier: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()

    def may_start(self, ch: int) -> bool:
        """Whether it would start a task on a channel, as far as is known."""
        return self.starts is None or ch in self.starts


@dataclass(frozen=True, slots=True)
class Abstraction:
    """How far an abstract run stands for all runs.

    Attributes:
        undecided: parties that may go on in some run, or of which it does not say what they do.
        place: where the design says what a party waits for; empty if it says it nowhere.
        part: by model index of a channel at external memory the elements of its array that all its transfers
            move, of how many, and the name; None if these are all, or nobody knows.
    """

    undecided: Set[Party]
    place: Callable[[Party], str]
    part: Callable[[int], tuple[int, int, str] | None]


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
