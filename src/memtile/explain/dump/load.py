"""A dump in a model: what registers and memories show of a machine, put where the rules of hangs look.

The model never runs. What no register shows is not made up: queue entries are -1, and :func:`unknown` says
what else.

It also has cores as their status registers show them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from memtile.arch.core import CORE
from memtile.arch.registers import Acts, Register, Shows
from memtile.arch.tiles import COMPUTE, S2MM, TILE_KINDS, WORD_BYTES
from memtile.explain.bd_chains import lock_seen
from memtile.explain.dump.dump_formats import Words
from memtile.jit.tables import plain
from memtile.model import column_clock
from memtile.model.dma import bd_fields
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.dma.channel_registers import ERROR_QUEUE_OVERFLOW
from memtile.model.register_tables import answering, registers_of
from memtile.model.state.causes import LINKS, Cause, CoreCause, CorePhase, Phase
from memtile.sim.loop.engine import Engine

_WAITS = ("Lock_Stall_S", "Lock_Stall_W", "Lock_Stall_N", "Lock_Stall_E")
_HALTS = ("Debug_Halt", "Error_Halt")


def put_core(engine: Engine, tile: int, registers: Sequence[Register], words: Words) -> None:
    """Have the core of a tile do what Core_Status shows; one that shows nothing has no program."""
    core = int(plain(engine.spec.tiles).core[tile])
    status = next((each for each in registers if each.acts is Acts.CORE_STATUS), None)
    if core < 0 or status is None:
        return
    word = int(words[status.offset // WORD_BYTES])
    shown = {field.name for field in status.fields if field.get(word)}
    if not shown - {"Reset"}:
        return
    engine.cores.resume_ended(core, "", endless=None, released=())
    cores = engine.state.cores
    cores.phase[core], cores.why[core], cores.target[core] = CorePhase.WAIT, CoreCause.RUNNING, -1
    for phase, link in LINKS.items():
        if link.status in shown:
            cores.phase[core], cores.why[core] = phase, link.stall
    if shown & {*_WAITS}:
        cores.phase[core], cores.why[core] = CorePhase.ACQUIRE, CoreCause.LOCK_STALL
        cores.lock[core] = COMPUTE.locks * next(n for n, name in enumerate(_WAITS) if name in shown)
    if shown & {*_HALTS}:
        cores.why[core] = CoreCause.HALTED
    if "Core_Done" in shown:
        cores.phase[core], cores.why[core], cores.ended[core] = CorePhase.DONE, CoreCause.DONE, 1


def put_tile(engine: Engine, tile: int, words: Words) -> None:
    """Give a tile of a new model the memories, locks, registers and channels that a dump has of it.

    Args:
        engine: the model, at its beginning.
        tile: model index.
        words: the tile's address space; uint32.
    """
    state, tiles = engine.state, plain(engine.spec.tiles)
    name = KIND_NAMES[int(tiles.kind[tile])]
    first, count = int(tiles.memory_base[tile]), int(tiles.memory_words[tile])
    state.memory[first : first + count] = words[:count]
    if TILE_KINDS[name].role == "compute":
        at, core = CORE.program_base // WORD_BYTES, int(tiles.core[tile])
        state.program[core * CORE.program_words :][: CORE.program_words] = words[at : at + CORE.program_words]
    registers, base = registers_of(name), int(tiles.register_base[tile])
    there = answering(name, bool(tiles.has_dma[tile]))
    for number, register in enumerate(registers):
        if there[register.offset // WORD_BYTES]:
            state.registers[base + number] = int(words[register.offset // WORD_BYTES])
    _look_again(engine, tile, [each for each in registers if there[each.offset // WORD_BYTES]], words)
    _put_locks(engine, tile, registers, words)
    for register in registers:
        if register.acts is Acts.CHANNEL_STATUS and there[register.offset // WORD_BYTES]:
            _put_channel(engine, tile, register, int(words[register.offset // WORD_BYTES]))
    _put_counts(engine, tile, registers, words)
    put_core(engine, tile, registers, words)


def put_clocks(engine: Engine, tile: int, words: Words) -> None:
    """Switch off what an interface tile's clock registers switch off, after all tiles are there."""
    name = KIND_NAMES[int(plain(engine.spec.tiles).kind[tile])]
    for register in registers_of(name):
        if register.acts is Acts.COLUMN_CLOCK:
            engine.door(tile).write32(register.offset, int(words[register.offset // WORD_BYTES]))
    column_clock.follow(engine.state)


def _look_again(engine: Engine, tile: int, registers: Sequence[Register], words: Words) -> None:
    """Have the model look at the registers of ports, multiplexers, isolation and cascades."""
    door = engine.door(tile).at_once()
    for acts in (each for each in Acts if Shows.ROUTES in each.shows):
        register = next((each for each in registers if each.acts is acts), None)
        if register is not None:
            door.write32(register.offset, int(words[register.offset // WORD_BYTES]))


def _put_locks(engine: Engine, tile: int, registers: Sequence[Register], words: Words) -> None:
    locks, base = engine.state.locks, int(plain(engine.spec.tiles).lock_base[tile])
    count = int(plain(engine.spec.tiles).locks[tile])
    for register in registers:
        value = int(words[register.offset // WORD_BYTES])
        if register.acts is Acts.LOCK_VALUE:
            locks.value[base + register.argument] = value
        for acts, flags in ((Acts.LOCK_OVERFLOW, locks.overflow), (Acts.LOCK_UNDERFLOW, locks.underflow)):
            if register.acts is acts:
                for bit in range(min(32, count - register.argument)):
                    flags[base + register.argument + bit] = value >> bit & 1


def _errors(register: Register, word: int) -> int:
    """The bits of a channel's status that report an error."""
    kinds = ("Error", "AXI", "Task_Queue_Overflow")
    return sum(each.mask for each in register.fields if each.name.startswith(kinds) and each.get(word))


def _put_channel(engine: Engine, tile: int, register: Register, word: int) -> None:
    """A channel as its status register shows it."""
    c, spec = engine.channels, engine.spec
    ch = int(plain(spec.tiles).channel_base[tile]) + register.argument
    shown = {field.name: field.get(word) for field in register.fields}
    errors = _errors(register, word)
    c.errors[ch], c.bd[ch] = errors, shown.get("Cur_BD", 0)
    c.queue_count[ch], c.queue[ch, :] = shown.get("Task_Queue_Size", 0), -1
    overflow = 1 << ERROR_QUEUE_OVERFLOW
    c.pushes_lost[ch], c.lost_push[ch] = int(bool(errors & overflow)), -1
    if not shown["Status"] and not errors & ~overflow:
        c.bds_done[ch] = int(c.bd[ch] > 0)  # the BD that it ended with; 0 may be none
        return
    c.why[ch] = next((cause for cause in Cause if any(map(shown.get, cause.status))), Cause.MOVING)
    c.phase[ch] = Phase.ACQUIRE if c.why[ch] == Cause.LOCK_ACQUIRE else Phase.RUN
    c.task_bd[ch], c.runs_left[ch] = c.bd[ch], 0  # where the task began, and its further runs: not shown
    c.moved[ch] = int(c.why[ch] != Cause.LOCK_ACQUIRE and c.direction[ch] != S2MM)
    if errors & ~overflow:
        c.phase[ch], c.why[ch] = Phase.HALTED, Cause.HALTED
    _put_descriptor(engine, tile, ch)


def _put_descriptor(engine: Engine, tile: int, ch: int) -> None:
    """Of a channel that runs, what its present BD says."""
    spec = engine.spec._replace(tiles=plain(engine.spec.tiles), kinds=plain(engine.spec.kinds))
    state, c = engine.state._replace(spec=spec), engine.channels
    fields = [
        int(bd_fields.read_field(state, tile, int(c.bd[ch]), field))
        for field in range(len(bd_fields.FIELD_NAMES))
    ]
    c.length[ch] = fields[bd_fields.BUFFER_LENGTH]
    c.acquire_enable[ch] = fields[bd_fields.ACQUIRE_ENABLE]
    c.acquire_lock[ch], c.acquire_value[ch] = fields[bd_fields.ACQUIRE_ID], fields[bd_fields.ACQUIRE_VALUE]
    c.release_lock[ch], c.release_value[ch] = fields[bd_fields.RELEASE_ID], fields[bd_fields.RELEASE_VALUE]
    lock = lock_seen(engine, tile, int(c.acquire_lock[ch]))
    c.lock[ch] = -1 if lock is None else lock
    state.fields[ch, :] = fields


def _put_counts(engine: Engine, tile: int, registers: Sequence[Register], words: Words) -> None:
    """How far S2MM channels have come in their BDs."""
    base = int(plain(engine.spec.tiles).channel_base[tile])
    for register in registers:
        if register.acts is Acts.WRITE_COUNT:
            ch, count = base + register.argument, int(words[register.offset // WORD_BYTES])
            engine.channels.moved[ch] = count
            if count and engine.channels.phase[ch] == Phase.IDLE:
                engine.channels.bds_done[ch] = 1


def unknown(engine: Engine) -> Iterator[str]:
    """Lines on the state that no register shows of a loaded model, as far as it could matter."""
    c = engine.channels
    busy = c.phase != Phase.IDLE
    if busy.any():
        yield "with which BD a running task began, and how often it is still to run"
    if (c.queue_count > 0).any():
        yield f"which BDs wait in queues ({int((c.queue_count > 0).sum())} channels have tasks there)"
    if (busy & (c.direction != S2MM)).any():
        yield "how many words an MM2S channel has sent of its BD"
    if np.any(c.phase == Phase.IDLE):
        yield "whether an idle channel ever had a task"
    if len(engine.cores.running):
        yield "for which lock a core is stalled, and what it did before"
    yield "what a host waits for"
    yield "which words stand in stream switches, and which packet holds an arbiter"
