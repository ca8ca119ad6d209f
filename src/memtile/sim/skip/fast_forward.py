"""Skipping time, as engines and faces know it: a run advances the state, and not each cycle is stepped.

All else that skips time stands behind this module, and behind ``skip.compiled`` in compiled code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol
from weakref import ref

from memtile.arch.timing import Unlimited
from memtile.jit.decorators import ENABLED
from memtile.jit.structs import at_hand
from memtile.jit.tables import plain
from memtile.model.state.state import State
from memtile.sim.kernels.running_cores import Cores
from memtile.sim.loop import clock, compiled_model
from memtile.sim.loop.upsets import Upsets
from memtile.sim.skip import calls
from memtile.sim.skip.compared_columns import PooledSpans
from memtile.sim.skip.kernel_replay import ReplayJump
from memtile.sim.skip.probe_budget import SHARE
from memtile.sim.skip.records import Arrays, KeptOff, Search
from memtile.sim.skip.step_account import Observed, StepAccount

_EVER = 1 << 62
_LEAST = 256  # cycles of a run that is worth the arrays

FREE = 120_000 * SHARE  # nanoseconds, about
_REPLAY, _KERNEL = clock.Stop.REPLAY, clock.Stop.KERNEL  # members of an enum are slow to look up

_KEPT_OFF = {
    KeptOff.CORE: "cores use their cascades",
    KeptOff.UNIT: "broadcasts of events are on their way, or events act on a core or a scrubber",
    KeptOff.TRACE: "a trace unit notes events",
    KeptOff.CIRCUIT: "words go through switches in packets, or to or from cores, hosts or other places",
    KeptOff.CONTROL: "tokens or control packets are on their way",
    KeptOff.MEMORY: "a scrubber, a zeroisation or memory-mapped accesses use the banks",
    KeptOff.CHECK: "accesses are noted for --check",
    KeptOff.WORDS: "words are compressed or in packets",
}
_LOGIC = "the programmable logic sends or takes words"
_PIECES = f"the array runs in pieces of fewer than {_LEAST} cycles, as between two looks of a host"
_EACH = "each cycle is looked at"
_FLIPPED = "bits of memory or registers were flipped"


class FastForward:
    """Fast-forward of one engine.

    Attributes:
        on: whether time that repeats is jumped over where nobody says otherwise; by default where the engine
            is compiled, as the interpreter is for looking at each cycle.
        free: looking for periods costs as little as if a new engine had stepped for so long (nanoseconds,
            about) before its first cycle: short runs may look as well.
    """

    def __init__(self) -> None:
        self.on = ENABLED
        self.free = FREE
        self._work: Arrays | None = None
        self._search: Search  # of it
        self._budget: Any  # of it
        self._touches = 0
        self._logic = False  # the programmable logic has streams
        self._in_pieces = 0  # cycles, at most, of runs too short to look for periods
        self.why: tuple[str, ...] = ()  # the last run that began does not look for periods

    @property
    def jumped(self) -> int:
        """Cycles jumped over so far."""
        return 0 if self._work is None else int(self._search.jumped_cycles[0])

    @property
    def jumps(self) -> int:
        """Jumps so far."""
        return 0 if self._work is None else int(self._search.jumps[0])

    @property
    def rings(self) -> int:
        """Those of them over whole rounds of rings of BDs."""
        return 0 if self._work is None else int(self._search.ring_jumps[0])

    @property
    def kept_off(self) -> tuple[str, ...]:
        """What kept time from being jumped over, at least for a while; nothing if nobody looked.

        Short runs count only where they took as long together as a run that is not.
        """
        bits = 0 if self._work is None else int(self._search.obstacles[0])
        found = [*_texts(bits), *[_LOGIC] * self._logic]
        return (*found, _PIECES) if self._in_pieces >= _LEAST else tuple(found)

    def begin(self, st: State, until: int) -> bool:
        """Get ready for a run; whether it is to look for periods."""
        self.why = ()
        if not self.on:
            return False
        now, channels = at_hand(st).clock.now, at_hand(st).channels
        if not len(channels.phase):
            return False
        if int(st.spec.timing.unlimited[0]) & Unlimited.PACKETS:
            return False  # streams are not where the switches say
        self._logic = bool(plain(st.logic).words.any())
        if self._logic:
            self.why = (_LOGIC,)
            return False
        if (left := until - int(now[0])) < _LEAST:
            self._in_pieces += left
            self.why = (_PIECES,)
            return False
        if self._work is None:
            self._lent = PooledSpans(st)
            self._work = self._lent.arrays
            self._search = at_hand(self._work).search
            self._budget = memoryview(self._search.step_budget)  # type: ignore[arg-type]
            self._search.stepped_cost[0] = self.free
        calls.forget_periods(st, self._work)
        return True

    @contextmanager
    def observed(self) -> Iterator[Observed]:
        """Context of a piece of a run, whose value says afterwards what was skipped, or why nothing was."""
        search, seen = self._search, Observed()
        before, cost, jumped = int(search.obstacles[0]), int(search.probing_cost[0]), self.jumped
        search.obstacles[0] = 0
        try:
            yield seen
        finally:
            seen.jumped, seen.obstacles = self.jumped - jumped, _texts(int(search.obstacles[0]))
            seen.probed = int(search.probing_cost[0]) != cost
            search.obstacles[0] |= before

    def run(self, st: State, until: int, budget: int, cores: Cores) -> clock.Stop:
        """Advance to cycle ``until`` with the kernels, stepping ``budget`` cycles, about; why it stopped."""
        assert self._work is not None
        now = at_hand(st).clock.now
        end = now[0] + budget
        while True:
            if cores.touches != self._touches:
                self._touches = cores.touches
                self.begin(st, _EVER)
            self._budget[0] = budget
            stop = calls.run_forward(st, until, self._work)
            if stop is _REPLAY:
                ReplayJump(st, self._work, cores).run()
            elif stop is not _KERNEL:
                return stop
            else:
                cores.serve()
                if now[0] >= end:
                    return clock.Stop.LIMIT


def _texts(obstacles: int) -> list[str]:
    """What kept time from being skipped, by the bits of ``KeptOff``."""
    return [text for what, text in _KEPT_OFF.items() if obstacles >> what & 1]


_SLICE = 1 << 16  # cycles between looks at the outside world
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
        account: where the cycles went.
    """

    def __init__(self, cores: Cores, outside: Outside) -> None:
        self._cores, self._engine = cores, ref(outside)
        self.periods = FastForward()
        self.account = StepAccount()
        self._probing = False
        self._why: tuple[str, ...] = ()
        self._before: tuple[int, tuple[str, ...]] = 0, ()  # of an equal model, jumped and kept off

    @property
    def jumped(self) -> int:
        """Cycles skipped so far."""
        return self._before[0] + self.periods.jumped

    @property
    def kept_off(self) -> tuple[str, ...]:
        """Why not more were, at least for a while; nothing if nobody looked."""
        return tuple(dict.fromkeys((*self._before[1], *self.periods.kept_off)))

    def as_plain(self) -> list[Any]:
        """What was skipped so far and what was not, as plain data."""
        return [self.jumped, list(self.kept_off), self.account.as_plain()]

    def take_over(self, known: Sequence[Any]) -> None:
        """Have what :meth:`as_plain` found of an equal model, which this one is brought to."""
        jumped, kept_off, account = known
        self._before = jumped, tuple(kept_off)
        self.account.put(account)

    @property
    def chosen(self) -> bool:
        """Whether a run that begins now is to skip what repeats."""
        return self.periods.on and _wanted.get()

    def begin(self, st: State, until: int, *, watched: bool) -> None:
        """Get ready for a run.

        Args:
            st: state of the model.
            until: cycle to reach at most.
            watched: somebody looks at the model after each cycle.
        """
        self._probing = not watched and _wanted.get() and self.periods.begin(st, until)
        self._why = (
            () if not self.periods.on or not _wanted.get() else (_EACH,) if watched else self.periods.why
        )

    def run(self, st: State, until: int) -> clock.Stop:
        """Advance by a slice, to cycle ``until`` at most, with the kernels; why the clock stopped."""
        engine = self._engine()
        assert engine is not None  # it runs
        now, idle = at_hand(st).clock.now, at_hand(st).clock.idle
        began, idled = int(now[0]), int(idle[0])
        if self._probing and not engine.upsets.struck:
            with self.periods.observed() as seen:
                stop = self.periods.run(st, until, _SLICE, self._cores)
            cycles = int(now[0]) - began - seen.jumped
            self.account.add_probed(cycles, int(idle[0]) - idled, seen.obstacles, probed=seen.probed)
            return stop
        stop = self._step(st, until)
        why = (_FLIPPED,) if self._probing else self._why
        self.account.add(int(now[0]) - began, int(idle[0]) - idled, why)
        return stop

    def _step(self, st: State, until: int) -> clock.Stop:
        """Advance by a slice, each cycle of it that is not idle."""
        until = min(until, int(st.clock.now[0]) + _SLICE)
        while (stop := compiled_model.run(st, until, settled=False)) is _KERNEL:
            self._cores.serve()
        return stop
