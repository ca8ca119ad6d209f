"""Streams of the programmable logic at South ports of interface tiles: words of a PLIO, by its clock.

A PLIO hands over a word of its width at most once in a period of its clock, which is a fraction of array
cycles; a word that TLAST ends may be shorter. It enters a FIFO between the two clocks, if that has room for
it; from there its 32-bit words enter a slave port one a cycle, while the port has room. From a master port
they leave one a cycle too, but the last one of each PLIO word only when a period has passed since the last
PLIO word before. A PLIO word that is held up moves all later ones on: how the two clocks stand to each other
is not modelled (DEV-ADF-54). In AIE-ML v2 it is one word a cycle too (DEV-ADF-55).
"""

from __future__ import annotations

from memtile.arch.tiles import WORD_BYTES
from memtile.jit.decorators import inlined, jit
from memtile.jit.host_words import byte_at, word_at
from memtile.model.state.state import State
from memtile.model.state.streams import PAIR, TLAST
from memtile.model.streams.switch_ports import has_room, push


@inlined
def put_off(st: State, port: int, periods: int) -> None:
    """The next word of the PLIO is due so many periods of its clock later."""
    logic = st.logic
    passed = logic.carry[port] + periods * logic.cycles[port]
    logic.due[port] += passed // logic.ticks[port]
    logic.carry[port] = passed % logic.ticks[port]


@inlined
def stall(st: State, port: int) -> None:
    """A source is at the beginning of a word of the PLIO: periods without one may come before it."""
    logic = st.logic
    at = logic.place[port] + logic.stored[port]
    if logic.stalls_at[port] != 0 and at < logic.end[port]:
        put_off(st, port, word_at(logic.stalls_at[port] + at * WORD_BYTES))


@inlined
def next_word(st: State, port: int) -> None:
    """A word of the PLIO begins or is complete in this cycle: set when the next one may."""
    st.logic.due[port] = st.clock.now[0]
    put_off(st, port, 1)
    st.logic.beats[port] += 1


@inlined
def flag_of(st: State, port: int, place: int) -> int:
    """TLAST of a word of a source."""
    flags = st.logic.flags_at[port]
    return int(byte_at(flags + place)) if flags != 0 else 0


@inlined
def may_cross(st: State, port: int) -> bool:
    """Whether the next PLIO word of a source is due, and its FIFO has room."""
    logic, now = st.logic, st.clock.now[0]
    if logic.filled[port] == 0 and now < logic.due[port]:
        st.clock.activity[0] = 1  # only time separates the word from its move
        return False
    return bool(logic.filled[port] > 0 or logic.stored[port] + logic.words[port] <= logic.depth[port])


@inlined
def cross(st: State, port: int) -> None:
    """Let the next PLIO word of a source enter its FIFO, as far as the source has it, if it may."""
    logic, now = st.logic, st.clock.now[0]
    if logic.place[port] + logic.stored[port] == logic.end[port] or not may_cross(st, port):
        return
    if logic.filled[port] == 0:
        logic.filled[port] = logic.words[port]
        logic.blocked[port] += now - logic.ready[port]
        next_word(st, port)
    while logic.filled[port] > 0 and logic.place[port] + logic.stored[port] < logic.end[port]:
        last = flag_of(st, port, logic.place[port] + logic.stored[port])
        logic.stored[port] += 1
        logic.filled[port] = 0 if last != 0 else logic.filled[port] - 1
    if logic.filled[port] == 0:
        stall(st, port)
    logic.ready[port] = max(now + 1, logic.due[port])


@jit
def offer_word(st: State, port: int) -> None:
    """One cycle of a source: a PLIO word may enter its FIFO, and the oldest word there its slave port."""
    logic = st.logic
    cross(st, port)
    if logic.stored[port] == 0 or not has_room(st, port):
        return
    at = logic.place[port]
    word = word_at(logic.words_at[port] + at * WORD_BYTES)
    push(st, port, word, flag_of(st, port, at) | st.switch.parity[port])
    logic.place[port] += 1
    logic.stored[port] -= 1
    logic.sent[port] += 1


@jit
def send(st: State) -> None:
    """One cycle of all sources that have words."""
    roster, kept = st.logic_sources, 0
    for slot in range(1, roster[0] + 1):
        port = roster[slot]
        offer_word(st, port)
        if st.logic.place[port] < st.logic.end[port]:
            kept += 1
            roster[kept] = port
        else:
            st.logic.sending[port] = 0
    roster[0] = kept


@inlined
def takes(st: State, port: int) -> bool:
    """Whether the programmable logic takes the word that a master port offers in this cycle."""
    logic = st.logic
    if logic.words[port] == 0 or st.clock.now[0] >= logic.due[port]:
        return True
    flags = st.switch.last[port, st.switch.head[port]]
    if logic.filled[port] + 1 < logic.words[port] and (flags & TLAST == 0 or flags & PAIR != 0):
        return True
    st.clock.activity[0] = 1
    return False


@inlined
def took(st: State, port: int, last: int) -> None:
    """A word left a master port for the programmable logic."""
    logic = st.logic
    if logic.words[port] == 0:
        return
    logic.sent[port] += 1
    logic.filled[port] += 1
    if last != 0 or logic.filled[port] == logic.words[port]:
        logic.filled[port] = 0
        next_word(st, port)
