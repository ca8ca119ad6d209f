"""Tile kinds of the generations and their limits (AM020, AM025, the driver; AM027 and AM029 for v2).

AIE2P is told as what the driver's tables of it change in those of AIE-ML: 256-bit banks, ports of two words,
the value of padding, longer bursts (DEV-AIE2P-1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, get_args

from memtile.arch.bd_layout import (
    COMPUTE_BD,
    INTERFACE_BD,
    INTERFACE_BD_2P,
    INTERFACE_BD_V2,
    MEMORY_BD,
    MEMORY_BD_2P,
    MEMORY_BD_V2,
    BdField,
)

Role = Literal["memory", "compute", "interface"]
TileName = Literal[
    "memory",
    "compute",
    "interface",
    "memory_2p",
    "compute_2p",
    "interface_2p",
    "memory_v2",
    "compute_v2",
    "interface_v2",
]
Generation = Literal["AIE-ML", "AIE2P", "AIE-ML v2"]
GENERATIONS: tuple[Generation, ...] = get_args(Generation)

WORD_BYTES = 4  # a stream word and the unit of descriptor addresses
GRANULE_WORDS = 4  # one 128-bit memory access of AIE-ML
COMPRESSED_GROUP_WORDS = 8  # compression works on 256-bit words (AM020)
TILE_BYTES = 1 << 20  # address space of a tile
COLUMN_SHIFT, ROW_SHIFT = 25, 20  # tile address = column << 25 | row << 20 | offset
S2MM, MM2S = 0, 1  # channel directions, in register order
DIRECTIONS = ("S2MM", "MM2S")  # their names


@dataclass(frozen=True, slots=True)
class TileKind:
    """Limits and register bases of a tile kind; addresses in bytes unless a name says words.

    Attributes:
        role: what the kind is, in whatever generation.
        dimensions: address-generation dimensions beside the iteration; the last has no wrap field.
        bd_banks: BDs a channel may use, by channel parity; a single entry serves all channels.
        memory_windows: DMA window name -> first byte, each ``memory_bytes`` long, in address order.
        lock_windows: DMA lock window name -> first lock id, each ``locks`` long.
        dma_address_words: words a DMA address may span before the walk leaves the address space.
        neighbour_channels: channels of each direction that reach the neighbours' windows.
        granule_bytes: what a bank reads or writes at once; consecutive ones lie in consecutive banks.
        stream_words: words that a stream port moves in a cycle.
        ecc_banks: banks from 0 on with error correction (ECC); the others have parity.
        pad_value_base: register with the value of MM2S channel 0's padding; 0 = padding is zeros.
        compression_known: whether the format of its compressed streams is public.
    """

    name: TileName
    role: Role
    title: str
    bd_fields: Mapping[str, BdField]
    bds: int
    bd_base: int
    bd_stride: int
    bd_words: int
    dimensions: int
    channels: int
    control_base: int
    queue_base: int
    channel_stride: int
    status_base: tuple[int, int]
    write_count_base: int
    count_pop_base: int
    bd_banks: tuple[tuple[int, int], ...]
    memory_bytes: int
    banks: int
    bank_bytes: int
    locks: int
    lock_value_base: int
    lock_request_base: int
    lock_event_base: int
    lock_event_selectors: int
    lock_overflow_base: int
    lock_underflow_base: int
    memory_windows: Mapping[str, int]
    lock_windows: Mapping[str, int]
    dma_address_words: int
    neighbour_channels: tuple[int, ...]
    has_padding: bool
    has_compression: bool
    has_channel_reset: bool
    axi_masters: int = (
        0  # 128-bit masters to external memory: one a direction, shared by its channels (AM020)
    )
    bank_group: int = 0  # banks that are interleaved with each other whatever the mode; 0 = chosen by mode
    queue_depth: int = 4  # AM020: "queue depth is four tasks per channel"
    max_repeat: int = 256
    lock_value_max: int = 63
    lock_value_stride: int = 16
    lock_request_stride: int = 0x400  # bytes per lock in the request window
    lock_request_acquire: int = 0x200  # address bit of an acquire; without it the read releases
    lock_request_value_lsb: int = 2  # the signed operand sits above the byte address of a word
    granule_bytes: int = 16
    stream_words: int = 1
    ecc_banks: int = 0
    pad_value_base: int = 0
    compression_known: bool = True
    generation: Generation = "AIE-ML"

    @property
    def granule_words(self) -> int:
        """Words of one memory access."""
        return self.granule_bytes // WORD_BYTES

    @property
    def memory_words(self) -> int:
        """Data memory in 32-bit words."""
        return self.memory_bytes // WORD_BYTES

    @property
    def ecc_words(self) -> int:
        """Words from 0 on with ECC."""
        return self.ecc_banks * self.bank_bytes // WORD_BYTES

    @property
    def own_window_words(self) -> int:
        """First word of the tile's own memory in the DMA address scheme."""
        return self.memory_windows["own"] // WORD_BYTES

    @property
    def lock_request_bytes(self) -> int:
        """Length of the lock request window."""
        return self.locks * self.lock_request_stride

    def bd_bank(self, channel: int) -> range:
        """BD numbers that channel ``channel`` of either direction may use (AM020: 24 of 48 per channel)."""
        first, last = self.bd_banks[channel % len(self.bd_banks)]
        return range(first, last + 1)

    def limits(self, name: str) -> tuple[int, int]:
        """Smallest and largest logical value of BD field ``name``; (0, 0) when the kind lacks it."""
        field = self.bd_fields.get(name)
        return (field.minimum, field.maximum) if field else (0, 0)


