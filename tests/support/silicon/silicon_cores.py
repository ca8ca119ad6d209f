"""Set-ups of measured cases whose objects pass a core: from an interface tile to its buffers, and back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from memtile import Array
from memtile.arch.ports import PORTS
from memtile.arch.tiles import MM2S, S2MM
from memtile.arch.timing import chosen_timing
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Release
from memtile.bd.windows import OWN, DmaAddress, DmaLock
from memtile.model.state.causes import CoreCause
from memtile.model.state.tile_columns import Placed
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core
from memtile.sim.loop.engine import Engine
from support.designs.interface_bench import COLUMN, Column
from support.silicon.silicon_hosts import WARM
from support.silicon.silicon_streams import Port, ring, set_lock, watched

Measured = dict[str, float]
IN_FREE, IN_FULL, OUT_FREE, OUT_FULL = range(4)  # locks of the core's tile
COMES, LEAVES = Port(2, "DMA0", True), Port(2, "DMA0", False)
SETTLED = 4000  # cycles in which the first accesses and the last words come
OUT = 0x2000  # word of the core's memory where its results lie


def passing(core: Core, cycles: int, *, out_first: bool) -> Iterator[Action]:
    """A core that makes one object of each: waits, works, gives both back.

    Args:
        core: that runs it.
        cycles: of the work, 0 = none.
        out_first: waits for the free place before the full one.
    """
    order = (OUT_FREE, IN_FULL) if out_first else (IN_FULL, OUT_FREE)
    while True:
        for lock in order:
            yield core.acquire(lock)
        if cycles:
            yield core.cycles(cycles)
        yield core.release(IN_FREE)
        yield core.release(OUT_FULL)


def buffers(column: Column, words: int, leaving: int) -> None:
    """Two buffers each way in the core's tile, with their locks, and both channels at work."""
    set_lock(column, 2, IN_FREE, 2)
    set_lock(column, 2, OUT_FREE, 2)
    ring(column, 2, S2MM, 0, words, (IN_FREE, IN_FULL))
    for n in range(2):
        guards: dict[str, Any] = {
            "acquire": Acquire(DmaLock(OUT_FULL), -1, True),
            "release": Release(DmaLock(OUT_FREE), 1),
        }
        at = DmaAddress(OUT + 0x1000 * n // 2)
        column.put(2, 2 + n, Descriptor("compute", leaving, at, next=3 - n, **guards))
    column.issue(2, MM2S, 0, 2)


def passed(objects: int, words: int, cycles: int, *, out_first: bool, late: int = 0) -> Measured:
    """Objects from an interface tile through a core, as ports of the core's tile and its stalls show it.

    Args:
        objects: in all.
        words: of each, in and out.
        cycles: of the core for one.
        out_first: the core waits for the free place first.
        late: cycles after which the interface tile has a task for what comes back.
    """
    column = Column()
    column.circuit(0, "SOUTH3", "NORTH0")
    column.circuit(1, "SOUTH0", "NORTH0")
    column.circuit(2, "SOUTH0", "DMA0")
    column.circuit(2, "DMA0", "SOUTH0")
    column.circuit(1, "NORTH0", "SOUTH0")
    column.circuit(0, "NORTH0", "SOUTH2")
    buffers(column, words, words)
    column.engine.attach_kernel(2, lambda core: passing(core, cycles, out_first=out_first))
    come = column.engine.external.add("in", np.arange(objects * words, dtype=np.uint32))
    go = column.engine.external.add("out", np.zeros(objects * words, np.uint32))
    column.put(0, 0, Descriptor("interface", objects * words, come.at()))
    column.put(0, 1, Descriptor("interface", objects * words, go.at()))
    column.issue(0, MM2S, 0, 0)
    if not late:
        column.issue(0, S2MM, 0, 1)
    stalled: list[int] = []
    came, went = crossed(column, stalled, late or SETTLED + 4 * objects * words)
    if late:
        column.issue(0, S2MM, 0, 1)
        more = crossed(column, stalled, SETTLED + 4 * objects * words)
        came, went = came + more[0], went + more[1]
    assert len(came) == len(went) == objects * words
    return _figures(came, went, stalled, words)


def crossed(
    column: Column, stalled: list[int], cycles: int, ports: tuple[Port, Port] = (COMES, LEAVES)
) -> list[list[int]]:
    """Cycles in which words crossed both ports; those of the core's waits for locks go to ``stalled``."""
    seen: list[list[int]] = [[], []]
    spent = column.engine.state.core_spent
    for _ in range(cycles):
        now, before = column.engine.now, int(spent[0, CoreCause.LOCK_STALL])
        for found, more in zip(seen, watched(column, list(ports), 1), strict=True):
            found += more
        if spent[0, CoreCause.LOCK_STALL] > before:
            stalled.append(now)
    return seen


def _figures(came: list[int], went: list[int], stalled: list[int], words: int) -> Measured:
    """What the two ports and the stalls of the core show."""
    firsts, lasts = came[::words], came[words - 1 :: words]
    leaving = went[::words]
    gap = next((n for n in range(1, len(went)) if went[n] > went[n - 1] + words), len(went))
    ends = [cycle + 1 for cycle, after in pairwise([*stalled, stalled[-1] + 2]) if after > cycle + 1]
    waits = [next((end - last - 1 for end in ends if end > last + 1), 0) for last in lasts]
    return {
        "came_period": float(np.median(np.diff(firsts))),
        "left_period": float(np.median(np.diff(leaving))),
        "span": went[-1] + 1 - came[0],
        "left_ahead": gap,
        "left_span": went[-1] + 1 - went[gap % len(went)],
        "full_to_core": float(np.median(waits)),
    }


def by_routes(into: bool, out: bool, words: int = 1600, leaving: int = 800) -> Measured:
    """Objects through a core without work, by a memory tile or not each way: bytes in a cycle, from a slope.

    Args:
        into: what comes passes the memory tile's memory.
        out: what goes does.
        words: of an object that comes.
        leaving: of one that goes.
    """
    took = [_routed(count, into, out, words, leaving) for count in (4, 12)]
    return {"bytes_a_cycle": 4 * 8 * words / (took[1] - took[0])}


def _routed(count: int, into: bool, out: bool, words: int, leaving: int) -> int:
    """Cycles until the last object is in external memory."""
    with chosen_timing(WARM):
        column = Column()
        buffers(column, words, leaving)
        way_up(column, into, words)
        way_down(column, out, leaving)
        column.engine.attach_kernel(2, lambda core: passing(core, 0, out_first=True))
        come = column.engine.external.add("in", np.arange(count * words, dtype=np.uint32))
        go = column.engine.external.add("out", np.zeros(count * leaving, np.uint32))
        column.put(0, 0, Descriptor("interface", count * words, come.at()))
        column.put(0, 1, Descriptor("interface", count * leaving, go.at()))
        column.issue(0, MM2S, 0, 0)
        column.issue(0, S2MM, 0, 1)
        done = column.engine.state.channels.tasks_done
        while not done[column.channel(0, S2MM)]:
            column.engine.run(column.engine.now + 16)
        return int(column.engine.now)


def way_up(column: Column, stored: bool, words: int) -> None:
    column.circuit(0, "SOUTH3", "NORTH0")
    column.circuit(2, "SOUTH0", "DMA0")
    column.circuit(1, "SOUTH0", "DMA0" if stored else "NORTH0")
    if stored:
        column.circuit(1, "DMA0", "NORTH0")
        two_places(column, 0, words)


def way_down(column: Column, stored: bool, words: int) -> None:
    column.circuit(2, "DMA0", "SOUTH0")
    column.circuit(0, "NORTH0", "SOUTH2")
    column.circuit(1, "NORTH0", "DMA1" if stored else "SOUTH0")
    if stored:
        column.circuit(1, "DMA1", "SOUTH0")
        two_places(column, 1, words)


def two_places(column: Column, number: int, words: int, order: tuple[Dim, ...] = ()) -> None:
    """Two buffers of the memory tile between its channels of a number; what leaves is in an order."""
    first, free, full = 24 * number, 2 * number, 2 * number + 1
    set_lock(column, 1, free, 2)
    for direction, take, give in ((S2MM, free, full), (MM2S, full, free)):
        bd = first + 2 * direction
        for n in range(2):
            guards: dict[str, Any] = {
                "acquire": Acquire(OWN.lock(take), -1, True),
                "release": Release(OWN.lock(give), 1),
            }
            at = OWN.address(0x4000 * number + 0x1000 * n)
            dims = order if direction == MM2S else ()
            column.put(1, bd + n, Descriptor(COLUMN[1], words, at, dims=dims, next=bd + 1 - n, **guards))
        column.issue(1, direction, number, bd)


def given_to_port(words: int) -> Measured:
    """A core's release of a buffer, for which its MM2S waits, to the first word at the port, by events."""
    column = Column()
    column.circuit(2, "DMA0", "SOUTH0")
    column.circuit(1, "NORTH0", "SOUTH0")
    column.circuit(0, "NORTH0", "SOUTH2")
    buffers(column, words, words)
    unit = EventUnit(column.doors[2], "core")
    port = PORTS["compute"].slave("DMA0")
    unit.write("Stream_Switch_Event_Port_Selection_0", Port_0_ID=port, Port_0_Master_Slave=0)
    unit.count(0, "INSTR_LOCK_RELEASE_REQ", "PORT_RUNNING_0")

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(60)
        yield core.release(OUT_FULL)

    column.engine.attach_kernel(2, kernel)
    column.engine.run(200)
    return {"cycles": unit.counted(0)}


def called(instructions: list[int], trips: int, calls: int = 20) -> Measured:
    """A kernel whose instructions are published, called in a loop: cycles a call.

    Args:
        instructions: before its hardware loop, in its body, and after it.
        trips: of that loop.
        calls: of the kernel.
    """
    before, body, after = instructions
    engine = Engine([Placed("compute")])
    ended: list[int] = []

    def kernel(core: Core) -> Iterator[Action]:
        for _ in range(calls):
            yield core.cycles(before)
            for _ in range(trips):
                yield core.cycles(body)
            yield core.cycles(after)
            ended.append(engine.now)

    engine.attach_kernel(0, kernel)
    engine.run(2 * calls * (before + trips * body + after))
    return {"cycles": float(np.mean(np.diff(ended)))}


def starved(words: int = 64) -> Measured:
    """An interface tile's S2MM that gets no words: its START_TASK to its first STREAM_STARVATION."""
    column = Column()
    unit = EventUnit(column.doors[0], "pl")
    unit.count(0, "DMA_S2MM_0_START_TASK", "DMA_S2MM_0_STREAM_STARVATION")
    go = column.engine.external.add("out", np.zeros(words, np.uint32))
    column.put(0, 0, Descriptor("interface", words, go.at()))
    column.issue(0, S2MM, 0, 0)
    column.engine.run(200)
    return {"cycles": unit.counted(0)}


def two_floods(
    column: int, row: int, second: tuple[int, int] = (2, 5), than: tuple[int, int] = (1, 3)
) -> Measured:
    """How much later than at core ``than`` one of two broadcasts comes, counted from the other's coming.

    One comes from the interface tile of column 0, the other one from core ``second``.
    """
    return {"cycles": _apart(column, row, second) - _apart(*than, second)}


def _apart(column: int, row: int, second: tuple[int, int]) -> int:
    """Cycles from one broadcast's coming to a core to the other one's, as if both began at once."""
    came = []
    for source, module in (((0, 0), "pl"), (tuple(second), "core")):
        array = Array("npu1", columns=4)
        sender = EventUnit(array.tile(*source).door, module)  # type: ignore[arg-type]
        name = "Event_Broadcast0_A" if module == "pl" else "Event_Broadcast0"
        sender.write(name, Event="USER_EVENT_0")
        sender.generate("USER_EVENT_0")
        heard = EventUnit(array.tile(column, row).door, "core")
        while not heard.status("BROADCAST_0"):
            array.engine.run(array.engine.now + 1)
        came.append(array.engine.now)
    return came[1] - came[0]


SETUPS = {
    each.__name__: each
    for each in (
        passed,
        by_routes,
        given_to_port,
        called,
        starved,
        two_floods,
    )
}
