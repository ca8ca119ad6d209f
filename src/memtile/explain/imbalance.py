"""What cores and chains of BDs acquire and never release, and the waits that come of it.

The facts come from the text of a design. Some of them are wrong in every run; others are a fault only where
somebody waits for what is not released, so they are reported with such a wait alone. The waits that follow
from a missing release are not reported beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from memtile.explain.deadlock.graph import PartyKind, WaitGraph
from memtile.explain.findings import RACES, WRONG_LOCK, Finding, Severity
from memtile.jit.tables import plain
from memtile.model.state.causes import CorePhase
from memtile.sim.loop.engine import Engine

IMBALANCES = "__imbalances__"
"""Attribute of a kernel whose text is known: its :class:`Imbalance` facts."""

UNFIT, OTHER_TURNS, FOREIGN_PAIR, OTHER_ORDER = "MT0122", "MT0128", "MT0131", "MT0412"
OTHER_COUNT = "MT0342"
_OF_PAIRS = (UNFIT, FOREIGN_PAIR, OTHER_ORDER)
OF_TEXTS = frozenset(("MT0118", "MT0119", *_OF_PAIRS))
"""Codes of what is wrong with what a text acquires and releases, whatever waits in a run."""
_AT_REST = ("MT0304", "MT0108")
"""Of streams that have sent all: a core that goes round with what it holds waits for more of them."""
_AT_LOCKS = ("MT0302", "MT0309", "MT0103")
"""Of a wait for a lock that has no end, with a core that is thought to be the one who does not release it."""
_WAITS = frozenset(
    ("MT0103", "MT0106", "MT0108", "MT0109", "MT0112", "MT0301", "MT0302", "MT0303", "MT0304", "MT0305")
) | {
    "MT0307",
    "MT0309",
    "MT0310",
    "MT0312",
    "MT0313",
    "MT0314",
    "MT0317",
    "MT0322",
    "MT0323",
    "MT0324",
    "MT0325",
    OTHER_TURNS,
}
"""Of a wait, which may come of whatever is wrong with a lock ahead of it."""
_RACES = RACES | {WRONG_LOCK}


@dataclass(frozen=True, slots=True)
class Imbalance:
    """A core or a chain that releases otherwise than it acquires.

    Attributes:
        finding: that says it.
        lock: index among all locks of the model of the one that gets too little; -1 = none is known.
        certain: whether it is wrong in every run; else only where a wait for the lock is a root.
        ended: model index of a tile whose core must have ended for it, as it may still release; -1 = of none.
        taken: the lock of which the core has more than it should, so that it may wait for the last unit; -1 =
            none.
        again: a turn of the core may use the object of the turn before once more: the words may be wrong
            where nobody waits.
    """

    finding: Finding
    lock: int = -1
    certain: bool = True
    ended: int = -1
    taken: int = -1
    again: bool = False


def used_again(facts: Iterable[Imbalance]) -> list[Finding]:
    """Warnings about objects that a core may use in two turns, where nothing waits for them."""
    found = (replace(each.finding, severity=Severity.WARNING) for each in facts if each.again)
    return list({each.message: each for each in found}.values())


def imbalances_of(engine: Engine) -> list[Imbalance]:
    """What is known of the kernels of an engine."""
    functions = (engine.cores.running[core].function for core in sorted(engine.cores.running))
    return [each for function in functions for each in getattr(function, IMBALANCES, ())]


def with_imbalances(
    findings: Sequence[Finding], graph: WaitGraph, facts: Iterable[Imbalance], engine: Engine
) -> tuple[Finding, ...]:
    """The findings of a hang with those about missing releases first, which replace their consequences.

    Args:
        findings: about the roots of the waits.
        graph: of the waits, empty where nothing waits.
        facts: about the design.
        engine: that has stopped.
    """
    first: dict[str, Finding] = {}
    for fact in sorted(facts, key=lambda each: each.finding.code not in _OF_PAIRS):
        who = _parties(fact.finding)
        if fact.finding.code in (*_OF_PAIRS, OTHER_TURNS, OTHER_COUNT):
            if not (fact.certain or _waits_with(findings, who, graph)):
                continue
            findings = [each for each in findings if not _comes_of(each, who, graph)]
            first.setdefault(fact.finding.message, fact.finding)
            continue
        explained = [] if fact.certain else [each for each in findings if _follows(each, fact, graph, who)]
        if fact.certain:
            explained = [each for each in findings if _is_behind(each, f"lock {fact.lock}", graph, who)]
            ahead = set[str]().union(
                *(_ahead(node.id, graph) for node in graph.nodes if _bare(node.name) in who)
            )
            explained += [
                each for each in findings if each.code in _AT_REST and _parties(each) <= ahead | who
            ]
        elif not explained or not _applies(fact, engine):
            continue
        findings = [each for each in findings if each not in explained]
        first.setdefault(fact.finding.message, fact.finding)
    return (*first.values(), *findings)


def without_races(races: Iterable[Finding], findings: Sequence[Finding]) -> Iterator[Finding]:
    """Races, without those between the users of a pair of locks one of which a text uses otherwise."""
    users = set[str]().union(*(_parties(each) for each in findings if each.code in _OF_PAIRS))
    return (each for each in races if each.code not in _RACES or _parties(each).isdisjoint(users))


def instead_of_races(findings: Sequence[Finding], facts: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings of a run, with what a core does while it does not hold a buffer for its races.

    Args:
        findings: of the run.
        facts: uses of objects of FIFOs, which begin with ``@``, and of buffers that the core has given away.
    """
    first = list[Finding]()
    for fact in facts:
        own = {each.who for each in fact.sides}
        name = fact.sides[0].does.rpartition(" ")[2].strip("'")
        said = f"'{name[1:]}_" if name[:1] == "@" else f"'{name}'"
        races = [
            each
            for each in findings
            if each.code in _RACES and not own.isdisjoint(_parties(each)) and said in each.message
        ]
        if races:
            first.append(fact)
            findings = [each for each in findings if each not in races]
    return (*first, *findings)