MEMORY = TileKind(
    name="memory",
    role="memory",
    title="memory tile",
    bd_fields=MEMORY_BD,
    bds=48,
    bd_base=0xA0000,
    bd_stride=0x20,
    bd_words=8,
    dimensions=4,
    channels=6,
    control_base=0xA0600,
    queue_base=0xA0604,
    channel_stride=8,
    status_base=(0xA0660, 0xA0680),
    write_count_base=0xA06B0,
    count_pop_base=0xA06C8,
    bd_banks=((0, 23), (24, 47)),
    memory_bytes=0x80000,
    banks=16,
    bank_bytes=0x8000,
    ecc_banks=16,
    locks=64,
    lock_value_base=0xC0000,
    lock_request_base=0xD0000,
    lock_event_base=0xC0400,
    lock_event_selectors=8,
    lock_overflow_base=0xC0420,
    lock_underflow_base=0xC0428,
    memory_windows=MappingProxyType({"west": 0x00000, "own": 0x80000, "east": 0x100000}),
    lock_windows=MappingProxyType({"west": 0, "own": 64, "east": 128}),
    dma_address_words=0x180000 // WORD_BYTES,
    neighbour_channels=(0, 1, 2, 3),
    has_padding=True,
    has_compression=True,
    has_channel_reset=True,
)

COMPUTE = TileKind(
    name="compute",
    role="compute",
    title="compute tile",
    bd_fields=COMPUTE_BD,
    bds=16,
    bd_base=0x1D000,
    bd_stride=0x20,
    bd_words=6,
    dimensions=3,
    channels=2,
    control_base=0x1DE00,
    queue_base=0x1DE04,
    channel_stride=8,
    status_base=(0x1DF00, 0x1DF10),
    write_count_base=0x1DF18,
    count_pop_base=0x1DF20,
    bd_banks=((0, 15),),
    memory_bytes=0x10000,
    banks=8,
    bank_bytes=0x2000,
    ecc_banks=2,
    bank_group=2,
    locks=16,
    lock_value_base=0x1F000,
    lock_request_base=0x40000,
    lock_event_base=0x1F100,
    lock_event_selectors=8,
    lock_overflow_base=0x1F120,
    lock_underflow_base=0x1F128,
    memory_windows=MappingProxyType({"own": 0}),
    lock_windows=MappingProxyType({"own": 0}),
    dma_address_words=0x10000 // WORD_BYTES,
    neighbour_channels=(),
    has_padding=False,
    has_compression=True,
    has_channel_reset=True,
)

