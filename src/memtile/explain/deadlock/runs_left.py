"""A task that is repeated fewer times than its receiver waits for.

The words that the receiver lacks give the number of missing runs. A lock that only this channel acquires
confirms it if its value is enough for exactly so many runs. Where words and locks give different numbers,
there is no finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from memtile.explain.bd_chains import lock_seen
from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.lock_waits import lock_text

_REPEATED = 2  # runs of a task that is meant to be repeated


class RunsLeft(NamedTuple):
    """A channel whose only task has ended too early.

    Attributes:
        does: what it has done, as a part of a sentence.
        fix: what it should do, as the end of "Let it ".
        runs: of its task that it should make.
    """

    does: str
    fix: str
    runs: int


def runs_left(ch: int, receiver: int, waits: EngineWaits) -> RunsLeft | None:
    """Return how often a task should have run; None where words and locks give different numbers.

    Args:
        ch: model index of a channel that has no task left.
        receiver: model index of the channel that waits for its words.
        waits: of a run.
    """
    c, engine = waits.engine.channels, waits.engine
    bds = [bd for each, bd in waits.chains.present() if each == ch]
    runs = int(c.bds_done[ch]) // max(len(bds), 1)
    if c.tasks_done[ch] != 1 or runs < _REPEATED:
        return None
    locks = _left(ch, bds, waits)
    words = sum(waits.chains.length(ch, bd) for bd in bds)
    times = _missing(receiver, waits) / max(words, 1)
    if not times or times % 1 or {*locks.values()} != {times} or waits.streams.senders_to(receiver) != {ch}:
        return None
    more, names = int(times), " and ".join(lock_text(engine, lock) for lock in locks)
    holds = "holds" if len(locks) == 1 else "hold"
    again = "one more run" if more == 1 else f"{more} more runs"
    does = f"has run its task {runs} times and ended, and {names} still {holds} enough for {again}"
    fix = f"run its task {runs + more} times (repeat_count = {runs + more - 1})"
    return RunsLeft(does, fix, runs + more)


def runs_for(ch: int, awaited: int, waits: EngineWaits) -> int:
    """Return how often a repeated task should run for the words that a host waits for; 0 = not known.

    What came of the runs that it made says what comes of one.

    Args:
        ch: model index of the channel that has done its task.
        awaited: of the channel whose first task the host waits for.
        waits: of a run, or of one that stands for all runs.
    """
    c = waits.engine.channels
    bds = [bd for each, bd in waits.chains.present() if each == ch]
    runs, odd = divmod(int(c.bds_done[ch]), max(len(bds), 1))
    is_first = c.tasks_done[ch] == 1 and not c.tasks_done[awaited] and not waits.of_registers
    lacks = _missing(awaited, waits) if is_first and not odd and runs >= _REPEATED else 0
    whole = sum(waits.chains.length(awaited, bd) for bd in waits.chains.of(awaited))
    each, rest = divmod(whole - lacks, runs) if lacks > 0 and not waits.chains.loops(awaited) else (0, 0)
    is_known = each > 0 and not rest and not lacks % each and not c.runs_left[awaited]
    return runs + lacks // each if is_known else 0


def _left(ch: int, bds: Sequence[int], waits: EngineWaits) -> dict[int, float]:
    """By lock that no other channel takes, for how many runs of a chain it has units, as a fraction."""
    units, chains = Counter[int](), waits.chains
    tile = int(waits.engine.channels.tile[ch])
    for bd in bds:
        step = chains.acquired(ch, bd)
        lock = None if step is None else lock_seen(waits.engine, tile, step[0])
        if step is not None and lock is not None:
            units[lock] += abs(step[1])
    takers = chains.steps_by_lock()[0]
    value = waits.engine.state.locks.value
    return {lock: int(value[lock]) / many for lock, many in units.items() if many and [*takers[lock]] == [ch]}


def _missing(ch: int, waits: EngineWaits) -> int:
    """Words that a channel lacks until its task ends; of a ring, until the descriptor ends in which it waits.

    0 where that is not known: the channel has more tasks in its queue, or a ring waits at the begin of a
    descriptor.
    """
    c, chains = waits.engine.channels, waits.chains
    chain, moved = chains.of(ch), max(int(c.moved[ch]), 0)
    if int(c.bd[ch]) not in chain or c.queue_count[ch]:
        return 0
    rest = chain[chain.index(int(c.bd[ch])) :]
    if chains.loops(ch):
        return chains.length(ch, rest[0]) - moved if moved else 0
    whole = sum(chains.length(ch, bd) for bd in chain)
    return sum(chains.length(ch, bd) for bd in rest) - moved + int(c.runs_left[ch]) * whole
