"""The memory-mapped AXI4 port of a tile: 1 MB of data memory, registers and windows (AM020, AM025).

The register tables say which bits keep a write, which clear on a written 1 and which read back, and what a
register does beyond that (``arch.registers``). An address that nothing answers gives ``SLAVE_ERROR``, never a
silent 0.

It also has program memory of a core: plain storage behind the memory-mapped AXI4 port (AM020 chapter 4).
"""

from __future__ import annotations

from memtile.arch.core import CORE
from memtile.arch.register_map import register_named
from memtile.arch.registers import Acts
from memtile.arch.tiles import WORD_BYTES
from memtile.jit.decorators import jit
from memtile.model.checking import notes
from memtile.model.cores import cascade, debug
from memtile.model.dma import channel_registers as dma
from memtile.model.dma import task_queue
from memtile.model.events import unit_setup as event_setup
from memtile.model.events import units as event_registers
from memtile.model.events.asserted import fold
from memtile.model.events.reports import signal
from memtile.model.memory import ecc, lock_port, locks, neighbours, watchpoints
from memtile.model.memory import memory_control as memory_control
from memtile.model.state.event_columns import TileSignal
from memtile.model.state.memory import AccessOrigin
from memtile.model.state.state import Spec, State
from memtile.model.streams import interface_mux, packet_switch, switch_config, switch_ports

NOWHERE = -1
_BASE, _END = CORE.program_base, CORE.program_base + CORE.program_bytes
_WORDS = CORE.program_words
_CONTROL = register_named("core", "Core_Memory_Control")
_ZEROISE = _CONTROL.field("Memory_Zeroisation").mask


