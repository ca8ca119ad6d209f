"""``event::start_profiling`` of PLIO: cycles and words at the ports of interface tiles.

Source: UG1076, Event Profile APIs for Graph Inputs and Outputs. Counters begin with the call and see
words of 32 bits, one event each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memtile.adf.lookup import Lookup
from memtile.adf.plio_ports import InputPort, OutputPort
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import DesignError

Cycles = npt.NDArray[np.int64]
RUNNING_TO_IDLE = "io_total_stream_running_to_idle_cycles"
START_TO_BYTES = "io_stream_start_to_bytes_transferred_cycles"
START_DIFFERENCE = "io_stream_start_difference_cycles"
EVENT_COUNT = "io_stream_running_event_count"
_SOURCE = "UG1076: event profile APIs"


@dataclass(frozen=True, slots=True)
class Profile:
    """One call of ``start_profiling``.

    Attributes:
        event: its option.
        first: id of the PLIO.
        second: id of the other one of a difference; -1 = none.
        nbytes: whose transfer is measured.
        began: cycle of the call.
        words: that had crossed the first PLIO by then.
    """

    event: str
    first: int
    second: int
    nbytes: int
    began: int
    words: int


class Profiling:
    """The profiles of a host.

    Args:
        lookup: of the description.
        inputs: PLIOs that send, by id.
        outputs: PLIOs that receive, by id.
    """

    def __init__(
        self, lookup: Lookup, inputs: Mapping[int, InputPort], outputs: Mapping[int, OutputPort]
    ) -> None:
        self._lookup, self._inputs, self._outputs = lookup, inputs, outputs
        self._profiles: dict[int, Profile] = {}
        self._next = 0

    def start(self, first: int, second: int, event: str, nbytes: int, now: int) -> int:
        """``start_profiling``; the number of the profile.

        Args:
            first: id of a PLIO.
            second: id of another one; -1 = none.
            event: name of the option.
            nbytes: whose transfer is measured.
            now: the present cycle.

        Raises:
            DesignError: what is no PLIO, an option that there is not, or one that the model cannot count.
        """
        two = event == START_DIFFERENCE
        for number in (first, second)[: 1 + two]:
            if number not in self._inputs and number not in self._outputs:
                raise self._wrong(number, event, "a PLIO")
        if event not in (RUNNING_TO_IDLE, START_TO_BYTES, START_DIFFERENCE, EVENT_COUNT):
            raise self._wrong(first, event, f"{RUNNING_TO_IDLE}, {START_TO_BYTES} and the like")
        if event in (RUNNING_TO_IDLE, START_TO_BYTES) and first in self._inputs:
            raise self._wrong(first, event, "output PLIOs, of which the model keeps the cycle of each word")
        self._next += 1
        self._profiles[self._next] = Profile(event, first, second, nbytes, now, self._words(first))
        return self._next

    @property
    def was_used(self) -> bool:
        """Whether the host has started a profile."""
        return self._next > 0

    def read(self, number: int) -> int:
        """``read_profiling``: cycles, or a number of events; 0 where nothing has crossed yet.

        Raises:
            DesignError: a profile that does not run.
        """
        found = self._profiles.get(number)
        if found is None:
            raise DesignError.of(
                "profile",
                str(number),
                "one that start_profiling gave",
                reason="adf_profile",
                where="read_profiling",
                source=_SOURCE,
            )
        if found.event == EVENT_COUNT:
            return self._words(found.first) - found.words
        if found.event == START_DIFFERENCE:
            starts = [self._starts(each, found.began) for each in (found.first, found.second)]
            return starts[1] - starts[0] if min(starts) >= 0 else 0
        cycles = self._cycles(found.first, found.began)
        if found.event == START_TO_BYTES:
            last = -(-found.nbytes // WORD_BYTES) - 1
            return int(cycles[last] - cycles[0]) if 0 <= last < len(cycles) else 0
        return int(cycles[-1] - cycles[0]) if len(cycles) else 0

    def stop(self, number: int) -> None:
        """``stop_profiling``: its counters are free again."""
        self._profiles.pop(number, None)

    def _starts(self, plio: int, began: int) -> int:
        """Cycle of the first word since a cycle; -1 = none came."""
        if plio in self._inputs:
            return max(self._inputs[plio].began, began) if self._words(plio) else -1
        cycles = self._cycles(plio, began)
        return int(cycles[0]) if len(cycles) else -1

    def _cycles(self, plio: int, began: int) -> Cycles:
        """Cycles of the words of an output since a cycle.

        Raises:
            DesignError: the model does not keep them.
        """
        cycles = self._outputs[plio].collected().cycles
        if cycles is None:
            raise self._wrong(plio, "profiling", "a device with programmable logic")
        return cycles[cycles >= began]

    def _words(self, plio: int) -> int:
        if plio in self._inputs:
            return self._inputs[plio].entered
        return len(self._outputs[plio].collected().words)

    def _wrong(self, number: int, event: str, allowed: str) -> DesignError:
        name = self._lookup.all[number].name if number in self._lookup.all else f"object {number}"
        return DesignError.of(
            "start_profiling", event, allowed, reason="adf_profile", where=name, source=_SOURCE
        )
