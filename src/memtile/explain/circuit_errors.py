"""Circuits that registers ask for and the stream switch does not have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memtile.arch.ports import PORTS
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import CIRCUIT_CONFIGURATION
from memtile.explain.names import port_name
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.sim.engine import Engine

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
