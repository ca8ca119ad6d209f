"""What ``main`` gives parameters, without a model: all that it asks for is done at once.

Reads, transfers and profiles give zeros. It is how a text without ``main`` gets the values of parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memtile.adf.description import Description
from memtile.adf.host_program import Request
from memtile.adf.lookup import Lookup
from memtile.adf.parameters import kernel_parameters
from memtile.adf.sizes import parameter_bytes
from memtile.arch.timing import ARRAY_CLOCK_MHZ
from memtile.errors import DesignError

_MOST_CALLS = 100_000


@dataclass(frozen=True, slots=True)
class Updated:
    """A call of ``update``.

    Attributes:
        port: id of the kernel's port.
        data: bytes of the value.
        runs: calls of ``run`` before it.
    """

    port: int
    data: bytes
    runs: int


@dataclass(frozen=True, slots=True)
class _Nothing:
    """What a transfer of the host brings."""

    nbytes: int

    def data(self) -> bytes:
        """Zeros."""
        return bytes(self.nbytes)


@dataclass(slots=True)
class HostRecord:
    """Takes the place of the model, see :class:`memtile.adf.running.GraphRun`.

    Args:
        description: of the graphs.

    Attributes:
        updates: in order.
        runs: calls of ``run`` so far.
        calls: of all kinds so far.
    """

    description: Description
    updates: list[Updated] = field(default_factory=list)
    runs: int = 0
    calls: int = 0

    clock_mhz = ARRAY_CLOCK_MHZ

    def counted(self, _request: Request) -> bool:
        """Count a call; ``main`` goes on.

        Raises:
            DesignError: there are too many: ``main`` may wait for what only the array gives.
        """
        self.calls += 1
        if self.calls > _MOST_CALLS:
            raise DesignError.of(
                "calls",
                f"more than {_MOST_CALLS:,}",
                f"up to {_MOST_CALLS:,}",
                f"main makes more than {_MOST_CALLS:,} calls: it may wait for what only the array gives",
                "Give parameters an initial_value, and let main end.",
                reason="adf_calls",
                where="main",
                source="limit of memtile",
            )
        return True

    def run(self, _graph: int, _iterations: int | None = None) -> None:
        """``run``."""
        self.runs += 1

    def update(self, port: int, data: bytes) -> None:
        """``update``, of each kernel's parameter that the port leads to."""
        for number in kernel_parameters(Lookup(self.description), port):
            self.updates.append(Updated(number, data, self.runs))

    def read(self, port: int) -> bytes:
        """``read``: zeros."""
        lookup = Lookup(self.description)
        return bytes(parameter_bytes(lookup.ports[kernel_parameters(lookup, port)[0]]))

    def receive(self, _gmio: int, nbytes: int) -> _Nothing:
        """``aie2gm``: zeros."""
        return _Nothing(nbytes)

    def start_profiling(self, *_: Any) -> int:
        """``start_profiling``: the number of a profile."""
        return 0

    def read_profiling(self, _number: int) -> int:
        """``read_profiling``: nothing went by."""
        return 0

    def outputs(self) -> Mapping[str, Any]:
        """What left the array: nothing."""
        return {}

    def _done(self, *_: Any) -> None:
        """A call of which nothing is kept."""

    init = wait = resume = end = send = wait_transfers = set_address = start = _done
    stop_profiling = come_to_rest = _done
