"""What packets need of one switch: arbiters and msels for its masters, slots for its slaves.

The rules are those of mlir-aie's router (aie-create-pathfinder-flows): streams that go to the same masters
share an msel, streams that have a master in common share its arbiter, and ids of one slave with one
destination become as few slots as masks allow, none of which matches an id that goes elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from memtile.arch import switch_registers
from memtile.arch.packets import STREAM_HEADER
from memtile.arch.ports import DMA_MASTERS, DMA_SLAVES, MSELS, PORTS, SLOTS_PER_SLAVE, port_kind
from memtile.arch.registers import field_of, packed
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileName
from memtile.design.router import GraphPort
from memtile.errors import DesignError, Problem

SOURCE = "AM020 chapter 2: packet-switched streams"
IDS = field_of(STREAM_HEADER, "Stream_ID").maximum + 1
_ALL_BITS = IDS - 1
_KINDS = (
    "CORE",
    "DMA",
    "FIFO",
    "SOUTH",
    "WEST",
    "NORTH",
    "EAST",
    "PLIO",
    "NOC",
    "TRACE",
    "CTRL",
)  # WireBundle


class Hop(NamedTuple):
    """The way of one stream through a switch.

    Attributes:
        slave: where it comes in.
        id: of its packets.
        master: where it goes out; a stream with several has as many hops.
        priority: it gets its arbiter before streams without (mlir-aie, priority_route).
    """

    slave: GraphPort
    id: int
    master: GraphPort
    priority: bool = False


class Slot(NamedTuple):
    """A rule of a slave: ids that are ``id`` in the bits of ``mask`` go to an msel of an arbiter."""

    mask: int
    id: int
    arbiter: int
    msel: int


@dataclass(slots=True)
class PacketSwitch:
    """The packet configuration of one switch.

    Attributes:
        masters: by their names the arbiter, the msels and whether the header is dropped there.
        slots: by the names of slaves, in their order.
    """

    masters: dict[str, tuple[int, tuple[int, ...], bool]] = field(default_factory=dict)
    slots: dict[str, list[Slot]] = field(default_factory=dict)

    @property
    def arbiters(self) -> set[int]:
        """Those that it needs."""
        return {arbiter for arbiter, _, _ in self.masters.values()}

    def words(self, tile: TileName) -> Iterator[tuple[int, int]]:
        """Offsets within the switch's registers, and what is written there."""
        ports = PORTS[tile]
        for name, (arbiter, msels, drop) in self.masters.items():
            inner = packed(
                switch_registers.PACKET_CONFIGURATION, Msel_Enable=sum(1 << n for n in msels), Arbiter=arbiter
            )
            word = packed(
                switch_registers.MASTER_CONFIG,
                Master_Enable=1,
                Packet_Enable=1,
                Drop_Header=int(drop),
                Configuration=inner,
            )
            yield ports.master(name) * WORD_BYTES, word
        for name, slots in self.slots.items():
            slave = ports.slave(name)
            word = packed(switch_registers.SLAVE_CONFIG, Slave_Enable=1, Packet_Enable=1)
            yield switch_registers.SLAVE_CONFIG_OFFSET + slave * WORD_BYTES, word
            for n, (mask, number, arbiter, msel) in enumerate(slots):
                word = packed(switch_registers.SLOT, id=number, mask=mask, enable=1, msel=msel, arbit=arbiter)
                yield switch_registers.SLOT_OFFSET + (slave * SLOTS_PER_SLAVE + n) * WORD_BYTES, word


def drops_header(tile: TileName, master: str) -> bool:
    """Whether a header ends at a master for which nothing is said: at a DMA, and below the array."""
    below = TILE_KINDS[tile].role == "interface" and port_kind(master) == "SOUTH"
    return below or port_kind(master) == "DMA"


