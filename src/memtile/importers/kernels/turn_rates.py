"""Ends of object FIFOs that take more in a turn than comes, by what all other streams of the cores say.

Cores that exchange objects go round at rates: who gives one object in a turn goes round as often as who takes
one. Where streams come together again, the rates by one way must be those by the other. If they are not, and
they are as soon as one core takes or gives only the objects that its text uses, it acquires too many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from memtile.explain.evidence import AdvisedUnits, Evidence
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.imbalance import OTHER_COUNT, Imbalance
from memtile.importers.kernels.body_operations import ENDLESS_TURNS
from memtile.importers.kernels.lock_names import core_text, line_of, place_of
from memtile.importers.kernels.lock_steps import Branch, Key, Loop, Node, Step, all_steps
from memtile.importers.kernels.lock_users import Texts
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import CoreDescription, DeviceDescription, LinkDescription
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation

_ACCESS = "aie.objectfifo.subview.access"
_ALL = 1 << 31  # objects, where the text does not say which are used
_TWO = 2  # object FIFOs of a link that only passes on
_GIVES, _TAKES = "Produce", "Consume"


class _Edge(NamedTuple):
    """How many objects a stream moves while one end goes round once, or another stream moves one.

    Attributes:
        one: a tile, or a stream.
        stream: name of an object FIFO.
        many: objects.
        key: of the end of a core; None of a link.
    """

    one: tuple[str, str]
    stream: tuple[str, str]
    many: Fraction
    key: Key | None


def rate_faults(made: Configured, texts: Texts) -> Iterator[Imbalance]:
    """The ends that acquire and release objects which their cores do not use, where the rates do not fit.

    Args:
        made: the device in its array.
        texts: steps of all cores, by tile.
    """
    device = made.device
    rounds = {tile: counts for tile, nodes in texts.items() if (counts := _round(nodes)) is not None}
    edges = [*_links(device), *_ends(device, rounds)]
    wrong = [edge for edge in edges if edge.key is not None and not _rates(edges, edge.one)[1]]
    found = list[tuple[_Edge, int]]()
    for edge in wrong:
        rates, fits = _rates([each for each in edges if each is not edge], edge.one)
        if fits and edge.stream in rates:
            found.append((edge, _needed(device, texts, edge, rates[edge.stream] / rates[edge.one])))
    meant = [(edge, many) for edge, many in found if many]
    if len(meant) == 1:
        yield _made(made, texts, *meant[0], edges)


def _round(nodes: Sequence[Node]) -> Counter[Key] | None:
    """Objects that a core releases in all, or in a turn of the endless loop that it is; None = not known."""
    if len(nodes) == 1 and isinstance(nodes[0], Loop) and _is_endless(nodes[0]):
        nodes = nodes[0].steps
    return _released(nodes)


def _is_endless(loop: Loop) -> bool:
    return loop.turns is None or loop.turns >= ENDLESS_TURNS


def _released(nodes: Sequence[Node]) -> Counter[Key] | None:
    found = Counter[Key]()
    for node in nodes:
        if isinstance(node, Step):
            if node.key.port and node.many is None:
                return None
            if node.key.port and not node.acquires:
                found[node.key] += node.many or 0
            continue
        ways = [_released(way) for way in (node.ways if isinstance(node, Branch) else (node.steps,))]
        first = ways[0]
        turns = 1 if isinstance(node, Branch) else node.turns
        if (
            first is None
            or any(way != first for way in ways)
            or (first and (turns or ENDLESS_TURNS) >= ENDLESS_TURNS)
        ):
            return None
        for key, many in first.items():
            found[key] += many * (turns or 0)
    return found


def _ends(device: DeviceDescription, rounds: Mapping[str, Counter[Key]]) -> Iterator[_Edge]:
    for tile, counts in rounds.items():
        for key, many in counts.items():
            fifo = device.fifos.get(key.name)
            if many and fifo is not None and fifo.stream is None:
                yield _Edge(("core", tile), ("fifo", key.name), Fraction(many), key)


def _links(device: DeviceDescription) -> Iterator[_Edge]:
    """One object of each part goes with one of the whole; of two alone the elements go on."""
    for link in device.links:
        pairs = [(one, other) for one in link.sources for other in link.targets]
        for one, other in pairs if _is_plain(device, link) else ():
            sizes = [device.fifos[name].element.elements for name in (one, other)]
            ratio = Fraction(*sizes) if len(pairs) == 1 else Fraction(1)
            yield _Edge(("fifo", one), ("fifo", other), ratio, None)


def _is_plain(device: DeviceDescription, link: LinkDescription) -> bool:
    """Whether each object of a link is sent once, as it came, and the parts are the whole."""
    fifos = [device.fifos.get(name) for name in (*link.sources, *link.targets)]
    for fifo in fifos:
        if fifo is None or fifo.repeat is not None or fifo.iterations is not None or fifo.padding:
            return False
        if fifo.consumer_element is not None or fifo.element.elements <= 0:
            return False
    sizes = [
        sum(device.fifos[name].element.elements for name in side) for side in (link.sources, link.targets)
    ]
    return len(fifos) == _TWO or sizes[0] == sizes[1]


def _rates(edges: Sequence[_Edge], start: tuple[str, str]) -> tuple[Mapping[tuple[str, str], Fraction], bool]:
    """How often all that are connected with ``start`` go round while it does once, and whether that fits."""
    near: dict[tuple[str, str], list[tuple[tuple[str, str], Fraction]]] = {}
    for edge in edges:
        near.setdefault(edge.one, []).append((edge.stream, edge.many))
        near.setdefault(edge.stream, []).append((edge.one, 1 / edge.many))
    found, rest, fits = {start: Fraction(1)}, [start], True
    while rest:
        one = rest.pop()
        for other, many in near.get(one, ()):
            if other not in found:
                found[other] = found[one] * many
                rest.append(other)
            fits = fits and found[other] == found[one] * many
    return found, fits


def _needed(device: DeviceDescription, texts: Texts, edge: _Edge, comes: Fraction) -> int:
    """How many objects each acquire of an end should be about; 0 = its text uses more, or it is not known."""
    assert edge.key is not None
    steps = [step for step in all_steps(texts[edge.one[1]]) if step.key == edge.key]
    counts = {step.many for step in steps}
    if len(counts) != 1 or comes >= edge.many:
        return 0
    many = (counts.pop() or 0) * comes / edge.many
    core = next(each for each in device.cores if each.tile == edge.one[1])
    used = max(_used(core, step.operation) for step in steps if step.acquires)
    return int(many) if many.denominator == 1 and used <= many else 0


def _used(core: CoreDescription, acquire: Operation) -> int:
    """How many of the objects of an acquire a core uses, up to the last one."""
    words = Counter(word for each in core.operation.walk() for word in _words(each))
    results = acquire.results
    used = [number + 1 for number, name in enumerate(results) if words[name]] if len(results) > 1 else []
    for each in core.operation.walk():
        if len(results) == 1 and results[0] in _words(each):
            form = OperationForm(each)
            at = form.texts("[")[0] if each.name == _ACCESS and form.bracket("[") is not None else ""
            if not at.isdecimal():
                return _ALL
            used += [int(at) + 1] if any(words[name] for name in each.results) else []
    return max(used, default=0)


def _words(operation: Operation) -> set[str]:
    return set(operation.words)


def _made(made: Configured, texts: Texts, edge: _Edge, many: int, edges: Sequence[_Edge]) -> Imbalance:
    assert edge.key is not None
    cores = {core.tile: core_text(made, core) for core in made.device.cores}
    step = next(step for step in all_steps(texts[edge.one[1]]) if step.key == edge.key and step.acquires)
    who, name = cores[edge.one[1]], f"@{edge.key.name}"
    verb, other = ("gives", "take") if edge.key.port == _GIVES else ("takes", "come")
    port = _TAKES if edge.key.port == _GIVES else _GIVES
    ends = [each for each in edges if each.stream == edge.stream and each.key == Key(edge.key.name, port)]
    partners = " and ".join(cores[each.one[1]] for each in ends)
    does = f"{verb} {step.many} objects of {name} at a time, of which it uses {many} at most"
    says = f"{many} {other}{'s' * (many == 1 and other == 'come')} in the same time"
    beside = f" ({partners} at the other end)" if partners else ""
    message = f"{who}, {line_of(step.operation)}, {does}; by all other streams {says}{beside}."
    sides = (
        Side(who, does, place_of(step.operation)),
        *(Side(cores[each.one[1]], "is at the other end") for each in ends),
    )
    fix = f"Let {who} acquire and release {many} of {name} at a time."
    evidence = Evidence(units=AdvisedUnits(step.operation.line, name, edge.key.port == _TAKES, many))
    found = Finding(OTHER_COUNT, Severity.ERROR, message, sides, fix=fix, evidence=evidence)
    return Imbalance(found, certain=False)
