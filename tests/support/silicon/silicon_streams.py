"""Set-ups of measured cases across tiles of a column: relays, ports of switches, rates to external memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle as repeated
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from memtile.arch.ports import PORTS
from memtile.arch.tiles import COMPUTE, MEMORY, MM2S, S2MM
from memtile.bd.descriptor import Acquire, Descriptor, Release
from memtile.bd.windows import OWN, DmaAddress, DmaLock
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core
from support.designs.interface_bench import COLUMN, Column

Measured = dict[str, float]


class Port(NamedTuple):
    """A port of a switch of the column."""

    row: int
    name: str
    master: bool


def index(column: Column, port: Port) -> int:
    """Index of a port among all of the model."""
    tiles, names = column.engine.state.spec.tiles, PORTS[COLUMN[port.row]]
    if port.master:
        return int(tiles.master_base[port.row]) + names.master(port.name)
    return int(tiles.slave_base[port.row]) + names.slave(port.name)


def watched(column: Column, ports: list[Port], cycles: int) -> list[list[int]]:
    """The cycles in which a word crossed the outer side of each port: into a slave, out of a master."""
    switch = column.engine.state.switch
    indices = [index(column, port) for port in ports]
    seen: list[list[int]] = [[] for _ in ports]
    for _ in range(cycles):
        now, held = column.engine.now, switch.held[indices]
        column.engine.run(now + 1)
        for found, port, n, before in zip(seen, ports, indices, held, strict=True):
            left = int(switch.popped[n] == now)
            if left if port.master else switch.held[n] + left > before:
                found.append(now)
    return seen


def runs(cycles: list[int]) -> list[int]:
    """Lengths of the runs of consecutive cycles."""
    found: list[int] = []
    for n, cycle in enumerate(cycles):
        if n and cycle == cycles[n - 1] + 1:
            found[-1] += 1
        else:
            found.append(1)
    return found


def gaps(cycles: list[int]) -> list[int]:
    """Cycles between the runs."""
    return [after - before - 1 for before, after in pairwise(cycles) if after > before + 1]


def ring(column: Column, row: int, direction: int, first: int, size: int, locks: tuple[int, int]) -> None:
    """Two descriptors after each other for ever, on two places, that take one lock and give the other."""
    take, give = (OWN.lock(n) if row == 1 else DmaLock(n) for n in locks)
    for n in range(2):
        place = 0x400 * n
        at = OWN.address(place) if row == 1 else DmaAddress(place)
        guards: dict[str, Any] = {"acquire": Acquire(take, -1, True), "release": Release(give, 1)}
        column.put(row, first + n, Descriptor(COLUMN[row], size, at, next=first + 1 - n, **guards))
    column.issue(row, direction, 0, first)


def set_lock(column: Column, row: int, number: int, value: int) -> None:
    kind = MEMORY if COLUMN[row] == "memory" else COMPUTE
    column.doors[row].write32(kind.lock_value_base + number * kind.lock_value_stride, value)


def relay(first: int = 45, pauses: tuple[int, ...] = (20, 25), words: int = 64) -> Column:
    """Words from an interface tile through a two-descriptor ring of 16 to a compute tile with buffers of 8.

    Args:
        first: cycles from a buffer's being full to its being free again, as both hear of it.
        pauses: cycles of the core after that, by turns: those with which the gaps at the port of its tile are
            the measured 25, 61, 66 and 61, where ports pause.
        words: sent in all.
    """
    column = Column()
    column.up()
    timing = column.engine.state.spec.timing
    heard = int(timing.core_lock_wait[0] + timing.s2mm_lock_wait[0])
    column.circuit(1, "DMA0", "NORTH0")
    column.circuit(2, "SOUTH0", "DMA0")
    set_lock(column, 1, 0, 2)
    ring(column, 1, S2MM, 0, 16, (0, 1))
    ring(column, 1, MM2S, 2, 16, (1, 0))
    set_lock(column, 2, 0, 2)
    ring(column, 2, S2MM, 0, 8, (0, 1))

    def kernel(core: Core) -> Iterator[Action]:
        for pause in repeated(pauses):
            yield core.acquire(1)
            yield core.cycles(first - heard)
            yield core.release(0)
            yield core.cycles(pause + heard)

    column.engine.attach_kernel(2, kernel)
    buffer = column.engine.external.add("in", np.arange(words, dtype=np.uint32))
    column.put(0, 0, Descriptor("interface", words, buffer.at()))
    column.issue(0, MM2S, 0, 0)
    return column


RECEIVED = Port(1, "DMA0", True)
SENT = Port(1, "DMA0", False)
CONSUMED = Port(2, "DMA0", True)
STALL = 3  # cycles: a longer gap than that between two descriptors


def long_gaps(cycles: list[int]) -> list[int]:
    """Places of the words before which the port stood still for more than a few cycles."""
    return [n for n in range(1, len(cycles)) if cycles[n] - cycles[n - 1] > STALL]


def relayed(first: int = 45) -> Measured:
    """What the ports of the relay show, and when the first word leaves."""
    came, went, got = watched(relay(first), [RECEIVED, SENT, CONSUMED], 2800)
    assert len(came) == len(went) == len(got) == 64
    received, sent = runs(came), runs(went)
    ahead, taken = long_gaps(went)[0], long_gaps(got)[0]
    return {
        "received_span": came[-1] + 1 - came[0],
        "received_runs": len(received),
        "first_received_run": received[0],
        "received": len(came),
        "sent": len(went),
        "first_send": went[0] - came[15] - 1,
        "first_sent_run": sent[0],
        "sent_span": went[-1] + 1 - went[0],
        "sent_ahead": ahead,
        "consumer_runs": len(runs(got)),
        "resume": (went[ahead] - went[0]) - (got[taken] - got[0]),
    }


def sent_to_interface(transfers: int = 15, words: int = 256) -> Measured:
    """Back-pressure of a compute tile's MM2S to the interface tile; long pauses between its transfers."""
    column = Column()
    column.circuit(2, "DMA0", "SOUTH0")
    column.circuit(1, "NORTH0", "SOUTH0")
    column.circuit(0, "NORTH0", "SOUTH2")
    unit = EventUnit(column.doors[2], "memory")
    unit.count(0, "DMA_MM2S_0_STREAM_BACKPRESSURE", "DMA_MM2S_0_STREAM_BACKPRESSURE")
    take = Acquire(DmaLock(0), -1, True)
    column.put(2, 0, Descriptor("compute", words, DmaAddress(0), next=0, acquire=take))
    column.issue(2, MM2S, 0, 0)
    out = column.engine.external.add("out", np.zeros(transfers * words, np.uint32))
    column.put(0, 0, Descriptor("interface", transfers * words, out.at()))
    column.issue(0, S2MM, 0, 0)
    for _ in range(transfers):
        column.engine.run(column.engine.now + 1000)
        set_lock(column, 2, 0, 1)
    column.engine.run(column.engine.now + 1000)
    return {"back_pressure": unit.counted(0)}


