"""Of several cores that have ended and feed one stream, the one that made fewer rounds than all others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.graph import PartyKind, Via
from memtile.explain.deadlock.sentences import Sentences
from memtile.explain.deadlock.switch_waits import Party
from memtile.explain.findings import Finding, Severity

_FEWEST = 3  # cores: of two, either may be right
ODD_CORE = "MT0128"


class _Feeder(NamedTuple):
    """A core that has ended and the channel that sends what it made.

    Attributes:
        core: that has ended.
        ch: model index of the channel, which waits for its lock.
        rounds: of the channel so far.
        words: of each.
    """

    core: Party
    ch: int
    rounds: int
    words: int


def with_odd_core(
    found: Sequence[tuple[Party, Finding]], dead: Collection[Party], waits: EngineWaits, words: Sentences
) -> list[tuple[Party, Finding]]:
    """The ends of waits; of cores that ended after other rounds than all others those others left out.

    Args:
        found: the ends of waits and their findings.
        dead: all that wait for ever.
        waits: of the run.
        words: for sentences.
    """
    feeders = {each.core: each for each in _feeders([party for party, _ in found], dead, waits)}
    groups: dict[Party, list[_Feeder]] = {}
    for receiver in dead:
        for need in waits.needs[receiver] if receiver.kind is PartyKind.CHANNEL else ():
            own = [each for each in feeders.values() if need.of == Party(PartyKind.CHANNEL, each.ch)]
            groups.setdefault(receiver, []).extend(own if need.via is Via.WORDS else ())
    rest = list(found)
    for receiver, group in groups.items():
        odd = _odd_one(group)
        if odd is None or not _lacks(receiver, odd, group, waits):
            continue
        others = [each for each in group if each is not odd]
        made = _finding(receiver, odd, others, words)
        cores = {each.core for each in group}
        rest = [(odd.core, made), *(each for each in rest if each[0] not in cores)]
    return rest


def _feeders(ends: Sequence[Party], dead: Collection[Party], waits: EngineWaits) -> list[_Feeder]:
    """Cores that have ended, each with the one channel that waits for it."""
    c, found = waits.engine.channels, list[_Feeder]()
    cores = [party for party in ends if party.kind is PartyKind.CORE and waits.givers.ended(party.number)]
    for core in cores:
        locks = [party for party in dead if any(need.of == core for need in waits.needs[party])]
        waiting = {party for party in dead if any(need.of in locks for need in waits.needs[party])}
        waiting |= {party for party in locks if party.kind is PartyKind.CHANNEL}
        channels = [party.number for party in waiting if party.kind is PartyKind.CHANNEL]
        chain = waits.chains.of(channels[0]) if len(channels) == len(waiting) == 1 else ()
        if len(chain) == 1:
            length = waits.chains.length(channels[0], chain[0])
            found.append(_Feeder(core, channels[0], int(c.bds_done[channels[0]]), length))
    return found


def _odd_one(group: Sequence[_Feeder]) -> _Feeder | None:
    """The one that made fewer rounds than all others, which made as many as each other."""
    if len(group) < _FEWEST or len({each.words for each in group}) != 1:
        return None
    first, *others = sorted(group, key=lambda each: each.rounds)
    same = {each.rounds for each in others}
    return first if len(same) == 1 and first.rounds not in same else None


def _lacks(receiver: Party, odd: _Feeder, group: Sequence[_Feeder], waits: EngineWaits) -> bool:
    """Whether a receiver lacks just the words of the rounds that one did not make, headers or not."""
    c, ch = waits.engine.channels, receiver.number
    chain = waits.chains.of(ch)
    if len(chain) != 1 or c.runs_left[ch]:
        return False
    missing = waits.chains.length(ch, chain[0]) - max(int(c.moved[ch]), 0)
    rounds = max(each.rounds for each in group) - odd.rounds
    return missing in (rounds * odd.words, rounds * (odd.words + 1))


def _finding(receiver: Party, odd: _Feeder, others: Sequence[_Feeder], words: Sentences) -> Finding:
    name, usual = words.name(odd.core), others[0].rounds
    channel = words.name(Party(PartyKind.CHANNEL, odd.ch))
    does = f"has ended after {_times(odd.rounds)}"
    rest = " and ".join(words.name(each.core) for each in others[:2])
    more = f" and {len(others) - 2} more" if len(others) > 2 else ""
    says = (
        f"{name} {does}, and {rest}{more}, which feed the same stream, after {usual}; {words.name(receiver)} "
        f"waits for words at {words.moved(receiver.number)}, which {channel} would send"
    )
    sides = (words.side(odd.core, does), words.side(receiver))
    return Finding(
        ODD_CORE, Severity.ERROR, f"{says}.", sides, fix=f"Let {name} make {usual} rounds, as the others do."
    )


def _times(rounds: int) -> str:
    return "1 round" if rounds == 1 else f"{rounds} rounds"