def packet_switch(
    hops: Sequence[Hop],
    arbiters: Sequence[int],
    where: str,
    keep: Mapping[GraphPort, bool | None],
    *,
    joins: bool = False,
) -> PacketSwitch:
    """The configuration of a switch for the streams that pass it.

    Args:
        hops: of one switch, each once, in the order in which slots are given; the last comes first.
        arbiters: that may be used.
        where: for messages.
        keep: by master whether it leaves the header in the stream; None or nothing = as its kind does.
        joins: a stream may join masters that other streams have alone, which mlir-aie's router cannot do.

    Raises:
        DesignError: a slave with too many slots, or a switch without an arbiter or msel left.
    """
    ways: dict[tuple[GraphPort, int], list[GraphPort]] = {}
    for hop in hops:
        ways.setdefault((hop.slave, hop.id), []).append(hop.master)
    found = _Selects(arbiters, where, _joined(ways.values()) if joins else {})
    first = {(hop.slave, hop.id) for hop in hops if hop.priority}
    for way in sorted(ways, key=lambda way: (way not in first, _order(way[0]), way[1])):
        found.add(way, ways[way], priority=way in first)
    made = PacketSwitch()
    for master, selects in sorted(found.of_masters().items(), key=lambda pair: _order(pair[0])):
        said = keep.get(master)
        drop = drops_header(master.tile, master.name) if said is None else not said
        made.masters[master.name] = selects[0][0], tuple(msel for _, msel in selects), drop
    _rules(made, [(hop.slave, hop.id) for hop in reversed(hops)], ways, found)
    for slave, slots in made.slots.items():
        if len(slots) > SLOTS_PER_SLAVE:
            port = next(hop.slave for hop in hops if hop.slave.name == slave)
            raise DesignError(_full(where, str(port), f"{len(slots)} slots", f"{SLOTS_PER_SLAVE}"))
    return made


def _joined(sets: Iterable[list[GraphPort]]) -> dict[GraphPort, GraphPort]:
    """For each master one that stands for all that need one arbiter, because a stream joins them."""
    groups: list[set[GraphPort]] = []
    for masters in sets:
        touching = [group for group in groups if group & set(masters)]
        groups = [group for group in groups if group not in touching] + [set(masters).union(*touching)]
    return {master: min(group) for group in groups for master in group}


def _rules(
    made: PacketSwitch,
    order: Iterable[tuple[GraphPort, int]],
    ways: Mapping[tuple[GraphPort, int], list[GraphPort]],
    selects: _Selects,
) -> None:
    """The slots of each slave: ids that go the same way are one group."""
    groups: dict[tuple[GraphPort, frozenset[GraphPort]], list[int]] = {}
    all_ids: defaultdict[GraphPort, set[int]] = defaultdict(set)
    for slave, number in dict.fromkeys(order):
        groups.setdefault((slave, frozenset(ways[slave, number])), []).append(number)
        all_ids[slave].add(number)
    for (slave, _), ids in groups.items():
        arbiter, msel = selects.of_ways[slave, ids[0]]
        rules = cover(tuple(ids), frozenset(all_ids[slave].difference(ids)))
        made.slots.setdefault(slave.name, []).extend(Slot(*rule, arbiter, msel) for rule in rules)


class _Selects:
    """Arbiters and msels of a switch: which masters each pair reaches, and which pair each way has."""

    def __init__(self, arbiters: Sequence[int], where: str, parts: Mapping[GraphPort, GraphPort]) -> None:
        self._arbiters, self._where, self._parts = arbiters, where, parts
        self._masters: dict[tuple[int, int], list[GraphPort]] = {}  # by msel and arbiter
        self._arbiter: dict[GraphPort, int] = {}
        self.of_ways: dict[tuple[GraphPort, int], tuple[int, int]] = {}

    def add(self, way: tuple[GraphPort, int], masters: list[GraphPort], *, priority: bool) -> None:
        """Give a way through the switch its arbiter and msel."""
        parts = [self._parts.get(master, master) for master in masters]
        needed = {self._arbiter[part] for part in parts if part in self._arbiter}
        if len(needed) > 1:
            pair = " and ".join(map(str, sorted(needed)))
            says = f"a stream that goes to masters of arbiters {pair}"
            raise DesignError(_full(self._where, masters[0].place, says, "one arbiter for each master"))
        msel, arbiter = self._chosen(masters, min(needed, default=None), priority=priority)
        self._masters.setdefault((msel, arbiter), list(masters))
        self._arbiter.update(dict.fromkeys(parts, arbiter))
        self.of_ways[way] = arbiter, msel

    def of_masters(self) -> dict[GraphPort, list[tuple[int, int]]]:
        """The pairs of arbiter and msel that open each master."""
        found: defaultdict[GraphPort, list[tuple[int, int]]] = defaultdict(list)
        for (msel, arbiter), masters in sorted(self._masters.items()):
            for master in masters:
                found[master].append((arbiter, msel))
        return found

    def _chosen(self, masters: list[GraphPort], arbiter: int | None, *, priority: bool) -> tuple[int, int]:
        """Msel and arbiter: those of another way to exactly these masters, else new ones."""
        for pair, others in sorted(self._masters.items()):
            if arbiter in (None, pair[1]) and set(masters) & set(others):
                if set(masters) == set(others):
                    return pair
                break
        pairs = [(msel, each) for msel in range(MSELS) for each in self._arbiters if arbiter in (None, each)]
        if priority and arbiter is None:
            pairs.reverse()
        free = next((pair for pair in pairs if pair not in self._masters), None)
        if free is None:
            needs, has = "one more set of masters", f"{MSELS} msels of arbiter {arbiter}"
            if arbiter is None:
                has = f"{len(self._arbiters)} arbiters with {MSELS} msels each"
            raise DesignError(_full(self._where, masters[0].place, needs, has))
        return free


