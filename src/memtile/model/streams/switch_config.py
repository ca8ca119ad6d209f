"""Stream switch configuration: what the master and slave registers mean for the ports (AM025).

A circuit needs an enabled slave and an enabled master that names it; both must be out of packet mode, and the
switch must have a way from one to the other, which many pairs have not (DEV-PKT-7). A packet on its way is
cut by a configuration that changes its slave or its masters, and by no other (DEV-PKT-5).
"""

from __future__ import annotations

from memtile.arch.ports import ARBITERS, MSELS
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import (
    CIRCUIT_CONFIGURATION,
    MASTER_CONFIG,
    PACKET_CONFIGURATION,
    SLAVE_CONFIG,
)
from memtile.jit.decorators import jit
from memtile.model.state.state import State

_MASTER_ENABLE = field_of(MASTER_CONFIG, "Master_Enable").mask
_MASTER_PACKET = field_of(MASTER_CONFIG, "Packet_Enable").mask
_MASTER_SLAVE = field_of(CIRCUIT_CONFIGURATION, "Slave").mask
_MASTER_DROP = field_of(MASTER_CONFIG, "Drop_Header").mask
_MASTER_ARBITER = field_of(PACKET_CONFIGURATION, "Arbiter").mask
_MASTER_MSELS = field_of(PACKET_CONFIGURATION, "Msel_Enable").lsb
_SLAVE_ENABLE = field_of(SLAVE_CONFIG, "Slave_Enable").mask
_SLAVE_PACKET = field_of(SLAVE_CONFIG, "Packet_Enable").mask

OFF, CIRCUIT, PACKET = 0, 1, 2  # SwitchPorts.mode
NONE = -1


@jit
def mode_of(config: int, enable: int, packet: int) -> int:
    """Mode of a port from its register."""
    if config & enable == 0:
        return OFF
    return PACKET if config & packet else CIRCUIT


@jit
def set_slave_mode(st: State, port: int, mode: int) -> None:
    """Change the mode of a slave port; counts those that need arbitration."""
    if st.switch.mode[port] == PACKET:
        st.packet_slaves[0] -= 1
    if mode == PACKET:
        st.packet_slaves[0] += 1
    st.switch.mode[port] = mode


@jit
def configure(st: State, tile: int) -> None:
    """Bring the tile's ports in line with its registers."""
    kind = st.spec.tiles.kind[tile]
    registers = st.spec.tiles.register_base[tile]
    st.clock.alarms[0] += 1  # circuits may be missing, or be there again
    slaves = registers + st.spec.kinds.slave_config[kind]
    for n in range(st.spec.tiles.slaves[tile]):
        port = st.spec.tiles.slave_base[tile] + n
        set_slave_mode(st, port, mode_of(st.registers[slaves + n], _SLAVE_ENABLE, _SLAVE_PACKET))
        st.switch.feeds[port] = -1
    for arbiter in range(tile * ARBITERS, (tile + 1) * ARBITERS):
        for msel in range(MSELS):
            st.arbiters.masters[arbiter, msel] = 0
    masters = registers + st.spec.kinds.master_config[kind]
    for n in range(st.spec.tiles.masters[tile]):
        config = st.registers[masters + n]
        port = st.spec.tiles.master_base[tile] + n
        st.switch.mode[port] = mode_of(config, _MASTER_ENABLE, _MASTER_PACKET)
        st.switch.barred[port] = 0
        if st.switch.mode[port] == CIRCUIT:
            join(st, tile, config & _MASTER_SLAVE, n)
        elif st.switch.mode[port] == PACKET:
            attach(st, tile, port, n, config)
    for n in range(st.spec.tiles.slaves[tile]):
        port = st.spec.tiles.slave_base[tile] + n
        if st.switch.arbiter[port] != NONE and not goes_on(st, port):
            cut(st, port)


@jit
def goes_on(st: State, port: int) -> bool:
    """Whether the packet of a slave port still has its way: the port and its masters are as it needs them."""
    if st.switch.mode[port] != PACKET:
        return False
    if st.switch.asked[port] == NONE:
        return True  # it goes straight to its receiver
    taking = 0
    for msel in range(MSELS):
        taking |= st.arbiters.masters[st.switch.arbiter[port], msel]
    return bool(st.switch.targets[port] & ~taking == 0)


@jit
def cut(st: State, port: int) -> None:
    """End a packet on its way: what is left of it is taken for a new one (DEV-PKT-5)."""
    if st.switch.asked[port] == NONE:
        st.switch.asked[st.switch.targets[port]] = NONE
    else:
        st.arbiters.holder[st.switch.arbiter[port]] = NONE
    st.switch.arbiter[port] = NONE


@jit
def join(st: State, tile: int, slave: int, master: int) -> None:
    """Let a slave in circuit mode feed a master, if there is a slave of that number and a way."""
    fed, port = st.spec.tiles.master_base[tile] + master, st.spec.tiles.slave_base[tile] + slave
    if slave >= st.spec.tiles.slaves[tile]:
        st.switch.barred[fed] = 1
    elif st.switch.mode[port] != CIRCUIT:
        return
    elif st.spec.circuits[st.spec.tiles.kind[tile], slave, master] == 0:
        st.switch.barred[fed] = 1
    else:
        st.switch.sibling[fed] = st.switch.feeds[port]
        st.switch.feeds[port] = fed


@jit
def attach(st: State, tile: int, port: int, master: int, config: int) -> None:
    """Let a master in packet mode take the packets of its arbiter and msels."""
    st.switch.drop_header[port] = 1 if config & _MASTER_DROP else 0
    arbiter = tile * ARBITERS + (config & _MASTER_ARBITER)
    for msel in range(MSELS):
        if (config >> (_MASTER_MSELS + msel)) & 1:
            st.arbiters.masters[arbiter, msel] |= 1 << master
