"""Words that packets begin with: stream header, control header, task-complete token (AM020, mlir-aie).

All three carry odd parity over the whole word in bit 31. AM020's table of the stream header has no place for
the out-of-order BD id that it says is there; bits 10:5 are the only ones wide enough (DEV-PKT-2).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

from memtile.arch.registers import WORD_BITS, field_of, fields, packed
from memtile.arch.tiles import TILE_KINDS, Role, TileName

STREAM_HEADER = fields(
    "Parity 31, Column 27:21, Row 20:16, Packet_Type 14:12, Out_Of_Order_BD_ID 10:5, Stream_ID 4:0"
)
CONTROL_HEADER = fields("Parity 31, Response_ID 30:24, Operation 23:22, Beats 21:20, Address 19:0")
TOKEN = fields("Parity 31, Column 27:21, Row 20:16, Type 14:12, Actor_ID 11:8, Controller_ID 7:0")
TOKEN_TYPE = 6  # an actor id of 16 or more spills into its lowest bit


class PacketOperation(IntEnum):
    """What a control packet asks for."""

    WRITE = 0
    READ = 1
    WRITE_INCREMENT = 2
    BLOCK_WRITE = 3


# Actor ids of the token by role, S2MM channels before MM2S (mlir-aie; compute MM2S 1 follows from MM2S 0).
ACTORS: Mapping[Role, tuple[int, ...]] = MappingProxyType(
    {
        "memory": (1, 2, 3, 4, 5, 6, 16, 17, 18, 19, 20, 22),
        "compute": (0, 1, 6, 7),
        "interface": (0, 2, 6, 7),
    }
)


def _with_parity(word: int) -> int:
    return word | (1 - word.bit_count() % 2) << (WORD_BITS - 1)


def stream_header(
    stream: int, packet_type: int = 0, column: int = 0, row: int = 0, out_of_order: int = 0
) -> int:
    """The word that a packet begins with; odd parity."""
    word = packed(
        STREAM_HEADER,
        Stream_ID=stream,
        Packet_Type=packet_type,
        Column=column,
        Row=row,
        Out_Of_Order_BD_ID=out_of_order,
    )
    return _with_parity(word)


def is_stream_header(word: int) -> bool:
    """Whether a word may be a stream header: odd parity, and nothing in the bits that have no field."""
    known = sum(field.mask for field in STREAM_HEADER)
    return word.bit_count() % 2 == 1 and not word & ~known


def control_header(operation: PacketOperation, address: int, beats: int = 1, response: int = 0) -> int:
    """The second word of a control packet: ``beats`` words from byte ``address`` of the tile on."""
    word = packed(CONTROL_HEADER, Operation=operation, Address=address, Beats=beats - 1, Response_ID=response)
    return _with_parity(word)


def token(kind: TileName, channel: int, controller: int, column: int = 0, row: int = 0) -> int:
    """The task-complete token of ``channel``, S2MM channels counted before MM2S."""
    actor = ACTORS[TILE_KINDS[kind].role][channel] << field_of(TOKEN, "Actor_ID").lsb
    base = TOKEN_TYPE << field_of(TOKEN, "Type").lsb
    place = (column << field_of(TOKEN, "Column").lsb) | (row << field_of(TOKEN, "Row").lsb)
    return _with_parity(base | actor | place | controller)
