"""DMA and lock registers, in the shape that all tile kinds share (AM025, modules memory_tile, memory, noc).

Bases, counts and descriptor bits come from :mod:`memtile.arch.tiles`; a tile kind's own table adds the field
lists in which the kinds differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from memtile.arch.registers import WORD_BITS, Access, Acts, Field, Register, array, fields, flags
from memtile.arch.tiles import DIRECTIONS, WORD_BYTES, TileKind


class FotMode(IntEnum):
    """``FoT_Mode`` of an S2MM channel: finish on TLAST, and what becomes of the counts of words (AM025)."""

    OFF = 0
    NO_COUNTS = 1
    WITH_TOKEN = 2
    BY_REGISTER = 3


@dataclass(frozen=True, slots=True)
class ChannelFields:
    """Field lists of a kind's channel registers, ``(S2MM, MM2S)`` where the directions differ."""

    control: tuple[str, str]
    status: tuple[str, str]
    queue: str
    queue_name: str
    write_count: str


def bd_registers(kind: TileKind, reserved: tuple[tuple[int, Field], ...] = ()) -> Iterator[Register]:
    """``DMA_BDn_w`` of all descriptors; ``reserved`` adds (word, field) pairs that AM025 names Reserved."""
    words: list[list[Field]] = [[] for _ in range(kind.bd_words)]
    for bd_field in kind.bd_fields.values():
        names = bd_field.registers or (bd_field.name,)
        for name, (word, msb, lsb) in zip(names, bd_field.parts, strict=True):
            words[word].append(Field(name, msb, lsb))
    for word, field in reserved:
        words[word].append(field)
    for word, members in enumerate(words):
        layout = tuple(sorted(members, key=lambda field: -field.lsb))
        first = Register(f"DMA_BD{{}}_{word}", kind.bd_base + word * WORD_BYTES, layout)
        yield from array(first, kind.bds, kind.bd_stride)


def channel_registers(kind: TileKind, lists: ChannelFields) -> Iterator[Register]:
    """Control, start queue and status of all channels; write count and count FIFO of the S2MM channels.

    The start queue is write only; reading the finish-on-TLAST count FIFO pops it. Control resets to 0, as in
    the driver's header (DEV-REG-8).
    """
    queue = fields(lists.queue, Access.WO)
    for direction, name in enumerate(DIRECTIONS):
        first = direction * kind.channels
        skipped = first * kind.channel_stride
        control = fields(lists.control[direction])
        status = fields(lists.status[direction], Access.RO)
        rows = (
            (f"DMA_{name}_{{}}_Ctrl", kind.control_base + skipped, control, Acts.CHANNEL_CONTROL),
            (f"DMA_{name}_{{}}_{lists.queue_name}", kind.queue_base + skipped, queue, Acts.START_QUEUE),
        )
        for pattern, base, layout, acts in rows:
            row = Register(pattern, base, layout, acts=acts, argument=first)
            yield from array(row, kind.channels, kind.channel_stride)
        base = kind.status_base[direction]
        row = Register(f"DMA_{name}_Status_{{}}", base, status, acts=Acts.CHANNEL_STATUS, argument=first)
        yield from array(row, kind.channels)
    written = fields(lists.write_count, Access.RO)
    popped = fields("Valid 31, Last_in_Task 30, BD_ID 29:24, Write_Count 17:0", Access.READ_ACTS)
    count = Register("DMA_S2MM_Current_Write_Count_{}", kind.write_count_base, written, acts=Acts.WRITE_COUNT)
    pop = Register("DMA_S2MM_FoT_Count_FIFO_Pop_{}", kind.count_pop_base, popped, acts=Acts.COUNT_POP)
    yield from array(count, kind.channels)
    yield from array(pop, kind.channels)


def lock_registers(kind: TileKind, selection: str) -> Iterator[Register]:
    """Lock values, lock event selectors, overflow and underflow bits, and the lock request window.

    ``selection`` is the field list of an event selector; until programmed all of them watch lock 0 for the
    largest value. A read of the window is one attempt to acquire or to release.
    """
    value = Register("Lock{}_value", kind.lock_value_base, fields("Lock_value 5:0"), acts=Acts.LOCK_VALUE)
    yield from array(value, kind.locks, kind.lock_value_stride)
    selector = Register(
        "Locks_Event_Selection_{}",
        kind.lock_event_base,
        fields(selection),
        reset=kind.lock_value_max,
        acts=Acts.EVENT_SELECTION,
    )
    yield from array(selector, kind.lock_event_selectors)
    yield from _sticky_bits(kind, "Overflow", kind.lock_overflow_base, Acts.LOCK_OVERFLOW)
    yield from _sticky_bits(kind, "Underflow", kind.lock_underflow_base, Acts.LOCK_UNDERFLOW)
    result = fields("Request_Result 0", Access.READ_ACTS)
    yield Register(
        "Lock_Request",
        kind.lock_request_base,
        result,
        span=kind.lock_request_bytes,
        acts=Acts.LOCK_REQUEST,
    )


def _sticky_bits(kind: TileKind, what: str, base: int, acts: Acts) -> Iterator[Register]:
    words = range(0, kind.locks, WORD_BITS)
    for n, first in enumerate(words):
        locks = range(first, min(first + WORD_BITS, kind.locks))
        name = f"Locks_{what}_{n}" if len(words) > 1 else f"Locks_{what}"
        layout = flags([f"Lock_{what}_{lock}" for lock in locks], Access.WTC)
        yield Register(name, base + n * WORD_BYTES, layout, acts=acts, argument=first)
