"""From a stopped engine to a result: how the run ended, what waits, and what each channel did."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from memtile.arch.chosen_timing import changed
from memtile.arch.tiles import DIRECTIONS
from memtile.arch.timing import ARRAY_CLOCK_MHZ
from memtile.explain.assumed import assumed
from memtile.explain.bd_chains import BdChains
from memtile.explain.channel_view import ChannelView, channel_views
from memtile.explain.checks import Check
from memtile.explain.circuit_errors import circuit_errors
from memtile.explain.core_view import CoreView, core_views, unsimulated
from memtile.explain.deadlock.find import Hang, Open, hang
from memtile.explain.deadlock.hosts import HostWaiting
from memtile.explain.estimate import estimated
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.good_waits import good_waits
from memtile.explain.kept import Kept
from memtile.explain.lock_waits import lock_errors
from memtile.explain.names import called, channel_name
from memtile.explain.results import Array, ChannelUse, Result, Status
from memtile.explain.stream_waits import Waits, stream_waits
from memtile.model.state.causes import Cause, Phase
from memtile.sim.clock import Stop
from memtile.sim.engine import Engine

_reasons: ContextVar[bool] = ContextVar("reasons at the limit", default=True)
_FEW = 2  # buffers whose names stand beside a channel


@contextmanager
def reasons_at_limit(wanted: bool) -> Iterator[None]:
    """Context in which a run that meets its limit is said to wait for nothing, if no reasons are wanted.

    To find out who waits for whom takes as long as a short run.
    """
    token = _reasons.set(wanted)
    try:
        yield
    finally:
        _reasons.reset(token)


def outcome(
    engine: Engine,
    stop: Stop | None,
    outputs: Mapping[str, Array],
    checks: Sequence[Check],
    *,
    timed: bool = True,
    before: int = 0,
    listening: Container[int] = (),
    hosts: Sequence[HostWaiting] = (),
    moves: Mapping[int, Sequence[str]] | None = None,
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
        hosts: what host sequences wait for that have not ended.
        moves: by model index of a channel the names of the buffers that it reads or writes.
    """
    chains = BdChains(engine)
    busy, cores = channel_views(engine, chains), list(core_views(engine, chains))
    found = _OpenWork.of(engine, stop, [view for view in busy if view.ch not in listening], cores, checks)
    status = _status(stop, busy, bool(hosts or found))
    said = status is not Status.LIMIT or _reasons.get()
    stopped = _hang(found, hosts, moves or {}, stop, status, timed=timed) if said else Hang()
    return Result(
        status=status,
        timed=timed,
        cycles=engine.now,
        clock_mhz=ARRAY_CLOCK_MHZ,
        channels=tuple(_use(view, timed, (moves or {}).get(view.ch, ())) for view in busy),
        outputs=outputs,
        checks=tuple(checks),
        waiting=()
        if status is Status.FINISHED or not said
        else (*(host.text for host in hosts), *found.lines()),
        resting=tuple(found.resting()) if status is Status.FINISHED else (),
        unsimulated=tuple(unsimulated(engine)),
        assumed=tuple(assumed(engine)) if timed else (),
        estimate=estimated(engine) if timed else None,
        cores=tuple(view.use() for view in cores) if timed else (),
        before=before,
        timing=changed(engine.timing) if timed else {},
        host_cycles=engine.host.waited if timed else 0,
        jumped=engine.skipper.jumped if timed else 0,
        kept_off=engine.skipper.kept_off if timed else (),
        errors=(*_channel_errors(busy), *lock_errors(engine), *circuit_errors(engine)),
        findings=(*stopped.findings, *(_wrong(checks) if status is Status.FINISHED else ())),
        waits=stopped.graph,
        kept=Kept(engine),
    )


def _wrong(checks: Sequence[Check]) -> Iterator[Finding]:
    """What kind of mistake makes each output wrong, where one explains all of it."""
    for check in checks:
        if check.cause is not None:
            code, text, fix = check.cause
            side = Side(check.port, text)
            yield Finding(code, Severity.ERROR, f"{check.port} {text}.", (side,), fix=fix)


