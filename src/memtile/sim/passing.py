"""Time that passes while a host is busy: between two of its memory-mapped accesses, many times a second.

A host's accesses are ``access_cycles`` apart (docs/timing.md). Most of them meet a model in which nothing
acts: then the clock moves at once, and a cycle costs nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import WORD_BYTES
from memtile.jit.decorators import jit
from memtile.jit.structs import Struct
from memtile.model import axi
from memtile.model.checking import history
from memtile.model.memory import axi_port
from memtile.model.state.columns import Ints
from memtile.model.state.state import State
from memtile.sim import clock

Bools = npt.NDArray[np.bool_]


WORD_MAX = (1 << WORD_BITS) - 1
AT_ONCE = -1  # cost of a word that takes no time
NEXT = -2  # likewise, and the word is the next one of a block


class _Posted(NamedTuple):
    tiles: Ints
    offsets: Ints
    values: Ints
    done: Bools


class Posted(_Posted, Struct):
    """Words that a host writes: tile (-1 = none), byte offset in it, value; out: whether it was answered."""


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
    outside = st.clock.asking[0] + st.clock.full[0] + st.clock.columns_written[0]
    return bool(channels + units + outside == 0)


@jit
def pass_time(st: State, until: int) -> bool:
    """Let time pass up to cycle ``until``; False where Python has to take part before."""
    began = st.clock.now[0]
    if began >= until:
        return True
    if idle(st):
        if history.logging(st):
            history.log_causes(st)
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
def write_one(st: State, tile: int, offset: int, value: int) -> bool:
    """Write a word as a host does; False where nothing answers."""
    answered = axi.write(st, tile, offset, value) == axi.OKAY
    if answered and offset < st.spec.tiles.memory_words[tile] * WORD_BYTES:
        axi_port.begin(st, tile, offset // WORD_BYTES, 1)
    return answered


@jit
def write_many(st: State, writes: Posted) -> int:
    """Write each word as a host does when it comes to it.

    Returns how many it came to: it ends where Python has to take part, for the column clocks or before time
    can pass.
    """
    tiles, offsets, values, done = writes.tiles, writes.offsets, writes.values, writes.done
    for n in range(values.shape[0]):
        if st.clock.columns_written[0] > 0 or not pass_time(st, st.clock.host_free[0]):
            return n
        if tiles[n] >= 0:
            if not free_port(st, tiles[n]):
                return n
            done[n] = write_one(st, tiles[n], offsets[n], values[n])
        st.clock.host_free[0] = st.clock.now[0] + st.spec.timing.access_cycles[0]
    return int(values.shape[0])


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
