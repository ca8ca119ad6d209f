"""From a stopped engine to a result: how the run ended and what each channel did."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

import numpy as np

from memtile.arch.grades import Grade
from memtile.arch.tiles import DIRECTIONS
from memtile.arch.timing import ARRAY_CLOCK_MHZ, sources
from memtile.explain.channel_view import ChannelView, views
from memtile.explain.core_view import core_views
from memtile.explain.lock_waits import lock_errors
from memtile.explain.names import channel_name
from memtile.explain.results import Array, ChannelUse, Check, Result, Status
from memtile.explain.stream_waits import Waits, stream_waits
from memtile.model.state.causes import Cause, CoreCause, Phase
from memtile.sim.clock import Stop
from memtile.sim.engine import Engine

# Cause under which channels book the cycles of an assumed constant; others always count as depended on.
_SHOWS_AS = {
    "task_start": Cause.TASK_START,
    "zeroisation": Cause.MEMORY_BUSY,
    "token_words": Cause.TOKEN_BLOCKED,
    "count_fifo_words": Cause.TOKEN_BLOCKED,
    "external_latency": Cause.EXTERNAL,
    "external_write_latency": Cause.EXTERNAL,
    "external_egress_words": Cause.EXTERNAL,
    "external_burst_overhead": Cause.EXTERNAL,
}


def outcome(
    engine: Engine,
    stop: Stop | None,
    outputs: Mapping[str, Array],
    checks: Sequence[Check],
    *,
    timed: bool = True,
    before: int = 0,
    listening: Container[int] = (),
) -> Result:
    """The result of a run.

    Args:
        engine: the model, stopped.
        stop: why the clock stopped; None = interrupted.
        outputs: arrays taken from the MM2S ports, by channel name.
        checks: their comparisons with what was expected.
        timed: False after an untimed run.
        before: cycles of earlier runs.
        listening: model indices of channels that take what may come; a run may end while they wait.
    """
    busy = views(engine)
    needed = [view for view in busy if view.ch not in listening]
    waits = stream_waits(engine) if stop is Stop.QUIET else Waits()
    unfinished = [view for view in needed if not view.at_rest or waits.count(engine, view.ch)]
    working = [view for view in core_views(engine) if not view.done]
    open_work = bool(unfinished or waits.lost) or not all(view.at_rest for view in working)
    status = _status(stop, busy, open_work or any(c.missing for c in checks))
    waiting: list[str] = []
    if status is not Status.FINISHED:
        waiting += [v.waits_for(waits) for v in needed if not _idle(v) or waits.count(engine, v.ch)]
        waiting += [view.waits_for() for view in working]
        waiting += [*_unsent(engine, checks), *waits.lost_texts(engine)]
    return Result(
        status=status,
        timed=timed,
        cycles=engine.now,
        clock_mhz=ARRAY_CLOCK_MHZ,
        channels=tuple(_use(view, timed) for view in busy),
        outputs=outputs,
        checks=tuple(checks),
        waiting=tuple(waiting),
        assumed=tuple(_assumed(engine)) if timed else (),
        cores=tuple(view.use() for view in core_views(engine)) if timed else (),
        before=before,
        errors=tuple(_errors(engine, busy)),
    )


def _errors(engine: Engine, busy: Sequence[ChannelView]) -> Iterator[str]:
    """Sticky errors of channels that go on all the same, and of locks."""
    for view in busy:
        if view.errors and engine.channels.phase[view.ch] != Phase.HALTED:
            yield f"{view.name}: {', '.join(view.errors)}"
    yield from lock_errors(engine)


def _unsent(engine: Engine, checks: Sequence[Check]) -> Iterator[str]:
    """Idle channels that were to send more."""
    missing = {check.port: check.missing for check in checks if check.missing}
    for ch in np.flatnonzero(engine.channels.phase == Phase.IDLE).tolist() if missing else ():
        name = channel_name(engine, ch)
        if name in missing:
            yield f"{name}: no task sends the elements that are missing"


def _idle(view: ChannelView) -> bool:
    return bool(view.engine.channels.phase[view.ch] == Phase.IDLE)


def _status(stop: Stop | None, busy: Sequence[ChannelView], unfinished: bool) -> Status:
    if stop is None:
        return Status.INTERRUPTED
    if any(view.engine.channels.phase[view.ch] == Phase.HALTED for view in busy):
        return Status.HALTED
    if stop is Stop.LIMIT:
        return Status.LIMIT
    return Status.STUCK if unfinished else Status.FINISHED


def _use(view: ChannelView, timed: bool) -> ChannelUse:
    state, c, ch = view.engine.state, view.engine.channels, view.ch
    spent = {cause: int(state.spent[ch, cause]) for cause in Cause} if timed else {}
    if not timed:
        spent[Cause.MOVING] = int(state.spent[ch, Cause.MOVING])
    tasks, bds = int(c.tasks_done[ch]), int(c.bds_done[ch])
    beat_words = view.kind.stream_words if timed else 1  # the untimed run counts words
    return ChannelUse(view.name, DIRECTIONS[c.direction[ch]], spent, tasks, bds, view.errors, beat_words)


def _assumed(engine: Engine) -> Iterator[str]:
    """Timing constants that are our choice and that this run spent cycles on, with their values."""
    for name, source in sources().items():
        if source.grade is Grade.ASSUMED and _depended_on(engine, name):
            yield f"{name} = {getattr(engine.timing, name)}"


def _depended_on(engine: Engine, name: str) -> bool:
    if name == "zeroisation" and engine.state.core_spent[:, CoreCause.MEMORY_BUSY].any():
        return True
    if name == "neighbour_latency":
        return bool(engine.state.interfaces.served.any())
    if name == "scrub_granules":
        return bool(engine.state.guards.steps.any())
    if name == "packet_arbitration":
        return bool(engine.state.arbiters.packets.any())
    return name not in _SHOWS_AS or bool(engine.state.spent[:, _SHOWS_AS[name]].any())
