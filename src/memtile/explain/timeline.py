"""The history of a run with names: a track for every channel, core, lock and port that did something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memtile.explain.lock_waits import owner
from memtile.explain.names import channel_name, core_name, port_name
from memtile.explain.results import Result
from memtile.jit.tables import plain
from memtile.model.checking.history_log import (
    AGENT_LSB,
    BD_LSB,
    BD_MASK,
    LEVEL_BIAS,
    LEVEL_LSB,
    LEVEL_MASK,
    LOCK_LSB,
    LockAct,
    PortDoes,
    Thing,
)
from memtile.model.checking.notes import FIRST_CHANNEL, HOST
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.causes import Cause, CoreCause
from memtile.model.state.columns import Ints
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.run_history import Changes, History

_VALUES: Mapping[Thing, type[Cause] | type[CoreCause] | type[PortDoes]] = {
    Thing.CHANNEL: Cause,
    Thing.CORE: CoreCause,
    Thing.PORT: PortDoes,
}
_RESTS = {kind: {int(value) for value in values if value.is_idle} for kind, values in _VALUES.items()}
_CAUSE = (1 << BD_LSB) - 1


@dataclass(frozen=True, slots=True)
class Track:
    """What one channel, core, port or lock did.

    Attributes:
        kind: what it is.
        index: of it in the model.
        name: its place.
        label: what the design calls it; empty if it has no name.
        tile: model index of its tile.
        changes: what it did.
    """

    kind: Thing
    index: int
    name: str
    label: str
    tile: int
    changes: Changes

    @property
    def rows(self) -> Ints:
        """int64[changes, 2]: cycle, and the value of ``model.checking.history_log`` from then on."""
        return self.changes.rows

    @property
    def values(self) -> Ints:
        """The values that it had, each at least once."""
        return self.changes.noted[:, 1]

    @property
    def called(self) -> str:
        """The name, and what the design calls it: ``memory(0,1) MM2S 3 'a[2]'``."""
        return f"{self.name} {self.label!r}" if self.label else self.name


class Timeline:
    """The history of a run of an engine, with its names.

    Args:
        engine: the model, as it is after the run.
        history: of the run.
        result: of the run.

    Attributes:
        history: the same.
    """

    def __init__(self, engine: Engine, history: History, result: Result) -> None:
        self._engine, self.history = engine, history
        self._labels = {use.name: use.label for use in result.channels}
        self._channels = len(engine.channels.tile)

    @cached_property
    def tracks(self) -> tuple[Track, ...]:
        """All that did something, by tile; in a tile channels, the core, locks, ports."""
        found = [track for kind in Thing for track in self._of(kind)]
        tiles = plain(self._engine.spec.tiles)
        order = {Thing.CHANNEL: 0, Thing.CORE: 1, Thing.LOCK: 2, Thing.PORT: 3}
        column, row = tiles.column.tolist(), tiles.row.tolist()
        return tuple(
            sorted(found, key=lambda t: (column[t.tile], row[t.tile], order[t.kind], t.index)),
        )

    @cached_property
    def waited_for(self) -> frozenset[int]:
        """Locks that a channel or core waited for, by their index in the model."""
        found: set[int] = set()
        for kind in (Thing.CHANNEL, Thing.CORE):
            for changes in self.history.of(kind).values():
                found |= {lock - 1 for lock in np.unique(changes.noted[:, 1] >> LOCK_LSB).tolist() if lock}
        return frozenset(found)

    def lock_name(self, lock: int) -> str:
        """``lock 3 of memory(0,1)`` by its index in the model."""
        tile, local = owner(self._engine, lock)
        return f"lock {local} of {self.tile_name(tile)}"

    def tile_name(self, tile: int) -> str:
        """``memory(0,1)`` by its index in the model."""
        tiles = plain(self._engine.spec.tiles)
        return f"{KIND_NAMES[tiles.kind[tile]]}({tiles.column[tile]},{tiles.row[tile]})"

    def agent_name(self, agent: int) -> str:
        """Name of the agent that changed a lock, by its number in a history."""
        if agent == HOST:
            return "the host"
        if agent < FIRST_CHANNEL + self._channels:
            name = channel_name(self._engine, agent - FIRST_CHANNEL)
            label = self._labels.get(name) or self._engine.channel_names.get(agent - FIRST_CHANNEL, "")
            return f"{name} {label!r}" if label else name
        return core_name(self._engine, agent - FIRST_CHANNEL - self._channels)

    def says(self, track: Track, value: int) -> str:
        """A value of a track in words."""
        if track.kind is Thing.PORT:
            return PortDoes(value).text
        if track.kind is Thing.LOCK:
            act = LockAct(value & _CAUSE)
            who = "" if act is LockAct.RESET else f" {self.agent_name(value >> AGENT_LSB)}"
            return f"{level(value)}, {act.text}{who}"
        cause = _VALUES[track.kind](value & _CAUSE)
        text = cause.text
        if isinstance(cause, Cause) and cause.has_bd:
            text += f", BD {value >> BD_LSB & BD_MASK}"
        lock = value >> LOCK_LSB
        return f"{text}, {self._lock_called(lock - 1)}" if lock else text

    def runs(self, track: Track) -> Iterator[tuple[int, int, int]]:
        """First cycle, the cycle after the last one, and value of all that a track did."""
        cycles, values = track.rows.T.tolist()
        for begin, end, value in zip(cycles, [*cycles[1:], self.history.ended], values, strict=True):
            if end > begin or track.kind is Thing.LOCK:
                yield begin, end, value

    def rests(self, track: Track, value: int) -> bool:
        """Whether a channel, core or port has nothing to do then."""
        return value & _CAUSE in _RESTS.get(track.kind, ())

    def _lock_called(self, lock: int) -> str:
        name = self._engine.lock_names.get(lock)
        return f"{self.lock_name(lock)} {name!r}" if name else self.lock_name(lock)

    def _of(self, kind: Thing) -> Iterator[Track]:
        for index, changes in self.history.of(kind).items():
            if kind is Thing.LOCK:
                if len(changes.noted) > 1 or index in self.waited_for:
                    yield self._lock(index, changes)
            elif not set(np.unique(changes.noted[:, 1] & _CAUSE).tolist()) <= _RESTS[kind]:
                yield self._named(kind, index, changes)

    def _lock(self, lock: int, changes: Changes) -> Track:
        names: Mapping[int, str] = self._engine.lock_names
        tile, _ = owner(self._engine, lock)
        return Track(Thing.LOCK, lock, self.lock_name(lock), names.get(lock, ""), tile, changes)

    def _named(self, kind: Thing, index: int, changes: Changes) -> Track:
        engine = self._engine
        if kind is Thing.CHANNEL:
            name = channel_name(engine, index)
            label = self._labels.get(name) or engine.channel_names.get(index, "")
            return Track(kind, index, name, label, int(engine.channels.tile[index]), changes)
        if kind is Thing.CORE:
            running = engine.cores.running.get(index)
            tile = int(plain(engine.state.cores).tile[index])
            return Track(
                kind, index, core_name(engine, index), running.kernel if running else "", tile, changes
            )
        tile = int(plain(engine.state.switch).tile[index])
        return Track(kind, index, port_name(engine, index), "", tile, changes)


def level(value: int) -> int:
    """The value of a lock, from what a history says of it."""
    return (value >> LEVEL_LSB & LEVEL_MASK) - LEVEL_BIAS
