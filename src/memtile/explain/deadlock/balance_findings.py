"""Findings about descriptors whose length is off, and what of a stopped run they explain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.graph import PartyKind
from memtile.explain.deadlock.switch_waits import Party
from memtile.explain.deadlock.unsent_ids import UNSENT, unsent_findings
from memtile.explain.deadlock.word_balance import OffLength, WordBalance
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.names import called
from memtile.model.state.causes import Phase

_SURE = 3  # weight of what speaks for another length, less that of what is against it
_ENDS = frozenset(("MT0302", "MT0304", "MT0309", "MT0312", "MT0103", "MT0108", "MT0109", "MT0113"))
"""Findings about a side that has done its part, or gets nothing: a wrong length anywhere leads to them."""
_GUESS, _BOTH_ENDS = "MT0324", "MT0108"
WAITS = _ENDS | {"MT0301", "MT0303", "MT0307", "MT0310", "MT0321", "MT0106"}
"""Those and circles: a wrong length makes them too, where two ways come together."""


def with_balance(findings: Sequence[Finding], balance: WordBalance | None) -> list[Finding]:
    """The findings of a run that does not go on; the length that explains them takes their place.

    Args:
        findings: about the roots of waits.
        balance: of the design; None = it is not known.
    """
    if balance is None or not findings:
        return list(findings)
    rest, off = [each for each in findings if each.code not in WAITS], balance.off
    exchanged: list[Finding] = []
    if len(rest) < len(findings):
        unsent = [replace(each, severity=Severity.ERROR) for each in unsent_findings(balance.planned)]
        exchanged = [*unsent, *_exchanged_flows(balance, Severity.ERROR)]
    if exchanged or not off:
        return [*exchanged, *rest] if exchanged else list(findings)
    explained = WAITS if off[0].sure >= _SURE else _ENDS
    rest = [each for each in findings if each.code not in explained]
    if len(rest) == len(findings) or (rest and off[0].sure < _SURE):
        return list(findings)
    made = length_findings(balance, Severity.ERROR, least=off[0].sure)
    if any(each.code == _GUESS for each in made) and any(each.code == _BOTH_ENDS for each in findings):
        return list(findings)  # which has both ends already
    return [*made, *rest]


_CAUSES = frozenset(("MT0305", "MT0306", "MT0308", "MT0311", "MT0315", "MT0316", UNSENT))
"""What is wrong by itself, whoever waits for it."""
_LOST, _NEVER_RELEASED = "MT0306", "MT0302"


def without_followers(found: Sequence[tuple[Party, Finding]], waits: EngineWaits) -> list[Finding]:
    """The findings, without sides that have done their part, where something is wrong by itself.

    Nor does a lock count that nothing releases where a packet is lost: it may be one that writes the lock.

    Args:
        found: the ends of waits and their findings.
        waits: of the run.
    """
    codes = {each.code for _, each in found}
    if codes.isdisjoint(_CAUSES):
        return [each for _, each in found]
    rest = [
        (party, each) for party, each in found if each.code == UNSENT or not has_done_its_part(party, waits)
    ]
    if _LOST not in codes:
        return [each for _, each in rest]
    return [each for party, each in rest if party.kind is not PartyKind.LOCK or each.code != _NEVER_RELEASED]


def has_done_its_part(party: Party, waits: EngineWaits) -> bool:
    """Whether a channel or core did what it was to do, and came to its end."""
    engine = waits.engine
    if party.kind is PartyKind.CORE:
        running = engine.cores.running.get(party.number)
        done = running is not None and bool(running.taken or running.released)
        return done and waits.givers.ended(party.number)
    c, ch = engine.channels, party.number
    idle = party.kind is PartyKind.CHANNEL and c.phase[ch] == Phase.IDLE
    return bool(idle and c.bds_done[ch] and not c.pushes_lost[ch])


def sure_lengths(balance: WordBalance) -> list[Finding]:
    """The findings about lengths that are surely off, of a design that need not hang."""
    exchanged = [*_exchanged_flows(balance, Severity.WARNING)]
    return exchanged or length_findings(balance, Severity.WARNING, least=_SURE)


def length_findings(balance: WordBalance, severity: Severity, *, least: int) -> list[Finding]:
    """One finding for each channel with descriptors whose length is off.

    Args:
        balance: of the design.
        severity: of what is sure; a guess between two is a warning.
        least: how sure it has to be.
    """
    by_channel: dict[int, list[OffLength]] = {}
    for each in balance.off:
        if each.sure >= least:
            by_channel.setdefault(each.bd.ch, []).append(each)
    groups = list(by_channel.values())
    if len(groups) == 2 and _blame_each_other(*groups):
        return [_one_of_two(balance, *groups)]
    return [_finding(balance, group, severity) for group in groups]


def _exchanged_flows(balance: WordBalance, severity: Severity) -> Iterator[Finding]:
    """Two streams to one tile, or from one, of which each carries what the receiver of the other takes."""
    planned = balance.planned
    words = {
        ch: sum(bd.length for bd in bds)
        for ch, bds in planned.bds.items()
        if planned.is_complete(ch) and not planned.is_external(ch)
    }
    tile = balance.engine.channels.tile
    for (first, one), (second, other) in combinations(planned.circuits.items(), 2):
        sent, taken = ([words.get(ch, 0) for ch in ends] for ends in ((first, second), (one, other)))
        shared = tile[first] == tile[second] or tile[one] == tile[other]
        lengths = ({bd.length for bd in planned.bds[ch]} for ch in (first, one))
        alike = next(lengths) == next(lengths)  # a ring of more buffers at one end is no other block
        if alike or 0 in sent or sent[0] == sent[1] or sent != taken[::-1] or not shared:
            continue
        names = [called(balance.engine, ch) for ch in (first, one, second, other)]
        does = [
            f"sends {n} words in a round to {end}, which takes {m}"
            for n, end, m in zip(sent, names[1::2], taken, strict=True)
        ]
        message = f"{names[0]} {does[0]}, and {names[2]} {does[1]}: their flows are exchanged."
        sides = [Side(names[2 * n], does[n], planned.bds[ch][0].said) for n, ch in enumerate((first, second))]
        fix = f"Let {names[0]} send to {names[3]}, and {names[2]} to {names[1]}."
        yield Finding("MT0139", severity, message, sides, fix=fix)


def _blame_each_other(one: Sequence[OffLength], two: Sequence[OffLength]) -> bool:
    """Whether two channels only disagree with each other, both as surely."""
    pairs = ((one, two), (two, one))
    return one[0].sure == two[0].sure and all(
        {other.ch for each in first for reason in each.reasons for other in reason.others}
        == {second[0].bd.ch}
        for first, second in pairs
    )


def _finding(balance: WordBalance, off: Sequence[OffLength], severity: Severity) -> Finding:
    does, fix = _does(balance, off), _fix(off)
    who = called(balance.engine, off[0].bd.ch)
    texts = list(dict.fromkeys(reason.text for reason in off[0].reasons if reason.text))
    because = f": {_listed(texts)}" if texts else ""
    return Finding("MT0323", severity, f"{who} {does}{because}.", [*_sides(balance, off)], fix=fix)


def _one_of_two(balance: WordBalance, one: Sequence[OffLength], two: Sequence[OffLength]) -> Finding:
    first, second = (called(balance.engine, off[0].bd.ch) for off in (one, two))
    verbs = [_verb(balance, off) for off in (one, two)]
    message = (
        f"One of these two is too long or too short: {first} {verbs[0]} {one[0].bd.length} words with "
        f"{_numbers(one)}, and {second} {verbs[1]} {two[0].bd.length} with {_numbers(two)}."
    )
    sides = [*_sides(balance, one), *_sides(balance, two)]
    return Finding("MT0324", Severity.WARNING, message, sides, fix="Make both as long as each other.")


def _sides(balance: WordBalance, off: Sequence[OffLength]) -> Iterator[Side]:
    """The channel itself, and those who say so."""
    who = called(balance.engine, off[0].bd.ch)
    said = off[0].bd.said
    place = f"BD {off[0].bd.number}, {said}" if said else f"BD {off[0].bd.number}"
    yield Side(who, _does(balance, off), place)
    others = {other.ch: other for reason in off[0].reasons for other in reason.others}
    for other in others.values():
        if other.ch != off[0].bd.ch:
            verb = "takes" if balance.receives(other.ch) else "sends"
            yield Side(
                called(balance.engine, other.ch),
                f"{verb} {other.length} words with BD {other.number}",
                other.said,
            )


def _verb(balance: WordBalance, off: Sequence[OffLength]) -> str:
    return "takes" if balance.receives(off[0].bd.ch) else "sends"


def _does(balance: WordBalance, off: Sequence[OffLength]) -> str:
    length, wanted, verb = off[0].bd.length, off[0].length, _verb(balance, off)
    if length < wanted:
        return f"{verb} {length} of {wanted} words with {_numbers(off)}"
    return f"{verb} {length} words with {_numbers(off)}, {length - wanted} too many"


def _fix(off: Sequence[OffLength]) -> str:
    return f"Give {_numbers(off)} a length of {off[0].length} words."


def _numbers(off: Sequence[OffLength]) -> str:
    numbers = list(dict.fromkeys(str(each.bd.number) for each in off))
    if len(numbers) == 1:
        return f"BD {numbers[0]}"
    return f"each of BDs {', '.join(numbers[:-1])} and {numbers[-1]}"


def _listed(texts: Sequence[str]) -> str:
    if len(texts) < 3:
        return " and ".join(texts)
    return f"{', '.join(texts[:-1])}, and {texts[-1]}"
