"""The ways of words from port to port of the stream switches: wires, circuits, packets.

Circuits that registers ask for and the stream switch does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from memtile.arch.ports import ARBITERS, PORTS, SLOTS_PER_SLAVE
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import CIRCUIT_CONFIGURATION, SLOT
from memtile.explain.names import port_name
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.causes import Phase
from memtile.model.streams.switch_config import CIRCUIT, PACKET
from memtile.sim.loop.engine import Engine

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


def arbiters_of(engine: Engine, port: int) -> list[int]:
    """The arbiters to which the slots of a slave port send, by their index in the model."""
    return list(dict.fromkeys(_arbiter(engine, port, slot) for slot in slots(engine, port)))


def _arbiter(engine: Engine, port: int, slot: int) -> int:
    return int(plain(engine.state.switch).tile[port]) * ARBITERS + _ARBITER.get(slot)


def _targets(engine: Engine, port: int, slot: int) -> int:
    """Bits of the masters to which a slot of a port sends."""
    return int(engine.state.arbiters.masters[_arbiter(engine, port, slot), _MSEL.get(slot)])


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


_SLAVE = field_of(CIRCUIT_CONFIGURATION, "Slave")


def circuit_errors(engine: Engine) -> Iterator[str]:
    """One line for each master port whose register names a slave to which the switch has no way."""
    for port in np.flatnonzero(plain(engine.state.switch).barred).tolist():
        yield barred_text(engine, port)


def barred_text(engine: Engine, port: int) -> str:
    """One line about master port ``port``, which gets no words because of that."""
    switch, tiles = plain(engine.state.switch), plain(engine.spec.tiles)
    tile, number = int(switch.tile[port]), int(switch.number[port])
    kind = int(tiles.kind[tile])
    first = tiles.register_base[tile] + plain(engine.spec.kinds).master_config[kind]
    slave = _SLAVE.get(int(engine.state.registers[first + number]))
    ports = PORTS[KIND_NAMES[kind]]
    reached = [ports.slaves[n] for n in np.flatnonzero(engine.spec.circuits[kind, :, number]).tolist()]
    named = f"slave {ports.slaves[slave]}" if slave < len(ports.slaves) else f"slave {slave}, which is none"
    return (
        f"{port_name(engine, port)}: its register names {named}; the switch has no such circuit, nothing "
        f"passes. Slaves that reach it are {', '.join(reached)}"
    )


def answered_without_task(engine: Engine, tile: int) -> int:
    """The channel that gets what the control port of a tile answers and never had a task; -1 = none."""
    c, switch = engine.channels, plain(engine.state.switch)
    port = int(plain(engine.state.controls).slave_port[tile])
    ends = reached([port], partial(configured_ways, engine)) if port >= 0 else ()
    there = (int(switch.channel[at]) for at in ends if switch.is_master[at])
    return next((ch for ch in there if ch >= 0 and c.phase[ch] == Phase.IDLE and not c.bds_done[ch]), -1)
