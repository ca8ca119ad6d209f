"""What looks over an engine: whether what runs is watched or recorded, and what a host has written."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol
from weakref import ref

import numpy as np

from memtile.arch.tiles import WORD_BYTES
from memtile.model.checking.notes import EXTERNAL, HOST, NoteKind, note
from memtile.model.state.state import State
from memtile.sim.kernels.running_cores import Cores
from memtile.sim.loop.other_schedules import draw, present
from memtile.sim.loop.run_history import History, Recorder
from memtile.sim.races.race_watch import OrderWatch, Race, RaceWatch, prepare

_PACKAGE = str(Path(__file__).parents[2]) + os.sep


def outside_call() -> str:
    """``design.py:12``: the innermost call from outside the package; empty if there is none."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(_PACKAGE):
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    name = frame.f_code.co_filename.removeprefix(f"{os.getcwd()}{os.sep}")
    return f"{name}:{frame.f_lineno}"


class HasState(Protocol):
    """An engine, as its checks see it."""

    @property
    def present(self) -> State:
        """The state, with what rests not booked."""


class Checks:
    """Looks for accesses that nothing orders, while somebody asks for it.

    Args:
        engine: of the model; it has these checks, and is not kept by them.
        cores: the kernels of the model.

    Attributes:
        filled: bool by word of ``State.memory``: what a host has written by a door.
        watch: of the run; None = nobody asked for it.
        recorder: of its history; None = nobody asked for one.
        between_runs: a checked run has met its limit of cycles, and may go on.
    """

    def __init__(self, engine: HasState, cores: Cores) -> None:
        self._engine, self._cores = ref(engine), cores
        self.filled = np.zeros(len(self._state().memory), np.bool_)
        self.watch: RaceWatch | None = None
        self.recorder: Recorder | None = None
        self.between_runs = False
        self._schedule = present()

    @property
    def scheduled(self) -> bool:
        """Whether the first run is to be in another schedule than the usual one."""
        return bool(self._schedule)

    def _state(self) -> State:
        """The state of the model as it is, not settled."""
        engine = self._engine()
        assert engine is not None, "the checks of an engine that is gone"
        return engine.present

    @contextmanager
    def on(self, *, goes_on: bool = False) -> Iterator[list[Race]]:
        """Context in which all that runs is checked; a run takes longer.

        The list that it gives has what was found, once the context is left.

        Args:
            goes_on: a run that meets its limit of cycles is watched on, with what its host does meanwhile,
                by the next such context, or up to :meth:`leave`.

        Raises:
            SimulationError: more happens in a cycle than can be noted.
        """
        prepare()
        found: list[Race] = []
        watch = self.watch if self.between_runs else None
        self.between_runs = False
        if watch is None:
            self.watch = watch = RaceWatch(self._state, self.filled)
            self._cores.watched_by(watch)
        else:
            watch.taken_up()
        try:
            yield found
        finally:
            if goes_on and watch.is_halfway:
                self.between_runs = True
                watch.host_goes_on()
                found += watch.so_far()
            else:
                found += self._ended(watch)

    def _ended(self, watch: RaceWatch) -> list[Race]:
        self.watch, self.between_runs = None, False
        self._cores.watched_by(None)
        return watch.end()

    def leave(self) -> None:
        """Watch no further what a run at its limit has left: the next one is not checked."""
        if self.between_runs and self.watch is not None:
            self._ended(self.watch)

    def before_access(self) -> None:
        """Somebody is about to read or write a register or a word of memory."""
        self._cores.look()
        if self.between_runs and self.watch is not None:
            self.watch.host_acts(outside_call())

    def watch_orders(self) -> OrderWatch:
        """Have all that runs from now on watched for what another order could change."""
        self.watch = watch = OrderWatch(self._state, self.filled)
        return watch

    @contextmanager
    def recorded(self) -> Iterator[list[History]]:
        """Context in which the history of all that runs is noted.

        The list that it gives has the history, once the context is left.

        Raises:
            SimulationError: more happens in a cycle than can be noted.
        """
        found: list[History] = []
        self.recorder = recorder = Recorder(self._state)
        try:
            yield found
        finally:
            self.recorder = None
            found.append(recorder.end())

    def flush(self) -> None:
        """Go through what was noted, so that there is room for more."""
        if self.recorder is not None:
            self.recorder.flush()
        if self.watch is not None:
            self.watch.make_room()

    def go_on(self) -> None:
        """A run begins; the first one of a model in the schedule that is in force when it is made."""
        if self._schedule:
            draw(self._state(), self._schedule)
            self._schedule = 0
        if self.watch is not None:
            self.watch.go_on()

    def pause(self, *, halfway: bool = False) -> None:
        """What a host does from now on, until a run goes on, is not part of what is checked.

        Args:
            halfway: the run has met its limit of cycles: a host does not know how far anything is.
        """
        if self.watch is not None:
            self.watch.pause(halfway=halfway)

    def host_accesses(self, address: int, words: int, *, writes: bool) -> None:
        """A host reads or writes words of external memory, from a byte address on."""
        if self.watch is not None:
            first = EXTERNAL + address // WORD_BYTES
            note(self._state(), NoteKind.WRITE if writes else NoteKind.READ, HOST, 0, first, words)

    def host_did(self, place: str) -> None:
        """A host has done a step, which is said at a place."""
        if self.watch is not None:
            self.watch.bds.look(place)

    def frees_bds(self, ch: int) -> None:
        """The host has seen in the status of a channel which tasks have ended, to use their BDs again."""
        if self.watch is not None:
            self.watch.bds.saw(ch)

    def host_begins(self) -> None:
        """The host comes to its first instruction, long after cores have begun."""
        if self.watch is not None:
            self.watch.host_began = int(self._state().clock.now[0])

    def host_resets(self) -> None:
        """A host resets the array: no task is left."""
        if self.watch is not None:
            self.watch.bds.forget()

    def saw_end(self, ch: int) -> None:
        """The host knows that a channel has ended a task; what it does then comes later."""
        if self.watch is not None:
            self.watch.saw(ch)
