"""The cycles that one more buffer saves: in all object FIFOs and rings of buffers, and in single ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memtile.arch.tiles import MM2S, S2MM
from memtile.explain.bd_chains import BdChains
from memtile.explain.limit import LEAST, Lifted, Resource
from memtile.explain.names import channel_name
from memtile.explain.repairs import SECONDS, spent
from memtile.explain.results import Result
from memtile.explore.fifo_names import buffers_of
from memtile.explore.trial import Again, Trial, Watch
from memtile.model.state.causes import Cause, CoreCause
from memtile.sim.loop.engine import Engine

_NAMED = 4  # buffers in one sentence
_MOST = 8  # buffers that are tried one by one
_HELPS = 0.2  # of the cycles: what one more buffer must save if twice as many are not to be tried
_SEVERAL = 3  # buffers: with fewer, no user can take several at once and leave one
_LITTLE = 0.25  # of what all buffers save: not worth a further one


@dataclass(frozen=True, slots=True)
class _Room:
    """Locks that count the free buffers of one object FIFO, or of one ring of buffers.

    Attributes:
        name: of the object FIFO, or of the buffers.
        more: what one more buffer adds to each.
        buffers: how many there are where there are fewest; of several, where there are most.
        several: whether these are several object FIFOs or rings.
    """

    name: str
    more: Mapping[int, int]
    buffers: int
    several: bool = False

    @property
    def what(self) -> str:
        """What is tried."""
        one = "a second" if self.buffers == 1 else "one more"
        return f"there was {one} buffer for {'each of ' * self.several}{self.name}"


class _LateError(Exception):
    """There is no time for a further run."""


def more_buffers(
    result: Result, again: Again, engine: Engine, began: Mapping[int, int], watch: Watch
) -> Iterator[Lifted]:
    """Yield the run with one more buffer in all object FIFOs and rings, then for some seconds in single ones.

    Args:
        result: of the run itself.
        again: does it anew.
        engine: the model, as a run without changes has left it.
        began: first value of each lock, by its index among all locks.
        watch: goes through the object FIFOs, for progress.
    """
    labels = {use.name: use.label for use in result.channels}
    rooms = sorted(_rooms(engine, began, labels), key=lambda room: (room.buffers, -_waited(result, room)))
    if not rooms or not _waits_for_locks(result):
        return
    names = [room.name for room in rooms]
    every = _together(rooms, _listed(names) if len(names) <= _NAMED else "all object FIFOs and rings")
    together = _trial(every).done(result, again)
    single: list[Lifted] = []
    try:
        for each in _single(result, _until(again, spent() + SECONDS), rooms, began, together, watch):
            single.append(each)  # what was tried in time stays
    except _LateError:
        together = replace(together, what=f"{together.what}; not all were tried alone")
    yield together
    yield from single


def _until(again: Again, end: float) -> Again:
    """A run that is only begun while there is time."""

    def run() -> Result:
        if spent() > end:
            raise _LateError
        return again()

    return run


def _single(
    result: Result,
    again: Again,
    rooms: Sequence[_Room],
    began: Mapping[int, int],
    together: Lifted,
    watch: Watch,
) -> Iterator[Lifted]:
    """The run with buffers of some object FIFOs or rings, where those of all help."""
    if together.saves(result.cycles) < _HELPS:
        yield from _doubled(result, again, rooms, began)
    if len(rooms) == 1 or (together.cycles is not None and together.saves(result.cycles) < LEAST):
        return
    by_name = {room.name: room for room in rooms[:_MOST]}
    alone: dict[str, Lifted] = {}
    late: _LateError | None = None
    try:
        for name in watch(list(by_name)):
            alone[name] = _trial(by_name[name]).done(result, again)
    except _LateError as error:
        late = error
    helps = [each for each in alone.values() if each.saves(result.cycles) >= LEAST]
    yield from sorted(helps, key=lambda each: each.saves(result.cycles))
    if late is not None:
        raise late
    pairs: list[Lifted] = []
    for each in _pairs(result, again, by_name, alone, together):
        pairs.append(each)
        yield each
    fewer = max(each.saves(result.cycles) for each in (*alone.values(), *pairs))
    if len(rooms) <= _MOST and fewer <= together.saves(result.cycles) - LEAST:
        yield from _needed(result, again, by_name, alone, together)


def _doubled(
    result: Result, again: Again, rooms: Sequence[_Room], began: Mapping[int, int]
) -> Iterator[Lifted]:
    """Each ring of several buffers with twice as many: what takes several at once may need them."""
    for room in [each for each in rooms if each.buffers >= _SEVERAL][:_NAMED]:
        more = {lock: began[lock] for lock in room.more}
        what = f"there were twice as many buffers for {room.name}, or fewer were taken at once"
        found = Trial(Resource.BUFFERS, room.name, what, locks=more).done(result, again)
        if found.saves(result.cycles) >= LEAST:
            yield found


def _pairs(
    result: Result, again: Again, rooms: Mapping[str, _Room], alone: Mapping[str, Lifted], best: Lifted
) -> Iterator[Lifted]:
    """Those that help together, each next one for as long as it does; nothing if one alone saves all."""
    order = sorted(alone, key=lambda name: -alone[name].saves(result.cycles))
    chosen, saved = order[:1], alone[order[0]].saves(result.cycles)
    for name in order[1:]:
        if best.saves(result.cycles) - saved < max(LEAST, _LITTLE * best.saves(result.cycles)):
            return
        room = _together([rooms[each] for each in (*chosen, name)], _listed([*chosen, name]))
        found = _trial(room).done(result, again)
        if found.saves(result.cycles) - saved >= LEAST:
            chosen, saved = [*chosen, name], found.saves(result.cycles)
            yield found


def _needed(
    result: Result, again: Again, rooms: Mapping[str, _Room], alone: Mapping[str, Lifted], best: Lifted
) -> Iterator[Lifted]:
    """All but those that save nothing beside the others: several may help only together."""
    least, found = best.saves(result.cycles) - LEAST, None
    kept = sorted(rooms, key=lambda name: -alone[name].saves(result.cycles))
    for name in reversed(kept.copy()):
        others = [each for each in kept if each != name]
        fewer = _trial(_together([rooms[each] for each in others], _listed(others))).done(result, again)
        if fewer.saves(result.cycles) > least:
            kept, found = others, fewer
    if found is not None:
        yield found


def _trial(room: _Room) -> Trial:
    return Trial(Resource.BUFFERS, room.name, room.what, locks=room.more)


def _together(rooms: Sequence[_Room], name: str) -> _Room:
    more = {lock: added for room in rooms for lock, added in room.more.items()}
    return _Room(name, more, max(room.buffers for room in rooms), several=len(rooms) > 1)


def _listed(names: Sequence[str]) -> str:
    """``@a, @b and @c``."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _waits_for_locks(result: Result) -> bool:
    channels = any(use.spent.get(Cause.LOCK_ACQUIRE) for use in result.channels)
    return channels or any(core.spent.get(CoreCause.LOCK_STALL) for core in result.cores)


