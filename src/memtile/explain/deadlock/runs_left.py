"""A task that is repeated fewer times than its locks allow, where more words are waited for.

What a lock has left of what its only taker acquires in each run says how often that should have run.
"""

from __future__ import annotations

from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.lock_waits import lock_text
from memtile.model.state.causes import Phase

_REPEATED = 2  # runs of a task that is meant to be repeated


def runs_left(ch: int, waits: EngineWaits) -> tuple[str, str] | None:
    """Return what a channel that has no task left did, and the repair; None where locks allow no more runs.

    Args:
        ch: model index of the channel.
        waits: of a run.
    """
    engine, chains = waits.engine, waits.chains
    bds = [bd for each, bd in chains.present() if each == ch]
    c, value = engine.channels, engine.state.locks.value
    is_over = c.phase[ch] == Phase.IDLE and c.tasks_done[ch] == 1 and c.external[ch] < 0
    runs, odd = divmod(int(c.bds_done[ch]), max(len(bds), 1))
    if waits.abstraction is not None or waits.of_registers or not is_over or odd or runs < _REPEATED:
        return None
    units = {lock: abs(takers[ch]) for lock, takers in chains.steps_by_lock()[0].items() if [*takers] == [ch]}
    left = {lock: divmod(int(value[lock]), many) for lock, many in units.items() if many}
    more = {whole for whole, _ in left.values()}
    if len(more) != 1 or 0 in more or any(rest for _, rest in left.values()):
        return None
    (times,), locks = more, " and ".join(lock_text(engine, lock) for lock in left)
    holds = "holds" if len(left) == 1 else "hold"
    again = "one more run" if times == 1 else f"{times} more runs"
    does = f"has run its task {runs} times and ended, and {locks} still {holds} enough for {again}"
    return does, f"run its task {runs + times} times (repeat_count = {runs + times - 1})"
