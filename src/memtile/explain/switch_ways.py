"""The ways of words from port to port of the stream switches: wires, circuits, packets."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memtile.arch.ports import ARBITERS, SLOTS_PER_SLAVE
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import SLOT
from memtile.jit.tables import plain
from memtile.model.streams.switch_config import CIRCUIT, PACKET
from memtile.sim.engine import Engine

_ENABLE, _ARBITER, _MSEL = (field_of(SLOT, name) for name in ("enable", "arbit", "msel"))


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
    state, spec = engine.state, engine.spec
    switch, tiles = plain(state.switch), plain(spec.tiles)
    if switch.is_master[port] or switch.mode[port] != PACKET:
        return wired(engine, port)
    tile = int(switch.tile[port])
    first = tiles.register_base[tile] + plain(spec.kinds).slot_config[tiles.kind[tile]]
    first += switch.number[port] * SLOTS_PER_SLAVE
    targets = 0
    for slot in state.registers[first : first + SLOTS_PER_SLAVE].tolist():
        if _ENABLE.get(slot):
            arbiter = tile * ARBITERS + _ARBITER.get(slot)
            targets |= int(state.arbiters.masters[arbiter, _MSEL.get(slot)])
    return masters_among(engine, port, targets)


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