def _waits_with(findings: Sequence[Finding], who: set[str], graph: WaitGraph) -> bool:
    """Whether a finding is about a wait that may come of what these do."""
    return any(each.code in _WAITS and _comes_of(each, who, graph) for each in findings)


def _comes_of(finding: Finding, who: set[str], graph: WaitGraph) -> bool:
    """Whether a wait is connected with those of the users of a pair of locks, or is one for more words.

    A host that has not come to its end may start later what sends the first words.
    """
    if finding.code not in _WAITS:
        return False
    near = _connected(who, graph) | who
    later = finding.code == "MT0312" and any(node.kind is PartyKind.HOST for node in graph.nodes)
    return later or finding.code in _AT_REST or not _parties(finding).isdisjoint(near)


def _connected(who: set[str], graph: WaitGraph) -> set[str]:
    """Names of all that wait for some parties, or that these wait for, directly or not."""
    steps = [(edge.waits, edge.gives) for edge in graph.edges]
    both = [*steps, *((one, other) for other, one in steps)]
    starts = [node.id for node in graph.nodes if _bare(node.name) in who]
    return set[str]().union(*(_reached(start, both, graph) for start in starts))


def _follows(finding: Finding, fact: Imbalance, graph: WaitGraph, who: set[str]) -> bool:
    """Whether the waits of a finding may come of what a core holds.

    Either the lock that it does not release, or the core as its giver, is a root of the waits, or the core
    itself waits for one more than those give who have done their work.
    """
    lock, names = f"lock {fact.lock}", {node.id: _bare(node.name) for node in graph.nodes}
    roots = {node.id for node in graph.nodes if node.root}
    givers = {edge.gives for edge in graph.edges if edge.waits == lock}
    if lock in roots or (givers and givers <= {each for each in roots if names[each] in who}):
        return _is_behind(finding, lock, graph, who)
    waits = any(edge.gives == f"lock {fact.taken}" and names[edge.waits] in who for edge in graph.edges)
    parties = _parties(finding)
    # others may be among them that only rest, as all that they were sent is taken
    rest = finding.code in _AT_REST and not parties.isdisjoint(who)
    return waits and (rest or parties <= _ahead(f"lock {fact.taken}", graph) | who)


def _is_behind(finding: Finding, lock: str, graph: WaitGraph, who: set[str]) -> bool:
    """Whether a finding is about those who wait for a lock, or about that very wait."""
    names = {node.id: _bare(node.name) for node in graph.nodes}
    at_it = {names[edge.waits] for edge in graph.edges if edge.gives == lock}
    parties = _parties(finding)
    return bool(at_it) and (
        parties <= _behind(lock, graph) | who or (finding.code in _AT_LOCKS and not parties.isdisjoint(at_it))
    )


def _applies(fact: Imbalance, engine: Engine) -> bool:
    return fact.ended < 0 or _has_ended(engine, fact.ended)


def _has_ended(engine: Engine, tile: int) -> bool:
    core = int(plain(engine.spec.tiles).core[tile])
    return core >= 0 and bool(engine.state.cores.phase[core] == CorePhase.DONE)


def _parties(finding: Finding) -> set[str]:
    """Names of its sides, without their BDs, kernels and labels."""
    return {_bare(side.who) for side in finding.sides}


def _bare(name: str) -> str:
    if name.startswith("lock "):
        return name
    for behind in (" (BD", " (kernel", ", BD", ", kernel", " ('", " '"):
        name = name.partition(behind)[0]
    return name


def _behind(lock: str, graph: WaitGraph) -> set[str]:
    """Names of all who wait for a lock, directly or behind others; empty if nobody does."""
    return _reached(lock, [(edge.gives, edge.waits) for edge in graph.edges], graph)


def _ahead(node: str, graph: WaitGraph) -> set[str]:
    """Names of all that a node waits for, directly or behind others."""
    return _reached(node, [(edge.waits, edge.gives) for edge in graph.edges], graph)


def _reached(start: str, steps: Iterable[tuple[str, str]], graph: WaitGraph) -> set[str]:
    following: dict[str, list[str]] = {}
    for one, other in steps:
        following.setdefault(one, []).append(other)
    found, rest = set[str](), [start]
    while rest:
        new = [each for each in following.get(rest.pop(), ()) if each not in found]
        found.update(new)
        rest += new
    return {_bare(node.name) for node in graph.nodes if node.id in found}
