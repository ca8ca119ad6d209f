"""What the control of the untimed run writes down: one row a BD execution, in the order of the moves.

The control of many executions goes on without their words, so that Python, which moves them, is called once
for all: only the caller of ``executions.advance`` knows how to move what a row with ``ASKS`` describes, or
whether it can.
"""

from __future__ import annotations

from memtile.arch.tiles import MAX_DIMENSIONS
from memtile.jit.decorators import jit
from memtile.model.dma.mm2s import pad_value
from memtile.model.state.columns import Ints
from memtile.model.state.state import State

ROWS = 0  # entry of the log that counts its rows
FIRST = 1  # entry with which the first row begins
_INNER = MAX_DIMENSIONS - 1  # the last dimension has no wrap and no padding
CH, TILE, ASKS, TLAST_SUPPRESS, PAD, ORIGIN, LENGTH, STEP = range(8)  # columns; TILE: where the BD begins
WRAP = STEP + MAX_DIMENSIONS
BEFORE = WRAP + _INNER
AFTER = BEFORE + _INNER
COLUMNS = AFTER + _INNER


@jit
def stays(st: State, ch: int, tile: int) -> bool:
    """Whether the channel's walk surely stays in the memory of ``tile``, where it begins.

    Every counter counts as if it reached its highest value together with the others.
    """
    walks, words = st.walks, st.channels.length[ch]
    shift = st.spec.kinds.memory_shift[st.spec.tiles.kind[st.channels.tile[ch]]]
    highest, unit = walks.origin[ch] - (walks.origin[ch] >> shift << shift), 1
    for d in range(MAX_DIMENSIONS):
        turns = max((words + unit - 1) // unit, 1)
        wrap = walks.wrap[ch, d] if d < _INNER else 0
        if wrap > 0:
            turns = min(turns, wrap)
            unit *= walks.before[ch, d] + wrap + walks.after[ch, d]
        highest += (turns - 1) * walks.step[ch, d]
        if wrap == 0:
            break
    return bool(highest < st.spec.tiles.memory_words[tile])


@jit
def surely_moves(st: State, ch: int, tile: int) -> bool:
    """Whether nothing in the words of the channel's BD, or in the memory, tells how the control goes on."""
    if st.channels.packed[ch] == 1 or st.fifos.held[ch] > 0 or st.guards.inspected[tile] > 0:
        return False
    return stays(st, ch, tile)


@jit
def note(st: State, log: Ints, ch: int, tile: int, asks: int) -> None:
    """Append the execution that the channel has begun."""
    walks = st.walks
    row = FIRST + log[ROWS] * COLUMNS
    log[ROWS] += 1
    log[row + CH], log[row + TILE], log[row + ASKS] = ch, tile, asks
    log[row + TLAST_SUPPRESS] = st.channels.tlast_suppress[ch]
    log[row + PAD] = pad_value(st, ch) if walks.padded[ch] == 1 else 0
    log[row + ORIGIN], log[row + LENGTH] = walks.origin[ch], st.channels.length[ch]
    for d in range(MAX_DIMENSIONS):
        log[row + STEP + d] = walks.step[ch, d]
    for d in range(_INNER):
        log[row + WRAP + d] = walks.wrap[ch, d]
        log[row + BEFORE + d] = walks.before[ch, d]
        log[row + AFTER + d] = walks.after[ch, d]


@jit
def full(log: Ints, channels: int) -> bool:
    """Whether the log may be too short for another round of ``channels`` channels."""
    return bool(FIRST + (log[ROWS] + channels) * COLUMNS > log.shape[0])
