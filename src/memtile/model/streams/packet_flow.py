"""Headers of packets as the hardware reads and makes them (AM020; layouts in ``arch.packets``)."""

from __future__ import annotations

from memtile.arch.packets import STREAM_HEADER
from memtile.arch.registers import WORD_BITS, field_of
from memtile.jit.decorators import jit
from memtile.model.dma import bd_fields as f
from memtile.model.state.state import Spec, State

_COLUMN = field_of(STREAM_HEADER, "Column").lsb
_ROW = field_of(STREAM_HEADER, "Row").lsb
_TYPE = field_of(STREAM_HEADER, "Packet_Type").lsb
_ORDER = field_of(STREAM_HEADER, "Out_Of_Order_BD_ID")
_ORDER_LSB, _ORDER_MASK = _ORDER.lsb, _ORDER.maximum
STREAM_MASK = field_of(STREAM_HEADER, "Stream_ID").mask
_PARITY = WORD_BITS - 1


@jit
def odd(word: int) -> bool:
    """Whether the word has odd parity, as every header must."""
    folded = word
    shift = WORD_BITS // 2
    while shift:
        folded ^= folded >> shift
        shift //= 2
    return bool(folded & 1)


@jit
def with_parity(word: int) -> int:
    """The word with its parity bit set so that the parity is odd."""
    return word if odd(word) else word | (1 << _PARITY)


@jit
def header_at(spec: Spec, tile: int, stream: int) -> int:
    """A stream header from ``tile``, packet type 0."""
    place = (spec.tiles.column[tile] << _COLUMN) | (spec.tiles.row[tile] << _ROW)
    return with_parity(int(place | stream))


@jit
def header_of(st: State, ch: int) -> int:
    """The stream header that the channel's descriptor asks for."""
    tile, fields = st.channels.tile[ch], st.fields
    word = (st.spec.tiles.column[tile] << _COLUMN) | (st.spec.tiles.row[tile] << _ROW)
    word |= fields[ch, f.PACKET_TYPE] << _TYPE
    word |= (fields[ch, f.OUT_OF_ORDER] & _ORDER_MASK) << _ORDER_LSB
    return with_parity(int(word | fields[ch, f.PACKET_ID]))


@jit
def out_of_order_bd(header: int) -> int:
    """The descriptor that a header names to an out-of-order channel (DEV-PKT-2)."""
    return (header >> _ORDER_LSB) & _ORDER_MASK
