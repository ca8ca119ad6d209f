"""A model as it was before its first run, to be run again with other timing constants.

Setting a design up takes as long as a short run. What is set up hangs on few constants; with others a model
is put back to where it was, and need not be made again.
"""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

from memtile.arch.timing import Timing, Used, names_used, timing_in_force
from memtile.model.state.state import State
from memtile.model.state.time import timings
from memtile.sim.doors.host_time import HostTime
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.new_state import LOGS
from memtile.sim.loop.upsets import Upsets
from memtile.sim.skip.fast_forward import Skipper

RUN_ONLY = names_used(Used.RUNNING)
"""Timing constants that nothing looks at before the clock runs."""
MOST = 1 << 24  # bytes of external memory that are kept


class ModelStart:
    """What a model was before its first run.

    Args:
        engine: that has not run, see :func:`can_rewind`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine, self._state = engine, engine._state
        self._timing = engine._timing
        self._arrays = {name: _kept(_used(self._state, name)) for name in _names(self._state)}
        self._outside = [(b.array, b.array.copy()) for b in engine.external.buffers.values() if b.writable]

    def rewind(self) -> bool:
        """Put the model back to it, with the timing constants that are in force now.

        False if these differ in others than ``RUN_ONLY``; then nothing is done.
        """
        engine, timing = self._engine, timing_in_force(self._engine._given_timing, self._engine._usual_board)
        names = {each.name for each in fields(timing)}
        if any(getattr(timing, name) != getattr(self._timing, name) for name in names - RUN_ONLY):
            return False
        engine._state = self._state
        for name, values in self._arrays.items():
            _put(_used(self._state, name), values)
        _put(self._state.spec.timing, timings(timing))
        for array, values in self._outside:
            array[...] = values
        _begin(engine, timing)
        return True


def _begin(engine: Engine, timing: Timing) -> None:
    """Have an engine know of nothing that was done, its state being as it was then."""
    state = engine._state
    engine._timing, engine._unsettled, engine.left = timing, False, {}
    engine.words_needed_by, engine.read_by_host = (), False
    engine.host, engine.upsets = HostTime(state, engine), Upsets(state)
    engine.skipper = Skipper(engine.cores, engine)
    engine.cores.begin_anew()


def can_rewind(engine: Engine) -> bool:
    """Whether a model that was set up is put back by :class:`ModelStart`, if its kernels make the same again.

    Nothing is at its ports and no time has passed, so that nothing hangs on constants beside ``RUN_ONLY``.
    """
    waiting = engine._feeds or engine._caught or engine._patterns or engine.left or engine.upsets.waiting
    kernels: list[Any] = [running.actions for running in engine.cores.running.values()]
    outside = sum(buffer.array.nbytes for buffer in engine.external.buffers.values())
    return (
        not waiting
        and not engine.now
        and not engine.host.free_at
        and outside <= MOST
        and all(map(inspect.isgenerator, kernels))
        and all(inspect.getgeneratorstate(each) == inspect.GEN_CREATED for each in kernels)
    )


def _names(state: State) -> list[str]:
    return [name for name in state._fields if name != "spec"]


def _used(state: State, name: str) -> Any:
    """A table or an array, as far as it means something before the first run."""
    table = getattr(state, name)
    return table[:1] if name in LOGS else table


def _kept(table: Any) -> Any:
    """A copy of a table or an array; None of an array of zeros."""
    if isinstance(table, tuple):
        return tuple(column.copy() for column in table)
    if table.dtype.names is None and not table.any():
        return None
    return table.copy()


def _put(table: Any, values: Any) -> None:
    """Give a table or an array values that were kept."""
    if isinstance(table, tuple):
        for column, value in zip(table, values, strict=True):
            column[...] = value
    elif values is not None:
        table[...] = values
    elif table.any():  # else its pages need not be there
        table[...] = 0
