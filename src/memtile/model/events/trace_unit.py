"""The trace unit in event-time mode: what is asserted, as frames in packets of eight words (AM020 trace).

The start event puts a frame with the timer value; from the next cycle on each cycle with a traced event is a
frame or a repeat of the last one, until the stop event. One packet is filled while the one before it is sent;
when both are full, records are lost until the unit can begin anew (DEV-TRACE-2). Frames: arch.trace.

It also has the way from the trace unit into the stream switch: packets, a word a cycle, with back-pressure.

A packet is a stream header with the packet type and id of Trace_Control1, then seven words of frames, their
bytes from the most significant on; TLAST on the last. In a model without switches the host takes the words.
"""

from __future__ import annotations

from memtile.arch.packets import STREAM_HEADER
from memtile.arch.register_map import register_named
from memtile.arch.registers import WORD_BITS, field_of
from memtile.arch.tiles import WORD_BYTES
from memtile.arch.trace_facts import (
    FILLER,
    MULTIPLE0,
    MULTIPLE1,
    MULTIPLE2,
    PACKET_WORDS,
    PAYLOAD_BYTES,
    REPEAT0,
    REPEAT1,
    SINGLE0,
    SINGLE1,
    SINGLE2,
    SLOTS,
    START,
    STOP,
    SYNC,
    SYNC_CYCLES,
    TraceState,
)
from memtile.jit.decorators import jit
from memtile.model.events.asserted import asserted
from memtile.model.state.columns import NEVER
from memtile.model.state.state import State
from memtile.model.streams.host_ports import sent
from memtile.model.streams.packet_flow import header_at

_CONTROL = register_named("memory_tile", "Trace_Control1")
_TYPE, _ID = _CONTROL.field("Packet_Type"), _CONTROL.field("ID")
_TYPE_LSB, _TYPE_MAX, _ID_LSB, _ID_MAX = _TYPE.lsb, _TYPE.maximum, _ID.lsb, _ID.maximum
_HEADER_TYPE = field_of(STREAM_HEADER, "Packet_Type").lsb
_BYTE_BITS = 8


@jit
def header(st: State, unit: int) -> int:
    """The stream header of the unit's packets."""
    control = st.registers[st.spec.event_units.trace_control[unit] + 1]
    kind, stream = (control >> _TYPE_LSB) & _TYPE_MAX, (control >> _ID_LSB) & _ID_MAX
    return header_at(st.spec, st.spec.event_units.tile[unit], (kind << _HEADER_TYPE) | stream)


@jit
def hand_over(st: State, unit: int) -> None:
    """Move the full packet to where it is sent from, if that is free."""
    t = st.traces
    if t.full[unit] == 0 or t.left[unit] > 0:
        return
    t.out[unit, 0] = header(st, unit)
    for n in range(1, PACKET_WORDS):
        word = 0
        for byte in range((n - 1) * WORD_BYTES, n * WORD_BYTES):
            word = (word << _BYTE_BITS) | t.payload[unit, byte]
        t.out[unit, n] = word
    t.left[unit] = PACKET_WORDS
    t.full[unit] = 0
    t.used[unit] = 0


@jit
def send(st: State, unit: int) -> None:
    """Move one word to the switch, or to the host, if it is taken."""
    t = st.traces
    if t.left[unit] == 0:
        return
    port = st.spec.event_units.trace_port[unit]
    word, last = t.out[unit, PACKET_WORDS - t.left[unit]], 1 if t.left[unit] == 1 else 0
    if sent(st, port, word, last):
        t.left[unit] -= 1
        hand_over(st, unit)


