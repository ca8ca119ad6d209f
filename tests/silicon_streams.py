"""Set-ups of measured cases across tiles of a column: relays, ports of switches, rates to external memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from interface_bench import COLUMN, Column
from memtile.arch.ports import PORTS
from memtile.arch.tiles import COMPUTE, MEMORY, MM2S, S2MM
from memtile.bd.descriptor import Acquire, Descriptor, Release
from memtile.bd.windows import OWN, DmaAddress, DmaLock
from memtile.model.state.events import ChannelEvent
from memtile.sim.actions import Action
from memtile.sim.kernels import Core

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
    """The cycles in which a word left each port."""
    indices = [index(column, port) for port in ports]
    seen: list[list[int]] = [[] for _ in ports]
    for _ in range(cycles):
        now = column.engine.now
        column.engine.run(now + 1)
        for found, n in zip(seen, indices, strict=True):
            if column.engine.state.switch.popped[n] == now:
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


def relay(busy: int = 67, words: int = 64) -> Column:
    """Words from an interface tile through a two-descriptor ring of 16 to a compute tile with buffers of 8.

    Args:
        busy: cycles that the core needs for a buffer.
        words: sent in all.
    """
    column = Column()
    column.up()
    column.circuit(1, "DMA0", "NORTH0")
    column.circuit(2, "SOUTH0", "DMA0")
    set_lock(column, 1, 0, 2)
    ring(column, 1, S2MM, 0, 16, (0, 1))
    ring(column, 1, MM2S, 2, 16, (1, 0))
    set_lock(column, 2, 0, 2)
    ring(column, 2, S2MM, 0, 8, (0, 1))

    def kernel(core: Core) -> Iterator[Action]:
        while True:
            yield core.acquire(1)
            yield core.cycles(busy)
            yield core.release(0)

    column.engine.attach_kernel(2, kernel)
    buffer = column.engine.external.add("in", np.arange(words, dtype=np.uint32))
    column.put(0, 0, Descriptor("interface", words, buffer.at()))
    column.issue(0, MM2S, 0, 0)
    return column


RECEIVED = Port(1, "DMA0", True)
SENT = Port(1, "DMA0", False)


def relayed(busy: int = 67) -> Measured:
    """What the ports of the relay's memory tile show, and when the first word leaves."""
    column = relay(busy)
    came, went = watched(column, [RECEIVED, SENT], 1200)
    assert len(came) == len(went) == 64
    received, sent = runs(came), runs(went)
    return {
        "received_span": came[-1] + 1 - came[0],
        "received_runs": len(received),
        "first_received_run": received[0],
        "received": len(came),
        "sent": len(went),
        "first_send": went[0] - came[15] - 1,
        "first_sent_run": sent[0],
        "sent_span": went[-1] + 1 - went[0],
    }


def sent_down(words: int) -> Measured:
    """Words of one descriptor of a memory tile to a compute tile: how long its port runs."""
    column = Column()
    column.circuit(1, "DMA0", "NORTH0")
    column.circuit(2, "SOUTH0", "DMA0")
    column.start(1, MM2S, 0, 0, words, OWN.address(0))
    column.start(2, S2MM, 0, 0, words, DmaAddress(0))
    (port,) = watched(column, [Port(2, "DMA0", True)], words + 60)
    return {"cycles": port[-1] + 1 - port[0], "runs": len(runs(port))}


def slope(first: int, second: int) -> Measured:
    """From START_TASK of a memory tile's MM2S to FINISHED_TASK of the receiver: a word, and the rest."""
    took = {}
    for words in (first, second):
        column = Column()
        column.circuit(1, "DMA0", "NORTH0")
        column.circuit(2, "SOUTH0", "DMA0")
        column.start(2, S2MM, 0, 0, words, DmaAddress(0))
        column.start(1, MM2S, 0, 0, words, OWN.address(0))
        sender, receiver = column.channel(1, MM2S), column.channel(2, S2MM)
        column.engine.run(words + 200)
        seen = column.engine.state.seen
        took[words] = int(seen[receiver, ChannelEvent.FINISHED_TASK] - seen[sender, ChannelEvent.START_TASK])
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


def _cycle_until(column: Column, probe: Callable[[], bool]) -> int:
    while not probe():
        column.engine.run(column.engine.now + 1)
    return column.engine.now - 1


SETUPS = {each.__name__: each for each in (relayed, sent_down, slope, chained, hop)}
