"""Set-ups of measured cases on AIE2P, whose ports move two words a cycle: objects to a core, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from memtile import Array
from memtile.arch.tiles import COMPUTE, MM2S, S2MM, WORD_BYTES, TileName
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Release
from memtile.bd.windows import OWN, DmaAddress, DmaLock
from memtile.model.state.causes import CoreCause
from memtile.model.state.tile_columns import Placed
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core
from memtile.sim.loop.engine import Engine
from support.designs.core_designs import timelines
from support.designs.interface_bench import Column
from support.silicon.silicon_streams import Port, gaps, runs, set_lock, watched

Measured = dict[str, float]
TILES: tuple[TileName, ...] = ("interface_2p", "memory_2p", "compute_2p")
IN_FREE, IN_FULL, OUT_FREE, OUT_FULL = range(4)  # locks of the core's tile
COMES, LEAVES = Port(2, "DMA0", True), Port(2, "DMA0", False)
BEAT = 2  # words of a stream port and cycle
NEXT = 0x2000  # word, in the same bank, of the object behind the one that is sent


def wide_column() -> Column:
    """The column of the other set-ups, of tiles of AIE2P; their ports and registers have the same places."""
    placed = [Placed(name, row=row) for row, name in enumerate(TILES)]
    return Column(beside=Engine(placed, switched=True))


def walk(steps: list[list[int]]) -> tuple[Dim, ...]:
    """Strides in words and sizes, the innermost first; the outermost has no size."""
    return tuple(Dim(stride, size) for stride, size in steps)


def guards(row: int, take: int, give: int) -> dict[str, Any]:
    lock = OWN.lock if row == 1 else DmaLock
    return {"acquire": Acquire(lock(take), -1, True), "release": Release(lock(give), 1)}


def put_ring(column: Column, row: int, first: int, words: int, locks: tuple[int, int], **more: Any) -> None:
    """Two descriptors after each other for ever, on two places."""
    for n in range(2):
        at = OWN.address(NEXT * n) if row == 1 else DmaAddress(0x1000 * n)
        bd = Descriptor(TILES[row], words, at, next=first + 1 - n, **guards(row, *locks), **more)
        column.put(row, first + n, bd)


def wide_objects(words: int, steps: list[list[int]], objects: int = 2) -> Measured:
    """Objects that lie in the memory tile go to a core with two buffers, which waits for them.

    Args:
        words: of an object.
        steps: the walk through it, see :func:`walk`.
        objects: that are there.

    Returns:
        ``beats``: cycles in which words of an object pass the port of the core's DMA;
        ``span``: cycles in which the first object passes the port of the core's DMA, with its ``stops``;
        ``between``: cycles between two objects at the port;
        ``full_to_core``: from the last word of the first one to the end of the core's wait for its lock.
    """
    column = wide_column()
    column.circuit(1, "DMA0", "NORTH0")
    column.circuit(2, "SOUTH0", "DMA0")
    set_lock(column, 1, 1, objects)
    put_ring(column, 1, 2, words, (1, 0), dims=walk(steps))
    set_lock(column, 2, IN_FREE, objects)
    put_ring(column, 2, 0, words, (IN_FREE, IN_FULL))

    def kernel(core: Core) -> Iterator[Action]:
        yield core.acquire(IN_FULL)
        yield core.cycles(1)

    column.engine.attach_kernel(2, kernel)
    column.engine.run(20)
    column.issue(2, S2MM, 0, 0)
    column.issue(1, MM2S, 0, 2)
    came, stalled = _port_and_stalls(column, COMES, 2 * objects * words)
    beats = len(came) // objects
    first = came[:beats]
    return {
        "beats": beats,
        "span": first[-1] + 1 - first[0],
        "stops": len(gaps(first)),
        "between": came[beats] - first[-1] - 1,
        "full_to_core": stalled[-1] - first[-1],
    }


def _port_and_stalls(column: Column, port: Port, cycles: int) -> tuple[list[int], list[int]]:
    """The cycles in which words cross a port, and those in which the core stands in LOCK_STALL."""
    spent = column.engine.state.core_spent
    words: list[int] = []
    stalled: list[int] = []
    for _ in range(cycles):
        now, before = column.engine.now, int(spent[0, CoreCause.LOCK_STALL])
        words += watched(column, [port], 1)[0]
        if spent[0, CoreCause.LOCK_STALL] > before:
            stalled.append(now)
    return words, stalled


def wide_left(words: int) -> Measured:
    """An object of a core goes to the memory tile: cycles in which it passes the port of the core's DMA."""
    column = wide_column()
    column.circuit(2, "DMA0", "SOUTH0")
    column.circuit(1, "NORTH0", "DMA0")
    column.put(1, 0, Descriptor(TILES[1], words, OWN.address(0)))
    column.put(2, 0, Descriptor(TILES[2], words, DmaAddress(0)))
    column.issue(1, S2MM, 0, 0)
    column.issue(2, MM2S, 0, 0)
    (port,) = watched(column, [LEAVES], 2 * words)
    return {"span": port[-1] + 1 - port[0]}


def wide_given(words: int) -> Measured:
    """A core's release of a buffer for which its MM2S waits, from its LOCK_STALL to the first word."""
    column = wide_column()
    column.circuit(2, "DMA0", "SOUTH0")
    column.circuit(1, "NORTH0", "DMA0")
    column.put(1, 0, Descriptor(TILES[1], words, OWN.address(0)))
    column.issue(1, S2MM, 0, 0)
    column.put(2, 0, Descriptor(TILES[2], words, DmaAddress(0), **guards(2, OUT_FULL, OUT_FREE)))
    column.issue(2, MM2S, 0, 0)

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(60)
        yield core.release(OUT_FULL)

    column.engine.attach_kernel(2, kernel)
    went, stalled = _port_and_stalls(column, LEAVES, 200)
    return {"cycles": went[0] - stalled[0]}


