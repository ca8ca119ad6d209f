"""Kernels on cores: where the user says, else close to what they exchange data with; deterministic.

Kernels are placed one after the other, the one with the most links to placed ones first, each on the free
core that costs least. A chain of cascades is one path to the east and the south. A kernel joins the core
of the kernel whose buffer it reads where their runtime ratios leave room (DEV-ADF-12).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

from memtile.adf.nets import Wiring
from memtile.adf.objects import Objects
from memtile.adf.placement_solver import places
from memtile.adf.plan import Tile
from memtile.adf.rates import Rates
from memtile.adf.sites import Apart, Sites
from memtile.adf.sizes import WAYS_DOWN, WAYS_UP, Needs, may_share, needs_of, shared_ends, ways_outside
from memtile.arch.core import CASCADE_STEPS, SIDE_STEPS
from memtile.arch.devices import Device
from memtile.errors import Problem

CASCADE_OUT = (CASCADE_STEPS["east"], CASCADE_STEPS["south"])
"""Steps from a core to those that its cascade may go to."""
_FAR = 2.0  # what a link costs more that memory could carry and does not
_ROW = 0.25  # what a row costs on the way to what lies below the cores
_CROWDED = 8.0  # what a way costs more that the switches of a column have no port for
_RATIO = "UG1603: Runtime Ratio"
_CASCADE = "AM020 chapter 4: cascade"


def moved(spot: Tile, step: Tile) -> Tile:
    """The tile so many columns and rows away."""
    return spot[0] + step[0], spot[1] + step[1]


@cache
def reach(device: Device, spot: Tile) -> tuple[Tile, ...]:
    """Tiles whose data memory a core reaches, its own first."""
    steps = (SIDE_STEPS["own"], *(step for side, step in SIDE_STEPS.items() if side != "own"))
    around = (moved(spot, step) for step in steps)
    return tuple(t for t in around if 0 <= t[0] < device.columns and t[1] in device.compute_rows)


@dataclass(frozen=True, slots=True)
class Link:
    """What ties a kernel to a place.

    Attributes:
        other: kernel; -1 = something with a column of its own.
        column: of that something.
        by_memory: buffers that both could reach need no stream.
    """

    other: int
    column: int = -1
    by_memory: bool = False


@dataclass
class Board:
    """Cores and who is on them.

    Attributes:
        device: whose cores these are.
        spots: kernel -> its core.
        kernels: core -> kernels on it, in the order in which they came.
        used: tile -> data memory and DMA channels that kernels need of it.
        roomy: a kernel that needs more than its tile has neighbours to itself; else it shares them.
        owners: tile -> core that has it to itself.
    """

    device: Device
    spots: dict[int, Tile] = field(default_factory=dict)
    kernels: dict[Tile, list[int]] = field(default_factory=lambda: defaultdict(list))
    used: dict[Tile, Needs] = field(default_factory=lambda: defaultdict(Needs))
    roomy: bool = False
    owners: dict[Tile, Tile] = field(default_factory=dict)

    def order(self, spot: Tile) -> tuple[Tile, ...]:
        """Tiles whose data memory a core reaches, those that others have to themselves last."""
        return tuple(sorted(reach(self.device, spot), key=lambda t: self._rank(spot, t)))

    def _rank(self, spot: Tile, tile: Tile) -> int:
        if tile == spot:
            return 0
        owner = self.owners.get(tile)
        return 1 if owner == spot else 2 if owner is None else 3

    def put(self, kernel: int, spot: Tile, needs: Needs) -> None:
        """Place a kernel; what its tile lacks is taken of the neighbours in reach."""
        self.spots[kernel] = spot
        self.kernels[spot].append(kernel)
        for tile in reach(self.device, spot):
            taken = needs.at_most(self.free(tile))
            alone = self.roomy and tile != spot and bool(taken)
            self.used[tile] = self.used[tile] + (self.free(tile) if alone else taken)
            if alone:
                self.owners[tile] = spot
            needs = needs - taken

    def free(self, tile: Tile) -> Needs:
        """What of a tile is left."""
        kind = self.device.kind("compute")
        return (Needs(kind.memory_bytes, kind.channels, kind.channels) - self.used[tile]).positive()

    def has_room(self, spot: Tile, needs: Needs) -> bool:
        """Whether a tile and its neighbours have what a kernel needs."""
        for tile in reach(self.device, spot):
            if not self.roomy or not self.used[tile]:
                needs = needs - needs.at_most(self.free(tile))
            elif tile == spot:
                return False
        return not needs


class Placer:
    """The placement of the kernels of a description.

    Attributes:
        board: the outcome.
        left: kernels that found no place.
    """

    def __init__(
        self,
        objects: Objects,
        device: Device,
        sites: Sites,
        wirings: Sequence[Wiring],
        rates: Rates,
        *,
        roomy: bool = False,
    ) -> None:
        self.objects, self.device, self.sites, self.rates = objects, device, sites, rates
        self.board = Board(device, roomy=roomy)
        self.left: list[int] = []
        self.links = _links(objects, sites, wirings, rates)
        self.chains = cascade_chains(objects, wirings)
        self._chain_of = {kernel: chain for chain in self.chains for kernel in chain}
        shared = shared_ends(objects, wirings, rates)
        self._needs = {k: needs_of(objects, kernel, shared, rates) for k, kernel in objects.kernels.items()}
        self._ways = ways_outside(objects, wirings)
        self._feeders = _feeders(objects, wirings, rates)
        self._apart = _rivals(objects)
        self._base = _first_column(objects, device)

    def run(self, problems: list[Problem]) -> Board:
        """Place everything; what found no place is in ``left``."""
        for kernel, spot in self._fixed(problems).items():
            self.board.put(kernel, spot, self._needs[kernel])
        waiting = [kernel for kernel in self.objects.kernels if kernel not in self.board.spots]
        linked = Counter({k: self._placed_links(k) for k in waiting})
        while waiting:
            kernel = max(waiting, key=lambda k: linked[k])
            group = [k for k in self._unit(kernel) if k not in self.board.spots]
            if not self._place(kernel, group):
                self.left.extend(group)
            waiting = [k for k in waiting if k not in group]
            for other in (link.other for k in group for link in self.links[k]):
                linked[other] += 1
        return self.board

    def solved(self) -> Board | None:
        """A placement by the solver, one kernel a core beside those that the user placed; None = no luck."""
        fixed = self._fixed([])
        taken = set(fixed.values())
        domains = {
            kernel: [fixed[kernel]] if kernel in fixed else [s for s in self.domain(kernel) if s not in taken]
            for kernel in self.objects.kernels
        }
        if len(taken) < len(fixed):
            return None  # kernels that the user put together
        spots = places(domains, self.chains, self.sites.apart, self._base)
        if spots is None:
            return None
        self.left = []
        self.board = Board(self.device)
        for kernel, spot in spots.items():
            self.board.put(kernel, spot, self._needs[kernel])
        return self.board

    def domain(self, kernel: int) -> list[Tile]:
        """Cores where a kernel may lie by the user's areas."""
        cores = [(c, r) for c in range(self.device.columns) for r in self.device.compute_rows]
        return self.sites.allowed(self.objects.kernels[kernel].graph, cores)

    def _placed_links(self, kernel: int) -> int:
        return sum(link.other in self.board.spots or link.column >= 0 for link in self.links[kernel])

    def _fixed(self, problems: list[Problem]) -> dict[int, Tile]:
        """Places that the user gave, and those that follow from them."""
        spots = {k: spot for k, spot in self.sites.cores.items() if _inside(self.device, spot)}
        changed = True
        while changed:
            changed = False
            for apart in self.sites.apart:
                for known, open_, sign in ((apart.other, apart.kernel, 1), (apart.kernel, apart.other, -1)):
                    if known in spots and open_ not in spots and open_ in self.objects.kernels:
                        spots[open_] = moved(spots[known], (sign * apart.step[0], sign * apart.step[1]))
                        changed = True
        problems.extend(_out_of_array(self.objects, self.device, self.sites, spots))
        problems.extend(_wrong_steps(self.objects, self.sites.apart, spots))
        return {k: spot for k, spot in spots.items() if _inside(self.device, spot)}

    def _unit(self, kernel: int) -> list[int]:
        """Kernels that find their places together: a chain of cascades, or a rigid group."""
        return list(self._chain_of.get(kernel, ())) or list(self._rigid(kernel))

    def _rigid(self, kernel: int) -> dict[int, Tile]:
        """Kernels at fixed steps from this one, and the steps."""
        steps: dict[int, Tile] = {kernel: (0, 0)}
        changed = True
        while changed:
            changed = False
            for apart in self.sites.apart:
                for known, open_, sign in ((apart.other, apart.kernel, 1), (apart.kernel, apart.other, -1)):
                    if known in steps and open_ not in steps:
                        steps[open_] = moved(steps[known], (sign * apart.step[0], sign * apart.step[1]))
                        changed = True
        return steps

    def _place(self, kernel: int, group: Sequence[int]) -> bool:
        chain = self._chain_of.get(kernel)
        if chain:
            if any(len(self._rigid(k)) > 1 for k in chain):
                return False  # both at once: for the solver
            return self._place_chain(chain)
        steps = self._rigid(kernel)
        if len(steps) == 1 and (shared := self._shared_core(kernel)) is not None:
            self.board.put(kernel, shared, self._needs[kernel])
            return True
        spot = self._best(steps)
        if spot is None:
            return False
        for one in group:
            self.board.put(one, moved(spot, steps[one]), self._needs[one])
        return True

    def _best(self, steps: Mapping[int, Tile]) -> Tile | None:
        """The core that costs least for the first kernel of a rigid group, with room if there is one."""
        order = [spot for *_, spot in sorted(self._candidates(steps))]
        roomy = (spot for spot in order if self._has_room(steps, spot))
        return next(roomy, order[0] if order else None)

    def _has_room(self, steps: Mapping[int, Tile], spot: Tile) -> bool:
        return all(self.board.has_room(moved(spot, step), self._needs[k]) for k, step in steps.items())

    def _candidates(self, steps: Mapping[int, Tile]) -> Iterator[tuple[float, int, int, Tile]]:
        free = {k: set(self._free(k)) for k in steps}
        for spot in self._free(next(iter(steps))):
            if all(moved(spot, step) in free[k] for k, step in steps.items()):
                cost = sum(self._cost(k, moved(spot, step)) for k, step in steps.items())
                cost += _CROWDED * self._crowd(steps, spot)
                yield cost, abs(spot[0] - self._base), spot[1], spot

    def _crowd(self, steps: Mapping[int, Tile], spot: Tile) -> int:
        """Ways to and from what lies below the cores, too many for the columns of a group at a core."""
        found = 0
        for column in {spot[0] + step[0] for step in steps.values()}:
            there = [k for k, other in self.board.spots.items() if other[0] == column]
            more = [k for k, step in steps.items() if spot[0] + step[0] == column]
            up, down = (sum(ways) for ways in zip(*(self._ways[k] for k in (*there, *more)), strict=True))
            found += max(0, up - WAYS_UP) + max(0, down - WAYS_DOWN)
        return found

    def _free(self, kernel: int) -> list[Tile]:
        """Cores without kernels where this one may lie."""
        return [spot for spot in self.domain(kernel) if not self.board.kernels.get(spot)]

    def _cost(self, kernel: int, spot: Tile) -> float:
        """How far a core is from what a kernel exchanges data with."""
        return sum(self._distance(link, spot) for link in self.links[kernel])

    def _distance(self, link: Link, spot: Tile) -> float:
        if link.column >= 0:
            return abs(spot[0] - link.column) + _ROW * (spot[1] - self.device.compute_rows.start)
        other = self.board.spots.get(link.other)
        if other is None:
            return 0.0
        far = abs(spot[0] - other[0]) + abs(spot[1] - other[1])
        if not link.by_memory:
            return float(far)
        meet = set(reach(self.device, spot)) & set(reach(self.device, other))
        return 0.1 * far if meet else far + _FAR

    def _shared_core(self, kernel: int) -> Tile | None:
        """The core of a kernel that feeds this one, where both fit (DEV-ADF-12)."""
        allowed = set(self.domain(kernel))
        for feeder in self._feeders.get(kernel, ()):
            spot = self.board.spots.get(feeder)
            if spot is None or spot not in allowed or self._may_not_join(kernel, spot):
                continue
            if not self._needs[kernel] - self._needs[kernel].at_most(self.board.free(spot)):
                return spot
        return None

    def _may_not_join(self, kernel: int, spot: Tile) -> bool:
        there = self.board.kernels[spot]
        total = sum(ratio(self.objects, k) for k in (*there, kernel))
        return (
            total >= 1
            or any(k in self._apart[kernel] for k in there)
            or any(not _has_buffers_alone(self.objects, k) for k in (*there, kernel))
            or any(self.rates.turns[k] != self.rates.turns[kernel] for k in there)
        )

    def _edge(self, spot: Tile) -> int:
        """Memories that a core at the edge of the array does not reach, where kernels need them."""
        return -len(reach(self.device, spot)) if self.board.roomy else 0

    def _place_chain(self, chain: Sequence[int]) -> bool:
        free = {k: set(self._free(k)) for k in chain}
        for kernel in chain:
            if kernel in self.board.spots:
                free[kernel] = {self.board.spots[kernel]}
        key = {
            spot: (self._edge(spot), self._cost(chain[0], spot), abs(spot[0] - self._base), spot[1])
            for spot in free[chain[0]]
        }
        dead: set[tuple[int, Tile]] = set()
        for start in sorted(key, key=lambda spot: (key[spot], spot)):
            path = _path(chain, free, start, dead)
            if path:
                for kernel, spot in zip(chain, path, strict=True):
                    if kernel not in self.board.spots:
                        self.board.put(kernel, spot, self._needs[kernel])
                return True
        return False


