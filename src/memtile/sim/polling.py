"""How a host lets time pass between two looks at a register."""

from __future__ import annotations

from memtile.model.events import units as event_units
from memtile.sim.clock import Stop
from memtile.sim.engine import Engine, Progress

POLL_CYCLES = 100  # between two reads of a polled register


def run_to_next_poll(engine: Engine, end: int, progress: Progress | None = None) -> Stop:
    """Let ``POLL_CYCLES`` cycles pass, to cycle ``end`` at most.

    ``Stop.QUIET`` when nothing can move any more, and no timer or counter has been set to a cycle before
    ``end`` (AM025 Timer_Trig_Event, Performance_Counter_Event_Value).
    """
    until = min(engine.now + POLL_CYCLES, end)
    stop = engine.run(until, progress)
    if stop is not Stop.QUIET or event_units.limit(engine.state, end) >= end:
        return stop
    engine.wait(until - engine.now)
    return Stop.LIMIT
