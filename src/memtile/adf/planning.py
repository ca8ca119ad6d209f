"""A description becomes a plan: nets, repetition counts, places, buffers and channels, nothing left open.

Each stage needs what the one before found; all problems of a stage are reported at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from memtile.adf.channels import INTO, OUT, Channels
from memtile.adf.description import Description, Kernel, Place
from memtile.adf.edges import Door, Doors
from memtile.adf.memory import Key, Request, Rooms, place_all
from memtile.adf.memory_tiles import SharedBuffers
from memtile.adf.nets import Tap, Wiring, wirings
from memtile.adf.notes import notes_of
from memtile.adf.objects import BUFFERS, PARAMETERS, Objects
from memtile.adf.placement import Board, Placer, reach
from memtile.adf.placement_rules import no_core, placement_problems
from memtile.adf.plan import Blocks, End, Net, Plan, PlannedKernel, PlannedMemory, Tile, Transport
from memtile.adf.rates import rates, tilings_of
from memtile.adf.sites import Sites
from memtile.adf.sizes import (
    PING_PONG,
    alignment,
    block_bytes,
    heap_bytes,
    may_share,
    parameter_bytes,
    stack_bytes,
)
from memtile.arch.devices import Device
from memtile.arch.devices import device as device_of
from memtile.design.placement_cpsat import installed
from memtile.errors import DesignError, Problem, raise_if


def plan_of(description: Description, device: str) -> Plan:
    """The plan of a description on a device.

    Args:
        description: of one program.
        device: its name.

    Raises:
        DesignError: the description contradicts itself, or does not fit the device; with all problems of the
            first stage that has any.
    """
    return _Planner(description, device_of(device)).plan()


@dataclass(frozen=True, slots=True)
class _Shared:
    """How a net between kernels is carried in memory: tiles that both reach, and the number of buffers."""

    tiles: tuple[Tile, ...]
    copies: int


class _Planner:
    """One description on its way."""

    def __init__(self, description: Description, device: Device) -> None:
        self.description, self.device = description, device
        self.objects = Objects(description)
        self._in_tiles: dict[int, Blocks] = {}

    def plan(self) -> Plan:
        """All stages."""
        problems: list[Problem] = []
        self.wirings = wirings(self.objects, problems)
        self.rates = rates(self.objects, self.wirings, problems)
        self.sites = Sites(self.objects, self.device, problems)
        raise_if(problems, DesignError)
        problems = self._attempt(roomy=False)
        if problems and self._attempt(roomy=True):
            raise DesignError(problems)
        return self._assembled()

    def _attempt(self, *, roomy: bool) -> list[Problem]:
        """Places for all, kernels close together or with neighbours to themselves (DEV-ADF-13)."""
        self.board = self._placed(roomy=roomy)
        self.shared = dict(self._memory_nets())
        return self._give_places()

    def _placed(self, *, roomy: bool) -> Board:
        problems: list[Problem] = []
        placer = Placer(self.objects, self.device, self.sites, self.wirings, self.rates, roomy=roomy)
        board = placer.run(problems)
        if placer.left and installed() and not problems:
            board = placer.solved() or board
        problems.extend(no_core(self.objects, placer))
        problems.extend(placement_problems(self.objects, self.sites, self.wirings, board))
        raise_if(problems, DesignError)
        return board

    def _memory_nets(self) -> Iterator[tuple[int, _Shared]]:
        """Nets between kernels that reach the same memory; the number of each is its place in ``wirings``."""
        for number, wiring in enumerate(self.wirings):
            if not may_share(self.objects, wiring, self.rates) or self._placed_twice(wiring):
                continue
            source, target = (self._spot(end) for end in (*wiring.sources, *wiring.targets))
            common = set(reach(self.device, source)) & set(reach(self.device, target))
            order = [target, source, *reach(self.device, target)]
            tiles = tuple(dict.fromkeys(tile for tile in order if tile in common))
            full = self.board.roomy and not any(self.board.free(tile).nbytes for tile in tiles)
            if tiles and not full and self._may_lie_in(wiring, tiles):
                yield number, _Shared(tiles, self._copies(wiring, source, target))

    def _placed_twice(self, wiring: Wiring) -> bool:
        """Whether the user gave both ends different places, or one a channel (DEV-ADF-11)."""
        ends = [end.port for end in (*wiring.sources, *wiring.targets)]
        given = {places for port in ends if (places := self.sites.of("buffer", port))}
        return len(given) > 1 or any(self.sites.of("dma", port) for port in ends)

    def _may_lie_in(self, wiring: Wiring, tiles: Sequence[Tile]) -> bool:
        """Whether the place that the user gave one end's buffers is in reach of both ends (DEV-ADF-11)."""
        ends = [end.port for end in (*wiring.sources, *wiring.targets)]
        places = [place for port in ends for place in self.sites.of("buffer", port) if place.column >= 0]
        first = self.device.compute_rows.start
        given = {(place.column, first + place.row) for place in places if place.kind in ("address", "bank")}
        return given <= set(tiles) or all(self.sites.of("buffer", port) for port in ends)

    def _copies(self, wiring: Wiring, source: Tile, target: Tile) -> int:
        """Single within a core, double between cores (UG1079, Buffer Allocation Control)."""
        ports = [self.objects.ports[end.port] for end in (*wiring.sources, *wiring.targets)]
        if any(port.single for port in ports):
            return 1
        given = max(len(self.sites.of("buffer", port.id)) for port in ports)
        return PING_PONG if source != target or given == PING_PONG else 1

    def _spot(self, end: Tap) -> Tile:
        return self.board.spots[self.objects.ports[end.port].owner]

    # Places of buffers and channels

    def _give_places(self) -> list[Problem]:
        self._in_tiles = {}
        columns = dict(self._columns())
        rooms = Rooms(self.device, alignment(self.device), self.board.spots, Channels(self.device))
        requests = list(self._requests())
        rooms.carried = {
            self.wirings[number].sources[0].port: self.wirings[number].targets[0].port
            for number in self.shared
        }
        rooms.rivals = self._rivals({request.key for request in requests}, rooms.carried)
        self.rooms, problems = place_all(rooms, requests)
        memories = [memory for memory in self.description.memories if not memory.external]
        self.buffers = SharedBuffers(self.objects, self.rooms, self.sites, columns)
        problems.extend(self.buffers.place(memories))
        self._in_tiles = self.buffers.blocks
        for memory, blocks in self.buffers.blocks.items():
            columns[memory] = [blocks.tile[0]]
        self.doors = Doors(self.objects, self.rooms, self.sites, dict(self._columns()))
        problems.extend(self.doors.place())
        return problems

    def _rivals(self, known: Set[Key], carried: Mapping[int, int]) -> dict[Key, set[Key]]:
        """What may not share a bank: ports by their buffers, and kernels beside ports by their stacks."""
        stacks = {k: ("stack", together[0], -1) for together in self.board.kernels.values() for k in together}
        out: dict[Key, set[Key]] = defaultdict(set)
        for rule in self.description.not_equal:
            if all(number in stacks for number in rule.objects):
                continue  # kernels: of their tiles
            keys = {
                stacks.get(number) or ("buffer", carried.get(number, number), -1) for number in rule.objects
            }
            for key in keys & known:
                out[key] |= (keys & known) - {key}
        return out

    def _columns(self) -> Iterator[tuple[int, list[int]]]:
        """Owner -> columns of what it exchanges data with, as far as these have places."""
        near: dict[int, list[int]] = defaultdict(list)
        for wiring in self.wirings:
            ends = (*wiring.sources, *wiring.targets)
            owners = [self.objects.ports[end.port].owner for end in ends]
            for owner in owners:
                near[owner].extend(c for other in owners if other != owner for c in self._column_of(other))
        yield from near.items()

    def _column_of(self, owner: int) -> list[int]:
        if owner in self.board.spots:
            return [self.board.spots[owner][0]]
        if owner in self._in_tiles:
            return [self._in_tiles[owner].tile[0]]
        return [p.column for what in ("PLIO", "GMIO", "buffer") for p in self.sites.of(what, owner)][:1]

    def _requests(self) -> Iterator[Request]:
        """What kernels need of data memory."""
        for number, wiring in enumerate(self.wirings):
            if number in self.shared:
                yield self._shared_request(wiring, self.shared[number])
            else:
                yield from (
                    self._dma_request(tap, tap in wiring.sources) for tap in self._buffer_ends(wiring)
                )
        for spot, kernels in self.board.kernels.items():
            yield self._stack_request(spot, [self.objects.kernels[k] for k in kernels])
        for kernel in self.description.kernels:
            yield from self._parameter_requests(kernel)

    def _buffer_ends(self, wiring: Wiring) -> Iterator[Tap]:
        return (t for t in (*wiring.sources, *wiring.targets) if self.objects.ports[t.port].kind in BUFFERS)

    def _dma_place(self, port: int) -> Place | None:
        return next(iter(self.sites.of("dma", port)), None)

    def _where(self, port: int, what: str = "buffer") -> str:
        return self.objects.where(port, self.sites.line(what, port))

    def _dma_request(self, tap: Tap, is_source: bool) -> Request:
        port, spot = self.objects.ports[tap.port], self._spot(tap)
        return Request(
            ("buffer", port.id, -1),
            port.name,
            self._where(port.id),
            self.board.order(spot),
            1 if port.single else PING_PONG,
            self._aligned(block_bytes(port, self.rates)),
            self.sites.of("buffer", port.id),
            OUT if is_source else INTO,
            self._dma_place(port.id),
            spot,
        )

    def _shared_request(self, wiring: Wiring, shared: _Shared) -> Request:
        source, target = (self.objects.ports[end.port] for end in (*wiring.sources, *wiring.targets))
        given = self.sites.of("buffer", target.id) or self.sites.of("buffer", source.id)
        where = source.id if given and not self.sites.of("buffer", target.id) else target.id
        return Request(
            ("buffer", target.id, -1),
            target.name,
            self._where(where),
            shared.tiles,
            shared.copies,
            self._aligned(max(block_bytes(source, self.rates), block_bytes(target, self.rates))),
            given,
            home=self._spot(wiring.targets[0]),
        )

    def _aligned(self, nbytes: int) -> int:
        """Bytes of a buffer, as a DMA moves them: whole words."""
        return -(-nbytes // 4) * 4

    def _stack_request(self, spot: Tile, kernels: Sequence[Kernel]) -> Request:
        placed = next((k for k in kernels if self.sites.of("stack", k.id)), kernels[0])
        return Request(
            ("stack", kernels[0].id, -1),
            f"the stack of {placed.name}",
            self._where(placed.id, "stack"),
            self.board.order(spot),
            1,
            stack_bytes(kernels) + heap_bytes(kernels),
            self.sites.of("stack", placed.id),
            home=spot,
            late=True,
        )

    def _parameter_requests(self, kernel: Kernel) -> Iterator[Request]:
        spot = self.board.spots[kernel.id]
        tiles = self.board.order(spot)
        members = [p.id for p in self.description.ports if p.is_member and p.owner == kernel.id]
        for number in dict.fromkeys((*kernel.ports, *members)):
            port = self.objects.ports[number]
            nbytes = self._aligned(parameter_bytes(port))
            if port.kind in PARAMETERS and nbytes:
                copies = 1 if port.single or port.is_member else PING_PONG  # DEV-ADF-22
                places = self.sites.of("parameter", number)
                where = self._where(number, "parameter")
                key = ("parameter", number, -1)
                yield Request(key, port.name, where, tiles, copies, nbytes, places, home=spot)
        for number in kernel.tables:
            table = self.objects.tables[number]
            nbytes, places = self._aligned(table.nbytes), self.sites.of("parameter", number)
            if nbytes:  # libraries have arrays without elements for stages that a kernel lacks
                where = self._where(number, "parameter")
                key = ("table", number, kernel.id)
                yield Request(key, table.name, where, tiles, 1, nbytes, places, home=spot)

    # The plan

    def _assembled(self) -> Plan:
        nets = tuple(self._net(number, wiring) for number, wiring in enumerate(self.wirings))
        kernels = tuple(self._kernel(kernel) for kernel in self.description.kernels)
        memories = tuple(
            PlannedMemory(m.id, self.buffers.blocks.get(m.id), self.rates.turns[m.id])
            for m in self.description.memories
        )
        blocks = self.rooms.blocks
        plan = Plan(
            self.description,
            self.device.name,
            1 + max(self._used_columns(nets, kernels, memories), default=0),
            kernels,
            memories,
            nets,
            {number: b for (what, number, _), b in blocks.items() if what == "parameter"},
            tables={(kernel, number): b for (what, number, kernel), b in blocks.items() if what == "table"},
        )
        return replace(plan, notes=notes_of(plan, self.objects, self.sites, self.wirings))

    def _used_columns(
        self, nets: Sequence[Net], kernels: Sequence[PlannedKernel], memories: Sequence[PlannedMemory]
    ) -> Iterator[int]:
        size = self.device.kind("memory").memory_bytes
        yield from (kernel.tile[0] for kernel in kernels)
        yield from (end.tile[0] for net in nets for end in (*net.sources, *net.targets))
        yield from (blocks.tile[0] for blocks in self.rooms.blocks.values())
        for blocks in (m.blocks for m in memories if m.blocks):
            yield from (tile[0] for tile in (blocks.tile, *blocks.tiles))
            yield from (blocks.tile[0] + 1 for start in blocks.offsets if start + blocks.nbytes > size)

    def _kernel(self, kernel: Kernel) -> PlannedKernel:
        spot = self.board.spots[kernel.id]
        together = self.board.kernels[spot]
        order = sorted(together, key=lambda k: (self._depth[k], together.index(k)))
        return PlannedKernel(
            kernel.id,
            spot,
            self.rates.turns[kernel.id],
            order.index(kernel.id),
            stack_bytes(self.objects.kernels[k] for k in together),
            self.rooms.blocks["stack", together[0], -1],
        )

    @property
    def _depth(self) -> Mapping[int, int]:
        """Kernel -> its place in an order in which data pass kernels; loops are cut where they close."""
        if not hasattr(self, "_depths"):
            self._depths = _depths(self.objects, self.wirings)
        return self._depths

    def _net(self, number: int, wiring: Wiring) -> Net:
        shared = number in self.shared
        kind = self.objects.ports[wiring.sources[0].port].kind
        transport: Transport = "memory" if shared else "cascade" if kind == "cascade" else "stream"
        sizes = (
            self.objects.element_bytes(self.objects.ports[e.port]) for e in (*wiring.sources, *wiring.targets)
        )
        return Net(
            wiring.name,
            transport,
            tuple(self._end(wiring, tap, blocks=not shared) for tap in wiring.sources),
            tuple(self._end(wiring, tap, blocks=True) for tap in wiring.targets),
            next((size for size in sizes if size), 4),
            wiring.packets,
            max((c.fifo_depth or 0 for c in wiring.connections), default=0),
            tuple(c.id for c in wiring.connections),
        )

    def _end(self, wiring: Wiring, tap: Tap, *, blocks: bool) -> End:
        port = self.objects.ports[tap.port]
        tile, channel, found, shim_port = self._place_of(tap.port)
        elements = self.rates.elements.get(tap)
        return End(
            port.id,
            tile,
            channel if blocks else -1,
            found if blocks else None,
            self._outside_volume(wiring, tap) if elements is None else elements,
            self.rates.turns_of(self.objects, port.id)
            if elements is not None or port.owner in self.board.spots
            else 1,
            shim_port,
            tap.branch,
            tap.branch if wiring.packets else -1,  # DEV-ADF-19
            tilings_of(port, tap.branch),
        )

    def _place_of(self, port: int) -> tuple[Tile, int, Blocks | None, int]:
        """Tile, channel, buffers and stream port of an end."""
        owner = self.objects.ports[port].owner
        if owner in self.board.spots:
            key: Key = ("buffer", port, -1)
            return self.board.spots[owner], self.rooms.numbers.get(key, -1), self.rooms.blocks.get(key), -1
        if port in self.buffers.ports:
            tile, channel = self.buffers.ports[port]
            return tile, channel, self.buffers.blocks[owner], -1
        door: Door = self.doors.of[port]
        return door.tile, door.channel, None, door.shim_port

    def _outside_volume(self, wiring: Wiring, tap: Tap) -> int:
        """Elements that pass a PLIO or GMIO in an iteration, as far as buffers say it; 0 = they do not."""
        if self.objects.ports[tap.port].owner in self.board.spots:
            return 0
        others = wiring.targets if tap in wiring.sources else wiring.sources
        volumes = [self.rates.volume(self.objects, other) for other in others]
        known = [volume for volume in volumes if volume is not None]
        if not wiring.packets:
            return known[0] if known else 0
        return sum(known) if len(known) == len(volumes) else 0


def _depths(objects: Objects, nets: Sequence[Wiring]) -> dict[int, int]:
    """Kernel -> number of an order in which data pass kernels."""
    before: dict[int, list[int]] = defaultdict(list)
    for wiring in nets:
        for target in wiring.targets:
            before[objects.ports[target.port].owner].extend(
                objects.ports[s.port].owner for s in wiring.sources
            )
    order: dict[int, int] = {}
    for kernel in objects.kernels:
        _visit(kernel, before, order)
    return {kernel: order[kernel] for kernel in objects.kernels}


def _visit(first: int, before: Mapping[int, list[int]], order: dict[int, int]) -> None:
    """Number a node after all that feed it, without recursion."""
    stack, seen = [(first, iter(before.get(first, ())))], {first}
    while stack:
        node, feeders = stack[-1]
        if node in order:
            stack.pop()
            continue
        following = next((n for n in feeders if n not in order and n not in seen), None)
        if following is None:
            order[node] = len(order)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(before.get(following, ()))))
