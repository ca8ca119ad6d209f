"""Tasks that a host sequence configures and never starts; what waits for them is not the cause."""

from __future__ import annotations

from collections.abc import Iterator

from memtile.explain.bd_chains import BdChains, lock_seen
from memtile.explain.bd_findings import line_of
from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.lock_waits import lock_text
from memtile.explain.names import called
from memtile.explain.oddities import IDLE, Suspect
from memtile.importers.mlir.sequence.program import SequenceProgram
from memtile.sim.loop.engine import Engine


def never_started(engine: Engine, sequence: SequenceProgram) -> Iterator[Finding]:
    """One finding for each task that a host sequence configures and never starts.

    Args:
        engine: the model.
        sequence: of the design.
    """
    chains = BdChains(engine)
    for task in sequence.idle:
        direction, number = task.port
        ch = (task.tile.s2mm, task.tile.mm2s)[direction][number].index
        name, tile = called(engine, ch), int(engine.channels.tile[ch])
        given = [step for bd in task.numbers if (step := chains.release(ch, bd)) is not None]
        seen = [lock_seen(engine, tile, lock) for lock, _ in given]
        locks = [lock_text(engine, lock) for lock in seen if lock is not None]
        message = f"The task of {line_of(task.where)} on {name} is configured and never started."
        side = Side(name, "is given no task", task.where)
        fix = f"Start it (aiex.dma_start_task), or leave out {line_of(task.where)}."
        waiting = [[each] for each in (name, *locks)]
        severity = CODES[IDLE].severity
        yield Suspect(IDLE, severity, message, (side,), fix=fix, waiting=waiting, by_lock=True)
