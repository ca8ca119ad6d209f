"""The register maps of AIE2P, told as what the driver's register header of it changes in those of AIE-ML.

Wider banks and ports show in the data memory, the watchpoints, the check bits and the parity of switches; the
isolation of tiles has other places, the memory tile a value for its padding. All else has the same place, the
same fields and the same reset; ``noc`` is the same as a whole (DEV-AIE2P-1). AIE-ML v2 shares these changes.

It also has the register file of an AIE2P core, in module ``core`` (driver's register header of AIE2P).

Accumulators have four parts where those of AIE-ML have two, a core has registers ``E`` of 64 bits, and the
scalar ones stand elsewhere. The function of the driver that clears a partition has yet other places, between
0x30C00 and 0x31000, than its header: what neither names there answers, and reads 0 (DEV-AIE2P-5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from memtile.arch import compute_registers, interface_registers, memory_tile_registers
from memtile.arch.core_registers import (
    FLAGS,
    MODE,
    POINTER,
    SHIFT,
    STRIDE,
    VECTOR,
    WORD,
    kept,
    modifiers,
    vectors,
)
from memtile.arch.grades import Grade
from memtile.arch.registers import Access, Acts, Field, Register, Table, array, fields, flags
from memtile.arch.tiles import COMPUTE_2P, MEMORY_2P, TileKind

_CLEARED = range(0x30C00, 0x31000)  # by the driver, in words
_QUARTERS, _ACCUMULATORS, _PARTS = ("LL", "LH", "HL", "HH"), 5, 4
_WIDE = "Register_Value 63:0"
_SIGNS = ("SRS_Sign", "UPS_Sign", "Pack_Sign", "Unpack_Sign", "Vadd_Sign")
_SIGNED = 0x2AA  # the second sign of each of them
_NOT_HERE = ("Compression_Underflow",)


def register_file() -> tuple[Register, ...]:
    """Accumulators, vectors, scalars, address registers and the special ones, and the places between."""
    named = (
        *_accumulators(),
        *vectors(),
        *kept("Core_Q{}", 0x30C00, VECTOR, 4),
        *kept("Core_E{}", 0x30D00, _WIDE, 12),
        *_special(),
        *kept("Core_R{}", 0x31000, WORD, 32),
        *modifiers(0x31200),
        *kept("Core_S{}", 0x31480, SHIFT, 4),
    )
    return (*named, *_between(named))


def _accumulators() -> Iterator[Register]:
    for n in range(_ACCUMULATORS):
        for k, quarter in enumerate(_QUARTERS):
            base = 0x30000 + (len(_QUARTERS) * n + k) * _PARTS * STRIDE
            for part in range(_PARTS):
                yield from kept(f"Core_BM{quarter}{n}_Part{part + 1}", base + part * STRIDE, VECTOR, 1)


def _special() -> Iterator[Register]:
    mode = tuple(f for f in fields(MODE) if f.name not in _SIGNS)
    sizes = fields("PackSize 31, UPS_Mode 30, SRS_Mode 29, UnpackSize 28")
    count = len(_SIGNS)
    signs = fields(
        ", ".join(f"{name}{k} {2 * (count - 1 - n) + k}" for n, name in enumerate(_SIGNS) for k in (1, 0))
    )
    flags = tuple(f for f in fields(FLAGS) if f.name not in _NOT_HERE)
    flags = (*fields("FIFO_Underflow 24, FIFO_Overflow 23"), *flags)
    rows = (
        ("PC", fields(POINTER), 0),
        ("FC", fields(POINTER, Access.RO), 0),
        ("SP", fields(POINTER), 0),
        ("LR", fields(POINTER), 0),
        ("LS", fields(POINTER), 0),
        ("LE", fields(POINTER), 0xFFFFF),
        ("LC", fields(WORD), 0),
        ("CR1", (*sizes, *mode), 0x1800),
        ("CR2", signs, _SIGNED),
        ("SR", flags, 0),
    )
    for n, (name, layout, reset) in enumerate(rows):
        yield Register(f"Core_{name}", 0x30E00 + n * STRIDE, layout, reset, acts=Acts.KEEPS)


def _between(named: tuple[Register, ...]) -> Iterator[Register]:
    """One window for each run of words that the driver clears and its header does not name."""
    taken = sorted((r.offset, r.offset + r.span) for r in named if r.offset in _CLEARED)
    start = _CLEARED.start
    for first, end in (*taken, (_CLEARED.stop, _CLEARED.stop)):
        if first > start:
            name = f"Core_{start:05X}"
            yield Register(name, start, (), span=first - start, grade=Grade.DRIVER, acts=Acts.KEEPS)
        start = end


_MEMORY_TILE_WATCHPOINT = """
    Read_Access 29, Write_Access 28, AXI_Access 27, DMA_Access 26, East_Access 25, West_Access 24,
    WriteStrobeMask 23:16, Address 13:0"""
_MEMORY_WATCHPOINT = """
    Read_Access 31, Write_Access 30, AXI_Access 29, DMA_Access 28, East_Access 27, North_Access 26,
    West_Access 25, South_Access 24, WriteStrobeMask 23:16, Address 10:0"""
_TILE_CONTROL = {"memory_tile": 0xFFF20, "core": 0x60020, "pl": 0xFFF40}
_UPPER_WORD = 16  # bits above those of a port's lower word in Parity_Injection
_CHECK_BITS = "CHECKBIT_ERROR_GENERATION"
_ERRORS = {"Decompression_underflow": "Sparsity_Overflow"}  # event 70 of the core


def memory_tile_table() -> Table:
    """All registers of the memory tile."""
    before = by_name(memory_tile_registers.table())
    return _known_from_driver(before, wide_memory_tile(before, MEMORY_2P), [_lanes(before, MEMORY_2P)])


def memory_table() -> Table:
    """All registers of the compute tile's module ``memory``."""
    before = by_name(compute_registers.memory_table())
    return _known_from_driver(before, wide_memory(before, COMPUTE_2P), [_lanes(before, COMPUTE_2P)])


