"""Reading descriptor fields from register words, by the layout tables of ``arch`` (AM025 DMA_BDn_w)."""

from __future__ import annotations

from memtile.arch.bd_layout import Encoding
from memtile.arch.tiles import TILE_KINDS
from memtile.jit.decorators import jit
from memtile.model.state.state import Spec, State

KIND_NAMES = tuple(TILE_KINDS)
FIELD_NAMES = tuple(dict.fromkeys(name for kind in TILE_KINDS.values() for name in kind.bd_fields))
MAX_PARTS = max(len(f.parts) for kind in TILE_KINDS.values() for f in kind.bd_fields.values())

WORD, LSB, BITS = range(3)  # entries of a row of Spec.bd_parts

BASE_ADDRESS = FIELD_NAMES.index("Base_Address")
BUFFER_LENGTH = FIELD_NAMES.index("Buffer_Length")
STEP = tuple(FIELD_NAMES.index(f"D{d}_Stepsize") for d in range(4))
STANDS_STILL = FIELD_NAMES.index("D3_Stepsize_Zero")
WRAP = tuple(FIELD_NAMES.index(f"D{d}_Wrap") for d in range(3))
BEFORE = tuple(FIELD_NAMES.index(f"D{d}_Zero_Before") for d in range(3))
AFTER = tuple(FIELD_NAMES.index(f"D{d}_Zero_After") for d in range(3))
ITERATION_CURRENT = FIELD_NAMES.index("Iteration_Current")
ITERATION_WRAP = FIELD_NAMES.index("Iteration_Wrap")
ITERATION_STEP = FIELD_NAMES.index("Iteration_Stepsize")
BURST_LENGTH = FIELD_NAMES.index("Burst_Length")
NEXT_BD = FIELD_NAMES.index("Next_BD")
USE_NEXT_BD = FIELD_NAMES.index("Use_Next_BD")
ENABLE_COMPRESSION = FIELD_NAMES.index("Enable_Compression")
VALID_BD = FIELD_NAMES.index("Valid_BD")
TLAST_SUPPRESS = FIELD_NAMES.index("TLAST_Suppress")
ENABLE_PACKET = FIELD_NAMES.index("Enable_Packet")
PACKET_TYPE = FIELD_NAMES.index("Packet_Type")
PACKET_ID = FIELD_NAMES.index("Packet_ID")
OUT_OF_ORDER = FIELD_NAMES.index("Out_Of_Order_BD_ID")
ACQUIRE_ENABLE = FIELD_NAMES.index("Lock_Acq_Enable")
ACQUIRE_ID = FIELD_NAMES.index("Lock_Acq_ID")
ACQUIRE_VALUE = FIELD_NAMES.index("Lock_Acq_Value")
RELEASE_ID = FIELD_NAMES.index("Lock_Rel_ID")
RELEASE_VALUE = FIELD_NAMES.index("Lock_Rel_Value")


@jit
def bd_register(spec: Spec, tile: int, bd: int) -> int:
    """Index into ``registers`` of word 0 of descriptor ``bd``."""
    kind = spec.tiles.kind[tile]
    return int(spec.tiles.register_base[tile] + spec.kinds.bd_register[kind] + bd * spec.kinds.bd_words[kind])


@jit
def read_field(st: State, tile: int, bd: int, field: int) -> int:
    """Logical value of a descriptor field; 0 where the tile kind lacks it."""
    kind, parts = st.spec.tiles.kind[tile], st.spec.bd_parts
    first = bd_register(st.spec, tile, bd)
    raw = 0
    shift = 0
    for part in range(parts.shape[2]):
        word, lsb = parts[kind, field, part, WORD], parts[kind, field, part, LSB]
        bits = parts[kind, field, part, BITS]
        raw |= ((st.registers[first + word] >> lsb) & ((1 << bits) - 1)) << shift
        shift += bits
    if shift == 0:
        return 0
    encoding = st.spec.bd_encoding[kind, field]
    if encoding == Encoding.MINUS_ONE:
        return int(raw + 1)
    if encoding == Encoding.SIGNED and (raw >> (shift - 1)) & 1:
        return int(raw - (1 << shift))
    return int(raw)


@jit
def iteration_register(spec: Spec, tile: int, bd: int) -> int:
    """Index into ``registers`` of the word with Iteration_Current."""
    return bd_register(spec, tile, bd) + int(spec.bd_parts[spec.tiles.kind[tile], ITERATION_CURRENT, 0, WORD])


@jit
def iterates(st: State, tile: int, bd: int) -> bool:
    """Whether loading the descriptor may change its Iteration_Current."""
    current, wrap = ITERATION_CURRENT, ITERATION_WRAP
    return read_field(st, tile, bd, current) != 0 or read_field(st, tile, bd, wrap) > 1


@jit
def write_field(st: State, tile: int, bd: int, field: int, value: int) -> None:
    """Store a raw (register-form) value into a descriptor field of one part."""
    kind, parts = st.spec.tiles.kind[tile], st.spec.bd_parts
    at, lsb = bd_register(st.spec, tile, bd) + parts[kind, field, 0, WORD], parts[kind, field, 0, LSB]
    mask = ((1 << parts[kind, field, 0, BITS]) - 1) << lsb
    st.registers[at] = (st.registers[at] & ~mask) | ((value << lsb) & mask)
