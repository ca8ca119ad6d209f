"""From a stopped engine to a result: how the run ended, what waits, and what each channel did.

A kernel without end that waits for a lock has come to a good end when more work could still come to it: among
those who release the lock, and those who release what these wait for, somebody waits for words from outside.
It has too when those who gave it work have ended. A wait for a lock that nobody ever gave, and a circle of
those who wait for each other, are no good end. A wait at a cascade is one for the core at its other end.
Transfers to external memory that a host has started and not waited for go on when it has ended.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from memtile.arch.boards import CLOCK_MHZ
from memtile.arch.tiles import DIRECTIONS
from memtile.arch.timing import ARRAY_CLOCK_MHZ, changed
from memtile.explain.bd_chains import BdChains, lock_seen
from memtile.explain.channel_view import ChannelView, channel_views
from memtile.explain.checks import Check
from memtile.explain.core_view import CoreView, awaited, core_views, unsimulated
from memtile.explain.deadlock.balance_findings import sure_lengths
from memtile.explain.deadlock.context import HostWaiting
from memtile.explain.deadlock.find import Hang, Open, hang
from memtile.explain.deadlock.planned_words import PlannedWords
from memtile.explain.deadlock.word_balance import WordBalance
from memtile.explain.estimate import assumed, assumed_names, estimated, measured
from memtile.explain.findings import Finding
from memtile.explain.imbalance import imbalances_of, used_again, with_imbalances
from memtile.explain.kernel_findings import function_findings
from memtile.explain.lock_waits import lock_errors, owner
from memtile.explain.model_link import ModelLink
from memtile.explain.names import called, channel_name
from memtile.explain.packet_headers import header_findings, without_waits_of
from memtile.explain.packet_places import place_findings
from memtile.explain.race_findings import NamedArea
from memtile.explain.results import Array, ChannelUse, Result, Status
from memtile.explain.standstill import Standstill
from memtile.explain.stream_waits import WaitingWords, stream_waits
from memtile.explain.switch_ways import circuit_errors
from memtile.explain.walk_culprits import WalkCulprits
from memtile.explain.word_sources import WordSources
from memtile.explain.wrong_words import wrong_words
from memtile.model.state.causes import Cause, CorePhase, Phase
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine

Party = tuple[str, int]  # CORE or CHANNEL, and the model index
CORE, CHANNEL = "core", "channel"
_WORDS = -1  # instead of a lock: waits for no lock
_NOBODY = -2  # waits for what nobody can give
_CASCADE = -3  # and below: waits for core _CASCADE - lock, at the other end of its cascade


def good_waits(engine: Engine, chains: BdChains) -> Set[int]:
    """Cores whose kernels, if they are endless, may wait for a lock when a run ends.

    Args:
        engine: the model, in which nothing moves.
        chains: of its channels.
    """
    parties = [*_channels(engine), *_kernels(engine)]
    givers = _givers(engine, chains, parties)
    waits = {party: _wait(engine, party) for party in parties}
    hopeful = {party for party in parties if _may_end_there(*waits[party], givers)}
    grows = True
    while grows:
        more = {
            party
            for party, (lock, _) in waits.items()
            if party not in hopeful and not hopeful.isdisjoint(givers.get(lock, frozenset()))
        }
        hopeful |= more
        grows = bool(more)
    return {index for what, index in hopeful if what == CORE}


def _may_end_there(lock: int, had: bool, givers: Mapping[int, Set[Party]]) -> bool:
    """Whether the party waits for words, or for a lock that it had before and whose givers have all ended."""
    return lock == _WORDS or (had and not givers.get(lock))


def _channels(engine: Engine) -> Iterator[Party]:
    phase = engine.channels.phase
    return ((CHANNEL, ch) for ch in engine.channels_in_use() if phase[ch] not in (Phase.IDLE, Phase.HALTED))


def _kernels(engine: Engine) -> Iterator[Party]:
    phase = engine.state.cores.phase
    return ((CORE, core) for core in engine.cores.running if phase[core] != CorePhase.DONE)


def _givers(engine: Engine, chains: BdChains, parties: list[Party]) -> dict[int, set[Party]]:
    """The parties that will release each lock if they continue: by a BD chain, or as a kernel did before.

    A kernel that has released none yet may release any that it sees and that nobody else will release.
    """
    found: dict[int, set[Party]] = {}
    known = set(parties)
    for lock, releases in chains.releases.items():
        there = {(CHANNEL, release.ch) for release in releases} & known
        if there:
            found[lock] = there
    for what, index in parties:
        for lock in engine.cores.running[index].released if what == CORE else ():
            found.setdefault(lock, set()).add((what, index))
    for asking in parties:
        lock, _ = _wait(engine, asking)
        if lock <= _CASCADE and (CORE, _CASCADE - lock) in known:
            found[lock] = {(CORE, _CASCADE - lock)}
        if lock < 0 or lock in found:
            continue
        tile, _ = owner(engine, lock)
        new = {core for what, core in parties if what == CORE and not engine.cores.running[core].released}
        may = {(CORE, core) for core in new if (CORE, core) != asking and _reaches(engine, core, tile)}
        if may:
            found[lock] = may
    return found


def _reaches(engine: Engine, core: int, tile: int) -> bool:
    return tile in engine.spec.tiles.core_reach[engine.state.cores.tile[core]]


def _wait(engine: Engine, party: Party) -> tuple[int, bool]:
    """The lock that a party waits for, or what stands for one, and whether it had it before."""
    what, index = party
    if what == CORE:
        cores, running = engine.state.cores, engine.cores.running[index]
        lock, beside = int(cores.target[index]), awaited(engine, index)
        if beside is not None:
            had = CorePhase(int(cores.phase[index])) in running.links
            return (_CASCADE - beside if beside >= 0 else _NOBODY), had and beside >= 0
        if cores.phase[index] != CorePhase.ACQUIRE:
            return _WORDS, True  # it works
        return lock, lock in running.taken
    c = engine.channels
    if Cause(int(c.why[index])) is not Cause.LOCK_ACQUIRE:
        return _WORDS, True
    seen = lock_seen(engine, int(c.tile[index]), int(c.acquire_lock[index]))
    return (_WORDS, True) if seen is None else (seen, bool(c.bds_done[index] > 0))


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
    areas: Sequence[NamedArea] = (),
) -> Result:
    """The result of a run.

    Args:
        engine: the model, stopped.
        stop: why the clock stopped; None = interrupted.
        outputs: arrays taken from the MM2S ports, by channel name.
        checks: their comparisons with the expected outputs.
        timed: False after an untimed run.
        before: cycles of earlier runs.
        listening: model indices of channels that take what may come; a run may end while they wait.
        hosts: what host sequences wait for that have not ended.
        moves: by model index of a channel the names of the buffers that it reads or writes.
        areas: the buffers of the design.
    """
    chains = BdChains(engine)
    busy, cores = channel_views(engine, chains), list(core_views(engine, chains))
    found = _OpenWork.of(engine, stop, [view for view in busy if view.ch not in listening], cores, checks)
    status = _status(stop, busy, bool(hosts or found))
    said = status is not Status.LIMIT or _reasons.get()
    waits = said and status is not Status.FINISHED
    stopped = _hang(found, hosts, moves or {}, areas, stop, status, timed=timed) if said else Hang()
    depends = assumed_names(engine) if timed else []
    return Result(
        status=status,
        timed=timed,
        cycles=engine.now,
        clock_mhz=CLOCK_MHZ.get(engine.board, ARRAY_CLOCK_MHZ),
        board=engine.board,
        channels=tuple(_use(view, timed, (moves or {}).get(view.ch, ())) for view in busy),
        outputs=outputs,
        checks=tuple(checks),
        waiting=(*(host.text for host in hosts), *found.lines()) if waits else (),
        resting=tuple(found.resting()) if status is Status.FINISHED else (),
        unsimulated=tuple(unsimulated(engine)),
        assumed=tuple(assumed(engine, depends)) if timed else (),
        measured=tuple(measured(engine, depends)) if timed else (),
        estimate=estimated(engine, depends) if timed else None,
        cores=tuple(view.use() for view in cores) if timed else (),
        before=before,
        timing=changed(engine.timing, engine.board) if timed else {},
        host_cycles=engine.host.waited if timed else 0,
        **_skipped(engine if timed else None),
        errors=(*_channel_errors(busy), *lock_errors(engine), *circuit_errors(engine)),
        findings=_findings(stopped, checks, status, found, areas, before, is_used=bool(busy)),
        waits=stopped.graph,
        kept=ModelLink(engine),
    )


def _skipped(engine: Engine | None) -> dict[str, Any]:
    """What is to be said of the cycles that were not stepped; nothing of an untimed run."""
    if engine is None:
        return {}
    skipper = engine.skipper
    found = {"jumped": skipper.jumped, "kept_off": skipper.kept_off}
    return {**found, "idle": skipper.account.idle, "stepped": skipper.account.stepped}


def _findings(
    stopped: Hang,
    checks: Sequence[Check],
    status: Status,
    found: _OpenWork,
    areas: Sequence[NamedArea],
    before: int,
    *,
    is_used: bool,
) -> tuple[Finding, ...]:
    """What is wrong: texts and waits first, then results and functions.

    Args:
        stopped: what waits.
        checks: comparisons with the expected outputs.
        status: how the run ended.
        found: what has not ended.
        areas: the buffers of the design.
        before: cycles of earlier runs.
        is_used: some channel did or was asked anything; of others nothing is planned.
    """
    waits = with_imbalances(stopped.findings, stopped.graph, imbalances_of(found.engine), found.engine)
    wrong = (*_wrong(checks, status, found, areas), *function_findings(found.engine))
    engine = found.engine

    def plan() -> PlannedWords:
        return PlannedWords.of(engine, BdChains(engine))

    places = [*place_findings(engine, plan)] if is_used else []
    headers = [*header_findings(engine, plan)] if is_used else []
    waits = tuple(without_waits_of(headers, waits))
    again = used_again(imbalances_of(engine)) if not waits else []
    return (*places, *headers, *_hosts_first(waits), *wrong, *again, *_stands(found, before))


def _stands(found: _OpenWork, before: int) -> Iterator[Finding]:
    """That nothing but traces, and cores without locks, moved for long in a run that met its limit."""
    still = Standstill.of(found.engine, before) if found.at_limit and _reasons.get() else None
    if still is not None:
        channels = [view.ch for view in found.channels if not view.at_rest]
        cores = [view.core for view in found.cores if not view.at_rest(found.good)]
        finding = still.finding(found.engine, channels, cores)
        yield from [finding] if finding is not None else []


def _wrong(
    checks: Sequence[Check], status: Status, found: _OpenWork, areas: Sequence[NamedArea]
) -> Iterator[Finding]:
    """What makes outputs of a finished run wrong: a length, or a mistake that explains all of one."""
    if status is Status.FINISHED and not all(check.exact for check in checks):
        planned = PlannedWords.of(found.engine, BdChains(found.engine))
        yield from sure_lengths(WordBalance(planned, areas))
        yield from wrong_words(checks, WordSources(planned, areas), WalkCulprits(planned))


_NEVER = ("MT0313", "MT0314")  # waits of a host that no work of the array ends
_FOR_MORE = ("MT0302", "MT0304", "MT0309", "MT0312")  # waits for more work


def _hosts_first(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Findings, first those about hosts that wait in vain, without what may wait for their next step."""
    hosts = [each for each in findings if each.code in _NEVER]
    yield from hosts
    left_out = (*_NEVER, *_FOR_MORE) if hosts else ()
    yield from (each for each in findings if each.code not in left_out)


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
        at_limit: the run met its limit of cycles.
    """

    engine: Engine
    channels: Sequence[ChannelView]
    cores: Sequence[CoreView]
    words: WaitingWords
    missing: Mapping[str, int]
    good: Set[int]
    at_limit: bool

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
        words = stream_waits(engine) if stop is Stop.QUIET else WaitingWords()
        missing = {check.port: check.missing for check in checks if check.missing}
        asks = stop is Stop.QUIET and any(view.waits_endlessly for view in open_cores)
        good = good_waits(engine, open_cores[0].chains) if asks else frozenset()
        return cls(engine, channels, open_cores, words, missing, good, stop is Stop.LIMIT)

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
        """The channels and cores with work left, to find out why."""
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
    areas: Sequence[NamedArea],
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
    balance = WordBalance(PlannedWords.of(found.engine, chains), areas)
    return hang(found.engine, chains, work, moves, quiet=stop is Stop.QUIET, timed=timed, balance=balance)


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
