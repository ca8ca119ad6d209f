"""Clock and reset of a column: Column_Clock_Control and AIE_Tile_Column_Reset of its interface tile (AM025).

They act on the tiles above the interface tile (DEV-CLK-1). Without clock, or in reset, a tile's channels,
ports, core and event units are on no list, so that they cost nothing; its ports take no word, its banks and
locks serve no neighbour, and its memory-mapped port does not answer (DEV-CLK-2). Every cycle of that time is
booked as ``CLOCK_OFF``. What would have happened at a known cycle happens so much later: which cycle numbers
move, the columns of the state declare (``state.columns.Pause``).

All of it happens between two cycles, in the interpreter: a write to one of the two registers makes the clock
loop return before its next cycle. It costs what the tiles of the column cost, however many columns there are.

It also has reset of a whole tile without clock: all as built, but for some memories (DEV-CLK-3).

What is put back, and what is not and why, the columns of the state declare (``state.columns.Reset``). Here
is what they call ``OWN``: what follows from the registers, and lists.
"""

from __future__ import annotations

import numpy as np

from memtile.arch.register_map import register_named, tile_register
from memtile.arch.tiles import WORD_BYTES
from memtile.jit.structs import at_hand
from memtile.model.checking import notes
from memtile.model.cores import cascade
from memtile.model.cores import core_step as core
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.events import unit_setup as event_setup
from memtile.model.memory import axi_port, ecc, lock_port, neighbours, watchpoints
from memtile.model.memory.memory_control import NEVER, set_interleaving
from memtile.model.roster import (
    OFF,
    append,
    wait_for_lock,
    wake_axi_port,
    wake_control,
    wake_core,
    wake_guard,
    wake_port,
    without,
    without_number,
)
from memtile.model.state.causes import Cause, CoreCause, CorePhase, Phase
from memtile.model.state.columns import FOREVER, Column, Ints, Pause, Reset
from memtile.model.state.rows import (
    channels_of,
    columns_of_tile,
    nodes_of,
    ports_of,
    registers_of,
    units_of,
    words_of,
)
from memtile.model.state.state import Spec, State
from memtile.model.state.tile_columns import OUTSIDE
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
    ecc.select(st, tile, 0)
    ecc.generate_errors(st, tile, 0)
    watchpoints.configure(st, tile)
    if st.spec.kinds.interleaves[kind]:
        name = KIND_NAMES[kind]
        set_interleaving(st, tile, tile_register(name, "Memory_Control").reset)
        neighbours.set_isolation(st, tile, tile_register(name, "Tile_Control").reset)
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


_CLOCK = register_named("pl", "Column_Clock_Control")
_RESET = register_named("pl", "AIE_Tile_Column_Reset")
_ENABLE, _HOLD = _CLOCK.field("Clock_Buffer_Enable").mask, _RESET.field("Reset").mask


def follow(state: State) -> None:
    """Act on what was written to the registers of column clocks and resets since the last time."""
    st = at_hand(state)
    st.clock.columns_written[0] = 0
    st.clock.alarms[0] += 1
    below = _interface_below(st.spec)
    inside = below >= 0
    held = inside & (_values(st, _RESET.offset, below) & _HOLD != 0)
    stopped = held | (inside & (_values(st, _CLOCK.offset, below) & _ENABLE == 0))
    for tile in np.flatnonzero((held != st.gates.held) | (stopped != st.gates.off)).tolist():
        if stopped[tile]:
            stop(st, tile)
        if held[tile] != st.gates.held[tile]:
            reset_tile(st, tile) if held[tile] else begin_time(st, tile)
            st.gates.held[tile], st.gates.since[tile] = held[tile], st.clock.now[0]
        if not stopped[tile]:
            start(st, tile)


def reset_interface(state: State, tile: int) -> None:
    """Reset an interface tile; the clock of its column is off then, as after boot (DEV-NPI-1)."""
    st = at_hand(state)
    stop(st, tile)
    reset_tile(st, tile)
    start(st, tile)
    follow(state)


def interfaces(spec: Spec) -> Ints:
    """The interface tiles of a model."""
    return np.flatnonzero(spec.kinds.external[spec.tiles.kind] == 1)


def _interface_below(spec: Spec) -> Ints:
    """The interface tile in the column of each tile; -1 = it has none below it."""
    tiles, found = spec.tiles, interfaces(spec)
    at_column = np.full(int(tiles.column.max()) + 1, -1)
    at_column[tiles.column[found]] = found
    below = at_column[tiles.column]
    has_one = (tiles.column != OUTSIDE) & (tiles.row > tiles.row[below])
    return np.where(has_one, below, -1)


