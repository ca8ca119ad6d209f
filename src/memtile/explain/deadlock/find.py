"""The findings about a run that did not come to its end, and the graph of its waits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from memtile.explain.bd_chains import BdChains
from memtile.explain.deadlock.balance_findings import has_done_its_part, with_balance, without_followers
from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.circles import Knot, knot_finding
from memtile.explain.deadlock.context import BEFORE_A_RUN, Abstraction, HostWaiting
from memtile.explain.deadlock.ends import ChainEnd
from memtile.explain.deadlock.exchanged import with_exchanged
from memtile.explain.deadlock.graph import PartyKind, Via, WaitEdge, WaitGraph, WaitNode
from memtile.explain.deadlock.knots import roots, waiting_for
from memtile.explain.deadlock.odd_core import with_odd_core
from memtile.explain.deadlock.sentences import Moves, Sentences
from memtile.explain.deadlock.switch_waits import Need, Party
from memtile.explain.deadlock.word_balance import WordBalance
from memtile.explain.findings import CONNECTIONS, OF_WAITS, Finding, Severity
from memtile.explain.loose_ends import LooseEnds, LoosePair
from memtile.model.state.causes import Cause, Phase
from memtile.sim.loop.engine import Engine

_FOLLOWS = OF_WAITS - {"MT0305", "MT0306", "MT0325"}
"""Of waits that come of words that never arrive."""

_OF_HOSTS = (Via.END, Via.TOKEN)


@dataclass(frozen=True, slots=True)
class Open:
    """The channels and cores with work left.

    Attributes:
        channels: model indices.
        cores: model indices.
        ports: of switches, where words have come to an end.
        hosts: what they wait for.
        offered: by S2MM channel the words that wait before it, as a text.
        missing: by MM2S channel how many elements were expected of it and have not come.
        dropping: model indices of channels whose full queues drop tasks in every run: wrong by itself.
    """

    channels: Sequence[int] = ()
    cores: Sequence[int] = ()
    ports: Sequence[int] = ()
    hosts: Sequence[HostWaiting] = ()
    offered: Mapping[int, str] = field(default_factory=dict)
    missing: Mapping[int, int] = field(default_factory=dict)
    dropping: Sequence[int] = ()

    def parties(self) -> Iterator[Party]:
        """All of them as nodes."""
        yield from (
            Party(PartyKind.CHANNEL, ch)
            for ch in dict.fromkeys((*self.channels, *self.offered, *self.missing))
        )
        yield from (Party(PartyKind.CORE, core) for core in self.cores)
        yield from (Party(PartyKind.PORT, port) for port in self.ports)
        yield from (Party(PartyKind.HOST, number) for number in range(len(self.hosts)))


@dataclass(frozen=True, slots=True)
class Hang:
    """What a run that did not come to its end is about.

    Attributes:
        findings: the roots, knots first.
        graph: who waits for whom.
    """

    findings: tuple[Finding, ...] = ()
    graph: WaitGraph = field(default_factory=WaitGraph)


def hang(
    engine: Engine,
    chains: BdChains,
    found: Open,
    moves: Moves,
    *,
    quiet: bool,
    timed: bool,
    of_registers: bool = False,
    abstraction: Abstraction | None = None,
    balance: WordBalance | None = None,
) -> Hang:
    """Find out why a run does not go on.

    Args:
        engine: the model, stopped.
        chains: of its channels.
        found: who has not come to the end.
        moves: by model index of a channel the buffers that it reads or writes.
        quiet: whether nothing can move any more.
        timed: whether the run had cycles.
        of_registers: whether the engine holds what registers show of a machine, and no history.
        abstraction: of a run that stands for all runs: its findings are those before a run.
        balance: of the lengths of its descriptors; None = they are not looked at.
    """
    waits = EngineWaits(
        engine, chains, found.hosts, quiet=quiet, of_registers=of_registers, abstraction=abstraction
    )
    waits.reach(found.parties())
    dead = waits.dead()
    words = Sentences(waits, moves, timed=timed)
    needs = owed(dead, waits)
    ends = roots(dead, needs, _mild(dead, waits, found), _wanted(dead, waits, found))
    knots = [Knot(each, waits) for each in ends if len(each) > 1]
    findings = [knot_finding(knot, waits, words) for knot in knots]
    dropping = {Party(PartyKind.CHANNEL, ch) for ch in found.dropping}
    alone: list[tuple[Party, Finding]] = []
    for party in dict.fromkeys((*(each[0] for each in ends if len(each) == 1), *sorted(dropping))):
        waiting = waiting_for(party, needs, dead)
        made = ChainEnd(party, waiting, waits, words, found.offered, found.missing).finding()
        alone += [(party, made)] if made is not None else []
    alone = alone if of_registers else with_odd_core(alone, dead, waits, words)
    findings = [*findings, *without_followers(alone, waits)]
    unasked = [made for party, made in alone if _is_unasked(party, waits, dead)]
    resting = [made for party, made in alone if _is_between_rounds(party, waits, dead)]
    findings = _awaited_first(findings, [*resting, *unasked])
    findings = _connections_first(findings, unasked, waits, words)
    findings = with_exchanged(with_balance(findings, balance), found.offered, waits, words)
    return Hang(
        tuple(_dated(findings, engine.now if timed else None)), _graph(dead, waits, words, knots, ends)
    )


def owed(dead: Collection[Party], waits: EngineWaits) -> dict[Party, list[Need]]:
    """What each waits for, without those who have done their part of a join.

    Where one waits for as many units of a lock as several channels release together, those who have released
    it more often than another one owe nothing.
    """
    needs = {party: list(each) for party, each in waits.needs.items()}
    for lock in (party for party in dead if party.kind is PartyKind.LOCK):
        times = {
            need.of: waits.chains.times_released(need.of.number, lock.number)
            for need in needs[lock]
            if need.via is Via.RELEASE and need.of.kind is PartyKind.CHANNEL
        }
        known = [count for count in times.values() if count is not None]
        together = any(-waits.operand(party) == len(times) for party in waiting_for(lock, needs, dead))
        if len(times) > 1 and len(known) == len(times) == len(needs[lock]) and together:
            needs[lock] = [need for need in needs[lock] if times[need.of] == min(known)]
    return needs


def _mild(dead: Iterable[Party], waits: EngineWaits, found: Open) -> set[Party]:
    """Who may have done all its work: idle channels without loss or lack, and cores that have ended."""
    c = waits.engine.channels
    channels = (party for party in dead if party.kind is PartyKind.CHANNEL)
    idle = {
        party
        for party in channels
        if c.phase[party.number] == Phase.IDLE
        and not c.pushes_lost[party.number]
        and party.number not in found.offered
        and party.number not in found.missing
    }
    cores = waits.engine.cores.running
    ended = (party for party in dead if party.kind is PartyKind.CORE and party.number in cores)
    return idle | {party for party in ended if waits.givers.ended(party.number)}


def _wanted(dead: Iterable[Party], waits: EngineWaits, found: Open) -> set[Party]:
    """Who has to come to its end; without channels at rest that got the words which another one waits for."""
    missed = {
        need.of.number
        for party in dead
        for need in waits.needs[party]
        if need.via is Via.WORDS and need.of.kind is PartyKind.CHANNEL and party.number not in found.offered
    }
    at_rest = set(found.offered) - {*found.channels, *found.missing}
    astray = {ch for ch in at_rest if waits.streams.senders_to(ch) & missed}
    return set(found.parties()) - {Party(PartyKind.CHANNEL, ch) for ch in astray}


def _is_unasked(party: Party, waits: EngineWaits, dead: set[Party]) -> bool:
    """Whether a party is a channel that is sent nothing, and for which nothing else waits."""
    if party.kind is not PartyKind.CHANNEL or waiting_for(party, waits.needs, dead):
        return False
    return bool(waits.engine.channels.why[party.number] == Cause.STREAM_STARVED)


def _is_between_rounds(party: Party, waits: EngineWaits, dead: set[Party]) -> bool:
    """Whether a party has sent all, and those who wait for it have no descriptor half done."""
    c, waiting = waits.engine.channels, waiting_for(party, waits.needs, dead)
    if not waiting or not has_done_its_part(party, waits):
        return False
    return all(
        other.kind is PartyKind.CHANNEL
        and c.why[other.number] == Cause.STREAM_STARVED
        and c.bds_done[other.number]
        and c.moved[other.number] <= 0
        for other in waiting
    )


def _awaited_first(findings: Sequence[Finding], late: Sequence[Finding]) -> list[Finding]:
    """The findings; those that a design may have that is right are warnings behind others."""
    rest = [each for each in findings if each not in late]
    last = [each for each in findings if each in late]
    is_other = any(each.severity is not Severity.NOTE for each in rest)
    return [*rest, *(replace(each, severity=Severity.WARNING) if is_other else each for each in last)]


def _connections_first(
    findings: Sequence[Finding], unasked: Sequence[Finding], waits: EngineWaits, words: Sentences
) -> list[Finding]:
    """The findings, those about streams that lead to or from nothing first, without what comes of them."""
    messages = {each.message for each in unasked}
    found = [each for each in findings if each.code in CONNECTIONS and each.message not in messages]
    if not found or waits.of_registers:
        return list(findings)
    awaited = {need.of.number for needs in waits.needs.values() for need in needs if need.via in _OF_HOSTS}
    ends = LooseEnds(waits.engine, _with_tasks(waits), partial(_may_start, waits), awaited)
    for pair in ends.pairs():
        made = _of_pair(pair, waits, words)
        whos = {side.who for side in made.sides}
        rest = [each for each in found if whos.isdisjoint(side.who for side in each.sides)]
        found = [made, *rest] if len(rest) < len(found) else found
    return [*found, *(each for each in findings if each.code not in _FOLLOWS | CONNECTIONS)]


def _with_tasks(waits: EngineWaits) -> set[int]:
    """The channels that have or had tasks."""
    c = waits.engine.channels
    return set(np.flatnonzero((c.phase != Phase.IDLE) | (c.queue_count > 0) | (c.bds_done > 0)).tolist())


def _may_start(waits: EngineWaits, ch: int) -> bool:
    return any(host.may_start(ch) for host in waits.hosts)


def _of_pair(pair: LoosePair, waits: EngineWaits, words: Sentences) -> Finding:
    """The finding about two channels of which one lacks what the other has."""
    parties = [*zip((pair.first, pair.second), pair.does, strict=True)]
    parties += [(pair.partner, "is at the other end")] if pair.partner >= 0 else []
    sides = [words.side(Party(PartyKind.CHANNEL, ch), does) for ch, does in parties]
    code = "MT0312" if waits.abstraction is None else BEFORE_A_RUN["MT0312"]
    return Finding(code, Severity.ERROR, f"{pair.text}.", sides, fix=pair.fix)


def _dated(findings: Iterable[Finding], now: int | None) -> Iterator[Finding]:
    """The findings, with the cycle in which the run stood still; once for those that say the same."""
    once: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        same = once.setdefault((finding.code, finding.message), finding)
        once[finding.code, finding.message] = replace(
            same, sides=tuple(dict.fromkeys((*same.sides, *finding.sides)))
        )
    for finding in once.values():
        yield finding if now is None else replace(finding, cycles=(now, now))


def _graph(
    dead: set[Party],
    waits: EngineWaits,
    words: Sentences,
    knots: Sequence[Knot],
    ends: Sequence[Sequence[Party]],
) -> WaitGraph:
    """The waits of those that nobody can help."""
    in_root = {party for each in ends for party in each}
    in_knot = {(party, need.of) for knot in knots for party, need in knot.needs()}
    shown = sorted(dead)
    nodes = [
        WaitNode(id_of(party), party.kind, words.name(party), words.state(party), party in in_root)
        for party in shown
    ]
    edges = [
        WaitEdge(
            id_of(party),
            id_of(need.of),
            need.via,
            words.need(party, need),
            (party, need.of) in in_knot,
            need.way,
        )
        for party in shown
        for need in waits.needs[party]
        if need.of in dead
    ]
    return WaitGraph(tuple(nodes), tuple(edges))


def id_of(party: Party) -> str:
    """Id of the node of a party."""
    return f"{party.kind.value} {party.number}"
