"""The memory-mapped AXI4 port of a tile: 1 MB of data memory, registers and windows (AM020, AM025).

The register tables say which bits keep a write, which clear on a written 1 and which read back; a block
handles the registers that do more. An address that nothing answers gives ``SLAVE_ERROR``, never a silent 0.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import WORD_BYTES
from memtile.jit.decorators import jit
from memtile.model.cores import program_memory
from memtile.model.dma import registers as dma
from memtile.model.dma import task_end, task_queue
from memtile.model.events import registers as event_registers
from memtile.model.events import setup as event_setup
from memtile.model.events.registers import FIRST_EVENT_BLOCK
from memtile.model.events.reports import memory_unit, signal
from memtile.model.memory import control as memory_control
from memtile.model.memory import ecc, lock_port, lock_registers, scrubber, watchpoints, windows
from memtile.model.state.columns import Ints
from memtile.model.state.events import Signal
from memtile.model.state.memory import Origin
from memtile.model.state.state import Spec, State
from memtile.model.streams import interface_mux, packet_switch, stream_parity, switch_config

Bools = npt.NDArray[np.bool_]


class Block(IntEnum):
    """Which hardware block answers a register; ``RegisterMap.argument`` says which instance of it."""

    PLAIN = 0  # a register that only holds its value
    QUEUE = 1
    CONTROL = 2
    STATUS = 3
    WRITE_COUNT = 4
    LOCK_VALUE = 5
    LOCK_REQUEST = 6
    LOCK_OVERFLOW = 7
    LOCK_UNDERFLOW = 8
    MEMORY_CONTROL = 9
    SWITCH = 10
    MERGE = 11
    COUNT_POP = 12
    TILE_CONTROL = 13
    SETS = 14  # sets bits of another register, ``argument``
    CLEARS = 15
    MUX = 16
    PROGRAM_CONTROL = 17
    SCRUBBING = 18
    CHECK_BITS = 19
    WATCHPOINT = 20
    COLUMN_CLOCK = 21
    PARITY_INJECTION = 22
    SHOWN = 23  # another register, ``argument``, shows the same bits


OKAY, SLAVE_ERROR = 0, -1


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
    signal(st, tile, Signal.SLAVE_ERROR)
    return SLAVE_ERROR


@jit
def mirror(st: State, tile: int, block: int, register: int, value: int) -> None:
    """Set or clear the written bits in another register of the tile."""
    at = st.spec.tiles.register_base[tile] + register
    if block == Block.SETS:
        st.registers[at] |= value & st.spec.register_map.read_mask[st.spec.tiles.kind[tile], register]
    else:
        st.registers[at] &= ~value


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
            watchpoints.see(st, tile, offset // WORD_BYTES, 1, Origin.AXI, True)
        return OKAY
    register = register_of(st.spec, tile, offset)
    if register < 0:
        word = program_memory.program_word(st.spec, tile, offset)
        if word < 0:
            return refuse(st, tile)
        st.program[word] = value
        return OKAY
    kind = st.spec.tiles.kind[tile]
    argument, block = (
        st.spec.register_map.argument[kind, register],
        st.spec.register_map.block[kind, register],
    )
    if block >= FIRST_EVENT_BLOCK:
        event_registers.before_write(st, tile, block, argument)
    at = store(st, tile, register, value)
    act_on_write(st, tile, block, argument, at, value)
    return OKAY


@jit
def write_many(st: State, tiles: Ints, offsets: Ints, values: Ints, done: Bools) -> int:
    """Write each word at byte ``offsets`` of its tile, -1 = none, in order; ``done`` = something answered.

    Returns how many it came to: it ends with a write that ``column_clock`` has to act on.
    """
    for n in range(values.shape[0]):
        if st.clock.columns_written[0] > 0:
            return n
        if tiles[n] >= 0:
            done[n] = write(st, tiles[n], offsets[n], values[n]) == OKAY
    return int(values.shape[0])


@jit
def act_on_write(st: State, tile: int, block: int, argument: int, at: int, value: int) -> None:
    """What the write does beyond keeping bits; ``at`` is the register's index in the state."""
    ch = st.spec.tiles.channel_base[tile] + argument
    if block == Block.QUEUE:
        task_queue.push(st, ch, value & st.spec.kinds.queue_mask[st.spec.tiles.kind[tile]])
    elif block == Block.CONTROL:
        dma.write_control(st, ch, st.registers[at])
    elif block == Block.STATUS:
        dma.clear_status(st, ch, value)
    elif Block.LOCK_VALUE <= block <= Block.LOCK_UNDERFLOW:
        write_lock(st, tile, block, argument, value)
    elif block >= FIRST_EVENT_BLOCK:
        event_registers.act_on_write(st, tile, block, argument, value)
    elif block == Block.COLUMN_CLOCK:
        st.clock.columns_written[0] = 1
    elif block in (Block.SETS, Block.CLEARS):
        mirror(st, tile, block, argument, value)
    else:
        act_on_tile(st, tile, block, argument, at, value)


