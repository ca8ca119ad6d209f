"""``aie.utils.trace.parse``: what a recorded trace says, with the names of a design."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memtile.errors import raise_if
from memtile.importers.design import load
from memtile.io.trace.decoder import decode
from memtile.io.trace.trace_names import chrome_records, named
from memtile.io.trace.trace_setup import TracedUnit, traced_by


def parse_trace(trace_buffer: Any, mlir_module_str: str, colshift: int | None = None) -> list[dict[str, Any]]:
    """The records of a trace in Chrome's trace event format; ``ts`` is in cycles since the start event.

    Args:
        trace_buffer: the words, zeros behind them too.
        mlir_module_str: the design that was traced, as MLIR.
        colshift: columns that the design was loaded further right; None = as the packets say.

    Raises:
        MemtileError: the words are no trace, or of a mode other than event-time; the design cannot be read.
    """
    words = [int(word) for word in np.asarray(trace_buffer).reshape(-1)]
    trace = decode(words)
    raise_if(trace.problems)
    loaded = load(mlir_module_str)
    setup = traced_by(loaded.operations, loaded.shape)
    senders = [unit.sender.column for unit in trace.units]
    return list(chrome_records(named(trace, setup, _shift(senders, setup) if colshift is None else colshift), None))


def _shift(senders: Sequence[int], setup: Sequence[TracedUnit]) -> int:
    """By how much the first column that sent packets lies right of the first that was to send some."""
    columns = [unit.tile[0] for unit in setup if unit.tile is not None]
    return min(senders) - min(columns) if senders and columns else 0
