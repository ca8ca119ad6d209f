"""Random circuits between the DMAs of a column, on which words go steadily now and then; for tests of pipes.

A memory tile sends to compute tiles above it and gets words of them; circuits fork; receivers fall behind as
banks and locks have it. Between runs a host changes locks, configurations and what looks at ports.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from memtile.arch.events import events_of
from memtile.arch.ports import PORTS
from memtile.arch.register_map import register_named
from memtile.arch.tiles import COMPUTE, MEMORY, TILE_KINDS, WORD_BYTES, TileName
from memtile.arch.timing import Timing
from memtile.bd.codec import encode
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Release
from memtile.bd.windows import OWN, DmaAddress, DmaLock
from memtile.model.state.state_differences import columns
from memtile.model.state.tile_columns import Placed
from memtile.sim.loop.engine import Engine
from support.designs.circuits import ENABLE, circuit

TILES = 4  # a memory tile and three compute tiles
PORT_SELECTION, COUNTER, PARITY, PARITY_STATUS = (
    register_named("memory_tile", name).offset
    for name in (
        "Stream_Switch_Event_Port_Selection_0",
        "Performance_Control0",
        "Stream_Switch_Parity_Injection",
        "Stream_Switch_Parity_Status",
    )
)
_SELECTION = register_named("memory_tile", "Stream_Switch_Event_Port_Selection_0")
SIDE = _SELECTION.field("Port_0_Master_Slave").lsb
RUNNING = events_of("memory_tile")["PORT_RUNNING_0"]
LOCK, SPARE = 5, 6
MASTER_WORDS, WIRE_WORDS = {"local_master_words": 4}, {"external_port_words": 16}
TIMINGS = (
    {},
    {"local_slave_latency": 3, "local_slave_words": 6},
    {"external_port_latency": 5, "external_port_words": 10, "local_master_latency": 2, **MASTER_WORDS},
    {"external_port_latency": 1, "external_port_words": 2, "local_slave_words": 7},
    {"external_port_words": 3},
    {"local_slave_latency": 8, "local_slave_words": 16, "external_port_latency": 4, **WIRE_WORDS},
    {"local_slave_latency": 4, "local_slave_words": 7},
    {"ingress_words": 2},
)


class Route(NamedTuple):
    """A circuit and the two channels, or three, that it is between.

    Attributes:
        up: from the memory tile, or to it.
        tile: compute tile of the other end, from 1 on.
        fork: another compute tile below it to which it forks, 0 = none.
        fifo: whether it goes through the stream FIFO of its compute tile, where that is a way.
        sent: words of a BD of the sender, and whether each access brings one.
        taken: words of a BD of the receiver.
        slow: whether the receiver scatters words, one a bank's access.
        locked: whether the receiver waits for a lock.
        runs: BDs of the sender, 0 = for ever.
    """

    up: bool
    tile: int
    fork: int
    fifo: bool
    sent: int
    scattered: bool
    taken: int
    slow: bool
    locked: bool
    runs: int


class Design(NamedTuple):
    """Constants, routes, and what the host does between runs of so many cycles."""

    timing: dict[str, int]
    routes: tuple[Route, ...]
    crowded: bool  # all buffers of the memory tile are in one bank
    stops: tuple[tuple[int, str], ...]


DEEDS = ("nothing", "lock", "cut", "join", "watch", "parity", "look", "token")


@st.composite
def _routes(draw: st.DrawFn) -> Route:
    tile = draw(st.integers(1, TILES - 1))
    up = draw(st.booleans())
    fork = draw(st.sampled_from([0, 0, *range(1, tile)])) if up else 0
    words = st.sampled_from([5, 16, 63, 256, 1000])
    return Route(
        up,
        tile,
        fork,
        draw(st.sampled_from([False, False, True])),
        draw(words),
        draw(st.sampled_from([False, False, False, True])),
        draw(words),
        draw(st.sampled_from([False, False, False, True])),
        draw(st.sampled_from([False, False, True])),
        draw(st.sampled_from([0, 0, 0, 3])),
    )


@st.composite
def designs(draw: st.DrawFn) -> Design:
    """Up to five routes; cycles up to each stop, with what is done then."""
    stop = st.tuples(st.integers(1, 700), st.sampled_from(DEEDS))
    return Design(
        draw(st.sampled_from(TIMINGS)),
        tuple(draw(st.lists(_routes(), min_size=1, max_size=5))),
        draw(st.booleans()),
        tuple(draw(st.lists(stop, min_size=2, max_size=6))),
    )


@dataclass(slots=True)
class Running:
    """An engine with a design.

    Attributes:
        engine: the engine.
        used: how many ports or channels of each kind a tile has in use.
        joined: (tile, kind, slave, masters) of each circuit.
    """

    engine: Engine
    used: dict[tuple[int, str], int] = field(default_factory=dict)
    joined: list[tuple[int, TileName, str, tuple[str, ...]]] = field(default_factory=list)

    def next_of(self, tile: int, kind: str, most: int) -> int | None:
        """The next number of a port or channel of a tile, None if there is no more."""
        number = self.used.get((tile, kind), 0)
        self.used[tile, kind] = number + 1
        return number if number < most else None

    def join(self, tile: int, slave: str, *masters: str) -> None:
        """Connect ports of a tile."""
        kind: TileName = "compute" if tile else "memory"
        self.joined.append((tile, kind, slave, masters))
        circuit(self.engine, tile, kind, slave, *masters)

    def give(self, tile: int, channel: int, bd: int, descriptor: Descriptor, runs: int) -> None:
        """Write a descriptor and run it so often; ``channel`` counts S2MM channels first."""
        kind, door = TILE_KINDS[descriptor.tile], self.engine.door(tile)
        door.block_write32(kind.bd_base + bd * kind.bd_stride, encode(descriptor, bd))
        door.write32(kind.queue_base + channel * kind.channel_stride, bd | max(runs - 1, 0) << 16)

    def act(self, deed: str, number: int) -> None:
        """What the host does after run ``number``."""
        doors = [self.engine.door(tile) for tile in range(TILES)]
        if deed == "lock":
            for door, kind in zip(doors, (MEMORY, *[COMPUTE] * (TILES - 1)), strict=True):
                door.write32(kind.lock_value_base + LOCK * kind.lock_value_stride, 1 + number % 3)
        elif deed in ("cut", "join"):
            tile, kind, slave, masters = self.joined[number % len(self.joined)]
            ports, value = PORTS[kind], 0 if deed == "cut" else ENABLE | PORTS[kind].slave(slave)
            doors[tile].write32(ports.base + ports.master(masters[-1]) * WORD_BYTES, value)
        elif deed == "parity":
            doors[0].write32(PARITY, 1 << number % 8)
        elif deed == "watch":
            doors[0].write32(PORT_SELECTION, number // 2 % 2 << SIDE)
            doors[0].write32(COUNTER, RUNNING | RUNNING << 8 if number % 2 else 0)
        elif deed == "look":
            doors[0].read32(PARITY_STATUS)
        elif deed == "token":
            doors[0].write32(MEMORY.queue_base, 47 | 1 << 31)


def build(design: Design, *, piped: bool) -> Running:
    """The engine with everything written and pushed; without fast-forward, with pipes or without."""
    placed = [Placed("memory", row=1), *(Placed("compute", row=1 + n) for n in range(1, TILES))]
    made = Running(Engine(placed, Timing(**design.timing), switched=True))
    made.engine.forward.on = False
    if not piped:
        no_pipes(made.engine)
    made.engine.door(0).block_write32(0, np.arange(1, 1 << 16, dtype=np.uint32))
    made.engine.door(0).write32(MEMORY.lock_value_base + LOCK * MEMORY.lock_value_stride, 2)
    token = Descriptor("memory", 4, OWN.address(0x1F000))
    made.engine.door(0).block_write32(MEMORY.bd_base + 47 * MEMORY.bd_stride, encode(token, 47))
    for number, route in enumerate(design.routes):
        _lay(made, route, number, design.crowded)
    return made


def no_pipes(engine: Engine) -> None:
    """Let no port become part of a pipe: all of them are taken."""
    engine.state.pipes[:, 0] = 1


def _lay(made: Running, route: Route, number: int, crowded: bool) -> None:
    """Configure a route and start its channels, if there are ports and channels for it."""
    mem, core = ("DMA", "compute DMA") if route.up else ("to DMA", "from DMA")
    a, b = made.next_of(0, mem, 6), made.next_of(route.tile, core, 2)
    across = [made.next_of(n, "up" if route.up else "down", 6 if route.up else 4) for n in range(route.tile)]
    if a is None or b is None or None in across:
        return
    slow, fast = (Dim(7, route.taken // 4), Dim(1, 4)), ()
    take, sent = (slow if route.slow and route.taken % 4 == 0 else fast), ()
    if route.scattered and route.sent % 4 == 0:
        sent = (Dim(3, route.sent // 4), Dim(1, 4))
    place = number * 0x800 * (1 if crowded else 6)
    if route.up:
        _climb(made, route, a, b, across)
        out = Descriptor("memory", route.sent, OWN.address(place), dims=sent)
        _send(made, 0, 6 + a, a + 24 * (a % 2), out, route)
        into = Descriptor("compute", route.taken, DmaAddress(0x400 * b), dims=take)
        _take(made, route.tile, b, b, into, route)
    else:
        for n in range(route.tile, 0, -1):
            came = f"DMA{b}" if n == route.tile else f"NORTH{across[n]}"
            made.join(n, came, f"SOUTH{across[n - 1]}")
        made.join(0, f"NORTH{across[0]}", f"DMA{a}")
        out = Descriptor("compute", route.sent, DmaAddress(0x800 + 0x400 * b), dims=sent)
        _send(made, route.tile, 2 + b, 4 + b, out, route)
        into = Descriptor("memory", route.taken, OWN.address(0x10000 + place), dims=take)
        _take(made, 0, a, a + 6 + 24 * (a % 2), into, route)


def _climb(made: Running, route: Route, a: int, b: int, across: list[int | None]) -> None:
    """The circuits of a route from the memory tile, which may fork at a compute tile."""
    made.join(0, f"DMA{a}", f"NORTH{across[0]}")
    for n in range(1, route.tile):
        other = made.next_of(n, "compute DMA", 2) if n == route.fork else None
        beside = () if other is None else (f"DMA{other}",)
        made.join(n, f"SOUTH{across[n - 1]}", f"NORTH{across[n]}", *beside)
        if other is not None:
            _take(made, n, other, other, Descriptor("compute", 64, DmaAddress(0x400 * other)), route)
    came = f"SOUTH{across[-1]}"
    if route.fifo and made.next_of(route.tile, "FIFO", 1) is not None:
        made.join(route.tile, came, "FIFO0")
        came = "FIFO0"
    made.join(route.tile, came, f"DMA{b}")


def _send(made: Running, tile: int, channel: int, bd: int, descriptor: Descriptor, route: Route) -> None:
    following = bd if route.runs == 0 else None
    made.give(tile, channel, bd, replace(descriptor, next=following), route.runs)


def _take(made: Running, tile: int, channel: int, bd: int, descriptor: Descriptor, route: Route) -> None:
    more = {}
    if route.locked:
        window = DmaLock if tile else OWN.lock
        more = {"acquire": Acquire(window(LOCK), -1, True), "release": Release(window(SPARE), 0)}
    made.give(tile, channel, bd, replace(descriptor, next=bd, **more), 0)


def differences(one: Engine, other: Engine) -> set[str]:
    """Names of the columns of the state in which two engines differ, dead slots of rings too."""
    pairs = zip(columns(one.state), columns(other.state), strict=True)
    return {name for (name, mine, *_), (_, theirs, *_) in pairs if not np.array_equal(mine, theirs)}
