"""Changes of a graph that may be what was meant: ends of connections and ids of packets in another order.

Ends of one object, such as the outputs of a pktsplit or the inputs of a kernel, and all inputs or outputs of
a graph, are exchanged easily and refused by nothing: the volumes are the same. Members that are connected in
the order in which they are declared are taken for meant: a change that restores this order is tried first.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any

from memtile.adf.description import Connection, Description, Gmio, Graph, Plio, Port, Tiling
from memtile.adf.objects import Objects
from memtile.explain.repairs import Candidate

_RESTORED, _ONE_RESTORED, _EXCHANGED, _REVERSED = 0.1, 0.2, 0.5, 0.7
"""How unlikely an order is: as declared, nearer to it than before, further from it, the other way round."""
_MOST = 8  # members between which pairs are exchanged
_SHOWN = 4  # names in a sentence
_PAIR = 2


@dataclass(frozen=True, slots=True)
class GraphChange:
    """A change of a description that may repair it.

    Attributes:
        candidate: what it is called and how likely it is; its ``says`` names it among others.
        objects: connections, ports and PLIOs as they are with it, by their ids.
        updates: what calls of ``update`` give with it, by their number from 0.
    """

    candidate: Candidate
    objects: tuple[Connection | Port | Plio, ...]
    updates: Mapping[int, bytes] = field(default_factory=dict)

    def applied(self, description: Description) -> Description:
        """The description with the change; objects that it does not have yet are left out."""
        new = {each.id: each for each in self.objects}
        connections = tuple(new.get(each.id, each) for each in description.connections)
        ports = tuple(new.get(each.id, each) for each in description.ports)
        plios = tuple(new.get(each.id, each) for each in description.plios)
        return replace(description, connections=connections, ports=ports, plios=plios)  # type: ignore[arg-type]


def order_changes(objects: Objects) -> Iterator[GraphChange]:
    """Changes that give ends of connections, and tilings of a port, another order; each once.

    Args:
        objects: of a description.
    """
    known = set[frozenset[tuple[int, int]]]()
    for family in _families(objects):
        for change in _of_connections(objects, family):
            made = frozenset(
                (each.source, each.target) for each in change.objects if isinstance(each, Connection)
            )
            if made not in known:
                known.add(made)
                yield change
    for port in objects.description.ports:
        for access in ("write_access", "read_access"):
            yield from _of_tilings(port, access)


def _families(objects: Objects) -> Iterator[list[Connection]]:
    """Connections of one kind whose sources or targets belong to one object, or lead out of the array."""
    found: dict[tuple[int, Hashable], list[Connection]] = {}
    for each in objects.description.connections:
        for side, port in enumerate((each.source, each.target)):
            owner = objects.all.get(objects.ports[port].owner)
            who = type(owner).__name__ if isinstance(owner, Plio | Gmio) else objects.ports[port].owner
            alike = (who, each.kind, objects.ports[port].kind)
            found.setdefault((side, alike), []).append(each)
    for (side, _), family in found.items():
        ends = [[each.source for each in family], [each.target for each in family]]
        if len(family) >= _PAIR and all(len({*each}) == len(each) for each in ends):
            yield sorted(family, key=partial(_declared_end, objects, side))


def _declared_end(objects: Objects, side: int, connection: Connection) -> tuple[int, int]:
    """The order of the source of a connection, or of its target."""
    return _declared(objects, (connection.source, connection.target)[side])


def _declared(objects: Objects, port: int) -> tuple[int, int]:
    """The order in which a port is declared: that of its owner, then its number."""
    found = objects.ports[port]
    is_member = isinstance(objects.all.get(found.owner), Graph)
    return (found.id if is_member else found.owner), found.number


def _of_connections(objects: Objects, family: Sequence[Connection]) -> Iterator[GraphChange]:
    """Other targets for the sources of a family."""
    targets = [each.target for each in family]
    sources = [_declared(objects, each.source) for each in family]
    order = sorted(range(len(family)), key=sources.__getitem__)
    by_source = [family[n] for n in order]
    keys = [_declared(objects, targets[n]) for n in order]
    for arranged, unlikely in _arrangements(keys):
        objects_of = [
            replace(one, target=by_source[new].target)
            for one, new in zip(by_source, arranged, strict=True)
            if one.target != by_source[new].target
        ]
        yield GraphChange(_connected(objects, by_source, objects_of, unlikely), tuple(objects_of))


def _connected(
    objects: Objects, family: Sequence[Connection], new: Sequence[Connection], unlikely: float
) -> Candidate:
    """What a change of connections is called."""
    old = {each.id: each for each in family}
    lines = list(dict.fromkeys(old[each.id].line for each in new if old[each.id].line))
    sources, targets = ([_label(objects, getattr(each, end)) for each in new] for end in ("source", "target"))
    ends = [objects.ports[getattr(each, end)] for each in new for end in ("source", "target")]
    outside = [objects.all.get(each.owner) for each in ends]
    from_outside = all(isinstance(each, Plio | Gmio | Graph) for each in outside[::2])
    also = ", or what the host gives them" if from_outside else ""
    where = f" ({' and '.join(lines[:2])})" if lines else ""
    if len(new) == _PAIR:
        ways = f"{sources[0]} and {sources[1]}, which lead to {targets[1]} and {targets[0]}"
        says = f"exchange {ways}{where}{also}"
    else:
        says = f"connect {_listed(sources)} to {_listed(targets)}, in this order{where}{also}"
    target = (sources[0], "connect", targets[0])
    return Candidate("flow", says, (), unlikely, target, place=lines[0] if lines else "")


def _label(objects: Objects, port: int) -> str:
    """The user's name of a port; of a PLIO or a GMIO that of the object."""
    found = objects.ports[port]
    owner = objects.all.get(found.owner)
    return owner.name if isinstance(owner, Plio | Gmio) else found.name


