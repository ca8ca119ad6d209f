"""The ways of words from port to port of the stream switches: wires, circuits, packets."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memtile.arch.ports import ARBITERS, SLOTS_PER_SLAVE
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import SLOT
from memtile.jit.tables import plain
from memtile.model.streams.switch_config import CIRCUIT, PACKET
from memtile.sim.engine import Engine

_ENABLE, _ID, _MASK, _MSEL, _ARBITER = (
    field_of(SLOT, name) for name in ("enable", "id", "mask", "msel", "arbit")
)


def reached(ports: Iterable[int], following: Callable[[int], list[int]]) -> list[int]:
    """The ports and all behind them, each once."""
    found: dict[int, None] = {}
    rest = list(ports)
    while rest:
        port = rest.pop()
        if port not in found:
            found[port] = None
            rest += following(port)
    return list(found)


def configured_ways(engine: Engine, port: int) -> list[int]:
    """Where any word may go from a port."""
    switch = plain(engine.state.switch)
    if switch.is_master[port] or switch.mode[port] != PACKET:
        return wired(engine, port)
    targets = 0
    for slot in slots(engine, port):
        targets |= _targets(engine, port, slot)
    return masters_among(engine, port, targets)


def packet_ways(engine: Engine, packet: int, port: int) -> list[int]:
    """Where packets of an id may go from a port: the first slot that matches decides (AM020 chapter 2)."""
    switch = plain(engine.state.switch)
    if switch.is_master[port] or switch.mode[port] != PACKET:
        return wired(engine, port)
    for slot in slots(engine, port):
        if (packet ^ _ID.get(slot)) & _MASK.get(slot) == 0:
            return masters_among(engine, port, _targets(engine, port, slot))
    return []


def slots(engine: Engine, port: int) -> list[int]:
    """The enabled slots of a slave port in packet mode, as their registers have them."""
    tiles, switch = plain(engine.spec.tiles), plain(engine.state.switch)
    tile = int(switch.tile[port])
    first = tiles.register_base[tile] + plain(engine.spec.kinds).slot_config[tiles.kind[tile]]
    first += switch.number[port] * SLOTS_PER_SLAVE
    found = engine.state.registers[first : first + SLOTS_PER_SLAVE].tolist()
    return [slot for slot in found if _ENABLE.get(slot)]


def _targets(engine: Engine, port: int, slot: int) -> int:
    """Bits of the masters to which a slot of a port sends."""
    arbiter = int(plain(engine.state.switch).tile[port]) * ARBITERS + _ARBITER.get(slot)
    return int(engine.state.arbiters.masters[arbiter, _MSEL.get(slot)])


def masters_among(engine: Engine, port: int, targets: int) -> list[int]:
    """The master ports that ``targets`` has bits for, of the switch of a port."""
    first = int(plain(engine.spec.tiles).master_base[plain(engine.state.switch).tile[port]])
    return [first + n for n in range(targets.bit_length()) if targets >> n & 1]


def wired(engine: Engine, port: int) -> list[int]:
    """Behind a master port the other end of its wire; behind a slave port in circuit mode its masters."""
    switch = plain(engine.state.switch)
    if switch.is_master[port]:
        return [int(switch.link[port])] if switch.link[port] >= 0 else []
    found: list[int] = []
    fed = int(switch.feeds[port]) if switch.mode[port] == CIRCUIT else -1
    while fed >= 0:
        found.append(fed)
        fed = int(switch.sibling[fed])
    return found
