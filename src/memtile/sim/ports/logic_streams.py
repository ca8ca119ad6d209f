"""The programmable logic's end of its streams: words that wait to be sent, and when words came out.

The clock loop reads the words of a source from an array of the host by its address; this keeps the array.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from memtile.jit.tables import plain
from memtile.model.roster import append
from memtile.model.state.state import State
from memtile.sim.ports.feed import Flags, Offer, Words, no_tlast

Times = npt.NDArray[np.int64]

_MOST_TICKS = 1 << 20  # of a clock, in the fraction that stands for its period


class LogicStreams:
    """The streams of an engine.

    Args:
        state: of the model.

    Attributes:
        names: what a design calls them, by switch port.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._sources: dict[int, Offer] = {}
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
        if plain(self._state.switch).is_master[port]:
            self._times.setdefault(port, [])

    @property
    def ports(self) -> list[int]:
        """Switch ports that have a stream, in order."""
        found: list[int] = np.flatnonzero(plain(self._state.logic).words).tolist()
        return found

    def feed(self, port: int, words: Words, tlast: Flags) -> None:
        """Append words for a source to send.

        Args:
            port: model index of its slave port.
            words: uint32.
            tlast: uint8, 1 where a packet ends.
        """
        logic, left = plain(self._state.logic), self.waiting(port)
        words = np.ascontiguousarray(np.concatenate([left[0], words]), np.uint32)
        tlast = np.ascontiguousarray(np.concatenate([left[1], tlast]), np.uint8)
        self._sources[port] = words, tlast
        logic.words_at[port], logic.flags_at[port] = words.ctypes.data, tlast.ctypes.data
        logic.place[port], logic.end[port] = 0, len(words)
        if len(words) and not logic.active[port]:
            logic.active[port] = 1
            logic.ready[port] = max(int(logic.due[port]), int(self._state.clock.now[0]))
            append(self._state.logic_sources, port)

    def waiting(self, port: int) -> Offer:
        """Words that a source has not sent, and their TLAST."""
        if port not in self._sources:
            return np.zeros(0, np.uint32), no_tlast(0)
        words, tlast = self._sources[port]
        at = int(plain(self._state.logic).place[port])
        return words[at:], tlast[at:]

    def pending(self, port: int) -> int:
        """How many words a source has not sent."""
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

    def at_ports(self) -> tuple[dict[int, Offer], dict[int, Times]]:
        """Words that wait, by source, and cycles in which words left, by sink."""
        sources = {port: self.waiting(port) for port in self._sources if self.pending(port)}
        return sources, {port: self.times(port) for port in self._times}

    def put_back(self, sources: Mapping[int, Offer], times: Mapping[int, Times]) -> None:
        """Have what :meth:`at_ports` found in another engine of the same model, whose state is there."""
        self._times = {port: found.tolist() for port, found in times.items()}
        for port, (words, tlast) in sources.items():
            self._sources.pop(port, None)
            self.feed(port, words, tlast)
