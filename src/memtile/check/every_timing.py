"""Whether the abstract run of a design decides every timing: what a checked run asks, before there is one.

It stands or falls with the same conditions, see ``explain.orders.proof``, and with one more: that what cores
do to locks is in their text. Words it does not see, so it says nothing about them.
"""

from __future__ import annotations

from collections import Counter
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
    on_their_way, ended = dict[int, list[GivenTask]](), Counter[int]()
    for step in steps:
        if step.pushes:
            task = log.tasks[step.task]
            before = on_their_way.setdefault(task.ch, [])
            if len(before) >= MEMORY.queue_depth and not step.waits_for_room:
                yield f"a task may be pushed to a full queue of {called(engine, task.ch)}"
            yield from _reuses(engine, task, on_their_way)
            before.append(task)
        elif step.ch >= 0 and step.ch in on_their_way and not step.room:
            tasks = on_their_way[step.ch]
            over = _over(tasks, step, ended[step.ch])
            del tasks[:over]
            ended[step.ch] += over


def _over(tasks: Sequence[GivenTask], step: HostStep, ended: int) -> int:
    """How many tasks have ended when a wait is over: up to that of the oldest token, or so many in all."""
    if not step.token:
        return max(step.many - ended, 0)
    return next((number + 1 for number, task in enumerate(tasks) if task.token), 0)


def _reuses(engine: Engine, task: GivenTask, open_tasks: Mapping[int, Sequence[GivenTask]]) -> Iterator[str]:
    """The BDs of a task that tasks before it on the tile may still use, with other words."""
    tile, own = engine.channels.tile[task.ch], {bd.number: bd for bd in task.bds}
    outside = engine.channels.external[task.ch] >= 0  # where a BD points to there is not in its words
    for ch, tasks in open_tasks.items():
        for bd in (bd for other in tasks if engine.channels.tile[ch] == tile for bd in other.bds):
            if bd.number in own and (outside or own[bd.number].words != bd.words):
                yield f"BD {bd.number} is given again while a task of {called(engine, ch)} may still use it"
