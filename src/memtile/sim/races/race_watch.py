"""A run that is watched: its notes are gone through now and then, and what was found is told at its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import MM2S
from memtile.errors import Problem, SimulationError
from memtile.jit import decorators as jit
from memtile.jit.structs import place_of
from memtile.jit.tables import plain
from memtile.model.checking import notes
from memtile.model.checking.notes import (
    AGENT_LSB,
    COUNT,
    FIRST_CHANNEL,
    FIRST_SLOT,
    HOST,
    LABEL,
    MISSED,
    ON,
    SITE_LSB,
    NoteKind,
)
from memtile.model.state.columns import Ints
from memtile.model.state.dma import RegionColumns
from memtile.model.state.state import State
from memtile.sim.races import vector_clocks
from memtile.sim.races.bd_watch import BdWatch
from memtile.sim.races.note_reading import COMPILED, Notes, read_notes, read_through
from memtile.sim.races.order_book import PAUSE, OrderBook
from memtile.sim.races.race_book import (
    INITIAL,
    NOBODY,
    SITE,
    SITES,
    SLOT_LSB,
    RaceField,
    RaceKind,
    empty_book,
    grown,
    room,
    with_words,
)
from memtile.sim.races.race_book import SITE_LSB as EPOCH_SITE_LSB

_LOCK_NOTES = (NoteKind.ACQUIRE, NoteKind.RELEASE, NoteKind.SET, NoteKind.LOOK_AT_LOCK)
_OF_HOST = (NoteKind.READ | HOST << AGENT_LSB, NoteKind.WRITE | HOST << AGENT_LSB)  # without a place
_MOST_PLACES = 1 << 10
_LEAST_ROWS = 256
_SITE_BITS = SLOT_LSB - EPOCH_SITE_LSB  # in what is found: the slot above, the site below


@dataclass(frozen=True, slots=True)
class RaceAccess:
    """A use of words: the agent, and the place in the design that asks for it.

    Attributes:
        agent: ``notes.HOST``, a channel from ``notes.FIRST_CHANNEL`` on, or a core after the channels.
        site: number of the BD, line of the kernel, 0 of a host.
        cycle: when; -1 = not known.
    """

    agent: int
    site: int
    cycle: int


@dataclass(frozen=True, slots=True)
class Race:
    """Words that two agents use, and nothing orders it; or that one uses as nobody would on purpose.

    Attributes:
        kind: what is wrong.
        earlier: who came first; None where nobody did.
        later: who came then.
        first: the first of the words, a place in ``State.memory``, or behind it in external memory.
        last: the last of them.
        count: how many were met.
        until: last cycle in which one was.
    """

    kind: RaceKind
    earlier: RaceAccess | None
    later: RaceAccess
    first: int
    last: int
    count: int
    until: int


class RaceWatch:
    """Watches a model from now on.

    Args:
        state: gives the state of the model.
        filled: bool by word of ``State.memory``: what a host has written.

    Attributes:
        began: by lock the value that it had then.
        orders: what the run does that another order could change.
        blind: the host never acts upon what it reads of a state; what it sees orders nothing then, but the
            ends of tasks that it waits for.
        bds: watches descriptors.
        host_began: cycle in which the host came to its first instruction, of a program that was launched.
        is_halfway: the run has met its limit of cycles, so that nothing is over.
        host_places: where the text of a host says what it does between two runs; a site is the place in the
            list, from 1 on.
    """

    def __init__(self, state: Callable[[], State], filled: npt.NDArray[np.bool_]) -> None:
        st = state()
        self._state, self._words = state, len(st.memory)
        self._channels = len(st.channels.phase)
        cores = len(st.cores.tile)
        self._book = empty_book(
            FIRST_CHANNEL + self._channels + cores, len(st.locks.value) + cores, self._words
        )
        self._book.counts[2] = 0 if st.clock.now[0] else self._words  # what ran before may have written any
        self.began: Ints = np.concatenate([st.locks.value, np.zeros(cores, np.int64)])
        self.orders, self.blind = OrderBook(), False
        self._waited: list[int] = []  # rows of the notes that the host has waited for
        self.host_began, self.is_halfway = 0, False
        self.host_places: list[str] = []
        self._acts: list[tuple[int, str]] = []  # row of the next note, and where a host is then
        self.bds = BdWatch(state, self.flush, self._is_over)
        self._slots: list[int] = []  # agents in the order of their slots
        self._locks = 0
        for known in (st.memory, filled):
            if known.any():  # else the host need not give memory to pages that nobody touched
                self._book.written[known.astype(np.bool_)] = INITIAL
        st.noting[:] = 0
        st.labels[:, :FIRST_SLOT] = 0
        st.noting[ON] = 1
        st.guards.inspected[:] += 1
        self._allot([HOST])
        for core in range(cores):
            self.core_starts(core)

    def core_starts(self, core: int) -> None:
        """A kernel begins: after all that the host has done."""
        st = self._state()
        notes.note(st, NoteKind.START, HOST, 0, notes.core_agent(st, core), 0)

    def restarted(self) -> None:
        """A host has reset the whole array before it did anything else: what came before decides nothing."""
        self.flush()
        self.orders = OrderBook()
        self.began[: len(self._state().locks.value)] = self._state().locks.value

    def saw(self, ch: int) -> None:
        """The host knows that a channel has ended a task."""
        self._waited.append(int(self._state().noting[COUNT]))
        self.bds.saw(ch)
        notes.note(self._state(), NoteKind.LOOK, HOST, 0, FIRST_CHANNEL + ch, 0)

    def make_room(self) -> None:
        """Have room for more notes, between two pieces of a run."""
        self.flush()

    def flush(self) -> None:
        """Go through what was noted."""
        st = self._state()
        count = int(st.noting[COUNT])
        if count == 0:
            return
        self._put_places(st.notes[:count])
        noted = releases_first(self._that_order(st.notes[:count]), self._channels)
        self.orders.add(noted)
        self._prepare(noted)
        read_notes(self._book, noted, len(noted), len(self._slots))
        st.noting[COUNT] = 0

    def _that_order(self, noted: Ints) -> Ints:
        """The notes without those of what a blind host reads and does not look at."""
        waited, self._waited = self._waited, []
        kept = noted[:, 0] & LABEL - 1 != NoteKind.LOOK
        if not self.blind or kept.all():
            return noted
        kept[[row for row in waited if row < len(kept)]] = True
        return np.ascontiguousarray(noted[kept])

    def host_knows(self, ch: int, words: int) -> bool:
        """Whether the host could not be where it is before a channel has read so many words.

        It waited for the end of the channel's task, or for what cannot be without it.

        Args:
            ch: model index of a channel that reads external memory.
            words: since the watch began.
        """
        self.flush()
        if self.orders.packets:
            return False  # what came before
        agent = FIRST_CHANNEL + ch
        host, slot = self._book.slots[HOST], self._book.slots[agent]
        known = int(self._book.clocks[host, slot]) if slot != NOBODY else 0
        return known >= self.orders.reads_for(agent, words)

    def host_knows_core(self, core: int) -> bool:
        """Whether all that a core has done comes before what the host does next, in every order.

        Args:
            core: index of the model.
        """
        self.flush()
        book = self._book
        host, slot = book.slots[HOST], book.slots[FIRST_CHANNEL + self._channels + core]
        if slot == NOBODY or self.orders.packets:
            return False
        known = int(book.clocks[host, slot])
        return known >= max(int(book.clocks[slot, slot]) - 1, int(book.used[slot].max()))

    def pause(self, *, halfway: bool = False) -> None:
        """Note nothing before a run goes on: somebody looks at the model from outside.

        Args:
            halfway: the run has met its limit of cycles: a host does not know how far anything is.
        """
        self.flush()
        self.bds.look("")
        if not halfway:
            self.bds.saw_all()
        self._state().noting[ON], self.is_halfway = 0, halfway

    def host_goes_on(self) -> None:
        """Note what a host does while no run lasts: it takes part, as what moves is not over."""
        self._state().noting[ON] = 1

    def host_acts(self, place: str) -> None:
        """A host is about to use a word or a register, which its text says at a place."""
        if int(self._state().noting[COUNT]) >= notes.NOTES // 2:
            self.flush()
        self._acts.append((int(self._state().noting[COUNT]), place))

    def taken_up(self) -> None:
        """A run goes on; a host may have done what it did because of what it has seen."""
        self.bds.look("")
        self.orders.packets.pauses += 1
        self.is_halfway = False

    def _put_places(self, noted: Ints) -> None:
        """Give the accesses of a host between two runs the places where its text says them."""
        acts, self._acts = self._acts, []
        for row, place in acts:
            if row < len(noted) and int(noted[row, 0]) in _OF_HOST and len(self.host_places) < _MOST_PLACES:
                if place not in self.host_places:
                    self.host_places.append(place)
                noted[row, 0] |= (self.host_places.index(place) + 1) << SITE_LSB

    def go_on(self) -> None:
        """Note again what happens; after a pause all of before is over."""
        st = self._state()
        if st.noting[ON] == 0:
            self.bds.look("")
            st.noting[ON] = 1
            notes.note(st, NoteKind.BARRIER, HOST, 0, PAUSE, 0)

    def so_far(self) -> list[Race]:
        """What was found until now, in the order of its cycles; the watch goes on."""
        self.flush()
        rows = self._book.found[self._book.found[:, RaceField.KIND] != 0].tolist()
        found = [self._found(row) for row in rows if self._is_one(row)]
        return sorted(found, key=lambda one: (one.later.cycle, one.first, one.kind))

    def end(self) -> list[Race]:
        """Watch no longer; what was found, in the order of its cycles.

        Raises:
            SimulationError: more happened in a cycle than can be noted.
        """
        self.flush()
        self.bds.end()
        st = self._state()
        missed = int(st.noting[MISSED])
        st.noting[ON] = 0
        st.guards.inspected[:] -= 1
        st.switch.parity[:] &= LABEL - 1
        if missed:
            raise SimulationError(_missed(missed))
        return self.so_far()

    def _prepare(self, noted: Ints) -> None:
        """Give slots and rows to all whom the notes name, and places to external memory."""
        what, agents = noted[:, 0] & ((1 << SITE_LSB) - 1), noted[:, 0] >> AGENT_LSB
        barriers = noted[what == NoteKind.BARRIER]
        if (barriers[:, 1] == PAUSE).any():
            self.bds.forget()
        for tile in np.unique(barriers[barriers[:, 1] != PAUSE, 2]).tolist():
            self.bds.forget_tile(tile)
        self._allot(np.unique(np.concatenate([agents, noted[what == NoteKind.START, 1]])).tolist())
        about_locks = np.isin(what, _LOCK_NOTES)
        locks = np.unique(noted[about_locks, 1])
        new = locks[self._book.locks[locks] == NOBODY]
        slots, rows, free = room(self._book)
        given = int(np.count_nonzero(about_locks))
        if self._locks + len(new) > rows or given > free:
            rows = max(2 * rows, self._locks + len(new))
            kept = len(self._book.kept) + max(given - free, len(self._book.kept), _LEAST_ROWS)
            self._book = grown(self._book, slots, rows, kept)
        for lock in new.tolist():
            self._book.locks[lock] = self._locks
            vector_clocks.put_credit(self._book, self._locks, NOBODY, int(self.began[lock]))
            self._locks += 1
        self._know_external()

    def _allot(self, agents: Sequence[int]) -> None:
        new = [agent for agent in agents if self._book.slots[agent] == NOBODY]
        slots, locks, _ = room(self._book)
        if len(self._slots) + len(new) > slots:
            more = max(2 * slots, len(self._slots) + len(new))
            self._book = grown(self._book, more, locks, len(self._book.kept))
        directions = plain(self._state().channels).direction
        for agent in new:
            slot = self._book.slots[agent] = len(self._slots)
            self._slots.append(agent)
            ch = agent - FIRST_CHANNEL
            sends = 0 <= ch < self._channels and directions[ch] == MM2S
            self._book.streams[slot], self._book.clocks[slot, slot] = sends, not sends
            self._book.giver[slot] = NOBODY

    def _know_external(self) -> None:
        """Places for the buffers of external memory, one after another behind data memory."""
        regions = self._state().regions
        if len(regions) == len(self._book.regions):
            return
        sizes = regions[:, RegionColumns.WORDS]
        ends = self._words + np.cumsum(sizes)
        places = np.stack([regions[:, RegionColumns.FIRST], sizes, ends - sizes], axis=1).astype(np.int64)
        self._book = with_words(self._book, int(ends[-1]), np.ascontiguousarray(places))

    def _is_over(self, ch: int, bd: int) -> bool:
        """Whether all accesses that a channel made by a BD come before whatever the host does now."""
        self.flush()
        slot, host = self._book.slots[FIRST_CHANNEL + ch], self._book.slots[HOST]
        return bool(slot == NOBODY or self._book.clocks[host, slot] >= self._book.used[slot, bd % SITES])

    def place_of_external(self, place: int) -> tuple[int, int]:
        """Buffer of external memory that a place of a finding is in, and the word there."""
        starts = self._book.regions[:, 2]
        region = int(np.flatnonzero(starts <= place)[-1])
        return region, place - int(starts[region])

    def _is_one(self, row: Sequence[int]) -> bool:
        """Whether something is wrong: to read again is, if the writer's newer words went unread."""
        if row[RaceField.KIND] != RaceKind.STALE:
            return True
        writer = row[RaceField.EARLIER] >> _SITE_BITS
        over, lost = self._book.over[writer], self._book.lost[writer]
        return bool(((over > 0) & (over == lost)).any())

    def _found(self, row: Sequence[int]) -> Race:
        kind = RaceKind(row[RaceField.KIND])
        earlier = None
        if kind is not RaceKind.NEVER_WRITTEN:
            earlier = self._access(row[RaceField.EARLIER], row[RaceField.EARLIER_CYCLE])
        later = self._access(row[RaceField.LATER], row[RaceField.CYCLE])
        first, last, count = row[RaceField.FIRST], row[RaceField.LAST], row[RaceField.COUNT]
        return Race(kind, earlier, later, first, last, count, row[RaceField.LAST_CYCLE])

    def _access(self, epoch: int, cycle: int) -> RaceAccess:
        return RaceAccess(self._slots[epoch >> _SITE_BITS], epoch & SITE, cycle)


