"""What looks over an engine: whether what runs is watched or recorded, and what a host has written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
    """

    def __init__(self, engine: HasState, cores: Cores) -> None:
        self._engine, self._cores = ref(engine), cores
        self.filled = np.zeros(len(self._state().memory), np.bool_)
        self.watch: RaceWatch | None = None
        self.recorder: Recorder | None = None
        self._schedule = present()

    def _state(self) -> State:
        """The state of the model as it is, not settled."""
        engine = self._engine()
        assert engine is not None, "the checks of an engine that is gone"
        return engine.present

    @contextmanager
    def on(self) -> Iterator[list[Race]]:
        """Context in which all that runs is checked; a run takes longer.

        The list that it gives has what was found, once the context is left.

        Raises:
            SimulationError: more happens in a cycle than can be noted.
        """
        prepare()
        found: list[Race] = []
        self.watch = watch = RaceWatch(self._state, self.filled)
        self._cores.watched_by(watch)
        try:
            yield found
        finally:
            self.watch = None
            self._cores.watched_by(None)
            found += watch.end()

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
            self.watch.flush()

    def go_on(self) -> None:
        """A run begins; the first one of a model in the schedule that is in force when it is made."""
        if self._schedule:
            draw(self._state(), self._schedule)
            self._schedule = 0
        if self.watch is not None:
            self.watch.go_on()

    def pause(self) -> None:
        """What a host does from now on, until a run goes on, is not part of what is checked."""
        if self.watch is not None:
            self.watch.pause()

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
