"""Timing constants that nobody has measured: which of them a run depended on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memtile.arch.grades import Grade
from memtile.arch.timing import sources
from memtile.model.state.causes import Cause, CoreCause
from memtile.model.state.state import State
from memtile.sim.engine import Engine


def _channels(cause: Cause) -> Callable[[State], bool]:
    """Whether a channel spent a cycle on ``cause``."""
    return lambda st: bool(st.spent[:, cause].any())


def _zeroised(st: State) -> bool:
    """Whether a channel or a core met banks that zeroisation owned."""
    cores = st.core_spent[:, CoreCause.MEMORY_BUSY]
    return bool(st.spent[:, Cause.MEMORY_BUSY].any() or cores.any())


DEPENDED_ON: Mapping[str, Callable[[State], bool]] = {
    "task_start": _channels(Cause.TASK_START),
    "zeroisation": _zeroised,
    "scrub_granules": lambda st: bool(st.guards.steps.any()),
    "neighbour_latency": lambda st: bool(st.interfaces.served.any()),
    "cascade_latency": lambda st: bool((st.cascades.in_taken >= 0).any()),
    "external_latency": _channels(Cause.EXTERNAL),
    "external_write_latency": _channels(Cause.EXTERNAL),
    "external_egress_words": _channels(Cause.EXTERNAL),
    "external_burst_overhead": _channels(Cause.EXTERNAL),
    "packet_arbitration": lambda st: bool(st.arbiters.packets.any()),
    "token_words": _channels(Cause.TOKEN_BLOCKED),
    "count_fifo_words": _channels(Cause.TOKEN_BLOCKED),
    "access_cycles": lambda st: bool(st.clock.host_waited[0]),
}
"""What in the state says that a run depended on a constant; a row for each of grade ``assumed``."""


def assumed_names(engine: Engine) -> list[str]:
    """The assumed timing constants that the run so far depended on."""
    names = [name for name, source in sources().items() if source.grade is Grade.ASSUMED]
    return [name for name in names if DEPENDED_ON[name](engine.state)]


def assumed(engine: Engine) -> list[str]:
    """``name = value`` of the assumed timing constants that the run so far depended on."""
    return [f"{name} = {getattr(engine.timing, name)}" for name in assumed_names(engine)]
