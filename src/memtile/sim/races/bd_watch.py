"""Descriptors that are written while a task may still use them, in a run that is watched.

A task uses its descriptors from the push until the host knows that it has ended: by a wait for it, or for
something that comes after its last access. So the model's slow host hides nothing. Descriptors are compared
after each step of a host; what is as before at the next push has not changed. A reset leaves nothing in use,
a control packet, which nothing follows, nothing in its tile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from memtile.arch.tiles import TILE_KINDS
from memtile.jit.tables import plain
from memtile.model.dma import bd_fields
from memtile.model.dma.bd_fields import KIND_NAMES, bd_register
from memtile.model.dma.channel_registers import (
    QUEUE_REPEAT_LSB,
    QUEUE_REPEAT_MASK,
    QUEUE_START_BD_MASK,
    QUEUE_TOKEN_LSB,
)
from memtile.model.dma.task_queue import NO_BD
from memtile.model.state.state import State

Bd = tuple[int, int]
"""Model index of a tile, number of a BD."""


class StartedBd(NamedTuple):
    """A descriptor of a task that a host has started.

    Attributes:
        ch: model index of the channel.
        bd: of the task's chain.
        cycle: of the start.
        place: where the start is said; empty if nobody knows.
    """

    ch: int
    bd: int
    cycle: int
    place: str


class PushedTask(NamedTuple):
    """A task that a channel was given.

    Attributes:
        ch: model index of the channel.
        number: of the task among those of the channel, from 1 on.
        bds: of its chain.
        reads_on: the channel comes to a descriptor later, or again.
        token: it reports its end.
        place: where the push is said; empty if nobody knows.
    """

    ch: int
    number: int
    bds: tuple[int, ...]
    reads_on: bool
    token: bool
    place: str


@dataclass(frozen=True, slots=True)
class BdRace:
    """A write to a descriptor that a task may still use.

    Attributes:
        bd: the tile and the number.
        task: that may use it.
        place: where the write is said; empty if nobody knows.
        harmless: what the channel has read already goes to another channel.
    """

    bd: Bd
    task: PushedTask
    place: str
    harmless: bool


class _Change(NamedTuple):
    words: tuple[int, ...]  # before
    task: PushedTask
    place: str


class BdWatch:
    """Watches descriptors from now on.

    Args:
        state: gives the state of the model.
        flush: goes through what was noted, in which there may be control packets.
        ended: whether the host knows that a channel is over with a BD, by what it knows of others.

    Attributes:
        found: in the order in which they were found.
        started: descriptors of the tasks that hosts have started since, in order.
    """

    def __init__(
        self, state: Callable[[], State], flush: Callable[[], None], ended: Callable[[int, int], bool]
    ) -> None:
        self._state, self._flush, self._ended = state, flush, ended
        self.found: list[BdRace] = []
        self.started: list[StartedBd] = []
        channels = plain(state().channels)
        self._pushes = channels.tasks_done.copy()  # of each channel, as far as they are known
        self._seen = channels.tasks_done.copy()  # ended tasks of each channel that the host knows of
        self._open: dict[int, list[PushedTask]] = {}
        self._words: dict[Bd, tuple[int, ...]] = {}
        self._changed: dict[Bd, _Change] = {}
        self.look("")
        self.started.clear()

    def saw(self, ch: int) -> None:
        """The host knows that a channel has ended what it has ended."""
        self._seen[ch] = self._state().channels.tasks_done[ch]

    def saw_all(self) -> None:
        """The host knows how far every channel is: nothing moves, and it looks."""
        self._seen[:] = self._state().channels.tasks_done

    def forget(self) -> None:
        """No task of before is known to be in use."""
        self._open.clear()
        self._words.clear()
        self._changed.clear()

    def forget_tile(self, tile: int) -> None:
        """No task of a tile is known to be in use: a control packet has done something there."""
        tiles = self._state().channels.tile
        self._open = {ch: own for ch, own in self._open.items() if tiles[ch] != tile}
        self._words = {bd: words for bd, words in self._words.items() if bd[0] != tile}
        self._changed = {bd: change for bd, change in self._changed.items() if bd[0] != tile}

    def look(self, place: str) -> None:
        """A host has done a step, which is said at a place."""
        self._drop_reset()
        if any(self._registers(bd) != words for bd, words in self._words.items()):
            self._flush()
        self._look_at_words(place)
        for task in self._new_tasks(place):
            self._settle(task)
            self._open.setdefault(task.ch, []).append(task)
            cycle = int(self._state().clock.now[0])
            self.started.extend(StartedBd(task.ch, bd, cycle, task.place) for bd in task.bds)
            tile = int(self._state().channels.tile[task.ch])
            self._words.update(((tile, bd), self._registers((tile, bd))) for bd in task.bds)

    def end(self) -> None:
        """Watch no longer."""
        self.look("")
        self._settle(None)

    def _drop_reset(self) -> None:
        """Forget the tasks of channels that are held in reset."""
        st = self._state()
        c, spec = plain(st.channels), st.spec
        masks = plain(spec.kinds).reset_mask[plain(spec.tiles).kind[c.tile]]
        for ch in np.flatnonzero(c.control & masks).tolist():
            self._open.pop(ch, None)

    def _look_at_words(self, place: str) -> None:
        for bd, before in list(self._words.items()):
            now = self._registers(bd)
            if now == before or bd in self._changed:
                continue
            user = next(self._users(bd), None)
            if user is None:
                self._words[bd] = now
            else:
                self._changed[bd] = _Change(before, user, place)

    def _settle(self, pushed: PushedTask | None) -> None:
        """Find what has changed for good, before a task is pushed."""
        for bd, change in self._changed.items():
            if (now := self._registers(bd)) == change.words:
                continue
            same = pushed is None or pushed.ch == change.task.ch or bd[1] not in pushed.bds
            self.found.append(BdRace(bd, change.task, change.place, not (change.task.reads_on or same)))
            self._words[bd] = now
        self._changed.clear()

    def _users(self, bd: Bd) -> Iterator[PushedTask]:
        """The tasks that may still use a descriptor, those first that read it later."""
        tile = self._state().channels.tile
        found = [
            task
            for ch, own in self._open.items()
            if tile[ch] == bd[0]
            for task in own
            if bd[1] in task.bds and not self._known(task, bd[1])
        ]
        yield from sorted(found, key=lambda task: not task.reads_on)

    def _known(self, task: PushedTask, bd: int) -> bool:
        """Whether the host knows that a task has ended."""
        if self._state().channels.tasks_done[task.ch] < task.number:
            return False
        return bool(self._seen[task.ch] >= task.number) or self._ended(task.ch, bd)

    def _new_tasks(self, place: str) -> Iterator[PushedTask]:
        c = plain(self._state().channels)
        pushes = c.tasks_done + (c.task_bd != NO_BD) + c.queue_count
        for ch in np.flatnonzero(pushes != self._pushes).tolist():
            new = int(pushes[ch] - self._pushes[ch])
            self._pushes[ch] = pushes[ch]
            own = self._open.setdefault(ch, []) if new > 0 else []
            own[:] = [task for task in own if not self._known(task, task.bds[-1])]
            words = self._queued(ch)[-new:] if new > 0 else []
            for n, word in enumerate(words):
                number = int(pushes[ch]) - len(words) + n + 1
                yield self._task(ch, word, number, place, waits=bool(own))

    def _queued(self, ch: int) -> list[int]:
        """Words of the task queue; the first may be on its way already."""
        c = plain(self._state().channels)
        words = c.queue[ch, : c.queue_count[ch]].tolist()
        if c.task_bd[ch] == NO_BD:
            return [int(word) for word in words]
        running = c.task_bd[ch] | c.runs_left[ch] << QUEUE_REPEAT_LSB | c.task_token[ch] << QUEUE_TOKEN_LSB
        return [int(running), *(int(word) for word in words)]

    def _task(self, ch: int, word: int, number: int, place: str, *, waits: bool) -> PushedTask:
        state = self._state()
        tile, chain = int(state.channels.tile[ch]), dict[int, None]()
        bd = word & QUEUE_START_BD_MASK
        while bd >= 0 and bd not in chain:
            chain[bd] = None
            linked = bd_fields.read_field(state, tile, bd, bd_fields.USE_NEXT_BD)
            bd = int(bd_fields.read_field(state, tile, bd, bd_fields.NEXT_BD)) if linked else -1
        again = bd >= 0 or word >> QUEUE_REPEAT_LSB & QUEUE_REPEAT_MASK or len(chain) > 1
        token = bool(word >> QUEUE_TOKEN_LSB & 1)
        return PushedTask(ch, number, tuple(chain), bool(again) or waits, token, place)

    def _registers(self, bd: Bd) -> tuple[int, ...]:
        """The words of a descriptor, without the counter that the channel itself moves on."""
        state = self._state()
        spec = plain(state.spec.tiles)
        kind = int(spec.kind[bd[0]])
        first = int(bd_register(state.spec, *bd))
        words = state.registers[first : first + TILE_KINDS[KIND_NAMES[kind]].bd_words].tolist()
        parts = plain(state.spec).bd_parts[kind, bd_fields.ITERATION_CURRENT]
        for part in parts.tolist():
            words[part[bd_fields.WORD]] &= ~((1 << part[bd_fields.BITS]) - 1 << part[bd_fields.LSB])
        return tuple(words)