def _waited(result: Result, room: _Room) -> int:
    """Cycles that channels called as the buffers waited for locks."""
    label = room.name.strip("@'")
    named = (use for use in result.channels if label in use.label)
    return sum(use.spent.get(Cause.LOCK_ACQUIRE, 0) for use in named)


def _rooms(engine: Engine, began: Mapping[int, int], labels: Mapping[str, str]) -> Iterator[_Room]:
    """Locks of free buffers, by what they are the buffers of."""
    takers, givers = BdChains(engine).steps_by_lock()
    known = set(labels.values())
    groups: dict[str, dict[int, int]] = {}
    for lock, value in began.items():
        taking, giving = takers.get(lock, {}), givers.get(lock, {})
        added = _added(engine, taking, giving)
        if added and value >= added:
            users = [labels.get(channel_name(engine, ch), "") for ch in (*taking, *giving)]
            groups.setdefault(buffers_of(engine, lock, users, known), {})[lock] = added
    for name, more in groups.items():
        yield _Room(name, more, min(began[lock] // added for lock, added in more.items()))


def _added(engine: Engine, takers: Mapping[int, int], givers: Mapping[int, int]) -> int:
    """What one more buffer adds to a lock; 0 if it does not count free buffers."""
    direction = engine.channels.direction
    free = [ch for ch in takers if direction[ch] == S2MM] + [ch for ch in givers if direction[ch] == MM2S]
    full = [ch for ch in takers if direction[ch] == MM2S] + [ch for ch in givers if direction[ch] == S2MM]
    if full and not free:
        return 0
    if any(value >= 0 for value in takers.values()):
        return 0  # it waits for one value, and counts nothing
    return max((*(-value for value in takers.values()), *givers.values(), 1))
