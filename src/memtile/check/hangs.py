"""What waits at the end of an abstract run, and so in every run: the findings of a design that hangs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from memtile.check.checked_program import Subject
from memtile.check.every_timing import proof
from memtile.check.left_words import left_findings, part_moved
from memtile.check.play import BY_PACKETS, Play
from memtile.check.streams import OpenStreams, balance_of
from memtile.explain.bd_chains import BdChains
from memtile.explain.deadlock.context import CIRCLE_BEFORE_A_RUN, Abstraction
from memtile.explain.deadlock.find import Hang, Open, hang, id_of
from memtile.explain.deadlock.sentences import UNRELEASED
from memtile.explain.findings import Finding, Severity
from memtile.explain.orders.proof import FINISHES, STUCK, Proof

_FEW = 2  # reasons that are said
_NO_HOST = "the host is not part of what is checked"
_OBJECT = re.compile(r" objects? of @")


class Played(NamedTuple):
    """What an abstract run shows.

    Attributes:
        hang: what waits at the end of every run, and its roots.
        undecided: why that is undecided; empty if it is decided.
        proved: whether every timing ends so; None = nothing was played.
    """

    hang: Hang
    undecided: str
    proved: Proof | None = None


def hangs(subject: Subject) -> Played:
    """Play a design to its end."""
    streams = OpenStreams(subject)
    reason = left_out(subject) or streams.reason
    if reason or not (subject.log.tasks or (subject.kernels and not subject.hosted)):
        return Played(Hang(), reason, Proof("", (reason,)) if reason else None)
    play = Play(subject, streams)
    if streams.packets:
        play.let_packets_write()
    play.go()
    ending = [] if subject.made else play.unfinished()  # a run of kernels in Python ends when these have
    found = Open(play.open_channels(), ending, hosts=play.hosts(), dropping=sorted(play.dropped))
    why = partial(_hang, subject, play)
    if not subject.hosted:
        return Played(_whatever_a_host_does(play, found, why), _NO_HOST, Proof("", (_NO_HOST,)))
    hung = why(found)
    if play.quiet and not hung.findings and not play.hosts() and not play.reasons:
        hung = Hang(tuple(left_findings(subject)))
    reasons = list(play.reasons)
    if not play.quiet:
        reasons.insert(0, f"the array is still active after {play.most:,} cycles")
    decided = {node.id for node in hung.graph.nodes}
    if not reasons and any(id_of(party) not in decided for party in found.parties()):
        reasons.append("several packets share a route, and timing decides their order")
    more = ", ..." if len(reasons) > _FEW else ""
    undecided = f"{', '.join(reasons[:_FEW])}{more}"
    if streams.packets:
        return Played(_as_warnings(hung, hung.findings), undecided, Proof("", (BY_PACKETS,)))
    ends = STUCK if _is_error(hung.findings) else FINISHES
    if not play.quiet or (ends == FINISHES and next(iter(found.parties()), None) is not None):
        ends = ""
    assert play.orders is not None
    proved = proof(play.engine, subject, play.orders, ends, undecided)
    return Played(hung, undecided, proved.doubted(*play.let_go))


def _hang(subject: Subject, play: Play, found: Open) -> Hang:
    """Why those that wait at the end of an abstract run do so."""
    abstraction = Abstraction(play.undecided(), play.place, partial(part_moved, subject))
    return hang(
        play.engine,
        BdChains(play.engine),
        found,
        {},
        quiet=play.quiet,
        timed=False,
        abstraction=abstraction,
        balance=balance_of(subject),
    )


def _whatever_a_host_does(play: Play, found: Open, why: Callable[[Open], Hang]) -> Hang:
    """What waits in a text without host: warnings, as a host could set a lock; none if it has to do so.

    Cores whose loops have no end may wait for ever, but in a circle. No host has to do with object FIFOs
    between cores, for which others wait in vain.
    """
    hung = why(replace(found, cores=play.waiting_cores()))
    if any(UNRELEASED in each.message for each in hung.findings):
        return Hang()
    circles = [each for each in hung.findings if each.code == CIRCLE_BEFORE_A_RUN]
    if circles or not play.unfinished():
        return _as_warnings(hung, circles)
    hung = why(replace(found, cores=play.unfinished()))
    return _as_warnings(hung, [each for each in hung.findings if _OBJECT.search(each.message)])


def _as_warnings(hung: Hang, findings: Sequence[Finding]) -> Hang:
    return replace(hung, findings=tuple(replace(each, severity=Severity.WARNING) for each in findings))


def _is_error(findings: Sequence[Finding]) -> bool:
    return any(finding.severity is Severity.ERROR for finding in findings)


def left_out(subject: Subject) -> str:
    """Why a design is not played; empty if it is."""
    if not subject.hosted and not subject.made:
        return _NO_HOST
    if subject.log.loads:
        return "the host changes cores, streams or the whole configuration while tasks run"
    return "software resets channels" if subject.log.reset else ""
