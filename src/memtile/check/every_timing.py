"""Whether the abstract run of a design decides every timing: what a checked run asks, before there is one.

It stands or falls with the same conditions, see ``explain.orders.proof``, and with one more: that what cores
do to locks is in their text. Words it does not see, so it says nothing about them.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence

from memtile.arch.tiles import MEMORY
from memtile.check.checked_program import Subject
from memtile.check.task_list import GivenTask, HostStep, TaskLog
from memtile.explain.names import called
from memtile.explain.orders.lock_orders import LockOrders
from memtile.explain.orders.proof import FINISHES, Proof
from memtile.explain.orders.stream_orders import StreamOrders
from memtile.sim.loop.engine import Engine
from memtile.sim.races.race_watch import OrderWatch

_OF_WORDS = "no words are moved before a run"


def proof(engine: Engine, subject: Subject, watch: OrderWatch, ends: str, undecided: str) -> Proof:
    """What the abstract run of a design says of every timing.

    Args:
        engine: as the run has left it.
        subject: the design.
        watch: of the run.
        ends: how it ended, as ``Proof`` has it.
        undecided: why it need not end so; empty = nothing is known.
    """
    watch.flush()
    locks = LockOrders(engine, watch.orders, watch.began)
    streams = StreamOrders(engine, locks.is_ready)
    reasons = [
        *([undecided] if undecided else []),
        *(["the host sequence depends on numbers that only a run has"] if subject.open_host else []),
        *host_reasons(engine, subject.log),
        *locks.reasons(),
        *streams.reasons(),
        *streams.out_of_order(),
        *(streams.left_behind() if ends == FINISHES else ()),
    ]
    assumed = () if reasons else tuple(locks.assumed())
    return Proof(ends, tuple(dict.fromkeys(reasons)), (_OF_WORDS,), assumed)


def host_reasons(engine: Engine, log: TaskLog) -> Iterator[str]:
    """Steps of hosts whose outcome hangs on when they come."""
    if sum(host >= 0 for host in log.steps) > 1:
        yield "several host sequences start tasks side by side"
    for steps in log.steps.values():
        if any(step.locks for step in steps):
            yield "the host gives locks values"
        if any(step.waits and step.ch < 0 for step in steps):
            yield "the host polls a register"
        yield from _pushes(engine, log, steps)


def _pushes(engine: Engine, log: TaskLog, steps: Sequence[HostStep]) -> Iterator[str]:
    """Pushes that may be lost, or whose descriptors a task before may still use, by the host's own waits."""
    on_their_way = dict[int, _OpenTasks]()
    full, again = set[int](), set[tuple[int, int]]()
    for step in steps:
        if step.pushes:
            task = log.tasks[step.task]
            before = on_their_way.setdefault(task.ch, _OpenTasks())
            if len(before.tasks) >= MEMORY.queue_depth and not step.waits_for_room:
                full.add(task.ch)
            again.update(_reuses(engine, task, on_their_way))
            before.push(task)
        elif step.ch >= 0 and step.ch in on_their_way and not step.room:
            on_their_way[step.ch].wait(step)
    yield from (f"a task may be pushed to a full queue of {called(engine, ch)}" for ch in sorted(full))
    for ch, number in sorted(again):
        yield f"BD {number} is given again while a task of {called(engine, ch)} may still use it"


class _OpenTasks:
    """The tasks of a channel that its host does not know to have ended.

    Attributes:
        tasks: in the order in which they were pushed.
        users: of each BD by its number, how many of the tasks have it with which words.
    """

    def __init__(self) -> None:
        self.tasks: deque[GivenTask] = deque()
        self.users: dict[int, Counter[tuple[int, ...]]] = {}
        self._ended = 0
        self._senders: deque[int] = deque()  # of those that ask for a token the numbers, from 1 on

    def push(self, task: GivenTask) -> None:
        """A task is pushed."""
        self.tasks.append(task)
        if task.token:
            self._senders.append(self._ended + len(self.tasks))
        for bd in task.bds:
            self.users.setdefault(bd.number, Counter())[bd.words] += 1

    def wait(self, step: HostStep) -> None:
        """A wait is over: it ends tasks up to that of the oldest token, or so many in all."""
        upto = step.many
        if step.token:
            upto = self._senders.popleft() if self._senders else 0
        while self.tasks and self._ended < upto:
            self._ended += 1
            for bd in self.tasks.popleft().bds:
                users = self.users[bd.number]
                users[bd.words] -= 1
                if not users[bd.words]:
                    del users[bd.words]
        while self._senders and self._senders[0] <= self._ended:
            self._senders.popleft()


def _reuses(
    engine: Engine, task: GivenTask, on_their_way: Mapping[int, _OpenTasks]
) -> Iterator[tuple[int, int]]:
    """The BDs of a task that tasks before it on the tile may still use, with other words: channel, number."""
    tile = engine.channels.tile[task.ch]
    outside = engine.channels.external[task.ch] >= 0  # where a BD points to there is not in its words
    for ch, before in on_their_way.items():
        if engine.channels.tile[ch] == tile:
            for bd in task.bds:
                users = before.users.get(bd.number, Counter())
                if users and (outside or len(users) > 1 or bd.words not in users):
                    yield ch, bd.number
