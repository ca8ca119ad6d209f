"""Accesses of a host and words that a program sets up, by few calls into compiled code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from memtile.arch.tiles import WORD_BYTES
from memtile.arch.timing import Timing
from memtile.jit.tables import plain
from memtile.model.state.state import Spec, State
from memtile.sim import machine
from memtile.sim.cores import Cores
from memtile.sim.host_time import HostTime
from memtile.sim.passing import ACTED, LATER, READ, Accesses, Counter, Programmed
from memtile.sim.races.checks import Checks


class HostAccesses(ABC):
    """What an engine does with accesses and many words; the engine has all that is named here."""

    host: HostTime
    cores: Cores
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

    @property
    @abstractmethod
    def _free(self) -> bool:
        """Whether nothing outside the state has a part in any cycle."""

    @abstractmethod
    def _alone(self, until: int) -> bool:
        """Whether nothing outside the state has a part in the cycles up to ``until``."""

    @abstractmethod
    def _pass(self, cycles: int) -> None:
        """Let cycles pass, whether or not anything can move; raises nothing about what channels do."""

    @abstractmethod
    def _now_written(self) -> State:
        """The state, which words are now written to."""

    @abstractmethod
    def _serve_ports(self, *, all_words: bool = True) -> None:
        """Take the words that have left stream ports, and offer the next ones."""

    def pass_to(self, cycle: int) -> None:
        """Let time pass up to a cycle for a host that is busy until then; idle cycles cost nothing.

        Raises:
            KeyboardInterrupt: Ctrl-C, see :meth:`run`.
            DesignError: a kernel asks for something that its core does not have or see.
        """
        state = self._now_written()
        if self._alone(cycle):
            if self.host.jump(cycle):
                return
            there = machine.pass_time(state, cycle)
            self._serve_ports(all_words=True)
            if there:
                return
        before = self.now
        self._pass(cycle - before)
        state.clock.host_waited[0] += self.now - before

    def access(self, tile: int, offset: int, value: int) -> int:
        """Have the host read a word (``value`` is ``READ``) or write it, when it comes to it.

        Args:
            tile: model index.
            offset: byte offset in the tile, a multiple of 4.
            value: the word.

        Returns:
            The word read, 0 for a write, or ``axi.SLAVE_ERROR``.

        Raises:
            KeyboardInterrupt: Ctrl-C, see :meth:`run`.
            DesignError: a kernel asks for something that its core does not have or see.
        """
        cores, answer = self.cores, LATER
        if cores.at_work >= 0 or cores.ahead is not None:
            cores.look()
        if self._free:
            answer = machine.access(self._now_written(), tile, offset, value)
            if 0 <= answer < ACTED:
                return answer
            self._serve_ports(all_words=True)
        while answer == LATER:
            self.host.come_to(tile)
            answer = machine.access(self._now_written(), tile, offset, value)
            self._serve_ports(all_words=True)
        return answer - ACTED if answer >= ACTED else answer

    def perform(self, accesses: Accesses) -> Iterator[int]:
        """Make many accesses in order, each when the host comes to it.

        Args:
            accesses: on this engine; they get their answers.

        Yields:
            The next access to be made, each time that something may have happened that a host is told of.

        Raises:
            KeyboardInterrupt: Ctrl-C, see :meth:`run`.
            DesignError: a kernel asks for something that its core does not have or see.
        """
        counters: Any = memoryview(accesses.counters)  # type: ignore[arg-type]
        cycles, end = counters[Counter.WAIT] + self._timing.access_cycles + 1, counters[Counter.END]
        self.checks.go_on()
        while (left := end - counters[Counter.AT]) > 0:
            made = (
                machine.perform(self._now_written(), accesses) if self._alone(self.now + left * cycles) else 0
            )
            self._serve_ports(all_words=True)
            if not made:
                self._come_to(accesses)
                counters[Counter.END] = counters[Counter.AT] + 1
                machine.perform(self._now_written(), accesses)
                counters[Counter.END] = end
                self._serve_ports(all_words=True)
            yield counters[Counter.AT]

    def _come_to(self, accesses: Accesses) -> None:
        """Let time pass up to the next access, with all that has a part in it."""
        counters = accesses.counters
        tile, value = (int(column[counters[Counter.AT]]) for column in (accesses.tiles, accesses.values))
        if value == READ and counters[Counter.DUE] < 0:
            counters[Counter.DUE] = self.now + counters[Counter.WAIT]
        if value == READ and counters[Counter.DUE] > self.now:
            self._pass(int(counters[Counter.DUE]) - self.now)
        if tile >= 0:
            self.host.come_to(tile)
        elif value != READ:
            self.host.reach()

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