@dataclass(frozen=True, slots=True)
class _OpenWork:
    """What a stopped engine has left to do.

    Attributes:
        engine: the model.
        channels: those that were to end.
        cores: those whose kernel has not ended.
        words: that wait in streams, if nothing moves.
        missing: elements that were expected and have not come, by channel name.
        good: cores whose kernels may wait for a lock when a run ends.
    """

    engine: Engine
    channels: Sequence[ChannelView]
    cores: Sequence[CoreView]
    words: Waits
    missing: Mapping[str, int]
    good: Set[int]

    @classmethod
    def of(
        cls,
        engine: Engine,
        stop: Stop | None,
        channels: Sequence[ChannelView],
        cores: Sequence[CoreView],
        checks: Sequence[Check],
    ) -> _OpenWork:
        """Look for it: for words in streams only if the engine has nothing left to move."""
        open_cores = [view for view in cores if not view.done]
        words = stream_waits(engine) if stop is Stop.QUIET else Waits()
        missing = {check.port: check.missing for check in checks if check.missing}
        asks = stop is Stop.QUIET and any(view.waits_endlessly for view in open_cores)
        good = good_waits(engine, open_cores[0].chains) if asks else frozenset()
        return cls(engine, channels, open_cores, words, missing, good)

    def __bool__(self) -> bool:
        """Whether there is any; endless tasks and kernels that are at rest are none."""
        return bool(
            self.words.lost
            or self.missing
            or any(not view.at_rest or self._offered(view) for view in self.channels)
            or any(not view.at_rest(self.good) for view in self.cores)
        )

    def lines(self) -> Iterator[str]:
        """One line for each channel, core and port: what it waits for."""
        for channel in self.channels:
            if not channel.idle or self._offered(channel):
                yield channel.waits_for(self.words)
        for core in self.cores:
            yield core.waits_for()
        yield from self._unsent()
        yield from self.words.lost_texts(self.engine)

    def resting(self) -> Iterator[str]:
        """One line for each endless kernel that waits for more work."""
        return (view.rests() for view in self.cores)

    def open(self, hosts: Sequence[HostWaiting]) -> Open:
        """Who has not come to the end, to find out why."""
        offered = {
            view.ch: self.words.text(self.engine, view.ch) for view in self.channels if self._offered(view)
        }
        by_name = {channel_name(self.engine, ch): ch for ch in range(len(self.engine.channels.phase))}
        return Open(
            channels=[view.ch for view in self.channels if not view.at_rest],
            cores=[view.core for view in self.cores if not view.at_rest(self.good)],
            ports=list(self.words.lost),
            hosts=hosts,
            offered=offered,
            missing={by_name[name]: n for name, n in self.missing.items() if name in by_name},
        )

    def _offered(self, view: ChannelView) -> int:
        """Words that wait before the channel."""
        return self.words.count(self.engine, view.ch)

    def _unsent(self) -> Iterator[str]:
        """Idle channels that were to send more."""
        for ch in np.flatnonzero(self.engine.channels.phase == Phase.IDLE).tolist() if self.missing else ():
            name = channel_name(self.engine, ch)
            if name in self.missing:
                yield f"{called(self.engine, ch)}: no task sends the elements that are missing"


def _hang(
    found: _OpenWork,
    hosts: Sequence[HostWaiting],
    moves: Mapping[int, Sequence[str]],
    stop: Stop | None,
    status: Status,
    *,
    timed: bool,
) -> Hang:
    """Why the run does not go on; after a good end only what was dropped."""
    lost = np.flatnonzero(found.engine.channels.pushes_lost).tolist()
    if status is Status.FINISHED and not lost:
        return Hang()
    work = Open(channels=lost) if status is Status.FINISHED else found.open(hosts)
    chains = BdChains(found.engine)
    return hang(found.engine, chains, work, moves, quiet=stop is Stop.QUIET, timed=timed)


def _status(stop: Stop | None, busy: Sequence[ChannelView], found: bool) -> Status:
    if stop is None:
        return Status.INTERRUPTED
    if any(view.halted for view in busy):
        return Status.HALTED
    if stop is Stop.LIMIT:
        return Status.LIMIT
    return Status.STUCK if found else Status.FINISHED


def _channel_errors(busy: Sequence[ChannelView]) -> Iterator[str]:
    """Sticky errors of channels that go on all the same."""
    for view in busy:
        if view.errors and not view.halted:
            yield f"{view.called}: {', '.join(view.errors)}"


def _use(view: ChannelView, timed: bool, moves: Sequence[str]) -> ChannelUse:
    state, c, ch = view.engine.state, view.engine.channels, view.ch
    booked = Cause if timed else (Cause.MOVING,)
    spent = {cause: int(state.spent[ch, cause]) for cause in booked}
    tasks, bds = int(c.tasks_done[ch]), int(c.bds_done[ch])
    beat_words = view.kind.stream_words if timed else 1  # the untimed run counts words
    label = view.engine.channel_names.get(ch) or ", ".join(moves[:_FEW]) + ", ..." * (len(moves) > _FEW)
    direction = DIRECTIONS[c.direction[ch]]
    return ChannelUse(view.name, direction, spent, tasks, bds, view.errors, beat_words, label)