@jit
def write_lock(st: State, tile: int, block: int, argument: int, value: int) -> None:
    """Act on a write to a register of the locks; ``argument`` is the first lock it is about."""
    lock = st.spec.tiles.lock_base[tile] + argument
    if block == Block.LOCK_VALUE:
        lock_registers.set_value(st, lock, value)
    elif block == Block.LOCK_OVERFLOW:
        lock_registers.clear_flags(st.locks.overflow, lock, st.spec.tiles.locks[tile], value)
    elif block == Block.LOCK_UNDERFLOW:
        lock_registers.clear_flags(st.locks.underflow, lock, st.spec.tiles.locks[tile], value)


@jit
def act_on_tile(st: State, tile: int, block: int, argument: int, at: int, value: int) -> None:
    """The same for the registers that concern the tile as a whole."""
    if block == Block.MEMORY_CONTROL:
        memory_control.write_control(st, tile, at)
    elif block == Block.PROGRAM_CONTROL:
        program_memory.write_control(st, tile, value)
    elif block == Block.SCRUBBING:
        scrubber.select(st, tile, st.registers[at])
        event_setup.configure(st, memory_unit(st.spec, tile))
    elif block == Block.SHOWN:
        st.registers[st.spec.tiles.register_base[tile] + argument] = st.registers[at]
    elif block == Block.CHECK_BITS:
        ecc.generate_errors(st, tile, st.registers[at])
    elif block == Block.WATCHPOINT:
        watchpoints.configure(st, tile)
    elif block == Block.TILE_CONTROL:
        windows.set_isolation(st, tile, st.registers[at])
        lock_port.look_again(st)
    else:
        act_on_switch(st, tile, block, argument, value)


@jit
def act_on_switch(st: State, tile: int, block: int, argument: int, value: int) -> None:
    """The same for the registers of its stream switch."""
    if block == Block.SWITCH:
        switch_config.configure(st, tile)
    elif block == Block.MERGE:
        packet_switch.restart_merge(st, tile, argument)
    elif block == Block.MUX:
        interface_mux.configure(st, tile)
    elif block == Block.PARITY_INJECTION:
        stream_parity.inject(st, tile, value)


@jit
def read(st: State, tile: int, offset: int) -> int:
    """Read the 32-bit word at byte ``offset``, with the read's side effects; or ``SLAVE_ERROR``."""
    if offset < st.spec.tiles.memory_words[tile] * WORD_BYTES:
        word = st.spec.tiles.memory_base[tile] + offset // WORD_BYTES
        if st.guards.inspected[tile] > 0:
            watchpoints.see(st, tile, offset // WORD_BYTES, 1, Origin.AXI, False)
            return ecc.delivered(st, tile, word, True)
        return int(st.memory[word])
    register = register_of(st.spec, tile, offset)
    if register < 0:
        word = program_memory.program_word(st.spec, tile, offset)
        return refuse(st, tile) if word < 0 else int(st.program[word])
    kind = st.spec.tiles.kind[tile]
    block = st.spec.register_map.block[kind, register]
    value = st.registers[st.spec.tiles.register_base[tile] + register]
    if block != Block.PLAIN:
        argument = st.spec.register_map.argument[kind, register]
        if block >= FIRST_EVENT_BLOCK:
            at = st.spec.tiles.register_base[tile] + register
            value = event_registers.live_value(st, tile, block, argument, at)
        else:
            value = live_value(st, tile, block, argument, offset, value)
    return int(value & st.spec.register_map.read_mask[kind, register])


@jit
def live_value(st: State, tile: int, block: int, argument: int, offset: int, stored: int) -> int:
    """Value of a register that a hardware block drives; ``stored`` where the register itself holds it."""
    ch = st.spec.tiles.channel_base[tile] + argument
    lock = st.spec.tiles.lock_base[tile] + argument
    if block == Block.STATUS:
        return dma.status(st, ch)
    if block == Block.WRITE_COUNT:
        return int(st.channels.moved[ch])
    if block == Block.COUNT_POP:
        return task_end.pop_count(st, ch)
    if block == Block.LOCK_VALUE:
        return int(st.locks.value[lock])
    if block == Block.LOCK_REQUEST:
        return lock_registers.request(st, tile, offset)
    if block == Block.LOCK_OVERFLOW:
        return lock_registers.flags(st.locks.overflow, lock, st.spec.tiles.locks[tile])
    if block == Block.LOCK_UNDERFLOW:
        return lock_registers.flags(st.locks.underflow, lock, st.spec.tiles.locks[tile])
    return stored
