"""A served array as a run: what is wrong with it so far, its result, and its history.

A server sees accesses alone, and not what its clients are still to do. So nothing is said to be wrong that a
client could put right by going on: a channel without a task is none that waits, and a run whose array still
moves is one that was interrupted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from memtile.design.array import Array
from memtile.errors import DesignError, Problem
from memtile.explain.findings import Finding
from memtile.explain.outcome import outcome
from memtile.explain.race_findings import NamedArea, race_findings
from memtile.explain.results import Result, Status
from memtile.explain.take_names import named_channels, named_tiles, take_names
from memtile.explain.timeline import Timeline
from memtile.runs.observing import areas_of, moves_of, observing
from memtile.runs.options import USUAL, RunOptions

LEAST_CYCLES = 64
"""Cycles in which it is seen whether anything can move, where reads take fewer."""


class ServedRun:
    """What is known of an array from the moment on in which it is served.

    Args:
        array: that is served.
        cycles: that pass before it is looked at, as before a read of a client.
        options: whether races are looked for, and what happens in each cycle is noted.
        design: an array whose names are told: those of its locks, channels and buffers; None = there is none.
    """

    def __init__(
        self,
        array: Array,
        cycles: int,
        options: RunOptions = USUAL,
        *,
        design: Array | None = None,
    ) -> None:
        self.array, self.options = array, options
        self._cycles = max(cycles, LEAST_CYCLES)
        self._moves: Mapping[int, tuple[str, ...]] = {}
        self._areas: list[NamedArea] = []
        if design is not None:
            take_names(array.engine, design.engine)
            channels = named_channels(array.engine, design.engine)
            self._moves = {channels[ch]: moves for ch, moves in moves_of(design).items() if ch in channels}
            tiles = named_tiles(array.engine, design.engine)
            self._areas = [
                area._replace(tile=tiles[area.tile]) for area in areas_of(design) if area.tile in tiles
            ]

    @contextmanager
    def open(self) -> Iterator[ServedRun]:
        """Context in which the array is watched.

        Raises:
            SimulationError: more happens in a cycle than can be noted.
        """
        with observing(self.array, self.options):
            yield self

    def races(self) -> list[Finding]:
        """What nothing orders, so far; none if nobody looks for it."""
        watch = self.array.engine.checks.watch
        if watch is None:
            return []
        return race_findings(self.array.engine, watch.so_far(), watch, self._areas)

    def result(self) -> Result:
        """The result so far: the array goes on for as long as before a read, then it is looked at."""
        engine = self.array.engine
        stop = engine.advance(engine.now + self._cycles)
        found = outcome(engine, stop, {}, (), moves=self._moves)
        if found.status is Status.LIMIT:
            found = replace(found, status=Status.INTERRUPTED)
        return replace(found, findings=(*found.findings, *self.races()))

    def timeline(self, result: Result) -> Timeline:
        """What happened in each cycle so far.

        Args:
            result: of :meth:`result`.

        Raises:
            DesignError: nobody notes it.
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
