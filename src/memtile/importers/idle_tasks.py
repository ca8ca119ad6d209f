"""Tasks that a host sequence configures and never starts."""

from __future__ import annotations

from collections.abc import Iterator

from memtile.explain.bd_findings import line_of
from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.names import called
from memtile.importers.mlir.sequence.program import SequenceProgram
from memtile.sim.loop.engine import Engine

_CODE = "MT0121"


def never_started(engine: Engine, sequence: SequenceProgram) -> Iterator[Finding]:
    """One finding for each task that a host sequence configures and never starts.

    Args:
        engine: the model.
        sequence: of the design.
    """
    for task in sequence.idle:
        direction, number = task.port
        name = called(engine, (task.tile.s2mm, task.tile.mm2s)[direction][number].index)
        message = f"The task of {line_of(task.where)} on {name} is configured and never started."
        side = Side(name, "is given no task", task.where)
        fix = f"Start it (aiex.dma_start_task), or leave out {line_of(task.where)}."
        yield Finding(_CODE, CODES[_CODE].severity, message, (side,), fix=fix)
