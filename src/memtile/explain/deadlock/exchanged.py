"""What takes the place of waits: results of a host with each other's length, ends of which one is coded."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from memtile.arch.tiles import S2MM
from memtile.explain.coded_ends import CodedPart, coded_findings
from memtile.explain.deadlock.balance_findings import WAITS
from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.graph import PartyKind
from memtile.explain.deadlock.planned_words import PlannedWords, descriptor_of
from memtile.explain.deadlock.sentences import Sentences
from memtile.explain.deadlock.switch_waits import Party
from memtile.explain.findings import Finding, Severity
from memtile.model.state.causes import Cause, Phase


def with_exchanged(
    findings: Sequence[Finding], offered: Collection[int], waits: EngineWaits, words: Sentences
) -> list[Finding]:
    """The findings of a run that does not go on; two exchanged results take the place of their waits.

    Args:
        findings: about the roots of waits.
        offered: model indices of the S2MM channels before which words wait.
        waits: of the run.
        words: for its sentences.
    """
    coded = [*coded_findings(waits.engine, _parts(waits))]
    if coded:
        return [*coded, *(each for each in findings if each.code not in WAITS)]
    pairs = [] if waits.abstraction is not None or waits.of_registers else [*_pairs(offered, waits)]
    if len(pairs) != 1:
        return list(findings)
    ((short, asked), (long, wanted)) = pairs[0]
    parties = [Party(PartyKind.CHANNEL, ch) for ch in (short, long)]
    names = [words.name(party) for party in parties]
    got = max(int(waits.engine.channels.moved[long]), 0)
    says = (
        f"{names[0]} is to receive {asked} words, and more come; {names[1]} is to receive {wanted}, "
        f"and {got} come: the two are exchanged"
    )
    fix = f"Give {names[0]} the transfer of {wanted} words, and {names[1]} that of {asked}."
    made = Finding("MT0336", Severity.ERROR, f"{says}.", [words.side(party) for party in parties], fix=fix)
    return [made, *(each for each in findings if each.code not in WAITS)]


def _parts(waits: EngineWaits) -> Iterator[CodedPart]:
    """What descriptors move of memory, and whether it goes through the coder."""
    engine = waits.engine
    for ch, number in waits.chains.present():
        bd = descriptor_of(engine, ch, number)
        place = engine.bd_places.get((int(engine.channels.tile[ch]), number), "")
        yield CodedPart(ch, bd.length, bd.compression, place)


def _pairs(offered: Collection[int], waits: EngineWaits) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """A result that is full and one that is not, which has got at most what the full one holds.

    Both are complete arrays, so that neither is a part of one by a wrong length.
    """
    c, planned = waits.engine.channels, PlannedWords.of(waits.engine, waits.chains)
    outputs = np.flatnonzero((c.external >= 0) & (c.direction == S2MM)).tolist()
    asked = {ch: length for ch in outputs if (length := _complete(planned, ch))}
    full = [ch for ch in asked if ch in offered and c.phase[ch] == Phase.IDLE]
    open_ = [ch for ch in asked if c.phase[ch] != Phase.IDLE and c.why[ch] == Cause.STREAM_STARVED]
    for one in full:
        for other in open_:
            if int(c.moved[other]) <= asked[one] < asked[other]:
                yield (one, asked[one]), (other, asked[other])


def _complete(planned: PlannedWords, ch: int) -> int:
    """Words that a channel moves of an array, where these are all; else 0."""
    part = planned.part_of_external(ch)
    return part[0] if part is not None and part[0] == part[1] else 0