def _path(
    chain: Sequence[int], free: Mapping[int, set[Tile]], start: Tile, dead: set[tuple[int, Tile]]
) -> list[Tile]:
    """A path of cascades from a core, east before south; empty = there is none."""
    path = [start]
    tried: list[Iterator[Tile]] = [iter([moved(start, step) for step in CASCADE_OUT])]
    while len(path) < len(chain):
        depth = len(path)
        spot = next((s for s in tried[-1] if s in free[chain[depth]] and (depth, s) not in dead), None)
        if spot is None:
            dead.add((depth - 1, path.pop()))
            tried.pop()
            if not path:
                return []
        else:
            path.append(spot)
            tried.append(iter([moved(spot, step) for step in CASCADE_OUT]))
    return path


def ratio(objects: Objects, kernel: int) -> float:
    """The share of a core that a kernel takes; one that does not say takes all (DEV-ADF-12)."""
    said = objects.kernels[kernel].runtime_ratio
    return 1.0 if said is None else said


def _has_buffers_alone(objects: Objects, kernel: int) -> bool:
    """Whether a kernel has neither streams nor cascades, which one core has once, nor takes its own turns."""
    kinds = {objects.ports[p].kind for p in objects.kernels[kernel].ports}
    return not kinds & {"stream", "packet_stream", "cascade", "async_buffer"}


