"""Time that passes while a host is busy: between two of its memory-mapped accesses, many times a second.

A host's accesses are ``access_cycles`` apart (docs/timing.md). Most of them meet a model in which nothing
acts: then the clock moves at once, and a cycle costs nothing.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import TILE_BYTES, WORD_BYTES
from memtile.jit.decorators import jit
from memtile.jit.structs import Struct
from memtile.model import axi
from memtile.model.checking import history_log
from memtile.model.memory import axi_port
from memtile.model.state.columns import Ints
from memtile.model.state.state import State
from memtile.sim.loop import clock

WORD_MAX = (1 << WORD_BITS) - 1
AT_ONCE = -1  # cost of a word that takes no time
NEXT = -2  # likewise, and the word is the next one of a block
READ = -1  # as value of an access: the word is read
LATER = -2  # answer to an access before which Python has to take part; ``axi.SLAVE_ERROR`` is another one
ACTED = 1 << WORD_BITS  # in the answer to an access: Python has to take part afterwards
MOST_STEPPED = 1 << 12  # cycles before a read; in longer waits Python jumps over what repeats


class PaceColumn(IntEnum):
    """Columns of ``PacedAccesses.counters``."""

    AT = 0  # the next access
    END = 1  # behind the last one
    WAIT = 2  # cycles before each read
    DUE = 3  # cycle in which the wait before the next access ends, -1 = it has not begun
    PLACE = 4  # of the last word read, as ``place_of_word`` numbers them
    VALUE = 5  # that word
    TIMES = 6  # reads in a row that gave it
    MOST = 7  # reads after which Python takes part
    STOPS = 8  # times that this happened


class _Accesses(NamedTuple):
    tiles: Ints
    offsets: Ints
    values: Ints
    answers: Ints
    counters: Ints


class PacedAccesses(_Accesses, Struct):
    """Accesses of a host: tile (-1 = none), byte offset in it, word to write or ``READ``.

    ``answers`` are given: the word read, 0 for a write, ``axi.SLAVE_ERROR``. The other tables have room for
    any accesses, ``counters`` says which ones are to be made (:class:`PaceColumn`).
    """

    @staticmethod
    def room(count: int, wait: int = 0, most: int = -1) -> PacedAccesses:
        """Room for so many accesses, of which none is to be made yet; ``wait``, ``most``: as counters."""
        tiles, offsets, values, answers = np.zeros((4, count), np.int64)
        counters = np.zeros(len(PaceColumn), np.int64)
        counters[[PaceColumn.WAIT, PaceColumn.DUE, PaceColumn.PLACE, PaceColumn.MOST]] = wait, -1, -1, most
        return PacedAccesses(tiles, offsets, values, answers, counters)


class _Programmed(NamedTuple):
    tiles: Ints
    offsets: Ints
    values: Ints
    masks: Ints
    costs: Ints


class Programmed(_Programmed, Struct):
    """Words that a program writes: tile, byte offset, value and its bits that count, cycles to the next one.

    A cost of ``AT_ONCE`` or ``NEXT`` also means that the word is written together with the one before.
    """


@jit
def idle(st: State) -> bool:
    """Whether nothing acts in a cycle but ports of memory-mapped accesses, which then meet nobody."""
    channels = st.active_channels[0] + st.waiting_channels[0] + st.active_ports[0] + st.active_controls[0]
    units = st.active_cores[0] + st.active_units[0] + st.in_flight[0] + st.zeroising[0] + st.guarding[0]
    units += st.cascading[0]
    outside = st.clock.asking[0] + st.clock.full[0] + st.clock.columns_written[0]
    return bool(channels + units + outside == 0)


@jit
def pass_time(st: State, until: int) -> bool:
    """Let time pass up to cycle ``until``; False where Python has to take part before."""
    began = st.clock.now[0]
    if began >= until:
        return True
    if idle(st):
        if history_log.logging(st):
            history_log.log_causes(st)
        axi_port.serve_alone(st, until)
        st.clock.now[0] = until
    else:
        st.clock.passing[0], st.clock.quiet[0] = 1, 0
        clock.run(st, until)
        st.clock.passing[0] = 0
    st.clock.host_waited[0] += st.clock.now[0] - began
    return bool(st.clock.now[0] == until)


@jit
def free_port(st: State, tile: int) -> bool:
    """Let time pass until the tile takes an access; False where Python has to take part before."""
    while axi_port.busy(st, tile) and st.gates.off[tile] == 0:
        if not pass_time(st, st.clock.now[0] + st.axi_ports.left[tile]):
            return False
    return True


@jit
def access(st: State, tile: int, offset: int, value: int) -> int:
    """Read a word (``value`` is ``READ``) or write it as a host does, when the host comes to it.

    Returns the word read, 0 for a write, ``axi.SLAVE_ERROR``; ``LATER`` where Python has to take part before.
    """
    if st.clock.columns_written[0] + st.clock.full[0] > 0:
        return LATER
    if not pass_time(st, st.clock.host_free[0]) or not free_port(st, tile):
        return LATER
    st.clock.host_free[0] = st.clock.now[0] + st.spec.timing.access_cycles[0]
    if st.gates.off[tile] == 1 or offset % WORD_BYTES > 0:
        return int(axi.SLAVE_ERROR)
    answer = axi.read(st, tile, offset) if value == READ else axi.write(st, tile, offset, value)
    if answer >= 0 and offset < st.spec.tiles.memory_words[tile] * WORD_BYTES:
        axi_port.begin(st, tile, offset // WORD_BYTES, 1)
    return int(answer)


@jit
def access_now(st: State, tile: int, offset: int, value: int) -> int:
    """:func:`access`, with ``ACTED`` added where more than ports of memory-mapped accesses is at work."""
    acted = not idle(st)
    answer = access(st, tile, offset, value)
    return answer + ACTED if answer >= 0 and (acted or st.clock.columns_written[0] > 0) else answer


@jit
def meet_nothing(st: State, value: int) -> int:
    """An access where there is no tile; only a write takes the time of a host."""
    if value != READ:
        if not pass_time(st, st.clock.host_free[0]):
            return LATER
        st.clock.host_free[0] = st.clock.now[0] + st.spec.timing.access_cycles[0]
    return int(axi.SLAVE_ERROR)


@jit
def wait_to_read(st: State, counters: Ints) -> bool:
    """Let the cycles before a read pass; False where Python has to take part before, or does it faster."""
    if counters[PaceColumn.DUE] < 0:
        counters[PaceColumn.DUE] = st.clock.now[0] + counters[PaceColumn.WAIT]
    if counters[PaceColumn.DUE] - st.clock.now[0] > MOST_STEPPED and not idle(st):
        return False
    waited = st.clock.host_waited[0]  # the host is not busy meanwhile
    there = pass_time(st, counters[PaceColumn.DUE])
    st.clock.host_waited[0] = waited
    return there


@jit
def repeats(counters: Ints, place: int, value: int) -> bool:
    """Count a read that gives the same as the last one; whether Python is to take part now."""
    same = counters[PaceColumn.PLACE] == place and counters[PaceColumn.VALUE] == value
    counters[PaceColumn.TIMES] = counters[PaceColumn.TIMES] + 1 if same else 1
    counters[PaceColumn.PLACE], counters[PaceColumn.VALUE] = place, value
    counters[PaceColumn.STOPS] += 1 if counters[PaceColumn.TIMES] == counters[PaceColumn.MOST] else 0
    return bool(counters[PaceColumn.TIMES] == counters[PaceColumn.MOST])


@jit
def place_of_word(tile: int, offset: int) -> int:
    """A number for a word of the array; those of other words are negative."""
    return tile * TILE_BYTES + offset


@jit
def perform(st: State, accesses: PacedAccesses) -> int:
    """Make each access as a host does when it comes to it, with its cycles before a read.

    Returns how many it made. It ends where Python has to take part: for the column clocks, before time can
    pass, at a read before or in which there was an alarm, and when a word was read ``MOST`` times in a row.
    """
    counters, alarms = accesses.counters, st.clock.alarms[0]
    first, end = counters[PaceColumn.AT], counters[PaceColumn.END]
    for n in range(first, end):
        tile, offset, value = accesses.tiles[n], accesses.offsets[n], accesses.values[n]
        reads = value == READ
        if reads and (st.clock.alarms[0] != alarms or not wait_to_read(st, counters)):
            return int(n - first)
        answer = access(st, tile, offset, value) if tile >= 0 else meet_nothing(st, value)
        if answer == LATER:
            return int(n - first)
        accesses.answers[n], counters[PaceColumn.DUE], counters[PaceColumn.AT] = answer, -1, n + 1
        stops = reads and answer >= 0 and repeats(counters, place_of_word(tile, offset), answer)
        if stops or (reads and st.clock.alarms[0] != alarms):
            return int(n + 1 - first)
    return int(end - first)


@jit
def begins_block(writes: Programmed, n: int) -> bool:
    """Whether word ``n`` is the first one of a block of several."""
    there = n + 1 < writes.costs.shape[0] and writes.costs[n] != NEXT
    return bool(there and writes.costs[n + 1] == NEXT)


@jit
def set_up(st: State, writes: Programmed, end: int) -> int:
    """Write each word of a program at once, when its time has come.

    Returns how many it came to: it ends before a word that comes at cycle ``end`` or later or that nothing
    answers, before a block in data memory of which somebody looks at accesses, and where Python has to take
    part.
    """
    count = writes.values.shape[0]
    for n in range(count):
        tile, offset, value = writes.tiles[n], writes.offsets[n], writes.values[n]
        if st.clock.columns_written[0] > 0 or st.gates.off[tile] == 1:
            return n
        in_memory = offset < st.spec.tiles.memory_words[tile] * WORD_BYTES
        if in_memory and st.guards.inspected[tile] > 0 and begins_block(writes, n):
            return n
        if writes.costs[n] >= 0:
            if not pass_time(st, st.clock.host_free[0]) or st.clock.now[0] >= end:
                return n
            st.clock.host_free[0] = st.clock.now[0] + writes.costs[n]
        mask = writes.masks[n]
        if mask != WORD_MAX:
            value = (axi.read(st, tile, offset) & ~mask & WORD_MAX) | (value & mask)
        if axi.write(st, tile, offset, value) != axi.OKAY:
            return n
    return int(count)
