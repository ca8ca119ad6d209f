"""A run whose host acts from outside, such as the clients of a server, while its cores run their kernels.

The model sees the accesses of such a host, and not what it is still to do. So a result so far reports nothing
that the host could put right with its next accesses: a channel without a task does not wait, and a run whose
array still moves was interrupted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from memtile.errors import DesignError, Problem, SimulationError
from memtile.explain.findings import Finding
from memtile.explain.outcome import outcome
from memtile.explain.race_findings import NamedArea
from memtile.explain.results import Result, Status
from memtile.explain.take_names import named_channels, named_tiles, take_names
from memtile.explain.timeline import Timeline
from memtile.runs.core_kernels import CoreKernels
from memtile.runs.machine import ArrayMachine, Machine
from memtile.runs.observing import Observed, areas_of, moves_of
from memtile.runs.options import RunOptions

LEAST_CYCLES = 64
"""Cycles in which a result so far sees whether anything can move, where reads take fewer."""


@dataclass(frozen=True, slots=True)
class LiveHost:
    """A host that acts while the run lasts.

    Attributes:
        act: lets it act; returns when the host has left. It gets the run, for results so far.
        cycles: that pass before a result so far, as before a read of the host.
        names: a design that names locks, channels and buffers; None = the array that runs does.
    """

    act: Callable[[LiveRun], None]
    cycles: int = LEAST_CYCLES
    names: Machine | None = None

    def named(self, array: ArrayMachine) -> list[NamedArea]:
        """Give an array the names of the design; returns the buffers, with their places."""
        if self.names is None:
            return list(areas_of(array))
        take_names(array.engine, self.names.engine)
        tiles = named_tiles(array.engine, self.names.engine)
        areas = areas_of(self.names)
        return [area._replace(tile=tiles[area.tile]) for area in areas if area.tile in tiles]


class LiveRun:
    """What is known of an array while its host acts.

    Args:
        array: that runs.
        host: that acts.
        options: whether races are looked for, and what happens in each cycle is noted.
        observed: what was found of them.
        cores: kernels that begin when the host enables their cores; None = there are none, or all run.
    """

    def __init__(
        self,
        array: ArrayMachine,
        host: LiveHost,
        options: RunOptions,
        observed: Observed,
        cores: CoreKernels | None,
    ) -> None:
        self.array, self.options, self.cores = array, options, cores
        self._cycles, self._observed = max(host.cycles, LEAST_CYCLES), observed
        self._moves = moves_of(host.names or array)
        if host.names is not None:
            channels = named_channels(array.engine, host.names.engine)
            self._moves = {channels[ch]: moves for ch, moves in self._moves.items() if ch in channels}

    def races(self) -> list[Finding]:
        """Return what nothing orders so far; empty without a check."""
        return self._observed.races

    def result(self) -> Result:
        """Return the result so far: the array runs for as long as before a read first."""
        return self._observed.added_to(self._seen())

    def _seen(self) -> Result:
        engine = self.array.engine
        stop = engine.advance(engine.now + self._cycles)
        found = outcome(engine, stop, {}, (), moves=self._moves)
        return replace(found, status=Status.INTERRUPTED) if found.status is Status.LIMIT else found

    def left(self) -> tuple[Result, str]:
        """Return the result when the host has left, and why the array could not run on; empty = it could."""
        try:
            return self._seen(), ""
        except SimulationError as error:
            return outcome(self.array.engine, None, {}, (), moves=self._moves), str(error)

    def timeline(self, result: Result) -> Timeline:
        """Return what happened in each cycle so far.

        Args:
            result: of :meth:`result`.

        Raises:
            DesignError: the run has no history.
            SimulationError: more happened in a cycle than can be noted.
        """
        recorder = self.array.engine.checks.recorder
        if recorder is None:
            raise DesignError(_NO_HISTORY)
        return Timeline(self.array.engine, recorder.so_far(), result)


_NO_HISTORY = Problem(
    "history",
    "not noted",
    "noted from the start of the server",
    "the server does not note what happens in each cycle",
    "Start the server with --history, --report or --perfetto.",
    reason="history",
    where="memtile serve",
    source="what a report shows of each cycle",
)