def _inside(device: Device, spot: Tile) -> bool:
    return 0 <= spot[0] < device.columns and spot[1] in device.compute_rows


def _first_column(objects: Objects, device: Device) -> int:
    """Where a compact placement begins: near a DMA to external memory where one is used (DEV-ADF-13)."""
    outside = objects.description.gmios or any(m.external for m in objects.description.memories)
    return device.noc_columns[0] if outside and device.noc_columns else 0


def _rivals(objects: Objects) -> dict[int, set[int]]:
    """Kernels that may not share a core."""
    out: dict[int, set[int]] = defaultdict(set)
    for rule in objects.description.not_equal:
        for kernel in rule.objects:
            out[kernel].update(other for other in rule.objects if other != kernel)
    return out


def _feeders(objects: Objects, wirings: Iterable[Wiring], rates: Rates) -> dict[int, list[int]]:
    """Kernel -> those whose buffers it reads."""
    out: dict[int, list[int]] = defaultdict(list)
    for wiring in wirings:
        if may_share(objects, wiring, rates):
            source, target = (objects.ports[end.port].owner for end in (*wiring.sources, *wiring.targets))
            out[target].append(source)
    return out


def cascade_chains(objects: Objects, wirings: Iterable[Wiring]) -> list[tuple[int, ...]]:
    """Chains of kernels that cascades join, each from its head."""
    after: dict[int, int] = {}
    for wiring in wirings:
        if objects.ports[wiring.sources[0].port].kind == "cascade" and wiring.targets:
            after[objects.ports[wiring.sources[0].port].owner] = objects.ports[wiring.targets[0].port].owner
    heads = [kernel for kernel in after if kernel not in set(after.values())]
    chains = []
    for head in heads:
        chain = [head]
        while chain[-1] in after and after[chain[-1]] not in chain:
            chain.append(after[chain[-1]])
        chains.append(tuple(chain))
    return chains


