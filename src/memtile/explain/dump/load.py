"""A dump in a model: what registers and memories show of a machine, put where the rules of hangs look.

The model never runs. What no register shows is not made up: queue entries are -1, and :func:`unknown` says
what else. No register shows a switch's words: a sender that is blocked has a way that is full up to an end
where nobody takes words, one that does not wait for words itself. Where two packets could hold an arbiter,
neither is said to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from memtile.arch.core import CORE
from memtile.arch.packets import STREAM_HEADER
from memtile.arch.ports import ARBITERS, SLOTS_PER_SLAVE
from memtile.arch.registers import Acts, Register, Shows, field_of
from memtile.arch.switch_registers import SLOT
from memtile.arch.tiles import COMPUTE, S2MM, TILE_KINDS, WORD_BYTES
from memtile.explain.bd_chains import lock_seen
from memtile.explain.dump.dump_formats import Words
from memtile.explain.switch_ways import masters_among, wired
from memtile.jit.tables import plain
from memtile.model import column_clock
from memtile.model.dma import bd_fields
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.dma.channel_registers import ERROR_QUEUE_OVERFLOW
from memtile.model.register_tables import answering, registers_of
from memtile.model.state.causes import LINKS, Cause, CoreCause, CorePhase, Phase
from memtile.model.streams.switch_config import PACKET
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
    words = words.view(np.ndarray)  # of a file that is mapped, whose own elements are slow to get
    state, tiles = engine.state, plain(engine.spec.tiles)
    name = KIND_NAMES[int(tiles.kind[tile])]
    first, count = int(tiles.memory_base[tile]), int(tiles.memory_words[tile])
    state.memory[first : first + count] = words[:count]
    if TILE_KINDS[name].role == "compute":
        at, core = CORE.program_base // WORD_BYTES, int(tiles.core[tile])
        state.program[core * CORE.program_words :][: CORE.program_words] = words[at : at + CORE.program_words]
    registers, base = registers_of(name), int(tiles.register_base[tile])
    there = answering(name, bool(tiles.has_dma[tile]))
    places = np.array([register.offset // WORD_BYTES for register in registers])
    answers = np.flatnonzero(there[places])
    state.registers[base + answers] = words[places[answers]]
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
    flags_of = {Acts.LOCK_OVERFLOW: locks.overflow, Acts.LOCK_UNDERFLOW: locks.underflow}
    for register in registers:
        if register.acts is Acts.LOCK_VALUE:
            locks.value[base + register.argument] = words[register.offset // WORD_BYTES]
        elif (flags := flags_of.get(register.acts)) is not None:
            value = int(words[register.offset // WORD_BYTES])
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


_ENABLE, _ID, _MASK, _MSEL, _ARBITER = (
    field_of(SLOT, name) for name in ("enable", "id", "mask", "msel", "arbit")
)
_COLUMN, _ROW, _TYPE = (field_of(STREAM_HEADER, name).lsb for name in ("Column", "Row", "Packet_Type"))
_PARITY = 31


class _Hold(NamedTuple):
    """An arbiter that a packet would hold on its way: at which slave port, and for which masters."""

    arbiter: int
    port: int
    targets: int


class _Way:
    """The way of a blocked sender.

    Args:
        engine: the model.
        port: slave port that it feeds.
        header: of its packet; -1 = it sends none.
    """

    def __init__(self, engine: Engine, port: int, header: int) -> None:
        self._engine, self.header = engine, header
        self.full: list[int] = []
        self.holds: list[_Hold] = []
        self.lost = -1  # slave port that has no slot for the packet
        self.blocked = self._follow(port, set())

    def _follow(self, port: int, seen: set[int]) -> bool:
        """Whether the way from a port on is full at one of its ends."""
        if port in seen:
            return False
        seen.add(port)
        switch = plain(self._engine.state.switch)
        stuck = self._master(port, seen) if switch.is_master[port] else self._slave(port, seen)
        if stuck:
            self.full.append(port)
        return stuck

    def _master(self, port: int, seen: set[int]) -> bool:
        engine, switch = self._engine, plain(self._engine.state.switch)
        ch = int(switch.channel[port])
        if ch >= 0:
            return bool(engine.channels.why[ch] != Cause.STREAM_STARVED)
        if port in engine.state.cores.stream_in.tolist():
            core = engine.state.cores.stream_in.tolist().index(port)
            return bool(engine.state.cores.phase[core] != CorePhase.GET_STREAM)
        return switch.link[port] < 0 or self._follow(int(switch.link[port]), seen)

    def _slave(self, port: int, seen: set[int]) -> bool:
        switch = plain(self._engine.state.switch)
        masters = self._packet(port) if switch.mode[port] == PACKET else wired(self._engine, port)
        if not masters:
            return True
        stuck = [self._follow(master, seen) for master in masters]  # all of them are looked at
        return any(stuck)

    def _packet(self, port: int) -> list[int]:
        """The masters that the slot for its packet chooses; the port is the end where there is none."""
        for slot in _slots(self._engine, port):
            if self.header >= 0 and (self.header ^ _ID.get(slot)) & _MASK.get(slot) == 0:
                arbiter = int(plain(self._engine.state.switch).tile[port]) * ARBITERS + _ARBITER.get(slot)
                targets = int(self._engine.state.arbiters.masters[arbiter, _MSEL.get(slot)])
                if targets:
                    self.holds.append(_Hold(arbiter, port, targets))
                    return masters_among(self._engine, port, targets)
        self.lost = port
        return []


def put_streams(engine: Engine) -> None:
    """Fill the ways of all senders that are blocked."""
    ways = [way for way in _ways(engine) if way.blocked]
    asked = Counter(hold.arbiter for way in ways for hold in way.holds)
    switch, arbiters = plain(engine.state.switch), plain(engine.state.arbiters)
    for way in ways:
        sure = all(asked[hold.arbiter] == 1 for hold in way.holds)
        for port in way.full if sure else way.full[-1:]:
            switch.held[port] = max(int(switch.depth[port]), 1)
            switch.words[port, switch.head[port]] = max(way.header, 0)
        if way.lost >= 0 and sure:
            switch.unrouted[way.lost] = 1
        for hold in way.holds if sure else ():
            arbiters.holder[hold.arbiter] = hold.port
            switch.arbiter[hold.port], switch.targets[hold.port] = hold.arbiter, hold.targets


def _ways(engine: Engine) -> Iterator[_Way]:
    c, cores = engine.channels, engine.state.cores
    for ch in (c.why == Cause.STREAM_BLOCKED).nonzero()[0].tolist():
        if c.switch_port[ch] >= 0:
            yield _Way(engine, int(c.switch_port[ch]), _header(engine, ch))
    for core, phase in enumerate(cores.phase.tolist()):
        if phase == CorePhase.PUT_STREAM:
            yield _Way(engine, int(cores.stream_out[core]), -1)


def _header(engine: Engine, ch: int) -> int:
    """The stream header that the BD of a channel asks for; -1 = none."""
    fields, tiles, tile = engine.state.fields[ch].tolist(), engine.spec.tiles, int(engine.channels.tile[ch])
    if not fields[bd_fields.ENABLE_PACKET]:
        return -1
    word = int(tiles.column[tile]) << _COLUMN | int(tiles.row[tile]) << _ROW
    word |= fields[bd_fields.PACKET_TYPE] << _TYPE | fields[bd_fields.PACKET_ID]
    return int(word if word.bit_count() % 2 else word | 1 << _PARITY)


def _slots(engine: Engine, port: int) -> list[int]:
    """The enabled slots of a slave port."""
    switch, tiles = plain(engine.state.switch), plain(engine.spec.tiles)
    tile = int(switch.tile[port])
    first = int(tiles.register_base[tile] + plain(engine.spec.kinds).slot_config[tiles.kind[tile]])
    first += int(switch.number[port]) * SLOTS_PER_SLAVE
    return [s for s in engine.state.registers[first : first + SLOTS_PER_SLAVE].tolist() if _ENABLE.get(s)]
