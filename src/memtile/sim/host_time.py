"""The time of a host: its memory-mapped accesses are cycles apart, and what it triggered happens meanwhile.

What a design sets up takes none of it: its registers are written at once, before its first cycle or between
two runs (docs/timing.md, DEV-HOST-1).
"""

from __future__ import annotations

from collections.abc import Callable

from memtile.model.state.state import State


class HostTime:
    """When the host of an engine comes to its next access.

    Args:
        state: of the model.
        pass_to: lets time pass up to a cycle.

    Attributes:
        stopped: no time passes, since the model has none (untimed run).
    """

    def __init__(self, state: State, pass_to: Callable[[int], None]) -> None:
        self._clock, self._pass_to = state.clock, pass_to
        self._cycles = int(state.spec.timing.access_cycles[0])
        self.stopped = False

    @property
    def now(self) -> int:
        """The present cycle."""
        return int(self._clock.now[0])

    @property
    def free_at(self) -> int:
        """Cycle from which on it can make its next access."""
        return int(self._clock.host_free[0])

    @property
    def waited(self) -> int:
        """Cycles that have passed between accesses."""
        return int(self._clock.host_waited[0])

    def access(self, words: int = 1) -> None:
        """An access is due: let time pass until the host comes to it; a block goes as one burst."""
        self.spend(self._cycles + max(words, 1) - 1)

    def spend(self, cycles: int) -> None:
        """Let time pass until the host is free; then it is busy for ``cycles`` cycles."""
        if self.stopped:
            return
        self.reach()
        self._clock.host_free[0] = self._clock.now[0] + cycles

    def reach(self, cycle: int = 0) -> None:
        """Let time pass until the host is free, and to ``cycle`` at least."""
        until = max(cycle, int(self._clock.host_free[0]))
        if self._clock.now[0] < until and not self.stopped:
            self._pass_to(until)
