"""What calls of the host wait for: the end of a graph, or for ever; then the result of the run says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtile.errors import DesignError
from memtile.model.state.causes import CorePhase

if TYPE_CHECKING:
    from memtile.sim.loop.engine import Engine

_AT_REST = frozenset({int(CorePhase.IDLE), int(CorePhase.DONE)})
_COMPUTING = int(CorePhase.WAIT)


class HostWaitError(DesignError):
    """A call of the host waits for something that never comes; ``main`` goes no further."""


def limit_reached(cycles: int) -> HostWaitError:
    """The error of a call that waits when the limit of cycles is reached."""
    return HostWaitError.of(
        "cycles",
        f"{cycles:,}",
        "an end before that",
        f"the limit of {cycles:,} cycles is reached while main waits",
        "Raise it with --max-cycles, or look at what takes so long.",
        reason="adf_limit",
        where="graph",
        source="limit of the run",
    )


def are_at_rest(engine: Engine, cores: list[int]) -> bool:
    """Whether none of some cores has a kernel that runs."""
    return _AT_REST.issuperset(engine.state.cores.phase[cores].tolist())


def computing(engine: Engine, cores: list[int]) -> int:
    """Return the cycles for which one of some cores certainly computes on, so that it is not at rest."""
    state = engine.state.cores
    until = state.until[cores][state.phase[cores] == _COMPUTING]
    return int(until.max()) - engine.now if until.size else 0
