"""What a run did that another order could change: who used each lock, what hosts saw, who used which words.

It is read from the notes of a watched run, all of them, so it is complete for that run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from memtile.access.distinct import distinct, without
from memtile.model.checking.notes import AGENT_LSB, EXTERNAL, HOST, SITE_LSB, NoteKind
from memtile.model.state.columns import Ints

_LOCK_ACTS = (NoteKind.ACQUIRE, NoteKind.RELEASE, NoteKind.SET)
NEVER = 1 << 62  # number of a note that never comes
_ACCESSES = (NoteKind.READ, NoteKind.WRITE)
PAUSE = 1  # subject of the barrier behind a pause; control packets act between two barriers of 0
_PIECE = 4  # bits: words of external memory are told apart in pieces of 16


class LockAct(NamedTuple):
    """What was done to locks, an element for each act, in order.

    Attributes:
        at: number of the note.
        kind: ACQUIRE, RELEASE or SET, as ``NoteKind`` has them.
        agent: who did it, as ``notes`` has agents.
        lock: index among all locks of the model, with those of cascades behind them.
        operand: of an acquire below 0: at least so many units, which it takes; else the exact value.
        moved: how many accesses to memory the agent had made before.
    """

    at: Ints
    kind: Ints
    agent: Ints
    lock: Ints
    operand: Ints
    moved: Ints


class PacketBook:
    """What control packets did: each act of one stands between two barriers.

    Attributes:
        sets: numbers of the notes by which they gave locks values.
        words: how often they read or wrote a word of data memory.
        unknown: how often they did something else.
        pauses: how often somebody looked at the model from outside, between two steps of a run.
    """

    def __init__(self) -> None:
        self.sets: set[int] = set()
        self.words = self.unknown = self.pauses = 0

    def __bool__(self) -> bool:
        return bool(self.sets or self.words or self.unknown)

    def add(self, noted: Ints, what: Ints, at: Ints) -> None:
        """Take in rows of notes, what they are about, and their numbers."""
        barriers = what == NoteKind.BARRIER
        pauses = barriers & (noted[:, 1] == PAUSE)
        self.pauses += int(np.count_nonzero(pauses))
        ends = np.flatnonzero(barriers & ~pauses)
        self.unknown += len(ends) % 2
        for before, after in zip(ends[::2].tolist(), ends[1::2].tolist(), strict=False):
            act = before + 1
            if after - act == 1 and what[act] == NoteKind.SET:
                self.sets.add(int(at[act]))
            elif after - act == 1 and what[act] in _ACCESSES and noted[act, 1] < EXTERNAL:
                self.words += 1
            else:
                self.unknown += 1


class OrderBook:
    """Gathers it while the notes of a run are gone through.

    Attributes:
        started: by agent the numbers of the notes by which a host gave it work.
        packets: what control packets did.
        looked_at: locks whose values the host read.
        first_look: number of the note by which the host saw first that a channel had ended a task.
    """

    def __init__(self) -> None:
        self.started: dict[int, list[int]] = {}
        self.packets = PacketBook()
        self.looked_at: set[int] = set()
        self.first_look = NEVER
        self._acts: list[Ints] = [np.zeros((0, len(LockAct._fields)), np.int64)]
        self._pieces: dict[tuple[int, bool], list[Ints]] = {}
        self._read: dict[int, list[Ints]] = {}
        self._count = 0
        self._moved: Counter[int] = Counter()  # by agent its accesses to memory so far

    def add(self, noted: Ints) -> None:
        """Take in rows of notes, which come after all before."""
        what, agents = noted[:, 0] & ((1 << SITE_LSB) - 1), noted[:, 0] >> AGENT_LSB
        at = np.arange(self._count, self._count + len(noted))
        self._count += len(noted)
        acts, moved = np.isin(what, _LOCK_ACTS), self._moved_before(what, agents)
        if acts.any():
            rows = [at[acts], what[acts], agents[acts], noted[acts, 1], noted[acts, 2], moved[acts]]
            self._acts.append(np.stack(rows, axis=1))
        starts = what == NoteKind.START
        for agent, number in zip(noted[starts, 1].tolist(), at[starts].tolist(), strict=True):
            self.started.setdefault(agent, []).append(number)
        self.packets.add(noted, what, at)
        self.looked_at.update(noted[what == NoteKind.LOOK_AT_LOCK, 1].tolist())
        looks = what == NoteKind.LOOK
        if looks.any() and self.first_look == NEVER:
            self.first_look = int(at[looks][0])
        self._add_pieces(noted, what, agents)

    def _moved_before(self, what: Ints, agents: Ints) -> Ints:
        """For each note how many accesses to memory its agent had made before it."""
        accesses, before = np.isin(what, _ACCESSES), np.zeros(len(what), np.int64)
        for agent in distinct(agents).tolist():
            own = agents == agent
            before[own] = np.cumsum(accesses[own]) + self._moved[agent]
            self._moved[agent] += int(np.count_nonzero(accesses & own))
        return before

    def accesses(self, agent: int) -> int:
        """How many accesses to memory an agent has made."""
        return self._moved[agent]

    def reads_for(self, agent: int, words: int) -> int:
        """How many accesses of an agent it takes until it has read so many words of external memory."""
        counts = np.concatenate(self._read.get(agent, [np.zeros(0, np.int64)]))
        return int(np.searchsorted(np.cumsum(counts), words)) + 1 if words else 0

    def _add_pieces(self, noted: Ints, what: Ints, agents: Ints) -> None:
        words = (noted[:, 1] >= EXTERNAL) & (agents != HOST) & (noted[:, 2] > 0)
        for writes in (False, True):
            here = words & (what == (NoteKind.WRITE if writes else NoteKind.READ))
            first = noted[here, 1] >> _PIECE
            count = ((noted[here, 1] + noted[here, 2] - 1) >> _PIECE) - first + 1
            if not writes:
                for agent in distinct(agents[here]).tolist():
                    self._read.setdefault(agent, []).append(noted[here & (agents == agent), 2])
            of = np.repeat(np.arange(len(first)), count)
            within = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
            by, pieces = agents[here][of], first[of] + within
            for agent in distinct(by).tolist():
                self._pieces.setdefault((agent, writes), []).append(distinct(pieces[by == agent]))

    @property
    def acts(self) -> LockAct:
        """All that was done to locks."""
        return LockAct(*np.concatenate(self._acts).T)

    @property
    def given(self) -> frozenset[int]:
        """Locks that somebody but the host has given something."""
        acts = self.acts
        by_packet = np.isin(acts.at, list(self.packets.sets))
        return frozenset(acts.lock[(acts.kind == NoteKind.RELEASE) | by_packet].tolist())

    def shared_outside(self) -> Iterator[tuple[int, int]]:
        """Pairs of agents that use the same words of external memory, the first of them writes them."""
        used = {who: distinct(np.concatenate(pieces)) for who, pieces in self._pieces.items()}
        for (writer, writes), own in used.items():
            for (other, also), theirs in used.items():
                if not writes or writer == other or (also and other < writer):
                    continue
                if len(without(own, theirs)) < len(own):
                    yield writer, other


def users(acts: LockAct) -> Mapping[int, set[int]]:
    """By lock the agents that acquire or release it."""
    found: dict[int, set[int]] = {}
    used = acts.kind != NoteKind.SET
    locks, agents = acts.lock[used], acts.agent[used]
    for lock in distinct(locks).tolist():
        found[lock] = set(distinct(agents[locks == lock]).tolist())
    return found
