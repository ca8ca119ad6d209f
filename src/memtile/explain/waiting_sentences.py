"""Waits and findings in the names that the user of a graph gave: kernels, ports, buffers, PLIOs.

A graph names no lock, no channel and no tile: its ports have buffers, which are full or free.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memtile.explain.deadlock.graph import PartyKind, Via, WaitEdge, WaitGraph, WaitNode
from memtile.explain.findings import Finding, Side
from memtile.explain.results import Result

_NAME = re.compile(r"'([^']+)'")
_LOCK = re.compile(r"^(?P<port>.*?)(?:#\d+)?\.(?P<what>full|free|empty|updated)(?:\[\d+\])?$")
_LOCKS = {"full": "data in", "empty": "room in", "free": "room in", "updated": "an update of"}
_WHAT = {Via.WORDS: "data of", Via.ROOM: "room in"}
_WAITING = (PartyKind.CORE, PartyKind.CHANNEL, PartyKind.HOST)
_GIVEN = (Via.RELEASE, Via.MAY_RELEASE)
_ALSO = "its stream also goes to"
_PORTS = "Add a port of the shared buffer for each of its readers."
_CIRCLES = ("MT0301", "MT0303")  # a graph's locks begin as they must: both are circles of its kernels
_PLACES = (
    re.compile(r"core \(\d+, ?\d+\)(?:,? \(?kernel )'([^']+)'\)?"),
    re.compile(r"\w+\(\d+, ?\d+\) (?:S2MM|MM2S) \d+ '([^']+)'"),
    re.compile(r"PLIO '([^']+)' at (?:master|slave) port \w+ of tile \(\d+, \d+\)"),
    re.compile(r"PLIO '([^']+)' at \w+\(\d+,\d+\) (?:master|slave) \w+"),
)
_UNTIL = re.compile(
    r"waits for lock \d+ '([^']+)'(?: of tile \(\d+, ?\d+\))? \(needs (?:exactly )?\d+(?:, has -?\d+)?\)"
)
_A_LOCK = re.compile(r"lock \d+ '([^']+)'(?: of tile \(\d+, ?\d+\))?")


def named_waits(graph: WaitGraph) -> Iterator[str]:
    """Sentences without their full stop, such as ``gr.k waits for data in gr.k.in[0]``; each once.

    Kernels come first. Waits between parties that have no name of the user are left out.
    """
    nodes = {each.id: each for each in graph.nodes}
    kernels = [each for each in graph.edges if nodes[each.waits].kind is not PartyKind.CHANNEL]
    others = [each for each in graph.edges if nodes[each.waits].kind is PartyKind.CHANNEL]
    found = (_sentence(nodes[each.waits], nodes[each.gives], each) for each in (*kernels, *others))
    yield from dict.fromkeys(filter(None, found))


def _sentence(waits: WaitNode, gives: WaitNode, edge: WaitEdge) -> str:
    one, other = _NAME.search(waits.name), _NAME.search(gives.name)
    if waits.kind not in _WAITING or one is None or other is None:
        return ""
    return f"{one[1]} waits for {_wanted(one[1], other[1], edge)}"


def _wanted(name: str, other: str, edge: WaitEdge) -> str:
    if edge.via is not Via.LOCK:
        return f"{_WHAT.get(edge.via, edge.via)} {other}"
    return _of_lock(other, name)


def _of_lock(lock: str, waits: str = "") -> str:
    """What the wait for a lock is a wait for."""
    found = _LOCK.match(lock)
    if found is None:
        return f"lock {lock}"
    what = _LOCKS[found["what"]]
    if found["port"] == waits:  # the DMA of the port itself
        return "data to send" if found["what"] == "full" else "a free buffer"
    return f"{what} {found['port']}"


def in_users_words(text: str) -> str:
    """A sentence of the array with the names of a graph in place of tiles, channels and locks."""
    for place in _PLACES:
        text = place.sub(r"\1", text)
    text = _UNTIL.sub(lambda found: f"waits for {_of_lock(found[1])}", text)
    return _A_LOCK.sub(lambda found: _of_lock(found[1]), text)


def circle_steps(graph: WaitGraph) -> Iterator[tuple[set[str], list[str]]]:
    """The circles of waits that are roots: the names in it, and the steps of a diagnosis.

    A kernel is first if one has part.
    """
    after = {each.waits: each for each in graph.edges if each.root}
    nodes = {each.id: each for each in graph.nodes}
    while after:
        first = next((each for each in after if nodes[each].kind is PartyKind.CORE), next(iter(after)))
        way, at = list[WaitEdge](), first
        while at in after:
            way.append(after.pop(at))
            at = way[-1].gives
        yield {_user(nodes[each.waits]) for each in way}, list(_steps(way, nodes))


def _steps(way: list[WaitEdge], nodes: dict[str, WaitNode]) -> Iterator[str]:
    for number, edge in enumerate(way):
        if nodes[edge.waits].kind is PartyKind.LOCK:
            continue
        waits, gives = _user(nodes[edge.waits]), nodes[edge.gives]
        if gives.kind is not PartyKind.LOCK:
            yield _of_stream(waits, _user(gives), nodes[edge.waits], edge)
            continue
        giver = _user(nodes[way[(number + 1) % len(way)].gives])
        yield _of_buffer(waits, _user(gives), giver)


def _of_stream(waits: str, gives: str, node: WaitNode, edge: WaitEdge) -> str:
    if edge.via is not Via.ROOM:
        return f"{waits} waits for {_WHAT.get(edge.via, edge.via)} {gives}"
    if "S2MM" in node.name:
        return f"{waits} gets no data: its stream also goes to {gives}, which takes no more"
    return f"{waits} cannot send: {gives} takes no more"


def _of_buffer(waits: str, lock: str, giver: str) -> str:
    found = _LOCK.match(lock)
    if found is None:
        return f"{waits} waits for lock {lock}, which {giver} releases"
    port, is_data = found["port"], found["what"] in ("full", "updated")
    if port == waits:
        return (
            f"{waits} has nothing to send until {giver} gives data"
            if is_data
            else f"{waits} has no free buffer until {giver} has emptied one"
        )
    if is_data:
        return f"{waits} waits for data in {port}"
    return f"{waits} waits for room in {port}"


def _user(node: WaitNode) -> str:
    found = _NAME.search(node.name)
    return found[1] if found else node.name


def with_users_names(result: Result) -> Result:
    """A result of a graph whose findings, waits and sentences have the user's names alone."""
    circles = list(circle_steps(result.waits))
    findings = (finding_in_users_words(each) for each in result.findings)
    return replace(
        result,
        findings=tuple(_deadlock(each, circles) if each.code in _CIRCLES else each for each in findings),
        waiting=tuple(map(in_users_words, result.waiting)),
        resting=tuple(map(in_users_words, result.resting)),
        errors=tuple(map(in_users_words, result.errors)),
        waits=_named_graph(result.waits),
    )