def _links(objects: Objects, sites: Sites, wirings: Iterable[Wiring], rates: Rates) -> dict[int, list[Link]]:
    """What every kernel is tied to: kernels, and what has a column of its own."""
    out: dict[int, list[Link]] = defaultdict(list)
    at_memory: dict[int, list[int]] = defaultdict(list)
    for wiring in wirings:
        ends = [objects.ports[end.port] for end in (*wiring.sources, *wiring.targets)]
        kernels = [port.owner for port in ends if port.owner in objects.kernels]
        by_memory = may_share(objects, wiring, rates)
        others = [port for port in ends if port.owner not in objects.kernels]
        for kernel in kernels:
            out[kernel].extend(Link(k, by_memory=by_memory) for k in kernels if k != kernel)
            out[kernel].extend(
                Link(-1, column) for port in others for column in fixed_columns(sites, port.owner)
            )
        for port in others:
            if port.owner in objects.memories:
                at_memory[port.owner].extend(kernels)
    for together in at_memory.values():
        for one, other in pairwise(together):
            out[one].append(Link(other))
            out[other].append(Link(one))
    return out


def fixed_columns(sites: Sites, owner: int) -> list[int]:
    """Columns that the user gave to a shared buffer or to what leads out of the array."""
    places = (place for what in ("buffer", "PLIO", "GMIO") for place in sites.of(what, owner))
    return [place.column for place in places if place.column >= 0][:1]


