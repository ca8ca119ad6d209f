"""Small texts in which control packets, a host and two cores share locks, and how each of them can end.

Packets come one after another to the tile-control port of a tile, each some time after the host has sent it;
the host gives values itself in between. The oracle goes through all orders and shares nothing with the model.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np

from memtile.arch.packets import PacketOperation, control_header
from support.mlir.mlir_designs import FLOWS, WAIT, copied, device, host

LOCKS, _FIRST = 3, 8  # locks that they share, and the number of the first of them
_VALUE, _STRIDE = 0x1F000, 0x10  # byte offset of the first lock of a compute tile, and from one to the next


class Act(NamedTuple):
    """What a core does: takes units of a lock, or gives some if they are below 0."""

    lock: int
    units: int


class Value(NamedTuple):
    """What the host does: it gives a lock a value, itself or by a control packet."""

    lock: int
    value: int
    by_packet: bool


class SmallText(NamedTuple):
    """A design.

    Attributes:
        began: values of the locks.
        core: acts of the core on whose end the host waits.
        beside: acts of its neighbour.
        values: what the host gives, in order.
    """

    began: tuple[int, ...]
    core: tuple[Act, ...]
    beside: tuple[Act, ...]
    values: tuple[Value, ...]


def drawn(seed: int) -> SmallText:
    """A design: often each lock has one taker and one giver."""
    luck = random.Random(seed)
    taker = [luck.randrange(2) for _ in range(LOCKS)]
    began = tuple(luck.choice((0, 0, 0, 1)) for _ in range(LOCKS))

    def acts(core: int, most: int) -> tuple[Act, ...]:
        found = []
        for _ in range(luck.randint(0 if core else 1, most)):
            lock, takes = luck.randrange(LOCKS), luck.random() < 0.65
            if luck.random() < 0.85 and (taker[lock] == core) is not takes:
                continue
            found.append(Act(lock, luck.choice((1, 1, 2)) * (1 if takes else -1)))
        return tuple(found)

    values = [
        Value(luck.randrange(LOCKS), luck.choice((1, 1, 2, 3)), luck.random() < 0.7)
        for _ in range(luck.randint(1, 3))
    ]
    return SmallText(began, acts(0, 4), acts(1, 3), tuple(values))


def text(small: SmallText) -> str:
    """The design in MLIR."""
    locks = [
        f"%l{n} = aie.lock(%c, {_FIRST + n}) {{init = {began} : i32}}" for n, began in enumerate(small.began)
    ]
    steps, packets = [copied("out", "b", 1).replace("id = 1 : i64", "id = 1 : i64, issue_token = true")], 0
    for each in small.values:
        if not each.by_packet:
            steps.append(f"aiex.set_lock(%l{each.lock}, {each.value})")
            continue
        part = f"[0, 0, 0, {2 * packets}][1, 1, 1, 2][0, 0, 0, 1], packet = <pkt_id = 1, pkt_type = 0>"
        steps.append(copied("in", "a", 2 + packets, part))
        packets += 1
    release = "aie.use_lock(%done, Release, 1)"
    cores = _core("%c", small.core, release) + _core("%d", small.beside, "")
    return device(_FRAME, *locks, FLOWS, cores, host(*steps, WAIT))


def words(small: SmallText) -> np.ndarray:
    """The first array of the host: the control packets."""
    found = np.zeros(64, np.uint32)
    packets = [each for each in small.values if each.by_packet]
    for number, (lock, value, _) in enumerate(packets):
        header = control_header(PacketOperation.WRITE, _VALUE + (_FIRST + lock) * _STRIDE)
        found[2 * number : 2 * number + 2] = header, value
    return found.view(np.int32)


_FRAME = """
%done = aie.lock(%c, 0) {init = 0 : i32}
%y = aie.buffer(%c) : memref<64xi32>
aie.packet_flow(1) {
  aie.packet_source<%s, DMA : 0>
  aie.packet_dest<%c, TileControl : 0>
}
aie.flow(%c, DMA : 0, %s, DMA : 0)
aie.mem(%c) {
  %0 = aie.dma_start(MM2S, 0, ^out, ^end)
^out:
  aie.use_lock(%done, AcquireGreaterEqual, 1)
  aie.dma_bd(%y : memref<64xi32>, 0, 64)
  aie.next_bd ^end
^end:
  aie.end
}
"""


def _core(tile: str, acts: tuple[Act, ...], last: str) -> str:
    lines = [
        f"aie.use_lock(%l{lock}, {'AcquireGreaterEqual' if units > 0 else 'Release'}, {abs(units)})"
        for lock, units in acts
    ]
    return f"aie.core({tile}) {{\n" + "\n".join([*lines, last, "aie.end"]) + "\n}\n"


def ends(small: SmallText) -> set[bool]:
    """Whether the core comes to its end, for each way in which it can come to rest.

    A state is how far the host, the tile-control port and both cores are, and the values of the locks.
    """
    packets = [each for each in small.values if each.by_packet]
    first = (0, 0, 0, 0, small.began)
    seen, left, found = {first}, [first], set[bool]()
    while left:
        host_at, port_at, core_at, beside_at, values = left.pop()
        sent = sum(each.by_packet for each in small.values[:host_at])
        steps = []
        if host_at < len(small.values):
            each = small.values[host_at]
            after = values if each.by_packet else _with(values, each.lock, each.value)
            steps.append((host_at + 1, port_at, core_at, beside_at, after))
        if port_at < sent:
            after = _with(values, packets[port_at].lock, packets[port_at].value)
            steps.append((host_at, port_at + 1, core_at, beside_at, after))
        if core_at < len(small.core) and values[small.core[core_at].lock] >= small.core[core_at].units:
            after = _taken(values, small.core[core_at])
            steps.append((host_at, port_at, core_at + 1, beside_at, after))
        if (
            beside_at < len(small.beside)
            and values[small.beside[beside_at].lock] >= small.beside[beside_at].units
        ):
            after = _taken(values, small.beside[beside_at])
            steps.append((host_at, port_at, core_at, beside_at + 1, after))
        if not steps:
            found.add(core_at == len(small.core))
        new = [step for step in steps if step not in seen]
        seen.update(new)
        left += new
    return found


def _with(values: tuple[int, ...], lock: int, value: int) -> tuple[int, ...]:
    return (*values[:lock], value, *values[lock + 1 :])


def _taken(values: tuple[int, ...], act: Act) -> tuple[int, ...]:
    return _with(values, act.lock, values[act.lock] - act.units)
