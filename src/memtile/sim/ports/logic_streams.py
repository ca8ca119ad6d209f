"""The programmable logic's end of its streams: words that wait to be sent, and when words came out.

The clock loop reads the words of a source from an array of the host by its address; this keeps the array.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.pl_interface import CROSSING_DEPTH
from memtile.jit.tables import plain
from memtile.model.roster import append
from memtile.model.state.state import State
from memtile.sim.ports.feed import AtLogic, Flags, Offer, Words

Times = npt.NDArray[np.int64]

_MOST_TICKS = 1 << 20  # of a clock, in the fraction that stands for its period


class _Source(NamedTuple):
    """Words, the TLAST of each, and the periods of the PLIO's clock before each."""

    words: Words
    tlast: Flags
    stalls: Words


class LogicStreams:
    """The streams of an engine.

    Args:
        state: of the model.

    Attributes:
        names: what a design calls them, by switch port.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._sources: dict[int, _Source] = {}
        self._times: dict[int, list[int]] = {}
        self.names: dict[int, str] = {}

    def attach(self, port: int, words: int, period: Fraction) -> None:
        """Have a stream at a switch port.

        Args:
            port: model index.
            words: of the stream in one of the PLIO.
            period: of the PLIO's clock in cycles of the array, to 1 part in a million.
        """
        logic, rough = plain(self._state.logic), period.limit_denominator(_MOST_TICKS)
        logic.words[port], logic.cycles[port], logic.ticks[port] = words, rough.numerator, rough.denominator
        logic.depth[port] = CROSSING_DEPTH * words
        if plain(self._state.switch).is_master[port]:
            self._times.setdefault(port, [])

    @property
    def ports(self) -> list[int]:
        """Switch ports that have a stream, in order."""
        found: list[int] = np.flatnonzero(plain(self._state.logic).words).tolist()
        return found

    def feed(self, port: int, words: Words, tlast: Flags, stalls: Words) -> None:
        """Append words for a source to send.

        Args:
            port: model index of its slave port.
            words: uint32.
            tlast: uint8, 1 where a packet ends.
            stalls: uint32, periods of the PLIO's clock that pass before each; those of a word that begins no
                word of the PLIO are not looked at.
        """
        if len(words):
            logic = plain(self._state.logic)
            rests = logic.place[port] + logic.stored[port] == logic.end[port]
            self._lay_out(port, words, tlast, stalls)
            self._wake(port)
            if rests:
                self._begin(port)

    def _lay_out(self, port: int, words: Words, tlast: Flags, stalls: Words) -> None:
        """Put words behind those that wait."""
        logic, left = plain(self._state.logic), self._left(port)
        source = _Source(
            np.ascontiguousarray(np.concatenate([left.words, words]), np.uint32),
            np.ascontiguousarray(np.concatenate([left.tlast, tlast]), np.uint8),
            np.ascontiguousarray(np.concatenate([left.stalls, stalls]), np.uint32),
        )
        self._sources[port] = source
        logic.words_at[port], logic.flags_at[port] = source.words.ctypes.data, source.tlast.ctypes.data
        logic.stalls_at[port] = source.stalls.ctypes.data if source.stalls.any() else 0
        logic.place[port], logic.end[port] = 0, len(source.words)

    def _wake(self, port: int) -> None:
        """Have the clock loop serve a source."""
        logic = plain(self._state.logic)
        if not logic.sending[port]:
            logic.sending[port] = 1
            append(self._state.logic_sources, port)

    def _begin(self, port: int) -> None:
        """Let a source that was at rest begin with a word of the PLIO."""
        logic = plain(self._state.logic)
        begins = max(int(logic.due[port]), int(self._state.clock.now[0]))
        if logic.filled[port] == 0:
            first = int(self._sources[port].stalls[int(logic.stored[port])])
            passed = int(logic.carry[port]) + first * int(logic.cycles[port])
            begins += passed // int(logic.ticks[port])
            logic.due[port], logic.carry[port] = begins, passed % int(logic.ticks[port])
        logic.ready[port] = begins

    def _left(self, port: int) -> _Source:
        if port not in self._sources:
            return _Source(np.zeros(0, np.uint32), np.zeros(0, np.uint8), np.zeros(0, np.uint32))
        at = int(plain(self._state.logic).place[port])
        words, tlast, stalls = self._sources[port]
        return _Source(words[at:], tlast[at:], stalls[at:])

    def waiting(self, port: int) -> Offer:
        """Words of a source that have not entered the array, and their TLAST."""
        words, tlast, _ = self._left(port)
        return words, tlast

    def stalls(self, port: int) -> Words:
        """Periods before each of those words."""
        return self._left(port).stalls

    def pending(self, port: int) -> int:
        """How many words of a source have not entered the array: in the FIFO, or before it."""
        logic = plain(self._state.logic)
        return int(logic.end[port] - logic.place[port])

    def sent(self, port: int) -> int:
        """How many words have crossed the port."""
        return int(plain(self._state.logic).sent[port])

    def came(self, port: int, cycle: int) -> None:
        """A word left a sink in a cycle; of other ports nothing is kept."""
        if port in self._times:
            self._times[port].append(cycle)

    def times(self, port: int) -> Times:
        """Cycle in which each word left a sink."""
        return np.array(self._times.get(port, ()), np.int64)

    def at_ports(self) -> AtLogic:
        """What waits at sources, and when words left at sinks."""
        sources = {port: self.waiting(port) for port in self._sources if self.pending(port)}
        stalls = {port: self.stalls(port) for port in sources}
        return AtLogic(sources, stalls, {port: self.times(port) for port in self._times})

    def put_back(self, found: AtLogic) -> None:
        """Have what :meth:`at_ports` found in another engine of the same model, whose state is there."""
        self._times = {port: cycles.tolist() for port, cycles in found.times.items()}
        for port, (words, tlast) in found.sources.items():
            self._sources.pop(port, None)
            self._lay_out(port, words, tlast, found.stalls[port])
