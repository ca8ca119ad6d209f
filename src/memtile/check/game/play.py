"""A design played through: tasks, locks and counted words, without data and without time.

Nobody who could go on in any run stands still here. Words on their way are as many as the ports hold, packets
do not hold each other up, and where several take from one lock each finds all of it. So who stands still at
the end stands still in every run; who goes on may still stand still in some.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memtile.arch.tiles import S2MM
from memtile.check.game.core_turns import CoreText, Turn, UndecidedError
from memtile.check.game.locks import Locks
from memtile.check.game.streams import Lane, Lanes, counts_words
from memtile.check.subject import Subject
from memtile.check.tasks import StaticBd, Task
from memtile.explain.deadlock.graph import Kind
from memtile.explain.deadlock.streams import Party
from memtile.jit.tables import plain

_MOST_STEPS = 400_000  # BDs and turns of cores that are played
ALL = -1  # instead of a receiver: words to all of them
_MOST_OF_ONE = 20_000  # of a party without end, which then is taken for one that is never held up


class TooLongError(Exception):
    """The game has more steps than are played."""


@dataclass(slots=True)
class Player:
    """A channel in the game.

    Attributes:
        ch: model index.
        tasks: pushed so far.
        at: number of the present task, and in it of the run and of the BD.
        begun: words of the BDs that it has begun.
        ended: words of those that it has ended.
        moving: whether the present BD has begun.
        tokens: it has sent.
        free: nothing holds it up any more.
        steps: BDs that it has ended.
    """

    ch: int
    tasks: list[Task] = field(default_factory=list)
    at: int = 0
    run: int = 0
    step: int = 0
    begun: int = 0
    ended: int = 0
    moving: bool = False
    tokens: int = 0
    free: bool = False
    steps: int = 0

    @property
    def bd(self) -> StaticBd | None:
        """The present BD; None = no task."""
        return self.tasks[self.at].bds[self.step] if self.at < len(self.tasks) else None

    def ahead(self) -> None:
        """Go to the BD after the present one."""
        task = self.tasks[self.at]
        self.moving, self.steps, self.step = False, self.steps + 1, self.step + 1
        if self.step < len(task.bds):
            return
        self.step = task.again if task.endless else 0
        if task.endless:
            return
        self.run += 1
        if self.run == task.runs:
            self.run, self.at = 0, self.at + 1
            self.tokens += task.token


@dataclass(slots=True)
class Worker:
    """A core in the game.

    Attributes:
        core: model index.
        turns: what it does.
        present: what it waits for; None = it has ended, or nobody knows.
        steps: it has done.
        locks: that it may give.
    """

    core: int
    turns: Iterator[Turn]
    locks: frozenset[int]
    present: Turn | None = None
    ended: bool = False
    steps: int = 0


class Game:
    """A design while it is played.

    Args:
        subject: the design.
        cores: by model index the texts of cores that are known.
        locks: by model index of a core those that it may give.

    Attributes:
        players: by model index of a channel.
        workers: by model index of a core.
        locks: of the design.
        sent: by sender and receiver the words that went.
        came: by receiver the words that came.
    """

    def __init__(
        self, subject: Subject, cores: Mapping[int, CoreText], locks: Mapping[int, frozenset[int]]
    ) -> None:
        engine = subject.engine
        self.subject, self._engine, self.lanes = subject, engine, Lanes(subject)
        self.locks = Locks([int(value) for value in subject.log.began])
        self.players: dict[int, Player] = {}
        self.workers = {
            core: Worker(core, text.turns(), locks.get(core, frozenset())) for core, text in cores.items()
        }
        self.sent: dict[tuple[int, int], int] = {}
        self.came: dict[int, int] = {}
        self.by_receiver: dict[int, set[int]] = {}
        self._left, self._rest = _MOST_STEPS, deque[Party]()
        self._receives = (engine.channels.direction == S2MM).tolist()
        self._odd = {ch for ch in range(len(self._receives)) if not counts_words(engine, ch)}
        for ch in (task.ch for task in subject.log.tasks):
            self.players.setdefault(ch, Player(ch))
            if self._receives[ch] and ch in subject.fed:
                self.came[ch] = engine.pending(ch)
        for task in subject.log.tasks:
            for bd in task.bds if not self._receives[task.ch] else ():
                for lane in self.lanes.of(task.ch, bd) or ():
                    self.by_receiver.setdefault(lane.receiver, set()).add(task.ch)
                    if task.ch in self._odd:
                        self.lanes.fed.add(lane.receiver)

    # what others see -------------------------------------------------------------------------------------

    def wanted(self, party: Party) -> tuple[int, int] | None:
        """The lock that a party waits for, and how much of it; None = it waits for none."""
        if party.kind is Kind.CORE:
            turn = self.workers[party.number].present
            return (turn.lock, turn.takes) if turn is not None and turn.takes else None
        player = self.players.get(party.number)
        bd = player.bd if player is not None else None
        if player is None or bd is None or player.moving or bd.acquire is None:
            return None
        return bd.acquire.lock, abs(bd.acquire.value)

    def open_tasks(self, ch: int) -> int:
        """Tasks of a channel that have not ended."""
        player = self.players[ch]
        return len(player.tasks) - player.at

    def lanes_of(self, ch: int) -> list[Lane] | None:
        """The ways of the present BD of an MM2S channel."""
        bd = self.players[ch].bd
        return None if bd is None else self.lanes.of(ch, bd)

    # the game --------------------------------------------------------------------------------------------

    def start(self, task: Task) -> None:
        """Push a task."""
        self.players[task.ch].tasks.append(task)
        self._rest.append(Party(Kind.CHANNEL, task.ch))

    def begin(self) -> None:
        """Let the cores begin."""
        self._rest.extend(Party(Kind.CORE, core) for core in self.workers)

    def let_open(self, locks: Iterable[int]) -> None:
        """Nobody knows what a lock will be from now on."""
        self._rest.extend(sorted(self.locks.let_open(locks)))

    def play(self) -> None:
        """Go on until nobody can.

        Raises:
            TooLongError: there are too many steps.
        """
        while self._rest:
            party = self._rest.popleft()
            self._count()
            if party.kind is Kind.CORE:
                self._work(self.workers[party.number])
            else:
                self._move(self.players[party.number])

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooLongError

    def _give(self, lock: int, units: int) -> None:
        self._rest.extend(sorted(self.locks.give(lock, units)))

    def _work(self, worker: Worker) -> None:
        party = Party(Kind.CORE, worker.core)
        while not worker.ended:
            if worker.present is None:
                try:
                    worker.present = next(worker.turns, None)
                except UndecidedError:
                    self._let_free(worker)
                    return
                worker.steps += 1
                self._count()
                if worker.steps > _MOST_OF_ONE:
                    self._let_free(worker)
                    return
            turn = worker.present
            if turn is None:
                worker.ended = True
            elif turn.takes and not self.locks.take(turn.lock, turn.takes, party):
                return
            elif turn.gives:
                self._give(turn.lock, turn.gives)
            worker.present = None

    def _let_free(self, worker: Worker) -> None:
        """Nobody knows what the core does: it may give all that its text gives, as often as it likes."""
        worker.ended, worker.present = True, None
        self.let_open(worker.locks)

    def _move(self, player: Player) -> None:
        while not player.free and player.bd is not None:
            bd = player.bd
            if not player.moving and not self._begin(player, bd):
                return
            if not self._moved(player, bd):
                return
            player.ended += bd.descriptor.length
            if bd.release is not None and bd.release.value > 0:
                self._give(bd.release.lock, bd.release.value)
            player.ahead()
            self._count()
            if player.steps > _MOST_OF_ONE or self._never_waits(player):
                self._free(player)

    def _begin(self, player: Player, bd: StaticBd) -> bool:
        party = Party(Kind.CHANNEL, player.ch)
        step = bd.acquire
        if not bd.descriptor.valid:
            return False
        if step is not None and not self.locks.take(step.lock, abs(step.value), party):
            return False
        player.moving = True
        player.begun += bd.descriptor.length
        if self._receives[player.ch]:
            self._rest.extend(Party(Kind.CHANNEL, s) for s in sorted(self.by_receiver.get(player.ch, ())))
        return True

    def _moved(self, player: Player, bd: StaticBd) -> bool:
        """Whether all words of the present BD have moved, now or before."""
        ch, end = player.ch, player.ended + bd.descriptor.length
        if ch in self._odd:
            return True
        if self._receives[ch]:
            return ch in self.lanes.fed or self.came.get(ch, 0) >= end
        lanes = self.lanes.of(ch, bd)
        if lanes is None:
            return ch in self.subject.fed or self._goes_elsewhere(ch)
        return self._send(player, lanes)

    def _goes_elsewhere(self, ch: int) -> bool:
        """Whether a stream that ends at no channel ends at somebody else."""
        return self.subject.array and int(self._engine.channels.switch_port[ch]) >= 0

    def _send(self, player: Player, lanes: Sequence[Lane]) -> bool:
        """Send what there is room for; whether all of the BD has gone."""
        ch, sent = player.ch, self.sent
        left = player.begun - sent.get((ch, ALL), 0)
        count = max(min(left, *(self.room(ch, lane) for lane in lanes)), 0)
        if count:
            sent[ch, ALL] = sent.get((ch, ALL), 0) + count
            for lane in lanes:
                receiver = lane.receiver
                sent[ch, receiver] = sent.get((ch, receiver), 0) + count
                header = lane.header if left == count else 0
                self.came[receiver] = self.came.get(receiver, 0) + count + header
                if receiver in self.players:
                    self._rest.append(Party(Kind.CHANNEL, receiver))
        return left == count

    def room(self, ch: int, lane: Lane) -> int:
        """Words that may go to a receiver now."""
        receiver = self.players.get(lane.receiver)
        if receiver is not None and (receiver.free or lane.receiver in self._odd):
            return 1 << 62
        begun = receiver.begun if receiver is not None else 0
        return begun + lane.room - self.sent.get((ch, lane.receiver), 0)

    def _never_waits(self, player: Player) -> bool:
        """Whether a ring that has come round waits for nothing that the game counts."""
        if player.at >= len(player.tasks) or not player.tasks[player.at].endless:
            return False
        task, ch = player.tasks[player.at], player.ch
        if player.step != task.again:
            return False
        ring = task.bds[task.again :]
        if any(bd.acquire is not None and bd.acquire.lock not in self.locks.open for bd in ring):
            return False
        if self._receives[ch]:
            return ch in self._odd or ch in self.lanes.fed
        return ch in self._odd or all(self.lanes.of(ch, bd) is None for bd in ring)

    def _free(self, player: Player) -> None:
        """Take a channel for one that nothing holds up: it gives and sends as much as anybody wants."""
        player.free = True
        task = player.tasks[player.at]
        self.let_open(bd.release.lock for bd in task.bds if bd.release is not None)
        for bd in task.bds if not self._receives[player.ch] else ():
            self.lanes.fed.update(lane.receiver for lane in self.lanes.of(player.ch, bd) or ())
        self._rest.extend(Party(Kind.CHANNEL, other) for other in self._others(player.ch))

    def _others(self, ch: int) -> list[int]:
        """Channels whom the end of all waits of a channel may help."""
        if self._receives[ch]:
            return sorted(self.by_receiver.get(ch, ()))
        return sorted(other for other in self.players if other in self.lanes.fed)


def reached_locks(subject: Subject, tiles: Iterable[int]) -> Iterator[int]:
    """Locks that the cores of tiles reach."""
    spec = plain(subject.engine.spec.tiles)
    bases = [*spec.lock_base.tolist(), len(subject.log.locks)]
    for tile in tiles:
        for seen in spec.core_reach[tile].tolist():
            if seen >= 0:
                yield from range(bases[seen], bases[seen + 1])