def wide_taken(words: int, steps: list[list[int]]) -> Measured:
    """A core's release of a buffer for which an object waits, from its LOCK_STALL to the first word."""
    column = wide_column()
    column.circuit(1, "DMA0", "NORTH0")
    column.circuit(2, "SOUTH0", "DMA0")
    set_lock(column, 1, 1, 3)
    put_ring(column, 1, 2, words, (1, 0), dims=walk(steps))
    set_lock(column, 2, IN_FREE, 2)
    put_ring(column, 2, 0, words, (IN_FREE, IN_FULL))
    column.issue(2, S2MM, 0, 0)
    column.issue(1, MM2S, 0, 2)
    column.engine.run(3 * words)

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(60)
        yield core.release(IN_FREE)

    column.engine.attach_kernel(2, kernel)
    came, stalled = _port_and_stalls(column, COMES, 200)
    return {"cycles": came[0] - stalled[0]}


def wide_beside_fill(words: int, steps: list[list[int]]) -> Measured:
    """An object leaves the memory tile while the next one comes into its bank, a beat a cycle.

    The core's tile sends it; its port shows the lengths of runs of what comes there, and of the stops.
    """
    column = wide_column()
    column.circuit(1, "DMA0", "NORTH0")
    column.circuit(2, "SOUTH0", "DMA0")
    column.circuit(2, "DMA0", "SOUTH0")
    column.circuit(1, "NORTH0", "DMA0")
    column.put(1, 0, Descriptor(TILES[1], words, OWN.address(0), dims=walk(steps)))
    column.put(1, 1, Descriptor(TILES[1], words, OWN.address(NEXT)))
    for bd, at in ((0, 0), (1, NEXT)):
        column.put(2, bd, Descriptor(TILES[2], words, DmaAddress(at)))
    column.issue(2, MM2S, 0, 1)
    column.issue(1, S2MM, 0, 1)
    column.engine.run(40)
    column.issue(2, S2MM, 0, 0)
    column.issue(1, MM2S, 0, 0)
    (port,) = watched(column, [COMES], 2 * words)
    inner = [length for length in runs(port)[1:-1] if length < words // BEAT // 4]
    return {"run": float(np.median(inner)), "stop": float(np.median(gaps(port)))}


def wide_lock(pairs: int) -> Measured:
    """Acquires and releases of a core that need not wait: how long each keeps it in LOCK_STALL."""
    engine = Engine([Placed(TILES[2])])
    engine.door(0).write32(COMPUTE.lock_value_base, 1)

    def kernel(core: Core) -> Iterator[Action]:
        for _ in range(pairs):
            yield core.acquire(0)
            yield core.release(0)

    engine.attach_kernel(0, kernel)
    return {"stalls": timelines(engine, 8 * pairs + 8)[0].count("L") / (2 * pairs)}


def wide_fed(columns: int, streams: int, way: str, words: int) -> Measured:
    """Objects from external memory to cores that take them at once: bytes in a cycle, from a slope.

    Args:
        columns: that are fed at the same time.
        streams: of each, to a core of their own.
        way: "direct" to a core, through the memory tile ("stage"), from there to four cores ("broadcast").
        words: of an object.

    Returns:
        ``bytes_a_cycle`` of a stream, ``of_column``: of all of a column, ``of_direct``: as a part of what
        comes directly.
    """
    found, direct = _rate(columns, streams, way, words), _rate(columns, streams, "direct", words)
    return {"bytes_a_cycle": found, "of_column": streams * found, "of_direct": found / direct}


def _rate(columns: int, streams: int, way: str, words: int) -> float:
    took = [_fed(columns, streams, way, words, objects) for objects in (8, 24)]
    return WORD_BYTES * 16 * words / (took[1] - took[0])


def _fed(columns: int, streams: int, way: str, words: int, objects: int) -> int:
    """Cycles until the last core has given back its last object."""
    array = Array("npu2", columns)
    rows = array.device.compute_rows
    for column in range(columns):
        door = array.interface_tile(column)
        for n in range(streams):
            place = f"{column} {n}"
            come = array.external(f"in {place}", np.zeros(words * objects, np.int32))
            cores = [array.compute_tile(column, row) for row in (rows if way == "broadcast" else [rows[n]])]
            to: Any = cores if way == "direct" else array.memory_tile(column)
            fifo = last = array.object_fifo(f"come {place}", door, to, shape=words)
            if way != "direct":
                last = fifo.forward(f"on {place}", cores)
            fifo.producer.channel.start(door.read(come))
            for core, end in zip(cores, last.consumers, strict=True):
                core.run_kernel(_taking(end, objects))
    return int(array.run().cycles)


def _taking(end: Any, objects: int) -> Callable[[Core], Iterator[Action]]:
    def kernel(core: Core) -> Iterator[Action]:
        for _ in range(objects):
            yield core.acquire(end.full)
            yield core.release(end.free)

    return kernel


SETUPS = {
    each.__name__: each
    for each in (
        wide_objects,
        wide_left,
        wide_given,
        wide_taken,
        wide_beside_fill,
        wide_lock,
        wide_fed,
    )
}
