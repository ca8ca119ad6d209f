"""The time of a host: its memory-mapped accesses are cycles apart, and what it triggered happens meanwhile.

What a design sets up takes none of it: its registers are written at once, before its first cycle or between
two runs (docs/timing.md, DEV-HOST-1).
"""

from __future__ import annotations

from typing import NoReturn, Protocol
from weakref import ref

from memtile.errors import DesignError
from memtile.jit.tables import plain
from memtile.model.checking.history_log import ON
from memtile.model.memory import axi_port
from memtile.model.state.state import State
from memtile.sim.loop import compiled_model

ACTING = (
    "active_channels",
    "waiting_channels",
    "active_ports",
    "active_controls",
    "active_cores",
    "active_units",
    "in_flight",
    "zeroising",
    "guarding",
    "asking_axi",
)
"""Lists of the state of who does something in a cycle, and counts of what is on its way."""


class PassesTime(Protocol):
    """An engine, as its host sees it."""

    def pass_to(self, cycle: int) -> None:
        """Let time pass up to a cycle."""

    def access(self, tile: int, offset: int, value: int) -> int:
        """Have the host read or write a word when it comes to it."""


class HostTime:
    """When the host of an engine comes to its next access.

    Args:
        state: of the model.
        engine: of the model, which lets time pass; it has this host, and is not kept by it.

    Attributes:
        stopped: no time passes, since the model has none (untimed run).
        by_firmware: firmware has carried out operations, at its own pace.
    """

    def __init__(self, state: State, engine: PassesTime) -> None:
        self._state, self._clock, self._engine = state, plain(state.clock), ref(engine)
        self._ports, self._gates = plain(state.axi_ports), plain(state.gates)
        clock, rosters = self._clock, (getattr(state, name) for name in ACTING)
        self._acting = (*rosters, clock.asking, clock.full, clock.columns_written)
        self._cycles = int(state.spec.timing.access_cycles[0])
        self.stopped = False
        self.by_firmware = False

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

    def access(self, tile: int, offset: int, value: int) -> int:
        """Read a word (``value`` is ``READ``) or write it, when the host comes to it."""
        if self.stopped:
            return compiled_model.access_at_once(self._state, tile, offset, value)
        return (self._engine() or self._without_model()).access(tile, offset, value)

    def begin(self, tile: int, words: int) -> None:
        """Let time pass until an access to a tile can be made; a block goes as one burst.

        Args:
            tile: model index.
            words: of the block.
        """
        self.come_to(tile)
        self.spend(self._cycles + max(words, 1) - 1)

    def come_to(self, tile: int) -> None:
        """Let time pass until the host is free and the tile takes an access."""
        self.reach()
        while self._ports.left[tile] and not self.stopped and not self._gates.off[tile]:
            self._pass_to(self.now + int(self._ports.left[tile]))

    def jump(self, cycle: int) -> bool:
        """Move the clock to ``cycle`` if nothing acts, as ``passing_time`` does; False if something does."""
        if any(roster[0] for roster in self._acting) or self._state.logging[ON]:
            return False
        self._clock.host_waited[0] += cycle - self._clock.now[0]
        self._clock.now[0] = cycle
        return True

    def uses_memory(self, tile: int, word: int, words: int) -> None:
        """An access has been made to tile-local words ``word``, ... of data memory: it takes their banks."""
        if words and not self.stopped:
            axi_port.begin(self._state, tile, word, words)

    def _pass_to(self, cycle: int) -> None:
        (self._engine() or self._without_model()).pass_to(cycle)

    @staticmethod
    def _without_model() -> NoReturn:
        raise DesignError.of(
            "model",
            "a door whose model is gone",
            "doors of models that somebody has",
            "the model of this door is gone",
            "Keep the array, or its engine, as long as its doors.",
            reason="no_model",
            where="door",
            source="a door that takes the time of a host needs the clock of its model",
        )

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