def handed_on() -> Measured:
    """The first FINISHED_BD of the receiver of the relay to the first one of its sender."""
    column = relay()
    due = column.engine.state.channels.finished_bd
    channels = column.channel(1, S2MM), column.channel(1, MM2S)
    first: dict[int, int] = {}
    while len(first) < len(channels):
        column.engine.run(column.engine.now + 1)
        for ch in channels:
            if due[ch] >= 0:
                first.setdefault(ch, int(due[ch]))
    receiver, sender = channels
    return {"finished": first[sender] - first[receiver]}


def sent_down(words: int) -> Measured:
    """Words of one descriptor of a memory tile to a compute tile: how long its port runs."""
    column = Column()
    column.circuit(1, "DMA0", "NORTH0")
    column.circuit(2, "SOUTH0", "DMA0")
    column.start(1, MM2S, 0, 0, words, OWN.address(0))
    column.start(2, S2MM, 0, 0, words, DmaAddress(0))
    (port,) = watched(column, [Port(2, "DMA0", True)], words + 60)
    return {"cycles": port[-1] + 1 - port[0], "runs": len(runs(port))}


def core_reads(words: int, size: int = 16384) -> Measured:
    """A core that reads its stream, a word a cycle, from a memory tile that sends one descriptor for ever.

    What it executes between its two events is published: five bundles, a word a bundle, four bundles. Before
    that the ports have filled.
    """
    column = Column()
    column.circuit(1, "DMA0", "NORTH0")
    column.circuit(2, "SOUTH0", "CORE0")
    column.put(1, 0, Descriptor("memory", size, OWN.address(0), next=0))
    column.issue(1, MM2S, 0, 0)
    column.engine.run(200)
    seen: list[int] = []

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(1)
        seen.append(column.engine.now)
        yield core.event(0)
        yield core.cycles(5)
        for _ in range(words // size):
            yield core.get_stream(size)
        yield core.cycles(4)
        seen.append(column.engine.now)

    column.engine.attach_kernel(2, kernel)
    column.engine.run(2 * words + 1000)
    return {"cycles": seen[1] - seen[0]}


def slope(first: int, second: int) -> Measured:
    """Of the cycles of :func:`core_reads` by words, and their rest."""
    took = {words: core_reads(words)["cycles"] for words in (first, second)}
    a_word = (took[second] - took[first]) / (second - first)
    return {"cycles_a_word": a_word, "intercept": took[first] - a_word * first}


def chained(row: int, direction: int, size: int) -> Measured:
    """Period of descriptors that follow each other while locks are free."""
    column = Column()
    column.circuit(1, "DMA0", "NORTH0")
    column.circuit(2, "SOUTH0", "DMA0")
    name = COLUMN[row]
    column.put(row, 0, Descriptor(name, size, OWN.address(0) if row == 1 else DmaAddress(0), next=0))
    other = 3 - row
    place = OWN.address(0) if other == 1 else DmaAddress(0)
    column.put(other, 1, Descriptor(COLUMN[other], 1024, place))
    column.issue(row, direction, 0, 0)
    column.issue(other, 1 - direction, 0, 1)
    ch, finished = column.channel(row, direction), []
    for _ in range(20 * size + 40):
        column.engine.run(column.engine.now + 1)
        due = int(column.engine.state.channels.finished_bd[ch])
        if due >= 0 and (not finished or due != finished[-1]):
            finished.append(due)
    return {"period": float(np.median(np.diff(finished[2:10])))}


def hop(tiles: int) -> Measured:
    """From the first word's leaving an MM2S to its being in an ingress buffer, by one or two switches."""
    column = Column()
    if tiles == 1:
        column.circuit(1, "DMA0", "DMA0")
        receiver = column.channel(1, S2MM)
    else:
        column.circuit(1, "DMA0", "NORTH0")
        column.circuit(2, "SOUTH0", "DMA0")
        receiver = column.channel(2, S2MM)
    sender = column.channel(1, MM2S)
    column.start(1, MM2S, 0, 0, 8, OWN.address(0))
    state = column.engine.state
    left = _cycle_until(column, lambda: state.channels.moved[sender] > 0)
    return {"cycles": _cycle_until(column, lambda: state.fifos.held[receiver] > 0) - left}


def backlog(size: int, count: int = 64) -> Measured:
    """Descriptors that an MM2S of a compute tile finishes into an interface tile's channel without a task."""
    column = Column()
    column.circuit(2, "DMA0", "SOUTH0")
    column.circuit(1, "NORTH0", "SOUTH0")
    column.circuit(0, "NORTH0", "SOUTH2")
    set_lock(column, 2, 0, count - 1)
    take = Acquire(DmaLock(0), -1, True)
    column.put(2, 0, Descriptor("compute", size, DmaAddress(0), next=0, acquire=take))
    column.issue(2, MM2S, 0, 0)
    ch, finished = column.channel(2, MM2S), 0
    seen = -1
    for _ in range(400):
        column.engine.run(column.engine.now + 1)
        due = int(column.engine.state.channels.finished_bd[ch])
        finished += due not in (-1, seen)
        seen = due
    return {"descriptors": finished}


def _cycle_until(column: Column, probe: Callable[[], bool]) -> int:
    while not probe():
        column.engine.run(column.engine.now + 1)
    return column.engine.now - 1


SETUPS = {
    each.__name__: each
    for each in (relayed, sent_down, core_reads, slope, chained, hop, backlog, handed_on, sent_to_interface)
}
