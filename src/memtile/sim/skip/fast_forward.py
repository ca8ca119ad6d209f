"""Skipping time, as engines and faces know it: a run advances the state, and not each cycle is stepped.

All else that skips time stands behind this module, and behind ``skip.compiled`` in compiled code.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol
from weakref import ref

from memtile.model.state.state import State
from memtile.sim.kernels.running_cores import Cores
from memtile.sim.loop import clock, compiled_model
from memtile.sim.loop.upsets import Upsets
from memtile.sim.skip.periods import FastForward

_SLICE = 1 << 16  # cycles between looks at the outside world
_KERNEL = clock.Stop.KERNEL  # members of an enum are slow to look up
_wanted: ContextVar[bool] = ContextVar("fast_forward", default=True)


@contextmanager
def fast_forwarding(on: bool) -> Iterator[None]:
    """Context whose runs skip time that repeats or, if an outer one or this one says so, step every cycle."""
    before = _wanted.set(on and _wanted.get())
    try:
        yield
    finally:
        _wanted.reset(before)


class Outside(Protocol):
    """What there is of an engine beside its state."""

    upsets: Upsets


class Skipper:
    """Advances a model, and skips cycles: :meth:`run` leaves the state that stepping each one leads to.

    Args:
        cores: the kernels of the model.
        outside: the engine, which has this and is not kept by it.

    Attributes:
        periods: how periods are skipped.
    """

    def __init__(self, cores: Cores, outside: Outside) -> None:
        self._cores, self._engine = cores, ref(outside)
        self.periods = FastForward()
        self._probing = False

    @property
    def jumped(self) -> int:
        """Cycles skipped so far."""
        return self.periods.jumped

    @property
    def kept_off(self) -> tuple[str, ...]:
        """Why not more were, at least for a while; nothing if nobody looked."""
        return self.periods.kept_off

    def begin(self, st: State, until: int, *, watched: bool) -> None:
        """Get ready for a run.

        Args:
            st: state of the model.
            until: cycle to reach at most.
            watched: somebody looks at the model after each cycle.
        """
        self._probing = not watched and _wanted.get() and self.periods.begin(st, until)

    def run(self, st: State, until: int) -> clock.Stop:
        """Advance by a slice, to cycle ``until`` at most, with the kernels; why the clock stopped."""
        engine = self._engine()
        assert engine is not None  # it runs
        if self._probing and not engine.upsets.struck:
            return self.periods.run(st, until, _SLICE, self._cores)
        until = min(until, int(st.clock.now[0]) + _SLICE)
        while (stop := compiled_model.run(st, until, settled=False)) is _KERNEL:
            self._cores.serve()
        return stop