@lru_cache(maxsize=1024)
def cover(ids: tuple[int, ...], avoid: frozenset[int]) -> tuple[tuple[int, int], ...]:
    """The fewest pairs of mask and value that match all ``ids`` and none of ``avoid``.

    What else they match is as little as their number allows: each pair is narrowed to the ids that it has.
    """
    cubes = _largest_cubes(ids, avoid)
    taken: list[list[int]] = [[] for _ in cubes]
    chosen = _fewest([{n for n in ids if n & mask == value} for mask, value in cubes], set(ids))
    for number in ids:
        taken[next(n for n in chosen if number & cubes[n][0] == cubes[n][1])].append(number)
    return tuple(_narrowed(taken[n]) for n in chosen if taken[n])


def _largest_cubes(ids: Iterable[int], avoid: Collection[int]) -> list[tuple[int, int]]:
    """Masks and values that match an id and nothing to avoid, and would match that with a bit less."""

    def hits(mask: int, value: int) -> bool:
        return any(n & mask == value for n in avoid)

    cubes = {(mask, n & mask) for mask in range(IDS) for n in ids}
    bits = [1 << n for n in range(_ALL_BITS.bit_length())]
    return [
        (mask, value)
        for mask, value in sorted(cubes)
        if not hits(mask, value) and all(hits(mask & ~bit, value & ~bit) for bit in bits if mask & bit)
    ]


def _fewest(sets: Sequence[Collection[int]], open_: set[int]) -> list[int]:
    """Places of the fewest sets that have all of ``open_``, the first such choice (branch and bound)."""
    best: list[int] = list(range(len(sets) + 1))

    def search(chosen: list[int], left: set[int]) -> None:
        nonlocal best
        if not left:
            best = chosen if len(chosen) < len(best) else best
        elif len(chosen) + 1 < len(best):
            rarest = min(sorted(left), key=lambda n: sum(n in each for each in sets))
            for place, each in enumerate(sets):
                if rarest in each:
                    search([*chosen, place], left.difference(each))

    search([], open_)
    return best


def _narrowed(ids: Sequence[int]) -> tuple[int, int]:
    """The bits that the ids have in common, and what they are."""
    mask = _ALL_BITS
    for number in ids:
        mask &= ~(number ^ ids[0])
    return mask, ids[0] & mask


def _order(port: GraphPort) -> tuple[int, int]:
    """The order of ports in mlir-aie: by bundle and channel, those of an interface DMA as its channels."""
    names = DMA_MASTERS if port.is_master else DMA_SLAVES
    if TILE_KINDS[port.tile].role == "interface" and port.name in names:
        return _KINDS.index("DMA"), names.index(port.name)
    kind = port_kind(port.name)
    return _KINDS.index(kind), int(port.name.removeprefix(kind))


def _full(where: str, place: str, given: str, allowed: str) -> Problem:
    says = f"{place} needs {given}; it has {allowed}"
    step = "Give streams to one destination ids that one mask matches, or send some another way."
    return Problem(place, given, allowed, says, step, reason="packet_room", where=where, source=SOURCE)