_BYTE_MAX = (1 << _BYTE_BITS) - 1
_FILLER, _SYNC, _STOP = FILLER.base, SYNC.base, STOP.base
_START = START.base - (1 << 2 * WORD_BITS)  # its eight bytes as a signed number
_STOP_BYTES, _START_BYTES = STOP.bytes, START.bytes
_SINGLE_BASE = (SINGLE0.base, SINGLE1.base, SINGLE2.base)
_MULTIPLE_BASE = (MULTIPLE0.base, MULTIPLE1.base, MULTIPLE2.base)
_NUMBER_BITS = (SINGLE0.number_bits, SINGLE1.number_bits, SINGLE2.number_bits)
_SINGLE_BYTES, _MULTIPLE_BYTES = SINGLE0.bytes, MULTIPLE0.bytes  # and one more for each longer number
_REPEAT0, _REPEAT1 = REPEAT0.base, REPEAT1.base
_REPEAT0_MAX, _REPEAT1_MAX = REPEAT0.most, REPEAT1.most
_REPEAT0_BYTES, _REPEAT1_BYTES = REPEAT0.bytes, REPEAT1.bytes


@jit
def put_byte(st: State, unit: int, byte: int) -> None:
    """Append a byte to the packet; a full one is handed over or waits, and then what comes is lost."""
    t = st.traces
    if t.full[unit] == 1:
        t.state[unit] = TraceState.OVERRUN
        return
    t.payload[unit, t.used[unit]] = byte
    t.used[unit] += 1
    if t.used[unit] == PAYLOAD_BYTES:
        t.full[unit] = 1
        hand_over(st, unit)


@jit
def put_frame(st: State, unit: int, frame: int, length: int) -> None:
    """Append a frame of ``length`` bytes; one of up to a word does not cross a word boundary."""
    room = WORD_BYTES - st.traces.used[unit] % WORD_BYTES
    if room < min(length, WORD_BYTES):
        for _ in range(room):
            put_byte(st, unit, _FILLER)
    for n in range(length - 1, -1, -1):
        put_byte(st, unit, (frame >> (n * _BYTE_BITS)) & _BYTE_MAX)


@jit
def put_event(st: State, unit: int, mask: int, delta: int) -> None:
    """A frame that says: nothing for ``delta`` cycles, then the slots in ``mask``."""
    size = 0
    while delta >> _NUMBER_BITS[size]:
        size += 1
    if mask & (mask - 1):
        put_frame(
            st,
            unit,
            _MULTIPLE_BASE[size] | (mask << _NUMBER_BITS[size]) | delta,
            _MULTIPLE_BYTES + size,
        )
        return
    slot = 0
    while mask >> (slot + 1):
        slot += 1
    put_frame(st, unit, _SINGLE_BASE[size] | (slot << _NUMBER_BITS[size]) | delta, _SINGLE_BYTES + size)


@jit
def put_repeats(st: State, unit: int) -> None:
    """Write down the repeats of the last frame that are pending."""
    count = st.traces.repeats[unit]
    st.traces.repeats[unit] = 0
    if count > _REPEAT0_MAX:
        put_frame(st, unit, _REPEAT1 | count, _REPEAT1_BYTES)
    elif count > 0:
        put_frame(st, unit, _REPEAT0 | count, _REPEAT0_BYTES)


@jit
def frames_that_fit(st: State, unit: int) -> int:
    """How many frames with the most repeats the packet takes and is not full then."""
    used, count = st.traces.used[unit], 0
    while True:
        if WORD_BYTES - used % WORD_BYTES < _REPEAT1_BYTES:
            used += WORD_BYTES - used % WORD_BYTES
        used += _REPEAT1_BYTES
        if used >= PAYLOAD_BYTES:
            return count
        count += 1


@jit
def repeats_to_come(st: State, unit: int) -> int:
    """Repeats of the last frame after which a byte fills the packet, if nothing else comes."""
    return int((frames_that_fit(st, unit) + 1) * _REPEAT1_MAX - st.traces.repeats[unit])


@jit
def put_full_repeats(st: State, unit: int) -> None:
    """Write down the repeats that frames with the most of them hold; the others stay pending."""
    t = st.traces
    count = t.repeats[unit]
    while count >= _REPEAT1_MAX:
        t.repeats[unit] = _REPEAT1_MAX
        put_repeats(st, unit)
        count -= _REPEAT1_MAX
    t.repeats[unit] = count