def _listed(names: Sequence[str]) -> str:
    more = f", .. ({len(names)} in all)" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _of_tilings(port: Port, access: str) -> Iterator[GraphChange]:
    """The tilings of a port with ids of packets, phases or offsets of others among them."""
    tilings: tuple[Tiling, ...] = getattr(port, access)
    for name in ("packet_port_id", "phase", "offset"):
        values = [getattr(each, name) for each in tilings]
        if len(values) < _PAIR or len({*values}) < len(values):
            continue
        for arranged, unlikely in _arrangements([_fastest_last(each) for each in values]):
            new = [values[n] for n in arranged]
            changed = tuple(replace(each, **{name: one}) for each, one in zip(tilings, new, strict=True))
            came, wanted = (_listed([_value(each) for each in some]) for some in (values, new))
            says = f"in {access} of {port.name}, set {name} to {wanted} instead of {came}"
            kind = "packet_id" if name == "packet_port_id" else "offset"
            candidate = Candidate(kind, says, (), unlikely, (port.name, name, wanted), place=port.line)
            new_port: dict[str, Any] = {access: changed}
            yield GraphChange(candidate, (replace(port, **new_port),))


def _fastest_last(value: int | tuple[int, ...]) -> tuple[int, ...]:
    return tuple(reversed(value)) if isinstance(value, tuple) else (value,)


def _value(value: int | tuple[int, ...]) -> str:
    return str(value) if isinstance(value, int) else "{" + ", ".join(map(str, value)) + "}"


def _arrangements(keys: Sequence[tuple[int, ...]]) -> Iterator[tuple[list[int], float]]:
    """Other orders of some members, each as the numbers of members in it, and how unlikely it is."""
    number = list(range(len(keys)))
    rising = sorted(number, key=keys.__getitem__)
    before = _inversions([keys[n] for n in number])
    tried = [number]
    for made, unlikely in [
        (rising, _RESTORED),
        *((_swapped(number, *pair), _EXCHANGED) for pair in combinations(number[:_MOST], 2)),
        (number[::-1], _REVERSED),
    ]:
        if made not in tried:
            tried.append(made)
            is_nearer = _inversions([keys[n] for n in made]) < before
            yield made, min(unlikely, _ONE_RESTORED) if is_nearer else unlikely


def _swapped(order: Sequence[int], one: int, other: int) -> list[int]:
    made = list(order)
    made[one], made[other] = made[other], made[one]
    return made


def _inversions(keys: Sequence[tuple[int, ...]]) -> int:
    return sum(one > other for one, other in combinations(keys[: _MOST * _PAIR], 2))
