"""Trace units: packets, frames of event-time mode, states (AM020 ch. 2 "Trace", AM025, mlir-aie's decoder).

A frame is, from its most significant bit on, an opcode, an operand (an event slot or a mask of slots) and a
number; whole bytes, most significant first. Bytes fill the payload words of a packet from the top.

A frame with mask M and delta T: nothing was asserted for T cycles, then M for one. A repeat frame with
number R: the frame before it, R more times. So equal masks in adjacent cycles are a frame with delta 0,
repeated. A sync frame lets ``SYNC_CYCLES`` cycles pass in which nothing was asserted (DEV-TRACE-3). A frame
of up to four bytes lies within one word, fillers see to it (AM020); START takes two words.

As captures show, the unit sends a repeat for a frame that equals the one before it, delta and all, a new
repeat when one is full, and STOP after what is pending, then fillers to the end of the packet. The cycle of
the start event is the timer value of START; its events, and those of the stop cycle, are not recorded. After
an overrun the unit begins anew with START (DEV-TRACE-2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Literal

from memtile.arch.grades import Grade, Source
from memtile.arch.registers import ModuleName
from memtile.arch.tiles import WORD_BYTES

PACKET_WORDS = 8
PAYLOAD_WORDS = PACKET_WORDS - 1  # after the stream header
PAYLOAD_BYTES = PAYLOAD_WORDS * WORD_BYTES
SLOTS = 8  # traced events of a unit
SLOT_BITS = 3
EVENT_REGISTERS = ("Trace_Event0", "Trace_Event1")  # four slots each, a byte per slot, the lowest byte first


class PacketType(IntEnum):
    """What ``Packet_Type`` of a trace unit says by convention of mlir-aie; software may choose another."""

    CORE = 0
    MEMORY = 1
    INTERFACE = 2
    MEMORY_TILE = 3


MODULES: Mapping[PacketType, ModuleName] = MappingProxyType(
    {
        PacketType.CORE: "core",
        PacketType.MEMORY: "memory",
        PacketType.INTERFACE: "pl",
        PacketType.MEMORY_TILE: "memory_tile",
    }
)


class TraceState(IntEnum):
    """Field ``State`` of ``Trace_Status`` (AM025)."""

    IDLE = 0
    RUNNING = 1
    OVERRUN = 3


@dataclass(frozen=True, slots=True)
class FrameFormat:
    """The bits of one kind of frame: ``opcode << shift | operand << number_bits | number``.

    Attributes:
        name: mlir-aie's name.
        opcode: its leading bits.
        opcode_bits: how many.
        operand: what follows the opcode.
        number_bits: width of the last field: a delta, a repeat count, a timer value; 0 = none.
        source: where the format comes from.
    """

    name: str
    opcode: int
    opcode_bits: int
    operand: Literal["slot", "mask", "none"]
    number_bits: int
    source: Source

    @property
    def operand_bits(self) -> int:
        """Width of the operand."""
        return {"slot": SLOT_BITS, "mask": SLOTS, "none": 0}[self.operand]

    @property
    def shift(self) -> int:
        """Bits below the opcode."""
        return self.operand_bits + self.number_bits

    @property
    def bytes(self) -> int:
        """Length of the frame."""
        return (self.opcode_bits + self.shift) // 8

    @property
    def most(self) -> int:
        """Largest number."""
        return (1 << self.number_bits) - 1

    @property
    def base(self) -> int:
        """The frame with operand and number 0."""
        return self.opcode << self.shift


_DECODER = Source("mlir-aie's decoder, captures of Phoenix", Grade.SILICON)
_STOP = Source("last frame of captures, all other bits 0 (DEV-TRACE-1)", Grade.ASSUMED)

SINGLE0 = FrameFormat("Single0", 0b0, 1, "slot", 4, _DECODER)
SINGLE1 = FrameFormat("Single1", 0b100, 3, "slot", 10, _DECODER)
SINGLE2 = FrameFormat("Single2", 0b101, 3, "slot", 18, _DECODER)
MULTIPLE0 = FrameFormat("Multiple0", 0b1100, 4, "mask", 4, _DECODER)
MULTIPLE1 = FrameFormat("Multiple1", 0b110100, 6, "mask", 10, _DECODER)
MULTIPLE2 = FrameFormat("Multiple2", 0b110101, 6, "mask", 18, _DECODER)
REPEAT0 = FrameFormat("Repeat0", 0b1110, 4, "none", 4, _DECODER)
REPEAT1 = FrameFormat("Repeat1", 0b110110, 6, "none", 10, _DECODER)
START = FrameFormat("Start", 0b11110000, 8, "none", 56, _DECODER)
START_PC = FrameFormat("Start_PC", 0b11110001, 8, "none", 56, _DECODER)  # the unit is in event-PC mode
STOP = FrameFormat("Stop", 0b110111, 6, "none", 26, _STOP)
SYNC = FrameFormat("Sync", 0b11111111, 8, "none", 0, _DECODER)
FILLER = FrameFormat("Filler", 0b11111110, 8, "none", 0, _DECODER)

SINGLES = (SINGLE0, SINGLE1, SINGLE2)
MULTIPLES = (MULTIPLE0, MULTIPLE1, MULTIPLE2)
REPEATS = (REPEAT0, REPEAT1)
FRAMES = (*SINGLES, *MULTIPLES, *REPEATS, START, START_PC, STOP, SYNC, FILLER)

SYNC_CYCLES = SINGLE2.most + 1  # 2^18: the delta has counted once through (mlir-aie PR 3668)
