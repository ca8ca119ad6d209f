"""Mux_Config and Demux_Config: whether a South port of an interface tile leads to its DMA (AM025; driver).

After reset the ports lead to the programmable logic, which is not modelled; so do those set to the NoC.
"""

from __future__ import annotations

from memtile.arch.ports import DEMUX_BITS, DMA_MASTERS, DMA_SLAVES, MUX_BITS, PORTS, SOUTH_ATTACHMENT
from memtile.arch.tiles import INTERFACE, MM2S, S2MM
from memtile.jit.decorators import jit
from memtile.model.state.state import State

_PORTS = PORTS["interface"]
_SLAVES = tuple(_PORTS.slave(name) for name in DMA_SLAVES)
_MASTERS = tuple(_PORTS.master(name) for name in DMA_MASTERS)
_MUX_LSB = tuple(MUX_BITS[name][1] for name in DMA_SLAVES)
_DEMUX_LSB = tuple(DEMUX_BITS[name][1] for name in DMA_MASTERS)
_MASK = (1 << (MUX_BITS[DMA_SLAVES[0]][0] - MUX_BITS[DMA_SLAVES[0]][1] + 1)) - 1
_DMA = SOUTH_ATTACHMENT["DMA"]
_CHANNELS = INTERFACE.channels
NOWHERE = -1


@jit
def leads_to_dma(st: State, tile: int, register: int, lsb: int) -> bool:
    """Whether the field at ``lsb`` of a register of the tile, by its index, says DMA."""
    value = st.registers[st.spec.tiles.register_base[tile] + register]
    return bool((value >> lsb) & _MASK == _DMA)


@jit
def configure(st: State, tile: int) -> None:
    """Bring the tile's channels in line with its two registers."""
    first, kind = st.spec.tiles.channel_base[tile], st.spec.tiles.kind[tile]
    mux, demux = st.spec.kinds.multiplexer[kind, 0], st.spec.kinds.multiplexer[kind, 1]
    for n in range(_CHANNELS):
        port = st.spec.tiles.slave_base[tile] + _SLAVES[n]
        attached = leads_to_dma(st, tile, mux, _MUX_LSB[n])
        st.channels.switch_port[first + MM2S * _CHANNELS + n] = port if attached else NOWHERE
        port = st.spec.tiles.master_base[tile] + _MASTERS[n]
        attached = leads_to_dma(st, tile, demux, _DEMUX_LSB[n])
        st.switch.channel[port] = first + S2MM * _CHANNELS + n if attached else NOWHERE