def _out_of_array(
    objects: Objects, device: Device, sites: Sites, spots: Mapping[int, Tile]
) -> Iterator[Problem]:
    """Kernels that a step from another one puts outside."""
    first = device.compute_rows.start
    for apart in sites.apart:
        spot = spots.get(apart.kernel)
        if spot and not _inside(device, spot):
            yield Problem(
                "place",
                f"({spot[0]}, {spot[1] - first})",
                f"columns 0 to {device.columns - 1} and rows 0 to {len(device.compute_rows) - 1}",
                f"its place from {objects.name(apart.other)} is ({spot[0]}, {spot[1] - first}), which is no "
                f"core of {device.name}",
                "Change the offset, or the place of the other kernel.",
                reason="no_such_tile",
                where=objects.where(apart.kernel, apart.line),
                source="UG1603: Relative Location Constraints",
            )


def _wrong_steps(objects: Objects, aparts: Sequence[Apart], spots: Mapping[int, Tile]) -> Iterator[Problem]:
    for apart in aparts:
        if apart.kernel not in spots or apart.other not in spots:
            continue
        wanted = moved(spots[apart.other], apart.step)
        if spots[apart.kernel] != wanted:
            yield Problem(
                "place",
                str(spots[apart.kernel]),
                str(wanted),
                f"two locations contradict each other: one gives column {spots[apart.kernel][0]}, the other "
                f"column {wanted[0]}, and rows {spots[apart.kernel][1]} and {wanted[1]} of the array",
                "Leave out one of them.",
                reason="contradiction",
                where=objects.where(apart.kernel, apart.line),
                source="UG1603: Relative Location Constraints",
            )