INTERFACE = TileKind(
    name="interface",
    role="interface",
    title="interface tile",
    bd_fields=INTERFACE_BD,
    bds=16,
    bd_base=0x1D000,
    bd_stride=0x20,
    bd_words=8,
    dimensions=3,
    channels=2,
    control_base=0x1D200,
    queue_base=0x1D204,
    channel_stride=8,
    status_base=(0x1D220, 0x1D228),
    write_count_base=0x1D230,
    count_pop_base=0x1D238,
    bd_banks=((0, 15),),
    memory_bytes=0,
    banks=0,
    bank_bytes=0,
    locks=16,
    lock_value_base=0x14000,
    lock_request_base=0x40000,
    lock_event_base=0x14100,
    lock_event_selectors=6,
    lock_overflow_base=0x14120,
    lock_underflow_base=0x14128,
    memory_windows=MappingProxyType({"own": 0}),
    lock_windows=MappingProxyType({"own": 0}),
    dma_address_words=(1 << 48) // WORD_BYTES,
    neighbour_channels=(),
    has_padding=False,
    has_compression=False,
    has_channel_reset=False,
    axi_masters=2,
)

EXTERNAL_PAGE = 4096  # bytes; an AXI burst never crosses such a boundary (AMBA AXI), so buffers begin at one

# AIE2P and generation 2 move 64 bits per stream port and cycle, and 256 bits per memory access: the driver's
# registers of AIE2P (DEV-AIE2P-1), AM027. Their memory tiles have half as many banks, of twice the size.
_WIDE: dict[str, Any] = {"granule_bytes": 32, "stream_words": 2}
_WIDE_MEMORY: dict[str, Any] = {
    "banks": 8,
    "bank_bytes": 0x10000,
    "ecc_banks": 8,
    "pad_value_base": 0xA06E0,
    **_WIDE,
}
_2P: dict[str, Any] = {"generation": "AIE2P", "compression_known": False}  # DEV-AIE2P-3

MEMORY_2P = replace(
    MEMORY, name="memory_2p", title="AIE2P memory tile", bd_fields=MEMORY_BD_2P, **_WIDE_MEMORY, **_2P
)
COMPUTE_2P = replace(COMPUTE, name="compute_2p", title="AIE2P compute tile", **_WIDE, **_2P)
INTERFACE_2P = replace(
    INTERFACE,
    name="interface_2p",
    title="AIE2P interface tile",
    bd_fields=INTERFACE_BD_2P,
    stream_words=2,
    **_2P,
)

_V2: dict[str, Any] = {"generation": "AIE-ML v2"}

MEMORY_V2 = replace(
    MEMORY,
    name="memory_v2",
    title="AIE-ML v2 memory tile",
    bd_fields=MEMORY_BD_V2,
    **_WIDE_MEMORY,
    **_V2,
)
COMPUTE_V2 = replace(COMPUTE, name="compute_v2", title="AIE-ML v2 compute tile", **_WIDE, **_V2)
INTERFACE_V2 = replace(  # AM029 moves everything in module noc
    INTERFACE,
    name="interface_v2",
    title="AIE-ML v2 interface tile",
    bd_fields=INTERFACE_BD_V2,
    bd_base=0x9000,
    bd_stride=0x30,
    control_base=0x9300,
    queue_base=0x9304,
    status_base=(0x9320, 0x9328),
    write_count_base=0x9330,
    count_pop_base=0x9338,
    lock_value_base=0x0,
    lock_request_base=0xC000,
    lock_event_base=0x100,
    lock_overflow_base=0x120,
    lock_underflow_base=0x128,
    stream_words=2,
    **_V2,
)

_ALL = (
    *(MEMORY, COMPUTE, INTERFACE),
    *(MEMORY_2P, COMPUTE_2P, INTERFACE_2P),
    *(MEMORY_V2, COMPUTE_V2, INTERFACE_V2),
)
TILE_KINDS: Mapping[TileName, TileKind] = MappingProxyType({kind.name: kind for kind in _ALL})
MAX_DIMENSIONS = max(kind.dimensions for kind in _ALL)


def kinds_of(generation: Generation) -> Mapping[TileName, TileKind]:
    """The tile kinds of a generation by name."""
    return {name: kind for name, kind in TILE_KINDS.items() if kind.generation == generation}


@cache
def kind_of(generation: Generation, role: Role) -> TileKind:
    """The tile kind of a generation that has a role."""
    return next(kind for kind in TILE_KINDS.values() if (kind.generation, kind.role) == (generation, role))
