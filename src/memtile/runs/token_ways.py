"""The ways of task-complete tokens to the host, through the switches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from memtile.arch.address_map import FIRMWARE_PORT
from memtile.arch.ports import PORTS
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.state import State
from memtile.model.streams.switch_config import CIRCUIT, OFF, PACKET


def may_arrive(st: State, tiles: Iterable[int]) -> bool:
    """Whether words may come to the host at these interface tiles before another task ends.

    Tokens are on their way then, or something else can come there too. It follows packets; what a circuit
    brings is not known.
    """
    if st.active_controls[0] or plain(st.channels).token_due.any():
        return True
    table, switch = plain(st.spec.tiles), plain(st.switch)
    tokens = set(plain(st.controls).slave_port.tolist())
    names = [(int(table.master_base[tile]), PORTS[KIND_NAMES[table.kind[tile]]]) for tile in tiles]
    masters, seen = [base + ports.master(FIRMWARE_PORT) for base, ports in names], set()
    while masters:
        port = masters.pop()
        if switch.held[port] or switch.mode[port] == CIRCUIT:
            return True
        if port in seen or switch.mode[port] == OFF:
            continue
        seen.add(port)
        for slave in _packet_slaves(st, int(switch.tile[port])):
            behind = np.flatnonzero(switch.link == slave)
            if switch.held[slave] or (slave not in tokens and not len(behind)):
                return True
            masters += behind.tolist()
    return False


def _packet_slaves(st: State, tile: int) -> Iterator[int]:
    """The tile's slave ports in packet mode."""
    tiles, mode = plain(st.spec.tiles), plain(st.switch).mode
    first = int(tiles.slave_base[tile])
    return (port for port in range(first, first + int(tiles.slaves[tile])) if mode[port] == PACKET)
