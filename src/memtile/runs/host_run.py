"""A run with host sequences: the array runs from one look of the host to the next."""

from __future__ import annotations

from collections.abc import Sequence

from memtile.runs.machine import HostSteps
from memtile.sim.clock import Stop
from memtile.sim.engine import Engine, Progress
from memtile.sim.polling import run_to_next_poll
from memtile.sim.untimed import run_untimed


def run_sequences(
    engine: Engine, sequences: Sequence[HostSteps], end: int, *, untimed: bool, progress: Progress | None
) -> Stop | None:
    """Let sequences do their steps, and the array run between them, until all have ended.

    Args:
        engine: the model.
        sequences: side by side; those that have ended do nothing.
        end: last cycle.
        untimed: move the data without a clock.
        progress: called now and then with the cycles, or untimed the words, done so far.

    Returns:
        Why not all of them could end; None = they have.

    Raises:
        DesignError: a step that is none, or work that its channel refuses.
    """
    quiet = False
    while left := [sequence for sequence in sequences if not sequence.ended]:
        if sum(sequence.advance(lambda: engine.now, not untimed) for sequence in left):
            quiet = False
            continue
        dues = [sequence.due for sequence in left if sequence.due >= 0]
        until = min([end, *dues])
        if engine.now >= end and not untimed:
            return Stop.LIMIT
        if quiet and not dues:
            return Stop.QUIET
        if quiet:
            engine.wait(until - engine.now)
            quiet = False
        elif untimed:
            run_untimed(engine, progress)
            quiet = True
        else:
            in_vain = min(sequence.in_vain(engine) for sequence in left)
            quiet = run_to_next_poll(engine, until, progress, in_vain=in_vain) is Stop.QUIET
    return None
