"""How often kernels and buffers run in an iteration of the graph: the balance of all that passes nets.

A port passes so many elements in a turn (a call of its kernel, a turn of its buffer). Both ends of a net must
pass the same volume in an iteration; the smallest whole numbers of turns that make it so are taken, and those
that the user gives win (UG1079, Multirate). Streams pass what the kernel likes: they tie nothing, unless
``samples_per_iteration`` says how much that is (DEV-ADF-20).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm, prod

from memtile.adf.description import Connection, Port, Tiling
from memtile.adf.nets import Tap, Wiring
from memtile.adf.objects import BUFFERS, RATED, Objects
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import Problem

_ITERATION = -1  # the node that runs once
_FEW = 4  # counts that a message has by name
_MULTIRATE = "UG1079: Multirate"
_VOLUME = "UG1603: Multi-Level Data Access"


@dataclass(frozen=True, slots=True)
class Rates:
    """Turns and sizes.

    Attributes:
        turns: id of a kernel or memory -> in one iteration of the graph.
        elements: (port, branch) -> elements of one turn; absent for streams and what leads out of the array.
        blocks: port of a kernel -> elements of one of its buffers, without margin.
        margins: port of a kernel -> elements before each block.
    """

    turns: Mapping[int, int]
    elements: Mapping[Tap, int]
    blocks: Mapping[int, int]
    margins: Mapping[int, int]

    def volume(self, objects: Objects, tap: Tap) -> int | None:
        """Elements of an end in one iteration; None = not bound."""
        per_turn = self.elements.get(tap)
        if per_turn is None:
            return None
        return per_turn * self.turns_of(objects, tap.port)

    def turns_of(self, objects: Objects, port: int) -> int:
        """Turns of a port in one iteration: its own repetition, or that of what has it."""
        one = objects.ports[port]
        return one.repetition if one.repetition is not None else self.turns.get(one.owner, 1)


def tiling_elements(tiling: Tiling, dimensions: Sequence[int], element_bytes: int = WORD_BYTES) -> int:
    """Elements that a tiling passes in one turn.

    Args:
        tiling: whose absent members are the buffer's own.
        dimensions: of the buffer, elements.
        element_bytes: of the buffer; an older ``buffer_descriptor`` counts words of 32 bits.
    """
    if tiling.is_older:
        words = tiling.length or prod(wrap for _, wrap in tiling.steps)
        return words * tiling.repetition * WORD_BYTES // element_bytes
    tile = tiling.tiling_dimension or tiling.buffer_dimension or tuple(dimensions)
    return prod(tile) * prod(loop.wrap for loop in tiling.tile_traversal) * tiling.repetition


def access_of(port: Port) -> tuple[Tiling, ...]:
    """The tilings of a port; a port of a kernel may have either access, for the DMA at its buffer."""
    return port.write_access or port.read_access


def tilings_of(port: Port, branch: int) -> tuple[Tiling, ...]:
    """The tilings of a port that are for one way of packets; those without a number are for all."""
    own = [t for t in access_of(port) if branch < 0 or t.packet_port_id in (-1, branch)]
    return tuple(own)


def rates(objects: Objects, wirings: Sequence[Wiring], problems: list[Problem]) -> Rates:
    """Turns of everything, and elements of each end.

    Args:
        objects: of the description.
        wirings: its nets.
        problems: grows by sizes that are not said, volumes that differ and turns that are not whole.
    """
    elements = dict(_elements(objects, wirings, problems))
    elements.update(way for wiring in wirings for way in _packet_elements(objects, wiring))
    bound = {**dict(_samples(objects, wirings, elements, problems)), **elements}
    ties = [tie for wiring in wirings for tie in _ties(objects, wiring, bound)]
    turns, broken = _balance(objects, ties)
    found = Rates(turns, elements, dict(_blocks(objects, elements)), _margins(objects, wirings))
    factor = lcm(*(count.denominator for count in broken.values()))
    problems.extend(_not_whole(objects, node, count, factor) for node, count in broken.items())
    whole = [
        tie for tie in ties if not {_node(objects, end)[0] for end in (tie.one, tie.other)} & broken.keys()
    ]
    problems.extend(_unequal(objects, found, whole))
    return found


def _elements(
    objects: Objects, wirings: Sequence[Wiring], problems: list[Problem]
) -> Iterator[tuple[Tap, int]]:
    for wiring in wirings:
        for tap in (*wiring.sources, *wiring.targets):
            port = objects.ports[tap.port]
            if port.kind not in RATED:
                continue
            problems.extend(_not_whole_steps(objects, port, tilings_of(port, tap.branch)))
            count = _per_turn(objects, port, tap.branch, wiring.connections)
            if count:
                yield tap, count
            else:
                problems.append(_no_size(objects, port))


def _samples(
    objects: Objects, wirings: Sequence[Wiring], elements: Mapping[Tap, int], problems: list[Problem]
) -> Iterator[tuple[Tap, int]]:
    """Elements of a call that the user states of streams."""
    for tap in (tap for wiring in wirings for tap in (*wiring.sources, *wiring.targets)):
        port = objects.ports[tap.port]
        if port.samples and elements.get(tap, port.samples) != port.samples:
            problems.append(_other_samples(objects, port, elements[tap]))
        elif port.samples:
            yield tap, port.samples


def _other_samples(objects: Objects, port: Port, count: int) -> Problem:
    return Problem(
        "samples_per_iteration",
        f"{port.samples:,}",
        f"{count:,}",
        f"samples_per_iteration({port.name}) is {port.samples:,}, and its buffer has {count:,} elements",
        "Leave it out: it is for streams, a buffer passes all of its elements.",
        reason="samples_per_iteration",
        where=objects.where(port.id),
        source=_MULTIRATE,
    )


def _blocks(objects: Objects, elements: Mapping[Tap, int]) -> Iterator[tuple[int, int]]:
    for tap, count in elements.items():
        port = objects.ports[tap.port]
        if port.kind in BUFFERS:
            yield port.id, prod(port.dimensions) if port.dimensions else count


def _margins(objects: Objects, wirings: Sequence[Wiring]) -> dict[int, int]:
    """Margins by ports and by connections; they are of what reads."""
    found = {port.id: port.margin for port in objects.description.ports}
    for connection in (c for wiring in wirings for c in wiring.connections):
        found[connection.target] = max(found[connection.target], connection.margin)
    return found


def _per_turn(objects: Objects, port: Port, branch: int, connections: Sequence[Connection]) -> int:
    """Elements of a turn; 0 = not said."""
    tilings = tilings_of(port, branch)
    dimensions = objects.dimensions(port)
    size = objects.element_bytes(port) or 1
    if tilings:
        return sum(tiling_elements(tiling, dimensions, size) for tiling in tilings)
    if dimensions:
        return prod(dimensions)
    most = max((c.bytes for c in connections if c.target == port.id or c.source == port.id), default=0)
    return most // size


def _not_whole_steps(objects: Objects, port: Port, tilings: Sequence[Tiling]) -> Iterator[Problem]:
    """Older descriptors whose length ends within a step: a whole one would pass more words than it says."""
    for tiling in tilings:
        inner = prod(wrap for _, wrap in tiling.steps[:-1])
        if tiling.length and (not inner or tiling.length % inner):
            yield Problem(
                "length",
                str(tiling.length),
                f"a multiple of {inner}" if inner else "wraps of at least 1",
                f"the length of {tiling.length} words is no whole number of {inner}, what the wraps of the "
                "buffer_descriptor make",
                "Write the access as tiling_parameters.",
                reason="descriptor_length",
                where=objects.where(port.id),
                source="Vitis vision library: shared buffers of transpose",
            )


def _no_size(objects: Objects, port: Port) -> Problem:
    return Problem(
        "dimensions",
        "not given",
        "a number of elements",
        "the size of the buffer is not given",
        f"Give dimensions({port.name}) = {{N}}, or extents in the kernel's parameter.",
        reason="no_dimensions",
        where=objects.where(port.id),
        source="UG1603: Buffer Port Attributes",
    )


@dataclass(frozen=True, slots=True)
class _Tie:
    """Two ends that pass the same volume in an iteration."""

    one: Tap
    other: Tap
    per_turn: tuple[int, int]
    line: str


def _ties(objects: Objects, wiring: Wiring, elements: Mapping[Tap, int]) -> Iterator[_Tie]:
    """Pairs of ends of a net whose volumes are bound to each other."""
    for one, other in _pairs(objects, wiring, elements):
        line = next((c.line for c in reversed(wiring.connections) if c.target == other.port), "")
        yield _Tie(one, other, (elements[one], elements[other]), line)


def _pairs(objects: Objects, wiring: Wiring, elements: Mapping[Tap, int]) -> Iterator[tuple[Tap, Tap]]:
    if wiring.packets:
        yield from _packet_pairs(objects, wiring, elements)
        return
    ends = [end for end in (*wiring.sources, *wiring.targets) if end in elements]
    yield from ((ends[0], other) for other in ends[1:])


def _packet_pairs(objects: Objects, wiring: Wiring, elements: Mapping[Tap, int]) -> Iterator[tuple[Tap, Tap]]:
    """Ends of packets whose ways are known: by ``packet_port_id``, or through a merge into a split."""
    if all(tap.branch >= 0 for tap in (*wiring.sources, *wiring.targets)):  # a merge into a split
        for source, target in product(wiring.sources, wiring.targets):
            if source.branch == target.branch and source in elements and target in elements:
                yield source, target
    for hub, others in ((wiring.sources, wiring.targets), (wiring.targets, wiring.sources)):
        for tap in others if len(hub) == 1 else ():
            way = Tap(hub[0].port, tap.branch)
            port = objects.ports[way.port]
            told = any(tiling.packet_port_id >= 0 for tiling in access_of(port))
            if told and way in elements and tap in elements:
                yield way, tap


def _packet_elements(objects: Objects, wiring: Wiring) -> Iterator[tuple[Tap, int]]:
    for hub, others in ((wiring.sources, wiring.targets), (wiring.targets, wiring.sources)):
        for tap in others if wiring.packets and len(hub) == 1 else ():
            port = objects.ports[hub[0].port]
            count = _per_turn(objects, port, tap.branch, wiring.connections) if port.kind in RATED else 0
            if count:
                yield Tap(port.id, tap.branch), count


_Edge = tuple[int, int, int, int]  # two nodes, elements of a turn of each


def _node(objects: Objects, tap: Tap) -> tuple[int, int]:
    """What the turns of an end count, and how many of them are one of its turns."""
    port = objects.ports[tap.port]
    return (port.owner, 1) if port.repetition is None else (_ITERATION, port.repetition)


def _balance(objects: Objects, ties: Sequence[_Tie]) -> tuple[dict[int, int], dict[int, Fraction]]:
    """The smallest whole numbers of turns, or the user's; and the turns that these make broken numbers."""
    edges: dict[int, list[tuple[int, Fraction]]] = defaultdict(list)
    for tie in ties:
        (one, factor), (other, more) = _node(objects, tie.one), _node(objects, tie.other)
        ratio = Fraction(tie.per_turn[0] * factor, tie.per_turn[1] * more)
        edges[one].append((other, ratio))
        edges[other].append((one, 1 / ratio))
    given = _given(objects)
    counts: dict[int, Fraction] = {node: Fraction(n) for node, n in given.items()}
    counts[_ITERATION] = Fraction(1)
    anchored = _spread(counts, edges, list(counts))
    broken = {node: counts[node] for node in anchored if counts[node].denominator > 1}
    for node in (*objects.kernels, *objects.memories):
        if node not in counts:
            counts[node] = Fraction(1)
            _scale(counts, [node, *_spread(counts, edges, [node])])
    return {node: max(int(n), 1) for node, n in counts.items() if node != _ITERATION}, broken


