"""Circuits of an array: flows between channels, circuits by hand, and the registers that make them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from memtile.arch.devices import Device
from memtile.arch.ports import (
    ARBITERS,
    DEMUX_BITS,
    DMA_MASTERS,
    DMA_SLAVES,
    MUX_BITS,
    PORTS,
    SOUTH_ATTACHMENT,
    circuit_allowed,
)
from memtile.arch.register_map import tile_register
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import MASTER_CONFIG, SLAVE_CONFIG, SLAVE_CONFIG_OFFSET
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES
from memtile.design.channels import Channel
from memtile.design.events import SwitchEnd
from memtile.design.router import GraphPort, RouteDemand, SwitchGraph, Tree, route
from memtile.design.undo import Holder, undoable
from memtile.errors import DesignError, Problem, raise_if
from memtile.runs.machine import HasDoor, OwnDoor
from memtile.sim.doors.array_door import ArrayDoor

End = Channel | SwitchEnd
_SOURCE = "AM020 chapter 2: stream switch"
_KEPT = 64  # designs whose circuits were found last
_MARGIN = 1  # columns beside those of the flows that a circuit may use at first


_MASTER_ENABLE = field_of(MASTER_CONFIG, "Master_Enable").mask
_SLAVE_ENABLE = field_of(SLAVE_CONFIG, "Slave_Enable").mask


class Design(HasDoor, Holder, Protocol):
    """An array."""


class Circuits:
    """What is connected in an array.

    Args:
        device: the device.
        columns: columns of the array.
        design: the array.

    Attributes:
        door: the address space of the array, without the time of a host.
    """

    _flows: tuple[RouteDemand, ...] = undoable()
    _logic: frozenset[GraphPort] = undoable()  # South ports that lead to the programmable logic

    def __init__(self, device: Device, columns: int, design: Design) -> None:
        self._device, self._columns = device, columns
        self._design: object = design
        self.journal, self.door = design.journal, OwnDoor(design)
        self._flows, self._logic = (), frozenset()
        self._taken: dict[GraphPort, str] = {}
        self._drivers: dict[GraphPort, GraphPort] = {}
        self._arbiters: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
        self.trees: dict[RouteDemand, Tree] = {}

    def connect(
        self, source: End, targets: Sequence[End], bus: str = "", ids: tuple[int, ...] = ()
    ) -> RouteDemand:
        """Ask for a circuit from an MM2S channel to S2MM channels, or for a way for packets of a ``bus``.

        Args:
            source: where the words come from.
            targets: where they go.
            bus: see :class:`RouteDemand`; empty = a circuit.
            ids: of the packets, see :class:`RouteDemand`.

        Raises:
            DesignError: a channel of the wrong direction, of another array, or that is part of another flow;
                no interface DMA.
        """
        raise_if([p for end in (source, *targets) for p in self._foreign_ends(end)], DesignError)
        flow = RouteDemand(
            f"{source.name} -> {', '.join(target.name for target in targets)}",
            port_of(source),
            tuple(port_of(target) for target in targets),
            bus,
            ids,
        )
        ends = (source, *targets)
        logic = self._logic | {port_of(end) for end in ends if isinstance(end, SwitchEnd) and end.is_logic}
        problems = [*self._wrong(flow, source, targets, logic), *self._shared(flow)]
        raise_if(problems, DesignError)
        self._flows, self._logic = (*self._flows, flow), logic  # only now: a refused flow claims nothing
        return flow

    def by_hand(self, column: int, row: int, slave: str, masters: Sequence[str]) -> None:
        """Join ports of one switch at once.

        Raises:
            DesignError: the switch cannot join them, or a master already has another slave; the error names
                both.
        """
        tile = self._device.tile(column, row)
        start = GraphPort(tile, column, row, False, slave)
        problems = []
        for name in masters:
            master = start._replace(is_master=True, name=name)
            if not circuit_allowed(tile, slave, name):
                problems.append(
                    Problem(
                        "circuit",
                        f"{slave} to {name}",
                        "circuits of the switch",
                        f"the switch cannot join slave {slave} to master {name}",
                        reason="circuit",
                        where=start.place,
                        source=_SOURCE,
                    )
                )
            owner = self._taken.get(master)
            if owner and self._drivers.get(master) != start:
                problems.append(
                    Problem(
                        name,
                        slave,
                        "a master without another slave",
                        f"master {name} cannot have slave {slave}: it has {owner}",
                        reason="two_drivers",
                        where=start.place,
                        source=_SOURCE,
                    )
                )
        raise_if(problems, DesignError)
        text = f"{start.place} {slave} -> {', '.join(masters)}"
        self._write({start._replace(is_master=True, name=name): start for name in masters}, text)

    def apply(self) -> None:
        """Find circuits for the flows that have none, and write the registers.

        Raises:
            DesignError: a link is full, or there is no way; see :func:`router.route`.
        """
        if not self._flows:
            return
        for flow, tree in self._route().items():
            if not flow.bus:
                self._write(tree, flow.name)
            self._attach(flow)
            self.trees[flow] = tree
            self._taken.update(dict.fromkeys((flow.source, *tree), flow.owner))
        self._flows = ()

    @property
    def waiting(self) -> tuple[RouteDemand, ...]:
        """The flows that have no circuit yet."""
        return self._flows

    def saved(self) -> dict[str, Any]:
        """The circuits as plain data; flows that have none yet are left out."""
        return {
            "trees": [[flow.saved(), list(tree.items())] for flow, tree in self.trees.items()],
            "taken": list(self._taken.items()),
            "drivers": list(self._drivers.items()),
            "arbiters": [[place, names] for place, names in self._arbiters.items()],
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Have what :meth:`saved` found in another array of the same device; no register is written."""
        self.trees = {
            RouteDemand.restored(flow): {GraphPort(*port): GraphPort(*before) for port, before in tree}
            for flow, tree in saved["trees"]
        }
        self._taken = {GraphPort(*port): owner for port, owner in saved["taken"]}
        self._drivers = {GraphPort(*port): GraphPort(*before) for port, before in saved["drivers"]}
        self._arbiters = defaultdict(list, {(c, r): names for (c, r), names in saved["arbiters"]})

    def free_arbiters(self, place: tuple[int, int]) -> list[int]:
        """The packet arbiters of a switch that nobody has."""
        holders = self._arbiters[place]
        return [n for n in range(ARBITERS) if n >= len(holders) or not holders[n]]

    def take_arbiters(self, place: tuple[int, int], numbers: Iterable[int], owner: str) -> None:
        """Give packet arbiters of a switch to an owner."""
        holders = self._arbiters[place]
        for number in numbers:
            holders += [""] * (number + 1 - len(holders))
            holders[number] = owner

    def _route(self) -> dict[RouteDemand, Tree]:
        """Circuits near the columns of the flows, or else anywhere."""
        near = [port.column for flow in self._flows for port in (flow.source, *flow.targets)]
        first, last = max(min(near) - _MARGIN, 0), min(max(near) + _MARGIN, self._columns - 1)
        everywhere = range(self._columns)
        columns = range(first, last + 1)
        asked = self._device, self._flows, tuple(self._taken.items())
        try:
            return dict(_routed(columns, *asked))
        except DesignError:
            if columns == everywhere:
                raise
        return dict(_routed(everywhere, *asked))

    def _write(self, tree: Tree, owner: str) -> None:
        """Configure the hops inside switches; what a wire joins needs no register."""
        for port, before in tree.items():
            self._taken[port] = self._taken[before] = owner
            self._drivers[port] = before
            if port.is_master:
                ports = PORTS[port.tile]
                slave = ports.slave(before.name)
                at = ArrayDoor.address(port.column, port.row, ports.base)
                self.door.write32(at + SLAVE_CONFIG_OFFSET + slave * WORD_BYTES, _SLAVE_ENABLE)
                master = at + ports.master(port.name) * WORD_BYTES
                self.door.write32(master, _MASTER_ENABLE | slave)

    def _attach(self, flow: RouteDemand) -> None:
        """Give the switch ports of interface tiles to their DMA, or to the programmable logic."""
        for port in (flow.source, *flow.targets):
            is_logic = port in self._logic
            if is_logic and not self._device.has_interface_dma(port.column):
                continue  # without DMA there is nothing to choose
            if _is_interface(port) and (_is_dma(port) or (is_logic and _is_multiplexed(port))):
                register = tile_register(port.tile, "Demux_Config" if port.is_master else "Mux_Config")
                field = register.field(port.name.capitalize())
                at = ArrayDoor.address(port.column, port.row, register.offset)
                attached = SOUTH_ATTACHMENT["PL" if is_logic else "DMA"]
                self.door.mask_write32(at, field.mask, attached << field.lsb)

    def two_parties(self, channels: Iterable[Channel]) -> Iterator[Problem]:
        """Those channels whose stream port both a circuit and the test bench have."""
        for channel in channels:
            owner = self.owner(channel) if channel.fed or channel.taken else ""
            if owner:
                yield Problem(
                    channel.name,
                    f"{owner}, and {'feed' if channel.fed else 'collect or expect'}",
                    "a circuit or the test bench",
                    f"{channel.name} has {owner}, and {'feed' if channel.fed else 'collect or expect'} "
                    "of the test bench too",
                    reason="two_parties",
                    where=f"array {self._device.name}",
                    source="a stream has one end at either side",
                )

    def owner(self, channel: Channel) -> str:
        """Whose circuit or packets come to a channel or from it; empty = nobody's."""
        port = port_of(channel)
        asked = {end: flow.owner for flow in self._flows for end in (flow.source, *flow.targets)}
        return asked.get(port) or self._taken.get(port, "")

    def _foreign_ends(self, end: object) -> Iterator[Problem]:
        """Ends that are none of this array."""
        if not isinstance(end, End):
            yield Problem(
                "flow",
                repr(end),
                "channels of tiles",
                f"an end of the flow is {end!r}; it must be a channel of a tile",
                "Give channels such as tile.mm2s[0] and tile.s2mm[0].",
                reason="end",
                where="router",
                source=_SOURCE,
            )
        elif end.tile.bench is not self._design and end.tile.place is not None:
            yield Problem(
                "flow",
                f"{end.name} of another array",
                "channels of this array's tiles",
                f"{end.name} belongs to another array",
                reason="end",
                where="router",
                source=_SOURCE,
            )

    def _wrong(
        self, flow: RouteDemand, source: End, targets: Sequence[End], logic: frozenset[GraphPort]
    ) -> Iterator[Problem]:
        allowed = "one MM2S channel to at least one S2MM channel"
        if source.receives or not targets or not all(target.receives for target in targets):
            yield Problem(
                "flow",
                flow.name,
                allowed,
                f"the flow is {flow.name}{'' if targets else 'nothing'}; it must go from {allowed}",
                reason="direction",
                where="router",
                source=_SOURCE,
            )
        for port in (flow.source, *flow.targets):
            is_dma = _is_interface(port) and _is_dma(port) and port not in logic
            if is_dma and not self._device.has_interface_dma(port.column):
                columns = ", ".join(map(str, self._device.noc_columns))
                yield Problem(
                    str(flow),
                    port.place,
                    f"columns {columns}",
                    f"{flow} needs the DMA of {port.place}, which has none; columns {columns} have one",
                    reason="no_dma",
                    where="router",
                    source=self._device.source.text,
                )

    def _shared(self, flow: RouteDemand) -> Iterator[Problem]:
        """Ends that another flow has: two masters of one port, or a second circuit from one source."""
        owners = {
            port: other.owner
            for other in self._flows
            for port in (other.source, *other.targets)
            if not (flow.ids and other.ids and port != other.source)
        }
        owners |= self._taken
        for port in (flow.source, *flow.targets):
            if owners.get(port, flow.bus) != flow.bus:
                yield Problem(
                    str(flow),
                    str(port),
                    "a port of its own",
                    f"{flow} cannot have {port}: it has {owners[port]}",
                    "Name all destinations in one call." if port == flow.source else "",
                    reason="port_taken",
                    where="router",
                    source=_SOURCE,
                )


