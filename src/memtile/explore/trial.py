"""One run made again without one of the resources that it waits for.

Most resources are removed by timing constants. One more buffer is more in the lock that counts the free ones
(``sim.doors.relaxed_model``), so that it can be tried in every design, whatever it is written in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from memtile.arch.timing import chosen_timing, of_run
from memtile.errors import MemtileError
from memtile.explain.limit import Lifted, Resource
from memtile.explain.results import Result
from memtile.sim.doors.relaxed_model import relaxed_models
from memtile.sim.kernels.kernel_lines import kernel_time

Again = Callable[[], Result]
"""Makes the design anew and runs it; called inside ``chosen_timing``."""
Watch = Callable[[Sequence[str]], Iterator[str]]
"""Goes through names, showing how far it is."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is removed in one run.

    Attributes:
        resource: of which the limit is.
        name: of the object that it costs most.
        what: is without it: "if WHAT, so many cycles".
        constants: timing constants of that run.
        locks: what is added to the first values of locks, by their index.
        two_words: channels that move two words a cycle, by their index; -1 = all do.
        unpaced: ports outside of the design are ready in every cycle.
        rows_follow: rows of external memory follow each other.
        no_waits: hosts wait for nothing.
        unpadded: by tile and number the length of descriptors that send no zeros, or get none.
        computing: per cent of their cycles that kernels take, by the index of the core; at -1 that of all.
        remains: cycles of the resource that stay, and are added to those of the run.
        instead: another trial for a run that does not end as it did; None = there is none.
    """

    resource: Resource
    name: str
    what: str
    constants: Mapping[str, int] = field(default_factory=dict)
    locks: Mapping[int, int] = field(default_factory=dict)
    two_words: Sequence[int] = ()
    unpaced: bool = False
    rows_follow: bool = False
    no_waits: bool = False
    unpadded: Mapping[tuple[int, int], int] = field(default_factory=dict)
    computing: Mapping[int, int] = field(default_factory=dict)
    remains: int = 0
    instead: Trial | None = None

    @property
    def model(self) -> dict[str, Any]:
        """What the model of the run has beside locks."""
        names = ("two_words", "unpaced", "rows_follow", "no_waits", "unpadded")
        return {name: given for name in names if (given := getattr(self, name))}

    def done(self, result: Result, again: Again) -> Lifted:
        """Make the run."""
        cycles = cycles_of(result, again, self)
        if cycles is None and self.instead is not None:
            return self.instead.done(result, again)
        return Lifted(self.what, None if cycles is None else cycles + self.remains, self.resource, self.name)


def cycles_of(result: Result, again: Again, trial: Trial) -> int | None:
    """Return the cycles of the run that a trial makes; None if it ends otherwise than the run itself.

    Args:
        result: of the run itself.
        again: does it anew.
        trial: what the run is made without.
    """
    with ExitStack() as inside:
        inside.enter_context(chosen_timing({**of_run(result.board, result.timing), **trial.constants}))
        if trial.locks or trial.model:
            inside.enter_context(relaxed_models(trial.locks, **trial.model))
        if trial.computing:
            inside.enter_context(kernel_time(trial.computing))
        try:
            other = again()
        except MemtileError:
            if trial.locks or trial.model:
                return None  # a kernel refuses words that were written over
            raise
    is_other = other.status is not result.status or (trial.no_waits and _moved(other) != _moved(result))
    return None if is_other else other.cycles


def _moved(result: Result) -> dict[str, int]:
    """Words that each channel moved."""
    return {use.name: use.words for use in result.channels}
