"""Reset of a whole tile without clock: everything as it was built, but for some memories (DEV-CLK-3).

What is put back, and what is not and why, the columns of the state declare (``state.columns.Reset``). Here
is what they call ``OWN``: what follows from the registers, and lists.
"""

from __future__ import annotations

import numpy as np

from memtile.arch.register_map import tile_register
from memtile.model.checking import notes
from memtile.model.cores import cascade
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.memory import ecc, lock_port, scrubber, watchpoints, windows
from memtile.model.memory.control import set_interleaving
from memtile.model.state.causes import CorePhase
from memtile.model.state.columns import Column, Reset
from memtile.model.state.rows import columns_of_tile, nodes_of, registers_of, words_of
from memtile.model.state.state import State
from memtile.model.streams import interface_mux, switch_config


def reset_tile(st: State, tile: int) -> None:
    """Put registers, channels, locks, switch, tile control, event units and core back; a kernel ends."""
    notes.tile_seen(st, tile)
    registers = registers_of(st.spec, tile)
    st.registers[registers] = st.spec.reset_values[registers]
    for _, values, rows, column in columns_of_tile(st, tile, _set_anew):
        values[rows] = column.rest if column.reset is Reset.CLEARED else st.clock.now[0]
    _drop_broadcasts(st, tile)
    switch_config.configure(st, tile)
    if st.spec.kinds.external[st.spec.tiles.kind[tile]] and st.spec.tiles.has_dma[tile]:
        interface_mux.configure(st, tile)
    _reset_memory(st, tile)
    core = st.spec.tiles.core[tile]
    if core >= 0:
        cascade.empty(st, core)
    if core >= 0 and st.cores.phase[core] != CorePhase.IDLE:
        st.cores.phase[core] = CorePhase.DONE


def begin_time(st: State, tile: int) -> None:
    """The reset ends: what counts from it, such as timers, counts from now on."""
    for _, values, rows, _ in columns_of_tile(st, tile, _counts_from_reset):
        values[rows] = st.clock.now[0]


def _counts_from_reset(column: Column) -> bool:
    return column.reset is Reset.NOW


def _set_anew(column: Column) -> bool:
    return column.reset in (Reset.CLEARED, Reset.NOW)


def _drop_broadcasts(st: State, tile: int) -> None:
    """Forget the broadcasts that are on their way to the tile's event units."""
    nodes = nodes_of(st.spec, tile)
    st.in_flight[0] -= np.count_nonzero(st.flights[nodes])
    st.flights[nodes] = 0


def _reset_memory(st: State, tile: int) -> None:
    """Bring what memory registers control in line with their reset values; a memory tile's words are 0."""
    kind = st.spec.tiles.kind[tile]
    scrubber.select(st, tile, 0)
    ecc.generate_errors(st, tile, 0)
    watchpoints.configure(st, tile)
    if st.spec.kinds.interleaves[kind]:
        name = KIND_NAMES[kind]
        set_interleaving(st, tile, tile_register(name, "Memory_Control").reset)
        windows.set_isolation(st, tile, tile_register(name, "Tile_Control").reset)
        lock_port.look_again(st)
        _clear_memory(st, tile)


def _clear_memory(st: State, tile: int) -> None:
    """Zero a memory tile's words, with their check bits (AM020 chapter 5: zero at boot and reset)."""
    words = words_of(st.spec, tile)
    if st.memory[words].any():  # else the host need not give memory to pages that nobody touched
        st.memory[words] = 0
    struck = words.start + np.flatnonzero(st.flips[words]) if st.guards.inspected[tile] else ()
    for word in struck:
        ecc.clean(st, tile, word, ecc.Fate.OVERWRITTEN.value)