@jit
def program_word(spec: Spec, tile: int, offset: int) -> int:
    """Index in ``State.program`` of byte ``offset`` of the tile, or -1 when it is no program memory."""
    core = spec.tiles.core[tile]
    if core < 0 or offset < _BASE or offset >= _END:
        return NOWHERE
    return int(core * _WORDS + (offset - _BASE) // WORD_BYTES)


@jit
def write_control(st: State, tile: int, value: int) -> None:
    """Act on a write to the core's memory control: zeroisation, done at once (DEV-REG-9)."""
    first = program_word(st.spec, tile, _BASE)
    if value & _ZEROISE and first != NOWHERE:
        for word in range(first, first + _WORDS):
            st.program[word] = 0


OKAY, SLAVE_ERROR = 0, -1
_PLAIN = int(Acts.KEEPS)  # up to here registers are what was written


@jit
def register_of(spec: Spec, tile: int, offset: int) -> int:
    """Index of the register at byte ``offset`` within its kind's tables, or -1 where nothing answers."""
    kind = spec.tiles.kind[tile]
    register = spec.register_index[kind, offset // WORD_BYTES]
    if register >= 0 and spec.register_map.needs_dma[kind, register] > spec.tiles.has_dma[tile]:
        return -1
    return int(register)


@jit
def store(st: State, tile: int, register: int, value: int) -> int:
    """Keep the writable bits, clear the written-1-to-clear bits; return the register's index in the state."""
    kind = st.spec.tiles.kind[tile]
    at = st.spec.tiles.register_base[tile] + register
    kept = st.spec.register_map.write_mask[kind, register]
    cleared = st.spec.register_map.clear_mask[kind, register] & value
    st.registers[at] = ((st.registers[at] & ~kept) | (value & kept)) & ~cleared
    return int(at)


@jit
def refuse(st: State, tile: int) -> int:
    """Answer an access that nothing answers; the tile's sticky error status says so."""
    kind = st.spec.tiles.kind[tile]
    at = st.spec.tiles.register_base[tile] + st.spec.kinds.slave_error_status[kind]
    st.registers[at] |= 1 << st.spec.kinds.slave_error_bit[kind]
    signal(st, tile, TileSignal.SLAVE_ERROR)
    return SLAVE_ERROR


@jit
def set_bits(st: State, tile: int, offset: int, bits: int) -> None:
    """Set bits of the register at byte ``offset``, which another one of the tile stands for."""
    kind = st.spec.tiles.kind[tile]
    register = st.spec.register_index[kind, offset // WORD_BYTES]
    bits &= st.spec.register_map.read_mask[kind, register]
    st.registers[st.spec.tiles.register_base[tile] + register] |= bits


@jit
def clear_bits(st: State, tile: int, offset: int, bits: int) -> None:
    """Clear bits of the register at byte ``offset``, likewise."""
    register = st.spec.register_index[st.spec.tiles.kind[tile], offset // WORD_BYTES]
    st.registers[st.spec.tiles.register_base[tile] + register] &= ~bits


@jit
def write(st: State, tile: int, offset: int, value: int) -> int:
    """Write one 32-bit word at byte ``offset`` of the tile; ``OKAY`` or ``SLAVE_ERROR``."""
    if st.gates.off[tile] == 1:
        return SLAVE_ERROR
    if offset < st.spec.tiles.memory_words[tile] * WORD_BYTES:
        word = st.spec.tiles.memory_base[tile] + offset // WORD_BYTES
        st.memory[word] = value
        if st.guards.inspected[tile] > 0:
            ecc.overwritten(st, tile, word, 1)
            watchpoints.see(st, tile, offset // WORD_BYTES, 1, AccessOrigin.AXI, True)
            notes.host_accesses(st, word, 1, True)
        return OKAY
    register = register_of(st.spec, tile, offset)
    if register < 0:
        word = program_word(st.spec, tile, offset)
        if word < 0:
            return refuse(st, tile)
        st.program[word] = value
        return OKAY
    st.clock.quiet[0] = 0
    if st.spec.register_map.acts[st.spec.tiles.kind[tile], register] <= _PLAIN:
        store(st, tile, register, value)
    else:
        act_on_write(st, tile, register, value)
    return OKAY


@jit
def act_on_write(st: State, tile: int, register: int, value: int) -> None:  # noqa: C901 - a flat table
    """Write a register that does more than hold its value: a branch for each behaviour of the rows."""
    tiles, kind = st.spec.tiles, st.spec.tiles.kind[tile]
    acts, argument = st.spec.register_map.acts[kind, register], st.spec.register_map.argument[kind, register]
    ch, lock = tiles.channel_base[tile] + argument, tiles.lock_base[tile] + argument
    unit = tiles.first_unit[tile] + st.spec.register_map.unit[kind, register]
    if acts in (Acts.EVENT_STATUS, Acts.EVENT_SELECTION, Acts.EVENT_GENERATE, Acts.TIMER_CONTROL):
        fold(st, unit)  # before bits of the sticky status are cleared, or what it is made of changes
    at = store(st, tile, register, value)
    if acts == Acts.START_QUEUE:
        task_queue.push(st, ch, value & st.spec.kinds.queue_mask[kind])
    elif acts == Acts.CHANNEL_CONTROL:
        dma.write_control(st, ch, st.registers[at])
    elif acts == Acts.CHANNEL_STATUS:
        dma.clear_status(st, ch, value)
    elif acts == Acts.LOCK_VALUE:
        locks.set_value(st, lock, value)
    elif acts == Acts.LOCK_OVERFLOW:
        locks.clear_flags(st.locks.overflow, lock, tiles.locks[tile], value)
    elif acts == Acts.LOCK_UNDERFLOW:
        locks.clear_flags(st.locks.underflow, lock, tiles.locks[tile], value)
    elif acts == Acts.MEMORY_CONTROL:
        memory_control.write_control(st, tile, at)
    elif acts == Acts.CHECK_BITS:
        ecc.generate_errors(st, tile, st.registers[at])
    elif acts == Acts.SCRUBBING:
        ecc.select(st, tile, st.registers[at])
        event_setup.configure(st, unit)
    elif acts == Acts.WATCHPOINT:
        watchpoints.configure(st, tile)
    elif acts == Acts.PROGRAM_CONTROL:
        write_control(st, tile, value)
    elif acts == Acts.DEBUG_CONTROL:
        debug.write_control(st, tile, argument, value)
    elif acts == Acts.CASCADE:
        cascade.choose_sides(st, tile, value)
    elif acts == Acts.SWITCH_PORT:
        switch_config.configure(st, tile)
    elif acts == Acts.MERGE:
        packet_switch.restart_merge(st, tile, argument)
    elif acts == Acts.PARITY_INJECTION:
        switch_ports.inject(st, tile, value)
    elif acts == Acts.MULTIPLEXER:
        interface_mux.configure(st, tile)
    elif acts == Acts.TILE_CONTROL:
        neighbours.set_isolation(st, tile, st.registers[at])
        lock_port.look_again(st)
    elif acts == Acts.COLUMN_CLOCK:
        st.clock.columns_written[0] = 1
    elif acts == Acts.SETS:
        set_bits(st, tile, argument, value)
    elif acts == Acts.CLEARS:
        clear_bits(st, tile, argument, value)
    elif acts in (Acts.EVENT_SETUP, Acts.EVENT_SELECTION, Acts.EVENT_STATUS):
        event_setup.configure(st, unit)
    elif acts == Acts.EVENT_GENERATE:
        event_registers.generate(st, unit, value)
    elif acts == Acts.TIMER_CONTROL:
        event_registers.write_timer_control(st, unit, value)


@jit
def read(st: State, tile: int, offset: int) -> int:
    """Read the 32-bit word at byte ``offset``, with the read's side effects; or ``SLAVE_ERROR``."""
    if offset < st.spec.tiles.memory_words[tile] * WORD_BYTES:
        word = st.spec.tiles.memory_base[tile] + offset // WORD_BYTES
        if st.guards.inspected[tile] > 0:
            watchpoints.see(st, tile, offset // WORD_BYTES, 1, AccessOrigin.AXI, False)
            notes.host_accesses(st, word, 1, False)
            return ecc.delivered(st, tile, word, True)
        return int(st.memory[word])
    register = register_of(st.spec, tile, offset)
    if register < 0:
        word = program_word(st.spec, tile, offset)
        return refuse(st, tile) if word < 0 else int(st.program[word])
    kind = st.spec.tiles.kind[tile]
    if st.spec.register_map.acts[kind, register] <= _PLAIN:
        value = st.registers[st.spec.tiles.register_base[tile] + register]
    else:
        value = live_value(st, tile, register, offset)
    return int(value & st.spec.register_map.read_mask[kind, register])


@jit
def live_value(st: State, tile: int, register: int, offset: int) -> int:  # noqa: C901 - a flat table
    """Value of a register that does more than hold it, with the read's side effects."""
    tiles, kind = st.spec.tiles, st.spec.tiles.kind[tile]
    acts, argument = st.spec.register_map.acts[kind, register], st.spec.register_map.argument[kind, register]
    ch, lock = tiles.channel_base[tile] + argument, tiles.lock_base[tile] + argument
    unit = tiles.first_unit[tile] + st.spec.register_map.unit[kind, register]
    notes.tile_seen(st, tile)
    if acts == Acts.CHANNEL_STATUS:
        return dma.status(st, ch)
    if acts == Acts.WRITE_COUNT:
        return int(st.channels.moved[ch])
    if acts == Acts.COUNT_POP:
        st.clock.quiet[0] = 0
        return task_queue.pop_by_register(st, ch)
    if acts == Acts.LOCK_VALUE:
        notes.lock_seen(st, lock)
        return int(st.locks.value[lock])
    if acts == Acts.LOCK_REQUEST:
        st.clock.quiet[0] = 0
        return locks.request(st, tile, offset)
    if acts == Acts.LOCK_OVERFLOW:
        return locks.flags(st.locks.overflow, lock, tiles.locks[tile])
    if acts == Acts.LOCK_UNDERFLOW:
        return locks.flags(st.locks.underflow, lock, tiles.locks[tile])
    if acts == Acts.CORE_STATUS:
        return debug.core_status(st, tile)
    if acts == Acts.DEBUG_STATUS:
        return debug.debug_status(st, tile)
    if acts == Acts.TIMER:
        return event_registers.timer_half(st, unit, argument)
    if acts == Acts.TRACE_STATUS:
        return event_registers.trace_status(st, unit)
    if acts == Acts.EVENT_STATUS:
        fold(st, unit)
    return int(st.registers[tiles.register_base[tile] + register])
