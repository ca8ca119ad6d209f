"""The register file of an AIE2P core, in module ``core`` (driver's register header of AIE2P).

Accumulators have four parts where those of AIE-ML have two, a core has registers ``E`` of 64 bits, and the
scalar ones stand elsewhere. The function of the driver that clears a partition has yet other places, between
0x30C00 and 0x31000, than its header: what neither names there answers, and reads 0 (DEV-AIE2P-5).
"""

from __future__ import annotations

from collections.abc import Iterator

from memtile.arch.acts import Acts
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
from memtile.arch.registers import Access, Register, fields

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