@lru_cache(maxsize=_KEPT)
def _routed(
    columns: range, device: Device, flows: tuple[RouteDemand, ...], taken: tuple[tuple[GraphPort, str], ...]
) -> tuple[tuple[RouteDemand, Tree], ...]:
    """Circuits of flows, in their order; variants of a design ask for the same ones again and again."""
    return tuple(route(SwitchGraph(device, columns), flows, dict(taken)).items())


def _is_interface(port: GraphPort) -> bool:
    return TILE_KINDS[port.tile].role == "interface"


def _is_dma(port: GraphPort) -> bool:
    """Whether the port of an interface tile is one of its DMA, not of the fabric beside the array."""
    return port.name in (DMA_MASTERS if port.is_master else DMA_SLAVES)


def _is_multiplexed(port: GraphPort) -> bool:
    """Whether a register chooses what is behind a South port of an interface tile."""
    return port.name in (DEMUX_BITS if port.is_master else MUX_BITS)


def port_of(channel: End) -> GraphPort:
    """The switch port of an end of a flow in an array."""
    tile = channel.tile
    if tile.place is None:
        problem = Problem(
            channel.port,
            "a tile alone",
            "tiles of an array",
            f"{channel.port} is of a tile alone, which no switch joins to others",
            "Take the tile from an Array.",
            reason="alone",
            where=tile.title,
            source=_SOURCE,
        )
        raise DesignError(problem)
    if isinstance(channel, SwitchEnd):
        return GraphPort(tile.kind.name, *tile.place, channel.receives, channel.port)
    if tile.kind.role == "interface":
        name = (DMA_MASTERS if channel.receives else DMA_SLAVES)[channel.number]
    else:
        name = f"DMA{channel.number}"
    return GraphPort(tile.kind.name, *tile.place, channel.receives, name)
