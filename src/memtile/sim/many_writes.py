"""Many words written by one call into compiled code: what a host posts, and what a program sets up."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import WORD_BYTES
from memtile.arch.timing import Timing
from memtile.jit.tables import plain
from memtile.model.state.columns import Ints
from memtile.model.state.state import Spec, State
from memtile.sim import machine
from memtile.sim.host_time import HostTime
from memtile.sim.passing import Posted, Programmed
from memtile.sim.races.checks import Checks


class ManyWrites(ABC):
    """What an engine does with many words; the engine has all that is named here."""

    host: HostTime
    _timing: Timing
    spec: Spec
    checks: Checks

    @property
    @abstractmethod
    def now(self) -> int:
        """Cycles simulated so far."""

    @property
    @abstractmethod
    def observed(self) -> bool:
        """Whether somebody stands before the doors."""

    @abstractmethod
    def _alone(self, until: int) -> bool:
        """Whether nothing outside the state has a part in the cycles up to ``until``."""

    @abstractmethod
    def _now_written(self) -> State:
        """The state, which words are now written to."""

    @abstractmethod
    def _serve_ports(self, *, all_words: bool = True) -> None:
        """Take the words that have left stream ports, and offer the next ones."""

    def post(self, tiles: Ints, offsets: Ints, values: Ints) -> npt.NDArray[np.bool_]:
        """Write many words, each when the host comes to it; bool per word, False where nothing answered.

        Args:
            tiles: model index of each word's tile, -1 = none.
            offsets: byte offset in the tile, a multiple of 4.
            values: 32-bit words.

        Raises:
            KeyboardInterrupt: Ctrl-C, see :meth:`run`.
            DesignError: a kernel asks for something that its core does not have or see.
        """
        done, first = np.zeros(len(values), np.bool_), 0
        tiles, offsets, values = (
            np.array(each, np.int64) for each in (tiles, offsets, values)
        )  # none shared
        while first < len(values):
            self.host.come_to(int(tiles[first])) if tiles[first] >= 0 else self.host.reach()
            alone = self._alone(self.now + len(values) * (1 + self._timing.access_cycles))
            end = len(values) if alone else first + 1
            words = Posted(tiles[first:end], offsets[first:end], values[first:end], done[first:end])
            first += machine.write_many(self._now_written(), words)
            self._serve_ports()
        return done

    def set_up(self, words: Programmed, end: int) -> int:
        """Write words of a program, each at once when its time has come, as long as that needs no Python.

        Args:
            words: on this engine; something answers each of them, but for clocks that are off.
            end: cycle from which on no word is written.

        Returns:
            How many were written; what is left goes through the doors, one by one.
        """
        costs = words.costs
        until = max(self.now, self.host.free_at) + int(costs[costs > 0].sum())
        if self.observed or not self._alone(until):
            return 0
        written = machine.set_up(self._now_written(), words, end)
        self._serve_ports()
        tiles = plain(self.spec.tiles)
        at, offsets = words.tiles[:written], words.offsets[:written]
        stored = offsets < tiles.memory_words[at] * WORD_BYTES
        self.checks.filled[tiles.memory_base[at[stored]] + offsets[stored] // WORD_BYTES] = True
        return written
