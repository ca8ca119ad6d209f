"""What waits at the end of every run, and why: the deadlock explanation of an abstract run."""

from __future__ import annotations

from collections.abc import Sequence

from memtile.check.checked_program import Subject
from memtile.check.open_streams import OpenStreams
from memtile.check.play import MOST_CYCLES, Play
from memtile.explain.bd_chains import BdChains
from memtile.explain.deadlock.abstraction import Abstraction
from memtile.explain.deadlock.find import Open, hang, id_of
from memtile.explain.findings import Finding

_FEW = 2  # reasons that are said


def hangs(subject: Subject) -> tuple[Sequence[Finding], str]:
    """The roots of what waits at the end of every run, and why that is undecided; empty if it is decided."""
    streams = OpenStreams(subject)
    reason = _left_out(subject) or streams.reason
    if reason or not subject.log.tasks:
        return (), reason
    play = Play(subject, streams)
    play.go()
    found = Open(channels=play.open_channels(), hosts=play.hosts(), dropping=sorted(play.dropped))
    abstraction = Abstraction(play.undecided(), play.place)
    chains = BdChains(play.engine)
    hung = hang(play.engine, chains, found, {}, quiet=play.quiet, timed=False, abstraction=abstraction)
    reasons = list(play.reasons)
    if not play.quiet:
        reasons.insert(0, f"the array is still active after {MOST_CYCLES:,} cycles")
    decided = {node.id for node in hung.graph.nodes}
    if not reasons and any(id_of(party) not in decided for party in found.parties()):
        reasons.append("several packets share a route, and timing decides their order")
    more = ", ..." if len(reasons) > _FEW else ""
    return hung.findings, f"{', '.join(reasons[:_FEW])}{more}"


def _left_out(subject: Subject) -> str:
    """Why a design is not played; empty if it is."""
    if not subject.hosted:
        return "the host is not part of what is checked"
    if subject.log.loads:
        return "the host changes cores, streams or the whole configuration while tasks run"
    return "software resets channels" if subject.log.reset else ""
