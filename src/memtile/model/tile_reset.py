"""Reset of a whole tile without clock: everything as it was built, but for the memories (DEV-CLK-3).

What is put back, and what is not and why, the columns of the state declare (``state.columns.Reset``). Here
is what they call ``OWN``: what follows from the registers, and lists.
"""

from __future__ import annotations

import numpy as np

from memtile.arch.register_map import tile_register
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.memory import ecc, lock_port, scrubber, watchpoints, windows
from memtile.model.memory.control import set_interleaving
from memtile.model.state.causes import CorePhase
from memtile.model.state.columns import Reset
from memtile.model.state.rows import columns_of_tile, nodes_of, registers_of
from memtile.model.state.state import State
from memtile.model.streams import switch_config


def reset_tile(st: State, tile: int) -> None:
    """Put registers, channels, locks, switch, tile control, event units and core back; a kernel ends."""
    registers = registers_of(st.spec, tile)
    st.registers[registers] = st.spec.reset_values[registers]
    for _, values, rows, column in columns_of_tile(st, tile):
        if column.reset is Reset.CLEARED:
            values[rows] = column.rest
        elif column.reset is Reset.NOW:
            values[rows] = st.clock.now[0]
    _drop_broadcasts(st, tile)
    switch_config.configure(st, tile)
    _reset_memory(st, tile)
    core = st.spec.tiles.core[tile]
    if core >= 0 and st.cores.phase[core] != CorePhase.IDLE:
        st.cores.phase[core] = CorePhase.DONE


def _drop_broadcasts(st: State, tile: int) -> None:
    """Forget the broadcasts that are on their way to the tile's event units."""
    nodes = nodes_of(st.spec, tile)
    st.in_flight[0] -= np.count_nonzero(st.flights[nodes])
    st.flights[nodes] = 0


def _reset_memory(st: State, tile: int) -> None:
    """Bring what memory registers control in line with their reset values; no word changes."""
    kind = st.spec.tiles.kind[tile]
    scrubber.select(st, tile, 0)
    ecc.generate_errors(st, tile, 0)
    watchpoints.configure(st, tile)
    if st.spec.kinds.interleaves[kind]:
        name = KIND_NAMES[kind]
        set_interleaving(st, tile, tile_register(name, "Memory_Control").reset)
        windows.set_isolation(st, tile, tile_register(name, "Tile_Control").reset)
        lock_port.look_again(st)
