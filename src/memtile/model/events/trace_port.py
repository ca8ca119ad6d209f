"""From the trace unit into the stream switch: whole packets, a word a cycle, with back-pressure.

A packet is a stream header with the packet type and id of Trace_Control1, then seven words of frames, their
bytes from the most significant on; TLAST on the last. In a model without switches the host takes the words.
"""

from __future__ import annotations

from memtile.arch.packets import STREAM_HEADER
from memtile.arch.register_map import register_named
from memtile.arch.registers import field_of
from memtile.arch.tiles import WORD_BYTES
from memtile.arch.trace import PACKET_WORDS
from memtile.jit.decorators import jit
from memtile.model.state.state import State
from memtile.model.streams.host_ports import sent
from memtile.model.streams.packets import header_at

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