class OrderWatch(RaceWatch):
    """Watches a model for what another order could change, and looks for no races."""

    def make_room(self) -> None:
        """Take in what was noted, where it is much: a run may be cut into many short pieces."""
        if int(self._state().noting[COUNT]) >= notes.NOTES // 4:
            self.flush()

    def flush(self) -> None:
        """Take in what was noted."""
        st = self._state()
        count = int(st.noting[COUNT])
        self.orders.add(st.notes[:count])
        st.noting[COUNT] = 0


def releases_first(noted: Ints, channels: int) -> Ints:
    """Notes in which the release of a descriptor comes before the acquire of the next one.

    A channel may be granted the next lock in the cycle in which it releases the last one, and before that;
    nothing of the release hangs on the acquire.
    """
    agents, what = noted[:, 0] >> AGENT_LSB, noted[:, 0] & LABEL - 1
    by_agent = np.argsort(agents, kind="stable")
    access, acquire, release = by_agent[:-2], by_agent[1:-1], by_agent[2:]
    late = (what[acquire] == NoteKind.ACQUIRE) & (what[release] == NoteKind.RELEASE)
    late &= np.isin(what[access], (NoteKind.READ, NoteKind.WRITE)) & (agents[access] == agents[release])
    late &= (agents[release] >= FIRST_CHANNEL) & (agents[release] < FIRST_CHANNEL + channels)
    late &= noted[acquire, 3] == noted[release, 3]
    if not late.any():
        return noted
    places = np.arange(len(noted), dtype=np.float64)
    places[release[late]] = places[acquire[late]] - 0.5
    return np.ascontiguousarray(noted[np.argsort(places, kind="stable")])


def _missed(count: int) -> Problem:
    return Problem(
        "notes",
        f"{count} notes too many",
        f"{notes.NOTES} between two looks at them",
        next_step="Run with fewer columns, or without check.",
        reason="notes",
        where="check of a run",
        source="memtile.model.checking",
    )


def prepare() -> None:
    """Compile what goes through notes, or load it, and say so if it is compiled."""
    if jit.ENABLED:
        book, rows = empty_book(1, 1, 1), np.zeros((1, notes.NOTE_FIELDS), np.int64)
        for struct in (book, Notes(rows)):
            place_of(struct)
        with jit.compiling(jit.to_stderr, COMPILED, read_through):
            read_notes(book, rows, 0, 0)
