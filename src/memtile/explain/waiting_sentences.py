"""The waits of a graph in the names that its user gave: kernels, buffers of their ports, PLIOs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtile.explain.deadlock.graph import PartyKind, Via, WaitEdge, WaitGraph, WaitNode

_NAME = re.compile(r"'([^']+)'")
_LOCKS = {".full": "data in", ".empty": "room in"}
_WHAT = {Via.WORDS: "words of", Via.ROOM: "room in"}
_WAITING = (PartyKind.CORE, PartyKind.CHANNEL)


def named_waits(graph: WaitGraph) -> Iterator[str]:
    """Sentences without their full stop, such as ``gr.k waits for data in gr.k.in[0]``; each once.

    Waits between parties that have no name of the user are left out.
    """
    nodes = {each.id: each for each in graph.nodes}
    found = (_sentence(nodes[each.waits], nodes[each.gives], each) for each in graph.edges)
    yield from dict.fromkeys(filter(None, found))


def _sentence(waits: WaitNode, gives: WaitNode, edge: WaitEdge) -> str:
    one, other = _NAME.search(waits.name), _NAME.search(gives.name)
    if waits.kind not in _WAITING or one is None or other is None:
        return ""
    return f"{one[1]} waits for {_wanted(other[1], edge)}"


def _wanted(name: str, edge: WaitEdge) -> str:
    for end, what in _LOCKS.items():
        if edge.via is Via.LOCK and name.endswith(end):
            return f"{what} {name.removesuffix(end)}"
    return f"{_WHAT.get(edge.via, edge.via)} {name}"