def _values(st: State, offset: int, tiles: Ints) -> Ints:
    """The register at byte ``offset`` of each tile; of no meaning where there is no tile."""
    found = st.spec.register_index[st.spec.tiles.kind[tiles], offset // WORD_BYTES]
    values: Ints = st.registers[st.spec.tiles.register_base[tiles] + found]
    return values


def stop(st: State, tile: int) -> None:
    """Take the clock from the tile from the next cycle on, if it has one."""
    if st.gates.off[tile]:
        return
    now = st.clock.now[0]
    st.gates.off[tile], st.gates.since[tile] = 1, now
    append(st.gated, tile)
    _stop_channels(st, tile)
    ports, units = ports_of(st.spec, tile), units_of(st.spec, tile)
    st.switch.active[ports], st.observers.active[units] = OFF, OFF
    st.switch.full_depth[ports], st.switch.depth[ports] = st.switch.depth[ports], 0
    without(st.active_ports, st.switch.tile, tile)
    without(st.active_units, st.spec.event_units.tile, tile)
    number = st.spec.tiles.core[tile]
    if number >= 0:
        core.book(st, number)
        st.cores.active[number], st.cores.why[number] = OFF, CoreCause.CLOCK_OFF
        without(st.active_cores, st.cores.tile, tile)
    for column, roster in (
        (st.guards.active, st.guarding),
        (st.controls.active, st.active_controls),
        (st.axi_ports.active, st.asking_axi),
    ):
        column[tile] = OFF
        without_number(roster, tile)
    without_number(st.zeroising, tile)
    busy_until = st.memories.busy_until[tile]
    st.gates.zeroising[tile] = busy_until - now if busy_until != NEVER else NEVER
    st.memories.busy_until[tile] = FOREVER


def _stop_channels(st: State, tile: int) -> None:
    """Take the tile's channels off all lists."""
    channels = channels_of(st.spec, tile)
    _book_rest(st, channels)
    st.channels.active[channels], st.channels.waiting[channels] = OFF, 0
    st.channels.why[channels] = Cause.CLOCK_OFF
    without(st.active_channels, st.channels.tile, tile)
    without(st.waiting_channels, st.channels.tile, tile)


def _book_rest(st: State, channels: slice) -> None:
    """Book the cycles of the channels that are over and not booked yet (``roster.book_rest`` of each)."""
    spent, why = st.spent[channels], st.channels.why[channels]
    spent[np.arange(len(why)), why] += st.clock.now[0] + st.clock.booked[0] - spent.sum(axis=1)


def start(st: State, tile: int) -> None:
    """Give the tile its clock back from the next cycle on, if it has none."""
    if not st.gates.off[tile]:
        return
    since = st.gates.since[tile]
    st.gates.off[tile] = 0
    without_number(st.gated, tile)
    if st.gates.zeroising[tile] != NEVER:
        append(st.zeroising, tile)
    left = st.gates.zeroising[tile]
    st.memories.busy_until[tile] = st.clock.now[0] + left if left != NEVER else NEVER
    _move_on(st, tile, since, st.clock.now[0] - since)
    _start_channels(st, tile)
    _start_ports(st, tile)
    _start_units(st, tile)
    _start_core(st, tile)
    st.guards.active[tile] = st.controls.active[tile] = st.axi_ports.active[tile] = 0
    if axi_port.busy(st, tile):
        wake_axi_port(st, tile)
    wake_guard(st, tile)
    wake_control(st, tile)


def _move_on(st: State, tile: int, since: int, missed: int) -> None:
    """Move the cycle numbers of the tile on by the time that it missed, as their columns declare."""
    for _, values, rows, column in columns_of_tile(st, tile, _moves) if missed else ():
        ahead = column.pause is Pause.MOVES or values[rows] >= since
        values[rows] += missed * ahead


def _moves(column: Column) -> bool:
    return column.pause in (Pause.MOVES, Pause.MOVES_IF_AHEAD)


def _start_channels(st: State, tile: int) -> None:
    """Let the tile's channels go on."""
    channels = channels_of(st.spec, tile)
    _book_rest(st, channels)
    st.channels.active[channels] = 1
    for ch in range(channels.start, channels.stop):
        append(st.active_channels, ch)
        if st.channels.phase[ch] == Phase.ACQUIRE:
            wait_for_lock(st, ch)


def _start_ports(st: State, tile: int) -> None:
    """Let the words in the tile's switch go on."""
    switch, ports = st.switch, ports_of(st.spec, tile)
    switch.active[ports] = 0
    switch.depth[ports] = switch.full_depth[ports]
    for port in range(ports.start, ports.stop):
        if switch.held[port] > 0:
            wake_port(st, port)


def _start_units(st: State, tile: int) -> None:
    """Let the event units go on."""
    units = units_of(st.spec, tile)
    st.observers.active[units] = 0
    for unit in range(units.start, units.stop):
        if st.observers.uses[unit]:
            event_setup.configure(st, unit)


def _start_core(st: State, tile: int) -> None:
    """Let the kernel go on, or ask for its next action."""
    number = st.spec.tiles.core[tile]
    if number < 0:
        return
    core.book(st, number)
    st.cores.active[number] = 0
    if CorePhase(int(st.cores.phase[number])).has_kernel:
        wake_core(st, number)
        st.clock.asking[0] += st.cores.phase[number] == CorePhase.NEXT
