"""Buffer-descriptor register layouts of the tile kinds, bit exact (AM025 and AM029, DMA_BDn_w registers).

A field is described once: its name in AM025 spelling, the word and bits that hold it (low part first when it
is split) and how a logical value becomes register bits. Encoder, decoder, legality checks, documentation and
the cycle engine all read this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType


class Encoding(IntEnum):
    """How a logical value is stored."""

    AS_IS = 0
    MINUS_ONE = 1  # steps, iteration step and wrap: value - 1
    SIGNED = 2  # lock operands: two's complement


@dataclass(frozen=True, slots=True)
class BdField:
    """One field of a buffer descriptor.

    Attributes:
        name: AM025 field name, e.g. ``"D0_Stepsize"``.
        parts: ``(word, msb, lsb)`` for each register part, least significant part first.
        encoding: how the logical value is stored.
        registers: what the register reference calls each part, where that is not ``name``.
        codes: logical value of each code, where the field stores a code.
    """

    name: str
    parts: tuple[tuple[int, int, int], ...]
    encoding: Encoding = Encoding.AS_IS
    registers: tuple[str, ...] = ()
    codes: tuple[int, ...] = ()

    @property
    def bits(self) -> int:
        """Total width in bits."""
        return sum(msb - lsb + 1 for _, msb, lsb in self.parts)

    @property
    def minimum(self) -> int:
        """Smallest logical value the field can hold."""
        if self.encoding is Encoding.SIGNED:
            return -(1 << (self.bits - 1))
        return 1 if self.encoding is Encoding.MINUS_ONE else 0

    @property
    def maximum(self) -> int:
        """Largest logical value the field can hold."""
        if self.encoding is Encoding.SIGNED:
            return (1 << (self.bits - 1)) - 1
        return (1 << self.bits) - (0 if self.encoding is Encoding.MINUS_ONE else 1)


BURST_BYTES = (64, 128, 256)  # Burst_Length codes 0, 1, 2; code 3 is undefined (AM025)
BURST_BYTES_2P = (*BURST_BYTES, 512)  # AIE2P (driver: bursts of 32 beats; mlir-aie: code 3)
BURST_BYTES_V2 = BURST_BYTES_2P  # AM027 has bursts of 512 bytes; code 3 is inferred (DEV-V2-4)

_S, _M = Encoding.SIGNED, Encoding.MINUS_ONE

_Row = tuple[str, int, int, int] | tuple[str, int, int, int, Encoding]


def _layout(*rows: _Row, special: tuple[BdField, ...] = ()) -> Mapping[str, BdField]:
    fields = {
        r[0]: BdField(r[0], ((r[1], r[2], r[3]),), r[4] if len(r) == 5 else Encoding.AS_IS) for r in rows
    }
    return MappingProxyType(fields | {f.name: f for f in special})


# Word 5 of the compute tile and word 7 of the interface tile are the same word.
def _control_word(word: int) -> tuple[_Row, ...]:
    return (
        ("TLAST_Suppress", word, 31, 31),
        ("Next_BD", word, 30, 27),
        ("Use_Next_BD", word, 26, 26),
        ("Valid_BD", word, 25, 25),
        ("Lock_Rel_Value", word, 24, 18, _S),
        ("Lock_Rel_ID", word, 16, 13),
        ("Lock_Acq_Enable", word, 12, 12),
        ("Lock_Acq_Value", word, 11, 5, _S),
        ("Lock_Acq_ID", word, 3, 0),
    )


MEMORY_BD = _layout(
    ("Enable_Packet", 0, 31, 31),
    ("Packet_Type", 0, 30, 28),
    ("Packet_ID", 0, 27, 23),
    ("Out_Of_Order_BD_ID", 0, 22, 17),
    ("Buffer_Length", 0, 16, 0),
    ("D0_Zero_Before", 1, 31, 26),
    ("Next_BD", 1, 25, 20),
    ("Use_Next_BD", 1, 19, 19),
    ("Base_Address", 1, 18, 0),
    ("TLAST_Suppress", 2, 31, 31),
    ("D0_Wrap", 2, 26, 17),
    ("D0_Stepsize", 2, 16, 0, _M),
    ("D1_Zero_Before", 3, 31, 27),
    ("D1_Wrap", 3, 26, 17),
    ("D1_Stepsize", 3, 16, 0, _M),
    ("Enable_Compression", 4, 31, 31),
    ("D2_Zero_Before", 4, 30, 27),
    ("D2_Wrap", 4, 26, 17),
    ("D2_Stepsize", 4, 16, 0, _M),
    ("D2_Zero_After", 5, 31, 28),
    ("D1_Zero_After", 5, 27, 23),
    ("D0_Zero_After", 5, 22, 17),
    ("D3_Stepsize", 5, 16, 0, _M),
    ("Iteration_Current", 6, 28, 23),
    ("Iteration_Wrap", 6, 22, 17, _M),
    ("Iteration_Stepsize", 6, 16, 0, _M),
    ("Valid_BD", 7, 31, 31),
    ("Lock_Rel_Value", 7, 30, 24, _S),
    ("Lock_Rel_ID", 7, 23, 16),
    ("Lock_Acq_Enable", 7, 15, 15),
    ("Lock_Acq_Value", 7, 14, 8, _S),
    ("Lock_Acq_ID", 7, 7, 0),
)

COMPUTE_BD = _layout(
    ("Base_Address", 0, 27, 14),
    ("Buffer_Length", 0, 13, 0),
    ("Enable_Compression", 1, 31, 31),
    ("Enable_Packet", 1, 30, 30),
    ("Out_Of_Order_BD_ID", 1, 29, 24),
    ("Packet_ID", 1, 23, 19),
    ("Packet_Type", 1, 18, 16),
    ("D1_Stepsize", 2, 25, 13, _M),
    ("D0_Stepsize", 2, 12, 0, _M),
    ("D1_Wrap", 3, 28, 21),
    ("D0_Wrap", 3, 20, 13),
    ("D2_Stepsize", 3, 12, 0, _M),
    ("Iteration_Current", 4, 24, 19),
    ("Iteration_Wrap", 4, 18, 13, _M),
    ("Iteration_Stepsize", 4, 12, 0, _M),
    *_control_word(5),
)

INTERFACE_BD = _layout(
    ("Buffer_Length", 0, 31, 0),
    ("Enable_Packet", 2, 30, 30),
    ("Out_Of_Order_BD_ID", 2, 29, 24),
    ("Packet_ID", 2, 23, 19),
    ("Packet_Type", 2, 18, 16),
    ("Secure_Access", 3, 30, 30),
    ("D0_Wrap", 3, 29, 20),
    ("D0_Stepsize", 3, 19, 0, _M),
    ("D1_Wrap", 4, 29, 20),
    ("D1_Stepsize", 4, 19, 0, _M),
    ("SMID", 5, 31, 28),
    ("AxCache", 5, 27, 24),
    ("AxQoS", 5, 23, 20),
    ("D2_Stepsize", 5, 19, 0, _M),
    ("Iteration_Current", 6, 31, 26),
    ("Iteration_Wrap", 6, 25, 20, _M),
    ("Iteration_Stepsize", 6, 19, 0, _M),
    *_control_word(7),
    special=(
        BdField(  # byte address 47:2, so a word address
            "Base_Address", ((1, 31, 2), (2, 15, 0)), registers=("Base_Address_Low", "Base_Address_High")
        ),
        BdField("Burst_Length", ((4, 31, 30),), codes=BURST_BYTES),
    ),
)


# AIE2P (driver) and AIE-ML v2 (AM027, AM029). Fields keep the names of AM025, so that one word means one
# thing everywhere; what the driver's registers and AM029 call their parts stands in ``registers``.


def _pad_field(name: str, *parts: tuple[int, int, int]) -> BdField:
    manual = name.replace("Zero", "Pad")
    return BdField(name, parts, registers=(manual, f"{manual}_High")[: len(parts)])


_PADS = (
    "D0_Zero_Before",
    "D1_Zero_Before",
    "D2_Zero_Before",
    "D0_Zero_After",
    "D1_Zero_After",
    "D2_Zero_After",
)
MEMORY_BD_2P: Mapping[str, BdField] = MappingProxyType(
    {**MEMORY_BD} | {name: _pad_field(name, *MEMORY_BD[name].parts) for name in _PADS}
)
INTERFACE_BD_2P: Mapping[str, BdField] = MappingProxyType(
    {**INTERFACE_BD, "Burst_Length": BdField("Burst_Length", ((4, 31, 30),), codes=BURST_BYTES_2P)}
)
_PADS_V2 = (
    _pad_field("D0_Zero_Before", (1, 31, 26)),
    _pad_field("D1_Zero_Before", (3, 31, 27), (2, 27, 27)),
    _pad_field("D2_Zero_Before", (4, 30, 27), (2, 29, 28)),
    _pad_field("D0_Zero_After", (5, 22, 17)),
    _pad_field("D1_Zero_After", (5, 27, 23), (6, 29, 29)),
    _pad_field("D2_Zero_After", (5, 31, 28), (6, 31, 30)),
)
MEMORY_BD_V2: Mapping[str, BdField] = MappingProxyType(
    {
        **MEMORY_BD,
        **{field.name: field for field in _PADS_V2},
        "D3_Stepsize_Zero": BdField("D3_Stepsize_Zero", ((2, 30, 30),)),
    }
)
INTERFACE_BD_V2: Mapping[str, BdField] = MappingProxyType(
    {name: field for name, field in INTERFACE_BD.items() if name != "SMID"}  # a register of its own in v2
    | {"Burst_Length": BdField("Burst_Length", ((4, 31, 30),), codes=BURST_BYTES_V2)}
)
