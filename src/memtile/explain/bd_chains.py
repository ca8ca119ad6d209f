"""Chains of BDs as the descriptors link them: of a channel's running task, and of those in its queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from memtile.arch.tiles import TILE_KINDS, TileKind
from memtile.bd.windows import place_of_lock
from memtile.jit.tables import cells, plain
from memtile.model.dma import bd_fields
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.dma.channel_registers import QUEUE_START_BD_MASK
from memtile.model.state.state import State
from memtile.sim.loop.engine import Engine

_WINDOWS = ("west", "own", "east")  # columns of ``Tiles.neighbour``


class ComingRelease(NamedTuple):
    """A BD that a channel has still to end and that releases a lock then.

    Attributes:
        ch: model index of the channel.
        bd: number of the BD.
        queued: whether its task waits in the queue.
    """

    ch: int
    bd: int
    queued: bool


class BdChains:
    """The chains of an engine that stands still; what was read of a BD once is kept.

    Args:
        engine: the model.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._fields: dict[tuple[int, int, int], int] = {}
        self._chains: dict[tuple[int, int], tuple[int, ...]] = {}

    @cached_property
    def _state(self) -> State:
        """The state with what fields are read from for single numbers, as the interpreter reads it."""
        spec, state = self._engine.spec, self._engine.state
        found: dict[str, Any] = {name: cells(getattr(spec, name)) for name in ("tiles", "kinds")}
        found |= {name: memoryview(getattr(spec, name)) for name in ("bd_parts", "bd_encoding")}
        registers: Any = memoryview(state.registers)  # type: ignore[arg-type]
        return state._replace(spec=spec._replace(**found), registers=registers)

    @cached_property
    def _tile(self) -> list[int]:
        tiles: list[int] = self._engine.channels.tile.tolist()
        return tiles

    def of(self, ch: int) -> tuple[int, ...]:
        """BD numbers of the running task's chain, each once; where it loops, up to the loop."""
        return self._from(ch, int(self._engine.channels.task_bd[ch]))

    def chain(self, ch: int, bd: int) -> tuple[int, ...]:
        """BD numbers of the chain that a task of a channel would run from ``bd`` on, each once."""
        return self._from(ch, bd)

    def loops_from(self, ch: int, bd: int) -> bool:
        """Whether the chain from ``bd`` on never ends."""
        return self._next(ch, self._from(ch, bd)[-1]) >= 0

    def kind(self, ch: int) -> TileKind:
        """Kind of a channel's tile."""
        return TILE_KINDS[KIND_NAMES[self._state.spec.tiles.kind[self._tile[ch]]]]

    def length(self, ch: int, bd: int) -> int:
        """Words that a BD moves to or from memory."""
        return self._field(ch, bd, bd_fields.BUFFER_LENGTH)

    def given(self, ch: int) -> Iterator[tuple[int, ...]]:
        """The chains of the tasks that a channel has: of the running one and of those in its queue."""
        if running := self.of(ch):
            yield running
        queued = self._engine.channels.queue[ch, : self._engine.channels.queue_count[ch]].tolist()
        yield from (self._from(ch, word & QUEUE_START_BD_MASK) for word in queued if word >= 0)

    def loops(self, ch: int) -> bool:
        """Whether the running task's chain loops back on itself and so never ends."""
        running = self.of(ch)
        return bool(running) and self._next(ch, running[-1]) >= 0

    @cached_property
    def releases(self) -> Mapping[int, Sequence[ComingRelease]]:
        """The coming releases of each lock, by its index among all locks of the model."""
        found: dict[int, list[ComingRelease]] = {}
        for ch, tile in enumerate(self._tile):
            for bd, queued in self.to_come(ch):
                if self._field(ch, bd, bd_fields.RELEASE_VALUE) > 0:
                    lock = lock_seen(self._engine, tile, self._field(ch, bd, bd_fields.RELEASE_ID))
                    if lock is not None:
                        found.setdefault(lock, []).append(ComingRelease(ch, bd, queued))
        return found

    @cached_property
    def ever_released(self) -> Mapping[int, Sequence[int]]:
        """Channels by the locks that the descriptors of their present tasks release, or of the last one."""
        return self._by_lock(bd_fields.RELEASE_ID, lambda ch, bd: self.released(ch, bd) > 0)

    @cached_property
    def acquirers(self) -> Mapping[int, Sequence[int]]:
        """Channels by the locks that the descriptors of their present tasks acquire, or of the last one."""
        return self._by_lock(bd_fields.ACQUIRE_ID, lambda ch, bd: self.acquired(ch, bd) is not None)

    def released_from(self, ch: int, bd: int) -> Iterator[int]:
        """Locks that the chain from ``bd`` on releases, by their index among all locks of the model."""
        for each in self._from(ch, bd):
            lock = lock_seen(self._engine, self._tile[ch], self._field(ch, each, bd_fields.RELEASE_ID))
            if lock is not None and self.released(ch, each) > 0:
                yield lock

    def released(self, ch: int, bd: int) -> int:
        """The value that a BD adds to its lock; 0 = it releases none."""
        return self._field(ch, bd, bd_fields.RELEASE_VALUE)

    def release(self, ch: int, bd: int) -> tuple[int, int] | None:
        """Lock id as the DMA sees it of a BD's release, and what it adds; None = it releases none."""
        value = self.released(ch, bd)
        return (self._field(ch, bd, bd_fields.RELEASE_ID), value) if value > 0 else None

    def acquired(self, ch: int, bd: int) -> tuple[int, int] | None:
        """Lock id as the DMA sees it and operand of a BD's acquire; None = it has none."""
        if not self._field(ch, bd, bd_fields.ACQUIRE_ENABLE):
            return None
        return self._field(ch, bd, bd_fields.ACQUIRE_ID), self._field(ch, bd, bd_fields.ACQUIRE_VALUE)

    def times_released(self, ch: int, lock: int) -> int | None:
        """How often a channel has released a lock in its first task; None = it has had another one."""
        c, running = self._engine.channels, self.of(ch)
        if not running or c.tasks_done[ch]:
            return None
        gives = [self._seen(ch, self.release(ch, bd)) == lock for bd in running]
        rounds, rest = divmod(int(c.bds_done[ch]), len(running))
        return rounds * sum(gives) + sum(gives[:rest])

    def lock_steps(self) -> list[tuple[int, int | None, int | None]]:
        """Of each BD of the present, or the last, tasks: channel, lock that it takes, lock that it gives."""
        found: dict[tuple[int, int | None, int | None], None] = {}
        for ch, bd in self.present():
            taken, given = self.acquired(ch, bd), self.release(ch, bd)
            locks = (self._seen(ch, each) for each in (taken, given))
            found[ch, next(locks), next(locks)] = None
        return list(found)

    def steps_by_lock(self) -> tuple[dict[int, dict[int, int]], dict[int, dict[int, int]]]:
        """By lock the channels that take it and those that give it, each with its largest operand."""
        takers: dict[int, dict[int, int]] = {}
        givers: dict[int, dict[int, int]] = {}
        for ch, bd in self.present():
            for step, found in ((self.acquired(ch, bd), takers), (self.release(ch, bd), givers)):
                lock = self._seen(ch, step)
                if step is not None and lock is not None:
                    of_lock = found.setdefault(lock, {})
                    of_lock[ch] = max(of_lock.get(ch, step[1]), step[1], key=abs)
        return takers, givers

    def _seen(self, ch: int, step: tuple[int, int] | None) -> int | None:
        return None if step is None else lock_seen(self._engine, self._tile[ch], step[0])

    def present(self) -> Iterator[tuple[int, int]]:
        """Channels and the BDs of their present tasks, or their last one."""
        c = self._engine.channels
        last, done = c.bd.tolist(), c.bds_done.tolist()
        for ch in range(len(self._tile)):
            running = self.of(ch) or (self._up_to(ch, last[ch]) if done[ch] else ())
            queued = (bd for bd, waits in self.to_come(ch) if waits)
            yield from ((ch, bd) for bd in dict.fromkeys((*running, *queued)))

    def _by_lock(self, field: int, counts: Callable[[int, int], bool]) -> dict[int, list[int]]:
        """Channels by the locks that a field of their BDs names, of the BDs that count."""
        found: dict[int, list[int]] = {}
        c = self._engine.channels
        last, done = c.bd.tolist(), c.bds_done.tolist()
        for ch, tile in enumerate(self._tile):
            running = self.of(ch) or ((last[ch],) if done[ch] else ())
            queued = (bd for bd, waits in self.to_come(ch) if waits)
            for bd in dict.fromkeys((*running, *queued)):
                lock = lock_seen(self._engine, tile, self._field(ch, bd, field)) if counts(ch, bd) else None
                if lock is not None and ch not in found.setdefault(lock, []):
                    found[lock].append(ch)
        return found

    def to_come(self, ch: int) -> Iterator[tuple[int, bool]]:
        """BDs that a channel has still to end, in order, and whether their task is queued."""
        c = self._engine.channels
        running = self.of(ch)
        if running and not c.runs_left[ch]:
            left = self._from(ch, int(c.bd[ch]))
            running = tuple(bd for bd in running if bd in left)
        yield from ((bd, False) for bd in running)
        for word in c.queue[ch, : c.queue_count[ch]].tolist():
            if word < 0:  # not known: no register shows it
                continue
            queued = self._from(ch, word & QUEUE_START_BD_MASK)
            yield from ((bd, True) for bd in queued if bd not in running)

    def _up_to(self, ch: int, bd: int) -> tuple[int, ...]:
        """The BDs of a task that has ended with ``bd``, in order, as far as registers and counts agree."""
        c, found = self._engine.channels, [bd]
        kind = TILE_KINDS[KIND_NAMES[int(plain(self._engine.spec.tiles).kind[self._tile[ch]])]]
        bank = kind.bd_bank(int(c.number[ch]))
        while len(before := [n for n in bank if self._next(ch, n) == found[0] and self.is_valid(ch, n)]) == 1:
            if before[0] in found:
                break
            found.insert(0, before[0])
        done, tasks = int(c.bds_done[ch]), int(c.tasks_done[ch])
        return tuple(found) if tasks and done % (tasks * len(found)) == 0 else (bd,)  # each as often

    def pointing_to(self, ch: int, bd: int) -> list[int]:
        """The valid BDs, among those that a channel has, after which a BD comes."""
        bank = self.kind(ch).bd_bank(int(self._engine.channels.number[ch]))
        return [each for each in bank if self._next(ch, each) == bd and self.is_valid(ch, each)]

    def is_valid(self, ch: int, bd: int) -> bool:
        """Whether a BD of a channel's tile has its Valid_BD."""
        return bool(self._field(ch, bd, bd_fields.VALID_BD))

    def _next(self, ch: int, bd: int) -> int:
        """The BD after ``bd`` in its chain; -1 = none."""
        linked = self._field(ch, bd, bd_fields.USE_NEXT_BD)
        return self._field(ch, bd, bd_fields.NEXT_BD) if linked else -1

    def address(self, ch: int, bd: int) -> int:
        """Where a BD's buffer begins, as its tile has addresses: words in a memory tile."""
        return self._field(ch, bd, bd_fields.BASE_ADDRESS)

    def _field(self, ch: int, bd: int, field: int) -> int:
        """A field of a BD of the channel's tile; ``field`` is one of ``model.dma.bd_fields``."""
        key = self._tile[ch], bd, field
        if key not in self._fields:
            self._fields[key] = int(bd_fields.read_field(self._state, *key))
        return self._fields[key]

    def _from(self, ch: int, bd: int) -> tuple[int, ...]:
        """BD numbers of the chain from ``bd`` on, as in :meth:`of`."""
        key = self._tile[ch], bd
        if key not in self._chains:
            seen: dict[int, None] = {}
            while bd >= 0 and bd not in seen:
                seen[bd] = None
                bd = self._next(ch, bd)
            self._chains[key] = tuple(seen)
        return self._chains[key]


def lock_seen(engine: Engine, tile: int, dma_id: int) -> int | None:
    """Index among all locks of the model of what a tile's DMA calls ``dma_id``; None where nothing is."""
    tiles = plain(engine.spec.tiles)
    seen = place_of_lock(TILE_KINDS[KIND_NAMES[tiles.kind[tile]]], dma_id)
    if seen is None:
        return None
    there = int(tiles.neighbour[tile, _WINDOWS.index(seen.window)])
    return None if there < 0 else int(tiles.lock_base[there]) + seen.local
