"""Stream switch configuration: what the master and slave registers mean for the ports (AM025).

A circuit needs an enabled slave and an enabled master that names it; both must be out of packet mode.
"""

from __future__ import annotations

from memtile.arch.registers import Field
from memtile.arch.switch_registers import CIRCUIT_CONFIGURATION, MASTER_CONFIG, SLAVE_CONFIG
from memtile.model.jit import jit
from memtile.model.state import Spec, State


def _field(fields: tuple[Field, ...], name: str) -> Field:
    return next(field for field in fields if field.name == name)


_MASTER_ENABLE = _field(MASTER_CONFIG, "Master_Enable").mask
_MASTER_PACKET = _field(MASTER_CONFIG, "Packet_Enable").mask
_MASTER_SLAVE = _field(CIRCUIT_CONFIGURATION, "Slave").mask
_SLAVE_ENABLE = _field(SLAVE_CONFIG, "Slave_Enable").mask
_SLAVE_PACKET = _field(SLAVE_CONFIG, "Packet_Enable").mask

OFF, CIRCUIT, PACKET = 0, 1, 2  # SwitchPorts.mode


@jit
def mode_of(config: int, enable: int, packet: int) -> int:
    """Mode of a port from its register."""
    if config & enable == 0:
        return OFF
    return PACKET if config & packet else CIRCUIT


@jit
def configure(spec: Spec, st: State, tile: int) -> None:
    """Bring the tile's ports in line with its registers."""
    kind = spec.tiles.kind[tile]
    registers = spec.tiles.register_base[tile]
    slaves = registers + spec.kinds.slave_config[kind]
    for n in range(spec.tiles.slaves[tile]):
        port = spec.tiles.slave_base[tile] + n
        st.switch.mode[port] = mode_of(st.registers[slaves + n], _SLAVE_ENABLE, _SLAVE_PACKET)
        st.switch.targets[port] = 0
    masters = registers + spec.kinds.master_config[kind]
    for n in range(spec.tiles.masters[tile]):
        config = st.registers[masters + n]
        port = spec.tiles.master_base[tile] + n
        st.switch.mode[port] = mode_of(config, _MASTER_ENABLE, _MASTER_PACKET)
        slave = config & _MASTER_SLAVE
        if st.switch.mode[port] == CIRCUIT and slave < spec.tiles.slaves[tile]:
            join(spec, st, tile, slave, n)


@jit
def join(spec: Spec, st: State, tile: int, slave: int, master: int) -> None:
    """Let a slave in circuit mode feed a master."""
    port = spec.tiles.slave_base[tile] + slave
    if st.switch.mode[port] == CIRCUIT:
        st.switch.targets[port] |= 1 << master