def _given(objects: Objects) -> dict[int, int]:
    """Turns that the user gave."""
    kernels = {k.id: k.repetition for k in objects.description.kernels}
    memories = {m.id: m.repetition for m in objects.description.memories}
    return {number: count for number, count in (kernels | memories).items() if count is not None}


def _spread(
    counts: dict[int, Fraction], edges: Mapping[int, list[tuple[int, Fraction]]], begin: Sequence[int]
) -> list[int]:
    """Give turns to all that hang together with some nodes; those that got them, in order."""
    waiting, reached = deque(begin), []
    while waiting:
        node = waiting.popleft()
        for other, ratio in edges.get(node, ()):
            if other not in counts:
                counts[other] = counts[node] * ratio
                reached.append(other)
                waiting.append(other)
    return reached


def _scale(counts: dict[int, Fraction], nodes: Sequence[int]) -> None:
    """Make the turns of nodes the smallest whole numbers with the same ratios; one of them is 1."""
    factor = lcm(*(counts[node].denominator for node in nodes))
    for node in nodes:
        counts[node] *= factor


def _not_whole(objects: Objects, node: int, count: Fraction, factor: int) -> Problem:
    given = {each.name: each.repetition for each in objects.kernels.values() if each.repetition}
    given |= {each.name: each.repetition for each in objects.memories.values() if each.repetition}
    counts = ", ".join(f"{name} {number}" for name, number in given.items())
    more = " and ".join(f"repetition_count({name}) = {number * factor}" for name, number in given.items())
    if len(given) > _FEW:
        counts, more = f"those of {len(given)} kernels and buffers", f"{factor} times the given counts"
    return Problem(
        "repetition_count",
        str(count),
        "a whole number",
        f"{objects.name(node)} would run {float(count):g} times in an iteration, from the given counts: "
        f"{counts}",
        f"Set {more}, or leave the counts out: memtile computes the smallest ones.",
        reason="repetition_count",
        where=objects.where(node),
        source=_MULTIRATE,
    )


def _unequal(objects: Objects, found: Rates, ties: Sequence[_Tie]) -> Iterator[Problem]:
    """Ends whose volumes differ."""
    for tie in ties:
        turns = found.turns_of(objects, tie.one.port), found.turns_of(objects, tie.other.port)
        volumes = tie.per_turn[0] * turns[0], tie.per_turn[1] * turns[1]
        if volumes[0] != volumes[1]:
            names = objects.name(tie.one.port), objects.name(tie.other.port)
            parts = [
                f"{name} passes {n * t:,} elements in an iteration ({t} x {n:,})"
                for name, n, t in zip(names, tie.per_turn, turns, strict=True)
            ]
            yield Problem(
                "volume",
                f"{volumes[0]:,} and {volumes[1]:,} elements",
                "equal volumes",
                ", ".join(parts) + ": the volumes of both ends differ",
                "Change the dimensions, the tilings or the repetition counts so that both are equal.",
                reason="unequal_volumes",
                where=objects.where(tie.other.port, tie.line),
                source=_VOLUME,
            )