def core_table() -> Table:
    """All registers of module ``core``, whose register file is another one."""
    before = by_name(compute_registers.core_table(register_file()))
    groups = [before[f"Event_Group_Errors{n}_Enable"] for n in range(2)]
    renamed = [
        replace(g, fields=tuple(replace(f, name=_ERRORS.get(f.name, f.name)) for f in g.fields))
        for g in groups
    ]
    return _known_from_driver(before, wide_switch(before, "core"), renamed)


def pl_table() -> Table:
    """All registers of the interface tile's module ``pl``."""
    before = by_name(interface_registers.pl_table())
    return _known_from_driver(before, wide_switch(before, "pl"))


def _known_from_driver(before: dict[str, Register], *after: Iterable[Register]) -> Table:
    return tuple(replace(register, grade=Grade.DRIVER) for register in changed(before, *after))


def by_name(table: Iterable[Register]) -> dict[str, Register]:
    """Registers by their names."""
    return {register.name: register for register in table}


def changed(before: dict[str, Register], *after: Iterable[Register]) -> Table:
    """The registers ``before``, those of the same name replaced, others added."""
    return tuple((before | {r.name: r for group in after for r in group}).values())


def wide_memory_tile(before: dict[str, Register], kind: TileKind) -> Iterator[Register]:
    """Changes of the memory tile's registers by 256-bit banks and 64-bit ports, and its padding value."""
    conflicts = before["Event_Group_Memory_Conflict_Enable"]
    pad = Register(
        "DMA_MM2S_{}_Constant_Pad_Value",
        kind.pad_value_base,
        fields("Constant_Pad_Value 31:0"),
    )
    yield from wide_switch(before, "memory_tile")
    yield _data_memory(kind)
    yield from _watchpoints(before, 4, _MEMORY_TILE_WATCHPOINT)
    yield replace(conflicts, fields=conflicts.fields[-kind.banks :], reset=(1 << kind.banks) - 1)
    yield from array(pad, kind.channels)


def wide_memory(before: dict[str, Register], kind: TileKind) -> Iterator[Register]:
    """Changes of the compute tile's module ``memory`` by 256-bit banks."""
    yield _data_memory(kind)
    yield from _watchpoints(before, 2, _MEMORY_WATCHPOINT)


def wide_switch(before: dict[str, Register], module: str) -> Iterator[Register]:
    """Where isolation is, and parity injection for the lower and the upper word of each 64-bit port."""
    yield replace(before["Tile_Control"], offset=_TILE_CONTROL[module])
    injection = before["Stream_Switch_Parity_Injection"]
    lower = [replace(f, name=f"{f.name}_lower") for f in injection.fields]
    upper = [
        Field(f"{f.name}_upper", f.msb + _UPPER_WORD, f.lsb + _UPPER_WORD, f.access) for f in injection.fields
    ]
    yield replace(injection, fields=(*upper, *lower))


def _data_memory(kind: TileKind) -> Register:
    bits = 8 * kind.granule_bytes
    return Register("DataMemory", 0, fields(f"Data {bits - 1}:0"), width=bits, span=kind.memory_bytes)


def _watchpoints(before: dict[str, Register], count: int, layout: str) -> Iterator[Register]:
    yield from array(replace(before["WatchPoint0"], name="WatchPoint{}", fields=fields(layout)), count)


def _lanes(before: dict[str, Register], kind: TileKind) -> Register:
    """Check-bit error generation for each 32-bit word of a granule."""
    return replace(before[_CHECK_BITS], fields=flags([f"LANE{n}" for n in range(kind.granule_words)]))
