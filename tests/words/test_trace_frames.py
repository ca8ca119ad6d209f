"""Are the frames of the trace unit those of the published table, and told apart by their leading bits?"""

from __future__ import annotations

import pytest

from memtile.arch.events import EVENT_UNITS
from memtile.arch.register_map import register_named
from memtile.arch.tiles import WORD_BYTES
from memtile.arch.trace_facts import (
    EVENT_REGISTERS,
    FRAMES,
    MODULES,
    PACKET_WORDS,
    PAYLOAD_BYTES,
    SLOTS,
    SYNC_CYCLES,
    PacketType,
)

# E = slot, M = mask, T = cycles, R = repeats, V = timer; x = any
TABLE = {
    "Single0": "0EEETTTT",
    "Single1": "100EEE" + 10 * "T",
    "Single2": "101EEE" + 18 * "T",
    "Multiple0": "1100" + 8 * "M" + 4 * "T",
    "Multiple1": "110100" + 8 * "M" + 10 * "T",
    "Multiple2": "110101" + 8 * "M" + 18 * "T",
    "Repeat0": "1110RRRR",
    "Repeat1": "110110" + 10 * "R",
    "Start": "11110000" + 56 * "V",
    "Start_PC": "11110001" + 56 * "V",
    "Stop": "110111" + 26 * "x",
    "Sync": "11111111",
    "Filler": "11111110",
}


def bits(frame):
    operand = {"slot": "E", "mask": "M", "none": ""}[frame.operand] * frame.operand_bits
    letter = {"Repeat": "R", "Start": "V", "Stop": "x"}.get(frame.name.rstrip("01").removesuffix("_PC"), "T")
    return f"{frame.opcode:0{frame.opcode_bits}b}{operand}{letter * frame.number_bits}"


def test_frames_are_those_of_the_table():
    assert {frame.name: bits(frame) for frame in FRAMES} == TABLE
    assert {frame.name: 8 * frame.bytes for frame in FRAMES} == {n: len(row) for n, row in TABLE.items()}


def test_every_first_byte_begins_one_frame_at_most():
    def matches(byte):
        return [f.name for f in FRAMES if byte >> (8 - f.opcode_bits) == f.opcode]

    assert {byte for byte in range(256) if len(matches(byte)) != 1} == set(range(0xF2, 0xFE))
    assert not [byte for byte in range(256) if len(matches(byte)) > 1]


def test_frames_lie_within_a_word_but_for_start():
    assert {f.name for f in FRAMES if f.bytes > WORD_BYTES} == {"Start", "Start_PC"}


def test_packets_and_sync():
    assert (PACKET_WORDS, PAYLOAD_BYTES, SYNC_CYCLES) == (8, 28, 1 << 18)
    assert [int(t) for t in PacketType] == [0, 1, 2, 3]


@pytest.mark.parametrize("module", MODULES.values())
def test_every_traced_module_has_eight_slots(module):
    registers = [register_named(module, name) for name in EVENT_REGISTERS]
    assert sum(len(register.fields) for register in registers) == SLOTS
    assert {field.lsb for register in registers for field in register.fields} == {0, 8, 16, 24}
    assert all(f.maximum >> EVENT_UNITS[module].number_bits == 0 for r in registers for f in r.fields)