@jit
def record(st: State, unit: int, mask: int) -> None:
    """Record the events that are asserted in this cycle, a bit mask of slots."""
    t = st.traces
    if mask == 0:
        t.gap[unit] += 1
        if t.gap[unit] == SYNC_CYCLES:
            put_repeats(st, unit)
            put_frame(st, unit, _SYNC, 1)
            t.gap[unit] = 0
            t.mask[unit] = 0
        return
    delta = t.gap[unit]
    t.gap[unit] = 0
    if mask == t.mask[unit] and delta == t.delta[unit]:
        t.repeats[unit] += 1
        if t.repeats[unit] == _REPEAT1_MAX:
            put_repeats(st, unit)
        return
    put_repeats(st, unit)
    put_event(st, unit, mask, delta)
    t.mask[unit], t.delta[unit] = mask, delta


@jit
def begin(st: State, unit: int) -> None:
    """Write the timer value, before a reset in this cycle (DEV-TRACE-5); what follows counts from here."""
    t = st.traces
    t.state[unit] = TraceState.RUNNING
    t.gap[unit] = t.mask[unit] = t.delta[unit] = t.repeats[unit] = 0
    put_frame(st, unit, _START | (st.clock.now[0] - st.observers.timer_base[unit]), _START_BYTES)


@jit
def fill_up(st: State, unit: int) -> None:
    """Complete the packet."""
    while st.traces.used[unit] > 0 and st.traces.full[unit] == 0:
        put_byte(st, unit, _FILLER)


@jit
def end(st: State, unit: int) -> None:
    """Write what is pending and the last frame, and complete the packet."""
    t = st.traces
    if t.state[unit] == TraceState.OVERRUN and t.full[unit] == 0:
        begin(st, unit)
    put_repeats(st, unit)
    if PAYLOAD_BYTES - t.used[unit] < _STOP_BYTES:
        fill_up(st, unit)
    if t.full[unit] == 1:
        return  # again when the packet is handed over
    put_frame(st, unit, _STOP, _STOP_BYTES)
    fill_up(st, unit)
    t.state[unit] = TraceState.IDLE
    t.stopping[unit] = 0


@jit
def asserted_slots(st: State, unit: int) -> int:
    """The traced events that are asserted in this cycle, as a bit mask."""
    mask = 0
    for n in range(SLOTS):
        slot = st.traces.slot[unit, n]
        if slot > 0 and asserted(st, unit, slot):
            mask |= 1 << n
    return mask


@jit
def go_on(st: State, unit: int) -> None:
    """One cycle of a unit that has started."""
    t = st.traces
    if t.stopping[unit] == 1 or asserted(st, unit, t.stop[unit]):
        t.stopping[unit] = 1
        end(st, unit)
    elif t.state[unit] == TraceState.RUNNING:
        record(st, unit, asserted_slots(st, unit))
    else:
        t.lost[unit] += 1
    if t.state[unit] == TraceState.OVERRUN and t.full[unit] == 0:
        begin(st, unit)


@jit
def step(st: State, unit: int) -> None:
    """One cycle: send a word, then start, record or stop."""
    send(st, unit)
    if st.traces.state[unit] != TraceState.IDLE:
        go_on(st, unit)
    elif asserted(st, unit, st.traces.start[unit]):
        begin(st, unit)


@jit
def next_record(st: State, unit: int) -> int:
    """The cycle before which the clock must not jump: while an event is held, this one; or -1."""
    t, now = st.traces, st.clock.now[0]
    if t.state[unit] == TraceState.IDLE:
        return NEVER
    if t.state[unit] == TraceState.OVERRUN or t.gap[unit] == 0:
        return int(now)
    return int(now + SYNC_CYCLES - 1 - t.gap[unit])


@jit
def skip(st: State, unit: int, cycles: int) -> None:
    """Nothing was asserted for so many cycles."""
    if st.traces.state[unit] == TraceState.RUNNING:
        st.traces.gap[unit] += cycles
