"""The tasks that a design gives its channels, as descriptors: written down, named, and not done.

Whoever configures an array pushes tasks into queues by register writes. Here each is taken out again before
the clock ever ticks, with the descriptors as they stand at that moment; the channel then is idle, as if it
had done its work. So all that a host would start one after another is seen, whatever it waits for between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from memtile.arch.tiles import TILE_KINDS, TileKind
from memtile.bd.codec import decode
from memtile.bd.descriptor import Descriptor
from memtile.check.bd_writes import BdWrites, words_of_bd
from memtile.explain.bd_chains import lock_seen
from memtile.explain.deadlock.tokens import CONTROLLER
from memtile.explain.names import called
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.dma.channel_registers import (
    QUEUE_REPEAT_LSB,
    QUEUE_REPEAT_MASK,
    QUEUE_START_BD_MASK,
    QUEUE_TOKEN_LSB,
)
from memtile.model.dma.task_queue import NO_BD
from memtile.model.state.causes import Phase
from memtile.sim.loop.engine import Engine

_KEPT = 4096  # descriptors
_IDLE = int(Phase.IDLE)


@dataclass(frozen=True, slots=True)
class LockStep:
    """What a BD does to a lock.

    Attributes:
        lock: index among all locks of the model.
        value: of an acquire the operand (below 0: at least ``-value``), of a release the change.
    """

    lock: int
    value: int


@dataclass(frozen=True, slots=True)
class StaticBd:
    """A BD of a task.

    Attributes:
        number: of the BD.
        descriptor: what it says.
        acquire: before it; None = nothing.
        release: after it; None = nothing.
        words: of its registers.
    """

    number: int
    descriptor: Descriptor
    acquire: LockStep | None
    release: LockStep | None
    words: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class GivenTask:
    """A task that a channel is given.

    Attributes:
        ch: model index of the channel.
        bds: of its chain, in order, each once.
        endless: the chain is a ring.
        again: of a ring, which of the BDs comes after the last one.
        runs: how often the chain is run.
        token: it reports its end.
        epoch: how often the host had waited before it pushed the task.
        place: where the push or its first BD is said, ``design.mlir:12``; empty if nobody knows.
    """

    ch: int
    bds: Sequence[StaticBd]
    endless: bool
    runs: int
    token: bool
    epoch: int
    place: str = ""
    again: int = 0

    @property
    def words(self) -> int | None:
        """Stream words of the whole task; None of an endless one."""
        return None if self.endless else self.runs * sum(bd.descriptor.length for bd in self.bds)


@dataclass(frozen=True, slots=True)
class TokenWait:
    """A wait of a host for a token.

    Attributes:
        ch: model index of the channel that is to send it.
        wanted: how many tokens of the channel the host has taken then, this one among them.
        sent: how many of its tasks before ask for a token.
        place: where the wait is said.
        given: how many tasks of all channels were pushed before.
    """

    ch: int
    wanted: int
    sent: int
    place: str
    given: int


class HostStep(NamedTuple):
    """What a host does: one of a push, a wait, and a change of locks.

    Attributes:
        task: number among the tasks; -1 = it pushes none.
        ch: model index of the channel that it waits for; -1 = none that is known.
        many: how many of its tasks, or its tokens, it waits for.
        token: it waits for tokens.
        locks: that it gives values.
        place: where it is said.
        waits_for_room: a push waits until the queue has room; else a full queue drops it.
        room: it waits until the queue of the channel has room.
    """

    task: int = -1
    ch: int = -1
    many: int = 0
    token: bool = False
    locks: frozenset[int] = frozenset()
    place: str = ""
    waits_for_room: bool = False
    room: bool = False

    @property
    def pushes(self) -> bool:
        """Whether it is a push."""
        return self.task >= 0

    @property
    def waits(self) -> bool:
        """Whether it is a wait, for whatever."""
        return not self.pushes and not self.locks


@dataclass(slots=True)
class TaskLog:
    """Takes tasks out of the queues of an engine whose clock does not run.

    Args:
        engine: the model; its queues are emptied as their tasks are taken.

    Attributes:
        tasks: in the order in which they were pushed, of each channel.
        locks: the largest value that software gave each lock.
        dropped: channels whose queues had no room, and how many tasks that cost.
        waits: of the host for tokens, in order.
        reset: channels that software has reset, whose work may have ended in its middle.
        renamed: channels that got another controller id after a task with a token, which has either of them.
        epoch: how often the host has waited so far.
        steps: of each host in order; before there is one, those of the design itself are under -1.
        host: whose steps are taken now.
        began: the locks as they were at first.
        loads: the host does what is not followed: another device, cores or streams at work, words of a run.
        rooms: hosts push when a queue has room.
        bds: what hosts write to the descriptors of tasks.
    """

    engine: Engine
    tasks: list[GivenTask] = field(default_factory=list)
    locks: np.ndarray[tuple[int], np.dtype[np.int64]] = field(init=False)
    dropped: dict[int, int] = field(default_factory=dict)
    reset: set[int] = field(default_factory=set)
    renamed: set[int] = field(default_factory=set)
    waits: list[TokenWait] = field(default_factory=list)
    epoch: int = 0
    steps: dict[int, list[HostStep]] = field(default_factory=dict)
    host: int = -1
    began: np.ndarray[tuple[int], np.dtype[np.int64]] = field(init=False)
    loads: bool = False
    rooms: bool = False
    bds: BdWrites = field(init=False)
    _seen: np.ndarray[tuple[int], np.dtype[np.int64]] = field(init=False)
    _values: np.ndarray[tuple[int], np.dtype[np.int64]] = field(init=False)  # of the locks now
    _control: bytes = b""  # of the channels, as it was when it was looked at last
    _reset_masks: np.ndarray[tuple[int], np.dtype[np.int64]] = field(init=False)  # by channel; 0 = no reset
    _ids: np.ndarray[tuple[int], np.dtype[np.int64]] = field(init=False)  # of controllers, by channel
    _by_channel: dict[int, list[GivenTask]] = field(default_factory=dict)
    _tokens: Counter[int] = field(default_factory=Counter)  # that the host has waited for, by channel
    _sent: Counter[int] = field(default_factory=Counter)  # tasks that ask for one, by channel

    def __post_init__(self) -> None:
        self.engine.host.stopped = True  # its accesses take no time, in which the array would work
        kinds, tiles = plain(self.engine.spec.kinds), self.engine.tiles
        self._reset_masks = kinds.reset_mask[tiles.kind[self.engine.channels.tile]]
        self._values = plain(self.engine.state.locks).value
        self._ids = self.engine.channels.control & CONTROLLER.mask
        self.locks = np.array(self._values, dtype=np.int64)
        self.began, self._seen = self.locks.copy(), self.locks.copy()
        self.bds = BdWrites(self.engine)

    def note(self, step: HostStep) -> None:
        """The host does a step."""
        self.bds.settle(self.host, len(self.steps.get(self.host, ())))
        self.steps.setdefault(self.host, []).append(step)

    def take(self, place: str = "") -> int:
        """Take what is in the queues; how many tasks that were."""
        c, values = self.engine.channels, self._values
        if (self._seen != values).any():
            np.maximum(self.locks, values, out=self.locks)
            changed = np.flatnonzero(self._seen != values)
            self._seen[:] = values
            self.note(HostStep(locks=frozenset(changed.tolist()), place=place))
        waiting = ((c.queue_count > 0) | (c.phase != _IDLE)).nonzero()[0].tolist()
        if self._control != (control := c.control.tobytes()):
            self._control = control
            self.reset.update((c.control & self._reset_masks).nonzero()[0].tolist())
            self._look_for_names()
        before = len(self.tasks)
        waits = self.host >= 0 and self.rooms
        for ch in waiting:
            for word in self._words(ch):
                self.note(HostStep(task=len(self.tasks), place=place, waits_for_room=waits))
                self.tasks.append(task := self._task(ch, word, place))
                self._by_channel.setdefault(ch, []).append(task)
                self._sent[ch] += task.token
                tile = int(c.tile[ch])
                self.bds.use({(tile, bd.number): bd.words for bd in task.bds})
            if c.pushes_lost[ch]:
                self.dropped[ch] = self.dropped.get(ch, 0) + int(c.pushes_lost[ch])
            self._empty(ch)
        return len(self.tasks) - before

    def _look_for_names(self) -> None:
        ids = self.engine.channels.control & CONTROLLER.mask
        changed = (ids != self._ids).nonzero()[0].tolist()
        self.renamed.update(ch for ch in changed if self._sent[ch])
        self._ids = ids

    def queued(self) -> Iterator[GivenTask]:
        """The tasks that are in the queues, which stay there."""
        c = self.engine.channels
        for ch in np.flatnonzero((c.queue_count > 0) | (c.phase != Phase.IDLE)).tolist():
            yield from (self._task(ch, word, "") for word in self._words(ch))

    def waited(self, ch: int, place: str) -> None:
        """The host waits for a token of a channel."""
        self._tokens[ch] += 1
        wanted = self._tokens[ch]
        self.waits.append(TokenWait(ch, wanted, self._sent[ch], place, len(self.tasks)))
        self.note(HostStep(ch=ch, many=wanted, token=True, place=place))

    def of(self, ch: int) -> Sequence[GivenTask]:
        """The tasks of a channel."""
        return self._by_channel.get(ch, ())

    def _words(self, ch: int) -> Iterator[int]:
        """Words of the task queue; the first may be on its way to the channel already."""
        c = self.engine.channels
        if c.task_bd[ch] >= 0:
            yield int(
                c.task_bd[ch] | c.runs_left[ch] << QUEUE_REPEAT_LSB | c.task_token[ch] << QUEUE_TOKEN_LSB
            )
        yield from c.queue[ch, : c.queue_count[ch]].tolist()

    def _task(self, ch: int, word: int, place: str) -> GivenTask:
        bds, endless, again = self._chain(ch, word & QUEUE_START_BD_MASK)
        runs = (word >> QUEUE_REPEAT_LSB & QUEUE_REPEAT_MASK) + 1
        token = bool(word >> QUEUE_TOKEN_LSB & 1)
        at = int(self.engine.channels.tile[ch]), bds[0].number
        said = place or self.engine.bd_places.get(at, "")
        return GivenTask(ch, bds, endless, runs, token, self.epoch, said, again)

    def _chain(self, ch: int, first: int) -> tuple[list[StaticBd], bool, int]:
        """BDs of a chain up to one that is not valid, whether it never ends, and where it goes on then."""
        found: dict[int, StaticBd] = {}
        following: int | None = first
        while following is not None and following not in found:
            bd = self._bd(ch, following)
            if not bd.descriptor.valid:
                return [*found.values(), bd], False, 0
            found[following] = bd
            following = bd.descriptor.next
        again = list(found).index(following) if following is not None else 0
        return list(found.values()), following is not None, again

    def _bd(self, ch: int, number: int) -> StaticBd:
        tile = int(self.engine.channels.tile[ch])
        words = words_of_bd(self.engine, tile, number)
        descriptor = _decoded(kind_of(self.engine, tile).name, words, number)
        acquire, release = descriptor.acquire, descriptor.release
        return StaticBd(
            number,
            descriptor,
            self._lock(tile, acquire.id, acquire.value) if acquire.enable else None,
            self._lock(tile, release.id, release.value) if release.value else None,
            words,
        )

    def _lock(self, tile: int, dma_id: int, value: int) -> LockStep | None:
        lock = lock_seen(self.engine, tile, dma_id)
        return None if lock is None else LockStep(lock, value)

    def _empty(self, ch: int) -> None:
        """Have the channel be idle and its tasks counted as done: who polls for that goes on."""
        channels = self.engine.channels
        channels.tasks_done[ch] += channels.queue_count[ch] + (channels.task_bd[ch] >= 0)
        channels.queue_count[ch] = channels.pushes_lost[ch] = 0
        channels.phase[ch], channels.task_bd[ch] = _IDLE, NO_BD


_decoded = lru_cache(maxsize=_KEPT)(decode)  # designs have the same descriptors again and again


def kind_of(engine: Engine, tile: int) -> TileKind:
    """Kind of a tile of the model."""
    return TILE_KINDS[KIND_NAMES[int(engine.tiles.kind[tile])]]


def each_bd(tasks: Sequence[GivenTask]) -> Iterator[tuple[GivenTask, StaticBd]]:
    """Every BD of every task."""
    for task in tasks:
        for bd in task.bds:
            yield task, bd


def bd_text(engine: Engine, task: GivenTask, bd: StaticBd) -> str:
    """``memory(0,1) MM2S 0 'a' (BD 3)``."""
    return f"{called(engine, task.ch)} (BD {bd.number})"
