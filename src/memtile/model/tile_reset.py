"""Reset of a whole tile without clock: everything as it was built, but for the memories (DEV-CLK-3)."""

from __future__ import annotations

import numpy as np

from memtile.arch.register_map import register_named
from memtile.arch.tiles import WORD_BYTES
from memtile.model.dma.registers import reset as reset_channel
from memtile.model.memory import ecc, lock_port, scrubber, watchpoints, windows
from memtile.model.memory.control import NEVER as NO_ZEROISATION
from memtile.model.memory.control import set_interleaving
from memtile.model.roster import OFF
from memtile.model.state.causes import CorePhase
from memtile.model.state.events import NEVER, Observers, Traces
from memtile.model.state.state import NOW, State
from memtile.model.state.tile_parts import channels_of, locks_of, ports_of, registers_of, units_of
from memtile.model.streams import switch_config
from memtile.model.streams.control_packets import START
from memtile.model.streams.control_port import NOBODY

_ISOLATION = register_named("memory_tile", "Tile_Control").offset // WORD_BYTES
_MEMORY = register_named("memory_tile", "Memory_Control").offset // WORD_BYTES


def reset_tile(st: State, tile: int) -> None:
    """Put registers, channels, locks, switch, tile control, event units and core back; a kernel ends."""
    registers = registers_of(st.spec, tile)
    st.registers[registers] = st.spec.reset_values[registers]
    _reset_channels(st, tile)
    _reset_locks(st, tile)
    _reset_switch(st, tile)
    _reset_memory(st, tile)
    _reset_units(st, tile)
    core = st.spec.tiles.core[tile]
    if core >= 0:
        st.core_seen[core] = NEVER
        if st.cores.phase[core] != CorePhase.IDLE:
            st.cores.phase[core] = CorePhase.DONE


def _reset_channels(st: State, tile: int) -> None:
    """Empty the tile's channels and clear their registers."""
    c, channels = st.channels, channels_of(st.spec, tile)
    for ch in range(channels.start, channels.stop):
        why = c.why[ch]
        c.token_due[ch] = 0
        reset_channel(st, ch)
        c.control[ch] = 0
        c.why[ch] = why
    st.seen[channels] = c.finished_bd[channels] = NEVER


def _reset_locks(st: State, tile: int) -> None:
    """Clear the tile's locks and their flags."""
    locks = locks_of(st.spec, tile)
    for column in (st.locks.value, st.locks.held, st.locks.overflow, st.locks.underflow):
        column[locks] = 0
    st.locks.event[locks] = NEVER
    st.locks.since[locks] = st.clock[NOW]


def _reset_switch(st: State, tile: int) -> None:
    """Drop the words in the tile's switch and tile-control port, and disable its ports."""
    ports = ports_of(st.spec, tile)
    st.switch.held[ports] = st.switch.unrouted[ports] = st.switch.parity[ports] = 0
    switch_config.configure(st, tile)
    controls = st.controls
    controls.held[tile], controls.due[tile], controls.turn[tile] = 0, 0, 0
    controls.stage[tile], controls.sender[tile] = START, NOBODY
    controls.header_due[tile], controls.in_counts[tile], controls.cut[tile] = 0, 0, 0


def _reset_memory(st: State, tile: int) -> None:
    """Bring what memory registers control in line with their reset values; no word changes."""
    kind, first = st.spec.tiles.kind[tile], st.spec.tiles.register_base[tile]
    st.gates.zeroising[tile] = NO_ZEROISATION
    st.guards.left[tile] = st.guards.repairs[tile] = st.guards.again[tile] = 0
    scrubber.select(st, tile, 0)
    ecc.generate_errors(st, tile, 0)
    watchpoints.configure(st, tile)
    if st.spec.kinds.interleaves[kind]:
        set_interleaving(st, tile, st.registers[first + st.spec.register_index[kind, _MEMORY]])
        isolation = st.registers[first + st.spec.register_index[kind, _ISOLATION]]
        windows.set_isolation(st, tile, isolation)
        lock_port.look_again(st)


def _reset_units(st: State, tile: int) -> None:
    """Let the event units do nothing, and forget what they have seen and broadcasts on their way to them."""
    units, now = units_of(st.spec, tile), st.clock[NOW]
    nodes = np.flatnonzero(st.spec.event_units.tile[st.spec.nodes.unit] == tile)
    st.in_flight[0] -= np.count_nonzero(st.flights[nodes])
    st.flights[nodes] = 0
    for records, columns in ((st.observers, Observers), (st.traces, Traces)):
        for name in columns._fields:
            getattr(records, name)[units] = 0
    o = st.observers
    o.active[units], o.timer_trigger[units] = OFF, NEVER
    o.folded[units] = o.timer_base[units] = now
    st.stamps[units] = st.earlier[units] = st.signals[tile] = NEVER