def _named_graph(graph: WaitGraph) -> WaitGraph:
    nodes = [
        replace(each, name=in_users_words(each.name), state=in_users_words(each.state))
        for each in graph.nodes
    ]
    names = {each.id: each.name for each in nodes}
    edges = [
        replace(
            each, text=f"comes from {names[each.gives]}" if each.via in _GIVEN else in_users_words(each.text)
        )
        for each in graph.edges
    ]
    return WaitGraph(tuple(nodes), tuple(edges))


def finding_in_users_words(finding: Finding) -> Finding:
    """A finding with the names of a graph."""
    sides = [Side(in_users_words(s.who), in_users_words(s.does), s.place, s.cycle) for s in finding.sides]
    return replace(
        finding,
        message=in_users_words(finding.message),
        fix=in_users_words(finding.fix),
        sides=tuple(sides),
    )


def _deadlock(finding: Finding, circles: Sequence[tuple[set[str], list[str]]]) -> Finding:
    """A finding about a circle of waits, as steps from one to the next."""
    who = {side.who for side in finding.sides}
    steps = next((each for names, each in circles if who <= names), None)
    if steps is None:
        return finding
    message = f"Deadlock, each waits for the next: {'; '.join(steps)}."
    fix = _PORTS if any(_ALSO in step for step in steps) else finding.fix
    return replace(finding, message=message, fix=fix)
