"""The graph of waits as data: who waits, for what, and who would give it; JSON, DOT and Mermaid of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memtile.documents import plain
from memtile.plain_text import printable

_MERMAID = {ord(sign): f"#{name};" for sign, name in zip('#"`<>&', (35, "quot", 96, 60, 62, 38), strict=True)}


class PartyKind(StrEnum):
    """The kind of a party."""

    CHANNEL = "channel"
    CORE = "core"
    HOST = "host"
    LOCK = "lock"
    PACKET = "packet"  # one that holds an arbiter up to its TLAST, named by its slave port
    PORT = "port"  # of a stream switch, where words end or nobody brings any


class Via(StrEnum):
    """What an edge is about: what the one who waits needs of the other."""

    LOCK = "lock"  # a value of the lock
    RELEASE = "release"  # of a lock, by the other
    MAY_RELEASE = "may release"  # of a lock, by a core that has never released it so far
    WORDS = "words"  # that the other is to send
    ROOM = "room"  # the other is to take words
    ARBITER = "arbiter"  # that a packet holds up to its TLAST
    TASK = "task"  # that a host is to start
    END = "end"  # of a task
    TOKEN = "token"  # of a task that has ended


@dataclass(frozen=True, slots=True)
class WaitNode:
    """A party of a wait: a channel, core, lock, host, packet or port.

    Attributes:
        id: ``channel 3``, ``lock 17``: its kind and its index in the model; stays the same within a run.
        kind: what it is.
        name: by the user's name and its place.
        state: what it does or waits for; empty of a thing that has no state.
        root: whether it is in the root of the matter, a circle or the end of a chain.
    """

    id: str
    kind: PartyKind
    name: str
    state: str = ""
    root: bool = False


@dataclass(frozen=True, slots=True)
class WaitEdge:
    """A wait: ``waits`` does not go on before ``gives`` has given what ``via`` says.

    Attributes:
        waits: id of the node that waits.
        gives: id of the node that could end the wait.
        via: what is to be given.
        text: the same as the end of a sentence about ``waits``.
        root: whether it is part of a knot that is a root.
        way: number of the way in which it would end the wait: of the edges of one node one way is enough,
            and all edges of that way are needed.
    """

    waits: str
    gives: str
    via: Via
    text: str
    root: bool = False
    way: int = 0


@dataclass(frozen=True, slots=True)
class WaitGraph:
    """The wait graph of a run that has ended; empty when nothing waits that should not.

    Attributes:
        nodes: those that wait, those that could help them, and the locks and packets between them.
        edges: the waits.
    """

    nodes: Sequence[WaitNode] = ()
    edges: Sequence[WaitEdge] = ()

    def __bool__(self) -> bool:
        """Whether anybody waits."""
        return bool(self.nodes)

    def __repr__(self) -> str:
        return f"WaitGraph({len(self.nodes)} nodes, {len(self.edges)} edges)"

    def labels(self) -> list[str]:
        """A label for each edge: ``words``; ``or words`` where one of several edges is enough.

        ``and room`` where all of them are needed, ``way 2: room`` where it is all of one of several ways.
        """
        ways: dict[str, list[int]] = {}
        for edge in self.edges:
            ways.setdefault(edge.waits, []).append(edge.way)
        return [_sign(edge.way, ways[edge.waits]) + edge.via.value for edge in self.edges]

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        data: dict[str, Any] = plain(self)
        return data

    def dot(self) -> str:
        """The graph for Graphviz; locks are ellipses, roots are red. See :meth:`labels` for AND and OR."""
        lines = ["digraph waits {", '  node [shape=box, fontname="sans-serif"];']
        for node in self.nodes:
            shape = ", shape=ellipse" if node.kind is PartyKind.LOCK else ""
            color = ", color=red" if node.root else ""
            lines.append(f"  {_quoted(node.id)} [label={_quoted(_label(node))}{shape}{color}];")
        for edge, label in zip(self.edges, self.labels(), strict=True):
            color = ", color=red" if edge.root else ""
            lines.append(f"  {_quoted(edge.waits)} -> {_quoted(edge.gives)} [label={_quoted(label)}{color}];")
        return "\n".join([*lines, "}"]) + "\n"

    def mermaid(self) -> str:
        """The graph for Mermaid, as pages of GitHub draw it; roots have the class ``root``.

        See :meth:`labels` for AND and OR.
        """
        ids = {node.id: f"n{number}" for number, node in enumerate(self.nodes)}
        lines = ["flowchart LR"]
        for node in self.nodes:
            opening, closing = ("([", "])") if node.kind is PartyKind.LOCK else ("[", "]")
            text = _label(node).translate(_MERMAID).replace("\n", "<br/>")
            mark = ":::root" if node.root else ""
            lines.append(f'  {ids[node.id]}{opening}"{text}"{closing}{mark}')
        lines += [
            f"  {ids[edge.waits]} -->|{label}| {ids[edge.gives]}"
            for edge, label in zip(self.edges, self.labels(), strict=True)
        ]
        if any(node.root for node in self.nodes):
            lines.append("  classDef root stroke:#c00,stroke-width:3px")
        return "\n".join(lines) + "\n"


def _sign(way: int, ways: Sequence[int]) -> str:
    """What stands before the label of an edge, by the ways of all edges of its node."""
    different = len(set(ways))
    if different == len(ways):
        return "or " if different > 1 else ""
    return "and " if different == 1 else f"way {sorted(set(ways)).index(way) + 1}: "


def _label(node: WaitNode) -> str:
    return "\n".join(map(printable, filter(None, (node.name, node.state))))


def _quoted(text: str) -> str:
    escaped = printable(text, "\n").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
